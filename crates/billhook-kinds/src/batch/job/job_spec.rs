//! The fields of a Job's spec, and their paths.

use billhook_apimachinery::names::dns1123_label;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use crate::values::path;

/// Why a Job without indexes cannot have a field.
pub(super) const REQUIRES_INDEXES: &str = "requires indexed completion mode";

/// The spec of a Job at a path.
#[derive(Clone, Copy)]
pub(crate) struct JobSpec<'j> {
    pub(crate) spec: &'j Value,
    pub(crate) path: &'j FieldPath,
}

impl<'j> JobSpec<'j> {
    /// The path of a field.
    pub(super) fn at(self, name: &str) -> FieldPath {
        self.path.clone().name(name)
    }

    pub(super) fn field(self, name: &str) -> &'j Value {
        self.spec.get(name).unwrap_or(&Value::Null)
    }

    pub(super) fn number(self, name: &str) -> Option<i64> {
        self.field(name).as_i64()
    }

    /// Whether each pod has an index.
    pub(super) fn is_indexed(self) -> bool {
        self.field("completionMode") == "Indexed"
    }

    /// The last pod of an indexed Job must have a name that is a host's.
    pub(super) fn validate_pod_names(self, name: &str, errors: &mut Vec<FieldError>) {
        let completions = self.number("completions").unwrap_or_default();
        if !self.is_indexed() || completions < 1 {
            return;
        }
        let pod = format!("{name}-{}", completions - 1);
        if !dns1123_label(&pod).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {pod}");
            errors.push(FieldError::invalid(path(&["metadata", "name"]), name, &detail));
        }
    }
}
