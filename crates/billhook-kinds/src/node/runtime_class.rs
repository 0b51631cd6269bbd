//! RuntimeClasses (BK-487).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::{dns1123_label, label_value, qualified_name};
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::generated::core_v1::TOLERATION;
use crate::resource_names::{container_resource_name, resource_amount};
use crate::rules::{
    duplicate_internal, immutable, invalid, invalid_internal, labels, named, one_of, round_amounts,
};
use crate::values::{items, members, path, text, value_at};

/// The rules of runtime classes.
#[derive(Debug)]
pub(crate) struct RuntimeClass;

impl Behavior for RuntimeClass {
    fn set_defaults(&self, class: &mut Value, _: KubernetesVersion) {
        round_amounts(class, "/overhead/podFixed");
    }

    fn checks_finalizers(&self) -> bool {
        false
    }

    fn validate(
        &self,
        class: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let (errors, kubernetes) = (&mut found.errors, context.kubernetes);
        match text(class, "/handler") {
            "" => errors.push(FieldError::required(path(&["handler"]), "")),
            handler => named(errors, &path(&["handler"]), handler, dns1123_label),
        }
        for (name, amount) in members(class, "/overhead/podFixed") {
            // The errors name the list of limits that the server checks in its place.
            let at = path(&["overhead", "limits"]).key(name);
            container_resource_name(errors, &at, name, kubernetes);
            resource_amount(errors, &at, name, amount);
        }
        let selector = value_at(class, "/scheduling/nodeSelector");
        labels(errors, &path(&["scheduling", "nodeSelector"]), selector, kubernetes);
        validate_tolerations(class, kubernetes, errors);
        if let Some(old) = old {
            immutable(errors, &path(&["handler"]), class.get("handler"), old.get("handler"));
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![cells::name(object), cells::at(object, "/handler"), cells::created(object, now)]
    }
}

fn validate_tolerations(
    class: &Value,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let all = items(class, "/scheduling/tolerations");
    let mut seen = BTreeSet::new();
    for (index, toleration) in all.iter().enumerate() {
        let at = path(&["scheduling", "tolerations"]).index(index);
        validate_toleration(toleration, &at, kubernetes, errors);
        if !seen.insert(compact_json(toleration)) {
            errors.push(duplicate_internal(at, toleration, Type::Record(|| &TOLERATION)));
        }
    }
}

fn validate_toleration(
    toleration: &Value,
    at: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let of = |name: &str| text(toleration, name);
    let at = |name: &str| at.clone().name(name);
    let (key, operator, value, effect) = (of("key"), of("operator"), of("value"), of("effect"));
    if !key.is_empty() {
        invalid(errors, &at("key"), key, qualified_name(key, kubernetes.wording()));
    } else if operator != "Exists" {
        let detail = "operator must be Exists when `key` is empty, which means \"match all values \
                      and all keys\"";
        errors.push(FieldError::invalid(at("operator"), operator, detail));
    }
    if toleration.get("tolerationSeconds").is_some_and(|seconds| !seconds.is_null())
        && effect != "NoExecute"
    {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(FieldError::invalid(at("effect"), effect, detail));
    }
    match operator {
        "" | "Equal" => {
            let messages = label_value(value, kubernetes.wording());
            if !messages.is_empty() {
                let detail = messages.join(";");
                errors.push(FieldError::invalid(at("operator"), value, &detail));
            }
        }
        "Exists" if !value.is_empty() => {
            let detail = "value must be empty when `operator` is 'Exists'";
            let type_ = (Type::Record(|| &TOLERATION), "core");
            errors.push(invalid_internal(at("operator"), Some(toleration), type_, detail));
        }
        "Exists" => {}
        operator => one_of(errors, &at("operator"), operator, &["Equal", "Exists"]),
    }
    if !effect.is_empty() {
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        one_of(errors, &at("effect"), effect, &effects);
    }
}
