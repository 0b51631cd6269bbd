//! Which Jobs that have ended are kept (CP-69).

use std::sync::Arc;

use crate::object::Object;

/// Returns the Jobs that are too many, the oldest ones.
pub(super) fn surplus<'j>(cron_job: &Object, jobs: &'j [Arc<Object>]) -> Vec<&'j Arc<Object>> {
    let limits = [("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")];
    let of_limit = |(end, limit): (&str, &str)| {
        let limit = usize::try_from(cron_job.int(&format!("/spec/{limit}"))?).unwrap_or_default();
        let ended = jobs.iter().filter(|job| job.is_condition_true(end) && !job.is_deleting());
        let mut ended: Vec<_> = ended.collect();
        ended.sort_by_key(|job| (job.time("/status/startTime"), job.name()));
        ended.truncate(ended.len().saturating_sub(limit));
        Some(ended)
    };
    limits.into_iter().filter_map(of_limit).flatten().collect()
}
