//! The Common Expression Language (CEL) as Kubernetes uses it in `x-kubernetes-validations` and in
//! the match conditions of webhooks (CE-01 to CE-51, WM-72 to WM-94).
//!
//! An [`Environment`] declares variables and compiles expressions; a [`Program`] evaluates one, any
//! number of times, and says what that cost. The functions are those of a server (CE-10).
//!
//! ```
//! use billhook_cel::schema::SchemaType;
//! use billhook_cel::{Environment, Type, Value};
//! let environment = Environment::default().variable("object", Type::Dyn);
//! let program = environment.compile("object.spec.replicas <= quantity('3k').asInteger()")?;
//! assert_eq!(*program.result_type(), Type::Bool);
//!
//! let (object, any) = (serde_json::json!({"spec": {"replicas": 5}}), SchemaType::ANY);
//! let object = Value::of(&object, &any)?;
//! let evaluation = program.evaluate(&[("object", object)], 1_000_000);
//! assert!(matches!(evaluation.result?, Value::Bool(true)));
//!
//! let error = environment.compile("object.spec + 1 == 'x'").err().unwrap();
//! assert_eq!(
//!     error.to_string(),
//!     "ERROR: <input>:1:17: found no matching overload for '_==_' applied to '(int, string)'\n \
//!      | object.spec + 1 == 'x'\n | ................^",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`rules`] evaluates the rules of a schema for objects, [`validate_rules`] checks them when a
//! definition is written.

mod authorization;
mod language;
pub mod rules;
mod validate;

pub use authorization::{
    AuthorizationDecision, AuthorizationRequest, AuthorizationTarget, Authorizer, ResourceTarget,
    ServiceAccount,
};
pub use language::schema;
pub use language::{
    CompileError, Environment, Evaluation, EvaluationError, List, Map, ObjectType, Opaque, Program,
    Text, Timestamp, Type, Value,
};
pub use validate::{CheckedSchema, RuleChecks, validate_rules};
