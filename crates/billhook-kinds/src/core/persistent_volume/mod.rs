//! PersistentVolumes (BK-433).

mod sources;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::dns1123_subdomain;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::{Value, json};

use super::node_selector::node_selector;
use super::persistent_volume_claim::{
    CLASS, access_modes, class, drop_attributes_class, or_unset, phase, warn_of_annotation,
};
use super::pod::warnings::selector_term;
use super::volume_claim;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::difference::difference;
use crate::generated::core_v1::VOLUME_NODE_AFFINITY;
use crate::resource_names::{basic_amount, positive_amount};
use crate::rules::{immutable, invalid_internal, named, one_of, round_amounts, version_required};
use crate::values::{items, members, path, section, set_missing, text, value_at};

const CHANGED: &str = "lastPhaseTransitionTime";

/// The type of the field `nodeAffinity`.
const AFFINITY: Type = Type::Optional(&Type::Record(|| &VOLUME_NODE_AFFINITY));

/// The rules of volumes.
#[derive(Debug)]
pub(crate) struct PersistentVolume;

impl Behavior for PersistentVolume {
    fn set_defaults(&self, volume: &mut Value, _: KubernetesVersion) {
        if let Some(status) = section(volume, "status") {
            let phase = status.entry("phase").or_insert_with(|| "".into());
            if phase.as_str().is_none_or(str::is_empty) {
                *phase = "Pending".into();
            }
        }
        let Some(spec) = volume.get_mut("spec") else { return };
        if text(spec, "/persistentVolumeReclaimPolicy").is_empty()
            && let Value::Object(members) = spec
        {
            members.insert("persistentVolumeReclaimPolicy".to_owned(), "Retain".into());
        }
        set_missing(spec, "volumeMode", "Filesystem");
        round_amounts(spec, "/capacity");
        sources::set_defaults(spec);
    }

    fn prepare(&self, volume: &mut Value, old: Option<&Value>, context: &WriteContext<'_>) {
        match old {
            None => {
                let status = json!({"phase": "Pending", CHANGED: context.now});
                if let Value::Object(members) = volume {
                    members.insert("status".to_owned(), status);
                }
            }
            Some(old) if context.subresource == "status" => note_change(volume, old, context.now),
            Some(_) => {}
        }
        if let Some(Value::Object(spec)) = volume.get_mut("spec") {
            drop_attributes_class(spec, old, context.kubernetes);
        }
    }

    fn validate(
        &self,
        volume: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            version_required(&mut found.errors, volume);
            return;
        }
        let spec = volume.get("spec").unwrap_or(&Value::Null);
        warn(volume, spec, found);
        let errors = &mut found.errors;
        validate_spec(spec, context.kubernetes, errors);
        if let Some(old) = old.and_then(|old| old.get("spec")) {
            // The server validates a changed volume twice.
            validate_spec(spec, context.kubernetes, errors);
            validate_change(spec, old, errors);
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let of = |name: &str| text(object, &format!("/spec/claimRef/{name}"));
        let claim = match value_at(object, "/spec/claimRef") {
            Some(_) => format!("{}/{}", of("namespace"), of("name")),
            None => String::new(),
        };
        vec![
            cells::name(object),
            cells::at(object, "/spec/capacity/storage"),
            access_modes(object, "/spec/accessModes"),
            cells::at(object, "/spec/persistentVolumeReclaimPolicy"),
            phase(object),
            claim.into(),
            class(object),
            or_unset(object, "/spec/volumeAttributesClassName"),
            cells::at(object, "/status/reason"),
            cells::created(object, now),
            or_unset(object, "/spec/volumeMode"),
        ]
    }
}

/// Notes when the phase changed, unless the client did.
fn note_change(volume: &mut Value, old: &Value, now: &str) {
    let of = |volume: &Value, name: &str| value_at(volume, &format!("/status/{name}")).cloned();
    let time = of(volume, CHANGED);
    if of(volume, "phase") != of(old, "phase")
        && (time.is_none() || time == of(old, CHANGED))
        && let Some(status) = section(volume, "status")
    {
        status.insert(CHANGED.to_owned(), now.into());
    }
}

fn validate_spec(spec: &Value, kubernetes: KubernetesVersion, errors: &mut Vec<FieldError>) {
    let at = |name: &str| path(&["spec", name]);
    if items(spec, "/accessModes").is_empty() {
        errors.push(FieldError::required(at("accessModes"), ""));
    }
    volume_claim::access_modes(errors, &path(&["spec"]), spec);
    validate_capacity(spec, errors);
    let policy = text(spec, "/persistentVolumeReclaimPolicy");
    let policies = ["Delete", "Recycle", "Retain"];
    one_of(errors, &at("persistentVolumeReclaimPolicy"), policy, &policies);
    if let Some(affinity) = spec.get("nodeAffinity") {
        let at = at("nodeAffinity").name("required");
        match affinity.get("required") {
            Some(selector) => node_selector(errors, &at, selector, kubernetes),
            None => {
                let detail = "must specify required node constraints";
                errors.push(FieldError::required(at, detail));
            }
        }
    }
    sources::validate(spec, errors);
    if policy == "Recycle" && text(spec, "/hostPath/path") == "/" {
        let detail = "may not be 'recycle' for a hostPath mount of '/'";
        errors.push(FieldError::forbidden(at("persistentVolumeReclaimPolicy"), detail));
    }
    let class = text(spec, "/storageClassName");
    if !class.is_empty() {
        named(errors, &at("storageClassName"), class, dns1123_subdomain);
    }
    if let Some(mode) = spec.get("volumeMode") {
        volume_claim::volume_mode(errors, &at("volumeMode"), text(mode, ""));
    }
    validate_attributes_class(spec, errors);
}

fn warn(volume: &Value, spec: &Value, found: &mut Findings) {
    let at = path(&["spec", "nodeAffinity", "required", "nodeSelectorTerms"]);
    let terms = items(spec, "/nodeAffinity/required/nodeSelectorTerms");
    for (index, term) in terms.iter().enumerate() {
        selector_term(&mut found.warnings, &at.clone().index(index), term, None);
    }
    warn_of_annotation(found, volume, CLASS, "deprecated since v1.8; use \"storageClassName\"");
    let mounts = "volume.beta.kubernetes.io/mount-options";
    warn_of_annotation(found, volume, mounts, "deprecated since v1.31; use \"mountOptions\"");
    if text(spec, "/persistentVolumeReclaimPolicy") == "Recycle" {
        let warning = "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. \
            Instead, the recommended approach is to use dynamic provisioning.";
        found.warnings.push(warning.to_owned());
    }
}

fn validate_capacity(spec: &Value, errors: &mut Vec<FieldError>) {
    let at = path(&["spec", "capacity"]);
    let names: Vec<&str> = members(spec, "/capacity").map(|(name, _)| name).collect();
    if names.is_empty() {
        errors.push(FieldError::required(at.clone(), ""));
    }
    if names != ["storage"] {
        let capacity = spec.get("capacity").cloned().unwrap_or_default();
        errors.push(FieldError::not_supported(at.clone(), capacity, ["storage"]));
    }
    for (name, amount) in members(spec, "/capacity") {
        basic_amount(errors, &at.clone().key(name), amount);
        positive_amount(errors, &at.clone().key(name), amount);
    }
}

fn validate_attributes_class(spec: &Value, errors: &mut Vec<FieldError>) {
    let name = "volumeAttributesClassName";
    let Some(class) = spec.get(name) else { return };
    let at = path(&["spec", name]);
    match text(class, "") {
        "" => errors.push(FieldError::required(at, "an empty string is disallowed")),
        class => named(errors, &at, class, dns1123_subdomain),
    }
    if spec.get("csi").is_none() {
        let detail = "has to be specified when using volumeAttributesClassName";
        errors.push(FieldError::required(path(&["spec", "csi"]), detail));
    }
}

fn validate_change(spec: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let (new_source, old_source) = (sources::of(spec), sources::of(old));
    if new_source != old_source {
        let detail = format!(
            "spec.persistentvolumesource is immutable after creation\n{}",
            difference(&sources::shown(old), &sources::shown(spec))
        );
        errors.push(FieldError::forbidden(path(&["spec", "persistentvolumesource"]), &detail));
    }
    immutable(errors, &path(&["volumeMode"]), spec.get("volumeMode"), old.get("volumeMode"));
    let (new, stored) = (spec.get("nodeAffinity"), old.get("nodeAffinity"));
    if stored.is_some_and(|stored| new != Some(stored) && new != Some(&with_stable_labels(stored)))
    {
        let type_ = (AFFINITY, "core");
        let detail = "field is immutable, except for updating from beta label to GA";
        errors.push(invalid_internal(path(&["nodeAffinity"]), new, type_, detail));
    }
    let name = "volumeAttributesClassName";
    if old.get(name).is_some() && spec.get(name).is_none() {
        let detail = "update from non-nil value to nil is forbidden";
        errors.push(FieldError::forbidden(path(&["spec", name]), detail));
    }
}

/// Returns an affinity with the stable names of labels in place of their beta names.
fn with_stable_labels(affinity: &Value) -> Value {
    const LABELS: [(&str, &str); 5] = [
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ];
    let mut affinity = affinity.clone();
    let terms = affinity.pointer_mut("/required/nodeSelectorTerms").and_then(Value::as_array_mut);
    for term in terms.into_iter().flatten() {
        let expressions = term.get_mut("matchExpressions").and_then(Value::as_array_mut);
        for expression in expressions.into_iter().flatten() {
            let label = LABELS.iter().find(|(beta, _)| text(expression, "/key") == *beta);
            if let (Some((_, stable)), Value::Object(members)) = (label, expression) {
                members.insert("key".to_owned(), (*stable).into());
            }
        }
    }
    affinity
}
