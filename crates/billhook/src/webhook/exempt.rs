//! The kinds of admission configuration, which no webhook sees (WM-03).

/// Their names in the group `admissionregistration.k8s.io`, with those of their resources.
const EXEMPT: [(&str, &str); 6] = [
    ("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
    ("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"),
    ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
    ("ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
    ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
    ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
];

/// Whether a kind of the group is exempt.
pub(super) fn is_exempt_kind(name: &str) -> bool {
    EXEMPT.iter().any(|(kind, _)| *kind == name)
}

/// Whether a resource of the group is of an exempt kind.
pub(super) fn is_exempt_resource(name: &str) -> bool {
    EXEMPT.iter().any(|(_, resource)| *resource == name)
}
