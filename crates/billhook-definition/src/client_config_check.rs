//! Validation of where a webhook is (WCF-60 to WCF-72).

use billhook_apimachinery::names::dns1123_subdomain;
use billhook_apimachinery::net::Url;
use billhook_apimachinery::{FieldError, FieldPath, Wording};

use crate::client_config::{ClientConfig, ServiceReference};

/// The end of the details on URLs.
const FORM: &str = "desired format: https://host[/path]";

/// Appends the errors of a client configuration at a path (WCF-60 to WCF-72).
pub fn validate_client_config(
    config: &ClientConfig,
    path: &FieldPath,
    wording: &Wording,
    errors: &mut Vec<FieldError>,
) {
    match (&config.url, &config.service) {
        (Some(url), None) => validate_url(url, &path.clone().name("url"), errors),
        (None, Some(service)) => {
            validate_service(service, &path.clone().name("service"), wording, errors);
        }
        _ => {
            let detail = "exactly one of url or service is required";
            errors.push(FieldError::required(path.clone(), detail));
        }
    }
}

fn validate_url(text: &str, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(error) => {
            let detail = format!("url must be a valid URL: {error}; {FORM}");
            errors.push(FieldError::required(path.clone(), &detail));
            return;
        }
    };
    let mut refuse = |value: &str, detail: &str| {
        errors.push(FieldError::invalid(path.clone(), value, detail));
    };
    if url.scheme != "https" {
        refuse(&url.scheme, &format!("'https' is the only allowed URL scheme; {FORM}"));
    }
    if url.host.is_empty() {
        refuse("", &format!("host must be specified; {FORM}"));
    }
    if let Some(user) = &url.user {
        refuse(user, "user information is not permitted in the URL");
    }
    if !url.fragment.is_empty() {
        refuse(&url.fragment, "fragments are not permitted in the URL");
    }
    if !url.query.is_empty() {
        refuse(&url.query, "query parameters are not permitted in the URL");
    }
}

fn validate_service(
    service: &ServiceReference,
    path: &FieldPath,
    wording: &Wording,
    errors: &mut Vec<FieldError>,
) {
    // The server exchanges the two places (WCF-67).
    for (value, place) in [(&service.namespace, "name"), (&service.name, "namespace")] {
        if value.is_empty() {
            let detail = format!("service {place} is required");
            let path = path.clone().name(place);
            errors.push(FieldError::required(path, wording.missing(&detail)));
        }
    }
    if let Some(text) = &service.path {
        validate_path(text, &path.clone().name("path"), errors);
    }
    if let Some(port) = service.port.filter(|port| !(1..=65535).contains(port)) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(path.clone().name("port"), port, detail));
    }
}

/// WCF-69 to WCF-71.
fn validate_path(text: &str, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let mut refuse = |detail: String| {
        errors.push(FieldError::invalid(path.clone(), text, &detail));
    };
    match text {
        "" | "/" => return,
        "//" => return refuse("segment[0] may not be empty".to_owned()),
        _ => {}
    }
    if !text.starts_with('/') {
        refuse("must start with a '/'".to_owned());
    }
    let bytes = text.as_bytes();
    let inside = bytes.get(1..).unwrap_or_default();
    let inside = inside.strip_suffix(b"/").unwrap_or(inside);
    for (index, segment) in inside.split(|byte| *byte == b'/').enumerate() {
        if segment.is_empty() {
            refuse(format!("segment[{index}] may not be empty"));
            continue;
        }
        for message in dns1123_subdomain(&String::from_utf8_lossy(segment)) {
            refuse(format!("segment[{index}]: {message}"));
        }
    }
}
