//! Requests of clients: the parts of their URLs, and the requests of the write path they mean.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use billhook::{FieldValidation, UserInfo};
use billhook_admission::{DeleteOptions, ObjectRequest, RequestOptions, StoredObject, Subresource};
use billhook_apimachinery::record::TypedRecord;
use billhook_decode::read_json;
use billhook_kinds::Kind;
use billhook_policy::PolicyKind;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The time that a server gives to writes (DI-53).
const MAX_TIME: Duration = Duration::from_secs(34);

/// A request over HTTP.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    pub(super) method: String,
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Box<RawValue>>,
    content_type: Option<String>,
}

/// The address of a custom resource.
#[derive(Debug, Default)]
pub(super) struct Route<'p> {
    pub(super) group: &'p str,
    pub(super) version: &'p str,
    pub(super) resource: &'p str,
    pub(super) namespace: &'p str,
    pub(super) name: &'p str,
    subresource: &'p str,
    query: BTreeMap<&'p str, String>,
}

impl<'p> Route<'p> {
    /// Takes a path apart (RE-02).
    fn parse(path: &'p str) -> Option<Self> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let pair = |pair: &'p str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name, unescape(value))
        };
        let query = query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect();
        let (group, rest) = match path.strip_prefix("/api/") {
            Some(rest) => ("", rest),
            None => path.strip_prefix("/apis/")?.split_once('/')?,
        };
        let mut parts = rest.split('/');
        let version = parts.next()?;
        let rest: Vec<&str> = parts.collect();
        let (namespace, rest) = match rest.as_slice() {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
            rest => ("", rest),
        };
        let mut rest = rest.iter().copied();
        let resource = rest.next()?;
        let (name, subresource) = (rest.next().unwrap_or(""), rest.next().unwrap_or(""));
        Some(Route { group, version, resource, namespace, name, subresource, query })
    }

    /// The kind of its objects, if it is built in.
    pub(super) fn kind(&self) -> Option<&'static Kind> {
        let is_it = |kind: &&Kind| {
            [kind.group, kind.version, kind.plural] == [self.group, self.version, self.resource]
        };
        Kind::all().iter().find(is_it)
    }

    fn is_dry_run(&self) -> bool {
        !self.option("dryRun").is_empty()
    }

    fn option(&self, name: &str) -> &str {
        self.query.get(name).map_or("", String::as_str)
    }

    fn time(&self) -> Duration {
        let seconds = self.option("timeout").strip_suffix('s').and_then(|text| text.parse().ok());
        seconds.map_or(MAX_TIME, |seconds: u64| Duration::from_secs(seconds).min(MAX_TIME))
    }
}

impl Request {
    /// The same over HTTP, with the revision of the stored object where the body wants it.
    pub(super) fn to_http(&self, revision: &str) -> Result<http::Request<String>, String> {
        let mut request = http::Request::builder().method(self.method.as_str()).uri(&self.path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if self.body.is_some() {
            let json = "application/json";
            request = request.header("content-type", self.content_type.as_deref().unwrap_or(json));
        }
        request.body(self.body_text(revision)).map_err(|error| error.to_string())
    }

    /// The path of the object that it is for, if its body names the revision of it.
    pub(super) fn revised(&self) -> Option<String> {
        let is_revised = self.body.as_ref().is_some_and(|body| body.get().contains("\"$RV\""));
        let route = self.route().filter(|_| is_revised)?;
        let Route { group, version, namespace, resource, name, .. } = route;
        Some(match namespace {
            "" => format!("/apis/{group}/{version}/{resource}/{name}"),
            _ => format!("/apis/{group}/{version}/namespaces/{namespace}/{resource}/{name}"),
        })
    }

    /// Whether it is for an admission policy or a binding.
    pub(super) fn is_of_policies(&self) -> bool {
        self.route().is_some_and(|route| {
            PolicyKind::ALL.into_iter().any(|kind| kind.resource() == route.resource)
        })
    }

    /// Whether it asks the server itself, which stores nothing of it.
    pub(super) fn is_review(&self) -> bool {
        let kind = self.route().and_then(|route| route.kind());
        kind.is_some_and(|kind| !kind.is_stored())
    }

    fn body_text(&self, revision: &str) -> String {
        let body = self.body.as_ref().map_or("", |body| body.get());
        body.replace("\"$RV\"", &format!("\"{revision}\""))
    }

    /// The resource that it is for, if it may be a custom one.
    pub(super) fn route(&self) -> Option<Route<'_>> {
        Route::parse(&self.path)
    }

    /// The request of the write path; none if it is another request.
    pub(super) fn object_request(
        &self,
        route: &Route<'_>,
        stored: StoredObject,
    ) -> Option<ObjectRequest> {
        let body = self.body_text(&stored.resource_version);
        let (version, body) = (route.version, body.as_bytes());
        let request = match (self.method.as_str(), self.content_type.as_deref()) {
            ("POST", _) => ObjectRequest::create(version, body),
            ("PUT", _) => ObjectRequest::replace(version, body, b""),
            ("PATCH", Some("application/json-patch+json")) => {
                ObjectRequest::json_patch(version, body, b"")
            }
            ("PATCH", Some("application/merge-patch+json")) => {
                ObjectRequest::merge_patch(version, body, b"")
            }
            ("PATCH", Some("application/apply-patch+yaml")) => {
                ObjectRequest::apply(version, body, b"", "").force(route.option("force") == "true")
            }
            ("DELETE", _) => {
                let options = delete_options(route, body)?;
                let is_dry_run = options.dry_run.iter().any(|directive| directive == "All");
                let delete = ObjectRequest::delete(version, b"").dry_run(is_dry_run);
                let delete = delete.delete_options(options);
                if route.name.is_empty() { delete.in_collection() } else { delete }
            }
            _ => return None,
        };
        let is_dry_run = request.dry_run || route.is_dry_run();
        let mut request = request
            .stored(stored)
            .namespace(route.namespace)
            .name(route.name)
            .field_manager(route.option("fieldManager"))
            .dry_run(is_dry_run)
            .user(user())
            .options(RequestOptions::default().deadline(Instant::now() + route.time()));
        request.field_validation = match route.option("fieldValidation") {
            "Strict" => FieldValidation::Strict,
            "Ignore" => FieldValidation::Ignore,
            _ => FieldValidation::Warn,
        };
        request.subresource = match route.subresource {
            "" => None,
            "status" => Some(Subresource::Status),
            "scale" => Some(Subresource::Scale),
            _ => return None,
        };
        Some(request)
    }
}

/// The options in the body of a deletion, or in its query (RE-110); none if they cannot be read.
fn delete_options(route: &Route<'_>, body: &[u8]) -> Option<DeleteOptions> {
    let mut options = DeleteOptions::default();
    if !body.is_empty() {
        let (read, _) = DeleteOptions::read(read_json(body).ok()?.value()).ok()?;
        return Some(read);
    }
    let given = |name: &str| Some(route.option(name)).filter(|value| !value.is_empty());
    options.propagation_policy = given("propagationPolicy").map(str::to_owned);
    options.grace_period_seconds = given("gracePeriodSeconds").and_then(|text| text.parse().ok());
    options.orphan_dependents =
        given("orphanDependents").map(|text| text != "false" && text != "0");
    Some(options)
}

/// The user of all scenarios.
pub(super) fn user() -> UserInfo {
    let mut user = UserInfo::named("kubernetes-admin");
    "admin".clone_into(&mut user.uid);
    user.group("system:masters").group("system:authenticated")
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend(before.bytes());
        let digits = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(digits.unwrap_or(b'%'));
        rest = if digits.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    bytes.extend(rest.bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}
