#![doc = include_str!("../README.md")]
//!
//! [`compare`] answers the [questions](Question) about each version of two definitions. A proof
//! covers all objects; a witness was run through both definitions; where there is neither, the
//! answer is [`Verdict::Undecided`], with what stopped it. [`limits`] bound both searches.
//!
//! # Not here
//!
//! Conversion webhooks: what they do is not in the definition.

mod answer;
mod bounds;
mod compare;
mod definition;
mod inclusion;
pub mod limits;
mod lint;
mod merging;
mod pairs;
mod preserved;
mod readers;
mod rules;
mod search;
mod stored;
mod types_only;
mod version;
mod violations;
mod writers;

pub use answer::{Answer, Comparison, Question, Verdict};
pub use bounds::missing_bounds;
pub use compare::{CompareOptions, compare, compare_with};
pub use lint::{LintCode, SchemaLint, lint};
