//! LimitRanges (BK-486).

use std::collections::BTreeSet;

use billhook_apimachinery::names::qualified_name;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, Quantity};
use serde_json::{Map, Value};

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::resource_names::{container_resource_name, is_overcommitted, resource_name};
use crate::rules::{invalid, quantity, round_amounts};
use crate::values::{items, items_mut, path, text};

/// The lists of a limit whose amounts are compared with one another.
const LISTS: [&str; 5] = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

const TYPES: [&str; 3] = ["Pod", "Container", "PersistentVolumeClaim"];

/// The rules of ranges of limits.
#[derive(Debug)]
pub(crate) struct LimitRange;

impl Behavior for LimitRange {
    fn set_defaults(&self, range: &mut Value, _: KubernetesVersion) {
        for limit in items_mut(range, "/spec/limits") {
            for amounts in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
                round_amounts(limit, amounts);
            }
            if text(limit, "/type") == "Container" {
                complete(limit, "default", "max");
                complete(limit, "defaultRequest", "default");
                complete(limit, "defaultRequest", "min");
            }
        }
    }

    /// A range without a name gets one that looks like a UID.
    fn prepare(&self, range: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        let Some(Value::Object(metadata)) = range.get_mut("metadata").filter(|_| old.is_none())
        else {
            return;
        };
        let of = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
        if of("name").is_empty() && of("generateName").is_empty() {
            let (start, end) = of("uid").rsplit_once('-').unwrap_or_default();
            let name = format!("{start}-{}", end.chars().rev().collect::<String>());
            metadata.insert("name".to_owned(), name.into());
        }
    }

    fn validate(
        &self,
        range: &Value,
        _: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let limits = items(range, "/spec/limits");
        let mut seen = BTreeSet::new();
        for (index, limit) in limits.iter().enumerate() {
            let at = path(&["spec", "limits"]).index(index);
            let type_ = text(limit, "/type");
            validate_type(type_, &at, context.kubernetes, &mut found.errors);
            if !seen.insert(type_) {
                found.errors.push(FieldError::duplicate(at.clone().name("type"), type_));
            }
            Limit { limit, at, kubernetes: context.kubernetes }.validate(&mut found.errors);
        }
    }
}

/// Adds the amounts of one list that another one does not have.
fn complete(limit: &mut Value, name: &str, from: &str) {
    let from = limit.get(from).and_then(Value::as_object).cloned().unwrap_or_default();
    let Value::Object(limit) = limit else { return };
    if from.is_empty() {
        return;
    }
    let list = limit.entry(name).or_insert_with(|| Value::Object(Map::new()));
    if list.is_null() {
        *list = Value::Object(Map::new());
    }
    if let Value::Object(list) = list {
        for (resource, amount) in from {
            list.entry(resource).or_insert(amount);
        }
    }
}

fn validate_type(
    type_: &str,
    limit: &FieldPath,
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    let at = limit.clone().name("type");
    let messages = qualified_name(type_, kubernetes.wording());
    if messages.is_empty() && !type_.contains('/') && !TYPES.contains(&type_) {
        let detail = "must be a standard limit type or fully qualified";
        errors.push(FieldError::invalid(at.clone(), type_, detail));
    }
    invalid(errors, &at, type_, messages);
}

struct Limit<'l> {
    limit: &'l Value,
    at: FieldPath,
    kubernetes: KubernetesVersion,
}

impl<'l> Limit<'l> {
    fn validate(&self, errors: &mut Vec<FieldError>) {
        let is_of_pod = text(self.limit, "/type") == "Pod";
        for list in LISTS {
            let is_forbidden = is_of_pod && ["default", "defaultRequest"].contains(&list);
            match self.amounts(list).next() {
                Some(_) if is_forbidden => {
                    let detail = "may not be specified when `type` is 'Pod'";
                    errors.push(FieldError::forbidden(self.at.clone().name(list), detail));
                }
                _ => self.validate_list(list, errors),
            }
        }
        let has_storage = |list| self.amount(list, "storage").is_some();
        if text(self.limit, "/type") == "PersistentVolumeClaim"
            && !has_storage("min")
            && !has_storage("max")
        {
            let detail = "either minimum or maximum storage value is required, but neither was \
                          provided";
            errors.push(FieldError::required(self.at.clone().name("limits"), detail));
        }
        let names: BTreeSet<&str> =
            LISTS.into_iter().flat_map(|list| self.amounts(list)).map(|(name, _)| name).collect();
        for name in names {
            self.compare(name, errors);
        }
    }

    fn amounts(&self, list: &str) -> impl Iterator<Item = (&'l str, &'l Value)> + use<'l> {
        let amounts = self.limit.get(list).and_then(Value::as_object);
        amounts.into_iter().flatten().map(|(name, amount)| (name.as_str(), amount))
    }

    fn amount(&self, list: &str, name: &str) -> Option<(&'l Value, Quantity)> {
        let amount = self.limit.get(list)?.get(name)?;
        Some((amount, quantity(amount)?))
    }

    fn validate_list(&self, list: &str, errors: &mut Vec<FieldError>) {
        for (name, _) in self.amounts(list) {
            let at = self.at.clone().name(list).key(name);
            match text(self.limit, "/type") {
                "Pod" | "Container" => container_resource_name(errors, &at, name, self.kubernetes),
                _ => resource_name(errors, &at, name, self.kubernetes),
            }
        }
    }

    /// Compares the amounts of a resource.
    fn compare(&self, name: &str, errors: &mut Vec<FieldError>) {
        for (low, low_name, high, high_name, list, shown) in [
            ("min", "min", "max", "max", "min", "min"),
            ("min", "min", "defaultRequest", "default request", "defaultRequest", "defaultRequest"),
            ("defaultRequest", "default request", "max", "max", "defaultRequest", "defaultRequest"),
            (
                "defaultRequest",
                "default request",
                "default",
                "default limit",
                "defaultRequest",
                "defaultRequest",
            ),
            ("min", "min", "default", "default", "default", "min"),
            ("default", "default", "max", "max", "default", "max"),
        ] {
            let (Some(low), Some(high)) = (self.amount(low, name), self.amount(high, name)) else {
                continue;
            };
            if low.1 > high.1 {
                let (low, high) = (text(low.0, ""), text(high.0, ""));
                let detail =
                    format!("{low_name} value {low} is greater than {high_name} value {high}");
                self.push(errors, list, name, shown, &detail);
            }
        }
        self.compare_ratio(name, errors);
        let both = (self.amount("default", name), self.amount("defaultRequest", name));
        if let (Some(default), Some(request)) = both
            && !is_overcommitted(name)
            && default.1 != request.1
        {
            let detail = format!(
                "default value {} must equal to defaultRequest value {} in {name}",
                text(default.0, ""),
                text(request.0, ""),
            );
            self.push(errors, "defaultRequest", name, "defaultRequest", &detail);
        }
    }

    fn compare_ratio(&self, name: &str, errors: &mut Vec<FieldError>) {
        let list = "maxLimitRequestRatio";
        let Some((shown, ratio)) = self.amount(list, name) else { return };
        let shown = text(shown, "");
        if ratio < Quantity::from(1) {
            self.push(errors, list, name, list, &format!("ratio {shown} is less than 1"));
        }
        let (Some((_, max)), Some((_, min))) = (self.amount("max", name), self.amount("min", name))
        else {
            return;
        };
        let most = max.as_float() / min.as_float();
        if ratio.as_float() > most {
            let detail = format!("ratio {shown} is greater than max/min = {most:.6}");
            self.push(errors, list, name, list, &detail);
        }
    }

    fn push(&self, errors: &mut Vec<FieldError>, list: &str, name: &str, of: &str, detail: &str) {
        let at = self.at.clone().name(list).key(name);
        let value = self.amount(of, name).map(|(value, _)| value.clone()).unwrap_or_default();
        errors.push(FieldError::invalid(at, value, detail));
    }
}
