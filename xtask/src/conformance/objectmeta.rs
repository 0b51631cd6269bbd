//! The operation on the metadata of embedded resources: coercion and validation.

use billhook_apimachinery::metadata::Invalid;
use billhook_validation::validate_embedded;
use serde_json::{Value, json};

use super::Outcome;
use super::ops::{Run, compile, field_error, flag, object, object_of, ok};

pub(super) fn run(input: &Value) -> Run {
    let is_root = flag(input, "isResourceRoot");
    let schema = compile(input, is_root)?;
    let invalid = if flag(input, "dropInvalid") { Invalid::Drop } else { Invalid::Refuse };
    let mut value = object_of(input);
    let (mut plain, mut value_of_all) = (value.clone(), value.clone());
    let validated = validate_embedded(&schema, is_root, &value);
    let mut errors: Vec<_> =
        validated.iter().map(|error| field_error(error, Some("validate"))).collect();
    let count = ("validate_errors", Value::from(validated.len()));
    let plain_result = billhook_pruning::coerce(&schema, is_root, invalid, &mut plain);
    match billhook_pruning::coerce_reporting(&schema, is_root, invalid, &mut value) {
        Ok(coerced) => {
            if plain_result.is_err() || plain != value {
                return Err("the plain and the reporting form differ".to_owned());
            }
            let unknown: Vec<String> = coerced.unknown.iter().map(ToString::to_string).collect();
            let unknown = ("unknown_paths", Value::from(unknown));
            let members = [("object", value.into_inner()), unknown, count];
            Ok(Outcome { errors, ..ok(object(members)) })
        }
        Err(error) => {
            errors.push(field_error(&error, Some("coerce")));
            // Which of the unknown fields were met before the error is random.
            let all = billhook_pruning::coerce_reporting(
                &schema,
                is_root,
                Invalid::Drop,
                &mut value_of_all,
            );
            let unknown = all.map_or_else(|_| json!([]), |coerced| Value::from(coerced.unknown));
            Ok(Outcome { errors, ..ok(object([("unknown_paths", unknown), count])) })
        }
    }
}
