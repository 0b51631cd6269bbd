//! The operation on the metadata of embedded resources: coercion and validation.

use billhook_apimachinery::metadata::Invalid;
use billhook_pruning::coerce;
use billhook_schema::walk::Findings;
use billhook_validation::validate_embedded;
use serde_json::{Value, json};

use super::Outcome;
use super::input::{Given, Run, compile, field_error, flag, object, object_of, ok};

pub(super) fn run(input: Given<'_>) -> Run {
    let is_root = flag(input, "isResourceRoot");
    let schema = compile(input, is_root)?;
    let invalid = if flag(input, "dropInvalid") { Invalid::Drop } else { Invalid::Refuse };
    let mut value = object_of(input);
    let (mut plain, mut value_of_all) = (value.clone(), value.clone());
    let validated = validate_embedded(&schema, is_root, &value);
    let mut errors: Vec<_> =
        validated.iter().map(|error| field_error(error, Some("validate"))).collect();
    let count = ("validate_errors", Value::from(validated.len()));
    let plain_result = coerce(schema.root(), is_root, invalid, &mut plain, &mut ());
    let mut findings = Findings::default();
    match coerce(schema.root(), is_root, invalid, &mut value, &mut findings) {
        Ok(()) => {
            if plain_result.is_err() || plain != value {
                return Err("the plain and the reporting form differ".to_owned());
            }
            findings.unknown.sort_unstable();
            let unknown = ("unknown_paths", Value::from(findings.unknown));
            let members = [("object", value.into_inner()), unknown, count];
            Ok(Outcome { errors, ..ok(object(members)) })
        }
        Err(error) => {
            errors.push(field_error(&error, Some("coerce")));
            // Which of the unknown fields were met before the error is random.
            let (root, mut all) = (schema.root(), Findings::default());
            let coerced = coerce(root, is_root, Invalid::Drop, &mut value_of_all, &mut all);
            all.unknown.sort_unstable();
            let unknown = coerced.map_or_else(|_| json!([]), |()| Value::from(all.unknown));
            Ok(Outcome { errors, ..ok(object([("unknown_paths", unknown), count])) })
        }
    }
}
