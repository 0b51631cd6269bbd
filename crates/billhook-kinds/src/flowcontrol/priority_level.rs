//! PriorityLevelConfigurations (BK-488).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use super::fixed;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::generated::flowcontrol_v1::PRIORITY_LEVEL_CONFIGURATION_SPEC;
use crate::rules::conditions;
use crate::values::{integer, object_mut, path, set_missing, text, value_at};

const MAX_QUEUES: i64 = 10_000_000;

const MAX_ENTROPY: f64 = 60.0;

/// The rules of priority levels.
#[derive(Debug)]
pub(crate) struct PriorityLevelConfiguration;

impl Behavior for PriorityLevelConfiguration {
    fn set_defaults(&self, level: &mut Value, _: KubernetesVersion) {
        for (place, shares) in [("/spec/limited", 30), ("/spec/exempt", 0)] {
            if let Some(part) = object_mut(level, place) {
                set_missing(part, "nominalConcurrencyShares", shares);
                set_missing(part, "lendablePercent", 0);
            }
        }
        if let Some(queuing) = object_mut(level, "/spec/limited/limitResponse/queuing") {
            for (name, default) in [("handSize", 8), ("queues", 64), ("queueLengthLimit", 50)] {
                if integer(queuing, name).unwrap_or_default() == 0
                    && let Value::Object(members) = queuing
                {
                    members.insert(name.to_owned(), default.into());
                }
            }
        }
    }

    fn takes_metadata(&self) -> bool {
        false
    }

    fn prepare(&self, level: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        if let (None, Value::Object(members)) = (old, level) {
            members.remove("status");
        }
    }

    fn validate(
        &self,
        level: &Value,
        _: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            conditions(&mut found.errors, level);
            return;
        }
        let free = (text(level, "/metadata/name") == "exempt").then_some("exempt");
        let (plural, record) =
            ("prioritylevelconfigurations", || &PRIORITY_LEVEL_CONFIGURATION_SPEC);
        fixed::validate(&mut found.errors, level, plural, record, free);
        validate_spec(level, &mut found.errors);
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let or_none = |part: &str, name: &str| {
            let number = integer(object, &format!("/spec/{part}/{name}"));
            number.map_or_else(|| "<none>".into(), Value::from)
        };
        let type_ = text(object, "/spec/type");
        let part = if type_ == "Exempt" { "exempt" } else { "limited" };
        let queuing = "limited/limitResponse/queuing";
        vec![
            cells::name(object),
            type_.into(),
            or_none(part, "nominalConcurrencyShares"),
            or_none(queuing, "queues"),
            or_none(queuing, "handSize"),
            or_none(queuing, "queueLengthLimit"),
            cells::created(object, now),
        ]
    }
}

fn validate_spec(level: &Value, errors: &mut Vec<FieldError>) {
    let type_ = text(level, "/spec/type");
    let at = |name: &str| path(&["spec", name]);
    if (text(level, "/metadata/name") == "exempt") != (type_ == "Exempt") && is_known(type_) {
        let detail = "must be 'Exempt' if and only if `name` is 'exempt'";
        errors.push(FieldError::invalid(at("type"), type_, detail));
    }
    let (limited, exempt) = (value_at(level, "/spec/limited"), value_at(level, "/spec/exempt"));
    match (type_, limited) {
        ("Exempt", limited) => {
            if limited.is_some() {
                let detail = "must be nil if the type is not Limited";
                errors.push(FieldError::forbidden(at("limited"), detail));
            }
            if let Some(exempt) = exempt {
                validate_shares(exempt, &at("exempt"), errors);
            }
        }
        ("Limited", limited) => {
            if exempt.is_some() {
                let detail = "must be nil if the type is Limited";
                errors.push(FieldError::forbidden(at("exempt"), detail));
            }
            match limited {
                Some(limited) => validate_limited(limited, &at("limited"), errors),
                None => {
                    let detail = "must not be empty when type is Limited";
                    errors.push(FieldError::required(at("limited"), detail));
                }
            }
        }
        _ => errors.push(FieldError::not_supported(at("type"), type_, ["Exempt", "Limited"])),
    }
}

fn is_known(type_: &str) -> bool {
    ["Exempt", "Limited"].contains(&type_)
}

/// The shares of a level, and how many of them it lends.
fn validate_shares(part: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let name = "nominalConcurrencyShares";
    if let Some(shares) = integer(part, name).filter(|shares| *shares < 0) {
        let detail = "must be a non-negative integer";
        errors.push(FieldError::invalid(at.clone().name(name), shares, detail));
    }
    let name = "lendablePercent";
    let percent = integer(part, name);
    if let Some(percent) = percent.filter(|percent| !(0..=100).contains(percent)) {
        let detail = "must be between 0 and 100, inclusive";
        errors.push(FieldError::invalid(at.clone().name(name), percent, detail));
    }
}

fn validate_limited(limited: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    validate_shares(limited, at, errors);
    let name = "borrowingLimitPercent";
    if let Some(percent) = integer(limited, name).filter(|percent| *percent < 0) {
        let detail = "if specified, must be a non-negative integer";
        errors.push(FieldError::invalid(at.clone().name(name), percent, detail));
    }
    let at = at.clone().name("limitResponse");
    let queuing = value_at(limited, "/limitResponse/queuing");
    let of_queuing = at.clone().name("queuing");
    match (text(limited, "/limitResponse/type"), queuing) {
        ("Reject", Some(_)) => {
            let detail = "must be nil if limited.limitResponse.type is not Limited";
            errors.push(FieldError::forbidden(of_queuing, detail));
        }
        ("Queue", None) => {
            let detail = "must not be empty if limited.limitResponse.type is Limited";
            errors.push(FieldError::required(of_queuing, detail));
        }
        ("Queue", Some(queuing)) => validate_queuing(queuing, &of_queuing, errors),
        ("Reject", None) => {}
        (type_, _) => {
            let types = ["Queue", "Reject"];
            errors.push(FieldError::not_supported(at.name("type"), type_, types));
        }
    }
}

fn validate_queuing(queuing: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let of = |name: &str| integer(queuing, name).unwrap_or_default();
    let mut check = |name: &str, is_broken: bool, detail: &str| {
        if is_broken {
            errors.push(FieldError::invalid(at.clone().name(name), of(name), detail));
        }
    };
    let (limit, queues, hand) = (of("queueLengthLimit"), of("queues"), of("handSize"));
    check("queueLengthLimit", limit <= 0, "must be positive");
    if queues <= 0 {
        check("queues", true, "must be positive");
    } else if queues > MAX_QUEUES {
        check("queues", true, &format!("must not be greater than {MAX_QUEUES}"));
    }
    if hand <= 0 {
        check("handSize", true, "must be positive");
    } else if hand > queues {
        check("handSize", true, &format!("should not be greater than queues ({queues})"));
    } else if entropy(queues, hand) > MAX_ENTROPY {
        let detail = format!(
            "required entropy bits of deckSize {queues} and handSize {hand} should not be greater \
             than {MAX_ENTROPY}"
        );
        check("handSize", true, &detail);
    }
}

/// Returns how many bits it takes to deal a hand from a deck.
fn entropy(deck: i64, hand: i64) -> f64 {
    let as_float = |number: i64| i32::try_from(number).map_or(f64::MAX, f64::from);
    (as_float(deck).log2() * as_float(hand)).ceil()
}
