//! Requests from AdmissionReviews, as webhooks get them and logs keep them (AR-02, AR-12).

use billhook_apimachinery::Location;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use serde_json::Value;

use super::{AdmissionAttributes, Operation};
use billhook_apimachinery::UserInfo;
use billhook_apimachinery::record_reader::{ReadError, Reader};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};

type Result<T> = std::result::Result<T, ReadError>;

impl AdmissionAttributes {
    /// The request that an AdmissionReview is about. Kind, resource and subresource are those of
    /// the client's request, not those that the webhook of the review asked for (AR-12).
    pub fn from_review(review: &Value) -> Result<Self> {
        let at = Location::TOP;
        let at = at.name("request");
        match review.get("request") {
            Some(request @ Value::Object(_)) => read(request, &at),
            _ => Err(ReadError::new(&at, "expected the request of an AdmissionReview".to_owned())),
        }
    }

    /// [`AdmissionAttributes::from_review`] for the `request` of a review alone.
    pub fn from_review_request(request: &Value) -> Result<Self> {
        read(request, &Location::TOP)
    }
}

fn read(request: &Value, at: &Location<'_>) -> Result<AdmissionAttributes> {
    let reader = &mut Reader::default();
    let (mut operation, mut kind, mut resource) = (None, None, None);
    let (mut request_kind, mut request_resource) = (None, None);
    let (mut subresource, mut request_subresource) = (String::new(), String::new());
    let mut rest = Rest::default();
    reader.record(request, at, |reader, name, value, at| {
        match name {
            "operation" => {
                let text = reader.text(value, at)?;
                let parsed = text.parse::<Operation>();
                operation = Some(parsed.map_err(|e| ReadError::new(at, e.to_string()))?);
            }
            _ if value.is_null() => {}
            "kind" => kind = Some(read_kind(value, at, reader)?),
            "resource" => resource = Some(read_resource(value, at, reader)?),
            "subResource" => subresource = reader.text(value, at)?,
            "requestKind" => request_kind = Some(read_kind(value, at, reader)?),
            "requestResource" => request_resource = Some(read_resource(value, at, reader)?),
            "requestSubResource" => request_subresource = reader.text(value, at)?,
            "name" => rest.name = reader.text(value, at)?,
            "namespace" => rest.namespace = reader.text(value, at)?,
            "object" => rest.object = Some(copy(value)),
            "oldObject" => rest.old_object = Some(copy(value)),
            "options" => rest.options = Some(copy(value)),
            "dryRun" => rest.dry_run = reader.boolean(value, at)?,
            "userInfo" => rest.user = read_user(value, at, reader)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let missing = |name| ReadError::new(&at.name(name), "required value".to_owned());
    // A review that names the original resource says so of its subresource too.
    if request_resource.is_some() {
        subresource = request_subresource;
    }
    Ok(AdmissionAttributes {
        operation: operation.ok_or_else(|| missing("operation"))?,
        kind: request_kind.or(kind).ok_or_else(|| missing("kind"))?,
        resource: request_resource.or(resource).ok_or_else(|| missing("resource"))?,
        subresource,
        name: rest.name,
        namespace: rest.namespace,
        object: rest.object,
        old_object: rest.old_object,
        options: rest.options,
        dry_run: rest.dry_run,
        user: rest.user,
    })
}

/// The fields that are taken as they are.
#[derive(Default)]
struct Rest {
    name: String,
    namespace: String,
    object: Option<DeepValue>,
    old_object: Option<DeepValue>,
    options: Option<DeepValue>,
    dry_run: bool,
    user: UserInfo,
}

fn copy(value: &Value) -> DeepValue {
    DeepValue::from(deep_clone(value))
}

fn read_kind(value: &Value, at: &Location<'_>, reader: &mut Reader) -> Result<GroupVersionKind> {
    let mut kind = GroupVersionKind::default();
    reader.record(value, at, |reader, name, value, at| {
        match name {
            "group" => kind.group = reader.text(value, at)?,
            "version" => kind.version = reader.text(value, at)?,
            "kind" => kind.kind = reader.text(value, at)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(kind)
}

fn read_resource(
    value: &Value,
    at: &Location<'_>,
    reader: &mut Reader,
) -> Result<GroupVersionResource> {
    let mut resource = GroupVersionResource::default();
    reader.record(value, at, |reader, name, value, at| {
        match name {
            "group" => resource.group = reader.text(value, at)?,
            "version" => resource.version = reader.text(value, at)?,
            "resource" => resource.resource = reader.text(value, at)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(resource)
}

fn read_user(value: &Value, at: &Location<'_>, reader: &mut Reader) -> Result<UserInfo> {
    let mut user = UserInfo::default();
    reader.record(value, at, |reader, name, value, at| {
        match name {
            "username" => user.username = reader.text(value, at)?,
            "uid" => user.uid = reader.text(value, at)?,
            "groups" => user.groups = reader.texts(value, at)?,
            "extra" => {
                reader.record(value, at, |reader, name, value, at| {
                    user.extra.insert(name.to_owned(), reader.texts(value, at)?);
                    Ok(true)
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(user)
}
