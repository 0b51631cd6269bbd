//! Evaluation. A checked expression is planned once: names are resolved, literals and conversions
//! of literals become constants, selections become chains. The plan is then run any number of
//! times, counting what it costs (CE-35).

mod call;
mod call_cost;
mod chain;
mod entries;
mod fold;
mod machine;
mod node;
mod overloads;
mod plan;
mod recorder;
mod select;
mod watch;

pub use machine::Evaluation;
pub(crate) use machine::run;
pub(crate) use node::Plan;
pub(crate) use plan::{plan, watched_plan};
pub(crate) use recorder::Recorder;
pub(crate) use watch::Watches;
