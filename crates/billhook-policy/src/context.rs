//! The context that policies are evaluated in.

use std::time::Duration;

use billhook::webhook::EquivalentResources;
use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::value::DeepValue;
use billhook_apply::MergeSchema;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::observer::PolicyObserver;

/// The objects of requests: their versions, defaults and types. New methods will have defaults.
pub trait PolicyObjects {
    /// Returns an object in another version, with its `apiVersion` and `kind`.
    ///
    /// # Errors
    ///
    /// Returns the text of the server's error.
    fn convert(&self, object: &Value, to: &GroupVersionKind) -> Result<DeepValue, String>;

    /// Sets the defaults of a kind in an object of it.
    ///
    /// # Errors
    ///
    /// Returns the text of the server's error.
    fn apply_defaults(&self, object: &mut Value, kind: &GroupVersionKind) -> Result<(), String>;

    /// Returns how objects of a kind are merged; none if it has no known type (PO-66).
    fn merge_schema(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        let _ = kind;
        None
    }

    /// Returns whether an object that a policy changed can be read as one of a kind, strictly.
    ///
    /// # Errors
    ///
    /// Returns the text of the server's error.
    fn check(&self, object: &Value, kind: &GroupVersionKind) -> Result<(), String> {
        let _ = (object, kind);
        Ok(())
    }
}

/// The context that policies are evaluated in: all that is needed besides policies and
/// request.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct PolicyContext<'c> {
    /// The equivalent resources.
    pub equivalents: &'c EquivalentResources,
    /// The objects of requests.
    pub objects: &'c dyn PolicyObjects,
    /// Namespaces, parameters and permissions.
    pub cluster: &'c dyn Cluster,
    /// Watches the evaluation.
    pub observer: Option<&'c dyn PolicyObserver>,
    /// Whether each mutating policy is run once more on its own output, which costs time.
    pub check_idempotence: bool,
}

impl<'c> PolicyContext<'c> {
    /// Returns the context of a cluster.
    pub fn new(
        cluster: &'c dyn Cluster,
        equivalents: &'c EquivalentResources,
        objects: &'c dyn PolicyObjects,
    ) -> Self {
        PolicyContext { equivalents, objects, cluster, observer: None, check_idempotence: false }
    }

    /// Returns the context with or without a check that mutating policies are idempotent.
    #[must_use]
    pub fn check_idempotence(mut self, check: bool) -> Self {
        self.check_idempotence = check;
        self
    }

    /// Returns the context with an observer.
    #[must_use]
    pub fn observer(mut self, observer: &'c dyn PolicyObserver) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Does something and returns how long it took; zero without an observer.
    pub(crate) fn timed<T>(&self, act: impl FnOnce() -> T) -> (T, Duration) {
        let Some(observer) = self.observer else { return (act(), Duration::ZERO) };
        let began = observer.now();
        let done = act();
        (done, observer.now().saturating_sub(began))
    }
}
