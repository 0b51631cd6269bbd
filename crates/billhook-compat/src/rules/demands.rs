//! Keywords of a schema that the rules of another one demand.

use billhook::to_json;
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::ValidationRule;

use super::facts::bounds;
use super::{Nodes, follows};

/// Whether the rules of a schema demand of all its values what a keyword of another schema does.
pub(crate) fn demand(from: &JsonSchemaProps, keyword: &str, to: &JsonSchemaProps) -> bool {
    if !has_rules(from) {
        return false;
    }
    let size = |operator: &str, size: Option<i64>| {
        size.map(|size| format!("size(self) {operator} {size}")).into_iter().collect()
    };
    let wanted: Vec<String> = match keyword {
        "minimum" | "maximum" if from.type_ == "integer" => bounds("self", to).collect(),
        "minLength" => size(">=", to.min_length),
        "maxLength" => size("<=", to.max_length),
        "minItems" => size(">=", to.min_items),
        "maxItems" => size("<=", to.max_items),
        "pattern" => vec![format!("self.matches({})", to_json(&to.pattern.as_str().into()))],
        "enum" => {
            let entries = to.enum_.iter().map(|entry| entry.as_str().map(|_| to_json(entry)));
            let entries = entries.collect::<Option<Vec<_>>>().into_iter();
            entries.map(|entries| format!("self in [{}]", entries.join(", "))).collect()
        }
        _ => Vec::new(),
    };
    let is_demanded = !wanted.is_empty() && wanted.iter().all(|rule| demands(from, rule));
    is_demanded || length(keyword, to).is_some_and(|rule| demands(from, &rule))
}

/// The length of a text as a pattern, which other patterns may imply.
fn length(keyword: &str, to: &JsonSchemaProps) -> Option<String> {
    // The most that a pattern may repeat.
    const MOST: i64 = 1000;
    let is_short = |length: &i64| (0..=MOST).contains(length);
    let repeated = match keyword {
        "minLength" => format!("{{{},}}", to.min_length.filter(is_short)?),
        "maxLength" => format!("{{0,{}}}", to.max_length.filter(is_short)?),
        _ => return None,
    };
    Some(format!(r"self.matches('\\A(?s:.){repeated}\\z')"))
}

/// Whether the rules of a schema demand a field of all its values.
pub(crate) fn demand_field(from: &JsonSchemaProps, name: &str) -> bool {
    let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric());
    is_plain && demands(from, &format!("has(self.{name})"))
}

/// Whether the rules of a schema forbid a field.
pub(crate) fn forbid_field(from: &JsonSchemaProps, name: &str, is_resource: bool) -> bool {
    let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric());
    let rule = format!("!has(self.{name})");
    is_plain && demands_of(from, &rule, Nodes::new(from, from, false).of_resource(is_resource))
}

fn demands(schema: &JsonSchemaProps, rule: &str) -> bool {
    demands_of(schema, rule, Nodes::new(schema, schema, false))
}

fn demands_of(schema: &JsonSchemaProps, rule: &str, nodes: Nodes<'_>) -> bool {
    let mut wanted = ValidationRule::default();
    wanted.rule = rule.to_owned();
    has_rules(schema) && follows(&wanted, nodes)
}

fn has_rules(schema: &JsonSchemaProps) -> bool {
    schema.validations.as_ref().is_some_and(|held| !held.is_empty())
}
