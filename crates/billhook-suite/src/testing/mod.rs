//! Tests of definitions in Rust: suites as tests of `cargo test`, and assertions whose messages are
//! findings.
//!
//! Definitions and objects are anything that serializes, such as what kube's derive makes:
//!
//! ```
//! use billhook_suite::{assert_invalid, assert_structural, assert_valid};
//! use serde_json::{Value, json};
//!
//! /// Stands for `Backup::crd()`.
//! fn crd() -> Value {
//!     json!({
//!         "apiVersion": "apiextensions.k8s.io/v1",
//!         "kind": "CustomResourceDefinition",
//!         "metadata": {"name": "backups.example.com"},
//!         "spec": {
//!             "group": "example.com",
//!             "scope": "Namespaced",
//!             "names": {
//!                 "plural": "backups", "singular": "backup", "kind": "Backup", "listKind": "BackupList",
//!             },
//!             "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
//!                 "openAPIV3Schema": {"type": "object", "properties": {"spec": {
//!                     "type": "object",
//!                     "required": ["keep"],
//!                     "properties": {"keep": {"type": "integer", "minimum": 1}},
//!                 }}},
//!             }}],
//!         },
//!     })
//! }
//!
//! fn backup(spec: Value) -> Value {
//!     json!({
//!         "apiVersion": "example.com/v1",
//!         "kind": "Backup",
//!         "metadata": {"name": "nightly"},
//!         "spec": spec,
//!     })
//! }
//!
//! assert_structural!(crd());
//! assert_valid!(crd(), backup(json!({"keep": 7})));
//! assert_invalid!(crd(), backup(json!({})), "spec.keep", Required);
//! assert_invalid!(crd(), backup(json!({"keep": 0})), "spec.keep", Invalid);
//! ```
#![cfg_attr(
    feature = "libtest-mimic",
    doc = "\nSuites are run by a test without a harness of its own: see [`run_suites`]."
)]

mod assertions;
#[cfg(feature = "libtest-mimic")]
mod harness;

pub use assertions::{AssertionError, check_invalid, check_structural, check_valid};
#[cfg(feature = "libtest-mimic")]
pub use harness::run_suites;

/// Asserts that a server accepts an object of a definition when it is created.
///
/// # Panics
///
/// If it refuses the object, with the findings.
#[macro_export]
macro_rules! assert_valid {
    ($definition:expr, $object:expr $(,)?) => {
        if let Err(message) = $crate::testing::check_valid(&$definition, &$object) {
            panic!("{message}");
        }
    };
}

/// Asserts that a server refuses an object of a definition with an error of a field: its path, and
/// one of the types of [`ErrorType`](billhook::ErrorType).
///
/// # Panics
///
/// If it accepts the object, or refuses it with other errors only; with the findings.
#[macro_export]
macro_rules! assert_invalid {
    ($definition:expr, $object:expr, $field:expr, $error:ident $(,)?) => {
        let error = $crate::testing::ErrorType::$error;
        if let Err(message) = $crate::testing::check_invalid(&$definition, &$object, $field, error)
        {
            panic!("{message}");
        }
    };
}

/// Asserts that a server accepts a definition when it is created: its schemas are structural, its
/// defaults are valid, its rules compile and are cheap enough.
///
/// # Panics
///
/// If it refuses the definition, with the findings.
#[macro_export]
macro_rules! assert_structural {
    ($definition:expr $(,)?) => {
        if let Err(message) = $crate::testing::check_structural(&$definition) {
            panic!("{message}");
        }
    };
}

pub use billhook::ErrorType;
