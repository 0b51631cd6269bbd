//! Deletion of one object and of collections (RE-110 to RE-121).

use std::borrow::Cow;

use billhook_admission::{DeleteOptions, ObjectRequest, Warnings, deprecation_warning};
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{Status, StatusDetails};
use billhook_decode::ObjectView;
use http::StatusCode;
use serde_json::Value;

use super::context::Context;
use super::deletion::{delete_options, is_dry_run};
use super::list::{Page, let_others, list_answer};
use super::list_options::ListOptions;
use super::write::{answer, warn};
use crate::response::Response;
use crate::storage::Object;
use crate::write_path::object_key;

/// `DELETE` of an object.
pub(super) async fn delete(context: &Context<'_>) -> Result<Response, Status> {
    let options = delete_options(context)?;
    // A deletion of nothing is warned of, too (BK-13).
    let stored = context.find()?;
    let outcome =
        context.admit(request(context, &options, stored.as_ref()).name(context.name()?)).await;
    let stays = outcome.result.as_ref().is_ok_and(|accepted| accepted.stored.is_some());
    let returns_object = context.resource.kind.is_some_and(|kind| kind.returns_deleted);
    if outcome.result.is_err() || stays || returns_object {
        let keeps_no_orphans = options.orphan_dependents == Some(false);
        let code = if keeps_no_orphans { StatusCode::ACCEPTED } else { StatusCode::OK };
        return answer(context, &outcome, code);
    }
    let mut response = context.form.status(&success(context, stored.as_ref()));
    warn(&mut response, &outcome.warnings);
    Ok(response)
}

/// The answer when the object is gone (RE-113).
fn success(context: &Context<'_>, object: Option<&Object>) -> Status {
    let stored = object.map(|object| ObjectView::of_checked(&object.text));
    let uid = stored.and_then(|stored| stored.at(["metadata", "uid"])?.as_str());
    let resource = context.resource_name();
    let mut details = StatusDetails::default();
    details.name = context.path.name.clone().unwrap_or_default();
    details.group = resource.group;
    details.kind = resource.resource;
    details.uid = uid.map(Cow::into_owned).unwrap_or_default();
    let mut status = Status::default();
    status.status = "Success".to_owned();
    status.details = Some(Box::new(details));
    status
}

/// `DELETE` of a collection: every object that the same list would return (RE-120).
pub(super) async fn delete_collection(context: &Context<'_>) -> Result<Response, Status> {
    let list = ListOptions::read(context)?;
    let options = delete_options(context)?;
    let page = Page::of(context, list)?;
    let (items, metadata) = match page.list(context).await {
        Ok(listed) => listed,
        Err(status) => return page.failed(context, status),
    };
    let mut warnings = Warnings::default();
    deprecation_warning(&context.version).iter().for_each(|text| warnings.add(text));
    let deleted = delete_all(context, &options, &items, &mut warnings).await;
    let answer = deleted.and_then(|()| list_answer(context, &items, &metadata));
    let mut response = answer.unwrap_or_else(|status| context.failure(&status));
    warn(&mut response, &warnings);
    Ok(response)
}

/// Deletes one object after the other, up to the first failure.
async fn delete_all(
    context: &Context<'_>,
    options: &DeleteOptions,
    objects: &[DeepValue],
    warnings: &mut Warnings,
) -> Result<(), Status> {
    for (index, object) in objects.iter().enumerate() {
        let_others(index).await;
        let metadata = object.get("metadata").unwrap_or(&Value::Null);
        let key = object_key(text(metadata, "namespace"), text(metadata, "name"));
        let Some(stored) = context.storage().get(&context.resource.collection, &key) else {
            continue;
        };
        let request = request(context, options, Some(&stored)).in_collection();
        let outcome = context.admit(request).await;
        outcome.warnings.raw().iter().for_each(|text| warnings.add(text));
        match outcome.result {
            Err(status) if status.code != 404 => return Err(status),
            _ => {}
        }
    }
    Ok(())
}

/// The request that takes one object through admission, or fails if there is none.
fn request(
    context: &Context<'_>,
    options: &DeleteOptions,
    object: Option<&Object>,
) -> ObjectRequest {
    let request = ObjectRequest::delete(context.version.name(), &[]);
    let request = match object {
        Some(object) => request.stored(context.resource.stored(object)),
        None => request,
    };
    request.dry_run(is_dry_run(options)).delete_options(options.clone())
}
