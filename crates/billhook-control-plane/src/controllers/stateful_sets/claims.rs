//! The claims of pods, and how long they are kept (CP-50, CP-57).

use serde_json::{Value, json};

use super::identity::{Ordinal, pod_name};
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::ownership::Owner;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CLAIMS, PODS, STATEFUL_SETS};
use crate::view::View;

fn template_names(stateful_set: &Object) -> impl Iterator<Item = (&str, &Value)> {
    let templates = stateful_set.list("/spec/volumeClaimTemplates").iter();
    templates.filter_map(|template| Some((template.pointer("/metadata/name")?.as_str()?, template)))
}

fn claim_name(stateful_set: &Object, template: &str, ordinal: Ordinal) -> String {
    format!("{template}-{}", pod_name(stateful_set, ordinal))
}

/// Returns the volumes of a pod: its claims take the place of those of the same names.
pub(super) fn volumes(stateful_set: &Object, ordinal: Ordinal, own: &[Value]) -> Vec<Value> {
    let of_claim = |(template, _): (&str, _)| {
        let claim = claim_name(stateful_set, template, ordinal);
        json!({"name": template, "persistentVolumeClaim": {"claimName": claim}})
    };
    let mut volumes: Vec<Value> = template_names(stateful_set).map(of_claim).collect();
    let is_claimed = |volume: &Value| {
        template_names(stateful_set)
            .any(|(name, _)| volume.get("name").is_some_and(|it| it == name))
    };
    volumes.extend(own.iter().filter(|volume| !is_claimed(volume)).cloned());
    volumes
}

/// The claims of the pod of an ordinal.
pub(super) struct Claims<'s> {
    pub(super) owner: Owner<'s>,
    pub(super) view: &'s View,
    pub(super) ordinal: Ordinal,
    /// The pod, if it is there.
    pub(super) pod: Option<&'s Object>,
    /// Whether the pod is one too many.
    pub(super) is_surplus: bool,
}

impl Claims<'_> {
    fn set(&self) -> &Object {
        self.owner.object
    }

    fn keys(&self) -> impl Iterator<Item = (String, &Value)> {
        let stateful_set = self.set();
        template_names(stateful_set).map(|(name, template)| {
            let name = claim_name(stateful_set, name, self.ordinal);
            ([stateful_set.namespace(), "/", &name].concat(), template)
        })
    }

    /// Creates the claims that are missing.
    pub(super) fn create(&self) -> Plan {
        self.keys().fold(Plan::nothing(), |plan, (key, template)| {
            plan.and(match self.view.get(&CLAIMS, &key) {
                Some(claim) if claim.is_deleting() => {
                    Plan::failure(format!("{key} is being deleted"))
                }
                Some(claim) if self.is_stale(claim) => {
                    Plan::failure(format!("{key} is to be deleted with a pod that is gone"))
                }
                Some(_) => Plan::nothing(),
                None => self.create_one(&key, template),
            })
        })
    }

    /// Returns whether a claim is one of an earlier pod, which it is to follow.
    fn is_stale(&self, claim: &Object) -> bool {
        let name = pod_name(self.set(), self.ordinal);
        let uid = self.pod.map(Object::uid);
        claim.list("/metadata/ownerReferences").iter().any(|owner| {
            let text = |name: &str| owner.get(name).and_then(Value::as_str);
            text("kind") == Some("Pod") && text("name") == Some(&*name) && text("uid") != uid
        })
    }

    fn create_one(&self, key: &str, template: &Value) -> Plan {
        let (stateful_set, pod) = (self.owner.object, pod_name(self.set(), self.ordinal));
        let name = key.rsplit('/').next().unwrap_or_default().to_owned();
        let mut labels = template.pointer("/metadata/labels").cloned().unwrap_or_else(|| json!({}));
        let selected = stateful_set.get("/spec/selector/matchLabels").as_object();
        for (label, value) in selected.into_iter().flatten() {
            set(&mut labels, &[label], value.clone());
        }
        let mut metadata = json!({"name": name, "labels": labels});
        if let Some(annotations) = template.pointer("/metadata/annotations") {
            set(&mut metadata, &["annotations"], annotations.clone());
        }
        if self.wants_set() {
            set(&mut metadata, &["ownerReferences"], json!([self.owner.reference()]));
        }
        let claim = json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata,
            "spec": template.get("spec"),
        });
        let create = Request::create(&CLAIMS, stateful_set.namespace(), &claim);
        let stateful_set = std::sync::Arc::clone(stateful_set);
        Plan::nothing().then(vec![create], move |outcomes| {
            let Some(outcome) = outcomes.first() else { return Plan::nothing() };
            let about = format!("Claim {name} Pod {pod} in StatefulSet {}", stateful_set.name());
            match outcome.failure() {
                None => Plan::nothing().event(Event::normal(
                    &STATEFUL_SETS,
                    &stateful_set,
                    "SuccessfulCreate",
                    format!("Create {about} success"),
                )),
                Some(_) if outcome.is_of_terminating_namespace() => Plan::nothing(),
                Some(failure) => {
                    let text = format!("Create {about} failed error: {}", failure.message);
                    let event = Event::warning(&STATEFUL_SETS, &stateful_set, "FailedCreate", text);
                    Plan::nothing().event(event).and(Plan::failure(failure.message))
                }
            }
        })
    }

    fn policy(&self, when: &str) -> bool {
        let policy = self.set().get("/spec/persistentVolumeClaimRetentionPolicy");
        policy.get(when).is_some_and(|policy| policy == "Delete")
    }

    /// Whether the claims go with the pod.
    fn wants_pod(&self) -> bool {
        self.is_surplus && self.policy("whenScaled")
    }

    /// Whether the claims go with the set.
    fn wants_set(&self) -> bool {
        self.policy("whenDeleted") && !self.wants_pod()
    }

    /// Brings the owners of the claims up to date, as long as the pod is there.
    pub(super) fn keep(&self) -> Plan {
        let Some(pod) = self.pod else { return Plan::nothing() };
        let claims = self.keys().filter_map(|(key, _)| self.view.get(&CLAIMS, &key));
        claims.fold(Plan::nothing(), |plan, claim| plan.and(self.keep_one(claim, pod)))
    }

    fn keep_one(&self, claim: &Object, pod: &Object) -> Plan {
        let ours = [self.set().uid(), pod.uid()];
        let owners = claim.list("/metadata/ownerReferences").iter();
        let uid =
            |owner: &Value| owner.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned();
        let others = owners.filter(|owner| !ours.contains(&&*uid(owner)));
        let mut wanted: Vec<Value> = others.cloned().collect();
        let is_controlled =
            wanted.iter().any(|owner| owner.get("controller") == Some(&json!(true)));
        if is_controlled && (self.policy("whenDeleted") || self.policy("whenScaled")) {
            let message = format!(
                "PersistentVolumeClaim {} has a conflicting OwnerReference that acts as a managing \
                 controller, the retention policy is ignored for this claim",
                claim.name()
            );
            let reason = "ConflictingController";
            return Plan::nothing().event(Event::warning(&CLAIMS, claim, reason, message));
        }
        if self.wants_set() {
            wanted.push(self.owner.reference());
        }
        if self.wants_pod() {
            wanted.push(json!({
                "apiVersion": PODS.api_version(), "kind": PODS.kind, "name": pod.name(),
                "uid": pod.uid(), "controller": true, "blockOwnerDeletion": true,
            }));
        }
        if wanted == claim.list("/metadata/ownerReferences") {
            return Plan::nothing();
        }
        let mut changed = claim.copy();
        set(&mut changed, &["metadata", "ownerReferences"], wanted.into());
        Plan::nothing().request(Request::update(&CLAIMS, claim.key(), &changed))
    }
}
