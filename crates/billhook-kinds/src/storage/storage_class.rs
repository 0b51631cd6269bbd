//! StorageClasses (BK-434).

use std::collections::{BTreeMap, BTreeSet};

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::qualified_name;
use billhook_apimachinery::record::text as member_text;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use super::parameters::{parameters, provisioner};
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::core::node_selector::deprecated_label;
use crate::rules::{immutable, invalid, one_of};
use crate::values::{items, path, set_missing, text, value_at};

/// The annotations that make a class the default.
const DEFAULT: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

/// The values that a term wants for each key.
type Topology<'t> = BTreeMap<&'t str, BTreeSet<&'t str>>;

/// The rules of storage classes.
#[derive(Debug)]
pub(crate) struct StorageClass;

impl Behavior for StorageClass {
    fn set_defaults(&self, class: &mut Value, _: KubernetesVersion) {
        set_missing(class, "reclaimPolicy", "Delete");
        set_missing(class, "volumeBindingMode", "Immediate");
    }

    fn validate(
        &self,
        class: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let (errors, kubernetes) = (&mut found.errors, context.kubernetes);
        let of = |name: &str| text(class, name);
        let at = |name: &str| path(&[name]);
        provisioner(errors, &at("provisioner"), of("provisioner"), kubernetes);
        parameters(errors, class);
        if !of("reclaimPolicy").is_empty() {
            one_of(errors, &at("reclaimPolicy"), of("reclaimPolicy"), &["Delete", "Retain"]);
        }
        let modes = ["Immediate", "WaitForFirstConsumer"];
        one_of(errors, &at("volumeBindingMode"), of("volumeBindingMode"), &modes);
        validate_topologies(class, kubernetes, errors);
        warn_of_topologies(class, &mut found.warnings);
        let errors = &mut found.errors;
        if let Some(old) = old {
            for name in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
                immutable(errors, &at(name), class.get(name), old.get(name));
            }
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let annotations = value_at(object, "/metadata/annotations");
        let is_set = |name| annotations.is_some_and(|all| member_text(all, name) == "true");
        let default = if DEFAULT.into_iter().any(is_set) { " (default)" } else { "" };
        let expands = object.get("allowVolumeExpansion").and_then(Value::as_bool);
        vec![
            format!("{}{default}", text(object, "/metadata/name")).into(),
            cells::at(object, "/provisioner"),
            cells::at(object, "/reclaimPolicy"),
            cells::at(object, "/volumeBindingMode"),
            expands.unwrap_or_default().into(),
            cells::created(object, now),
        ]
    }
}

fn validate_topologies(class: &Value, kubernetes: KubernetesVersion, errors: &mut Vec<FieldError>) {
    // A term without requirements repeats the one that a class without terms stands for.
    let mut earlier = BTreeSet::from([Topology::new()]);
    for (index, term) in items(class, "/allowedTopologies").iter().enumerate() {
        let at = path(&["allowedTopologies"]).index(index).name("matchLabelExpressions");
        let topology = validate_term(term, &at, kubernetes, errors);
        if !earlier.insert(topology) {
            errors.push(FieldError::duplicate(at, ""));
        }
    }
}

fn warn_of_topologies(class: &Value, warnings: &mut Vec<String>) {
    for (index, term) in items(class, "/allowedTopologies").iter().enumerate() {
        let at = path(&["allowedTopologies"]).index(index).name("matchLabelExpressions");
        for (index, expression) in items(term, "/matchLabelExpressions").iter().enumerate() {
            let key = text(expression, "/key");
            let at = at.clone().index(index).name("key");
            warnings.extend(deprecated_label(key).map(|text| format!("{at}: {key} is {text}")));
        }
    }
}

fn validate_term<'t>(
    term: &'t Value,
    at: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) -> Topology<'t> {
    let mut topology = Topology::new();
    for (index, expression) in items(term, "/matchLabelExpressions").iter().enumerate() {
        let at = at.clone().index(index);
        let values = validate_values(expression, &at.clone().name("values"), errors);
        let (key, at) = (text(expression, "/key"), at.name("key"));
        invalid(errors, &at, key, qualified_name(key, kubernetes.wording()));
        if topology.contains_key(key) {
            errors.push(FieldError::duplicate(at, key));
        }
        topology.insert(key, values);
    }
    topology
}

fn validate_values<'e>(
    expression: &'e Value,
    at: &FieldPath,
    errors: &mut Vec<FieldError>,
) -> BTreeSet<&'e str> {
    let values = items(expression, "/values");
    if values.is_empty() {
        errors.push(FieldError::required(at.clone(), ""));
    }
    let mut all = BTreeSet::new();
    for (index, value) in values.iter().enumerate() {
        let value = text(value, "");
        if !all.insert(value) {
            errors.push(FieldError::duplicate(at.clone().index(index), value));
        }
    }
    all
}
