//! Which rules in CEL a server would evaluate for an object (CE-01 to CE-03). They are found here,
//! not evaluated.

use billhook_schema::value::{grow, sorted};
use billhook_schema::{FieldPath, Location};
use serde_json::Value;

use crate::compile::{Additional, Arena, NodeId};

/// A rule in CEL that applies to an object and was not evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingRule {
    /// The first place that it applies to.
    pub field: FieldPath,
    /// The rule as written.
    pub rule: String,
    /// At how many places it applies.
    pub places: usize,
}

/// Collects the rules that apply, one entry for each rule of the schema.
pub(crate) struct RuleWalk<'w> {
    arena: &'w Arena,
    found: Vec<PendingRule>,
    /// The position in `found` for each rule of the schema.
    positions: Vec<Option<usize>>,
}

impl<'w> RuleWalk<'w> {
    pub(crate) fn run(arena: &'w Arena, root: NodeId, object: &Value) -> Vec<PendingRule> {
        let positions = vec![None; arena.rule_count()];
        let mut walk = RuleWalk { arena, found: Vec::new(), positions };
        walk.node(root, object, &Location::TOP);
        walk.found
    }

    fn node(&mut self, id: NodeId, value: &Value, at: &Location<'_>) {
        let arena = self.arena;
        let node = arena.node(id);
        // Null has no rules (CE-03).
        if !node.has_rules || value.is_null() {
            return;
        }
        for number in node.rules.clone() {
            self.add(number as usize, at);
        }
        match value {
            Value::Array(items) => grow(|| {
                let Some(id) = node.items else { return };
                for (index, item) in items.iter().enumerate() {
                    self.node(id, item, &at.index(index));
                }
            }),
            Value::Object(members) => grow(|| {
                for (key, member) in sorted(members) {
                    match (arena.property(node, key), node.additional) {
                        (Some(id), _) => self.node(id, member, &at.name(key)),
                        (None, Additional::Schema(id)) => self.node(id, member, &at.key(key)),
                        _ => {}
                    }
                }
            }),
            _ => {}
        }
    }

    fn add(&mut self, number: usize, at: &Location<'_>) {
        let (Some(position), Some(rule)) =
            (self.positions.get_mut(number), self.arena.rule(number))
        else {
            return;
        };
        match position.and_then(|position| self.found.get_mut(position)) {
            Some(known) => known.places += 1,
            None => {
                *position = Some(self.found.len());
                let rule = PendingRule { field: at.to_path(), rule: rule.to_owned(), places: 1 };
                self.found.push(rule);
            }
        }
    }
}
