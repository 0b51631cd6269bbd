//! The context that policies are evaluated in.

use std::time::Duration;

use crate::cluster::Cluster;
use crate::object_model::ObjectModel;
use crate::observer::PolicyObserver;
use crate::request_objects::ConvertedObjects;
use billhook::webhook::EquivalentResources;

/// The context that policies are evaluated in: all that is needed besides policies and
/// request.
#[derive(Clone, Copy)]
pub struct PolicyContext<'c> {
    pub(crate) equivalents: &'c EquivalentResources,
    pub(crate) model: &'c dyn ObjectModel,
    pub(crate) cluster: &'c dyn Cluster,
    pub(crate) converted: Option<&'c ConvertedObjects>,
    pub(crate) observer: Option<&'c dyn PolicyObserver>,
    pub(crate) check_idempotence: bool,
}

impl<'c> PolicyContext<'c> {
    /// Returns the context of a cluster with equivalent resources, and of a model of the objects of
    /// requests.
    pub fn new(
        cluster: &'c dyn Cluster,
        equivalents: &'c EquivalentResources,
        model: &'c dyn ObjectModel,
    ) -> Self {
        let (converted, observer) = (None, None);
        PolicyContext { equivalents, model, cluster, converted, observer, check_idempotence: false }
    }

    /// Returns the context with the objects of the request in other kinds, without which policies that match
    /// another kind fail.
    #[must_use]
    pub fn converted(mut self, converted: &'c ConvertedObjects) -> Self {
        self.converted = Some(converted);
        self
    }

    /// Returns the context with or without a check that mutating policies are idempotent: each is run once
    /// more on its own output.
    #[must_use]
    pub fn check_idempotence(mut self, check: bool) -> Self {
        self.check_idempotence = check;
        self
    }

    /// Returns the context with an observer of the evaluation.
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
