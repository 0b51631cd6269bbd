//! The simulated provisioner: volumes for claims of any class (CP-77), larger ones for claims that have
//! grown, and the end of volumes whose claims are gone (CP-78).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::binding::write_status;
use super::matching::{class, quantity};
use super::phases::claim_key;
use super::{BIND_COMPLETED, PROVISIONED_BY, STORAGE_PROVISIONERS};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CLAIMS, Resource, STORAGE_CLASSES, VOLUMES};
use crate::view::{Change, View};

/// The fate of a claim that waits for a volume (CP-77).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Provision {
    /// It gets its volume at once.
    #[default]
    AtOnce,
    /// It gets its volume so long after it was created.
    After(Duration),
    /// It gets none.
    Never,
    /// It gets none, and an event says why, again and again.
    Fail(String),
}

/// Returns the fate of a claim.
type Decide = dyn Fn(&Object) -> Provision + Send + Sync;

/// Makes volumes for claims, in the place of the drivers of a cluster.
pub struct Provisioner {
    decide: Box<Decide>,
}

impl fmt::Debug for Provisioner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provisioner").finish_non_exhaustive()
    }
}

impl Default for Provisioner {
    fn default() -> Self {
        Provisioner::by(|_| Provision::AtOnce)
    }
}

impl Provisioner {
    /// Makes volumes as a function decides about each claim.
    pub fn by(decide: impl Fn(&Object) -> Provision + Send + Sync + 'static) -> Self {
        Provisioner { decide: Box::new(decide) }
    }
}

impl Controller for Provisioner {
    fn name(&self) -> &'static str {
        "external-provisioner"
    }

    fn account(&self) -> Account {
        Account::of_controller("persistent-volume-binder")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&CLAIMS, &VOLUMES]
    }

    /// Keys are those of claims; a volume concerns the claim that it was made for.
    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        if keys.add_changed(change, &CLAIMS) {
            return;
        }
        let volume = change.after.as_ref().filter(|it| it.annotation(PROVISIONED_BY).is_some());
        volume.into_iter().for_each(|volume| keys.add(&claim_key(volume).into()));
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let is_of_claim = |volume: &&Arc<Object>| {
            volume.annotation(PROVISIONED_BY).is_some() && claim_key(volume) == key
        };
        let released = view.all(&VOLUMES).filter(is_of_claim).filter(|volume| is_to_go(volume));
        let plan = released.fold(Plan::nothing(), |plan, volume| {
            plan.try_request(Request::delete_seen(&VOLUMES, volume), &[404])
        });
        let Some(claim) = view.get(&CLAIMS, key).filter(|claim| !claim.is_deleting()) else {
            return plan;
        };
        match claim.annotation(BIND_COMPLETED) {
            Some(_) => plan.and(grow(claim, view)),
            None => plan.and(self.provision(claim, view, now)),
        }
    }
}

impl Provisioner {
    /// Makes the volume that a claim waits for, if it is to have one now.
    fn provision(&self, claim: &Arc<Object>, view: &View, now: Timestamp) -> Plan {
        let Some(wanted) = Wanted::by(claim, view) else { return Plan::nothing() };
        let left = match (self.decide)(claim) {
            Provision::AtOnce => Duration::ZERO,
            Provision::After(delay) => {
                let created = claim.time("/metadata/creationTimestamp").unwrap_or(now);
                created.plus(delay).since(now)
            }
            Provision::Never => return Plan::nothing(),
            Provision::Fail(why) => return wanted.fail(why),
        };
        if left.is_zero() { wanted.make() } else { Plan::nothing().again_after(left) }
    }
}

fn is_to_go(volume: &Object) -> bool {
    volume.text("/status/phase") == "Released"
        && volume.text("/spec/persistentVolumeReclaimPolicy") == "Delete"
        && !volume.is_deleting()
}

/// A volume that a claim waits for.
struct Wanted<'v> {
    claim: &'v Arc<Object>,
    class: &'v Object,
    provisioner: &'v str,
    name: String,
}

impl<'v> Wanted<'v> {
    /// Returns the volume that a claim waits for, if it does.
    fn by(claim: &'v Arc<Object>, view: &'v View) -> Option<Self> {
        let mut provisioners = STORAGE_PROVISIONERS.iter();
        let provisioner = provisioners.find_map(|name| claim.annotation(name))?;
        let class = view.get(&STORAGE_CLASSES, class(claim))?;
        let name = format!("pvc-{}", claim.uid());
        let is_there = view.get(&VOLUMES, &name).is_some();
        let waits = !is_there && claim.text("/spec/volumeName").is_empty();
        waits.then_some(Wanted { claim, class, provisioner, name })
    }

    /// Says that it cannot be made.
    fn fail(&self, why: String) -> Plan {
        let class = self.class.name();
        let message = format!("failed to provision volume with StorageClass \"{class}\": {why}");
        let event = Event::warning(&CLAIMS, self.claim, "ProvisioningFailed", message);
        Plan::nothing().event(event).and(Plan::failure(why))
    }

    /// Makes it.
    fn make(&self) -> Plan {
        let Wanted { claim, class, provisioner, name } = self;
        let reclaim = match class.text("/reclaimPolicy") {
            "" => "Delete",
            policy => policy,
        };
        let volume = json!({
            "apiVersion": VOLUMES.api_version(), "kind": VOLUMES.kind,
            "metadata": {"name": name, "annotations": {PROVISIONED_BY: provisioner}},
            "spec": {
                "accessModes": claim.get("/spec/accessModes"),
                "capacity": {"storage": claim.get("/spec/resources/requests/storage")},
                "claimRef": {
                    "apiVersion": CLAIMS.api_version(), "kind": CLAIMS.kind,
                    "namespace": claim.namespace(), "name": claim.name(), "uid": claim.uid(),
                    "resourceVersion": claim.revision().to_string(),
                },
                // Names of drivers have no slash.
                "csi": {"driver": provisioner.replace('/', "."), "volumeHandle": name},
                "persistentVolumeReclaimPolicy": reclaim,
                "storageClassName": class.name(),
                "volumeMode": claim.get("/spec/volumeMode"),
            },
        });
        let message = format!("Successfully provisioned volume {name}");
        let event = Event::normal(&CLAIMS, claim, "ProvisioningSucceeded", message);
        Plan::nothing().request(Request::create(&VOLUMES, "", &volume)).event(event)
    }
}

/// Makes the volume of a claim that wants more as large as that, if its class allows it.
fn grow(claim: &Object, view: &View) -> Plan {
    let wanted = claim.get("/spec/resources/requests/storage");
    let volume = view.get(&VOLUMES, claim.text("/spec/volumeName"));
    let class = view.get(&STORAGE_CLASSES, class(claim));
    let (Some(volume), Some(class)) = (volume, class) else { return Plan::nothing() };
    let has = quantity(claim.get("/status/capacity/storage"));
    let is_larger = quantity(wanted).zip(has).is_some_and(|(wanted, has)| wanted > has);
    if !is_larger || class.get("/allowVolumeExpansion").as_bool() != Some(true) {
        return Plan::nothing();
    }
    let mut larger = volume.copy();
    set(&mut larger, &["spec", "capacity", "storage"], wanted.clone());
    let mut status = claim.get("/status").clone();
    set(&mut status, &["capacity", "storage"], wanted.clone());
    let plan = Plan::nothing().request(Request::update(&VOLUMES, volume.key(), &larger));
    write_status(claim, status).into_iter().fold(plan, Plan::request)
}
