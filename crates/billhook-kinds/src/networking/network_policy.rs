//! NetworkPolicies (BK-461).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::{Value, json};

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::ip::{AddressRules, Range};
use crate::values::{integer, items, items_mut, object_mut, path, set_missing, text, value_at};
use crate::{cells, rules};

/// The directions of traffic, and the peers of each.
const DIRECTIONS: [(&str, &str); 2] = [("ingress", "from"), ("egress", "to")];

/// The rules of network policies.
#[derive(Debug)]
pub(crate) struct NetworkPolicy;

impl Behavior for NetworkPolicy {
    fn set_defaults(&self, policy: &mut Value, _: KubernetesVersion) {
        for (direction, _) in DIRECTIONS {
            for rule in items_mut(policy, &format!("/spec/{direction}")) {
                for port in items_mut(rule, "/ports") {
                    set_missing(port, "protocol", "TCP");
                }
            }
        }
        let has_egress = !items(policy, "/spec/egress").is_empty();
        let types = if has_egress { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
        if let Some(spec) = object_mut(policy, "/spec") {
            set_missing(spec, "policyTypes", types);
        }
    }

    fn validate(
        &self,
        policy: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let stored = old.map(ranges).unwrap_or_default();
        let check = Check {
            kubernetes: context.kubernetes,
            ranges: AddressRules::new(context.kubernetes, stored),
        };
        check.spec(policy, &mut found.errors);
    }

    fn cells(&self, policy: &Value, now: Time) -> Vec<Value> {
        vec![
            cells::name(policy),
            cells::selector(policy, "/spec/podSelector"),
            cells::created(policy, now),
        ]
    }
}

/// The ranges of addresses in a policy.
fn ranges(policy: &Value) -> Vec<&str> {
    let mut ranges = Vec::new();
    for (direction, peers) in DIRECTIONS {
        let rules = items(policy, &format!("/spec/{direction}")).iter();
        for peer in rules.flat_map(|rule| items(rule, peers)) {
            ranges.push(text(peer, "/ipBlock/cidr"));
            ranges.extend(items(peer, "/ipBlock/except").iter().map(|range| text(range, "")));
        }
    }
    ranges
}

/// A validation.
struct Check<'o> {
    kubernetes: KubernetesVersion,
    ranges: AddressRules<'o>,
}

impl Check<'_> {
    fn spec(&self, policy: &Value, errors: &mut Vec<FieldError>) {
        let spec = path(&["spec"]);
        let selector = value_at(policy, "/spec/podSelector");
        let selector_path = spec.clone().name("podSelector");
        rules::label_selector(errors, &selector_path, selector, self.kubernetes);
        for (direction, peers) in DIRECTIONS {
            for (index, rule) in items(policy, &format!("/spec/{direction}")).iter().enumerate() {
                let path = spec.clone().name(direction).index(index);
                for (index, port) in items(rule, "/ports").iter().enumerate() {
                    validate_port(port, &path.clone().name("ports").index(index), errors);
                }
                for (index, peer) in items(rule, peers).iter().enumerate() {
                    self.peer(peer, &path.clone().name(peers).index(index), errors);
                }
            }
        }
        let (types, path) = (items(policy, "/spec/policyTypes"), spec.name("policyTypes"));
        if types.len() > 2 {
            let detail = "may not specify more than two policyTypes";
            errors.push(FieldError::invalid(path, types.to_vec(), detail));
            return;
        }
        for (index, kind) in types.iter().enumerate() {
            let path = path.clone().index(index);
            rules::one_of(errors, &path, text(kind, ""), &["Ingress", "Egress"]);
        }
    }

    fn peer(&self, peer: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
        let selectors = ["podSelector", "namespaceSelector"];
        for name in selectors {
            let path = path.clone().name(name);
            rules::label_selector(errors, &path, peer.get(name), self.kubernetes);
        }
        let has_selector = selectors.iter().any(|name| peer.get(name).is_some());
        let block = peer.get("ipBlock");
        if let Some(block) = block {
            self.block(block, &path.clone().name("ipBlock"), errors);
        }
        match (has_selector, block) {
            (false, None) => {
                errors.push(FieldError::required(path.clone(), "must specify a peer"));
            }
            (true, Some(_)) => {
                let detail = "may not specify both ipBlock and another peer";
                errors.push(FieldError::forbidden(path.clone(), detail));
            }
            _ => {}
        }
    }

    fn block(&self, block: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
        let (range, range_path) = (text(block, "/cidr"), path.clone().name("cidr"));
        if range.is_empty() {
            errors.push(FieldError::required(range_path, ""));
            return;
        }
        self.ranges.range(errors, &range_path, range);
        let Some(range) = Range::parse(range) else { return };
        for (index, except) in items(block, "/except").iter().enumerate() {
            let (except, path) = (text(except, ""), path.clone().name("except").index(index));
            self.ranges.range(errors, &path, except);
            if Range::parse(except).is_some_and(|except| !range.has_strictly(except)) {
                let detail = "must be a strict subset of `cidr`";
                errors.push(FieldError::invalid(path, except, detail));
            }
        }
    }
}

fn validate_port(port: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) {
    let protocol = text(port, "/protocol");
    let protocol_path = path.clone().name("protocol");
    rules::one_of(errors, &protocol_path, protocol, &["TCP", "UDP", "SCTP"]);
    let end = integer(port, "/endPort");
    let end_path = path.clone().name("endPort");
    let mut refuse_end =
        |value: i64, detail| errors.push(FieldError::invalid(end_path.clone(), value, detail));
    let number = port.get("port");
    match (number, end) {
        (None, Some(end)) => refuse_end(end, "may not be specified when `port` is not specified"),
        (Some(Value::String(_)), Some(end)) => {
            refuse_end(end, "may not be specified when `port` is non-numeric");
        }
        (Some(number), Some(end)) => {
            // The error shows the port.
            if let Some(number) = number.as_i64().filter(|number| end < *number) {
                refuse_end(number, "must be greater than or equal to `port`");
            }
            rules::port(errors, &end_path, end);
        }
        _ => {}
    }
    if let Some(number) = number {
        rules::port_or_name(errors, &path.clone().name("port"), number);
    }
}
