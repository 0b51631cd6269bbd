//! Watching requests: observers, metrics, and spans and log events.

#[cfg(feature = "metrics")]
pub mod metrics;
mod observer;
mod telemetry;

pub use observer::{
    CallEnd, CallOutcome, CallStart, ConditionsEnd, ConversionEnd, ConversionOutcome, Observer,
    StepEnd,
};
pub(crate) use telemetry::{
    CallSpan, ConversionSpan, call_ended, conditions_failed, request_ended,
};
