//! The parameters of a request.

use billhook_apimachinery::Status;
use billhook_apimachinery::net::{UrlPart, unescape_text};
use http::Uri;

/// Reads the parameters of a query, in order, each of which has to be known.
pub(super) fn parameters(uri: &Uri, known: &[&str]) -> Result<Vec<(String, String)>, Status> {
    let parts = uri.query().unwrap_or_default().split('&').filter(|part| !part.is_empty());
    let read = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let unescaped = |text| unescape_text(text, UrlPart::Query).ok();
        match (unescaped(name), unescaped(value)) {
            (Some(name), Some(value)) if known.contains(&name.as_str()) => Ok((name, value)),
            _ => Err(Status::bad_request(format!(
                "unknown parameter {part:?}; known are {}",
                known.join(", ")
            ))),
        }
    };
    parts.map(read).collect()
}
