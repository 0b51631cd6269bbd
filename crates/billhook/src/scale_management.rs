//! Ownership of fields in requests for the scale subresource (SA-95).

use std::fmt;

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::value::DeepValue;
use billhook_apply::{ManagedFields, PathElement, ReplicasPath, ScaleManager};
use serde_json::Value;

use crate::crd::CrdVersion;
use crate::field_management::{ApplyError, write_tracked};

/// The field management of one write to the scale subresource: who makes it, and when.
///
/// Fields are tracked on the `Scale`. It has the owners of the replicas while a request is at
/// work; clients do not see them.
pub struct ScaleManagement<'a> {
    version: &'a CrdVersion,
    api_version: String,
    manager: &'a str,
    now: Time,
    converts: bool,
}

impl fmt::Debug for ScaleManagement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScaleManagement")
            .field("version", &self.api_version)
            .field("manager", &self.manager)
            .finish_non_exhaustive()
    }
}

impl<'a> ScaleManagement<'a> {
    /// Returns the field management of a manager that writes the `Scale` of objects in a version.
    pub fn new(version: &'a CrdVersion, manager: &'a str, now: Time) -> Self {
        let api_version = version.api_version();
        ScaleManagement { version, api_version, manager, now, converts: false }
    }

    /// Lets the `Scale` of a built-in kind be applied (BK-308).
    #[must_use]
    pub fn converts(mut self, converts: bool) -> Self {
        self.converts = converts;
        self
    }

    /// Adds the owners of the replicas of an object to its `Scale`.
    pub fn add_owners(&self, scale: &mut Value, object: &Value) {
        let entries = ManagedFields::of(object).unwrap_or_default();
        self.with_manager(|manager| manager.entries_of_scale(&entries)).write_to(scale);
    }

    /// Tracks a write other than an apply: sets the managed fields of a decoded `Scale`. `live` is
    /// the one before, with its owners, which it has again in the end.
    pub fn track(&self, scale: &mut Value, live: &mut DeepValue) {
        ManagedFields::default().write_to(scale);
        let entries = ManagedFields::of(live).unwrap_or_default();
        let tracked = ManagedFields::set_aside(live, |old| {
            self.with_manager(|manager| manager.update(entries, old, scale))
        });
        write_tracked(tracked, scale);
    }

    /// Applies a configuration to a `Scale` with its owners. Returns the same `Scale` with its new
    /// owners.
    ///
    /// # Errors
    ///
    /// If a server refuses the configuration. It refuses every change of custom resources.
    pub fn apply(
        &self,
        configuration: &Value,
        live: &Value,
        force: bool,
    ) -> Result<DeepValue, ApplyError> {
        let apply = |manager: &ScaleManager<'_>| manager.apply(live, configuration, force);
        Ok(self.with_manager(apply)?)
    }

    /// Sets the managed fields of an object after a write that left these owners to its `Scale`.
    pub fn update_owners(&self, object: &mut Value, scale: &Value) {
        let Ok(entries) = ManagedFields::of(object) else { return };
        let of_scale = ManagedFields::of(scale).unwrap_or_default();
        let of_object = |manager: &ScaleManager<'_>| manager.entries_of_object(&entries, &of_scale);
        self.with_manager(of_object).write_to(object);
    }

    fn with_manager<R>(&self, work: impl FnOnce(&ScaleManager<'_>) -> R) -> R {
        let path_in = |api_version: &str| {
            let mut versions = self.version.definition().versions();
            match versions.find(|version| version.api_version() == api_version) {
                None => ReplicasPath::UnknownVersion,
                Some(version) => version.scale().map_or(ReplicasPath::NoScale, |scale| {
                    let path = scale.to_replicas().into_iter().map(PathElement::field);
                    ReplicasPath::At(path.collect::<Vec<_>>().into())
                }),
            }
        };
        let manager = ScaleManager::new(&path_in, &self.api_version, self.manager, self.now);
        work(&manager.converts(self.converts))
    }
}
