//! Deletion of one object and of collections (RE-110 to RE-121).

use std::sync::{Arc, Mutex, PoisonError};

use billhook_admission::{ObjectRequest, StoreWrite};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{Status, StatusDetails};
use billhook_decode::read_json;
use http::StatusCode;
use serde_json::{Value, json};

use super::binding::Binding;
use super::context::{Context, stored_object};
use super::deletion::Deletion;
use super::list::Page;
use super::write::{answer, warn};
use crate::response::Response;
use crate::storage::Object;

/// `DELETE` of an object.
pub(super) async fn delete(context: &Context<'_>) -> Result<Response, Status> {
    let deletion = Deletion::read(context.request)?;
    let stored = context.stored()?;
    let request = request(context, &deletion, &stored);
    let marked = Arc::new(Mutex::new(None));
    let outcome = admit(context, &deletion, &request, &marked).await;
    if outcome.result.is_err() {
        return Ok(answer(context, &outcome, StatusCode::OK));
    }
    let marked = marked.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut response = match marked {
        Some(object) => {
            let code =
                if deletion.keeps_no_orphans { StatusCode::ACCEPTED } else { StatusCode::OK };
            let object = context.read(&object)?;
            context.form.object(code, &object)
        }
        None => context.form.status(&success(context, &stored)),
    };
    warn(&mut response, &outcome);
    Ok(response)
}

async fn admit(
    context: &Context<'_>,
    deletion: &Deletion,
    request: &ObjectRequest,
    marked: &Arc<Mutex<Option<Object>>>,
) -> billhook_admission::AdmissionOutcome {
    let binding = Binding::new(context.server, &context.resource.collection)
        .deleting(deletion.clone(), marked);
    let store = Arc::new(move |write: StoreWrite<'_>| binding.write(&write));
    context.admission().store(store).admit(request).await
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
    let deletion = Deletion::read(context.request)?;
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
        let request = request(context, &deletion, &stored).in_collection();
        let outcome = admit(context, &deletion, &request, &Arc::default()).await;
        match outcome.result {
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
fn request(context: &Context<'_>, deletion: &Deletion, object: &Object) -> ObjectRequest {
    ObjectRequest::delete(context.version.name(), &[])
        .stored(stored_object(object))
        .namespace(context.namespace())
        .dry_run(deletion.dry_run)
        .only_uid(&deletion.uid)
        .only_resource_version(&deletion.resource_version)
        .user(context.server.user.clone())
}
