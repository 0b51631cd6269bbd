#![doc = include_str!("../README.md")]
//!
//! An [`Environment`] declares variables and compiles expressions; a [`Program`] evaluates one, any
//! number of times, and says what that cost. The functions are those of a server (CE-10).
//!
//! [`rules`] evaluates the rules of a schema for objects, [`validate_rules`] checks them when a
//! definition is written.

mod authorization;
mod edition;
mod language;
pub mod limits;
pub mod rules;
mod validate;

pub use authorization::{
    AuthorizationDecision, AuthorizationRequest, AuthorizationTarget, Authorizer, ResourceTarget,
    ServiceAccount,
};
pub use language::schema;
pub use language::schema::names::is_identifier;
pub use language::{
    Branch, CompileError, Environment, Evaluation, EvaluationError, ExpressionTrace, Forecast,
    Joined, Libraries, List, Map, MapEntries, Mentions, ObjectType, Opaque, Program, ReadPart,
    ReadStep, Reads, Text, Timestamp, TracedOutcome, TracedTurn, Type, Value, branches, implies,
    implies_with_types, mentions, reads,
};
pub use rules::StoredExpressions;
pub use validate::{
    CheckedRules, CheckedSchema, RuleChecks, RuleCost, costly_rules, costly_together,
    validate_rules,
};
