//! Tokens of service accounts, on request (BK-253).

use billhook::webhook::AdmissionAttributes;
use billhook_admission::Warnings;
use billhook_apimachinery::record::{complete, declared_json, member, text};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{
    FieldError, FieldPath, GroupVersionKind, GroupVersionResource, Status,
};
use billhook_kinds::Kind;
use http::StatusCode;
use serde_json::{Value, json};

use super::context::Context;
use super::document::DocumentType;
use super::options::{Body, WriteOptions};
use super::tracking::track_creation;
use crate::response::Response;
use crate::tokens::{Account, BoundObject, Grant, claim_of};

const GROUP: &str = "authentication.k8s.io";
const API_VERSION: &str = "authentication.k8s.io/v1";
const KIND: &str = "TokenRequest";
/// The seconds of a token that is requested without them.
const DEFAULT_SECONDS: i64 = 3600;

/// `POST` to the tokens of a service account.
pub(super) async fn create(
    context: &Context<'_>,
    warnings: &mut Warnings,
) -> Result<Response, Status> {
    let kind = context.resource.kind.and_then(|kind| kind.subresource("token"));
    let record = kind.and_then(|subresource| subresource.body.record());
    let record = record.ok_or_else(Status::resource_not_found)?;
    let body = Body::of(context.request, Some(record))?;
    let options = WriteOptions::read(context.request, "CreateOptions")?;
    let kubernetes = context.server.settings.kubernetes;
    let type_ = DocumentType { kind: KIND, api_versions: &[API_VERSION], record, kubernetes };
    let mut request = type_.read(&body, options.field_validation, warnings)?;
    set_type(&mut request);
    set_default(&mut request);
    let mut empty = DeepValue::from(json!({}));
    complete(&mut empty, record, kubernetes);
    let owner = (&*options.field_manager, context.server.settings.clock.now());
    track_creation(&mut request, &empty, (API_VERSION, KIND), "token", owner);
    context.put_in_namespace(&mut request)?;
    let (group, version) = API_VERSION.split_once('/').unwrap_or_default();
    let kind = GroupVersionKind::new(group, version, KIND);
    let attributes = AdmissionAttributes::create(kind, context.resource_name(), request);
    let mut checked = None;
    let check = |request: &mut Value| {
        check_metadata(context, request)?;
        checked = Some((account(context)?, check_seconds(request)?));
        Ok(())
    };
    let mut request = context.admit_unstored(attributes, &options, warnings, check).await?;
    let (account, seconds) = checked.ok_or_else(Status::resource_not_found)?;
    let bound = bound(context, &request, &account)?;
    grant(context, &mut request, Grant { account, bound, seconds })?;
    complete(&mut request, record, kubernetes);
    Ok(context.form.json(StatusCode::CREATED, declared_json(&request, record)))
}

/// A request need not say what it is.
fn set_type(request: &mut Value) {
    for (name, value) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        let is_missing = text(request, name).is_empty();
        if let Some(members) = request.as_object_mut().filter(|_| is_missing) {
            members.insert(name.to_owned(), value.into());
        }
    }
}

fn set_default(request: &mut Value) {
    if let Some(Value::Object(spec)) = request.get_mut("spec")
        && spec.get("expirationSeconds").is_none_or(Value::is_null)
    {
        spec.insert("expirationSeconds".to_owned(), DEFAULT_SECONDS.into());
    }
}

/// The request may name its account, and no other.
fn check_metadata(context: &Context<'_>, request: &Value) -> Result<(), Status> {
    let metadata = member(request, "metadata").unwrap_or(&Value::Null);
    let (name, own) = (text(metadata, "name"), context.name()?);
    if !name.is_empty() && name != own {
        let why = "must match the service account name if specified";
        let path = FieldPath::default().name("metadata").name("name");
        return Err(Status::invalid(GROUP, KIND, own, &[FieldError::invalid(path, name, why)]));
    }
    Ok(())
}

/// The account in the path.
fn account(context: &Context<'_>) -> Result<Account, Status> {
    let account = context.server.read_object("", "serviceaccounts", &context.key(context.name()?));
    let account = account
        .ok_or_else(|| Status::not_found(&context.resource_name(), context.name().unwrap_or("")))?;
    let metadata = member(&account, "metadata").unwrap_or(&Value::Null);
    Ok(Account {
        namespace: context.namespace().to_owned(),
        name: context.name()?.to_owned(),
        uid: text(metadata, "uid").to_owned(),
    })
}

fn check_seconds(request: &Value) -> Result<i64, Status> {
    const MIN: i64 = 600;
    const MAX: i64 = 1 << 32;
    let seconds = request.pointer("/spec/expirationSeconds").and_then(Value::as_i64);
    let seconds = seconds.unwrap_or(DEFAULT_SECONDS);
    let why = match seconds {
        ..MIN => "may not specify a duration less than 10 minutes",
        MIN..=MAX => return Ok(seconds),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let path = FieldPath::default().name("spec").name("expirationSeconds");
    Err(Status::invalid(GROUP, KIND, "", &[FieldError::invalid(path, seconds, why)]))
}

/// The object that the token is to end with, if there is one.
fn bound(
    context: &Context<'_>,
    request: &Value,
    account: &Account,
) -> Result<Option<BoundObject>, Status> {
    let spec = member(request, "spec").unwrap_or(&Value::Null);
    let Some(reference) = member(spec, "boundObjectRef").filter(|it| !it.is_null()) else {
        return Ok(None);
    };
    let (api_version, kind) = (text(reference, "apiVersion"), text(reference, "kind"));
    let (name, uid) = (text(reference, "name"), text(reference, "uid"));
    let known = Kind::named(api_version, kind);
    let Some((known, claim)) = known.and_then(|known| Some((known, claim_of(known)?))) else {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        return Err(Status::bad_request(format!(
            "cannot bind token to object of type {group}/{version}, Kind={kind}"
        )));
    };
    let plural = known.plural;
    let key = if known.is_namespaced { context.key(name) } else { name.to_owned() };
    let object = context.server.read_object("", plural, &key);
    let missing = || Status::not_found(&GroupVersionResource::new("", "v1", plural), name);
    let object = object.ok_or_else(missing)?;
    let own = object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
    if !uid.is_empty() && uid != own {
        let why = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The \
             object might have been deleted and then recreated"
        );
        return Err(conflict(kind, name, &why));
    }
    let user = object.pointer("/spec/serviceAccountName").and_then(Value::as_str);
    if claim == "pod" && user.unwrap_or_default() != account.name {
        return Err(Status::bad_request(format!(
            "cannot bind token for serviceaccount \"{}\" to pod running with different \
             serviceaccount name.",
            account.name
        )));
    }
    let node = object.pointer("/spec/nodeName").and_then(Value::as_str).unwrap_or_default();
    let node = context.server.read_object("", "nodes", node);
    let node = node.filter(|_| claim == "pod").and_then(|node| BoundObject::read("node", &node));
    Ok(BoundObject::read(claim, &object).map(|bound| bound.on(node)))
}

/// Conflicts are about the kind here, and not about the resource.
fn conflict(kind: &str, name: &str, why: &str) -> Status {
    Status::conflict(&GroupVersionResource::new("", "v1", kind), name, why)
}

/// Makes the token, and says so in the request.
fn grant(context: &Context<'_>, request: &mut Value, grant: Grant) -> Result<(), Status> {
    let server = context.server;
    let (tokens, now) = (&server.settings.tokens, server.now());
    let spec = request.get_mut("spec").and_then(Value::as_object_mut);
    let spec = spec.ok_or_else(|| Status::bad_request("the request has no spec"))?;
    let asked = spec.get("audiences").and_then(Value::as_array).filter(|it| !it.is_empty());
    let audiences = asked.map_or_else(
        || tokens.own_audiences().to_vec(),
        |asked| asked.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    );
    spec.insert("audiences".to_owned(), audiences.clone().into());
    let (token, expiration) = grant
        .sign(tokens, &audiences, now)
        .ok_or_else(|| Status::internal_error("the token cannot be signed"))?;
    let status = json!({"token": token, "expirationTimestamp": expiration.to_rfc3339()});
    if let Value::Object(members) = request {
        members.insert("status".to_owned(), status);
        if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
            for (name, value) in [
                ("name", grant.account.name),
                ("namespace", grant.account.namespace),
                ("uid", grant.account.uid),
                ("creationTimestamp", now.to_rfc3339()),
            ] {
                metadata.insert(name.to_owned(), value.into());
            }
        }
    }
    Ok(())
}
