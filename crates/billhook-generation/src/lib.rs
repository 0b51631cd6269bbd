#![doc = include_str!("../README.md")]
//!
//! Everything is in a fixed order: the same schema makes the same objects. Searches end after a
//! number of tries.

mod change;
mod changes;
mod coverage;
mod hints;
mod oracle;
mod pattern;
mod place;
mod queue;
mod repair;
mod sample;
mod violation;

pub use changes::{FIXED, MAX_DEPTH, changes, near, numbered, weight};
pub use coverage::Covering;
pub use hints::Hints;
pub use oracle::{Judged, Oracle, RulePlace};
pub use pattern::sample_of as text_of_pattern;
pub use place::{find, parent, replaced, schema_at, set_metadata};
pub use sample::{MAX_SAMPLE_BYTES, sample, sample_object};
pub use violation::{Fit, Violation};
