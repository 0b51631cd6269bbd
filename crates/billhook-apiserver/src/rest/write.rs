//! Writes of one object: create, update, patch (RE-61 to RE-85).

use billhook_admission::{AdmissionOutcome, ObjectRequest, Subresource};
use billhook_apimachinery::Status;
use http::{HeaderValue, StatusCode, header};

use super::binding::stored_object;
use super::context::Context;
use super::options::WriteOptions;
use crate::request::Request;
use crate::response::Response;

/// The types of patches (RE-80).
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// `POST` of an object.
pub(super) async fn create(context: &Context<'_>) -> Result<Response, Status> {
    check_body_type(context.request)?;
    let options = WriteOptions::read(context.request, "CreateOptions")?;
    let request = ObjectRequest::create(context.version.name(), &context.request.body);
    write(context, request, &options, StatusCode::CREATED).await
}

/// `PUT` of an object, its status or its scale.
pub(super) async fn update(context: &Context<'_>) -> Result<Response, Status> {
    let options = WriteOptions::read(context.request, "UpdateOptions")?;
    check_body_type(context.request)?;
    let request = ObjectRequest::replace(context.version.name(), &context.request.body, &[]);
    write(context, on_stored(context, request)?, &options, StatusCode::OK).await
}

/// `PATCH` of an object, its status or its scale.
pub(super) async fn patch(context: &Context<'_>) -> Result<Response, Status> {
    let options = WriteOptions::read(context.request, "PatchOptions")?;
    let (version, body) = (context.version.name(), &context.request.body);
    let request = match patch_type(context.request) {
        JSON_PATCH => ObjectRequest::json_patch(version, body, &[]),
        _ => ObjectRequest::merge_patch(version, body, &[]),
    };
    write(context, on_stored(context, request)?, &options, StatusCode::OK).await
}

/// Adds the stored object to a request, and the subresource that it changes.
fn on_stored(context: &Context<'_>, request: ObjectRequest) -> Result<ObjectRequest, Status> {
    let request = request.stored(stored_object(&context.stored()?));
    Ok(match context.path.subresource.as_str() {
        "status" => request.subresource(Subresource::Status),
        "scale" => request.subresource(Subresource::Scale),
        _ => request,
    })
}

async fn write(
    context: &Context<'_>,
    request: ObjectRequest,
    options: &WriteOptions,
    code: StatusCode,
) -> Result<Response, Status> {
    let request = request
        .dry_run(options.dry_run)
        .field_manager(&options.field_manager)
        .field_validation(options.field_validation);
    let outcome = context.admit(request).await;
    Ok(answer(context, &outcome, code))
}

/// The answer to a write, with its warnings.
pub(super) fn answer(
    context: &Context<'_>,
    outcome: &AdmissionOutcome,
    code: StatusCode,
) -> Response {
    let mut response = match &outcome.result {
        Ok(accepted) => match &accepted.returned {
            Some(object) => context.form.object(code, object),
            None => context.form.status(&Status::default()),
        },
        Err(status) => context.form.status(status),
    };
    warn(&mut response, outcome);
    response
}

/// Adds the warnings of a request.
pub(super) fn warn(response: &mut Response, outcome: &AdmissionOutcome) {
    for warning in outcome.warnings.headers() {
        if let Ok(value) = HeaderValue::from_bytes(warning.as_bytes()) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
}

/// Objects are sent as JSON or YAML (RE-12).
fn check_body_type(request: &Request) -> Result<(), Status> {
    let sent = request.content_type().to_ascii_lowercase();
    if matches!(sent.trim(), "application/json" | "application/yaml") {
        return Ok(());
    }
    let types = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
    Err(unsupported(types))
}

/// Patches have types of their own (RE-80).
pub(super) fn check_patch_type(request: &Request) -> Result<(), Status> {
    if matches!(patch_type(request), JSON_PATCH | MERGE_PATCH) {
        return Ok(());
    }
    Err(unsupported(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    ))
}

fn patch_type(request: &Request) -> &str {
    let header = request.header("content-type");
    header.split_once(';').map_or(header, |(name, _)| name)
}

fn unsupported(types: &str) -> Status {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {types}"
    );
    Status::failure(415, "UnsupportedMediaType", message)
}
