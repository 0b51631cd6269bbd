//! ResourceQuotas (BK-485).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::edition::EDITIONS;
use crate::resource_names::{is_of_pods, quota_resource_name, resource_amount};
use crate::rules::{quantity, repeats, round_amounts, version_required};
use crate::values::{items, members, path, text, value_at};

const MUST_EXIST: &str = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
    ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
    ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

const UNSUPPORTED: &str = "unsupported scope";

const NOT_FOR_RESOURCE: &str = "unsupported scope applied to resource";

/// The rules of quotas.
#[derive(Debug)]
pub(crate) struct ResourceQuota;

impl Behavior for ResourceQuota {
    fn set_defaults(&self, quota: &mut Value, _: KubernetesVersion) {
        for amounts in ["/spec/hard", "/status/hard", "/status/used"] {
            round_amounts(quota, amounts);
        }
    }

    fn prepare(&self, quota: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        if let (None, Value::Object(members)) = (old, quota) {
            members.remove("status");
        }
    }

    fn validate(
        &self,
        quota: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let (errors, kubernetes) = (&mut found.errors, context.kubernetes);
        if context.subresource == "status" {
            version_required(errors, quota);
            validate_amounts(quota, &["status", "hard"], kubernetes, errors);
            validate_amounts(quota, &["status", "used"], kubernetes, errors);
            return;
        }
        validate_amounts(quota, &["spec", "hard"], kubernetes, errors);
        validate_scopes(quota, kubernetes, errors);
        validate_selector(quota, kubernetes, errors);
        if let Some(old) = old
            && sorted_scopes(quota) != sorted_scopes(old)
        {
            let error = FieldError::invalid(scopes_path(), scopes(quota), "field is immutable");
            errors.push(error.of_strings());
        }
        warn(quota, &mut found.warnings);
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let used = |name: &str| {
            let used = value_at(object, "/status/used").and_then(|used| used.get(name));
            used.and_then(Value::as_str).unwrap_or("0")
        };
        let mut all: Vec<_> = members(object, "/status/hard").collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        let list = |of_limits: bool| {
            let own = all.iter().filter(|(name, _)| name.starts_with("limits.") == of_limits);
            let own = own.map(|(name, hard)| format!("{name}: {}/{}", used(name), text(hard, "")));
            Value::from(own.collect::<Vec<_>>().join(", "))
        };
        vec![cells::name(object), list(false), list(true), cells::created(object, now)]
    }
}

fn validate_amounts(
    quota: &Value,
    list: &[&str],
    kubernetes: KubernetesVersion,
    errors: &mut Vec<FieldError>,
) {
    for (name, amount) in members(quota, &format!("/{}", list.join("/"))) {
        let at = path(list).key(name);
        quota_resource_name(errors, &at, name, kubernetes);
        resource_amount(errors, &at, name, amount);
    }
}

fn scopes_path() -> FieldPath {
    path(&["spec", "scopes"])
}

fn scopes(quota: &Value) -> Value {
    value_at(quota, "/spec/scopes").cloned().unwrap_or_default()
}

fn sorted_scopes(quota: &Value) -> Vec<&str> {
    let mut all: Vec<&str> =
        items(quota, "/spec/scopes").iter().map(|scope| text(scope, "")).collect();
    all.sort_unstable();
    all
}

fn validate_scopes(quota: &Value, kubernetes: KubernetesVersion, errors: &mut Vec<FieldError>) {
    let all = sorted_scopes(quota);
    let mut left = repeats(all.len());
    let mut push = |detail| {
        if left > 0 {
            left -= 1;
            errors.push(FieldError::invalid(scopes_path(), scopes(quota), detail).of_strings());
        }
    };
    let unfit = unfit(&all, quota);
    for scope in items(quota, "/spec/scopes").iter().map(|scope| text(scope, "")) {
        if !is_scope(scope, kubernetes) {
            push(UNSUPPORTED);
        }
        if unfit.contains(scope) {
            push(NOT_FOR_RESOURCE);
        }
    }
    if are_conflicting(&all) {
        push("conflicting scopes");
    }
}

fn validate_selector(quota: &Value, kubernetes: KubernetesVersion, errors: &mut Vec<FieldError>) {
    let place = "/spec/scopeSelector/matchExpressions";
    // The server does not say which of the expressions it means.
    let at = path(&["spec", "scopeSelector", "matchExpressions"]);
    let expressions = items(quota, place);
    let all: Vec<&str> = expressions.iter().map(|it| text(it, "/scopeName")).collect();
    let (unfit, mut left) = (unfit(&all, quota), repeats(all.len()));
    for (expression, scope) in expressions.iter().zip(&all) {
        if !is_scope(scope, kubernetes) {
            let at = at.clone().name("scopeName");
            errors.push(FieldError::invalid(at, *scope, UNSUPPORTED));
        }
        if unfit.contains(scope) && left > 0 {
            left -= 1;
            let selector = value_at(quota, "/spec/scopeSelector").cloned().unwrap_or_default();
            errors.push(FieldError::invalid(at.clone(), selector, NOT_FOR_RESOURCE));
        }
        validate_operator(expression, &at, errors);
    }
    if are_conflicting(&all) {
        let selector = value_at(quota, "/spec/scopeSelector").cloned().unwrap_or_default();
        errors.push(FieldError::invalid(at, selector, "conflicting scopes"));
    }
}

fn validate_operator(expression: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let (scope, operator) = (text(expression, "/scopeName"), text(expression, "/operator"));
    let values = items(expression, "/values");
    let of_operator = at.clone().name("operator");
    let must_exist = matches!(
        scope,
        "Terminating"
            | "NotTerminating"
            | "BestEffort"
            | "NotBestEffort"
            | "CrossNamespacePodAffinity"
    );
    if must_exist && operator != "Exists" {
        errors.push(FieldError::invalid(of_operator.clone(), operator, MUST_EXIST));
    }
    let at = at.clone().name("values");
    match operator {
        "In" | "NotIn" if values.is_empty() => {
            let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope \
                          selector";
            errors.push(FieldError::required(at, detail));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope \
                          selector";
            let values = Value::from(values.to_vec());
            errors.push(FieldError::invalid(at, values, detail).of_strings());
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
        operator => {
            let detail = "not a valid selector operator";
            errors.push(FieldError::invalid(of_operator, operator, detail));
        }
    }
}

fn is_scope(scope: &str, kubernetes: KubernetesVersion) -> bool {
    match scope {
        "Terminating"
        | "NotTerminating"
        | "BestEffort"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => true,
        "VolumeAttributesClass" => EDITIONS.of(kubernetes).has_attributes_classes,
        _ => false,
    }
}

/// Returns those of some scopes that cannot be applied to all resources of a quota.
fn unfit<'s>(scopes: &[&'s str], quota: &Value) -> BTreeSet<&'s str> {
    let mut unfit: BTreeSet<&str> = scopes.iter().copied().collect();
    unfit.retain(|scope| !is_for_all(scope, quota));
    unfit
}

/// Whether a scope can be applied to all resources of a quota.
fn is_for_all(scope: &str, quota: &Value) -> bool {
    let mut names = members(quota, "/spec/hard").map(|(name, _)| name);
    match scope {
        "BestEffort" => names.all(|name| name == "pods"),
        "Terminating"
        | "NotTerminating"
        | "NotBestEffort"
        | "PriorityClass"
        | "CrossNamespacePodAffinity" => names.all(is_of_pods),
        _ => true,
    }
}

fn are_conflicting(scopes: &[&str]) -> bool {
    let pairs = [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")];
    pairs.iter().any(|(one, other)| scopes.contains(one) && scopes.contains(other))
}

fn warn(quota: &Value, warnings: &mut Vec<String>) {
    for name in ["cpu", "memory", "ephemeral-storage"] {
        let of = |kind: &str| value_at(quota, "/spec/hard")?.get(format!("{kind}.{name}"));
        let (Some(request), Some(limit)) = (of("requests"), of("limits")) else { continue };
        if quantity(request) > quantity(limit) {
            warnings.push(format!(
                "ResourceQuota requests.{name} ({}) should be less than limits.{name} ({})",
                text(request, ""),
                text(limit, ""),
            ));
        }
    }
}
