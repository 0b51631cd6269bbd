//! Pods that no Job counts any more lose their finalizers (CP-63).

use std::sync::Arc;

use super::pods::release;
use super::spec::{end_of, is_managed_elsewhere, is_tracked};
use super::{JOBS, NAME, PODS};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::plan::Plan;
use crate::resource::Resource;
use crate::view::{Change, View};

/// The part of the controller of Jobs that lets orphans go.
#[derive(Debug)]
pub(crate) struct OrphanPods;

impl Controller for OrphanPods {
    fn name(&self) -> &'static str {
        NAME
    }

    fn account(&self) -> Account {
        Account::of_controller(NAME)
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&JOBS, &PODS]
    }

    fn concerns(&self, change: &Change, view: &View, keys: &mut Keys) {
        let is_of_pod = change.is_of(&PODS);
        let pod = change.after.iter().filter(|pod| is_of_pod && is_tracked(pod));
        pod.for_each(|pod| keys.add(pod.key()));
        // The pods of a Job that has ended or is gone.
        let is_left = change.after.as_ref().is_none_or(|job| end_of(job).is_some());
        let job = change.object().filter(|_| !is_of_pod && is_left);
        let pods = job.into_iter().flat_map(|job| view.controlled(&PODS, job.uid()));
        pods.filter(|pod| is_tracked(pod)).for_each(|pod| keys.add(pod.key()));
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        match view.get(&PODS, key).filter(|pod| is_tracked(pod) && is_orphan(pod, view)) {
            Some(pod) => Plan::nothing().try_request(release(pod), &[404]),
            None => Plan::nothing(),
        }
    }
}

/// Returns whether the Job of a pod is gone, or has ended.
fn is_orphan(pod: &Arc<Object>, view: &View) -> bool {
    let job = pod.controller_key(&JOBS).and_then(|key| view.get(&JOBS, &key));
    let job = job.filter(|job| job.uid() == pod.controller_uid());
    job.is_none_or(|job| end_of(job).is_some() && !is_managed_elsewhere(job))
}
