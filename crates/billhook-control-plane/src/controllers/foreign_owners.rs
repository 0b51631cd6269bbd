//! Events about owners of other namespaces, which the garbage collector takes for missing (CP-16).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use billhook_apimachinery::record::text;
use billhook_kinds::Kind;
use serde_json::Value;

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::resource::{DEFINITIONS, EVENTS, NAMESPACES, Resource};
use crate::view::{Change, View};

/// Tells of references to owners of other namespaces. The objects that have them are gone at once, so it
/// remembers what it has to tell.
#[derive(Debug, Default)]
pub(crate) struct ForeignOwners {
    events: Mutex<BTreeMap<String, Vec<Event>>>,
}

impl Controller for ForeignOwners {
    fn name(&self) -> &'static str {
        "garbage-collector-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("generic-garbage-collector")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        Vec::new()
    }

    fn watches_all(&self) -> bool {
        true
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        const OWNERS: &str = "/metadata/ownerReferences";
        // The collector does not look at events (CP-10).
        let is_seen = |it: &&Arc<Object>| !it.namespace().is_empty() && !change.is_of(&EVENTS);
        let Some(object) = change.after.as_ref().filter(is_seen) else { return };
        let before = change.before.as_ref().map(|before| before.list(OWNERS)).unwrap_or_default();
        let new = object.list(OWNERS).iter().filter(|owner| !before.contains(owner));
        let foreign: Vec<Event> = new
            .filter(|owner| is_foreign(owner, object, view))
            .map(|it| event(object, it))
            .collect();
        if !foreign.is_empty() {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            events.entry(object.key().to_string()).or_default().extend(foreign);
            keys.add(object.key());
        }
    }

    fn sync(&self, key: &str, _: &View, _: Timestamp) -> Plan {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let events = events.remove(key).unwrap_or_default();
        events.into_iter().fold(Plan::nothing(), Plan::event)
    }
}

/// Returns whether an owner is an object of another namespace.
fn is_foreign(owner: &Value, object: &Object, view: &View) -> bool {
    let (api_version, kind) = (text(owner, "apiVersion"), text(owner, "kind"));
    let group = api_version.split_once('/').map(|(group, _)| group).unwrap_or_default();
    let Some(collection) = collection(view, group, kind) else { return false };
    let is_in = |namespace: &str| {
        let found = view.find(&collection, &format!("{namespace}/{}", text(owner, "name")));
        found.is_some_and(|found| found.uid() == text(owner, "uid"))
    };
    !is_in(object.namespace()) && view.all(&NAMESPACES).any(|namespace| is_in(namespace.name()))
}

/// Returns the name of the collection of a kind whose objects are in namespaces.
fn collection(view: &View, group: &str, kind: &str) -> Option<String> {
    let is_built_in = |it: &&Kind| it.is_stored() && (it.group, it.kind) == (group, kind);
    if let Some(kind) = Kind::all().iter().find(is_built_in) {
        return kind.is_namespaced.then(|| format!("{group}/{}", kind.plural));
    }
    let defines =
        |it: &&Arc<Object>| it.text("/spec/group") == group && it.text("/spec/names/kind") == kind;
    let definition = view.all(&DEFINITIONS).find(defines)?;
    let is_namespaced = definition.text("/spec/scope") == "Namespaced";
    is_namespaced.then(|| format!("{group}/{}", definition.text("/spec/names/plural")))
}

fn event(object: &Arc<Object>, owner: &Value) -> Event {
    let of = |name| text(owner, name);
    let namespace = object.namespace();
    let message = format!(
        "ownerRef [{}/{}, namespace: {namespace}, name: {}, uid: {}] does not exist in namespace \
         {namespace:?}",
        of("apiVersion"),
        of("kind"),
        of("name"),
        of("uid"),
    );
    Event::about(object, "Warning", "OwnerRefInvalidNamespace", message)
}
