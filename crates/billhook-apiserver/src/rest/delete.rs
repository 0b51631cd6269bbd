//! Deletion of one object and of collections (RE-110 to RE-121).

use std::sync::Arc;

use billhook_admission::{DeleteOptions, ObjectRequest, StoreWrite};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{Status, StatusDetails};
use billhook_decode::read_json;
use http::StatusCode;
use serde_json::{Value, json};

use super::binding::Binding;
use super::context::{Context, stored_object};
use super::deletion::{delete_options, is_dry_run};
use super::list::Page;
use super::write::{answer, warn};
use crate::response::Response;
use crate::storage::Object;

/// `DELETE` of an object.
pub(super) async fn delete(context: &Context<'_>) -> Result<Response, Status> {
    let options = delete_options(context.request)?;
    let stored = context.stored()?;
    let outcome = admit(context, request(context, &options, &stored)).await;
    let stays = outcome.result.as_ref().is_ok_and(|accepted| accepted.stored.is_some());
    if outcome.result.is_err() || stays {
        let keeps_no_orphans = options.orphan_dependents == Some(false);
        let code = if keeps_no_orphans { StatusCode::ACCEPTED } else { StatusCode::OK };
        return Ok(answer(context, &outcome, code));
    }
    let mut response = context.form.status(&success(context, &stored));
    warn(&mut response, &outcome);
    Ok(response)
}

async fn admit(
    context: &Context<'_>,
    request: ObjectRequest,
) -> billhook_admission::AdmissionOutcome {
    let binding = Binding::new(context.server, &context.resource.collection);
    let store = Arc::new(move |write: StoreWrite<'_>| binding.write(&write));
    context.admission().store(store).admit(&request).await
}

/// The answer when the object is gone (RE-113).
fn success(context: &Context<'_>, object: &Object) -> Status {
    let stored = read_json(&object.text).map(billhook_decode::Document::into_value);
    let uid = stored.ok().and_then(|stored| {
        let uid = stored.get("metadata")?.get("uid")?.as_str()?;
        Some(uid.to_owned())
    });
    let resource = context.resource_name();
    let mut details = StatusDetails::default();
    details.name = context.path.name.clone().unwrap_or_default();
    details.group = resource.group;
    details.kind = resource.resource;
    details.uid = uid.unwrap_or_default();
    let mut status = Status::default();
    status.status = "Success".to_owned();
    status.details = Some(Box::new(details));
    status
}

/// `DELETE` of a collection: every object that the same list would return (RE-120).
pub(super) async fn delete_collection(context: &Context<'_>) -> Result<Response, Status> {
    let page = Page::read(context)?;
    let options = delete_options(context.request)?;
    let (items, metadata) = page.list(context)?;
    for item in &items {
        let text = |name: &str| {
            let metadata = item.get("metadata").and_then(|metadata| metadata.get(name));
            metadata.and_then(Value::as_str).unwrap_or_default()
        };
        let key = match text("namespace") {
            "" => text("name").to_owned(),
            namespace => format!("{namespace}/{}", text("name")),
        };
        let Some(stored) = context.storage().get(&context.resource.collection, &key) else {
            continue;
        };
        let request = request(context, &options, &stored).in_collection();
        match admit(context, request).await.result {
            Err(status) if status.code != 404 => return Err(status),
            _ => {}
        }
    }
    let list = json!({
        "apiVersion": context.version.api_version(),
        "kind": context.resource.definition.names().list_kind,
        "metadata": metadata,
    });
    let mut list = DeepValue::from(list);
    if let Value::Object(members) = &mut *list {
        let items = items.into_iter().map(DeepValue::into_inner).collect();
        members.insert("items".to_owned(), Value::Array(items));
    }
    Ok(context.form.object(StatusCode::OK, &list))
}

/// The request that takes one object through admission.
fn request(context: &Context<'_>, options: &DeleteOptions, object: &Object) -> ObjectRequest {
    ObjectRequest::delete(context.version.name(), &[])
        .stored(stored_object(object))
        .namespace(context.namespace())
        .dry_run(is_dry_run(options))
        .delete_options(options.clone())
        .user(context.server.user.clone())
}
