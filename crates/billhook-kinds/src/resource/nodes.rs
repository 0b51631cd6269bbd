//! The nodes on which devices are (BK-489).

use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::core::node_selector::node_selector;
use crate::rules::invalid;
use crate::values::items;

/// A selector of nodes with one term.
pub(super) fn one_term(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    selector: &Value,
    kubernetes: KubernetesVersion,
) {
    let terms = items(selector, "/nodeSelectorTerms");
    if terms.len() == 1 {
        node_selector(errors, path, selector, kubernetes);
    } else {
        let at = path.clone().name("nodeSelectorTerms");
        invalid(errors, &at, terms, ["must have exactly one node selector term"]);
    }
}

/// A flag that is true if it is there.
pub(super) fn only_true(errors: &mut Vec<FieldError>, path: &FieldPath, flag: Option<&Value>) {
    if flag == Some(&Value::Bool(false)) {
        invalid(errors, path, false, ["must be either unset or set to true"]);
    }
}
