//! The walk over a value and its compiled schema together, which all steps over trees share: it
//! finds the node of every member and element, passes over what cannot change, and knows where it
//! is. What happens to a member is said by [`Rules`]; a [`Report`] records it.

mod member_set;
mod place;
mod report;

use billhook_apimachinery::value::grow;
use serde_json::{Map, Value};

use crate::compiled::{Edge, Effects, NodeRef, PreviousProperty, Unlisted};
pub use member_set::{NARROW, Narrow, Seen, Wide};
pub use place::{AllPlaces, NoPlaces, Place, Places};
pub use report::{Findings, Located, MAX_PATHS, Report};

/// The place of a walk with some report.
pub type At<'a, 's, R> = <<R as Report>::Places as Places>::At<'a, 's>;

/// Levels that are walked between two looks at how much stack is left.
pub const LEVELS: usize = 16;

/// The reason for setting a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A listed field is missing (DF-20).
    Missing,
    /// A listed field is null (DF-20).
    NullField,
    /// A member that the schema doesn't list is null (DF-25).
    NullMember,
    /// An element is null (DF-25).
    NullElement,
}

/// The rules of a step, or of several: they decide what happens to the parts of a value. The
/// provided methods do nothing.
pub trait Rules<'s> {
    /// The error that ends the walk early.
    type Refusal;
    /// Whether [`Rules::default_value`] is asked for missing members.
    const INSERTS: bool = false;

    /// Returns the effects that the rules can have: nodes without any of them are passed over.
    fn effects(&self) -> Effects;

    /// Handles an embedded resource before its members are walked.
    ///
    /// # Errors
    ///
    /// If the resource is refused, which ends the walk.
    fn resource<R: Report>(
        &mut self,
        _node: NodeRef<'s>,
        _members: &mut Map<String, Value>,
        _at: At<'_, 's, R>,
        _report: &mut R,
    ) -> Result<(), Self::Refusal> {
        Ok(())
    }

    /// Returns whether members that the schema does not specify are removed.
    #[inline]
    fn prunes(&self) -> bool {
        false
    }

    /// Takes a removed member of an object at `node`.
    fn pruned<R: Report>(
        &mut self,
        _node: NodeRef<'s>,
        _value: Value,
        _at: At<'_, 's, R>,
        _report: &mut R,
    ) {
    }

    /// Returns whether a member that is null is removed.
    #[inline]
    fn removes_null(&self, _edge: Edge<'s>) -> bool {
        false
    }

    /// Reports such a member.
    fn null_removed<R: Report>(&mut self, _edge: Edge<'s>, _at: At<'_, 's, R>, _report: &mut R) {}

    /// Returns the value that takes the place of a missing member, or of null.
    fn default_value<R: Report>(
        &mut self,
        _edge: Edge<'s>,
        _cause: Cause,
        _at: At<'_, 's, R>,
        _report: &mut R,
    ) -> Option<Value> {
        None
    }
}

/// Walks a value that belongs to a node.
///
/// # Errors
///
/// If the rules refuse a part of the value; the rest is not walked then.
pub fn walk<'s, S: Rules<'s>, R: Report>(
    rules: &mut S,
    node: NodeRef<'s>,
    value: &mut Value,
    at: At<'_, 's, R>,
    report: &mut R,
) -> Result<(), S::Refusal> {
    let effects = rules.effects();
    if !node.can(effects) {
        return Ok(());
    }
    grow(|| Walk { rules, report, effects }.value(node, value, at, 0))
}

struct Walk<'w, S, R> {
    rules: &'w mut S,
    report: &'w mut R,
    effects: Effects,
}

impl<'s, S: Rules<'s>, R: Report> Walk<'_, S, R> {
    /// A value that is not null.
    #[inline]
    fn value(
        &mut self,
        node: NodeRef<'s>,
        value: &mut Value,
        at: At<'_, 's, R>,
        depth: usize,
    ) -> Result<(), S::Refusal> {
        match value {
            Value::Object(members) if node.can(self.effects) => deeper(depth, |depth| {
                if node.property_count() > NARROW {
                    return self.object::<Wide>(node, members, at, depth);
                }
                self.object::<Narrow>(node, members, at, depth)
            }),
            Value::Array(items) if node.can(self.effects) => {
                deeper(depth, |depth| self.array(node, items, at, depth))
            }
            _ => Ok(()),
        }
    }

    fn array(
        &mut self,
        node: NodeRef<'s>,
        items: &mut [Value],
        at: At<'_, 's, R>,
        depth: usize,
    ) -> Result<(), S::Refusal> {
        let edge = node.items();
        let node = edge.node();
        for (index, item) in items.iter_mut().enumerate() {
            let at = R::Places::element(&at, index, node);
            if !item.is_null() {
                self.value(node, item, at, depth)?;
            } else if let Some(default) =
                self.rules.default_value(edge, Cause::NullElement, at, self.report)
            {
                *item = default;
            }
        }
        Ok(())
    }

    fn object<M: Seen>(
        &mut self,
        node: NodeRef<'s>,
        members: &mut Map<String, Value>,
        at: At<'_, 's, R>,
        depth: usize,
    ) -> Result<(), S::Refusal> {
        if node.is_embedded_resource() && self.effects.include(Effects::COERCE) {
            self.rules.resource(node, members, at, self.report)?;
        }
        let mut seen = M::new(node.property_count());
        let mut removes = false;
        let mut previous = PreviousProperty::NONE;
        let mut next = node.expected_first();
        for (key, member) in members.iter_mut() {
            let expected = node.expected(next).filter(|property| property.is_named(key));
            let property = expected.or_else(|| {
                let found = node.property(key)?;
                node.learn(previous, found);
                Some(found)
            });
            let (edge, is_listed) = match property {
                Some(property) => {
                    previous = property.as_previous();
                    next = property.expected_next();
                    seen.insert(property.position());
                    (property.edge(), property.is_listed())
                }
                None => match node.unlisted() {
                    Unlisted::Descend(edge) => (edge, false),
                    Unlisted::Keep => continue,
                    Unlisted::Remove => {
                        if self.rules.prunes() {
                            removes = true;
                            let at = R::Places::member(&at, key, false, node);
                            self.rules.pruned(node, member.take(), at, self.report);
                        }
                        continue;
                    }
                },
            };
            let at = R::Places::member(&at, key, is_listed, edge.node());
            if member.is_null() {
                removes |= self.null_member(edge, is_listed, member, at);
            } else {
                self.value(edge.node(), member, at, depth)?;
            }
        }
        if removes {
            self.remove(node, members);
        }
        if S::INSERTS && seen.lacks_defaulted(node) {
            self.insert_missing(node, members, &seen, at);
        }
        Ok(())
    }

    /// Whether the member is to be removed.
    fn null_member(
        &mut self,
        edge: Edge<'s>,
        is_listed: bool,
        member: &mut Value,
        at: At<'_, 's, R>,
    ) -> bool {
        if self.rules.removes_null(edge) {
            self.rules.null_removed(edge, at, self.report);
            return true;
        }
        let cause = if is_listed { Cause::NullField } else { Cause::NullMember };
        if let Some(default) = self.rules.default_value(edge, cause, at, self.report) {
            *member = default;
        }
        false
    }

    /// Removes the members that were found to go.
    fn remove(&self, node: NodeRef<'s>, members: &mut Map<String, Value>) {
        members.retain(|key, member| {
            let edge = match node.property(key) {
                Some(property) => property.edge(),
                None => match node.unlisted() {
                    Unlisted::Descend(edge) => edge,
                    Unlisted::Keep => return true,
                    Unlisted::Remove => return !self.rules.prunes(),
                },
            };
            !member.is_null() || !self.rules.removes_null(edge)
        });
    }

    fn insert_missing(
        &mut self,
        node: NodeRef<'s>,
        members: &mut Map<String, Value>,
        seen: &impl Seen,
        at: At<'_, 's, R>,
    ) {
        for property in seen.missing(node) {
            let (name, edge) = (property.name(), property.edge());
            let at = R::Places::member(&at, name, true, edge.node());
            if let Some(default) = self.rules.default_value(edge, Cause::Missing, at, self.report) {
                members.insert(name.to_owned(), default);
            }
        }
    }
}

#[inline]
fn deeper<T>(depth: usize, walk: impl FnOnce(usize) -> T) -> T {
    let depth = depth + 1;
    if depth.is_multiple_of(LEVELS) { grow(|| walk(depth)) } else { walk(depth) }
}
