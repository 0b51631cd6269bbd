//! Subresources that are created: bindings and evictions of pods, tokens (BK-110, BK-111, BK-253).

use billhook::webhook::AdmissionAttributes;
use billhook_admission::{DeleteOptions, ObjectRequest, Subresource, Warnings};
use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::record::{TypedRecord as _, text};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{
    FieldError, FieldPath, GroupVersionKind, GroupVersionResource, Status, StatusCause,
    StatusDetails, aggregate,
};
use billhook_kinds::{BodyKind, Kind};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::context::Context;
use super::document::DocumentType;
use super::options::{Body, WriteOptions};
use super::token;
use super::write::{answer, warn};
use crate::request::{Request, ResourcePath, Verb};
use crate::resources::Resource;
use crate::response::Response;
use crate::storage::{Collection, Object, Range};
use crate::write_path::{admit_own, replace_stored};

/// The API versions of evictions.
const EVICTIONS: [&str; 2] = ["policy/v1", "policy/v1beta1"];

/// How many evicted pods a budget remembers at most.
const MAX_DISRUPTED: usize = 2000;

/// How often something is read again that was written meanwhile.
const TRIES: u32 = 20;

const VIOLATES: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

/// Whether a subresource is created by `POST`.
pub(super) fn is_action(context: &Context<'_>) -> bool {
    let name = context.path.subresource.as_str();
    let is_known = context.resource.kind.is_some_and(|kind| kind.subresource(name).is_some());
    is_known && matches!(name, "binding" | "eviction" | "token")
}

/// Returns the path of the subresource that an object is sent to, if it is sent to a collection of its
/// kind that nothing is stored in: bindings name their pod themselves (BK-110).
pub(super) fn path_of(request: &Request, path: &ResourcePath, verb: Verb) -> Option<ResourcePath> {
    let sent = (verb == Verb::Create).then(|| unstored(path))??;
    let is_body = |body: &BodyKind| {
        [body.group, body.version, body.kind] == [sent.group, sent.version, sent.kind]
    };
    let (kind, subresource) = Kind::all().iter().find_map(|kind| {
        let found = kind.subresources.iter().find(|subresource| is_body(&subresource.body));
        found.map(|found| (kind, found))
    })?;
    let body = Body::of(request, subresource.body.record()).ok()?;
    let manifests = billhook::read_manifests(&body.text).ok()?;
    let metadata = manifests.first()?.value().get("metadata")?;
    Some(ResourcePath {
        group: kind.group.to_owned(),
        version: kind.version.to_owned(),
        resource: kind.plural.to_owned(),
        name: Some(text(metadata, "name").to_owned()),
        subresource: subresource.name.to_owned(),
        ..path.clone()
    })
}

/// Whether a path is of a collection that objects are only sent to.
pub(super) fn is_collection(path: &ResourcePath) -> bool {
    path.namespace.is_some() && unstored(path).is_some()
}

/// The kind of the objects that are sent to a collection and not stored.
fn unstored(path: &ResourcePath) -> Option<&'static Kind> {
    let is_it = |kind: &&Kind| {
        [kind.group, kind.version, kind.plural] == [&path.group, &path.version, &path.resource]
    };
    let found = Kind::all().iter().find(is_it).filter(|kind| !kind.is_stored())?;
    path.name.is_none().then_some(found)
}

/// `POST` to a subresource.
pub(super) async fn create(context: &Context<'_>) -> Result<Response, Status> {
    let mut warnings = Warnings::default();
    let created = match context.path.subresource.as_str() {
        "token" => token::create(context, &mut warnings).await,
        _ => created(context, &mut warnings).await,
    };
    let mut response = created.unwrap_or_else(|status| context.failure(&status));
    warn(&mut response, &warnings);
    Ok(response)
}

async fn created(context: &Context<'_>, warnings: &mut Warnings) -> Result<Response, Status> {
    let kind = context.resource.kind.and_then(|kind| kind.subresource(&context.path.subresource));
    let kind = &kind.ok_or_else(Status::resource_not_found)?.body;
    let record = kind.record().ok_or_else(Status::resource_not_found)?;
    let body = Body::of(context.request, Some(record))?;
    let options = WriteOptions::read(context.request, "CreateOptions")?;
    let type_ = DocumentType {
        kind: kind.kind,
        api_versions: if kind.kind == "Binding" { &["v1"] } else { &EVICTIONS },
        record,
        kubernetes: context.server.settings.kubernetes,
    };
    let mut object = type_.read(&body, options.field_validation, warnings)?;
    context.put_in_namespace(&mut object)?;
    let type_ = GroupVersionKind::new(kind.group, kind.version, kind.kind);
    let attributes = AdmissionAttributes::create(type_, context.resource_name(), object);
    let name_in_path = context.name()?;
    let check = |object: &mut Value| {
        let name = object.get("metadata").map_or("", |metadata| text(metadata, "name"));
        if !name.is_empty() && name != name_in_path {
            let message = format!("name in URL does not match name in {} object", kind.kind);
            return Err(Status::bad_request(message));
        }
        match kind.kind {
            "Binding" => check_target(object.get("target").unwrap_or(&Value::Null)),
            _ => Ok(()),
        }
    };
    let object = context.admit_unstored(attributes, &options, warnings, check).await?;
    match context.path.subresource.as_str() {
        "binding" => bind(context, &object, options.dry_run).await?,
        _ => evict(context, &object, options.dry_run).await?,
    }
    let mut success = Status::default();
    success.status = "Success".to_owned();
    success.code = 201;
    Ok(context.form.status(&success))
}

/// Puts a pod on a node.
async fn bind(context: &Context<'_>, binding: &Value, dry_run: bool) -> Result<(), Status> {
    change_pod(context, dry_run, |stored, pod| {
        check_revision(context, binding, stored)?;
        check_unbound(context, pod)?;
        put_on_node(context, binding, pod);
        Ok(())
    })
    .await
}

/// Changes the pod of a request. If it is written meanwhile, it is read and changed again.
async fn change_pod(
    context: &Context<'_>,
    dry_run: bool,
    change: impl Fn(&Object, &mut DeepValue) -> Result<(), Status>,
) -> Result<(), Status> {
    let mut tries = TRIES;
    loop {
        let stored = context.stored()?;
        let mut pod = read(&stored)?;
        change(&stored, &mut pod)?;
        if dry_run {
            return Ok(());
        }
        match replace_stored(context.server, &context.resource, &stored, pod).await {
            Err(status) if is_conflict(&status) && tries > 0 => tries -= 1,
            done => return done,
        }
    }
}

/// Whether something else is stored than was read.
fn is_conflict(status: &Status) -> bool {
    status.reason == "Conflict"
}

/// A pod that is on a node, is being deleted or waits for gates is not bound.
fn check_unbound(context: &Context<'_>, pod: &Value) -> Result<(), Status> {
    let name = context.name()?;
    let refused = |why: &str| {
        let resource = GroupVersionResource::new("", "v1", "pods/binding");
        Err(Status::conflict(&resource, name, why))
    };
    if pod.pointer("/metadata/deletionTimestamp").is_some() {
        return refused(&format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    match text(spec, "nodeName") {
        "" => {}
        node => return refused(&format!("pod {name} is already assigned to node \"{node}\"")),
    }
    let gates = spec.get("schedulingGates").and_then(Value::as_array);
    match gates.is_some_and(|gates| !gates.is_empty()) {
        true => refused(&format!("pod {name} has non-empty .spec.schedulingGates")),
        false => Ok(()),
    }
}

fn put_on_node(context: &Context<'_>, binding: &Value, pod: &mut Value) {
    let node = binding.pointer("/target/name").cloned().unwrap_or_default();
    set(pod, "spec", "nodeName", node);
    let edition = &context.server.settings.edition;
    let given = if edition.labels_pods_by_topology {
        &["annotations", "labels"][..]
    } else {
        &["annotations"]
    };
    for &part in given {
        let given = binding.get("metadata").and_then(|metadata| metadata.get(part));
        if let Some(Value::Object(given)) = given
            && let Some(Value::Object(metadata)) = pod.get_mut("metadata")
            && let Value::Object(all) = metadata.entry(part).or_insert_with(|| json!({}))
        {
            all.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
    }
    if edition.clears_nominations
        && let Some(Value::Object(status)) = pod.get_mut("status")
    {
        status.remove("nominatedNodeName");
    }
    set_condition(context, pod, "PodScheduled", &[("status", "True")]);
}

/// A binding is to a node.
fn check_target(target: &Value) -> Result<(), Status> {
    let mut errors = Vec::new();
    let path = |name: &str| FieldPath::default().name("target").name(name);
    if !matches!(text(target, "kind"), "" | "Node") {
        let supported = ["Node", "<empty>"];
        errors.push(FieldError::not_supported(path("kind"), text(target, "kind"), supported));
    }
    if text(target, "name").is_empty() {
        errors.push(FieldError::required(path("name"), ""));
    }
    match errors.as_slice() {
        [] => Ok(()),
        errors => Err(Status::failure(500, "", aggregate(errors))),
    }
}

/// A binding may be for a revision of the pod only.
fn check_revision(context: &Context<'_>, binding: &Value, stored: &Object) -> Result<(), Status> {
    let wanted = binding.get("metadata").map_or("", |metadata| text(metadata, "resourceVersion"));
    let found = stored.modified.to_string();
    if wanted.is_empty() || wanted == found {
        return Ok(());
    }
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/pods/{}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: ResourceVersion in precondition: {wanted}, \
         ResourceVersion in object meta: {found}",
        stored.key,
    );
    Err(Status::conflict(&context.resource_name(), context.name()?, &why))
}

/// Deletes a pod, unless a budget forbids it.
async fn evict(context: &Context<'_>, eviction: &Value, dry_run: bool) -> Result<(), Status> {
    let pod = read(&context.stored()?)?;
    let options = eviction.get("deleteOptions").unwrap_or(&Value::Null);
    let options = DeleteOptions::read(options).map_err(|e| Status::bad_request(e.to_string()))?.0;
    let dry_run = dry_run || !options.dry_run.is_empty();
    let status = pod.get("status").unwrap_or(&Value::Null);
    let is_ending = pod.pointer("/metadata/deletionTimestamp").is_some();
    let needs_no_budget =
        is_ending || matches!(text(status, "phase"), "Succeeded" | "Failed" | "Pending");
    if !needs_no_budget {
        spend(context, &pod, dry_run).await?;
    }
    if !is_ending {
        let condition = [
            ("status", "True"),
            ("reason", "EvictionByEvictionAPI"),
            ("message", "Eviction API: evicting"),
        ];
        let mark = |_: &Object, pod: &mut DeepValue| {
            set_condition(context, pod, "DisruptionTarget", &condition);
            Ok(())
        };
        change_pod(context, dry_run, mark).await?;
    }
    let request = ObjectRequest::delete(context.version.name(), &[])
        .stored(context.resource.stored(&context.stored()?))
        .dry_run(dry_run)
        .delete_options(options);
    let outcome = context.admit(request).await;
    answer(context, &outcome, StatusCode::OK)?;
    outcome.result.map(drop)
}

/// Takes one disruption from the budget of a pod, if it has one. If that is written meanwhile, it is read
/// and asked again.
async fn spend(context: &Context<'_>, pod: &Value, dry_run: bool) -> Result<(), Status> {
    let mut tries = TRIES;
    loop {
        let Some(budget) = budget_of(context, pod)? else { return Ok(()) };
        if is_unhealthy(pod, &budget.value) {
            return Ok(());
        }
        match use_up(context, budget, dry_run).await {
            Err(status) if is_conflict(&status) && tries > 0 => tries -= 1,
            done => return done,
        }
    }
}

/// A budget as it is stored, and as it is read.
struct Budget {
    stored: Object,
    value: DeepValue,
}

/// The budget of a pod, if it has one.
fn budget_of(context: &Context<'_>, pod: &Value) -> Result<Option<Budget>, Status> {
    let prefix = context.prefix();
    let collection = Collection::new("policy", "poddisruptionbudgets");
    let all = context.server.storage.list(&collection, Range::of_prefix(&prefix)).objects;
    let budgets =
        all.into_iter().filter_map(|stored| Some(Budget { value: read(&stored).ok()?, stored }));
    let no_labels = Map::new();
    let labels = pod.pointer("/metadata/labels").and_then(Value::as_object).unwrap_or(&no_labels);
    let selects = |budget: &Budget| {
        let selector = budget.value.pointer("/spec/selector").filter(|it| !it.is_null());
        let selector = selector.and_then(|it| LabelSelector::from_value(it).ok()?.parse().ok());
        selector.is_some_and(|selector| selector.matches(labels))
    };
    let mut found = budgets.filter(selects);
    let (budget, other) = (found.next(), found.next());
    if other.is_some() {
        let message = "This pod has more than one PodDisruptionBudget, which the eviction \
                       subresource does not support.";
        return Err(Status::failure(500, "", message));
    }
    Ok(budget)
}

/// Whether a pod is not ready and may go without using up the budget.
fn is_unhealthy(pod: &Value, budget: &Value) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    let is_ready = conditions
        .into_iter()
        .flatten()
        .any(|condition| text(condition, "type") == "Ready" && text(condition, "status") == "True");
    let count = |name: &str| {
        budget.get("status").and_then(|status| status.get(name)).and_then(Value::as_i64)
    };
    let (current, desired) = (count("currentHealthy"), count("desiredHealthy"));
    let is_always_allowed = budget
        .get("spec")
        .is_some_and(|spec| text(spec, "unhealthyPodEvictionPolicy") == "AlwaysAllow");
    !is_ready && (is_always_allowed || current >= desired && desired > Some(0))
}

/// Takes one disruption from a budget.
async fn use_up(context: &Context<'_>, budget: Budget, dry_run: bool) -> Result<(), Status> {
    let Budget { stored, value: budget } = budget;
    let empty = Value::Null;
    let (metadata, status) =
        (budget.get("metadata").unwrap_or(&empty), budget.get("status").unwrap_or(&empty));
    let name = text(metadata, "name");
    let count = |of: &Value, name: &str| of.get(name).and_then(Value::as_i64).unwrap_or_default();
    if count(status, "observedGeneration") < count(metadata, "generation") {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(violates(&why, 10));
    }
    let allowed = count(status, "disruptionsAllowed");
    let resource = GroupVersionResource::new("policy", "v1", "poddisruptionbudgets");
    if allowed < 0 {
        let why = "pdb disruptions allowed is negative";
        return Err(Status::forbidden(&resource, name, why));
    }
    let disrupted = status.get("disruptedPods").and_then(Value::as_object);
    if disrupted.is_some_and(|pods| pods.len() > MAX_DISRUPTED) {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(Status::forbidden(&resource, name, why));
    }
    if allowed == 0 {
        return Err(violates(&spent(name, status), 0));
    }
    if dry_run {
        return Ok(());
    }
    let now = context.server.settings.clock.now().to_rfc3339();
    let mut object = budget.clone();
    set(&mut object, "status", "disruptionsAllowed", (allowed - 1).into());
    if let Some(Value::Object(status)) = object.get_mut("status")
        && let Value::Object(pods) = status.entry("disruptedPods").or_insert_with(|| json!({}))
    {
        pods.insert(context.name()?.to_owned(), now.into());
    }
    if allowed == 1 {
        let generation = metadata.get("generation").cloned().unwrap_or_default();
        let condition = [("status", "False"), ("reason", "InsufficientPods"), ("message", "")];
        set_condition(context, &mut object, "DisruptionAllowed", &condition);
        let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
        let allowed = conditions.into_iter().flatten();
        for condition in allowed.filter(|it| text(it, "type") == "DisruptionAllowed") {
            if let Value::Object(condition) = condition {
                condition.insert("observedGeneration".to_owned(), generation.clone());
                condition.remove("lastProbeTime");
            }
        }
    }
    write_budget(context, name, &stored, object).await
}

async fn write_budget(
    context: &Context<'_>,
    name: &str,
    stored: &Object,
    mut budget: DeepValue,
) -> Result<(), Status> {
    let catalog = context.server.catalog();
    let Some(resource) = catalog.find("policy", "poddisruptionbudgets") else { return Ok(()) };
    let resource: &Resource = &resource;
    set(&mut budget, "metadata", "resourceVersion", stored.modified.to_string().into());
    let request = ObjectRequest::replace_object("v1", budget, resource.stored(stored))
        .name(name)
        .namespace(context.namespace())
        .subresource(Subresource::Status)
        .field_manager("kube-apiserver");
    admit_own(context.server, resource, request).await.result.map(drop)
}

/// Why a budget allows no disruption.
fn spent(name: &str, status: &Value) -> String {
    let count = |name: &str| status.get(name).and_then(Value::as_i64).unwrap_or_default();
    let (current, desired) = (count("currentHealthy"), count("desiredHealthy"));
    let conditions = status.get("conditions").and_then(Value::as_array).into_iter().flatten();
    let mut failed = conditions.filter(|condition| {
        text(condition, "type") == "DisruptionAllowed" && text(condition, "reason") == "SyncFailed"
    });
    if let Some(condition) = failed.next() {
        let why = text(condition, "message");
        return format!(
            "The disruption budget {name} does not allow evicting pods currently because it failed \
             sync: {why}"
        );
    }
    if current <= desired {
        return format!(
            "The disruption budget {name} needs {desired} healthy pods and has {current} currently"
        );
    }
    format!("The disruption budget {name} does not allow evicting pods currently")
}

/// The refusal of an eviction.
fn violates(why: &str, retry_after: i32) -> Status {
    let mut cause = StatusCause::default();
    "DisruptionBudget".clone_into(&mut cause.reason);
    why.clone_into(&mut cause.message);
    let mut details = StatusDetails::default();
    details.causes.push(cause);
    details.retry_after_seconds = retry_after;
    let mut status = Status::failure(429, "TooManyRequests", VIOLATES);
    status.details = Some(Box::new(details));
    status
}

fn read(stored: &Object) -> Result<DeepValue, Status> {
    let document = billhook_decode::read_json(&stored.text);
    let document = document.map_err(|error| Status::internal_error(&error.to_string()))?;
    Ok(document.into_value())
}

fn set(object: &mut Value, part: &str, name: &str, value: Value) {
    if let Value::Object(members) = object
        && let Value::Object(part) = members.entry(part).or_insert_with(|| json!({}))
    {
        part.insert(name.to_owned(), value);
    }
}

/// Sets a condition of a status, as of now if it changes.
fn set_condition(context: &Context<'_>, object: &mut Value, type_: &str, fields: &[(&str, &str)]) {
    let now = context.server.settings.clock.now().to_rfc3339();
    let mut condition = json!({"type": type_, "lastProbeTime": null, "lastTransitionTime": now});
    if let Value::Object(members) = &mut condition {
        members.extend(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));
        members
            .retain(|name, value| name != "message" || value != "" || type_ == "DisruptionAllowed");
    }
    if let Value::Object(members) = object
        && let Value::Object(status) = members.entry("status").or_insert_with(|| json!({}))
        && let Value::Array(conditions) = status.entry("conditions").or_insert_with(|| json!([]))
    {
        match conditions.iter_mut().find(|it| text(it, "type") == type_) {
            Some(found) => *found = condition,
            None => conditions.push(condition),
        }
    }
}
