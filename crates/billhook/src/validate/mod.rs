//! Validation of whole objects, as the server's create and update run it (RP-40 to RP-46, RP-70 to
//! RP-75).

mod prepare;

use std::borrow::Cow;

use billhook_apimachinery::Verdict;
use billhook_apimachinery::metadata::{
    Invalid, NormalMetadata, decode_metadata, finalizer_warnings, subdomain_name,
    validate_create_with, validate_generic, validate_update,
};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{ErrorType, FieldError, FieldPath, Status, split_api_version};
use billhook_cel::rules::BUDGET;
pub use billhook_cel::rules::RuleVerdict;
use billhook_validation::validate_embedded;
use serde_json::{Map, Value};

use crate::crd::{CrdVersion, ObjectType, Scope};
pub use prepare::remove_server_fields;
use prepare::{STATUS, remove};

/// Options for validating an object.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ValidateOptions {
    /// Whether an update goes through the metadata checks that a server runs for objects of any
    /// kind, too. They repeat errors of the resource's own checks (OM-41).
    pub(crate) generic_checks: bool,
    /// Whether to report the verdicts of all rules that are evaluated.
    pub(crate) rule_verdicts: bool,
    /// The rule of names: of a name, or with the flag set of a `generateName`, it returns what is
    /// wrong. Custom resources have that of DNS subdomains.
    pub(crate) name_rule: fn(&str, bool) -> Vec<String>,
}

impl Default for ValidateOptions {
    fn default() -> Self {
        ValidateOptions { generic_checks: true, rule_verdicts: false, name_rule: subdomain_name }
    }
}

impl ValidateOptions {
    /// Returns the options with or without the checks for objects of any kind.
    #[must_use]
    pub fn generic_checks(mut self, generic_checks: bool) -> Self {
        self.generic_checks = generic_checks;
        self
    }

    /// Returns the options with another rule of names.
    #[must_use]
    pub fn name_rule(mut self, name_rule: fn(&str, bool) -> Vec<String>) -> Self {
        self.name_rule = name_rule;
        self
    }

    /// Returns the options with or without [`Validation::rule_verdicts`].
    #[must_use]
    pub fn rule_verdicts(mut self, rule_verdicts: bool) -> Self {
        self.rule_verdicts = rule_verdicts;
        self
    }
}

/// The outcome of validating an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    errors: Vec<FieldError>,
    warnings: Vec<String>,
    /// None if the object is valid.
    subject: Option<Subject>,
    rule_verdicts: Vec<RuleVerdict>,
}

/// The object as the server's answer names it.
#[derive(Clone, Debug, PartialEq)]
struct Subject {
    group: String,
    kind: String,
    name: String,
}

impl Subject {
    fn of(object: &Value, metadata: &Value) -> Self {
        let text = |value: &Value, name: &str| {
            value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let api_version = text(object, "apiVersion");
        let group = split_api_version(&api_version).0.to_owned();
        Subject { group, kind: text(object, "kind"), name: text(metadata, "name") }
    }
}

impl Validation {
    /// Returns whether the object is valid.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(&self.errors)
    }

    /// Returns the errors, in the server's order. These are the causes that its answer lists; an
    /// error that two steps found is listed twice (VV-65).
    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    /// Returns the verdicts of the rules that were evaluated, each once, if the options ask for them.
    pub fn rule_verdicts(&self) -> &[RuleVerdict] {
        &self.rule_verdicts
    }

    /// Returns the server's warnings: about rules that were violated before (CE-50), and finalizers
    /// (OM-60).
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the status that the client gets, with code 422 and reason Invalid; none if nothing
    /// is wrong (VV-64). It is about the kind that the object says it is, even if that is wrong.
    pub fn status(&self) -> Option<Status> {
        let Subject { group, kind, name } = self.subject.as_ref()?;
        Some(Status::invalid(group, kind, name, &self.errors))
    }

    /// Returns the message of [`Validation::status`].
    pub fn status_message(&self) -> Option<String> {
        self.status().map(|status| status.message)
    }
}

/// The write that an object is validated for.
#[derive(Clone, Copy)]
enum Write<'w> {
    Create,
    Update(&'w Value),
    StatusUpdate(&'w Value),
}

impl<'w> Write<'w> {
    fn old(self) -> Option<&'w Value> {
        match self {
            Write::Create => None,
            Write::Update(old) | Write::StatusUpdate(old) => Some(old),
        }
    }
}

impl CrdVersion {
    /// Validates a new object as the server's create does (RP-41). The object is taken as it is;
    /// [`CrdVersion::decode`] and [`CrdVersion::prepare_create`] come before in a server.
    ///
    /// ```
    /// # use billhook::{CustomResourceDefinition, ValidateOptions, Verdict};
    /// # let crd = CustomResourceDefinition::from_value(&serde_json::json!({
    /// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    /// #   "spec": {"group": "example.com", "scope": "Cluster",
    /// #     "names": {"plural": "foos", "kind": "Foo"},
    /// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
    /// #       {"openAPIV3Schema": {"type": "object", "properties": {"spec":
    /// #         {"type": "object", "required": ["size"]}}}}}]}}))?;
    /// let v1 = crd.version("v1").unwrap();
    /// let object = serde_json::json!({
    ///     "apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": {},
    /// });
    /// let validation = v1.validate_create(&object, &ValidateOptions::default());
    /// assert_eq!(validation.verdict(), Verdict::Invalid);
    /// assert_eq!(
    ///     validation.status_message().unwrap(),
    ///     "Foo.example.com \"x\" is invalid: spec.size: Required value",
    /// );
    /// # Ok::<(), billhook::CrdError>(())
    /// ```
    pub fn validate_create(&self, object: &Value, options: &ValidateOptions) -> Validation {
        self.validate(object, Write::Create, options)
    }

    /// Validates an object that replaces another one, as the server's update does (RP-42): errors
    /// of the old object that have not changed are forgiven in many places (VV-80). The old object
    /// is the result of a read, [`CrdVersion::decode_storage`]; for the new one,
    /// [`CrdVersion::decode`] and [`CrdVersion::prepare_update`] come before.
    pub fn validate_update(
        &self,
        object: &Value,
        old: &Value,
        options: &ValidateOptions,
    ) -> Validation {
        self.validate(object, Write::Update(old), options)
    }

    /// Validates an object as the update of the status subresource does (RP-70);
    /// [`CrdVersion::prepare_status_update`] comes before.
    pub fn validate_status_update(
        &self,
        object: &Value,
        old: &Value,
        options: &ValidateOptions,
    ) -> Validation {
        self.validate(object, Write::StatusUpdate(old), options)
    }

    /// Validates the metadata alone, as servers do for objects of all kinds; `old` is the object
    /// that is replaced.
    pub fn validate_metadata(
        &self,
        object: &Value,
        old: Option<&Value>,
        options: &ValidateOptions,
    ) -> Vec<FieldError> {
        let metadata = metadata(object);
        let old = old.map(self::metadata);
        let mut errors = self.generic_errors(&metadata, old.as_deref(), options);
        errors.extend(self.metadata_errors(&metadata, old.as_deref(), options));
        errors
    }

    /// The errors in metadata that each update is checked for before the rules of the kind.
    fn generic_errors(
        &self,
        metadata: &Value,
        old: Option<&Value>,
        options: &ValidateOptions,
    ) -> Vec<FieldError> {
        let Some(old) = old.filter(|_| options.generic_checks) else { return Vec::new() };
        let wording = self.schema().root().wording();
        let mut errors = validate_generic(metadata, self.is_namespaced(), wording);
        errors.extend(validate_update(metadata, old, wording));
        errors
    }

    fn metadata_errors(
        &self,
        metadata: &Value,
        old: Option<&Value>,
        options: &ValidateOptions,
    ) -> Vec<FieldError> {
        let wording = self.schema().root().wording();
        match old {
            None => {
                validate_create_with(metadata, self.is_namespaced(), wording, options.name_rule)
            }
            Some(old) => validate_update(metadata, old, wording),
        }
    }

    fn is_namespaced(&self) -> bool {
        self.definition().scope() == Scope::Namespaced
    }

    fn validate(&self, object: &Value, write: Write<'_>, options: &ValidateOptions) -> Validation {
        if let Some(object_type) = self.definition().object_type() {
            return self.validate_type(object_type, object, write, options);
        }
        let wording = self.schema().root().wording();
        let metadata = metadata(object);
        let old_metadata = write.old().map(self::metadata);
        let mut errors = self.generic_errors(&metadata, old_metadata.as_deref(), options);
        let type_errors = self.type_errors(object);
        if type_errors.is_empty() {
            errors.extend(self.metadata_errors(&metadata, old_metadata.as_deref(), options));
            errors.extend(self.value_errors(object, write));
            if let Some(scale) = self.scale() {
                errors.extend(scale.errors(object, matches!(write, Write::StatusUpdate(_))));
            }
        }
        errors.extend(type_errors);
        let is_status = matches!(write, Write::StatusUpdate(_));
        // The rest needs a structural schema.
        let validator = self.is_structural().then(|| self.validator());
        let (mut warnings, mut rule_verdicts) = (Vec::new(), Vec::new());
        if let Some(validator) = validator {
            if !is_status {
                errors.extend(validate_embedded(self.schema(), false, object));
            }
            // One old violation anywhere turns the check off (RP-43).
            if write.old().is_none_or(|old| validator.has_valid_lists(old)) {
                errors.extend(validator.list_errors(object));
            }
            if let Some(rules) = self.rules() {
                if errors.iter().any(|error| blocks_rules(error.error_type())) {
                    errors.push(rules_not_checked());
                } else {
                    let noting = options.rule_verdicts.then(|| rules.with_verdicts());
                    let rules = noting.as_ref().unwrap_or(rules);
                    let mut found = match is_status && !self.ratchets_status() {
                        true => rules.check_all(object, write.old(), BUDGET),
                        false => rules.check(object, write.old(), BUDGET),
                    };
                    errors.append(&mut found.errors);
                    warnings.append(&mut found.warnings);
                    rule_verdicts = found.verdicts;
                }
            }
        }
        // A refused object is not warned about.
        if !is_status && errors.is_empty() {
            warnings.extend(finalizer_warnings(&metadata, old_metadata.as_deref(), wording));
        }
        let errors: Vec<_> = errors.into_iter().map(|error| error.worded(wording)).collect();
        let subject = (!errors.is_empty()).then(|| Subject::of(object, &metadata));
        Validation { errors, warnings, subject, rule_verdicts }
    }

    /// Validates an object of a fixed type. Clients are warned of objects that are valid (BK-05).
    fn validate_type(
        &self,
        object_type: &dyn ObjectType,
        object: &Value,
        write: Write<'_>,
        options: &ValidateOptions,
    ) -> Validation {
        let is_status = matches!(write, Write::StatusUpdate(_));
        let (mut errors, mut warnings) = object_type.validate(object, write.old(), is_status);
        if object_type.has_plain_metadata() {
            let options = options.clone().name_rule(object_type.name_rule());
            errors.splice(0..0, self.validate_metadata(object, write.old(), &options));
        }
        let subject = (!errors.is_empty()).then(|| {
            let subject = Subject::of(object, &metadata(object));
            let group = object_type.group_in_errors().map_or(subject.group, str::to_owned);
            Subject { group, ..subject }
        });
        if subject.is_some() {
            warnings.clear();
        }
        Validation { errors, warnings, subject, rule_verdicts: Vec::new() }
    }

    /// RP-40.
    fn type_errors(&self, object: &Value) -> Vec<FieldError> {
        let expected = [
            ("kind", Cow::from(self.definition().kind())),
            ("apiVersion", self.api_version().into()),
        ];
        let mut errors = Vec::new();
        for (name, expected) in expected {
            let found = object.get(name).and_then(Value::as_str).unwrap_or_default();
            if found != expected {
                let path = FieldPath::default().name(name);
                errors.push(FieldError::invalid(path, found, &format!("must be {expected}")));
            }
        }
        errors
    }

    /// Returns the errors of value validation: of the whole object, or of its status on its own
    /// (RP-71).
    fn value_errors(&self, object: &Value, write: Write<'_>) -> Vec<FieldError> {
        let validator = self.validator();
        let Write::StatusUpdate(old) = write else {
            let check = validator.check(object);
            return match write.old() {
                Some(old) => check.update_of(old).errors(),
                None => check.errors(),
            };
        };
        let (Some(validator), Some(status)) = (validator.property(STATUS), object.get(STATUS))
        else {
            return Vec::new();
        };
        let check = validator.check(status).at(FieldPath::default().name(STATUS));
        match old.get(STATUS).filter(|_| self.ratchets_status()) {
            Some(old) => check.update_of(old).errors(),
            None => check.errors(),
        }
    }
}

/// Returns the normalized metadata of an object. Decoding refuses fields of a wrong type, but a
/// later step may have put them there; they count as absent, in owner references each on its own.
fn metadata(object: &Value) -> NormalMetadata<'_> {
    let empty = || DeepValue::from(Value::Object(Map::new()));
    let Some(metadata) = object.get("metadata") else { return NormalMetadata::Changed(empty()) };
    decode_metadata(metadata, Invalid::Refuse).unwrap_or_else(|_| {
        let mut readable = DeepValue::from(deep_clone(metadata));
        if let Some(Value::Array(references)) = readable.get_mut("ownerReferences") {
            references.iter_mut().filter_map(Value::as_object_mut).for_each(keep_readable);
        }
        let decoded = decode_metadata(&readable, Invalid::Drop);
        NormalMetadata::Changed(decoded.map_or_else(|_| empty(), NormalMetadata::into_value))
    })
}

/// Removes the fields that have the wrong type in an owner reference.
fn keep_readable(reference: &mut Map<String, Value>) {
    for name in ["apiVersion", "kind", "name", "uid"] {
        if reference.get(name).is_some_and(|value| !value.is_string()) {
            remove(reference, name);
        }
    }
    for name in ["controller", "blockOwnerDeletion"] {
        if reference.get(name).is_some_and(|value| !value.is_boolean()) {
            remove(reference, name);
        }
    }
}

/// Whether an error keeps the server from evaluating rules (RP-44).
fn blocks_rules(error_type: ErrorType) -> bool {
    matches!(
        error_type,
        ErrorType::Required
            | ErrorType::NotSupported
            | ErrorType::TooLong
            | ErrorType::TooMany
            | ErrorType::TypeInvalid
    )
}

fn rules_not_checked() -> FieldError {
    let detail = "some validation rules were not checked because the object was invalid; correct \
                  the existing errors to complete validation";
    FieldError::invalid(FieldPath::default(), Value::Null, detail)
}
