#![doc = include_str!("../README.md")]
//!
//! - [`value`]: JSON values of any depth; [`mod@print`]: printing them as a server does; [`base64`], [`pem`];
//!   [`calendar`].
//! - [`FieldPath`], [`FieldError`]: places and errors, printed to the byte as a server prints them;
//!   [`Change`]: a change of an object and its reason; [`Spans`]: places in the text of a document.
//! - [`metadata`]: decoding, normalization and validation of ObjectMeta; [`names`]: the syntax of
//!   names; [`net`]: URLs and IP addresses.
//! - [`GroupVersionKind`], [`GroupVersionResource`], [`TypeMeta`], [`Status`], [`UserInfo`],
//!   [`label_selector`].
//!
//! The names and texts are those of Kubernetes; the rules are cited by their numbers in the rule
//! book (`docs/rules` in the repository).
//!
//! # Crate features
//!
//! - `k8s-openapi`: conversions from and to [`LabelSelector`](label_selector::LabelSelector),
//!   [`Status`] and [`UserInfo`] of k8s-openapi.
//! - `kube`: also conversions from and to [`Status`], [`GroupVersionKind`] and
//!   [`GroupVersionResource`] of kube-core.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod age;
pub mod base64;
pub mod calendar;
mod change;
mod dialect;
mod edition;
mod field_error;
mod field_errors;
mod field_path;
mod float;
mod go_value;
mod group_version_kind;
mod hash;
mod kubernetes_version;
pub mod label_selector;
mod message_error;
pub mod metadata;
pub mod names;
pub mod namespace;
pub mod net;
pub mod pem;
mod per_version;
pub mod print;
mod quantity;
pub mod record;
pub mod schedule;
mod spans;
mod status;
mod strict;
mod time;
pub mod time_zone;
mod tree_budget;
mod type_meta;
mod user_info;
pub mod value;
mod verdict;
mod version_order;
mod wording;

#[cfg(feature = "k8s-openapi")]
mod k8s_openapi;
#[cfg(feature = "kube")]
mod kube;

pub use age::age;
pub use change::{Change, ChangeKind, Reason, excerpt};
pub use dialect::Dialect;
pub use field_error::{ErrorType, FieldError, aggregate};
pub use field_errors::FieldErrors;
pub use field_path::{FieldPath, Location, Segment, Segments};
pub use group_version_kind::{GroupVersionKind, GroupVersionResource, split_api_version};
pub use hash::hash_name;
pub use kubernetes_version::{KubernetesVersion, KubernetesVersionError};
pub use per_version::PerVersion;
pub use quantity::{Quantity, QuantityError};
pub use spans::{Placed, Span, SpanId, Spans, SpansBuilder, ValueSpan};
pub use status::{Status, StatusCause, StatusDetails};
pub use strict::strict_decoding_error;
pub use tree_budget::{TreeBudget, TreeTooLargeError};
pub use type_meta::{
    BUILT_IN_SCHEME, GroupVersionError, TypeField, TypeMeta, TypeMetaError, WrittenTypes,
    not_registered_error,
};
pub use user_info::UserInfo;
pub use verdict::Verdict;
pub use version_order::compare_versions;
pub use wording::{ValueSyntax, Wording};
