#![doc = include_str!("../README.md")]
//!
//! - [`PolicyDocument`]: a policy or a binding, read with its defaults and validated with the
//!   server's errors.
//! - [`PolicySet`]: the policies of a cluster, compiled once; evaluates them for a request, and
//!   [explains](PolicySet::explain) which of them apply to it.
//! - [`Cluster`], [`ObjectModel`]: what evaluation asks about parameters, namespaces and the
//!   objects of requests.
//!
//! Nothing here does I/O. The rules are cited by their numbers in the rule book (`docs/rules` in the
//! repository).

mod activation;
mod cluster;
mod context;
mod document;
mod edition;
mod explain;
mod expression;
mod lints;
mod memory_cluster;
mod mutating;
mod object_model;
mod observer;
mod params;
mod program;
mod record;
mod request_objects;
mod set;
mod type_check;
mod typed;
mod validating;
mod validation;

pub use cluster::Cluster;
pub use context::PolicyContext;
pub use document::{
    AuditAnnotationExpression, ExpressionWarning, JsonPatchExpression, MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding, MutatingBindingSpec, MutatingPolicySpec, Mutation,
    MutationExpression, ParamKind, ParamRef, PolicyCondition, PolicyDocument, PolicyError,
    PolicyKind, PolicyValidation, TypeChecking, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding, ValidatingBindingSpec, ValidatingPolicySpec,
    ValidatingPolicyStatus, Variable,
};
pub use explain::{ConditionExplanation, PolicyApplication, PolicyExplanation, PolicyMismatch};
pub use expression::{EvaluatedExpression, ExpressionOutcome};
pub use lints::{PolicyLint, lint_policies_together};
pub use memory_cluster::MemoryCluster;
pub use mutating::{MutationOutcome, PolicyReinvocation, PolicyRepetition};
pub use object_model::{BoxFuture, ObjectModel, ObjectModelError, UnknownObjects};
pub use observer::{PolicyCheck, PolicyConditions, PolicyEffect, PolicyObserver};
pub use record::{PolicyRecord, PolicyVerdict};
pub use request_objects::{ConvertedObjects, RequestObjects};
pub use set::PolicySet;
pub use typed::PolicyTypes;
pub use validating::ValidationOutcome;
