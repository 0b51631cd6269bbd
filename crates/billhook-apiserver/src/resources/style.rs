//! The two styles of an API: that of kinds which a server has types for, and that of custom
//! resources. They differ in texts, codes and forms, not in what is stored (LC-02).

use billhook_apimachinery::print::quote;
use billhook_apimachinery::{GroupVersionResource, Status};

use crate::failures::{not_allowed, not_served, unsupported_body, with_details};

/// The style of the answers about a resource.
#[derive(Debug)]
pub(crate) struct ApiStyle {
    /// Whether objects are sent in protobuf, too (BK-20).
    pub(crate) has_protobuf: bool,
    /// Whether paths are declared with their methods, so that a path which has other methods is known
    /// (LC-02).
    pub(crate) declares_methods: bool,
    /// The failure of a selector for a field that no object has, where objects that have no fields of
    /// their own can all be selected by name and namespace (BK-700).
    pub(crate) unknown_default_field: Option<fn(&str) -> Status>,
    /// The verbs in the order of discovery (DT-06).
    pub(crate) verbs: &'static [&'static str],
    /// The types of patches (RE-80).
    pub(crate) patch_types: &'static [&'static str],
    /// The failure of a patch of another type.
    pub(crate) unsupported_patch: fn(&[&str]) -> Status,
    /// The types that a client is offered if it accepts no known one (RE-11, LC-02).
    pub(crate) representations: Option<&'static str>,
    /// The failure of a request for a subresource that an object of a name does not have.
    pub(crate) missing_subresource: fn(&GroupVersionResource, &str) -> Status,
    /// The failure of a verb that the resource does not have.
    pub(crate) unsupported_verb: fn(&str, &GroupVersionResource) -> Status,
}

/// The types of patches (RE-80).
pub(crate) const JSON_PATCH: &str = "application/json-patch+json";
pub(crate) const MERGE_PATCH: &str = "application/merge-patch+json";
pub(crate) const APPLY_PATCH: &str = "application/apply-patch+yaml";
/// Of the server's own kinds only (LC-02).
pub(crate) const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";

impl ApiStyle {
    /// The style of custom resources.
    pub(crate) const CUSTOM: ApiStyle = ApiStyle {
        has_protobuf: false,
        declares_methods: false,
        unknown_default_field: None,
        verbs: &["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
        patch_types: &[JSON_PATCH, MERGE_PATCH, APPLY_PATCH],
        unsupported_patch: |types| unsupported_body(&types.join(", ")),
        representations: None,
        missing_subresource: Status::not_found,
        unsupported_verb: |verb, resource| {
            let subject = resource.qualified();
            let message = format!("{verb} is not supported on resources of kind \"{subject}\"");
            let mut status = Status::failure(405, "MethodNotAllowed", message);
            status.details = Status::not_found(resource, "").details;
            status
        },
    };

    /// The style of the server's own kinds.
    pub(crate) const TYPED: ApiStyle = ApiStyle {
        has_protobuf: true,
        declares_methods: true,
        unknown_default_field: Some(|field| {
            Status::bad_request(format!(
                "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                quote(field)
            ))
        }),
        verbs: &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        patch_types: &[JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH],
        unsupported_patch: |_| {
            let message = "415: Unsupported Media Type";
            with_details(Status::failure(415, "UnsupportedMediaType", message))
        },
        representations: Some(
            "application/json, application/yaml, application/vnd.kubernetes.protobuf",
        ),
        missing_subresource: |_, _| not_served(),
        unsupported_verb: |_, _| not_allowed(),
    };
}
