//! The operations of server-side apply.

use billhook_apimachinery::value::DeepValue;
use billhook_apply::{Duplicates, FieldSet, MergeSchema, TypeErrors, TypedValue};
use serde_json::{Value, json};

use super::Outcome;
use super::input::{Given, Run, compile, flag, object, ok, schema_of};

/// Whether the errors of an operation are those of merge types.
pub(super) fn has_type_errors(op: &str) -> bool {
    matches!(op, "fieldset" | "compare" | "merge" | "remove")
}

/// Errors are compared line by line in any order; a vector leaves out what is random.
pub(super) fn same_type_errors(expected: &[&Value], actual: &Outcome) -> bool {
    let ([expected], [actual]) = (expected, actual.errors.as_slice()) else { return false };
    let is_random = lines(expected).is_none();
    expected.get("source") == actual.get("source")
        && (is_random || lines(expected) == lines(actual))
}

fn lines(error: &Value) -> Option<Vec<&str>> {
    let lines = error.get("lines").and_then(Value::as_array);
    let lines = lines.map(|lines| lines.iter().filter_map(Value::as_str).collect());
    let error = error.get("error").and_then(Value::as_str);
    let mut lines: Vec<&str> = lines.or_else(|| Some(error?.lines().collect()))?;
    lines.sort_unstable();
    Some(lines)
}

fn refused(source: &str, errors: &TypeErrors) -> Outcome {
    let error = json!({"error": errors.to_string(), "source": source});
    Outcome { errors: vec![DeepValue::from(error)], ..Outcome::default() }
}

fn merge_schema(input: Given<'_>) -> Result<MergeSchema, String> {
    let compiled = compile(input, true)?;
    let written = schema_of(input)?.ok_or("no schema")?;
    Ok(MergeSchema::new(&compiled, written.root(), false))
}

fn part<'v>(input: Given<'v>, name: &str) -> &'v Value {
    input.input.get(name).unwrap_or(&Value::Null)
}

pub(super) fn field_set(input: Given<'_>) -> Run {
    let schema = merge_schema(input)?;
    let duplicates = match flag(input, "lenient") {
        true => Duplicates::Allowed,
        false => Duplicates::Refused,
    };
    let typed = match schema.check(part(input, "object"), duplicates) {
        Ok(typed) => typed,
        Err(errors) => return Ok(refused("typed", &errors)),
    };
    let set = typed.field_set();
    let written = set.to_fields_v1();
    if FieldSet::from_fields_v1(&written) != Ok(set.clone()) {
        return Err("the set is not what is read from its written form".to_owned());
    }
    let closure = schema.closure(&set).to_fields_v1();
    let members = [("fieldsV1", written.into_inner()), ("closure", closure.into_inner())];
    Ok(ok(object(members)))
}

/// Two objects of the input, the first of which may have repeated elements.
fn pair<'a>(
    schema: &'a MergeSchema,
    input: Given<'a>,
    (old, new): (&str, &str),
    duplicates: Duplicates,
) -> Result<(TypedValue<'a>, TypedValue<'a>), Outcome> {
    let check = |name: &str, duplicates| {
        schema.check(part(input, name), duplicates).map_err(|errors| refused(name, &errors))
    };
    Ok((check(old, Duplicates::Allowed)?, check(new, duplicates)?))
}

pub(super) fn compare(input: Given<'_>) -> Run {
    let schema = merge_schema(input)?;
    let (old, new) = match pair(&schema, input, ("old", "new"), Duplicates::Allowed) {
        Ok(pair) => pair,
        Err(refused) => return Ok(refused),
    };
    let comparison = old.compare(new);
    let sets = [
        ("removed", comparison.removed),
        ("modified", comparison.modified),
        ("added", comparison.added),
    ];
    Ok(ok(object(sets.map(|(name, set)| (name, set.to_fields_v1().into_inner())))))
}

pub(super) fn merge(input: Given<'_>) -> Run {
    let schema = merge_schema(input)?;
    let (live, config) = match pair(&schema, input, ("live", "config"), Duplicates::Refused) {
        Ok(pair) => pair,
        Err(refused) => return Ok(refused),
    };
    Ok(ok(object([("object", live.merge(config).into_inner())])))
}

pub(super) fn remove(input: Given<'_>) -> Run {
    let schema = merge_schema(input)?;
    let typed = match schema.check(part(input, "object"), Duplicates::Allowed) {
        Ok(typed) => typed,
        Err(errors) => return Ok(refused("typed", &errors)),
    };
    let set =
        FieldSet::from_fields_v1(part(input, "fieldsV1")).map_err(|error| error.to_string())?;
    let set = if flag(input, "closure") { schema.closure(&set) } else { set };
    Ok(ok(object([("object", typed.remove(&set).into_inner())])))
}
