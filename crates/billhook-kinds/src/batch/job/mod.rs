//! Jobs (BK-305).

mod behavior;
mod generated_selector;
mod indexes;
mod policies;
mod spec;
mod status;
mod template;
mod update;

pub(super) use self::behavior::Job;
pub(super) use self::spec::{JobSpec, validate as validate_spec};
