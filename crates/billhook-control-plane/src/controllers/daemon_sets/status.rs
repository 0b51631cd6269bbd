//! The status of a DaemonSet (CP-59).

use serde_json::{Map, Value};

use super::Sync;
use super::nodes::{Fit, is_updated};
use crate::controllers::revisions::write_status;
use crate::plan::Plan;
use crate::pods::is_ready;
use crate::resource::DAEMON_SETS;

impl Sync<'_> {
    /// Writes the status, if it differs from what the set has.
    pub(super) fn write_status(&self) -> Plan {
        let set = self.owner.object;
        let (mut desired, mut current, mut misscheduled) = (0_usize, 0_usize, 0_usize);
        let (mut ready, mut available, mut updated) = (0_usize, 0_usize, 0_usize);
        for (node, fit) in &self.fits {
            let oldest = self.pods.get(*node).and_then(|pods| pods.first());
            if *fit != Fit::Run {
                misscheduled += usize::from(oldest.is_some());
                continue;
            }
            desired += 1;
            let Some(pod) = oldest else { continue };
            current += 1;
            ready += usize::from(is_ready(pod));
            available += usize::from(self.is_available(pod));
            updated += usize::from(is_updated(set, pod, &self.hash));
        }
        let mut status = Map::new();
        let always = [
            ("currentNumberScheduled", current),
            ("numberMisscheduled", misscheduled),
            ("desiredNumberScheduled", desired),
            ("numberReady", ready),
        ];
        let if_any = [
            ("updatedNumberScheduled", updated),
            ("numberAvailable", available),
            ("numberUnavailable", desired.saturating_sub(available)),
        ];
        let if_any = if_any.into_iter().filter(|(_, count)| *count > 0);
        for (name, count) in always.into_iter().chain(if_any) {
            status.insert(name.to_owned(), count.into());
        }
        status.insert("observedGeneration".to_owned(), set.get("/metadata/generation").clone());
        if let collisions @ Value::Number(_) = set.get("/status/collisionCount") {
            status.insert("collisionCount".to_owned(), collisions.clone());
        }
        write_status(&DAEMON_SETS, set, status)
    }
}
