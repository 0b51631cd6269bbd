//! PodDisruptionBudgets (BK-480).

use billhook_apimachinery::FieldError;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::print::compact_json;
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::values::{integer, items, path};
use crate::workloads::{part, shown_selector};
use crate::{cells, conditions, rules};

/// The rules of PodDisruptionBudgets.
#[derive(Debug)]
pub(crate) struct PodDisruptionBudget;

impl Behavior for PodDisruptionBudget {
    fn checks_finalizers(&self) -> bool {
        false
    }

    fn validate(
        &self,
        budget: &Value,
        _: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let errors = &mut found.errors;
        if context.subresource == "status" {
            return validate_status(part(budget, "/status"), context, errors);
        }
        let (spec, at) = (part(budget, "/spec"), path(&["spec"]));
        let (min, max) = (part(spec, "/minAvailable"), part(spec, "/maxUnavailable"));
        if !min.is_null() && !max.is_null() {
            let detail = "minAvailable and maxUnavailable cannot be both set";
            let error = FieldError::invalid(at.clone(), spec.clone(), detail);
            errors.push(error.show_value_as(shown(spec)));
        }
        for (name, value) in [("minAvailable", min), ("maxUnavailable", max)] {
            if !value.is_null() {
                let at = at.clone().name(name);
                rules::int_or_percent(errors, &at, value);
                rules::at_most_100_percent(errors, &at, value);
            }
        }
        let selector = spec.get("selector");
        rules::label_selector(errors, &at.clone().name("selector"), selector, context.kubernetes);
        if let Some(policy) = spec.get("unhealthyPodEvictionPolicy").and_then(Value::as_str) {
            let at = at.name("unhealthyPodEvictionPolicy");
            rules::one_of(errors, &at, policy, &["AlwaysAllow", "IfHealthyBudget"]);
        }
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let amount = |place| match part(object, place) {
            Value::Null => "N/A".into(),
            Value::String(text) => text.as_str().into(),
            number => Value::from(number.to_string()),
        };
        vec![
            cells::name(object),
            amount("/spec/minAvailable"),
            amount("/spec/maxUnavailable"),
            integer(object, "/status/disruptionsAllowed").unwrap_or_default().into(),
            cells::created(object, now),
        ]
    }
}

fn validate_status(status: &Value, context: &WriteContext<'_>, errors: &mut Vec<FieldError>) {
    let at = path(&["status"]);
    let counters = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"];
    let at_conditions = at.clone().name("conditions");
    let conditions = items(status, "/conditions");
    conditions::validate(errors, &at_conditions, conditions, context.kubernetes);
    rules::members_not_negative(errors, &at, status, &counters);
}

/// The spec in the server's internal form.
fn shown(spec: &Value) -> String {
    let part = |place| compact_json(part(spec, place));
    format!(
        r#"{{"MinAvailable":{},"Selector":{},"MaxUnavailable":{},"UnhealthyPodEvictionPolicy":{}}}"#,
        part("/minAvailable"),
        shown_selector(spec.get("selector").unwrap_or(&Value::Null)),
        part("/maxUnavailable"),
        part("/unhealthyPodEvictionPolicy"),
    )
}
