//! Fields that lists of objects can be selected by (CV-104).

use std::collections::BTreeSet;

use billhook_apimachinery::{FieldError, FieldPath};
use billhook_schema::JsonSchemaProps;
use billhook_schema::json_path::{ArrayNotation, JsonPath};

use crate::types::SelectableField;

const MAX_FIELDS: usize = 8;

/// Checks the selectable fields of a version that has a schema. `is_limited` tells that there must
/// not be too many of them (CV-88).
pub(crate) fn check(
    fields: &[SelectableField],
    schema: &JsonSchemaProps,
    path: &FieldPath,
    is_limited: bool,
    errors: &mut Vec<FieldError>,
) {
    let mut distinct = BTreeSet::new();
    for (index, field) in fields.iter().enumerate() {
        let path = path.clone().index(index).name("jsonPath");
        let written = field.json_path.as_str();
        if written.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        let resolved = match JsonPath::resolve(written, schema, ArrayNotation::Forbidden) {
            Ok(resolved) => resolved,
            Err(error) => {
                let detail = format!("is an invalid path: {error}");
                errors.push(FieldError::invalid(path, written, &detail));
                continue;
            }
        };
        if resolved.first == ".metadata" {
            let detail = "must not point to fields in metadata";
            errors.push(FieldError::invalid(path.clone(), written, detail));
        }
        let type_ = resolved.schema.map_or("", |schema| &schema.type_);
        if !matches!(type_, "string" | "boolean" | "integer") {
            let detail = "must point to a field of type string, boolean or integer. Enum string \
                          fields and strings with formats are allowed.";
            errors.push(FieldError::invalid(path.clone(), written, detail));
        }
        if !distinct.insert(resolved.normal) {
            errors.push(FieldError::duplicate(path, written));
        }
    }
    if is_limited && distinct.len() > MAX_FIELDS {
        errors.push(FieldError::too_many(path.clone(), distinct.len(), MAX_FIELDS as i64));
    }
}

/// Whether there are so many fields that an update must leave them as they are (CV-88).
pub(crate) fn are_too_many(fields: &[SelectableField]) -> bool {
    fields.len() > MAX_FIELDS
}
