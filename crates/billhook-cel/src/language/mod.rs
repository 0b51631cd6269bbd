//! The language, from the bottom up: texts and their errors, expressions, types, values, the
//! messages and functions over them, the checker, the estimate of costs, the evaluator and, at the top,
//! programs. Each imports only from those before it.

pub(crate) mod ast;
pub(crate) mod availability;
pub(crate) mod branches;
pub(crate) mod check;
pub(crate) mod cost;
pub(crate) mod evaluate;
pub(crate) mod functions;
pub(crate) mod implication;
pub(crate) mod mentions;
pub(crate) mod messages;
pub(crate) mod meter;
pub(crate) mod objects;
pub(crate) mod parse;
pub(crate) mod program;
pub(crate) mod reads;
pub mod schema;
pub(crate) mod source;
pub(crate) mod trace;
pub(crate) mod types;
pub(crate) mod value;

pub use availability::Libraries;
pub use branches::{Branch, branches};
pub use cost::Forecast;
pub use evaluate::Evaluation;
pub use implication::{implies, implies_with_types};
pub use mentions::{Mentions, mentions};
pub use program::{Environment, Program};
pub use reads::{ReadPart, ReadStep, Reads, reads};
pub use source::CompileError;
pub use trace::{ExpressionTrace, TracedOutcome, TracedTurn};
pub use types::{ObjectType, Type};
pub use value::{EvaluationError, Joined, List, Map, MapEntries, Opaque, Text, Timestamp, Value};
