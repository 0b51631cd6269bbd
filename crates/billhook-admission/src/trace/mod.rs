//! The trace of a request: its steps, the changes made by each of them, and the log that collects
//! them.

mod difference;
mod log;
mod step;

pub use difference::{FieldDifference, differences};
pub(crate) use log::RequestLog;
pub use log::{IdempotenceFinding, Mutator, RequestOutcome};
pub use step::{Action, HookResult, Step};
