//! Jobs (BK-305).

mod behavior;
mod generated_selector;
mod indexes;
mod job_spec;
mod policies;
mod spec;
mod status;
mod update;

pub(super) use self::behavior::Job;
pub(super) use self::job_spec::JobSpec;
pub(super) use self::spec::validate as validate_spec;
