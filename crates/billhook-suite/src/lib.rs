#![doc = include_str!("../README.md")]
//!
//! The format is that of OpenShift's API repository: [`Suite`] reads it, [`openshift`] finds the
//! definitions of a suite in the layout of that repository.
//!
//! # What a case does
//!
//! An object is created: it gets the name `test-…` if it has none, and the namespace `default`. Then
//! the request must fail with a text that contains `expectedError`, or what is stored must equal
//! `expected`. A case of `onUpdate` goes on with `updated`: it is sent as an update and, if it has a
//! `status`, once more through the status subresource (`expectedStatusError`). With
//! `initialCRDPatches` the object is created under a changed definition.
//!
//! Objects are compared without their names, namespaces and what a server sets in their metadata.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod failure;
pub mod openshift;
mod runner;
mod suite;

pub use failure::{Failure, Stage};
pub use runner::{Runner, RunnerError};
pub use suite::{Case, CreateCase, Suite, SuiteError, Tests, UpdateCase};
