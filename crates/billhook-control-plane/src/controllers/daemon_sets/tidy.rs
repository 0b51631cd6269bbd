//! One pod on each node that fits, and none elsewhere (CP-58).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::nodes::{Fit, is_updated};
use super::{Sync, Work};
use crate::event::Event;
use crate::object::Object;
use crate::pods::is_ready;
use crate::resource::{DAEMON_SETS, Resource};

impl Sync<'_> {
    /// Returns what is to be done so that each node that fits has one pod.
    pub(super) fn manage(&self) -> Work {
        let mut work = Work::default();
        for (node, fit) in &self.fits {
            let pods = self.pods.get(*node).map(Vec::as_slice).unwrap_or_default();
            match fit {
                Fit::Run if pods.is_empty() => work.create.push((*node).to_owned()),
                Fit::Run | Fit::Keep => self.tidy(node, pods, &mut work),
                Fit::None => work.delete.extend(not_deleting(pods)),
            }
        }
        // The pods that were not bound to nodes before these were gone.
        let nodes: BTreeSet<&str> = self.fits.iter().map(|(node, _)| *node).collect();
        let lost = self.pods.iter().filter(|(node, _)| !nodes.contains(node.as_str()));
        let lost = lost.flat_map(|(_, pods)| not_deleting(pods));
        work.delete.extend(lost.filter(|pod| pod.text("/spec/nodeName").is_empty()));
        work
    }

    /// Deletes pods of a node that are done, and those that are too many.
    fn tidy(&self, node: &str, pods: &[Arc<Object>], work: &mut Work) {
        let mut running = Vec::new();
        for pod in not_deleting(pods) {
            match pod.text("/status/phase") {
                "Failed" => self.delete_failed(node, pod, work),
                "Succeeded" => self.delete_succeeded(node, pod, work),
                _ => running.push(pod),
            }
        }
        if !self.surges() {
            work.delete.extend(running.into_iter().skip(1));
            return;
        }
        let is_new = |pod: &Arc<Object>| is_updated(self.owner.object, pod, &self.hash);
        let (new, old): (Vec<_>, Vec<_>) = running.into_iter().partition(is_new);
        if let (Some(new), Some(old)) = (new.first(), old.first())
            && (!is_ready(old) || self.is_available(new))
        {
            work.delete.push(Arc::clone(old));
        }
        work.delete.extend(new.into_iter().skip(1).chain(old.into_iter().skip(1)));
    }

    fn delete_succeeded(&self, node: &str, pod: Arc<Object>, work: &mut Work) {
        let place = pod.key();
        let message =
            format!("Found succeeded daemon pod {place} on node {node}, will try to delete it");
        self.tell(Event::normal, "SucceededDaemonPod", message, work);
        work.delete.push(pod);
    }

    fn delete_failed(&self, node: &str, pod: Arc<Object>, work: &mut Work) {
        let wait = self.backoffs.wait(self.owner.object.uid(), node, self.now);
        if !wait.is_zero() {
            work.plan = std::mem::take(&mut work.plan).again_after(wait);
            return;
        }
        let place = pod.key();
        let message =
            format!("Found failed daemon pod {place} on node {node}, will try to kill it");
        self.tell(Event::warning, "FailedDaemonPod", message, work);
        work.delete.push(pod);
    }

    fn tell(
        &self,
        event: fn(&Resource, &Object, &str, String) -> Event,
        reason: &str,
        message: String,
        work: &mut Work,
    ) {
        let event = event(&DAEMON_SETS, self.owner.object, reason, message);
        work.plan = std::mem::take(&mut work.plan).event(event);
    }
}

fn not_deleting(pods: &[Arc<Object>]) -> impl Iterator<Item = Arc<Object>> {
    pods.iter().filter(|pod| !pod.is_deleting()).cloned()
}
