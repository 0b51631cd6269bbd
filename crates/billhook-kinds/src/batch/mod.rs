//! The group `batch`.

mod cron_job;
mod job;

use self::cron_job::CronJob;
use self::job::Job;
use crate::behavior::{Behavior, Plain};

/// Returns the rules of a kind of the group.
pub(crate) fn behavior_of(kind: &str) -> &'static dyn Behavior {
    match kind {
        "CronJob" => &CronJob,
        "Job" => &Job,
        _ => &Plain,
    }
}
