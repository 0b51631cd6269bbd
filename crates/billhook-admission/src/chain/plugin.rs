//! Admission plugins in the same process (DI-01, DI-02): what embedders add to the chain.

use billhook::webhook::{AdmissionAttributes, Operation};
use billhook_apimachinery::Status;
use billhook_apimachinery::value::DeepValue;
use billhook_policy::BoxFuture;
use serde_json::Value;

use crate::audit::Warnings;
use crate::audit::{AuditAnnotations, AuditLevel};
use crate::stage::Stage;

/// A step of admission in the same process. It may change objects, refuse requests, or both.
///
/// Mutating plugins run again, unasked, when a webhook has changed the object: they must be
/// idempotent (DI-40, DI-47). New methods will have defaults.
///
/// ```
/// use billhook::Status;
/// use billhook_admission::{Chain, Plugin, PluginRequest, Stage, Unreachable};
/// use billhook::webhook::Operation;
///
/// /// Refuses new objects without an owner.
/// struct OwnerRequired;
///
/// impl Plugin for OwnerRequired {
///     fn name(&self) -> &str {
///         "OwnerRequired"
///     }
///
///     fn has_stage(&self, stage: Stage) -> bool {
///         stage == Stage::Validating
///     }
///
///     fn handles(&self, operation: Operation) -> bool {
///         operation == Operation::Create
///     }
///
///     fn validate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
///         match request.object().and_then(|object| object.pointer("/spec/owner")) {
///             Some(_) => Ok(()),
///             None => Err(Status::failure(403, "Forbidden", "an owner is required")),
///         }
///     }
/// }
///
/// let chain = Chain::new(Unreachable).plugin(OwnerRequired);
/// # let _ = chain;
/// ```
pub trait Plugin: Send + Sync {
    /// The name, for reports and metrics.
    fn name(&self) -> &str;

    /// Whether it has something to do in a stage, in both by default; where it has not, it is
    /// neither run nor measured.
    fn has_stage(&self, stage: Stage) -> bool {
        let _ = stage;
        true
    }

    /// Whether it takes part in requests of an operation.
    fn handles(&self, operation: Operation) -> bool {
        let _ = operation;
        true
    }

    /// Whether it may read or change `metadata.managedFields`, which are set back if they are not valid
    /// afterwards. For a plugin that does not, objects need neither have them nor be copied.
    fn sees_owners(&self) -> bool {
        true
    }

    /// Inspects a request in the mutating stage and may change its object.
    fn mutate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        let _ = request;
        Ok(())
    }

    /// Inspects a request in the validating stage.
    fn validate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        let _ = request;
        Ok(())
    }

    /// Returns work of the validating stage that may wait, such as writes of what a request uses up; none
    /// by default. It is done after [`Plugin::validate`] has agreed.
    fn reserve<'a>(
        &'a self,
        attributes: &'a AdmissionAttributes,
    ) -> Option<BoxFuture<'a, Result<(), Status>>> {
        let _ = attributes;
        None
    }
}

/// A request as a plugin sees it.
#[derive(Debug)]
pub struct PluginRequest<'r> {
    pub(crate) attributes: &'r mut AdmissionAttributes,
    /// Whether the object was asked for to be changed.
    pub(crate) is_changed: bool,
    /// Whether the object that is changed is kept as it was.
    pub(crate) keeps_object: bool,
    /// The object as it was.
    pub(crate) before: Option<DeepValue>,
    pub(crate) is_reinvocation: bool,
    pub(crate) warnings: &'r mut Warnings,
    pub(crate) annotations: &'r mut AuditAnnotations,
}

impl PluginRequest<'_> {
    /// The request, with the object as this plugin has changed it so far.
    pub fn attributes(&self) -> &AdmissionAttributes {
        self.attributes
    }

    /// The new object, to read it.
    pub fn object(&self) -> Option<&Value> {
        self.attributes.object.as_deref()
    }

    /// The new object, to change it. What a validating plugin changes is lost.
    pub fn object_mut(&mut self) -> Option<&mut Value> {
        let object = self.attributes.object.as_mut()?;
        if !self.is_changed {
            self.is_changed = true;
            self.before = self.keeps_object.then(|| object.clone());
        }
        Some(object)
    }

    /// Whether the chain runs a second time because a webhook changed the object (DI-40).
    pub fn is_reinvocation(&self) -> bool {
        self.is_reinvocation
    }

    /// Warns the client.
    pub fn warn(&mut self, text: &str) {
        self.warnings.add(text);
    }

    /// Adds an audit annotation.
    pub fn annotate(&mut self, key: &str, value: &str, level: AuditLevel) {
        self.annotations.add(key, value, level);
    }
}
