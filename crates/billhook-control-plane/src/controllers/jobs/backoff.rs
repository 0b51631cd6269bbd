//! How long no pod is created after failures (CP-62).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::finish::Finish;
use crate::clock::Timestamp;

/// The delay after the first failure, which doubles with each one, and its end.
const FIRST: Duration = Duration::from_secs(10);
const LAST: Duration = Duration::from_secs(600);

/// Returns how long no pod is created after so many failures.
pub(super) fn delay(failures: u32) -> Duration {
    let Some(doubled) = failures.checked_sub(1) else { return Duration::ZERO };
    FIRST.saturating_mul(2_u32.saturating_pow(doubled)).min(LAST)
}

/// The failures of Jobs since their last successes, by the UIDs of the Jobs. No object tells them: pods
/// that failed may be gone.
#[derive(Debug, Default)]
pub(super) struct Backoffs {
    of_jobs: Mutex<BTreeMap<String, Failures>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Failures {
    count: u32,
    last: Timestamp,
    last_success: Option<Timestamp>,
}

impl Backoffs {
    /// Takes down that a pod has ended.
    pub(super) fn record(&self, job: &str, finish: Finish, at: Timestamp) {
        let mut jobs = self.of_jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = jobs.entry(job.to_owned()).or_default();
        match finish {
            Finish::Succeeded => {
                failures.last_success = failures.last_success.max(Some(at));
                if failures.last <= at {
                    failures.count = 0;
                }
            }
            Finish::Failed if failures.last_success.is_none_or(|success| success < at) => {
                failures.count = failures.count.saturating_add(1);
                failures.last = failures.last.max(at);
            }
            Finish::Failed => {}
        }
    }

    /// Forgets a Job that is gone.
    pub(super) fn forget(&self, job: &str) {
        self.of_jobs.lock().unwrap_or_else(PoisonError::into_inner).remove(job);
    }

    /// Returns how long no pod of a Job is created.
    pub(super) fn remaining(&self, job: &str, now: Timestamp) -> Duration {
        let jobs = self.of_jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = jobs.get(job).copied().unwrap_or_default();
        failures.last.plus(delay(failures.count)).since(now)
    }
}
