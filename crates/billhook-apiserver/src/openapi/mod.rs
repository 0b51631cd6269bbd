//! OpenAPI: what may be sent to the resources of each version (DT-40 to DT-51).

mod paths;
mod protobuf;
mod ranges;
mod schema;
mod v2;
mod weaken;

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use billhook::{CrdVersion, DeepValue, KubernetesVersion};
use billhook_apimachinery::print::compact_json;
use billhook_kinds::Kind;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::answer::Body;
use crate::discovery::entity_tag;
use crate::edition::EDITIONS;
use crate::request::Request;
use crate::resources::{Catalog, Listed};
use crate::response::Response;
use crate::shared::Shared;

/// The parts that all documents share, as a server sends them.
const COMMON: &str = include_str!("common.json");
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const SCALE: &str = "io.k8s.api.autoscaling.v1.";

/// The places of those about shards, which older servers do not have (DT-43).
const SHARDS: [&str; 3] = [
    "/parameters/shardSelector",
    "/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta/properties/shardInfo",
    "/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo",
];

/// The media types of the document of OpenAPI 2 in protobuf; the first one is answered.
const PROTOBUF: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
];

/// How long a document of a known hash can be kept.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

fn common(kubernetes: KubernetesVersion) -> &'static Value {
    static ALL: LazyLock<Value> =
        LazyLock::new(|| serde_json::from_str(COMMON).unwrap_or_default());
    static WITHOUT_SHARDS: LazyLock<Value> = LazyLock::new(|| {
        let mut common = ALL.clone();
        for place in SHARDS {
            let (parent, name) = place.rsplit_once('/').unwrap_or_default();
            let parent = common.pointer_mut(parent).and_then(Value::as_object_mut);
            parent.and_then(|parent| parent.remove(name));
        }
        common
    });
    if EDITIONS.of(kubernetes).publishes_shards { &ALL } else { &WITHOUT_SHARDS }
}

/// Answers a request for a document; `None` if the path is another one.
pub(crate) fn serve(server: &Shared, request: &Request, parts: &[&str]) -> Option<Response> {
    let path = match parts {
        ["openapi", "v2"] => return Some(everything(request, &server.catalog())),
        ["openapi", "v3", path @ ..] => path,
        _ => return None,
    };
    let catalog = server.catalog();
    if path.is_empty() {
        let index = catalog.documents.get_or_init(|| index(&catalog).into());
        return Some(json_response(index.clone()));
    }
    let (group, version) = match path {
        ["api", version] => ("", *version),
        ["apis", group, version] => (*group, *version),
        _ => return Some(empty(StatusCode::NOT_FOUND)),
    };
    let versions = versions(&catalog);
    let is_wanted =
        |found: &&CrdVersion| found.definition().group() == group && found.name() == version;
    let found: Vec<&CrdVersion> = versions.iter().filter(is_wanted).collect();
    if found.is_empty() {
        return Some(empty(StatusCode::NOT_FOUND));
    }
    if !accepts_json(request.header("accept")) {
        return Some(empty(StatusCode::NOT_ACCEPTABLE));
    }
    Some(answer(request, &path.join("/"), &document(&found, catalog.kubernetes)))
}

/// Answers with the document of OpenAPI 2, in JSON or protobuf (DT-50).
fn everything(request: &Request, catalog: &Catalog) -> Response {
    let accept = request.header("accept");
    let document = || v2::document(&versions(catalog), catalog.kubernetes);
    if accepts_json(accept) {
        let document = compact_json(&document());
        return tagged(request, &hash(document.as_bytes()), document);
    }
    if !media_types(accept).any(|name| PROTOBUF.contains(&name)) {
        return empty(StatusCode::NOT_ACCEPTABLE);
    }
    let document = protobuf::document(&document());
    let mut response = tagged(request, &hash(&document), document);
    if response.headers().contains_key(header::CONTENT_TYPE) {
        set(&mut response, header::CONTENT_TYPE, PROTOBUF[0]);
    }
    response
}

/// The form of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    V2,
    V3,
}

/// Where the resources of a version are, without the first slash.
fn root(version: &CrdVersion) -> String {
    let root = if version.definition().group().is_empty() { "api" } else { "apis" };
    format!("{root}/{}", version.api_version())
}

/// The versions that are served, by group, version and plural.
fn versions(catalog: &Catalog) -> Vec<CrdVersion> {
    let resources = catalog.resources().filter_map(Listed::resource);
    let versions = resources.flat_map(|resource| resource.definition.versions());
    let mut versions: Vec<CrdVersion> = versions.filter(CrdVersion::is_served).collect();
    let key =
        |version: &CrdVersion| (version.api_version(), version.definition().names().plural.clone());
    versions.sort_by_key(key);
    versions
}

/// Lists the documents, with the hash of each (DT-40).
fn index(catalog: &Catalog) -> String {
    let versions = versions(catalog);
    let mut paths = Map::new();
    for same in versions.chunk_by(|left, right| left.api_version() == right.api_version()) {
        let Some(first) = same.first() else { continue };
        let path = root(first);
        let hash = hash(document(&same.iter().collect::<Vec<_>>(), catalog.kubernetes).as_bytes());
        let url = json!({"serverRelativeURL": format!("/openapi/v3/{path}?hash={hash}")});
        paths.insert(path, url);
    }
    compact_json(&json!({"paths": paths}))
}

/// Answers with a document, or says that the client has it already (DT-41).
fn answer(request: &Request, path: &str, document: &str) -> Response {
    let hash = hash(document.as_bytes());
    let wanted = request.query.get("hash");
    if let Some(wanted) = wanted
        && wanted != hash
    {
        let mut response = empty(StatusCode::MOVED_PERMANENTLY);
        set(&mut response, header::LOCATION, &format!("/openapi/v3/{path}?hash={hash}"));
        return response;
    }
    let mut response = tagged(request, &hash, document.to_owned());
    if wanted.is_some() {
        set(&mut response, header::CACHE_CONTROL, "public, immutable");
        let now = SystemTime::now();
        let expires = now.checked_add(YEAR).unwrap_or(now);
        set(&mut response, header::EXPIRES, &httpdate::fmt_http_date(expires));
    }
    response
}

/// Answers with a document of a hash.
fn tagged(request: &Request, hash: &str, document: impl Into<Bytes>) -> Response {
    let tag = format!("\"{hash}\"");
    let mut response = ranges::answer(request, &tag, document);
    set(&mut response, header::VARY, "Accept");
    set(&mut response, header::ETAG, &tag);
    response
}

fn hash(document: &[u8]) -> String {
    entity_tag(document).trim_matches('"').to_owned()
}

/// Whether a client takes JSON; types are not weighed here.
fn accepts_json(accept: &str) -> bool {
    let is_json = |name| matches!(name, "*/*" | "*" | "application/*" | "application/json");
    accept.trim().is_empty() || media_types(accept).any(is_json)
}

/// The media types that a client takes.
fn media_types(accept: &str) -> impl Iterator<Item = &str> {
    accept.split(',').map(|clause| clause.split_once(';').map_or(clause, |(name, _)| name).trim())
}

/// Prints the document of a version of a group (DT-42).
fn document(versions: &[&CrdVersion], kubernetes: KubernetesVersion) -> String {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    let common_schemas = common(kubernetes).get("schemas").and_then(Value::as_object);
    let has_scale = versions.iter().any(|version| version.has_scale_subresource());
    for (name, schema) in common_schemas.into_iter().flatten() {
        if name.starts_with(META) || has_scale {
            schemas.insert(name.clone(), schema.clone());
        }
    }
    for version in versions {
        schema::add(version, Edition::V3, &mut schemas);
        paths::add(version, &mut paths);
    }
    let mut document = DeepValue::from(json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
        "paths": null,
        "components": {"schemas": null},
    }));
    if let Some(place) = document.get_mut("paths") {
        *place = paths.into();
    }
    if let Some(place) = document.pointer_mut("/components/schemas") {
        *place = schemas.into();
    }
    compact_json(&document)
}

/// The name of a schema of a version (DT-43); those of the server's own kinds have names of their own.
fn schema_name(version: &CrdVersion, kind: &str) -> String {
    let list = version.definition().names().list_kind.as_str();
    match own_kind(version) {
        Some(own) if kind == list => format!("{}List", own.open_api_name()),
        Some(own) => own.open_api_name(),
        None => {
            let group = version.definition().group().rsplit('.').collect::<Vec<_>>().join(".");
            format!("{group}.{}.{kind}", version.name())
        }
    }
}

/// The kind of the server's own that a version is of.
fn own_kind(version: &CrdVersion) -> Option<&'static Kind> {
    Kind::named(&version.api_version(), version.definition().kind())
}

/// A reference to a schema; weak schemas have other ones.
fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn empty(code: StatusCode) -> Response {
    let mut response = http::Response::new(Body::default());
    *response.status_mut() = code;
    response
}

fn json_response(document: impl Into<Bytes>) -> Response {
    let mut response = http::Response::new(Body::whole(document));
    set(&mut response, header::CONTENT_TYPE, "application/json");
    response
}

fn set(response: &mut Response, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
