//! The log of requests, as other programs ask for it.

use billhook_apimachinery::Status;
use billhook_apiserver::{RequestLog, RequestRecord};
use http::Uri;
use serde_json::{Map, Value, json};

use super::query::parameters;
use crate::control_plane::ControlPlane;
use crate::resource::split_key;

const PARAMETERS: [&str; 9] =
    ["after", "by", "limit", "needless", "object", "refused", "resource", "verb", "writes"];

/// Returns the requests that a query asks for, the oldest first.
pub(super) fn list(plane: &ControlPlane, uri: &Uri) -> Result<Value, Status> {
    let mut log = plane.server().requests();
    let mut limit = usize::MAX;
    for (name, value) in parameters(uri, &PARAMETERS)? {
        match name.as_str() {
            "limit" => limit = number(&name, &value)?,
            _ => log = only(&log, &name, &value)?,
        }
    }
    let rest = log.after(log.len().saturating_sub(limit));
    let requests: Vec<Value> = rest.iter().map(document).collect();
    Ok(json!({ "requests": requests }))
}

/// Returns the requests of which a parameter is true.
fn only(log: &RequestLog, name: &str, value: &str) -> Result<RequestLog, Status> {
    let chosen = |chosen: fn(&RequestLog) -> RequestLog| match value {
        "true" => Ok(chosen(log)),
        "false" => Ok(log.clone()),
        _ => Err(Status::bad_request(format!("{name}: {value:?} is neither true nor false"))),
    };
    match name {
        "after" => Ok(log.after_number(number(name, value)?)),
        "by" => Ok(log.by(value)),
        "object" => {
            let (namespace, name) = split_key(value);
            Ok(log.for_object(namespace, name))
        }
        "resource" => Ok(log.of(value)),
        "verb" => Ok(log.with_verb(value)),
        "writes" => chosen(RequestLog::writes),
        "refused" => chosen(RequestLog::refused),
        _ => chosen(RequestLog::needless),
    }
}

fn number<N: std::str::FromStr>(name: &str, value: &str) -> Result<N, Status> {
    let failed = |_| Status::bad_request(format!("{name}: {value:?} is not a whole number"));
    value.parse().map_err(failed)
}

/// Returns a request as a document, without what does not apply to it.
fn document(record: &RequestRecord) -> Value {
    let texts = [
        ("user", &record.user),
        ("client", &record.client),
        ("verb", &record.verb),
        ("group", &record.group),
        ("version", &record.version),
        ("resource", &record.resource),
        ("subresource", &record.subresource),
        ("namespace", &record.namespace),
        ("name", &record.name),
        ("path", &record.path),
        ("message", &record.message),
    ];
    let mut members = Map::new();
    members.insert("number".to_owned(), record.number.into());
    members.insert("time".to_owned(), record.time.to_rfc3339().into());
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        members.insert(name.to_owned(), text.as_str().into());
    }
    members.insert("code".to_owned(), record.code.into());
    if record.dry_run {
        members.insert("dryRun".to_owned(), true.into());
    }
    if record.is_needless() {
        members.insert("needless".to_owned(), true.into());
    }
    Value::Object(members)
}
