//! The resources that are served: those of the server itself, and those of definitions.

mod catalog;
mod definition;
mod resource;
mod style;
mod watch_cache;

pub(crate) use self::catalog::{Catalog, Listed, reviews};
pub(crate) use self::definition::StoredDefinition;
pub(crate) use self::resource::Resource;
pub(crate) use self::style::{APPLY_PATCH, JSON_PATCH, STRATEGIC_PATCH};
pub(crate) use self::watch_cache::{Served, WatchCache, WatchCaches};
