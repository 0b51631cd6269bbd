//! CSIDrivers (BK-435).

use std::collections::BTreeSet;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::{Value, json};

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::edition::EDITIONS;
use crate::rules::{immutable, one_of};
use crate::values::{integer, items, path, set_missing, text, value_at};

const TEN_MINUTES: i64 = 600;

const TOKENS_IN_ATTRIBUTES: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by \
    this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

/// The rules of drivers.
#[derive(Debug)]
pub(crate) struct CsiDriver;

impl Behavior for CsiDriver {
    fn set_defaults(&self, driver: &mut Value, _: KubernetesVersion) {
        let Some(spec) = driver.get_mut("spec") else { return };
        for (name, default) in [
            ("attachRequired", json!(true)),
            ("podInfoOnMount", json!(false)),
            ("storageCapacity", json!(false)),
            ("fsGroupPolicy", json!("ReadWriteOnceWithFSType")),
            ("volumeLifecycleModes", json!(["Persistent"])),
            ("requiresRepublish", json!(false)),
            ("seLinuxMount", json!(false)),
        ] {
            set_missing(spec, name, default);
        }
    }

    fn prepare(&self, driver: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        // Servers do not know limits of volumes in scheduling yet (BK-29).
        let place = "/spec/preventPodSchedulingIfMissing";
        if old.and_then(|old| value_at(old, place)).is_none()
            && let Some(Value::Object(spec)) = driver.get_mut("spec")
        {
            spec.remove("preventPodSchedulingIfMissing");
        }
    }

    fn validate(
        &self,
        driver: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        validate_spec(driver, errors);
        if let Some(old) = old {
            for (name, shown) in [
                ("attachRequired", "attachedRequired"),
                ("volumeLifecycleModes", "volumeLifecycleModes"),
            ] {
                let of = |driver: &Value| value_at(driver, &format!("/spec/{name}")).cloned();
                let (new, old) = (of(driver), of(old));
                immutable(errors, &path(&["spec", shown]), new.as_ref(), old.as_ref());
            }
        }
        let tokens = |driver: &Value| {
            ["tokenRequests", "serviceAccountTokenInSecrets"]
                .map(|name| value_at(driver, &format!("/spec/{name}")).cloned())
        };
        if EDITIONS.of(context.kubernetes).has_secret_tokens
            && matches!(tokens(driver), [Some(_), None])
            && old.is_none_or(|old| tokens(old) != tokens(driver))
        {
            found.warnings.push(TOKENS_IN_ATTRIBUTES.to_owned());
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let flag = |name: &str| {
            let value = value_at(object, &format!("/spec/{name}")).and_then(Value::as_bool);
            Value::from(value.unwrap_or_default())
        };
        let join = |texts: Vec<&str>| texts.join(",");
        let modes = items(object, "/spec/volumeLifecycleModes").iter().map(|mode| text(mode, ""));
        let requests = items(object, "/spec/tokenRequests").iter();
        let audiences: Vec<_> = requests.map(|request| text(request, "/audience")).collect();
        let tokens = if audiences.is_empty() { "<unset>".to_owned() } else { join(audiences) };
        vec![
            cells::name(object),
            flag("attachRequired"),
            flag("podInfoOnMount"),
            flag("storageCapacity"),
            tokens.into(),
            flag("requiresRepublish"),
            join(modes.collect()).into(),
            cells::created(object, now),
        ]
    }
}

fn validate_spec(driver: &Value, errors: &mut Vec<FieldError>) {
    let at = |name: &str| path(&["spec", name]);
    let policies = ["File", "None", "ReadWriteOnceWithFSType"];
    one_of(errors, &at("fsGroupPolicy"), text(driver, "/spec/fsGroupPolicy"), &policies);
    validate_tokens(driver, errors);
    for mode in items(driver, "/spec/volumeLifecycleModes") {
        let modes = ["Persistent", "Ephemeral"];
        one_of(errors, &at("volumeLifecycleModes"), text(mode, ""), &modes);
    }
    let name = "nodeAllocatableUpdatePeriodSeconds";
    if let Some(seconds) = integer(driver, &format!("/spec/{name}")).filter(|number| *number < 10) {
        let detail = "must be greater than or equal to 10 seconds";
        errors.push(FieldError::invalid(at(name), seconds, detail));
    }
    let in_secrets = value_at(driver, "/spec/serviceAccountTokenInSecrets");
    if let Some(flag) = in_secrets.filter(|_| items(driver, "/spec/tokenRequests").is_empty()) {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        let at = at("serviceAccountTokenInSecrets");
        errors.push(FieldError::invalid(at, flag.clone(), detail));
    }
}

fn validate_tokens(driver: &Value, errors: &mut Vec<FieldError>) {
    let requests = items(driver, "/spec/tokenRequests");
    let mut seen = BTreeSet::new();
    for (index, request) in requests.iter().enumerate() {
        let at = path(&["spec", "tokenRequests"]).index(index);
        let audience = text(request, "/audience");
        if !seen.insert(audience) {
            errors.push(FieldError::duplicate(at.clone().name("audience"), audience));
        }
        let Some(seconds) = integer(request, "/expirationSeconds") else { continue };
        for (is_broken, detail) in [
            (seconds < TEN_MINUTES, "may not specify a duration less than 10 minutes"),
            (seconds > 1 << 32, "may not specify a duration larger than 2^32 seconds"),
        ] {
            if is_broken {
                let at = at.clone().name("expirationSeconds");
                errors.push(FieldError::invalid(at, seconds, detail));
            }
        }
    }
}
