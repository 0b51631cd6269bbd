//! CustomResourceDefinitions: a resource like others, and the life of each (LC rules).

mod conditions;
mod lifecycle;
mod naming;
mod resource;
mod strategy;

pub(crate) use self::lifecycle::{create, group_of, resume, settle, settle_or_begin};
pub(crate) use self::resource::resource;
