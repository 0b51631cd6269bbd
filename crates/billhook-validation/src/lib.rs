#![doc = include_str!("../README.md")]
//!
//! A [`Validator`] is compiled once from a schema as it is written and then checks any number of
//! values. Three verbs differ in how much they report: [`Validator::is_valid`],
//! [`Validator::validate`] and [`Validator::errors`]. On update, [`Check::update_of`] forgives
//! errors of the old value that have not changed (VV-80).
//!
//! Besides, [`Validator::list_errors`] finds repeated elements of list sets and list maps (VV-40),
//! and [`Format`] is what Kubernetes means by the values of `format` (VV-71).
//!
//! # Not here
//!
//! Rules in CEL (`x-kubernetes-validations`) belong to `billhook-cel`, the defaults of a schema to
//! `billhook-default-validation`.

mod check;
mod compile;
mod correlate;
mod edition;
mod embedded;
mod enums;
mod formats;
mod identity;
mod is_valid;
mod list_type;
mod lists;
mod members;
mod numbers;
mod place;
mod report;
mod types;
mod validator;
mod walk;
mod work;

pub use check::{Check, MAX_STEPS};
pub use correlate::OldElements;
pub use embedded::{validate_embedded, validate_embedded_node};
pub use formats::{Format, parse_duration, parse_go_duration};
pub use validator::Validator;
