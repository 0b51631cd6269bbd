//! The options of logs of pods (BK-114).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, FieldPath, Status};

use crate::request::Query;

/// Checks the options in the query of a request for the log of a pod.
///
/// # Errors
///
/// A 400 if one cannot be read, a 422 if they are not allowed.
pub(super) fn check(pod: &str, query: &Query) -> Result<(), Status> {
    let number = |name: &str| query.get(name).map(|_| query.integer(name)).transpose();
    let (lines, bytes) = (number("tailLines")?, number("limitBytes")?);
    let (seconds, time) = (number("sinceSeconds")?, query.text("sinceTime"));
    if !time.is_empty() {
        Time::parse(time).map_err(|error| Status::bad_request(error.to_string()))?;
    }
    let at = |name: &str| FieldPath::default().name(name);
    let mut errors = Vec::new();
    if let Some(lines) = lines.filter(|lines| *lines < 0) {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(at("tailLines"), lines, detail));
    }
    let mut positive = |name: &str, number: Option<i64>| {
        if let Some(number) = number.filter(|number| *number < 1) {
            errors.push(FieldError::invalid(at(name), number, "must be greater than 0"));
        }
    };
    positive("limitBytes", bytes);
    if time.is_empty() {
        positive("sinceSeconds", seconds);
    } else if seconds.is_some() {
        let detail = "at most one of `sinceTime` or `sinceSeconds` may be specified";
        errors.push(FieldError::forbidden(FieldPath::default().key(""), detail));
    }
    if query.get("stream").is_some() {
        errors.push(FieldError::forbidden(at("stream"), "may not be specified"));
    }
    match errors.as_slice() {
        [] => Ok(()),
        errors => Err(Status::invalid("", "PodLogOptions", pod, errors)),
    }
}
