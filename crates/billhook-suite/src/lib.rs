#![doc = include_str!("../README.md")]
//!
//! [`Suite`] reads our own format and that of OpenShift's API repository, [`Plan`] finds the
//! definitions and webhooks of a suite, and a [`Run`] is a case against them. [`openshift`] finds
//! definitions in the layout of that repository.
//!
//! # A case in OpenShift's format
//!
//! An object is created: it gets the name `test-…` if it has none, and the namespace `default`. Then
//! the request must fail with a text that contains `expectedError`, or what is stored must equal
//! `expected`. A case of `onUpdate` goes on with `updated`: it is sent as an update and, if it has a
//! `status`, once more through the status subresource (`expectedStatusError`). With
//! `initialCRDPatches` the object is created under a changed definition.
//!
//! Objects are compared without their names, namespaces and what a server sets in their metadata.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod admission_files;
mod answers;
mod authorizer;
mod built_in;
mod cluster;
mod compare;
mod conversions;
mod coverage;
mod diagnostics;
mod examples;
mod exercise;
mod failure;
mod files;
mod find;
mod generate;
mod install;
mod object_case;
mod object_path;
pub mod openshift;
mod plan;
mod plan_error;
mod runner;
mod runner_error;
mod strict;
mod suite;
mod suite_error;
pub mod testing;
mod update;

pub use answers::MakeCaller;
pub use coverage::{Coverage, CoverageItem, CoverageKind, DocumentCoverage};
pub use failure::{CaseStage, Failure};
pub use files::{FileError, FoundDefinition, ReadFile};
pub use find::find_suites;
pub use generate::{GenerateError, GeneratedSuite, UntestedConstraint, UntestedReason, generate};
pub use object_case::{
    Allowed, Answer, ConversionAnswer, Expectation, ExpectedError, ObjectCase, Row, Table,
};
pub use plan::{Plan, PlanOptions, Run};
pub use plan_error::PlanError;
pub use runner::Runner;
pub use runner_error::RunnerError;
pub use suite::{Case, CreateCase, Suite, Tests, UpdateCase};
pub use suite_error::SuiteError;
pub use update::update_expectations;
