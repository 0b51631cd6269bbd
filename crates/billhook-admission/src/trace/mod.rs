//! The steps of a request, and what each of them changed.

mod difference;
mod step;

pub use difference::Difference;
pub(crate) use difference::differences;
pub(crate) use step::Record;
pub use step::{Action, HookResult, Step};
