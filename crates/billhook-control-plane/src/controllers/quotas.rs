//! The use of quotas (CP-92).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use billhook_apimachinery::Quantity;
use billhook_kinds::{Kind, QuotaSubject, is_quota_resource};
use serde_json::{Map, Value, json};

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::pods::is_terminal;
use crate::request::Request;
use crate::resource::{DEFINITIONS, PODS, QUOTAS, Resource};
use crate::view::{Change, View};

/// How often usage is counted though nothing seems to change it.
const RESYNC: Duration = Duration::from_secs(300);

/// Counts anew what is used of a quota when it changes, and when objects go; admission counts those that
/// come.
#[derive(Debug)]
pub(crate) struct Quotas;

impl Controller for Quotas {
    fn name(&self) -> &'static str {
        "resourcequota-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.name())
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&QUOTAS]
    }

    fn watches_all(&self) -> bool {
        true
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        if change.is_of(&QUOTAS) {
            // Admission writes the status with each object that comes.
            let spec =
                |quota: &Option<Arc<Object>>| quota.as_ref().map(|it| it.get("/spec").clone());
            if spec(&change.before) != spec(&change.after) {
                keys.add_changed(change, &QUOTAS);
            }
            return;
        }
        if change.is_of(&DEFINITIONS) {
            view.all(&QUOTAS).for_each(|quota| keys.add(quota.key()));
            return;
        }
        let has_ended = |pod: &Object| change.is_of(&PODS) && is_terminal(pod);
        let is_counted_less = change.after.as_ref().is_none_or(|after| has_ended(after));
        let Some(object) = change.object().filter(|_| is_counted_less) else { return };
        view.list(&QUOTAS, object.namespace()).for_each(|quota| keys.add(quota.key()));
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let Some(quota) = view.get(&QUOTAS, key) else { return Plan::nothing() };
        let hard = quota.get("/spec/hard");
        let mut status = json!({"hard": hard, "used": used(quota, view)});
        if let Some(members) = status.as_object_mut() {
            members.retain(|_, amounts| amounts.as_object().is_some_and(|it| !it.is_empty()));
        }
        let again = Plan::nothing().again_after(RESYNC);
        if status == *quota.get("/status") {
            return again;
        }
        let mut changed = quota.copy();
        set(&mut changed, &["status"], status);
        again.request(Request::update_in(&QUOTAS, key, "status", &changed))
    }
}

/// Returns how much of what a quota limits the objects of its namespace use. What cannot be counted
/// stays as it was.
fn used(quota: &Object, view: &View) -> Map<String, Value> {
    let names = || quota.get("/spec/hard").as_object().into_iter().flat_map(Map::keys);
    let counted = names().filter(|name| is_counted(name, view));
    let mut sums: BTreeMap<String, Quantity> =
        counted.map(|name| (name.clone(), Quantity::from(0))).collect();
    for (group, plural, object) in view.in_namespace(quota.namespace()) {
        let subject = QuotaSubject::new(group, plural, object.value(), None);
        for (name, amount) in subject.counted_by(quota.value()) {
            if let Some(sum) = sums.get_mut(&name)
                && let Some(more) = sum.plus(&amount)
            {
                *sum = more;
            }
        }
    }
    let before = |name: &String| quota.get("/status/used").get(name).cloned();
    let amount = |name: &String| sums.get(name).map(|sum| sum.to_string().into());
    names()
        .filter_map(|name| Some((name.clone(), amount(name).or_else(|| before(name))?)))
        .collect()
}

/// Returns whether a name in a quota is one of a resource that can be counted: one of a namespace that is
/// known. Events are not counted.
fn is_counted(name: &str, view: &View) -> bool {
    let Some(resource) = name.strip_prefix("count/") else { return is_quota_resource(name) };
    let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
    let is_meant = |kind: &&Kind| (kind.plural, kind.group) == (plural, group);
    match Kind::all().iter().filter(|kind| kind.is_stored()).find(is_meant) {
        Some(kind) => kind.is_namespaced && plural != "events",
        None => {
            let definition = view.get(&DEFINITIONS, resource);
            definition.is_some_and(|it| it.text("/spec/scope") == "Namespaced")
        }
    }
}
