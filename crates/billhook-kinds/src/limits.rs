//! The defaults and limits that LimitRanges give to the pods and claims of their namespace (BK-561).

use std::collections::BTreeSet;

use billhook_apimachinery::Quantity;
use serde_json::{Map, Value};

use crate::core::pod::{Amounts, total};
use crate::rules::quantity;
use crate::values::{items, items_mut, members, section, text};

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// Sets what the containers of a new pod leave out to the defaults of a LimitRange.
pub fn set_limit_defaults(pod: &mut Value, range: &Value) {
    let defaults = |name: &str| {
        let mut all = Map::new();
        for limit in
            items(range, "/spec/limits").iter().filter(|it| text(it, "/type") == "Container")
        {
            let given = limit.get(name).and_then(Value::as_object).into_iter().flatten();
            all.extend(given.map(|(name, amount)| (name.clone(), amount.clone())));
        }
        all
    };
    let (requests, limits) = (defaults("defaultRequest"), defaults("default"));
    let mut notes = Vec::new();
    for (place, what) in
        [("/spec/containers", "container"), ("/spec/initContainers", "init container")]
    {
        for container in items_mut(pod, place) {
            let name = text(container, "/name").to_owned();
            for (member, defaults, word) in
                [("requests", &requests, "request"), ("limits", &limits, "limit")]
            {
                let set = set_amounts(container, member, defaults);
                if !set.is_empty() {
                    notes.push(format!("{} {word} for {what} {name}", set.join(", ")));
                }
            }
        }
    }
    if notes.is_empty() {
        return;
    }
    let note = format!("LimitRanger plugin set: {}", notes.join("; "));
    if let Some(metadata) = pod.get_mut("metadata")
        && let Some(annotations) = section(metadata, "annotations")
    {
        annotations.insert(ANNOTATION.to_owned(), note.into());
    }
}

/// Sets the amounts that are missing; returns their names.
fn set_amounts(container: &mut Value, member: &str, defaults: &Map<String, Value>) -> Vec<String> {
    let mut set = BTreeSet::new();
    if !defaults.is_empty()
        && section(container, "resources").is_some()
        && let Some(resources) = container.get_mut("resources")
        && let Some(amounts) = section(resources, member)
    {
        for (name, amount) in defaults {
            if !amounts.contains_key(name) {
                amounts.insert(name.clone(), amount.clone());
                set.insert(name.clone());
            }
        }
    }
    set.into_iter().collect()
}

/// Returns why a LimitRange does not allow a pod, if it does not.
pub fn pod_exceeds(range: &Value, pod: &Value) -> Option<String> {
    let mut found = Vec::new();
    for limit in items(range, "/spec/limits") {
        let limit = Limit { limit, type_: text(limit, "/type") };
        match limit.type_ {
            "Container" => {
                let containers = items(pod, "/spec/containers").iter();
                for container in containers.chain(items(pod, "/spec/initContainers")) {
                    let of = |name| amounts(container, &format!("/resources/{name}"));
                    limit.check(&of("requests"), &of("limits"), &mut found);
                }
            }
            "Pod" => {
                let spec = pod.get("spec").unwrap_or(&Value::Null);
                limit.check(&total(spec, "requests"), &total(spec, "limits"), &mut found);
            }
            _ => {}
        }
    }
    joined(found)
}

/// Returns why a LimitRange does not allow a claim, if it does not.
pub fn claim_exceeds(range: &Value, claim: &Value) -> Option<String> {
    let mut found = Vec::new();
    let requests = amounts(claim, "/spec/resources/requests");
    for limit in items(range, "/spec/limits") {
        let limit = Limit { limit, type_: text(limit, "/type") };
        if limit.type_ == "PersistentVolumeClaim" {
            limit.check_min(&requests, &Amounts::new(), &mut found);
            limit.check_max_request(&requests, &mut found);
        }
    }
    joined(found)
}

/// Several messages as one, each once.
fn joined(messages: Vec<String>) -> Option<String> {
    let mut each: Vec<String> = Vec::new();
    for message in messages {
        if !each.contains(&message) {
            each.push(message);
        }
    }
    match each.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("[{}]", several.join(", "))),
    }
}

pub(crate) fn amounts(object: &Value, place: &str) -> Amounts {
    let known = members(object, place);
    known.filter_map(|(name, amount)| Some((name.to_owned(), quantity(amount)?))).collect()
}

/// One limit of a LimitRange.
struct Limit<'l> {
    limit: &'l Value,
    type_: &'l str,
}

impl Limit<'_> {
    fn check(&self, requests: &Amounts, limits: &Amounts, found: &mut Vec<String>) {
        self.check_min(requests, limits, found);
        self.check_max(requests, limits, found);
        self.check_ratio(requests, limits, found);
    }

    fn check_min(&self, requests: &Amounts, limits: &Amounts, found: &mut Vec<String>) {
        for (name, min) in amounts(self.limit, "/min") {
            let begin = format!("minimum {name} usage per {} is {min}", self.type_);
            match (requests.get(&name), limits.get(&name)) {
                (None, _) => found.push(format!("{begin}.  No request is specified")),
                (Some(request), _) if *request < min => {
                    found.push(format!("{begin}, but request is {request}"));
                }
                (_, Some(limit)) if *limit < min => {
                    found.push(format!("{begin}, but limit is {limit}"));
                }
                _ => {}
            }
        }
    }

    fn check_max(&self, requests: &Amounts, limits: &Amounts, found: &mut Vec<String>) {
        for (name, max) in amounts(self.limit, "/max") {
            let begin = format!("maximum {name} usage per {} is {max}", self.type_);
            match (requests.get(&name), limits.get(&name)) {
                (_, None) => found.push(format!("{begin}.  No limit is specified")),
                (_, Some(limit)) if *limit > max => {
                    found.push(format!("{begin}, but limit is {limit}"));
                }
                (Some(request), _) if *request > max => {
                    found.push(format!("{begin}, but request is {request}"));
                }
                _ => {}
            }
        }
    }

    fn check_max_request(&self, requests: &Amounts, found: &mut Vec<String>) {
        for (name, max) in amounts(self.limit, "/max") {
            let begin = format!("maximum {name} usage per {} is {max}", self.type_);
            match requests.get(&name) {
                None => found.push(format!("{begin}.  No request is specified")),
                Some(request) if *request > max => {
                    found.push(format!("{begin}, but request is {request}"));
                }
                Some(_) => {}
            }
        }
    }

    fn check_ratio(&self, requests: &Amounts, limits: &Amounts, found: &mut Vec<String>) {
        let is_zero = |amount: Option<&Quantity>| amount.is_none_or(|it| it.signum() == 0);
        for (name, max) in amounts(self.limit, "/maxLimitRequestRatio") {
            let begin = format!("{name} max limit to request ratio per {} is {max}", self.type_);
            let (request, limit) = (requests.get(&name), limits.get(&name));
            if is_zero(request) {
                found.push(format!("{begin}, but no request is specified or request is 0"));
            } else if is_zero(limit) {
                found.push(format!("{begin}, but no limit is specified or limit is 0"));
            } else if let (Some(request), Some(limit)) = (request, limit) {
                let ratio = limit.as_float() / request.as_float();
                if ratio > max.as_float() {
                    found.push(format!("{begin}, but provided ratio is {ratio:.6}"));
                }
            }
        }
    }
}
