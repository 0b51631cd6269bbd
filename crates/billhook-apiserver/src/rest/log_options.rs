//! The options of logs of pods (BK-114).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, FieldPath, Status};

use crate::request::Query;

/// The part of a log that a request wants.
#[derive(Default)]
pub(super) struct LogOptions {
    /// How many of the last lines, and how many bytes of these.
    pub(super) lines: Option<usize>,
    pub(super) bytes: Option<usize>,
}

/// Reads the options in the query of a request for the log of a pod.
///
/// # Errors
///
/// A 400 if one cannot be read, a 422 if they are not allowed.
pub(super) fn read(pod: &str, query: &Query) -> Result<LogOptions, Status> {
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
        [] => {
            let size = |number: Option<i64>| number.and_then(|number| number.try_into().ok());
            Ok(LogOptions { lines: size(lines), bytes: size(bytes) })
        }
        errors => Err(Status::invalid("", "PodLogOptions", pod, errors)),
    }
}
