//! The whole write path of a custom resource: decoding, the chain, validation, storage (DI-03).

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use billhook_schema::value::DeepValue;
use serde_json::{Map, Value, json};

use super::annotations::AuditAnnotations;
use super::chain::{Chain, RequestOptions};
use super::deprecation::deprecation_warning;
use super::diff::Difference;
use super::idempotence::IdempotenceFinding;
use super::model::{Converter, CustomResources};
use super::record::{Action, Step};
use super::status::{Status, StatusCause, StatusDetails};
use super::storage;
use super::warnings::Warnings;
use crate::webhook::{AdmissionAttributes, ApiResource, EquivalenceRegistry, Operation, UserInfo};
use crate::{
    CustomResourceDefinition, DecodeError, DecodeOptions, FieldValidation, PendingRule, Scope,
    ValidateOptions, Validation, Version,
};

/// The write path of the resources of one definition, in process: a request in, and out comes
/// what a server would store and return, or the status it would answer with.
///
/// ```
/// use billhook::CustomResourceDefinition;
/// use billhook::admission::{Admission, Chain, ObjectRequest, Unreachable};
///
/// # let definition = CustomResourceDefinition::from_value(&serde_json::json!({
/// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
/// #   "spec": {"group": "example.com", "scope": "Namespaced",
/// #     "names": {"plural": "foos", "kind": "Foo"},
/// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
/// #       {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
/// #         "properties": {"size": {"type": "integer", "default": 1, "maximum": 3}}}}}}}]}}))?;
/// let admission = Admission::new(definition, Chain::new(Unreachable));
/// let body = br#"{"apiVersion": "example.com/v1", "kind": "Foo",
///     "metadata": {"name": "x"}, "spec": {}}"#;
/// let outcome = admission.admit_blocking(&ObjectRequest::create("v1", body));
/// assert_eq!(outcome.result?.returned.unwrap()["spec"]["size"], 1);
///
/// let body = br#"{"apiVersion": "example.com/v1", "kind": "Foo",
///     "metadata": {"name": "x"}, "spec": {"size": 4}}"#;
/// let outcome = admission.admit_blocking(&ObjectRequest::create("v1", body));
/// assert_eq!(
///     outcome.result.unwrap_err().to_string(),
///     "Foo.example.com \"x\" is invalid: spec.size: Invalid value: 4: spec.size in body should \
///      be less than or equal to 3",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Admission {
    definition: CustomResourceDefinition,
    model: CustomResources,
    chain: Chain,
    server_fields: Arc<dyn Fn() -> ServerFields + Send + Sync>,
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admission")
            .field("definition", &self.definition.name())
            .finish_non_exhaustive()
    }
}

/// What the server gives a new object (RP-45, AR-30).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerFields {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.creationTimestamp`.
    pub creation_timestamp: String,
    /// The end of a generated name.
    pub name_suffix: String,
}

/// A request for one object.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ObjectRequest {
    /// What is done; custom resources know no `CONNECT`.
    pub operation: Operation,
    /// The version in the URL.
    pub version: String,
    /// The namespace in the URL; if empty, that of the object, and then `default`.
    pub namespace: String,
    /// The body: the new object, in JSON or YAML.
    pub body: Vec<u8>,
    /// The object as it is stored, for an update or a deletion.
    pub stored: Vec<u8>,
    /// Whether it is the `status` subresource that is updated.
    pub is_status_update: bool,
    /// Whether the object is deleted as part of its collection, so that webhooks are not told its
    /// name (AR-35).
    pub is_in_collection: bool,
    /// What is done about unknown and duplicate fields.
    pub field_validation: FieldValidation,
    /// Whether nothing is to be stored.
    pub dry_run: bool,
    /// Who makes the request.
    pub user: UserInfo,
    /// The deadline and what is to be reported.
    pub options: RequestOptions,
}

impl ObjectRequest {
    /// The creation of an object.
    pub fn create(version: &str, body: &[u8]) -> Self {
        let (version, body) = (version.to_owned(), body.to_vec());
        ObjectRequest { operation: Operation::Create, version, body, ..Self::default() }
    }

    /// A change of an object: the complete new object, and what is stored. Fields that only the
    /// server writes may be left out of it, as in a patch.
    pub fn update(version: &str, body: &[u8], stored: &[u8]) -> Self {
        ObjectRequest {
            operation: Operation::Update,
            stored: stored.to_vec(),
            ..Self::create(version, body)
        }
    }

    /// The deletion of an object.
    pub fn delete(version: &str, stored: &[u8]) -> Self {
        ObjectRequest {
            operation: Operation::Delete,
            version: version.to_owned(),
            stored: stored.to_vec(),
            ..Self::default()
        }
    }

    /// The request in a namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        namespace.clone_into(&mut self.namespace);
        self
    }

    /// The request for the `status` subresource.
    #[must_use]
    pub fn status_update(mut self) -> Self {
        self.is_status_update = true;
        self
    }

    /// The request as one of those that the deletion of a collection is made of.
    #[must_use]
    pub fn in_collection(mut self) -> Self {
        self.is_in_collection = true;
        self
    }

    /// The request with another field validation.
    #[must_use]
    pub fn field_validation(mut self, field_validation: FieldValidation) -> Self {
        self.field_validation = field_validation;
        self
    }

    /// The request with or without storing anything.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// The request of another user.
    #[must_use]
    pub fn user(mut self, user: UserInfo) -> Self {
        self.user = user;
        self
    }

    /// The request with other options.
    #[must_use]
    pub fn options(mut self, options: RequestOptions) -> Self {
        self.options = options;
        self
    }
}

/// What became of a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AdmissionOutcome {
    /// What is stored and returned, or the status that the client gets.
    pub result: Result<Accepted, Status>,
    /// The warnings for the client.
    pub warnings: Warnings,
    /// What goes to the audit log.
    pub annotations: AuditAnnotations,
    /// What was done, step by step, if a trace was asked for.
    pub steps: Vec<Step>,
    /// All errors of the validating webhooks, of which the client gets the first (DI-66).
    pub validating_errors: Vec<Status>,
    /// The rules in CEL that a server would have evaluated on top of the validation.
    pub not_evaluated: Vec<PendingRule>,
    /// The webhooks that are not idempotent, if that was to be checked.
    pub findings: Vec<IdempotenceFinding>,
}

/// An accepted request.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Accepted {
    /// What is written to storage (RP-53); nothing for a deletion.
    pub stored: Option<Vec<u8>>,
    /// Whether nothing is written because the same is stored already (RP-53).
    pub unchanged: bool,
    /// What the client gets: for a deletion the object that is gone.
    pub returned: Option<DeepValue>,
}

impl Admission {
    /// The write path of a definition through a chain, which learns of the definition's versions
    /// and defaults.
    pub fn new(definition: CustomResourceDefinition, chain: Chain) -> Self {
        let mut equivalents = EquivalenceRegistry::new();
        equivalents.register_definition(&definition);
        let model = CustomResources::new(definition.clone());
        let chain = chain.equivalents(equivalents).model(model.clone());
        Admission { definition, model, chain, server_fields: Arc::new(server_fields) }
    }

    /// The write path with objects that are converted by something else than the strategy None.
    #[must_use]
    pub fn converter(mut self, converter: Arc<dyn Converter>) -> Self {
        self.model = self.model.converter(converter);
        self.chain = self.chain.model(self.model.clone());
        self
    }

    /// The write path with another source of what the server gives new objects, for tests.
    #[must_use]
    pub fn server_fields(
        mut self,
        server_fields: impl Fn() -> ServerFields + Send + Sync + 'static,
    ) -> Self {
        self.server_fields = Arc::new(server_fields);
        self
    }

    /// Takes a request all the way.
    pub async fn admit(&self, request: &ObjectRequest) -> AdmissionOutcome {
        let mut outcome = AdmissionOutcome {
            result: Ok(Accepted::default()),
            warnings: Warnings::default(),
            annotations: AuditAnnotations::default(),
            steps: Vec::new(),
            validating_errors: Vec::new(),
            not_evaluated: Vec::new(),
            findings: Vec::new(),
        };
        outcome.result = self.run(request, &mut outcome).await;
        outcome
    }

    /// [`Admission::admit`] for callers of webhooks that never wait for anything, such as webhooks
    /// in the same process. It blocks the thread.
    pub fn admit_blocking(&self, request: &ObjectRequest) -> AdmissionOutcome {
        super::block::block_on(self.admit(request))
    }

    async fn run(
        &self,
        request: &ObjectRequest,
        outcome: &mut AdmissionOutcome,
    ) -> Result<Accepted, Status> {
        let version = self.definition.version(&request.version).filter(Version::is_served);
        let is_served =
            |version: &Version| !request.is_status_update || version.has_status_subresource();
        let version = version.filter(is_served).ok_or_else(Status::resource_not_found)?;
        let began = Instant::now();
        let mut step = Step { action: Action::Decode, took: Duration::ZERO, changes: Vec::new() };
        let read = self.read(&version, request, &mut outcome.warnings, &mut step.changes);
        step.took = began.elapsed();
        if request.options.trace {
            outcome.steps.push(step);
        }
        let (old, attributes) = read?;
        let mut not_evaluated = Vec::new();
        let prepare = |attributes: &mut AdmissionAttributes, warnings: &mut Warnings| {
            let Some(object) = attributes.object.as_mut() else { return Ok(()) };
            let validation = self.prepare(&version, request, object, old.as_deref());
            if let Some(name) = object.pointer("/metadata/name").and_then(Value::as_str) {
                name.clone_into(&mut attributes.name);
            }
            validation.warnings().iter().for_each(|warning| warnings.add(warning));
            not_evaluated = validation.not_evaluated().to_vec();
            invalid(&validation, &version, &attributes.name)
        };
        let chain = self.chain.run(attributes, &request.options, prepare).await;
        outcome.not_evaluated = not_evaluated;
        for warning in chain.warnings.raw() {
            outcome.warnings.add(warning);
        }
        outcome.annotations = chain.annotations;
        outcome.steps.extend(chain.steps);
        outcome.validating_errors = chain.validating_errors;
        outcome.findings = chain.findings;
        let Some(mut object) = chain.result?.object else {
            return Ok(Accepted { returned: old, ..Accepted::default() });
        };
        let began = Instant::now();
        storage::remove_revision(&mut object);
        let stored = storage::encode(&self.model, &version, &object)?;
        let accepted = Accepted {
            unchanged: storage::is_stored(&stored, &request.stored),
            returned: Some(storage::decode(&self.model, &version, &stored)?),
            stored: Some(stored),
        };
        if request.options.trace {
            let after = accepted.returned.as_ref();
            outcome.steps.push(Step::changing(Action::Store, began.elapsed(), &object, after));
        }
        Ok(accepted)
    }

    /// Decodes what the request brings: the stored object, if any, and the request as the chain
    /// sees it (RP-10, RP-50).
    fn read(
        &self,
        version: &Version,
        request: &ObjectRequest,
        warnings: &mut Warnings,
        changes: &mut Vec<Difference>,
    ) -> Result<(Option<DeepValue>, AdmissionAttributes), Status> {
        if let Some(text) = deprecation_warning(version) {
            warnings.add(&text);
        }
        let old = match request.operation {
            Operation::Create => None,
            _ => {
                let mut old = storage::decode(&self.model, version, &request.stored)?;
                // Storage knows which revision it is; the bytes don't.
                if let Some(Value::Object(metadata)) = old.get_mut("metadata") {
                    metadata.entry("resourceVersion").or_insert_with(|| Value::from("1"));
                }
                Some(old)
            }
        };
        let resource = ApiResource::of_version(version);
        let mut attributes = match (request.operation, &old) {
            (Operation::Create, _) => {
                resource.create(self.decode(version, request, None, warnings, changes)?)
            }
            (Operation::Update, Some(old)) => {
                let object = self.decode(version, request, Some(old), warnings, changes)?;
                resource.update(object, old.clone())
            }
            (Operation::Delete, Some(old)) => resource.delete(old.clone()),
            _ => {
                let message = "the server does not allow this method on the requested resource";
                return Err(Status::failure(405, "MethodNotAllowed", message));
            }
        };
        if request.is_status_update {
            attributes.subresource = "status".to_owned();
        }
        if request.is_in_collection {
            attributes.name.clear();
        }
        attributes.dry_run = request.dry_run;
        attributes.options = Some(options(request));
        attributes.user = request.user.clone();
        Ok((old, attributes))
    }

    /// Decodes the body, and gives the object the namespace of the request.
    fn decode(
        &self,
        version: &Version,
        request: &ObjectRequest,
        old: Option<&DeepValue>,
        warnings: &mut Warnings,
        changes: &mut Vec<Difference>,
    ) -> Result<DeepValue, Status> {
        let decoding = DecodeOptions::default()
            .field_validation(request.field_validation)
            .report(request.options.trace);
        let refused = |error: DecodeError| Status::bad_request(error.status_message());
        let decoded = version.decode(&request.body, &decoding).map_err(refused)?;
        let (object, found, reported) = decoded.into_parts();
        changes.extend(reported.iter().map(Difference::from));
        let mut object = DeepValue::from(object);
        // The warning about repeated keys in YAML has a line for each (RP-22).
        found.iter().flat_map(|text| text.lines()).for_each(|line| warnings.add(line.trim()));
        let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
            return Ok(object);
        };
        let own = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default();
        match self.definition.scope() {
            Scope::Cluster => {
                metadata.remove("namespace");
            }
            Scope::Namespaced => {
                let expected = match (request.namespace.as_str(), own) {
                    ("", "") => "default",
                    ("", own) => own,
                    (expected, _) => expected,
                };
                if !own.is_empty() && own != expected {
                    return Err(Status::bad_request(
                        "the namespace of the provided object does not match the namespace sent \
                         on the request",
                    ));
                }
                let expected = Value::from(expected);
                metadata.insert("namespace".to_owned(), expected);
            }
        }
        match old {
            None => SERVER_FIELDS.iter().for_each(|name| {
                metadata.remove(*name);
            }),
            Some(old) => keep_server_fields(metadata, old),
        }
        Ok(object)
    }

    /// What the server does to the object behind the mutating stage, and its validation
    /// (RP-41 to RP-45).
    fn prepare(
        &self,
        version: &Version,
        request: &ObjectRequest,
        object: &mut Value,
        old: Option<&Value>,
    ) -> Validation {
        let options = ValidateOptions::default();
        let Some(old) = old else {
            version.prepare_create(object, &request.namespace);
            let given = (self.server_fields)();
            if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
                metadata.insert("uid".to_owned(), given.uid.into());
                metadata.insert("creationTimestamp".to_owned(), given.creation_timestamp.into());
                generate_name(metadata, &given.name_suffix);
            }
            return version.validate_create(object, &options);
        };
        if request.is_status_update {
            version.prepare_status_update(object, old);
            return version.validate_status_update(object, old, &options);
        }
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            keep_server_fields(metadata, old);
        }
        version.prepare_update(object, old);
        version.validate_update(object, old, &options)
    }
}

/// What a client cannot set in a new object.
const SERVER_FIELDS: [&str; 5] =
    ["creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"];

/// What an update cannot change, and what it may leave out.
fn keep_server_fields(metadata: &mut Map<String, Value>, old: &Value) {
    let old = |name: &str| old.pointer(&format!("/metadata/{name}")).cloned();
    for name in ["uid", "resourceVersion"] {
        if let Some(value) = old(name).filter(|_| !metadata.contains_key(name)) {
            metadata.insert(name.to_owned(), value);
        }
    }
    for name in ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        match old(name) {
            Some(value) => metadata.insert(name.to_owned(), value),
            None => metadata.remove(name),
        };
    }
}

/// The longest part of `generateName` that is left of a name.
const MAX_GENERATED_BASE: usize = 58;

fn generate_name(metadata: &mut Map<String, Value>, suffix: &str) {
    let text = |name: &str| metadata.get(name).and_then(Value::as_str).unwrap_or_default();
    let base = text("generateName");
    if base.is_empty() || !text("name").is_empty() {
        return;
    }
    let base: String = base.chars().take(MAX_GENERATED_BASE).collect();
    metadata.insert("name".to_owned(), format!("{base}{suffix}").into());
}

/// The options object of the operation (AR-19).
fn options(request: &ObjectRequest) -> DeepValue {
    let kind = match request.operation {
        Operation::Create => "CreateOptions",
        Operation::Delete => "DeleteOptions",
        _ => "UpdateOptions",
    };
    let mut options = json!({"apiVersion": "meta.k8s.io/v1", "kind": kind});
    if let Value::Object(members) = &mut options {
        if request.dry_run {
            members.insert("dryRun".to_owned(), json!(["All"]));
        }
        let validation = match request.field_validation {
            FieldValidation::Strict => Some("Strict"),
            FieldValidation::Ignore => Some("Ignore"),
            FieldValidation::Warn => None,
        };
        if let Some(validation) = validation.filter(|_| request.operation != Operation::Delete) {
            members.insert("fieldValidation".to_owned(), validation.into());
        }
    }
    options.into()
}

/// The status of an object that is not valid (VV-64).
fn invalid(validation: &Validation, version: &Version, name: &str) -> Result<(), Status> {
    let Some(message) = validation.status_message() else { return Ok(()) };
    let causes = validation.errors().iter().map(|error| {
        let text = error.to_string();
        let field = error.field().to_string();
        let message = text.strip_prefix(&format!("{field}: ")).unwrap_or(&text).to_owned();
        StatusCause { reason: error.error_type().reason().to_owned(), message, field }
    });
    let details = StatusDetails {
        name: name.to_owned(),
        group: version.definition().group().to_owned(),
        kind: version.definition().kind().to_owned(),
        causes: causes.collect(),
        ..StatusDetails::default()
    };
    let details = Some(Box::new(details));
    Err(Status { details, ..Status::failure(422, "Invalid", message) })
}

fn server_fields() -> ServerFields {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let uid = uuid::Uuid::new_v4();
    let random = uuid::Uuid::new_v4();
    let letter = |byte: &u8| LETTERS.get(usize::from(*byte) % LETTERS.len()).copied();
    let suffix = random.as_bytes().iter().take(5).filter_map(letter).map(char::from);
    ServerFields {
        uid: uid.to_string(),
        creation_timestamp: super::time::now(),
        name_suffix: suffix.collect(),
    }
}
