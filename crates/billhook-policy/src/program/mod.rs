//! The expressions of policies, compiled.

mod environment;
mod scope;
mod variables;

pub(crate) use environment::{Role, Setting, environment};
pub(crate) use scope::Scope;
pub(crate) use variables::{Evaluated, Pass, Variables};

/// The variable whose value is the namespace of a request.
pub(crate) const NAMESPACE: &str = "namespaceObject";

/// The most that one expression may cost (PO-48).
pub(crate) const CALL_LIMIT: u64 = 1_000_000;

/// The most that the expressions for one binding and one parameter may cost together (PO-48).
pub(crate) const BUDGET: u64 = 10_000_000;
