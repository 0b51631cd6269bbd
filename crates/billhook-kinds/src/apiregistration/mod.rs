//! The group `apiregistration.k8s.io`.

mod api_service;

use self::api_service::ApiService;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "APIService" => &ApiService,
        _ => &Plain,
    }
}
