//! Cluster roles that have the rules of others (CP-90).

use billhook_apimachinery::label_selector::{LabelSelector, Selector};
use serde_json::{Value, json};

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CLUSTER_ROLES, Resource};
use crate::view::{Change, View};

#[derive(Debug)]
pub(crate) struct RoleAggregation;

const NAME: &str = "clusterrole-aggregation-controller";

impl Controller for RoleAggregation {
    fn name(&self) -> &'static str {
        NAME
    }

    fn account(&self) -> Account {
        Account::of_controller(NAME)
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&CLUSTER_ROLES]
    }

    /// Any role may be, or may have been, one of those that an aggregated role selects.
    fn concerns(&self, _: &Change, view: &View, keys: &mut Keys) {
        let aggregated = view.all(&CLUSTER_ROLES).filter(|role| !selectors(role).is_empty());
        aggregated.for_each(|role| keys.add(role.key()));
    }

    fn sync(&self, name: &str, view: &View, _: Timestamp) -> Plan {
        let Some(role) = view.get(&CLUSTER_ROLES, name) else { return Plan::nothing() };
        if selectors(role).is_empty() {
            return Plan::nothing();
        }
        let rules = aggregated_rules(role, view);
        // Rules of others stay when there are none to apply.
        if rules == role.list("/rules") || (rules.is_empty() && !has_applied(role)) {
            return Plan::nothing();
        }
        let mut configuration = json!({
            "apiVersion": CLUSTER_ROLES.api_version(), "kind": CLUSTER_ROLES.kind,
            "metadata": {"name": name},
        });
        if let Some(members) = configuration.as_object_mut()
            && !rules.is_empty()
        {
            members.insert("rules".to_owned(), rules.into());
        }
        Plan::nothing().request(Request::apply(&CLUSTER_ROLES, name, NAME, &configuration))
    }
}

/// Returns whether a role has rules that this controller has applied.
fn has_applied(role: &Object) -> bool {
    let writes = role.writes().managed_fields.into_iter();
    writes.filter(|write| write.manager == NAME).any(|it| it.fields.get("f:rules").is_some())
}

fn selectors(role: &Object) -> &[Value] {
    role.list("/aggregationRule/clusterRoleSelectors")
}

/// Returns the rules of the roles that each selector selects, by name, each rule once.
fn aggregated_rules(role: &Object, view: &View) -> Vec<Value> {
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors(role).iter().filter_map(parse) {
        let is_source = |it: &&std::sync::Arc<Object>| {
            it.name() != role.name() && selector.matches(it.labels())
        };
        for source in view.all(&CLUSTER_ROLES).filter(is_source) {
            for rule in source.list("/rules") {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    rules
}

fn parse(selector: &Value) -> Option<Selector> {
    LabelSelector::from_value(selector).ok()?.parse().ok()
}
