//! The admission chain: plugins and webhooks, mutating and validating.

mod builder;
mod call;
mod conditions;
mod failure;
mod idempotence;
mod mutating;
mod plugin;
mod run;
mod status;
mod validating;

pub use builder::{Chain, ChainOutcome};
pub use idempotence::IdempotenceFinding;
pub use plugin::{Plugin, PluginRequest};
pub(crate) use run::Passage;
pub(crate) use {call::Call, failure::Failure};
