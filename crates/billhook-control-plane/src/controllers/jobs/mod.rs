//! Jobs run pods until enough have succeeded (CP-60 to CP-67).

mod backoff;
mod decision;
mod ending;
mod failure_policy;
mod finish;
mod indexes;
mod orphans;
mod pods;
mod retries;
mod spec;
mod status;
mod tally;

use std::sync::Arc;
use std::time::Duration;

use self::backoff::Backoffs;
use self::decision::{ending, time_left};
use self::finish::{finish_of, finish_time};
use self::indexes::{Index, Indexes};
pub(crate) use self::orphans::OrphanPods;
use self::pods::{annotate, new_indexed_pod, new_pod, release, surplus};
use self::retries::{Failures, Waiting};
pub(crate) use self::spec::end_of;
use self::spec::{
    TRACKING, completions, index_of, is_indexed, is_managed_elsewhere, is_suspended, is_tracked,
    limit_per_index, parallelism, replaces_only_failed,
};
use self::status::{Counts, Status};
use self::tally::{Progress, Tally};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::object::Object;
use crate::ownership::{Owner, selector_of};
use crate::plan::Plan;
use crate::pod_control::{create_pods, delete_pods, fail};
use crate::pods::{create_pod, is_active};
use crate::request::{Outcome, Request};
use crate::resource::{JOBS, PODS, Resource};
use crate::view::{Change, View};

const NAME: &str = "job-controller";

/// How many pods are created or deleted at once.
const BURST: usize = 500;
/// How long the changes of pods and of statuses are gathered (CP-60).
const BATCH: Duration = Duration::from_secs(1);

/// The controller of Jobs.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    backoffs: Backoffs,
}

impl Controller for Jobs {
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
        let mut gathered = Keys::default();
        if change.is_of(&JOBS) {
            let gone = change.before.as_ref().filter(|_| change.after.is_none());
            gone.into_iter().for_each(|job| self.backoffs.forget(job.uid()));
            let has_new_spec = has_new_spec(change);
            if has_new_spec { &mut *keys } else { &mut gathered }.add_changed(change, &JOBS);
        } else {
            self.record_finish(change, view);
            gathered.add_controllers(change, &JOBS);
            // A pod without a controller may be adopted.
            let orphan = change.after.as_ref().filter(|pod| pod.controller().is_none());
            let jobs = orphan.into_iter().flat_map(|pod| view.list(&JOBS, pod.namespace()));
            let wants = |job: &&Arc<Object>| {
                orphan.is_some_and(|pod| selector_of(job).matches(pod.labels()))
            };
            jobs.filter(wants).for_each(|job| gathered.add(job.key()));
        }
        keys.add_later(gathered, BATCH);
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let Some(job) = view.get(&JOBS, key) else { return Plan::nothing() };
        if end_of(job).is_some() || is_managed_elsewhere(job) {
            return Plan::nothing();
        }
        let owner = Owner { resource: &JOBS, object: job };
        let selector = selector_of(job);
        let claimed = owner.claim_with_finalizers(view, &PODS, &selector, |_| true, &[TRACKING]);
        let backoff = self.backoffs.remaining(job.uid(), now);
        claimed.plan.and(Sync { owner, pods: claimed.objects, backoff, now }.plan())
    }
}

impl Jobs {
    /// Takes down that a pod has ended, once.
    fn record_finish(&self, change: &Change, view: &View) {
        let Some(pod) = change.after.as_ref().filter(|pod| is_tracked(pod)) else { return };
        let job = pod.controller_key(&JOBS).and_then(|key| view.get(&JOBS, &key));
        let Some(job) = job.filter(|job| job.uid() == pod.controller_uid()) else { return };
        let before = change.before.as_ref().and_then(|before| finish_of(before, job));
        if let Some(finish) = finish_of(pod, job).filter(|_| before.is_none()) {
            self.backoffs.record(job.uid(), finish, finish_time(pod).unwrap_or_default());
        }
    }
}

/// A Job and its pods.
struct Sync<'s> {
    owner: Owner<'s>,
    pods: Vec<Arc<Object>>,
    /// How long no pod is created.
    backoff: Duration,
    now: Timestamp,
}

/// The next step about the pods of a Job.
#[derive(Default)]
struct Next {
    /// The rest of the work, and when to look again.
    plan: Plan,
    /// The requests that create pods.
    created: Vec<Request>,
    deleted: Vec<Arc<Object>>,
}

impl Next {
    fn plan(plan: Plan) -> Self {
        Next { plan, ..Next::default() }
    }

    fn delete(pods: Vec<Arc<Object>>) -> Self {
        Next { deleted: pods, ..Next::default() }
    }
}

impl Sync<'_> {
    /// Creates or deletes pods, writes the status, and takes the finalizers of the pods that are in it.
    fn plan(self) -> Plan {
        let job = self.owner.object;
        let mut tally = Tally::read(job, &self.pods);
        let progress = tally.progress(job, &self.pods);
        let ending = ending(job, &self.pods, &progress, self.now);
        let waiting = self.waiting(&progress);
        let released = tally.take_down(job, &self.pods, ending.as_ref(), &waiting);
        let counts = Counts::of(&self.pods);

        let mut status = Status::of(job, self.now);
        status.start();
        let managed = match &ending {
            Some(ending) => {
                status.begin_end(ending);
                let is_over = counts.active + counts.terminating + tally.uncounted() == 0;
                if is_over && job.is_condition_true(ending.begun()) {
                    status.end(ending);
                }
                Next::delete(self.active())
            }
            None if job.is_deleting() => Next::default(),
            None => {
                status.suspend();
                self.manage(&progress, &waiting, counts.terminating)
            }
        };
        let releases = released.iter().map(|pod| release(pod));
        let released = releases.fold(Plan::nothing(), |plan, it| plan.try_request(it, &[404]));
        let end = move |counts: Counts, failed| {
            status.write(&counts, &tally).and(released).and(fail(failed))
        };
        let plan = self.carry_out(managed, counts, end);
        let left = time_left(job, self.now).filter(|left| !left.is_zero());
        left.into_iter().fold(plan, Plan::again_after)
    }

    /// Creates or deletes pods; then follows the end, with the number of pods by then, and the first failure
    /// if there is one.
    fn carry_out(
        &self,
        next: Next,
        counts: Counts,
        end: impl FnOnce(Counts, Option<Outcome>) -> Plan + Send + 'static,
    ) -> Plan {
        let Next { plan, created, deleted } = next;
        plan.and(match deleted.is_empty() {
            true => create_pods(&self.owner, created, move |count, failed| {
                end(counts.with(count), failed)
            }),
            false => delete_pods(&self.owner, deleted, move |deleted, failed| {
                end(counts.without(&deleted), failed)
            }),
        })
    }

    fn active(&self) -> Vec<Arc<Object>> {
        self.pods.iter().filter(|pod| is_active(pod)).cloned().collect()
    }

    fn waiting(&self, progress: &Progress) -> Waiting {
        match (&progress.completed, &progress.failed_indexes) {
            (Some(completed), Some(failed)) => {
                Waiting::of(self.owner.object, &self.pods, [completed, failed])
            }
            _ => Waiting::default(),
        }
    }

    /// Creates or deletes pods until as many are active as are wanted (CP-61).
    fn manage(&self, progress: &Progress, waiting: &Waiting, terminating: usize) -> Next {
        let (job, active) = (self.owner.object, self.active());
        if is_suspended(job) {
            return self.remove(active);
        }
        let wanted = self.wanted(progress, active.len());
        let mut surplus = surplus(job, &active, active.len().saturating_sub(wanted));
        if !surplus.is_empty() {
            surplus.truncate(BURST);
            return self.remove(surplus);
        }
        let terminating = if replaces_only_failed(job) { terminating } else { 0 };
        let missing = wanted.saturating_sub(active.len() + terminating).min(BURST);
        if missing > 0 && limit_per_index(job).is_none() && !self.backoff.is_zero() {
            return Next::plan(Plan::nothing().again_after(self.backoff));
        }
        match is_indexed(job) {
            true => self.missing_pods(progress, waiting, missing),
            false => {
                let request = create_pod(&self.owner, &new_pod(&self.owner));
                Next { created: vec![request; missing], ..Next::default() }
            }
        }
    }

    /// Returns how many pods are to be active.
    fn wanted(&self, progress: &Progress, active: usize) -> usize {
        let job = self.owner.object;
        let Some(completions) = completions(job) else {
            return if progress.succeeded > 0 { active } else { parallelism(job) };
        };
        let failed = progress.failed_indexes.as_ref().map_or(0, Indexes::count);
        completions.saturating_sub(progress.succeeded.saturating_add(failed)).min(parallelism(job))
    }

    /// Returns pods for the lowest indexes that are missing, except those that have failed just now.
    fn missing_pods(&self, progress: &Progress, waiting: &Waiting, count: usize) -> Next {
        let job = self.owner.object;
        let mut next = Next::default();
        for index in self.missing_indexes(progress, count) {
            let remaining = waiting.remaining(index, self.now);
            if !remaining.is_zero() {
                next.plan = std::mem::take(&mut next.plan).again_after(remaining);
                continue;
            }
            let mut pod = new_indexed_pod(&self.owner, index);
            if limit_per_index(job).is_some() {
                let failed = waiting.get(index).map(|failed| Failures::with(failed, job));
                annotate(&mut pod, failed.unwrap_or_default());
            }
            next.created.push(create_pod(&self.owner, &pod));
        }
        next
    }

    fn missing_indexes(&self, progress: &Progress, count: usize) -> Vec<Index> {
        let job = self.owner.object;
        let is_there = |pod: &&Arc<Object>| {
            is_active(pod) || (replaces_only_failed(job) && finish_of(pod, job).is_none())
        };
        let there = self.pods.iter().filter(is_there);
        let mut taken = progress.completed.clone().unwrap_or_default();
        taken.extend(there.filter_map(|pod| index_of(pod, job)));
        let missing = taken.first_missing(completions(job).unwrap_or_default());
        let failed = progress.failed_indexes.as_ref();
        missing
            .filter(|index| failed.is_none_or(|failed| !failed.contains(*index)))
            .take(count)
            .collect()
    }

    /// Deletes active pods, which do not count as failed.
    fn remove(&self, pods: Vec<Arc<Object>>) -> Next {
        let tracked = pods.iter().filter(|pod| is_tracked(pod));
        let plan =
            tracked.fold(Plan::nothing(), |plan, pod| plan.try_request(release(pod), &[404]));
        Next { plan, ..Next::delete(pods) }
    }
}

/// Returns whether a Job is new or gone, or its spec has changed.
fn has_new_spec(change: &Change) -> bool {
    let generation = |job: &Option<Arc<Object>>| job.as_ref()?.int("/metadata/generation");
    generation(&change.before) != generation(&change.after)
}
