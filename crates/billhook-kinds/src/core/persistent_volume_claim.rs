//! PersistentVolumeClaims (BK-430 to BK-432).

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::qualified_name;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::record::{TypedRecord as _, declared_json};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, Quantity};
use serde_json::{Map, Value, json};

use super::volume_claim;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::difference::difference;
use crate::edition::EDITIONS;
use crate::generated::core_v1::PERSISTENT_VOLUME_CLAIM_SPEC;
use crate::resource_names::basic_amount;
use crate::rules::{immutable, invalid, one_of, quantity, round_amounts, version_required};
use crate::values::{items, members, object_mut, path, section, text, value_at};

/// The annotation that named the class before there was a field.
pub(super) const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

const STORAGE: &str = "/resources/requests/storage";

const RESIZES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

/// The rules of claims.
#[derive(Debug)]
pub(crate) struct PersistentVolumeClaim;

impl Behavior for PersistentVolumeClaim {
    fn set_defaults(&self, claim: &mut Value, kubernetes: KubernetesVersion) {
        if let Some(status) = section(claim, "status") {
            let phase = status.entry("phase").or_insert_with(|| "".into());
            if phase.as_str().is_none_or(str::is_empty) {
                *phase = "Pending".into();
            }
        }
        for amounts in ["/status/capacity", "/status/allocatedResources"] {
            round_amounts(claim, amounts);
        }
        if let Some(spec) = object_mut(claim, "/spec") {
            volume_claim::set_defaults(spec, kubernetes);
        }
    }

    fn prepare(&self, claim: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        if old.is_none()
            && let Value::Object(members) = claim
        {
            members.insert("status".to_owned(), json!({"phase": "Pending"}));
        }
        if let Some(Value::Object(spec)) = claim.get_mut("spec") {
            if old.is_none() || context.subresource.is_empty() {
                join_sources(spec, old);
            }
            drop_attributes_class(spec, old, context.kubernetes);
        }
    }

    fn validate(
        &self,
        claim: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            validate_status(claim, context.kubernetes, &mut found.errors);
            return;
        }
        let spec = claim.get("spec").unwrap_or(&Value::Null);
        volume_claim::validate_spec(spec, &path(&["spec"]), context, found);
        warn_of_annotation(found, claim, CLASS, "deprecated since v1.8; use \"storageClassName\"");
        volume_claim::warn(&mut found.warnings, &path(&["spec"]), spec);
        if let Some(old) = old {
            validate_change(claim, old, &mut found.errors);
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let is_bound = !text(object, "/spec/volumeName").is_empty();
        let of_status = |cell: Value| if is_bound { cell } else { "".into() };
        vec![
            cells::name(object),
            phase(object),
            cells::at(object, "/spec/volumeName"),
            of_status(cells::at(object, "/status/capacity/storage")),
            of_status(access_modes(object, "/status/accessModes")),
            class(object),
            or_unset(object, "/spec/volumeAttributesClassName"),
            cells::created(object, now),
            or_unset(object, "/spec/volumeMode"),
        ]
    }
}

/// Warns of an annotation that an attribute has replaced.
pub(super) fn warn_of_annotation(found: &mut Findings, object: &Value, key: &str, text: &str) {
    if value_at(object, "/metadata/annotations").is_some_and(|all| all.get(key).is_some()) {
        let at = path(&["metadata", "annotations"]).key(key);
        found.warnings.push(format!("{at}: {text} attribute instead"));
    }
}

/// Returns the cell of the phase of a claim or a volume.
pub(super) fn phase(object: &Value) -> Value {
    match value_at(object, "/metadata/deletionTimestamp") {
        Some(_) => "Terminating".into(),
        None => cells::at(object, "/status/phase"),
    }
}

/// Returns the cell of access modes.
pub(super) fn access_modes(object: &Value, place: &str) -> Value {
    let has = |mode: &str| items(object, place).iter().any(|other| other == mode);
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let modes = short.into_iter().filter(|(mode, _)| has(mode)).map(|(_, short)| short);
    modes.collect::<Vec<_>>().join(",").into()
}

/// Returns the cell of the class of a claim or a volume.
pub(super) fn class(object: &Value) -> Value {
    let annotations = value_at(object, "/metadata/annotations");
    let annotated = annotations.and_then(|all| all.get(CLASS)).cloned();
    annotated.unwrap_or_else(|| cells::at(object, "/spec/storageClassName"))
}

/// Returns the cell of a text that may be missing.
pub(super) fn or_unset(object: &Value, place: &str) -> Value {
    match value_at(object, place) {
        Some(Value::String(text)) => text.as_str().into(),
        _ => "<unset>".into(),
    }
}

/// Drops what a claim cannot be filled from, and says in both fields what it is filled from
/// (BK-431).
fn join_sources(spec: &mut Map<String, Value>, old: Option<&Value>) {
    let namespace = |spec: &Value| !text(spec, "/dataSourceRef/namespace").is_empty();
    let stored = old.and_then(|old| old.get("spec"));
    let has_namespace = |reference: &Value| !text(reference, "/namespace").is_empty();
    if spec.get("dataSourceRef").is_some_and(has_namespace) && !stored.is_some_and(namespace) {
        spec.remove("dataSourceRef");
    }
    let (source, reference) = (spec.get("dataSource"), spec.get("dataSourceRef"));
    match (source.cloned(), reference.cloned()) {
        (Some(source), None) if is_known(&source) => {
            spec.insert("dataSourceRef".to_owned(), source);
        }
        (Some(_), None) => {
            spec.remove("dataSource");
        }
        (None, Some(reference)) if !has_namespace(&reference) => {
            spec.insert("dataSource".to_owned(), reference);
        }
        _ => {}
    }
}

fn is_known(source: &Value) -> bool {
    matches!(
        (text(source, "/apiGroup"), text(source, "/kind")),
        ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
    )
}

/// Drops the class of attributes of servers that do not know such classes (BK-770).
pub(super) fn drop_attributes_class(
    spec: &mut Map<String, Value>,
    old: Option<&Value>,
    kubernetes: KubernetesVersion,
) {
    let is_stored =
        old.is_some_and(|old| value_at(old, "/spec/volumeAttributesClassName").is_some());
    if !EDITIONS.of(kubernetes).has_attributes_classes && !is_stored {
        spec.remove("volumeAttributesClassName");
    }
}

fn validate_change(claim: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let spec = |claim: &Value| claim.get("spec").cloned().unwrap_or_default();
    let (new_spec, old_spec) = (spec(claim), spec(old));
    let may_be = with_free_fields(&new_spec, old);
    if may_be != new_spec {
        let detail = format!(
            "spec is immutable after creation except resources.requests and \
             volumeAttributesClassName for bound claims\n{}",
            difference(&shown(&old_spec), &shown(&new_spec))
        );
        errors.push(FieldError::forbidden(path(&["spec"]), &detail));
    }
    let zero = || Quantity::from(0);
    let amount = |object: &Value, place: &str| value_at(object, place).and_then(quantity);
    let requested = |spec: &Value| amount(spec, STORAGE).unwrap_or_else(zero);
    let capacity = amount(old, "/status/capacity/storage").unwrap_or_else(zero);
    let new_size = requested(&new_spec);
    if new_size < requested(&old_spec) && new_size <= capacity {
        let at = path(&["spec", "resources", "requests", "storage"]);
        errors.push(FieldError::forbidden(at, "field can not be less than status.capacity"));
    }
    let mode = |spec: &Value| spec.get("volumeMode").cloned();
    let (new_mode, old_mode) = (mode(&new_spec), mode(&old_spec));
    immutable(errors, &path(&["volumeMode"]), new_mode.as_ref(), old_mode.as_ref());
    validate_attributes_class(&new_spec, old, errors);
}

/// Returns a spec in the server's internal form, in which selectors look as in documents.
fn shown(spec: &Value) -> String {
    let members = PERSISTENT_VOLUME_CLAIM_SPEC.fields.iter().map(|field| {
        let value = match (field.name, spec.get(field.name)) {
            ("selector", Some(selector)) => declared_json(selector, LabelSelector::record()),
            (_, value) => show(value, field.type_),
        };
        format!("\"{}\":{value}", field.go_name())
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Returns the stored spec with those fields of a new one that may change.
fn with_free_fields(new: &Value, old: &Value) -> Value {
    let mut spec = old.get("spec").cloned().unwrap_or_default();
    let is_bound = text(old, "/status/phase") == "Bound";
    let take = |spec: &mut Value, name: &str| {
        if let (Value::Object(spec), Some(value)) = (spec, new.get(name)) {
            spec.insert(name.to_owned(), value.clone());
        }
    };
    if text(&spec, "/volumeName").is_empty() {
        take(&mut spec, "volumeName");
    }
    let annotations = value_at(old, "/metadata/annotations");
    let is_annotated = annotations.is_some_and(|all| all.get(CLASS).is_some());
    if spec.get("storageClassName").is_none() && !is_annotated {
        take(&mut spec, "storageClassName");
    }
    if !is_bound {
        return spec;
    }
    if let Value::Object(members) = &mut spec
        && new.get("volumeAttributesClassName").is_none()
    {
        members.remove("volumeAttributesClassName");
    }
    take(&mut spec, "volumeAttributesClassName");
    if let (Some(free), Some(requests)) =
        (value_at(new, STORAGE), spec.pointer_mut("/resources/requests"))
        && let Value::Object(requests) = requests
    {
        requests.insert("storage".to_owned(), free.clone());
    }
    spec
}

fn validate_attributes_class(spec: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let name = "volumeAttributesClassName";
    if value_at(old, "/status/currentVolumeAttributesClassName").is_none()
        || value_at(old, &format!("/spec/{name}")) == spec.get(name)
    {
        return;
    }
    let to = match spec.get(name).map(|class| text(class, "")) {
        None => "nil",
        Some("") => "empty string",
        Some(_) => return,
    };
    let detail = format!(
        "update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil"
    );
    errors.push(FieldError::forbidden(path(&["spec", name]), &detail));
}

fn validate_status(claim: &Value, kubernetes: KubernetesVersion, errors: &mut Vec<FieldError>) {
    version_required(errors, claim);
    if items(claim, "/spec/accessModes").is_empty() {
        errors.push(FieldError::required(path(&["Spec", "accessModes"]), ""));
    }
    for list in ["capacity", "allocatedResources"] {
        for (name, amount) in members(claim, &format!("/status/{list}")) {
            let at = path(&["status", list]).key(name);
            if list == "allocatedResources" {
                resource_key(errors, &at, name, kubernetes);
            }
            basic_amount(errors, &at, amount);
        }
    }
    for (name, status) in members(claim, "/status/allocatedResourceStatuses") {
        let at = path(&["status", "allocatedResourceStatuses"]).key(name);
        resource_key(errors, &at, name, kubernetes);
        one_of(errors, &at, text(status, ""), &RESIZES);
    }
}

fn resource_key(
    errors: &mut Vec<FieldError>,
    at: &FieldPath,
    name: &str,
    kubernetes: KubernetesVersion,
) {
    let messages = qualified_name(name, kubernetes.wording());
    invalid(errors, at, name, messages);
    if !name.contains('/') || name.contains("kubernetes.io/") {
        one_of(errors, at, name, &["storage"]);
    }
}
