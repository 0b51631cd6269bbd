//! Writes of one object: create, update, patch (RE-61 to RE-85).

use billhook_admission::{Accepted, AdmissionOutcome, ObjectRequest, Subresource, Warnings};
use billhook_apimachinery::Status;
use http::{HeaderValue, StatusCode, header};

use super::context::Context;
use super::options::{Body, WriteOptions};
use crate::request::Request;
use crate::resources::{APPLY_PATCH, JSON_PATCH, STRATEGIC_PATCH};
use crate::response::Response;
use crate::storage::with_revision;

/// `POST` of an object.
pub(super) async fn create(context: &Context<'_>) -> Result<Response, Status> {
    if context.server.settings.settles_like_a_server {
        tokio::time::sleep(context.resource.holds_back()).await;
    }
    let body = Body::of(context.request, context.resource.record)?;
    let options = WriteOptions::read(context.request, "CreateOptions")?;
    let request = ObjectRequest::create(context.version.name(), &[])
        .body(body.text)
        .body_format(body.format)
        .name(context.path.name.as_deref().unwrap_or_default());
    write(context, request, &options, StatusCode::CREATED).await
}

/// `PUT` of an object, its status or its scale.
pub(super) async fn update(context: &Context<'_>) -> Result<Response, Status> {
    context.request.body()?;
    let options = WriteOptions::read(context.request, "UpdateOptions")?;
    let body = Body::of(context.request, context.resource.record)?;
    let request = ObjectRequest::replace(context.version.name(), &[], &[])
        .body(body.text)
        .body_format(body.format)
        .name(context.name()?);
    let stored = context.find()?;
    let (request, code) = match &stored {
        Some(stored) => (request.stored(context.resource.stored(stored)), StatusCode::OK),
        // What is wrong with the body comes first. Some kinds are created so (BK-09).
        None => (request, StatusCode::CREATED),
    };
    write(context, on_subresource(context, request), &options, code).await
}

/// `PATCH` of an object, its status or its scale.
pub(super) async fn patch(context: &Context<'_>) -> Result<Response, Status> {
    if patch_type(context.request) == APPLY_PATCH {
        return apply(context).await;
    }
    let (version, body) = (context.version.name(), context.request.body()?);
    let options = WriteOptions::read(context.request, "PatchOptions")?;
    let request = match patch_type(context.request) {
        JSON_PATCH => ObjectRequest::json_patch(version, &[], &[]),
        STRATEGIC_PATCH => ObjectRequest::strategic_merge_patch(version, &[], &[]),
        _ => ObjectRequest::merge_patch(version, &[], &[]),
    };
    let request = request.body(body.clone());
    write(context, on_stored(context, request)?, &options, StatusCode::OK).await
}

/// `PATCH` with a configuration to apply; it also creates objects (SA-60, SA-63).
async fn apply(context: &Context<'_>) -> Result<Response, Status> {
    let (version, body) = (context.version.name(), context.request.body()?);
    let options = WriteOptions::read_of_apply(context.request)?;
    let is_main = context.path.subresource.is_empty();
    loop {
        let stored = context.find()?;
        let request = ObjectRequest::apply(version, &[], &[], &options.field_manager)
            .body(body.clone())
            .name(context.name()?)
            .force(options.force);
        let request = match &stored {
            Some(stored) => request.stored(context.resource.stored(stored)),
            None if is_main => request,
            None => return Err(Status::not_found(&context.resource_name(), context.name()?)),
        };
        let outcome = context.admit(options.set(on_subresource(context, request))).await;
        let is_refused = outcome.result.as_ref().is_err_and(|error| error.code == 409);
        if stored.is_none() && is_refused && context.find()?.is_some() {
            // Another request created the object meanwhile.
            continue;
        }
        let code = if stored.is_none() { StatusCode::CREATED } else { StatusCode::OK };
        return answer(context, &outcome, code);
    }
}

/// Adds the stored object to a request, and the subresource that it changes.
fn on_stored(context: &Context<'_>, request: ObjectRequest) -> Result<ObjectRequest, Status> {
    let request = request.stored(context.resource.stored(&context.stored()?)).name(context.name()?);
    Ok(on_subresource(context, request))
}

fn on_subresource(context: &Context<'_>, request: ObjectRequest) -> ObjectRequest {
    match context.path.subresource.as_str() {
        "status" => request.subresource(Subresource::Status),
        "scale" => request.subresource(Subresource::Scale),
        name => match context.resource.kind.and_then(|kind| kind.subresource(name)) {
            Some(subresource) => request.subresource(Subresource::Of(subresource.name)),
            None => request,
        },
    }
}

async fn write(
    context: &Context<'_>,
    request: ObjectRequest,
    options: &WriteOptions,
    code: StatusCode,
) -> Result<Response, Status> {
    let outcome = context.admit(options.set(request)).await;
    answer(context, &outcome, code)
}

/// The answer to a write, with its warnings.
pub(super) fn answer(
    context: &Context<'_>,
    outcome: &AdmissionOutcome,
    code: StatusCode,
) -> Result<Response, Status> {
    let answer = match &outcome.result {
        Ok(accepted) => match returned_text(context, accepted) {
            Some(text) => Ok(context.form.json(code, text)),
            None => match accepted.returned() {
                Some(object) => context.object(code, &object),
                None => Ok(context.form.status(&Status::default())),
            },
        },
        Err(status) => Err(status.clone()),
    };
    let mut response = answer.unwrap_or_else(|status| context.failure(&status));
    warn(&mut response, &outcome.warnings);
    Ok(response)
}

/// The text of the object that a client gets, if it is the stored one with its revision.
fn returned_text(context: &Context<'_>, accepted: &Accepted) -> Option<Vec<u8>> {
    let (stored, place) = (accepted.stored.as_deref()?, accepted.revision_place?);
    let is_shown_so = context.view.shows_objects() && context.resource.is_shown_so(stored);
    let revision = accepted.metadata("resourceVersion").filter(|_| is_shown_so)?;
    with_revision(stored, place, revision.as_str()?)
}

/// Adds the warnings of a request.
pub(crate) fn warn(response: &mut Response, warnings: &Warnings) {
    for warning in warnings.headers() {
        if let Ok(value) = HeaderValue::from_bytes(warning.as_bytes()) {
            response.headers_mut().append(header::WARNING, value);
        }
    }
}

/// Patches have types of their own (RE-80).
pub(super) fn check_patch_type(context: &Context<'_>) -> Result<(), Status> {
    let style = context.resource.style;
    match style.patch_types.contains(&patch_type(context.request)) {
        true => Ok(()),
        false => Err((style.unsupported_patch)(style.patch_types)),
    }
}

fn patch_type(request: &Request) -> &str {
    let header = request.header("content-type");
    header.split_once(';').map_or(header, |(name, _)| name)
}
