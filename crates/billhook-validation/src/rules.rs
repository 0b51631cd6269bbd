//! Which rules in CEL a server would evaluate for an object (CE-01 to CE-03). They are found here,
//! not evaluated.

use billhook_schema::props::ValidationRule;
use billhook_schema::value::{grow, sorted};
use billhook_schema::{FieldPath, Location};
use serde_json::Value;

use crate::compile::{Additional, Arena, NodeId};
use crate::correlate::OldElements;

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

/// A rule of the schema.
#[derive(Debug)]
pub(crate) struct Rule {
    text: Box<str>,
    /// Whether it runs only where there is an old value (CE-40).
    needs_old: bool,
}

impl Rule {
    pub(crate) fn new(written: &ValidationRule) -> Self {
        let is_optional = written.optional_old_self == Some(true);
        Rule {
            text: written.rule.as_str().into(),
            needs_old: !is_optional && surely_uses_old_self(&written.rule),
        }
    }
}

/// Whether an expression uses the variable `oldSelf`. A name that may be that of a macro's own
/// variable does not count.
fn surely_uses_old_self(expression: &str) -> bool {
    let mut uses = false;
    let mut rest = expression;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' | '\'' => string_length(rest, before == Some('r') || before == Some('R')),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                let (name, behind) =
                    rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, ""));
                if name == "oldSelf" && before != Some('.') {
                    if before == Some('(') && behind.trim_start().starts_with(',') {
                        return false;
                    }
                    uses = true;
                }
                name.len()
            }
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        before = token.chars().next_back().filter(|c| !c.is_whitespace()).or(before);
        rest = behind;
    }
    uses
}

/// How long the string literal at the start of a text is.
fn string_length(text: &str, is_raw: bool) -> usize {
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| text.starts_with(quote));
    let quote = quote.unwrap_or_default();
    let mut at = quote.len();
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(quote) {
            return at + quote.len();
        }
        let mut characters = rest.chars();
        let first = characters.next().map_or(1, char::len_utf8);
        let second = match rest.starts_with('\\') && !is_raw {
            true => characters.next().map_or(0, char::len_utf8),
            false => 0,
        };
        at += first + second;
    }
    text.len()
}

/// Collects the rules that apply, one entry for each rule of the schema.
pub(crate) struct RuleWalk<'w> {
    arena: &'w Arena,
    found: Vec<PendingRule>,
    /// The position in `found` for each rule of the schema.
    positions: Vec<Option<usize>>,
}

impl<'w> RuleWalk<'w> {
    pub(crate) fn run(
        arena: &'w Arena,
        root: NodeId,
        object: &Value,
        old: Option<&Value>,
    ) -> Vec<PendingRule> {
        let positions = vec![None; arena.rule_count()];
        let mut walk = RuleWalk { arena, found: Vec::new(), positions };
        walk.node(root, object, old, &Location::TOP);
        walk.found
    }

    fn node(&mut self, id: NodeId, value: &Value, old: Option<&Value>, at: &Location<'_>) {
        let arena = self.arena;
        let node = arena.node(id);
        // Null has no rules (CE-03).
        if !node.has_rules || value.is_null() {
            return;
        }
        for number in node.rules.clone() {
            self.add(number as usize, old.is_some(), at);
        }
        match value {
            Value::Array(items) => grow(|| {
                let Some(id) = node.items else { return };
                let old = old.and_then(|old| OldElements::new(node, old));
                for (index, item) in items.iter().enumerate() {
                    let old = old.as_ref().and_then(|old| old.get(item));
                    self.node(id, item, old, &at.index(index));
                }
            }),
            Value::Object(members) => grow(|| {
                for (key, member) in sorted(members) {
                    let old = old.and_then(|old| old.get(key));
                    match (arena.property(node, key), node.additional) {
                        (Some(id), _) => self.node(id, member, old, &at.name(key)),
                        (None, Additional::Schema(id)) => {
                            self.node(id, member, old, &at.key(key));
                        }
                        _ => {}
                    }
                }
            }),
            _ => {}
        }
    }

    fn add(&mut self, number: usize, has_old: bool, at: &Location<'_>) {
        let (Some(position), Some(rule)) =
            (self.positions.get_mut(number), self.arena.rule(number))
        else {
            return;
        };
        if rule.needs_old && !has_old {
            return;
        }
        match position.and_then(|position| self.found.get_mut(position)) {
            Some(known) => known.places += 1,
            None => {
                *position = Some(self.found.len());
                let rule =
                    PendingRule { field: at.to_path(), rule: rule.text.to_string(), places: 1 };
                self.found.push(rule);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CE-40.
    #[test]
    fn the_variable_is_found_outside_strings_comments_and_selectors() {
        for (expression, uses) in [
            ("self == oldSelf", true),
            ("oldSelf.a", true),
            ("self > 1 || ! oldSelf . has", true),
            ("self.oldSelf > 1", false),
            ("self . oldSelf > 1", false),
            ("self == 'oldSelf'", false),
            (r#"self == "a\" oldSelf" "#, false),
            (r#"self == r"a\" + oldSelf"#, true),
            (r#"self == """ " oldSelf""" "#, false),
            ("self // oldSelf\n > 1", false),
            ("self // a\n == oldSelf", true),
            ("oldSelfish == self", false),
            ("self.all(oldSelf, oldSelf > 1)", false),
        ] {
            assert_eq!(surely_uses_old_self(expression), uses, "{expression}");
        }
    }
}
