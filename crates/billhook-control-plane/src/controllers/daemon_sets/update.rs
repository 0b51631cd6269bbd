//! How pods are brought to a new template (CP-59).

use std::sync::Arc;

use super::nodes::{Fit, is_updated};
use super::{Sync, Work};
use crate::controllers::deployments::scaled;
use crate::object::Object;
use crate::pods::is_available;

/// How many nodes may be without an available pod, and how many may have two.
struct Limits {
    unavailable: usize,
    surge: usize,
}

/// The new and the old pod of a node.
type NewAndOld<'p> = (Option<&'p Arc<Object>>, Option<&'p Arc<Object>>);

impl Sync<'_> {
    fn limits(&self) -> Limits {
        let desired = self.fits.iter().filter(|(_, fit)| *fit == Fit::Run).count();
        let desired = i64::try_from(desired).unwrap_or(i64::MAX);
        let part = |name: &str| {
            let path = format!("/spec/updateStrategy/rollingUpdate/{name}");
            usize::try_from(scaled(self.owner.object.get(&path), desired, true)).unwrap_or_default()
        };
        match (part("maxUnavailable"), part("maxSurge")) {
            (0, 0) => Limits { unavailable: 1, surge: 0 },
            (unavailable, surge) => Limits { unavailable, surge },
        }
    }

    /// Whether a new pod may be beside an old one.
    pub(super) fn surges(&self) -> bool {
        self.is_rolling() && self.limits().surge > 0
    }

    pub(super) fn is_rolling(&self) -> bool {
        self.owner.object.text("/spec/updateStrategy/type") == "RollingUpdate"
    }

    /// Returns the next step of an update.
    pub(super) fn roll(&self) -> Work {
        let limits = self.limits();
        match limits.surge {
            0 => self.replace(limits.unavailable),
            surge => self.surge(surge),
        }
    }

    /// Deletes old pods: unavailable ones at once, the others as far as so many nodes may be without an
    /// available pod.
    fn replace(&self, limit: usize) -> Work {
        let (mut unavailable, mut work, mut candidates) = (0, Work::default(), Vec::new());
        for pods in self.pods.values() {
            match self.new_and_old(pods) {
                Some((Some(new), None)) => unavailable += usize::from(!self.is_available(new)),
                Some((None, Some(old))) if self.is_available(old) => candidates.push(old),
                Some((None, Some(old))) => {
                    unavailable += 1;
                    work.delete.push(Arc::clone(old));
                }
                _ => unavailable += 1,
            }
        }
        let left = limit.saturating_sub(unavailable);
        work.delete.extend(candidates.into_iter().take(left).cloned());
        work
    }

    /// Creates new pods beside old ones: beside unavailable ones at once, beside the others as far as so
    /// many nodes may have two. An old pod goes when the new one is available.
    fn surge(&self, limit: usize) -> Work {
        let (mut surging, mut work, mut candidates) = (0, Work::default(), Vec::new());
        for (node, pods) in &self.pods {
            match self.new_and_old(pods) {
                None => surging += 1,
                Some((_, None)) => {}
                Some((None, Some(old))) if self.is_available(old) => candidates.push(node.clone()),
                Some((None, Some(_))) => {
                    surging += 1;
                    work.create.push(node.clone());
                }
                Some((Some(new), Some(old))) if self.is_available(new) => {
                    work.delete.push(Arc::clone(old));
                }
                Some((Some(_), Some(_))) => surging += 1,
            }
        }
        let left = limit.saturating_sub(surging);
        work.create.extend(candidates.into_iter().take(left));
        work
    }

    /// Returns the new and the old one of the pods of a node that are not being deleted; `None` if there
    /// are two of a kind.
    fn new_and_old<'p>(&self, pods: &'p [Arc<Object>]) -> Option<NewAndOld<'p>> {
        let (mut new, mut old) = (None, None);
        for pod in pods.iter().filter(|pod| !pod.is_deleting()) {
            let is_new = is_updated(self.owner.object, pod, &self.hash);
            let place = if is_new { &mut new } else { &mut old };
            if place.replace(pod).is_some() {
                return None;
            }
        }
        Some((new, old))
    }

    pub(super) fn is_available(&self, pod: &Object) -> bool {
        is_available(pod, self.min_ready_seconds(), self.now)
    }
}
