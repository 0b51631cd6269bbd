//! Validation of the defaults of a schema (CV-44, DF-40).

use billhook_schema::{FieldError, FieldPath, StructuralSchema};

pub(super) fn check(_: &StructuralSchema, _: &FieldPath, _: bool) -> Vec<FieldError> {
    Vec::new()
}
