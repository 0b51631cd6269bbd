//! The answers of the cluster of a scenario.

use std::collections::BTreeMap;

use billhook::Status;
use billhook_apimachinery::value::DeepValue;
use serde_json::{Value, json};

use super::pointer::text;
use super::request::Route;

/// The answer to a request.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: DeepValue,
    pub(super) warnings: Vec<String>,
    pub(super) annotations: BTreeMap<String, String>,
}

impl Response {
    pub(super) fn new(status: u16, body: DeepValue) -> Self {
        let (warnings, annotations) = Default::default();
        Response { status, body, warnings, annotations }
    }

    pub(super) fn refused(status: &Status) -> Self {
        let code = u16::try_from(status.code).unwrap_or(500);
        let mut body = status.to_value();
        // The filter that ends requests writes its status without the API's encoding (RE-22).
        if let Some(members) = body.as_object_mut().filter(|_| *status == Status::request_timeout())
        {
            members.remove("apiVersion");
            members.remove("kind");
        }
        Response::new(code, body)
    }

    /// RE-113.
    pub(super) fn deleted(route: &Route<'_>, object: &Value) -> Self {
        let details = json!({
            "name": text(object, "/metadata/name"),
            "group": route.group,
            "kind": route.resource,
            "uid": text(object, "/metadata/uid"),
        });
        let status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        });
        Response::new(200, status.into())
    }
}
