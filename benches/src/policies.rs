//! Admission policies, each of three validations and with a binding.

use serde_json::{Value, json};

/// So many policies with these validations, each for the requests that a rule of its own selects,
/// and their bindings.
pub fn policies(
    count: usize,
    rule: impl Fn(usize) -> Value,
    validations: [&str; 3],
) -> impl Iterator<Item = Value> {
    let document = |kind: &str, name: &str, spec: Value| {
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": {"name": name}, "spec": spec})
    };
    let validations = validations.map(|expression| json!({"expression": expression}));
    (0..count).flat_map(move |index| {
        let name = format!("policy-{index}");
        let policy = json!({"matchConstraints": {"resourceRules": [rule(index)]},
            "validations": validations});
        let binding = json!({"policyName": name, "validationActions": ["Deny"]});
        [
            document("ValidatingAdmissionPolicy", &name, policy),
            document("ValidatingAdmissionPolicyBinding", &name, binding),
        ]
    })
}
