//! Apply: merge, ownership, conflicts (SA-61, SA-62, SA-72 to SA-76).

use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{Status, TypeMeta};
use serde_json::{Value, json};

use super::adapt::adapt;
use super::conflict::{Conflict, Conflicts};
use super::managed_fields::{ManagedFields, ManagedFieldsError, Operation};
use super::prune::prune;
use super::update::UpdateError;
use super::versions::{ComparisonError, ConversionError, Differences, Versioned};
use super::{FieldManager, NEVER_OWNED};
use crate::order::equal;
use crate::type_check::Duplicates;
use crate::type_error::TypeErrors;
use crate::typed_value::TypedValue;

/// The manager of all fields of an object that nobody owns at its first apply (SA-62).
const FIRST: &str = "before-first-apply";

/// The live object of an apply.
#[derive(Clone, Copy, Debug)]
pub struct LiveObject<'a> {
    object: &'a Value,
    exists: bool,
}

impl<'a> LiveObject<'a> {
    /// An object that exists, without its managed fields.
    pub fn existing(object: &'a Value) -> Self {
        LiveObject { object, exists: true }
    }

    /// An object that does not exist yet: it has its type only.
    pub fn missing(object: &'a Value) -> Self {
        LiveObject { object, exists: false }
    }
}

/// The outcome of an apply.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Applied {
    /// The object, without its managed fields; none if it is equal to the live one (SA-76).
    pub object: Option<DeepValue>,
    /// The entries.
    pub managed_fields: ManagedFields,
}

/// An apply that a server refuses; prints the message of the status.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The entries of the live object cannot be read.
    #[error("failed to decode managed fields: {0}")]
    ManagedFields(#[from] ManagedFieldsError),
    /// The configuration is not of the type of the request.
    #[error("invalid object type: {found}")]
    ObjectType {
        /// The type of the configuration, as the server prints it.
        found: String,
    },
    /// The fields of an object without entries cannot be tracked.
    #[error("failed to create manager for existing fields: {0}")]
    ExistingFields(UpdateError),
    /// The configuration has managed fields.
    #[error("metadata.managedFields must be nil")]
    ConfigurationWithManagedFields,
    /// The configuration does not fit its merge types.
    #[error("failed to create typed patch object ({subject}): {errors}")]
    Configuration {
        /// Namespace, name and type of the object.
        subject: String,
        /// The places that do not fit.
        errors: TypeErrors,
    },
    /// The live object does not fit its merge types.
    #[error("failed to create typed live object ({subject}): {errors}")]
    Live {
        /// Namespace, name and type of the object.
        subject: String,
        /// The places that do not fit.
        errors: TypeErrors,
    },
    /// An object cannot be converted to the version of an entry (SA-91).
    #[error("{step}{error}")]
    Conversion {
        /// The step of the apply, as the server's text begins.
        step: String,
        /// The reason.
        error: ConversionError,
    },
    /// Others own fields that the configuration sets to other values.
    #[error(transparent)]
    Conflicts(#[from] Conflicts),
}

impl ApplyError {
    /// Returns the status that the client gets.
    pub fn to_status(&self) -> Status {
        match self {
            ApplyError::Conflicts(conflicts) => conflicts.to_status(),
            ApplyError::ObjectType { .. } | ApplyError::ConfigurationWithManagedFields => {
                Status::bad_request(self.to_string())
            }
            _ => Status::failure(500, "", self.to_string()),
        }
    }

    fn conversion(step: &str, error: ConversionError) -> Self {
        ApplyError::Conversion { step: step.to_owned(), error }
    }
}

impl From<ComparisonError> for ApplyError {
    fn from(error: ComparisonError) -> Self {
        match error {
            ComparisonError::Old(error) => {
                ApplyError::conversion("failed to convert old object: ", error)
            }
            ComparisonError::New(error) => {
                ApplyError::conversion("failed to convert new object: ", error)
            }
        }
    }
}

impl FieldManager<'_> {
    /// Applies a configuration. `managed` are the entries of the live object.
    ///
    /// # Errors
    ///
    /// If the configuration or the live object does not fit the merge types, an object cannot be
    /// converted to the version of an entry, or, without `force`, others own fields that the
    /// configuration changes. The errors come in the server's order (SA-61).
    pub fn apply(
        &self,
        live: LiveObject<'_>,
        mut managed: ManagedFields,
        config: &Value,
        force: bool,
    ) -> Result<Applied, ApplyError> {
        self.check_type(config)?;
        if managed.is_empty() && live.exists {
            managed = self.first_entry(live.object)?;
        }
        if config.pointer("/metadata/managedFields").is_some_and(|entries| !entries.is_null()) {
            return Err(ApplyError::ConfigurationWithManagedFields);
        }
        let schema = self.schema().map_err(|error| ApplyError::conversion("", error))?;
        let config = schema.check(config, Duplicates::Refused).map_err(|errors| {
            ApplyError::Configuration { subject: self.subject(config), errors }
        })?;
        let live = schema
            .check(live.object, Duplicates::Allowed)
            .map_err(|errors| ApplyError::Live { subject: self.subject(live.object), errors })?;
        let merge = Merge { manager: self, live, config };
        let retry = (self.is_kubectl() && !force).then(|| managed.clone());
        match (merge.run(managed, force), retry) {
            (Err(ApplyError::Conflicts(conflicts)), Some(managed)) => {
                match self.conflicts_with_others(conflicts, live) {
                    Some(conflicts) => Err(conflicts.into()),
                    None => merge.run(managed, true),
                }
            }
            (outcome, _) => outcome,
        }
    }

    /// SA-61, step 3.
    pub(super) fn check_type(&self, config: &Value) -> Result<(), ApplyError> {
        let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if api_version == self.api_version && kind == self.kind {
            return Ok(());
        }
        let found = TypeMeta::new(api_version, kind).unwrap_or_default();
        let found = format!("{}/{}, Kind={kind}", found.group, found.version);
        Err(ApplyError::ObjectType { found })
    }

    /// SA-62.
    fn first_entry(&self, live: &Value) -> Result<ManagedFields, ApplyError> {
        let nothing = json!({"apiVersion": self.api_version, "kind": self.kind});
        let first = FieldManager { manager: FIRST, ..*self };
        first.update(ManagedFields::default(), &nothing, live).map_err(ApplyError::ExistingFields)
    }
}

/// The merge of a configuration.
#[derive(Clone, Copy)]
struct Merge<'m> {
    manager: &'m FieldManager<'m>,
    live: TypedValue<'m>,
    config: TypedValue<'m>,
}

impl<'m> Merge<'m> {
    fn run(self, mut managed: ManagedFields, force: bool) -> Result<Applied, ApplyError> {
        let FieldManager { versions, api_version, subresource, .. } = *self.manager;
        adapt(&mut managed, &Versioned::new(api_version, self.live), versions)
            .map_err(|error| ApplyError::conversion("", error))?;
        let mut own = self.manager.entry(Operation::Apply);
        let id = own.identity();
        let last = managed.0.remove(&id);
        let reset = versions.reset_fields(api_version, subresource);
        own.fields = self.config.field_set().recursive_difference(&reset);
        own.time = last.as_ref().map(|last| last.time).unwrap_or_default();
        managed.0.insert(id.clone(), own);

        let mut result = Versioned::new(api_version, self.live).merged(self.config);
        let last = last.filter(|last| !last.fields.is_empty());
        if let (Some(last), Some(own)) = (last, managed.0.get(&id)) {
            result = prune(result, &last, &own.fields, &managed, versions).map_err(|error| {
                let error = ConversionError::new(error.to_string());
                ApplyError::conversion("failed to prune fields: ", error)
            })?;
        }
        let result = result.into_made().filter(|result| !equal(self.live.value(), result));
        if let Some(result) = &result {
            self.take_from_others(&mut managed, &id, result, force)?;
        }
        if let Some(own) = managed.0.get_mut(&id) {
            own.fields = own.fields.difference(&NEVER_OWNED);
            if result.is_some() {
                own.time = self.manager.now;
            }
        }
        managed.remove_empty();
        Ok(Applied { object: result, managed_fields: managed })
    }

    /// Takes from the other managers what the result changes (SA-74).
    fn take_from_others(
        self,
        managed: &mut ManagedFields,
        id: &str,
        result: &Value,
        force: bool,
    ) -> Result<(), ApplyError> {
        let FieldManager { versions, api_version, subresource, .. } = *self.manager;
        let live = Versioned::new(api_version, self.live);
        let result = Versioned::new(api_version, self.live.with(result));
        let mut differences = Differences::new(versions, subresource, live, result);
        let mut conflicts = Vec::new();
        for (_, entry) in managed.0.iter_mut().filter(|(other, _)| *other != id) {
            let difference = differences.in_version(&entry.api_version)?;
            if !force {
                let fields = entry.fields.intersection(&difference.changed);
                if !fields.is_empty() {
                    conflicts.push(Conflict { owner: entry.clone(), fields });
                }
            }
            entry.lose(difference);
        }
        Conflicts::new(conflicts).map_or(Ok(()), |conflicts| Err(conflicts.into()))
    }
}
