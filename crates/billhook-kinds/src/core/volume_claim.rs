//! PersistentVolumeClaims, and the claims that workloads and pods are templates of.

use billhook_apimachinery::{FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::behavior::{Findings, WriteContext};

/// Sets the defaults of the spec of a claim.
pub(crate) fn set_defaults(_spec: &mut Value, _kubernetes: KubernetesVersion) {}

/// Validates the spec of a claim at a path.
pub(crate) fn validate_spec(
    _spec: &Value,
    _path: &FieldPath,
    _context: &WriteContext<'_>,
    _found: &mut Findings,
) {
}
