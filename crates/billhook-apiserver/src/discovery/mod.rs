//! Discovery: the groups, versions and resources of a server (DT-01 to DT-23).

mod documents;
mod model;

use std::fmt::Write as _;

use billhook_apimachinery::Status;
use http::{HeaderValue, Method, StatusCode, header};
use sha2::{Digest as _, Sha512};

use self::model::Group;
use crate::answer::Body;
use crate::failures::{not_allowed, not_served};
use crate::request::{Accepted, NOT_ACCEPTABLE, Request, aggregated_discovery, negotiate_plain};
use crate::resources::Catalog;
use crate::response::{Form, Response, plain_not_found};
use crate::shared::Shared;

/// Answers a request for a document of discovery; `None` if the path is another one.
pub(crate) fn serve(server: &Shared, request: &Request, parts: &[&str]) -> Option<Response> {
    let is_core = match parts {
        ["api"] | ["api", _] => true,
        ["apis"] | ["apis", _] | ["apis", _, _] => false,
        _ => return None,
    };
    let catalog = server.catalog();
    let is_own = is_core || parts.get(1).is_some_and(|group| catalog.is_own(group));
    if is_own && !matches!(request.method, Method::GET | Method::HEAD) {
        return Some(Form::of_failures(request).status(&not_allowed()));
    }
    let groups = Group::all(&catalog);
    if parts.len() == 1
        && let Some(accepted) = aggregated_discovery(request.header("accept"))
    {
        return Some(aggregated(request, &accepted, is_core, &groups));
    }
    let group = |name: &str| groups.iter().find(|group| group.name == name);
    let version = |group: &str, version: &str| {
        let group = groups.iter().find(|known| known.name == group)?;
        let version = group.versions.iter().find(|known| known.name == version)?;
        Some(documents::resources(group, version))
    };
    let document = match parts {
        ["api"] => Some(core_versions(request)),
        ["api", name] => version("", name),
        ["apis"] => Some(documents::groups(&groups)),
        ["apis", name] => group(name).map(documents::group),
        ["apis", name, of_version] => version(name, of_version),
        _ => None,
    };
    Some(match document {
        Some(document) => answer(request, &document),
        None if is_own => Form::of_failures(request).status(&not_served()),
        None => plain_not_found(),
    })
}

/// Returns the paths of all groups but the core one, and of their versions.
pub(crate) fn paths(catalog: &Catalog) -> Vec<String> {
    let groups = Group::all(catalog);
    let groups = groups.iter().filter(|group| !group.name.is_empty());
    let of_group = |group: &Group| {
        let path = format!("/apis/{}", group.name);
        let versions = group.versions.iter().map(|version| format!("{path}/{}", version.name));
        versions.chain([path.clone()]).collect::<Vec<_>>()
    };
    groups.flat_map(of_group).collect()
}

/// Answers with a document of the server itself, in JSON or YAML (DT-01).
pub(crate) fn answer(request: &Request, document: &str) -> Response {
    match negotiate_plain(request.header("accept")) {
        Some(accepted) => Form::of(request, &accepted).json(StatusCode::OK, document),
        None => {
            let status = Status::failure(406, "NotAcceptable", NOT_ACCEPTABLE);
            Form::of_failures(request).status(&status)
        }
    }
}

/// The versions of the core group (DT-07).
fn core_versions(request: &Request) -> String {
    let address = serde_json::Value::from(request.header("host"));
    format!(
        r#"{{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{{"clientCIDR":"0.0.0.0/0","serverAddress":{address}}}]}}"#
    )
}

/// Answers with all groups, or with the core group, in one document (DT-20 to DT-22).
fn aggregated(request: &Request, accepted: &Accepted, is_core: bool, groups: &[Group]) -> Response {
    let groups = groups.iter().filter(|group| group.name.is_empty() == is_core);
    let items = documents::aggregated_items(groups);
    let tag = entity_tag(items.as_bytes());
    let mut response = if request.header("if-none-match") == tag {
        let mut response = http::Response::new(Body::default());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let document = format!(
            r#"{{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{{}},"items":{items}}}"#
        );
        let form = Form { is_pretty: false, ..Form::of(request, accepted) };
        let mut response = form.json(StatusCode::OK, document);
        let type_ = format!(
            "{};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            accepted.media_type.name()
        );
        if let Ok(type_) = HeaderValue::from_str(&type_) {
            response.headers_mut().insert(header::CONTENT_TYPE, type_);
        }
        response
    };
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    response
}

/// Returns the tag of a document, in quotes.
pub(crate) fn entity_tag(document: &[u8]) -> String {
    let mut tag = "\"".to_owned();
    for byte in Sha512::digest(document) {
        let _ = write!(tag, "{byte:02X}");
    }
    tag + "\""
}
