//! The admission chain: plugins and webhooks, mutating and validating. A [`Chain`] is data; a
//! [`Run`] takes one request through it.

mod builder;
mod call;
mod context;
mod failure;
mod idempotence;
mod matching;
mod mutating;
mod plugin;
mod policies;
mod reinvocation;
mod run;
mod status;
mod validating;

pub use builder::Chain;
pub use plugin::{Plugin, PluginRequest};
pub use run::ChainOutcome;
pub(crate) use run::Run;
