//! Cases of our own format: definitions and webhooks as in a cluster, and requests to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook::webhook::WebhookConfiguration;
use billhook::{
    Change, ChangeKind, CrdOptions, CrdVersion, CustomResourceDefinition, DecodeOptions, Decoded,
    DeepValue, FieldPath, FieldValidation, KubernetesVersion, Scope, Status, UserInfo,
};
use billhook_admission::{
    Accepted, Action, Admission, AuditAnnotations, Chain, ObjectRequest, RequestOptions,
    RequestOutcome, StoredObject, Subresource,
};
use billhook_apimachinery::namespace::is_namespace;
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::deep_clone;
use billhook_findings::closest;
use billhook_generation::set_metadata;
use billhook_kinds::{Kind, register_kinds};
use billhook_policy::{Cluster as _, EvaluatedExpression, MemoryCluster, ParamKind, PolicySet};
use serde_json::{Map, Value};

use crate::admission_files::Policies;
use crate::answers::Answers;
use crate::authorizer::authorizer;
use crate::built_in::kind_of;
use crate::compare;
use crate::exercise::Sent;
use crate::failure::{CaseStage, Failure};
use crate::install::{REVISION, UID, accepted_definition, body, fields};
use crate::object_case::{Expectation, ExpectedError, ObjectCase, Row};
use crate::object_path::ObjectPath;
use crate::runner_error::RunnerError;
use crate::suite::Suite;

/// The name and the namespace of objects that have none.
const NAME: &str = "test";
const NAMESPACE: &str = "default";

/// Definitions and webhooks, and the requests of a suite to them.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// Those of definitions, then those of the built-in kinds that the suite is about.
    resources: Vec<(CustomResourceDefinition, Admission)>,
    world: Arc<MemoryCluster>,
}

/// All that came of a request.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) result: Result<DeepValue, Status>,
    pub(crate) warnings: Vec<String>,
    /// The changes that decoding makes.
    changes: Vec<Change>,
    /// The object after them.
    decoded: DeepValue,
    /// The expressions of policies that were evaluated, if they were asked for.
    expressions: Vec<EvaluatedExpression>,
    /// The audit annotations.
    pub(crate) annotations: BTreeMap<String, String>,
    /// The names of the webhooks that were called.
    pub(crate) webhooks: Vec<String>,
}

impl Cluster {
    /// Installs definitions and webhooks on a server of a Kubernetes version.
    pub(crate) fn new(
        definitions: &[&Value],
        webhooks: &[WebhookConfiguration],
        answers: Answers,
        policies: Policies,
        suite: &Suite,
        kubernetes: KubernetesVersion,
    ) -> Result<Self, RunnerError> {
        let definitions = definitions.iter().map(|definition| {
            let document = accepted_definition(definition, kubernetes)?;
            let options = CrdOptions::default().kubernetes(kubernetes);
            Ok(CustomResourceDefinition::with_options(&document, &options)?)
        });
        let definitions = definitions.collect::<Result<Vec<_>, RunnerError>>()?;
        let world = Arc::new(world(policies.objects, &definitions, suite, kubernetes)?);
        let chain = Chain::new(answers)
            .kubernetes(kubernetes)
            .webhooks(webhooks)
            .results_in_hook_order(true)
            .policies(PolicySet::for_kubernetes(kubernetes, policies.documents));
        let defined = definitions.into_iter().map(|definition| {
            let admission = Admission::new(definition.clone(), chain.clone());
            (definition, admission)
        });
        let built_in = kinds(suite).filter_map(|kind| {
            let definition = kind.compile(kubernetes)?.ok()?;
            Some((definition, Admission::of_kind(kind, kubernetes, chain.clone())?))
        });
        let resources = defined
            .chain(built_in)
            .map(|(definition, admission)| (definition, admission.server_fields(fields)))
            .collect();
        Ok(Cluster { resources, world })
    }

    /// Runs a case.
    pub(crate) fn run(
        &self,
        suite: &Suite,
        case: &ObjectCase,
        row: Option<Row<'_>>,
    ) -> Result<(), Failure> {
        let observed = self.observe(suite, case, row)?;
        let accepted = Expectation::default();
        let expected = case.expect.as_ref().unwrap_or(&accepted);
        let stage = stage(case);
        let Some(row) = row else { return observed.judge(stage, expected) };
        match (row.is_valid, &expected.error) {
            (true, _) => {
                let expected = Expectation { error: None, ..expected.clone() };
                observed.judge(stage, &expected)?;
                observed.keeps(row.field, &expected)
            }
            (false, Some(_)) => observed.judge(stage, expected),
            (false, None) => observed.near(stage, row.field),
        }
    }

    /// Sends the request of a case.
    pub(crate) fn observe(
        &self,
        suite: &Suite,
        case: &ObjectCase,
        row: Option<Row<'_>>,
    ) -> Result<Observed, Failure> {
        self.send(suite, case, row, RequestOptions::default().trace(true))
    }

    /// Sends the request of a case; returns the expressions of policies that it evaluates.
    pub(crate) fn expressions(
        &self,
        suite: &Suite,
        case: &ObjectCase,
        row: Option<Row<'_>>,
    ) -> Vec<EvaluatedExpression> {
        let options = RequestOptions::default().expressions(true);
        self.send(suite, case, row, options).map(|sent| sent.expressions).unwrap_or_default()
    }

    fn send(
        &self,
        suite: &Suite,
        case: &ObjectCase,
        row: Option<Row<'_>>,
        options: RequestOptions,
    ) -> Result<Observed, Failure> {
        let mut object = object(case, row).map_err(Failure::Unusable)?;
        let (served, admission) = self.resource(&object)?;
        let mut request = match complete(case, &mut object, served.definition().scope()) {
            None if case.delete => ObjectRequest::delete(served.name(), &body(&object)),
            None => ObjectRequest::create(served.name(), &body(&object)),
            Some(mut old) => {
                complete_stored(&mut old, served.definition().kubernetes());
                let stored = StoredObject::new(body(&old)).resource_version(REVISION);
                ObjectRequest::update(served.name(), &body(&object), &[]).stored(stored)
            }
        };
        request.subresource = match case.subresource.as_str() {
            "status" => Some(Subresource::Status),
            "scale" => Some(Subresource::Scale),
            _ => None,
        };
        request.field_validation = match case.field_validation.as_str() {
            "Strict" => FieldValidation::Strict,
            "Ignore" => FieldValidation::Ignore,
            _ => FieldValidation::Warn,
        };
        request.user = user(suite, case);
        request.options = options;
        let outcome = admission.admit_blocking(&request, &*self.world);
        let decoded = served.decode(&request.body, &DecodeOptions::default().report(true));
        let (decoded, _, changes) = decoded.map(Decoded::into_parts).unwrap_or_default();
        let observed = Observed::of(outcome, Accepted::into_returned);
        Ok(Observed { changes, decoded, ..observed })
    }

    /// The object that a case sends, and the version of a definition that it is of.
    pub(crate) fn sent(
        &self,
        case: &ObjectCase,
        row: Option<Row<'_>>,
    ) -> Option<(CrdVersion, Sent)> {
        let object = object(case, row).ok()?;
        let (version, _) = self.resource(&object).ok()?;
        // The body of `scale` is of another kind.
        let is_scale = case.subresource == "scale";
        let is_status = case.subresource == "status";
        let sent = Sent { object, old: case.old.clone(), is_status };
        (!is_scale && !case.delete).then_some((version, sent))
    }

    /// The version of the definition that an object is of.
    fn resource(&self, object: &Value) -> Result<(CrdVersion, &Admission), Failure> {
        let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let (group, version) = split_api_version(api_version);
        let is_its = |(definition, _): &&(CustomResourceDefinition, _)| {
            definition.group() == group && definition.kind() == kind
        };
        let mut found = self.resources.iter().filter(is_its);
        // Each version of a built-in kind is a resource of its own.
        let named = found.clone().find(|(definition, _)| definition.served(version).is_ok());
        let Some((definition, admission)) = named.or_else(|| found.next()) else {
            return Err(self.unknown_kind(api_version, kind));
        };
        let served = definition.served(version).map_err(|error| {
            let versions = definition.versions().filter(CrdVersion::is_served);
            let versions: Vec<String> = versions.map(|version| version.api_version()).collect();
            let text = format!("{error}; it serves {}", versions.join(", "));
            let meant = closest(api_version, versions.iter().map(String::as_str));
            Failure::NotServed { field: "apiVersion", text, meant: meant.map(str::to_owned) }
        })?;
        Ok((served, admission))
    }

    fn unknown_kind(&self, api_version: &str, kind: &str) -> Failure {
        let text = format!("no CRD for kind `{kind}` of `{api_version}`");
        let mut known = self.resources.iter().map(|(definition, _)| definition);
        let (field, meant) = match known.clone().find(|known| known.kind() == kind) {
            Some(same) => {
                let version = same.versions().find(CrdVersion::is_served);
                ("apiVersion", version.map(|version| version.api_version()))
            }
            None => {
                ("kind", closest(kind, known.by_ref().map(|known| known.kind())).map(str::to_owned))
            }
        };
        Failure::NotServed { field, text, meant }
    }
}

/// The object of a case, with the value of a row.
fn object(case: &ObjectCase, row: Option<Row<'_>>) -> Result<DeepValue, String> {
    match row {
        Some(row) => ObjectPath::parse(row.field)?.set(&case.object, row.value),
        None => Ok(case.object.clone()),
    }
}

/// The stage of a case.
pub(crate) fn stage(case: &ObjectCase) -> CaseStage {
    match (&case.old, case.subresource.as_str()) {
        (None, _) => CaseStage::Create,
        (Some(_), "status") => CaseStage::UpdateStatus,
        (Some(_), _) => CaseStage::Update,
    }
}

/// The built-in kinds of a suite's objects, each once.
fn kinds(suite: &Suite) -> impl Iterator<Item = &'static Kind> {
    let mut kinds: Vec<&'static Kind> = Vec::new();
    for kind in suite.cases.iter().filter_map(|case| kind_of(&case.object)) {
        if !kinds.iter().any(|known| std::ptr::eq(*known, kind)) {
            kinds.push(kind);
        }
    }
    kinds.into_iter()
}

/// The world around the requests of a suite: its permissions, its namespaces, or any if it has none,
/// and the objects that policies see, as a server has stored them.
fn world(
    objects: Vec<DeepValue>,
    definitions: &[CustomResourceDefinition],
    suite: &Suite,
    kubernetes: KubernetesVersion,
) -> Result<MemoryCluster, RunnerError> {
    let has_namespaces =
        !suite.namespaces.is_empty() || objects.iter().any(|object| is_namespace(object));
    let mut cluster =
        MemoryCluster::from(suite.namespaces.clone()).with_authorizer(authorizer(&suite.allow));
    if !has_namespaces {
        cluster = cluster.assume_namespaces();
    }
    register_kinds(&mut cluster, kubernetes);
    definitions.iter().for_each(|definition| cluster.register_definition(definition));
    for mut object in objects {
        let text =
            |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let scope = cluster.scope(&ParamKind::new(api_version.as_str(), kind.as_str()));
        name(&mut object, None, scope == Some(Scope::Namespaced));
        let mut definitions = definitions.iter().filter(|known| known.kind() == kind);
        let version = definitions.find_map(|known| {
            known.versions().find(|version| version.api_version() == api_version)
        });
        match version {
            None => cluster.insert(object),
            Some(version) => {
                let inserted = cluster.insert_sent(object, &version);
                inserted.map_err(|error| RunnerError::Parameter(format!("{kind}: {error}")))?;
            }
        }
    }
    Ok(cluster)
}

fn annotations(annotations: &AuditAnnotations) -> BTreeMap<String, String> {
    let annotations = annotations.iter();
    annotations.map(|(key, annotation)| (key.to_owned(), annotation.value.clone())).collect()
}

/// Completes the object of a case; returns the stored one that it is an update of.
fn complete(case: &ObjectCase, object: &mut DeepValue, scope: Scope) -> Option<DeepValue> {
    let is_namespaced = scope == Scope::Namespaced;
    name(object, None, is_namespaced);
    if case.delete {
        stored_fields(object);
    }
    let mut old = case.old.clone()?;
    name(&mut old, Some(object), is_namespaced);
    stored_fields(&mut old);
    Some(old)
}

/// Sets the defaults of a stored object of a built-in kind, as servers store them.
fn complete_stored(old: &mut DeepValue, kubernetes: KubernetesVersion) {
    if let Some((kind, record)) = kind_of(old).and_then(|kind| Some((kind, kind.record()?))) {
        // A value of the wrong type stays as it is, and is refused where it is read.
        let _of_wrong_type = kind.behavior().read(old, record, kubernetes);
    }
}

/// Names an object that has no name: as another one, or as all objects are.
fn name(object: &mut Value, other: Option<&Value>, is_namespaced: bool) {
    let namespace = is_namespaced.then_some(("namespace", NAMESPACE));
    for (field, default) in [("name", NAME)].into_iter().chain(namespace) {
        let metadata = |object: &Value, field| object.pointer("/metadata")?.get(field).cloned();
        let is_generated = field == "name" && metadata(object, "generateName").is_some();
        if metadata(object, field).is_none() && !is_generated {
            let other = other.and_then(|other| metadata(other, field));
            let value = other.as_ref().and_then(Value::as_str).unwrap_or(default);
            set_metadata(object, field, Some(value));
        }
    }
}

/// Sets what a server has written into a stored object.
fn stored_fields(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let fields = fields();
    metadata.entry("uid").or_insert_with(|| UID.into());
    metadata.entry("creationTimestamp").or_insert_with(|| fields.creation_timestamp.into());
    metadata.entry("generation").or_insert_with(|| 1.into());
}

/// The user who makes the request of a case.
fn user(suite: &Suite, case: &ObjectCase) -> UserInfo {
    case.user.as_ref().or(suite.user.as_ref()).cloned().unwrap_or_default()
}

impl Observed {
    /// All that an outcome shows, given the object that the client gets back.
    fn of<T>(outcome: RequestOutcome<T>, returned: fn(T) -> Option<DeepValue>) -> Self {
        let called = |action: &Action| match action {
            Action::Webhook { hook, .. } => Some(hook.clone()),
            _ => None,
        };
        Observed {
            result: outcome.result.map(|accepted| returned(accepted).unwrap_or_default()),
            warnings: outcome.warnings.texts(),
            annotations: annotations(&outcome.annotations),
            webhooks: outcome.steps.iter().filter_map(|step| called(&step.action)).collect(),
            expressions: outcome.expressions,
            changes: Vec::new(),
            decoded: DeepValue::default(),
        }
    }

    /// Compares with what is expected.
    pub(crate) fn judge(&self, stage: CaseStage, expected: &Expectation) -> Result<(), Failure> {
        let object = match (&self.result, &expected.error) {
            (Ok(object), None) => Some(object),
            (Err(status), None) => {
                return Err(Failure::Refused { stage, actual: status.clone().into() });
            }
            (Ok(_), Some(error)) => {
                return Err(Failure::NoError { stage, expected: error.clone() });
            }
            (Err(status), Some(error)) if fits(error, status) => None,
            (Err(status), Some(error)) => {
                let (expected, actual) = (error.clone(), status.clone().into());
                return Err(Failure::OtherError { stage, expected, actual });
            }
        };
        for (part, wanted, is) in [
            ("warnings", expected.warnings.as_deref().map(texts), texts(&self.warnings)),
            ("pruned", expected.pruned.as_deref().map(texts), texts(&self.pruned())),
            ("defaulted", expected.defaulted.as_ref().map(map), map(&self.defaulted())),
            ("webhooks", expected.webhooks.as_deref().map(texts), texts(&self.webhooks)),
            (
                "auditAnnotations",
                expected.audit_annotations.as_ref().map(strings),
                strings(&self.expected_annotations(expected)),
            ),
        ] {
            if let Some(wanted) = wanted.filter(|wanted| *wanted != is) {
                return Err(Failure::Part { part, expected: wanted, actual: is });
            }
        }
        let Some(object) = object else { return Ok(()) };
        let whole = expected.object.as_ref().map(|expected| compare::whole(expected, object));
        whole.unwrap_or(Ok(()))?;
        let part = expected.matches.as_ref().map(|expected| compare::part(expected, object));
        part.unwrap_or(Ok(()))
    }

    /// Expects that the value of a field is not pruned, unless the case says what is.
    fn keeps(&self, field: &str, expected: &Expectation) -> Result<(), Failure> {
        let Ok(path) = ObjectPath::parse(field) else { return Ok(()) };
        let path = path.below(FieldPath::default());
        let pruned: Vec<String> = self
            .pruned_paths()
            .filter(|pruned| path.starts_with(pruned))
            .map(ToString::to_string)
            .collect();
        if pruned.is_empty() || expected.pruned.is_some() || expected.warnings.is_some() {
            return Ok(());
        }
        let (expected, actual) = (texts(&[]), texts(&pruned));
        Err(Failure::Part { part: "pruned", expected, actual })
    }

    /// Expects any error of a field, one around it or one below it.
    fn near(&self, stage: CaseStage, field: &str) -> Result<(), Failure> {
        let expected = ExpectedError { field: field.to_owned(), ..ExpectedError::default() };
        let Err(status) = &self.result else { return Err(Failure::NoError { stage, expected }) };
        let field = field.strip_prefix('/').map_or(field.to_owned(), |it| it.replace('/', "."));
        let steps = |path: &str| -> Vec<String> {
            let steps = path.split(['.', '[', ']']).filter(|step| !step.is_empty());
            steps.filter(|step| *step != "<nil>").map(str::to_owned).collect()
        };
        let wanted = steps(&field);
        let is_near = |path: &str| {
            let mut pairs = wanted.iter().zip(steps(path));
            pairs.all(|(wanted, step)| *wanted == step)
        };
        let causes = status.details.iter().flat_map(|details| &details.causes);
        let mut fields = causes.map(|cause| cause.field.as_str()).peekable();
        // A body that cannot be decoded names no field.
        match fields.peek().is_none() || fields.any(is_near) {
            true => Ok(()),
            false => Err(Failure::OtherError { stage, expected, actual: status.clone().into() }),
        }
    }

    /// The audit annotations with the keys of those that are expected.
    fn expected_annotations(&self, expected: &Expectation) -> BTreeMap<String, String> {
        let mut found = self.annotations.clone();
        let expected = expected.audit_annotations.as_ref();
        found.retain(|key, _| expected.is_some_and(|expected| expected.contains_key(key)));
        found
    }

    pub(crate) fn pruned(&self) -> Vec<String> {
        sorted(self.pruned_paths().map(ToString::to_string))
    }

    /// The fields that are pruned, in the order of the object.
    pub(crate) fn pruned_paths(&self) -> impl Iterator<Item = &FieldPath> {
        let pruned = self.changes.iter().filter(|change| change.kind() == ChangeKind::Pruned);
        pruned.map(Change::path)
    }

    pub(crate) fn defaulted(&self) -> BTreeMap<String, DeepValue> {
        let set = self.changes.iter().filter(|change| change.kind() == ChangeKind::Defaulted);
        let mut tops: Vec<&FieldPath> = Vec::new();
        for path in set.map(Change::path) {
            // What a default holds may get defaults itself.
            if !tops.iter().any(|top| path.starts_with(top)) {
                tops.push(path);
            }
        }
        let value = |path: &FieldPath| {
            let value = self.decoded.pointer(&path.to_json_pointer());
            DeepValue::from(value.map(deep_clone).unwrap_or_default())
        };
        tops.into_iter().map(|path| (path.to_string(), value(path))).collect()
    }
}

/// Whether a status is what is expected.
fn fits(expected: &ExpectedError, status: &Status) -> bool {
    let ExpectedError { rule, field, text, policy } = expected;
    let is_by = |quote: char| status.message.contains(&format!("olicy {quote}{policy}{quote}"));
    if !policy.is_empty() && !is_by('\'') && !is_by('"') {
        return false;
    }
    if field.is_empty() && (rule.is_empty() || *rule == status.reason) {
        return status.message.contains(text);
    }
    if rule == ExpectedError::UNKNOWN_FIELD {
        let names = |kind: &str| status.message.contains(&format!("{kind} field \"{field}"));
        let is_named = names("unknown") || names("duplicate");
        return is_named && status.message.contains(text);
    }
    let causes = status.details.iter().flat_map(|details| &details.causes);
    causes.into_iter().any(|cause| {
        (rule.is_empty() || *rule == cause.reason)
            && (field.is_empty() || *field == cause.field)
            && format!("{}: {}", cause.field, cause.message).contains(text)
    })
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts
}

fn texts(texts: &[String]) -> DeepValue {
    DeepValue::from(Value::from(texts.to_vec()))
}

fn strings(map: &BTreeMap<String, String>) -> DeepValue {
    let members = map.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
    DeepValue::from(Value::Object(members.collect::<Map<_, _>>()))
}

fn map(map: &BTreeMap<String, DeepValue>) -> DeepValue {
    let members = map.iter().map(|(name, value)| (name.clone(), deep_clone(value)));
    DeepValue::from(Value::Object(members.collect::<Map<_, _>>()))
}
