//! Pruning, null removal and defaulting of a value in one walk, in place.

use billhook_apimachinery::Dialect;
use billhook_apimachinery::value::{count, deep_clone, dismantle, grow};
use billhook_defaulting::{LimitError, MAX_DEFAULTED_VALUES, apply_defaults_node};
use billhook_schema::{CompiledSchema, Edge, NodeRef, PreviousProperty, Unlisted};
use serde_json::{Map, Value};

use crate::member_set::{NARROW, Narrow, Seen, Wide};
use crate::scanner::LEVELS;

/// Removes unknown fields and nulls that are not allowed, and applies defaults. Equals the three
/// steps one after the other, in one walk that touches nothing that stays and allocates nothing if
/// nothing changes.
///
/// On an error the walk is incomplete.
///
/// # Errors
///
/// If the defaults exceed the limit of [`billhook_defaulting::MAX_DEFAULTED_VALUES`].
pub fn prune_and_default(schema: &CompiledSchema, value: &mut Value) -> Result<(), LimitError> {
    let keeps_null = schema.dialect() == Dialect::Kep;
    let mut walk = Walk { keeps_null, left: MAX_DEFAULTED_VALUES };
    walk.value(schema.root(), value, 0)
}

struct Walk {
    keeps_null: bool,
    /// The number of values that defaults may still add.
    left: usize,
}

/// The fate of a member.
#[derive(PartialEq)]
enum Fate {
    Keep,
    Remove,
}

impl Walk {
    #[inline]
    fn value(
        &mut self,
        node: NodeRef<'_>,
        value: &mut Value,
        depth: usize,
    ) -> Result<(), LimitError> {
        match value {
            Value::Object(members) if !node.is_passive() => deeper(depth, |depth| {
                if node.property_count() > NARROW {
                    return self.object::<Wide>(node, members, depth);
                }
                self.object::<Narrow>(node, members, depth)
            }),
            Value::Array(items) if !node.is_passive() => {
                deeper(depth, |depth| self.array(node, items, depth))
            }
            _ => Ok(()),
        }
    }

    fn array(
        &mut self,
        node: NodeRef<'_>,
        items: &mut [Value],
        depth: usize,
    ) -> Result<(), LimitError> {
        let edge = node.items();
        let node = edge.node();
        for item in items {
            if item.is_null() {
                if !self.keeps_null && !edge.is_nullable() {
                    self.replace(edge, item)?;
                }
            } else {
                self.value(node, item, depth)?;
            }
        }
        Ok(())
    }

    fn object<S: Seen>(
        &mut self,
        node: NodeRef<'_>,
        members: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), LimitError> {
        let mut seen = S::new(node.property_count());
        let mut removes = false;
        let mut previous = PreviousProperty::NONE;
        let mut next = node.expected_first();
        for (key, member) in members.iter_mut() {
            let expected = node.expected(next);
            let property = match expected.filter(|property| property.is_named(key)) {
                Some(property) => Some(property),
                None => {
                    let found = node.property(key);
                    if let Some(property) = found {
                        node.learn(previous, property);
                    }
                    found
                }
            };
            let fate = match property {
                Some(property) => {
                    previous = property.as_previous();
                    next = property.expected_next();
                    seen.insert(property.position());
                    self.member(property.edge(), member, depth)?
                }
                None => match node.unlisted() {
                    Unlisted::Descend(edge) => self.member(edge, member, depth)?,
                    Unlisted::Keep => Fate::Keep,
                    Unlisted::Remove => Fate::Remove,
                },
            };
            removes |= fate == Fate::Remove;
        }
        if removes {
            self.remove(node, members);
        }
        if seen.lacks_defaulted(node) {
            self.insert_missing(node, members, &seen)?;
        }
        Ok(())
    }

    #[inline]
    fn member(
        &mut self,
        edge: Edge<'_>,
        member: &mut Value,
        depth: usize,
    ) -> Result<Fate, LimitError> {
        if !member.is_null() {
            return self.value(edge.node(), member, depth).map(|()| Fate::Keep);
        }
        if self.keeps_null || edge.is_nullable() {
            return Ok(Fate::Keep);
        }
        if edge.default().is_none() {
            return Ok(Fate::Remove);
        }
        self.replace(edge, member).map(|()| Fate::Keep)
    }

    fn remove(&self, node: NodeRef<'_>, members: &mut Map<String, Value>) {
        members.retain(|key, member| {
            let edge = match node.property(key) {
                Some(property) => property.edge(),
                None => match node.unlisted() {
                    Unlisted::Descend(edge) => edge,
                    Unlisted::Keep => return true,
                    Unlisted::Remove => {
                        dismantle(member.take());
                        return false;
                    }
                },
            };
            // A null that is still there either has no default or is allowed.
            !member.is_null() || self.keeps_null || edge.is_nullable()
        });
    }

    fn insert_missing(
        &mut self,
        node: NodeRef<'_>,
        members: &mut Map<String, Value>,
        seen: &impl Seen,
    ) -> Result<(), LimitError> {
        for property in seen.missing(node) {
            if property.edge().default().is_some() {
                let mut value = Value::Null;
                self.replace(property.edge(), &mut value)?;
                members.insert(property.name().to_owned(), value);
            }
        }
        Ok(())
    }

    /// Puts the default, completed by the defaults below it, in place of a null.
    fn replace(&mut self, edge: Edge<'_>, value: &mut Value) -> Result<(), LimitError> {
        let Some(default) = edge.default() else { return Ok(()) };
        *value = deep_clone(default);
        apply_defaults_node(edge.node(), value)?;
        // Counted after completion, which has the same limit of its own.
        self.left = self.left.checked_sub(count(value)).ok_or_else(LimitError::new)?;
        Ok(())
    }
}

#[inline]
fn deeper<R>(depth: usize, walk: impl FnOnce(usize) -> R) -> R {
    let depth = depth + 1;
    if depth.is_multiple_of(LEVELS) { grow(|| walk(depth)) } else { walk(depth) }
}
