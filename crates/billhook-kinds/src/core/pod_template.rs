//! The template of pods in workloads.

use billhook_apimachinery::{FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::behavior::{Findings, WriteContext};

/// Sets the defaults of a template.
pub(crate) fn set_defaults(_template: &mut Value, _kubernetes: KubernetesVersion) {}

/// Validates a template at a path.
pub(crate) fn validate(
    _template: &Value,
    _path: &FieldPath,
    _context: &WriteContext<'_>,
    _found: &mut Findings,
) {
}
