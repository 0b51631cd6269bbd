//! Claims of the ephemeral volumes of pods, which have the names of both.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::ownership::Owner;
use crate::plan::Plan;
use crate::pods::is_terminal;
use crate::request::Request;
use crate::resource::{CLAIMS, PODS, Resource};
use crate::view::{Change, View};

/// Creates the claims of ephemeral volumes.
#[derive(Debug)]
pub(crate) struct EphemeralVolumes;

impl Controller for EphemeralVolumes {
    fn name(&self) -> &'static str {
        "ephemeral-volume-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(self.name())
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&PODS, &CLAIMS]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        if change.is_of(&PODS) {
            let pod = change.after.iter().filter(|pod| templates(pod).next().is_some());
            pod.for_each(|pod| keys.add(pod.key()));
        } else if change.after.is_none() {
            // A claim that is gone is created again.
            keys.add_controllers(change, &PODS);
        }
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        let pod = view.get(&PODS, key).filter(|pod| !pod.is_deleting() && !is_terminal(pod));
        let Some(pod) = pod else { return Plan::nothing() };
        templates(pod).fold(Plan::nothing(), |plan, (volume, template)| {
            plan.and(claim(pod, view, volume, template))
        })
    }
}

/// Returns the names of the ephemeral volumes of a pod, and the templates of their claims.
fn templates(pod: &Object) -> impl Iterator<Item = (&str, &Value)> {
    pod.list("/spec/volumes").iter().filter_map(|volume| {
        let template = volume.pointer("/ephemeral/volumeClaimTemplate")?;
        Some((volume.get("name")?.as_str()?, template))
    })
}

/// Creates the claim of a volume, unless it is there.
fn claim(pod: &Arc<Object>, view: &View, volume: &str, template: &Value) -> Plan {
    let name = format!("{}-{volume}", pod.name());
    let key = [pod.namespace(), "/", &name].concat();
    if let Some(known) = view.get(&CLAIMS, &key) {
        if known.controller_uid() == pod.uid() {
            return Plan::nothing();
        }
        let message = format!(
            "ephemeral volume {volume}: PVC {key} was not created for pod {} (pod is not owner)",
            pod.key()
        );
        let event = Event::warning(&PODS, pod, "FailedBinding", message.clone());
        return Plan::nothing().event(event).and(Plan::failure(message));
    }
    let owner = Owner { resource: &PODS, object: pod };
    let mut metadata = json!({"name": name, "ownerReferences": [owner.reference()]});
    for member in ["labels", "annotations"] {
        if let Some(value) = template.get("metadata").and_then(|it| it.get(member)) {
            set(&mut metadata, &[member], value.clone());
        }
    }
    let claim = json!({
        "apiVersion": CLAIMS.api_version(), "kind": CLAIMS.kind, "metadata": metadata,
        "spec": template.get("spec"),
    });
    Plan::nothing().request(Request::create(&CLAIMS, pod.namespace(), &claim))
}
