//! The bodies of requests.

use std::time::Duration;

use billhook_apimachinery::Status;
use bytes::Bytes;
use http::Request;
use http::header::CONTENT_TYPE;
use serde_json::{Map, Value};

/// Reads the body of a request, an object of JSON. The type has to be named: browsers ask before they
/// send it for another site.
pub(super) fn members(request: &Request<Bytes>) -> Result<Map<String, Value>, Status> {
    let named = request.headers().get(CONTENT_TYPE).and_then(|named| named.to_str().ok());
    let media_type = named.and_then(|named| named.split(';').next()).unwrap_or_default();
    if !media_type.trim().eq_ignore_ascii_case("application/json") {
        let message = "the body has to be application/json, and Content-Type has to say so";
        return Err(Status::failure(415, "UnsupportedMediaType", message));
    }
    if request.body().is_empty() {
        return Ok(Map::new());
    }
    let read = serde_json::from_slice(request.body());
    read.map_err(|error| Status::bad_request(format!("the body is not an object: {error}")))
}

/// Refuses members that are not known: a mistyped one would do something else than was meant.
pub(super) fn check_members(members: &Map<String, Value>, known: &[&str]) -> Result<(), Status> {
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Status::bad_request(format!(
            "unknown member {name:?}; known are {}",
            known.join(", ")
        ))),
        None => Ok(()),
    }
}

/// Reads a duration in Go's notation, which is not negative.
pub(super) fn duration(
    members: &Map<String, Value>,
    name: &str,
) -> Result<Option<Duration>, Status> {
    let Some(value) = members.get(name) else { return Ok(None) };
    let parsed = value.as_str().and_then(billhook_validation::parse_go_duration);
    match parsed.and_then(|nanoseconds| u64::try_from(nanoseconds).ok()) {
        Some(nanoseconds) => Ok(Some(Duration::from_nanos(nanoseconds))),
        None => {
            let message = format!("{name}: {value} is not a duration such as \"1h30m\"");
            Err(Status::bad_request(message))
        }
    }
}
