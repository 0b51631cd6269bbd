#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod admissionregistration;
mod behavior;
mod cells;
mod coordination;
mod core;
mod definition;
mod generated;
mod kind;
mod registry;
mod values;

pub use behavior::{Behavior, Findings, WriteContext};
pub use kind::{BodyKind, ColumnHeading, Generation, Kind, NameRule, Subresource};
