//! Rules about stored objects, of which an update leaves alone what the rule reads (CC-21).

use billhook_apimachinery::value::{deep_eq, grow, sorted};
use billhook_cel::{ReadPart, ReadStep, Reads, implies, implies_with_types, mentions, reads};
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::ValidationRule;
use serde_json::Value;

use super::facts::statements;
use super::{Nodes, below, format, has_properties, is_read_alike, unescaped};
use crate::limits::MAX_PREMISES;

/// Whether a rule reads the same of two values of its node.
pub(crate) fn is_read_same(
    reads: &Reads,
    schema: &JsonSchemaProps,
    before: Option<&Value>,
    after: Option<&Value>,
) -> bool {
    let is_same = |ReadPart { path, whole, .. }: &ReadPart| {
        is_same(path, *whole, Some(schema), before, after)
    };
    reads.parts.iter().all(is_same)
}

fn is_same(
    path: &[ReadStep],
    whole: bool,
    schema: Option<&JsonSchemaProps>,
    before: Option<&Value>,
    after: Option<&Value>,
) -> bool {
    let is_there = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    let (Some(before), Some(after)) = (before, after) else {
        return is_there(before) == is_there(after);
    };
    let Some((first, rest)) = path.split_first() else {
        return match whole {
            true => deep_eq(before, after),
            // Objects with listed fields have no size.
            false if schema.is_some_and(has_properties) => before.is_null() == after.is_null(),
            false => before.is_null() == after.is_null() && size(before) == size(after),
        };
    };
    let inner = schema.and_then(|schema| below(schema, first));
    grow(|| match (first, before, after) {
        (ReadStep::Field(name), ..) => {
            let plain = unescaped(name);
            is_same(rest, whole, inner, before.get(&plain), after.get(&plain))
        }
        (ReadStep::Any, Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len()
                && pairs.all(|(one, other)| is_same(rest, whole, inner, Some(one), Some(other)))
        }
        (ReadStep::Any, Value::Object(one), Value::Object(other)) => {
            let mut members = sorted(one).into_iter();
            one.len() == other.len()
                && members.all(|(name, member)| {
                    let after = other.get(name);
                    after.is_some() && is_same(rest, whole, inner, Some(member), after)
                })
        }
        _ => deep_eq(before, after),
    })
}

fn size(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(members) => Some(members.len()),
        _ => None,
    }
}

/// Whether it is proved that a transition rule is true of each update that leaves alone what the rule
/// reads; one about an optional old value may get none where values are not correlated.
pub(crate) fn holds_if_unchanged(
    rule: &ValidationRule,
    nodes: Nodes<'_>,
    is_correlated: bool,
) -> bool {
    let Ok(read) = reads(&rule.rule) else { return false };
    let is_optional = rule.optional_old_self == Some(true);
    if !read.uses_old
        || (is_optional && !is_correlated)
        || !is_read_alike(&read, nodes)
        || may_fail_to_read(&read, nodes.from)
    {
        return false;
    }
    let text = match is_optional {
        true => {
            rule.rule.replace("oldSelf.hasValue()", "true").replace("oldSelf.value()", "oldSelf")
        }
        false => rule.rule.clone(),
    };
    let Some(rule) = of_equal_values(&text) else { return false };
    let paths: Vec<&[ReadStep]> = read.parts.iter().map(|part| part.path.as_slice()).collect();
    let (mut premises, types) = statements("self", nodes, &paths);
    for ReadPart { path, .. } in &read.parts {
        premises.extend(of_itself(path, nodes.from));
    }
    let premises: Vec<&str> = premises.iter().map(String::as_str).collect();
    let types: Vec<&str> = types.iter().map(String::as_str).collect();
    implies_with_types(&premises, &types, &rule)
}

/// Whether it is proved that a rule has a result for each value that a schema and its rules admit.
pub(super) fn is_total(rule: &ValidationRule, schema: &JsonSchemaProps) -> bool {
    let Ok(read) = reads(&rule.rule) else { return false };
    if may_fail_to_read(&read, schema) {
        return false;
    }
    let paths: Vec<&[ReadStep]> = read.parts.iter().map(|part| part.path.as_slice()).collect();
    let (mut premises, types) = statements("self", Nodes::new(schema, schema, false), &paths);
    let held = schema.validations.iter().flatten().take(MAX_PREMISES);
    let held = held.filter(|held| reads(&held.rule).is_ok_and(|reads| !reads.uses_old));
    premises.extend(held.map(|held| held.rule.clone()));
    let [premises, types] =
        [&premises, &types].map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
    // An error is neither true nor false.
    implies_with_types(&premises, &types, &format!("({0}) || !({0})", rule.rule))
}

/// Whether a rule reads what has a format, in place of which there may be a list that has no value to
/// rules (VV-12).
fn may_fail_to_read(reads: &Reads, schema: &JsonSchemaProps) -> bool {
    reads.parts.iter().any(|part| {
        let mut nodes = part.path.iter().scan(schema, |node, step| {
            *node = below(node, step)?;
            Some(*node)
        });
        !format(schema).is_empty() || nodes.any(|node| !format(node).is_empty())
    })
}

/// Whether it is proved that a rule is true of each list with an element.
pub(crate) fn holds_unless_empty(rule: &ValidationRule, nodes: Nodes<'_>) -> bool {
    let Ok(read) = reads(&rule.rule) else { return false };
    if nodes.from.type_ != "array" || !is_read_alike(&read, nodes) {
        return false;
    }
    let paths: Vec<&[ReadStep]> = read.parts.iter().map(|part| part.path.as_slice()).collect();
    let (mut premises, _) = statements("self", nodes, &paths);
    premises.push("size(self) >= 1".to_owned());
    let premises: Vec<&str> = premises.iter().map(String::as_str).collect();
    implies(&premises, &rule.rule)
}

/// A transition rule as it is where both values are the same; none if that cannot be written.
fn of_equal_values(rule: &str) -> Option<String> {
    const OLD: &str = "oldSelf";
    let mentioned = mentions(rule).ok()?;
    let is_quoted = mentioned.texts.iter().any(|text| text.contains(OLD));
    let is_part_of_name = mentioned.names.iter().any(|name| name.contains(OLD) && **name != *OLD);
    let spaced: String = rule.split_whitespace().collect();
    // It may also be the name of a field or of an element.
    let is_other = spaced.contains(".oldSelf") || spaced.contains("oldSelf,");
    (!is_quoted && !is_part_of_name && !is_other).then(|| rule.replace(OLD, "self"))
}

/// The comparisons of a part with itself that are true wherever it is there.
fn of_itself(path: &[ReadStep], schema: &JsonSchemaProps) -> Vec<String> {
    let (mut expr, mut schema) = ("self".to_owned(), schema);
    let mut guards = String::new();
    for step in path {
        let ReadStep::Field(name) = step else { return Vec::new() };
        let Some(part) = below(schema, step) else { return Vec::new() };
        expr = format!("{expr}.{name}");
        guards += &format!("!has({expr}) || ");
        schema = part;
    }
    let operators: &[&str] = match &*schema.type_ {
        "string" | "integer" | "number" if schema.format.is_empty() => &["==", "<=", ">="],
        _ if equals_itself(schema) => &["=="],
        _ => &[],
    };
    operators.iter().map(|operator| format!("{guards}{expr} {operator} {expr}")).collect()
}

/// Whether each value of a schema equals itself: numbers do not where they are looked up among others
/// (CE-04), and what has a format may be a list, which cannot be compared (VV-12).
pub(super) fn equals_itself(schema: &JsonSchemaProps) -> bool {
    let has_others =
        |schema: &JsonSchemaProps| schema.list_type.as_deref().is_some_and(|list| list != "atomic");
    let is_odd = |schema: &JsonSchemaProps| schema.type_ == "number" || schema.int_or_string;
    fn any(schema: &JsonSchemaProps, is_it: &dyn Fn(&JsonSchemaProps) -> bool) -> bool {
        is_it(schema) || grow(|| schema.children().into_iter().any(|part| any(part, is_it)))
    }
    !any(schema, &|part| !format(part).is_empty() || (has_others(part) && any(part, &is_odd)))
}
