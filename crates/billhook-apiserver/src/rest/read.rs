//! Reads of one object (RE-40 to RE-43).

use billhook_apimachinery::print::quote;
use billhook_apimachinery::{Status, StatusCause, StatusDetails};
use http::StatusCode;

use super::context::{Context, check_name};
use crate::request::why;
use crate::response::Response;
use crate::storage::Revision;

/// `GET` of an object, its status or its scale.
pub(super) async fn get(context: &Context<'_>) -> Result<Response, Status> {
    if context.request.query.flag("export") {
        let message = "the export parameter, deprecated since v1.14, is no longer supported";
        return Err(Status::bad_request(message));
    }
    check_name(context.name()?)?;
    let wanted = revision(context.request.query.text("resourceVersion"))
        .map_err(|why| Status::failure(500, "", why))?;
    check_reached(context, wanted)?;
    let stored = context.stored()?;
    let object = if context.path.subresource == "scale" {
        let version = context.version.name();
        context.resource.admission.read_scale(version, &context.resource.stored(&stored)).await?
    } else if context.view.shows_objects() {
        return Ok(context.form.json(StatusCode::OK, context.read_text(&stored).await?));
    } else {
        context.read(&stored).await?
    };
    context.object(StatusCode::OK, &object)
}

/// Reads a resource version; 0 if it is empty (RE-41).
pub(super) fn revision(text: &str) -> Result<Revision, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = text.parse().map_err(|error| why(&error));
    parsed.and_then(|number| if is_number { Ok(number) } else { Err("invalid syntax") }).map_err(
        |why| {
            let text = quote(text);
            format!(
                "resourceVersion: Invalid value: {text}: strconv.ParseUint: parsing {text}: {why}"
            )
        },
    )
}

/// A revision that no writer has reached is not waited for (RE-59).
pub(super) fn check_reached(context: &Context<'_>, wanted: Revision) -> Result<(), Status> {
    let current = context.storage().revision();
    if wanted <= current {
        return Ok(());
    }
    Err(too_large(wanted, current))
}

/// The failure of a read of the future (RE-59).
pub(super) fn too_large(wanted: Revision, current: Revision) -> Status {
    let text = format!("Too large resource version: {wanted}, current: {current}");
    let mut cause = StatusCause::default();
    cause.reason = "ResourceVersionTooLarge".to_owned();
    cause.message = "Too large resource version".to_owned();
    let mut details = StatusDetails::default();
    details.causes = vec![cause];
    details.retry_after_seconds = 1;
    let mut status = Status::failure(504, "Timeout", format!("Timeout: {text}"));
    status.details = Some(Box::new(details));
    status
}
