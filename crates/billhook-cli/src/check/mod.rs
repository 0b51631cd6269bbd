//! `billhook check`: what a server says about documents that are applied to it, one verdict for
//! each. [`Subject`] knows the kinds that can be checked.

mod matrix;
mod report;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use billhook::webhook::{
    ConfigurationError, ConfigurationKind, ValidationOptions, WebhookConfiguration, lint_together,
};
use billhook::{
    CrdOptions, CustomResourceDefinition, Definition, DefinitionError, DefinitionValidation,
    FieldError, FieldValidation, KubernetesVersion, Status as Answer,
};
use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{PerVersion, split_api_version};
use billhook_findings::Finding;
use billhook_policy::{PolicyDocument, PolicyError, PolicyKind, lint_policies_together};
use indexmap::IndexSet;
use serde_json::Value;

use crate::advice::Advice;
use crate::args::Check;
use crate::crds::{Crds, list};
use crate::identity::Identity;
use crate::input::{Document, documents_of, readable_documents, sources};
use crate::options::field_validation;
use crate::policy::{Config, Policy};
use crate::problem::{self, Place, Problem, RunError, Status};
use crate::work::{self, Event, Others, Pass, Work};

/// The outcome of a document.
#[derive(Debug)]
struct Outcome {
    place: Place,
    identity: Identity,
    result: Result<Findings, Box<Problem>>,
    /// The document that was checked, unless it is a definition.
    checked: Option<Subject>,
}

impl work::Outcome for Outcome {
    fn failed(problem: Box<Problem>) -> Self {
        let place = problem.place.clone();
        let identity = Identity::default();
        Outcome { place, identity, result: Err(problem), checked: None }
    }

    fn problem(&self) -> Option<&Problem> {
        self.result.as_ref().err().map(|problem| &**problem)
    }

    fn findings(&self) -> Vec<Finding> {
        report::found(self)
    }
}

/// The findings of a server in a document.
#[derive(Debug, Default)]
struct Findings {
    errors: Vec<FieldError>,
    warnings: Vec<String>,
    /// The server's answer to a document that it refuses.
    answer: Option<Answer>,
    /// Advice: a server accepts this, although it is likely to be wrong.
    lints: Vec<Advice>,
}

impl Outcome {
    fn status(&self) -> Status {
        match &self.result {
            Ok(findings) if findings.errors.is_empty() => Status::Fine,
            Ok(_) => Status::Refused,
            Err(problem) => problem.status,
        }
    }
}

/// A document of a kind that can be checked.
#[derive(Debug)]
enum Subject {
    Definition(Box<Definition>),
    Webhooks(Box<WebhookConfiguration>),
    Policy(Box<PolicyDocument>),
}

impl Subject {
    /// Whether documents of this kind can be checked.
    fn is_known(value: &Value) -> bool {
        CustomResourceDefinition::is_definition(value)
            || has_webhooks(value)
            || PolicyDocument::kind_of(value).is_some()
    }

    /// Reads a document for a version of the server; also gives the fields that its kind does not
    /// have.
    fn read(
        document: &Document,
        kubernetes: KubernetesVersion,
    ) -> Result<(Self, Vec<String>), Box<Problem>> {
        if has_webhooks(&document.value) {
            let read = WebhookConfiguration::from_value_reporting(&document.value);
            let (configuration, unknown) = read.map_err(|error| match error {
                ConfigurationError::Kind { .. } => unknown_version(document),
                error => unreadable(document, &error.to_string()),
            })?;
            let configuration = configuration.kubernetes(kubernetes);
            return Ok((Subject::Webhooks(Box::new(configuration)), unknown));
        }
        if PolicyDocument::kind_of(&document.value).is_some() {
            let read = PolicyDocument::from_value_reporting(&document.value);
            let (policy, unknown) = read.map_err(|error| match error {
                PolicyError::Kind { .. } | PolicyError::Version { .. } => unknown_version(document),
                error => unreadable(document, &error.to_string()),
            })?;
            if let Some(problem) = missing_version(document, policy.kind(), kubernetes) {
                return Err(problem);
            }
            return Ok((Subject::Policy(Box::new(policy)), unknown));
        }
        let read = Definition::new(document.value.clone(), kubernetes);
        let manifest = read.or_else(|error| match &document.body {
            // The text knows which of several errors is the first.
            Some(text) if text.bytes().starts_with(b"{") => {
                Definition::from_json(text.bytes(), kubernetes)
            }
            _ => Err(error),
        });
        let manifest = manifest.map_err(|error| match error {
            DefinitionError::Kind => unknown_version(document),
            error => unreadable(document, &error.to_string()),
        })?;
        let unknown = manifest.unknown_fields().to_vec();
        Ok((Subject::Definition(Box::new(manifest)), unknown))
    }

    fn create(&self, kubernetes: KubernetesVersion) -> Findings {
        match self {
            Subject::Definition(manifest) => manifest.validate_create().into(),
            Subject::Webhooks(new) => findings(new, &ValidationOptions::default()),
            Subject::Policy(new) => policy_findings(new, None, kubernetes),
        }
    }

    /// The findings of a server when this replaces `old`.
    fn update(&self, old: &Subject, kubernetes: KubernetesVersion) -> Findings {
        match (self, old) {
            (Subject::Definition(manifest), Subject::Definition(old)) => {
                manifest.validate_update(old).into()
            }
            (Subject::Webhooks(new), Subject::Webhooks(old)) => {
                findings(new, &ValidationOptions::default().stored(old))
            }
            (Subject::Policy(new), Subject::Policy(old)) => {
                policy_findings(new, Some(old), kubernetes)
            }
            // Found by their kinds, both are of the same one.
            (Subject::Definition(_) | Subject::Webhooks(_) | Subject::Policy(_), _) => {
                self.create(kubernetes)
            }
        }
    }
}

/// Whether a document says that it is a webhook configuration, of any version.
fn has_webhooks(value: &Value) -> bool {
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
    text("apiVersion").starts_with("admissionregistration.k8s.io/")
        && ConfigurationKind::of(text("kind")).is_some()
}

fn policy_findings(
    policy: &PolicyDocument,
    stored: Option<&PolicyDocument>,
    kubernetes: KubernetesVersion,
) -> Findings {
    let errors = policy.validate_for(kubernetes, stored);
    let is_refused = !errors.is_empty();
    Findings {
        answer: is_refused.then(|| policy.refusal(&errors)),
        errors,
        warnings: policy.warnings(),
        lints: Vec::new(),
    }
}

fn findings(configuration: &WebhookConfiguration, options: &ValidationOptions<'_>) -> Findings {
    let check = configuration.check(options);
    let is_refused = !check.errors.is_empty();
    Findings {
        answer: is_refused.then(|| configuration.refusal(&check.errors)),
        errors: check.errors,
        warnings: check.warnings,
        lints: check.lints.iter().map(Advice::from).collect(),
    }
}

impl From<DefinitionValidation> for Findings {
    fn from(validation: DefinitionValidation) -> Self {
        Findings {
            errors: validation.errors().to_vec(),
            warnings: validation.warnings().to_vec(),
            answer: validation.status(),
            lints: Vec::new(),
        }
    }
}

/// A document that a server refuses before it looks at what it says.
fn unreadable(document: &Document, error: &str) -> Box<Problem> {
    let text = |name| document.value.get(name).and_then(Value::as_str).unwrap_or_default();
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let version = api_version.rsplit_once('/').map_or(api_version, |(_, version)| version);
    let message = format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {error}");
    Problem::answered(document.place.clone(), Answer::bad_request(message))
}

/// A document of a version that no server has had.
fn unknown_version(document: &Document) -> Box<Problem> {
    let text = |name| document.value.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = format!("a {} of `{}` cannot be checked", text("kind"), text("apiVersion"));
    let help = match PolicyDocument::kind_of(&document.value) {
        Some(kind) => known_versions(kind.versions(KubernetesVersion::default())),
        None if has_webhooks(&document.value) => known_versions(&["v1", "v1beta1"]),
        None => "the only version that servers have is `apiextensions.k8s.io/v1`".to_owned(),
    };
    Problem::unusable(document.place.clone(), message).help(help)
}

fn known_versions(versions: &[&str]) -> String {
    format!("the versions that are known: {}", list(versions))
}

/// A policy or a binding of a version that the server does not have yet.
fn missing_version(
    document: &Document,
    kind: PolicyKind,
    kubernetes: KubernetesVersion,
) -> Option<Box<Problem>> {
    let api_version = document.value.get("apiVersion").and_then(Value::as_str)?;
    let versions = kind.versions(kubernetes);
    if versions.contains(&split_api_version(api_version).1) {
        return None;
    }
    let message = format!("Kubernetes {kubernetes} has no {kind} of `{api_version}`");
    let help = format!("the versions that it has: {}", list(versions));
    Some(Problem::unusable(document.place.clone(), message).help(help))
}

/// Runs the command.
pub(crate) fn run(arguments: &Check) -> Result<Status, RunError> {
    let config = Config::load(arguments.config.as_deref(), &arguments.documents)?;
    let policy = Policy::new(&config, &arguments.known)?;
    let versions = arguments.kubernetes(&config);
    let (old, problems) = stored(&arguments.old);
    let mut status = crate::report::problems(&problems);
    let is_update = AtomicBool::new(false);
    let (validation, inputs) = (field_validation(arguments.field_validation), &arguments.documents);
    let definitions = PerVersion::from_fn(|_| OnceLock::new());
    let run = Run { old: &old, is_update, validation, inputs, config: &config, definitions };
    status = status.max(match versions.single() {
        Some(kubernetes) => for_one_version(arguments, kubernetes, &run, policy)?,
        None => matrix::run(arguments, versions.all(), &run, policy)?,
    });
    if !old.is_empty() && !run.is_update.load(Ordering::Relaxed) {
        let names: Vec<&str> = old.keys().map(|key| key.as_str()).collect();
        let text = format!("no document updates {}", list(&names));
        crate::report::warning(&text);
    }
    Ok(status)
}

fn for_one_version(
    arguments: &Check,
    kubernetes: KubernetesVersion,
    run: &Run<'_>,
    policy: Policy<'_>,
) -> io::Result<Status> {
    let mut printer = report::Printer::new(arguments);
    let (mut configurations, mut policies) = (Vec::new(), Vec::new());
    let work = OneVersion { run, kubernetes };
    let (threads, quiet) = (arguments.jobs.threads(), arguments.quiet);
    let pass = Pass { fixing: arguments.fixing, policy, threads, quiet };
    let mut end = work::run(&work, &arguments.documents, pass, |mut event| {
        if let Event::Done(done) = &mut event {
            match done.outcome.checked.take() {
                Some(Subject::Webhooks(configuration)) => configurations.push(*configuration),
                Some(Subject::Policy(policy)) => policies.push(*policy),
                Some(Subject::Definition(_)) | None => {}
            }
        }
        printer.add(event)
    })?;
    if !arguments.fixing.diff {
        let lints = lint_together(&configurations);
        let advice: Vec<_> = lints.iter().map(Advice::from).collect();
        printer.add_together("webhook configurations", &advice, &mut end.summary)?;
        let lints = lint_policies_together(&policies, &parameters(&arguments.documents, &policies));
        let advice: Vec<_> = lints.iter().map(Advice::from).collect();
        printer.add_together("policies and bindings", &advice, &mut end.summary)?;
    }
    printer.finish(&end.summary)?;
    Ok(end.status.max(nothing_taken(arguments, &end.others)))
}

/// The objects among the inputs that may be parameters of policies.
fn parameters(inputs: &[PathBuf], policies: &[PolicyDocument]) -> Vec<DeepValue> {
    let kinds: Vec<&str> = policies.iter().filter_map(|it| Some(&*it.param_kind()?.kind)).collect();
    if kinds.is_empty() {
        return Vec::new();
    }
    let documents = sources(inputs).flatten().filter_map(|source| documents_of(&source).ok());
    let values = documents.flatten().map(|document| document.value);
    values
        .filter(|it| it.get("kind").is_some_and(|kind| kinds.iter().any(|it| kind == it)))
        .collect()
}

/// Says so if no document could be checked.
fn nothing_taken(arguments: &Check, others: &Others) -> Status {
    if !others.is_all {
        return Status::Fine;
    }
    let problem = nothing(&arguments.documents, &others.kinds);
    crate::report::problem(&problem)
}

/// Checks for one version of the server.
struct OneVersion<'r> {
    run: &'r Run<'r>,
    kubernetes: KubernetesVersion,
}

impl Work for OneVersion<'_> {
    type Outcome = Outcome;

    fn takes(&self, value: &Value) -> bool {
        Subject::is_known(value)
    }

    fn outcome(&self, document: Document) -> Outcome {
        self.run.outcome(&document, self.kubernetes)
    }

    fn finds_all(&self) -> bool {
        true
    }
}

fn nothing(paths: &[PathBuf], others: &[String]) -> Box<Problem> {
    let problem = problem::nothing(
        paths,
        "no CustomResourceDefinition, webhook configuration or policy here",
    );
    if others.is_empty() {
        return problem;
    }
    problem.help(format!("documents of other kinds were found: {}", list(others)))
}

/// The stored documents, by kind and name.
type Stored = BTreeMap<String, Subject>;

fn stored(paths: &[PathBuf]) -> (Stored, Vec<Problem>) {
    let (mut stored, mut problems) = (Stored::new(), Vec::new());
    for document in readable_documents(paths, &mut problems) {
        if !Subject::is_known(&document.value) {
            continue;
        }
        match Subject::read(&document, KubernetesVersion::default()) {
            Ok((subject, _)) => {
                stored.insert(key(&document), subject);
            }
            Err(problem) => problems.push(*problem),
        }
    }
    if !paths.is_empty() && stored.is_empty() && problems.is_empty() {
        problems.push(*nothing(paths, &[]));
    }
    (stored, problems)
}

/// The key of a document: no other one on a server has it.
fn key(document: &Document) -> String {
    let identity = Identity::of(&document.value);
    let (kind, name) = (identity.kind.unwrap_or_default(), identity.name.unwrap_or_default());
    format!("{kind} {name}")
}

/// The state that the documents of a run share.
struct Run<'r> {
    old: &'r Stored,
    /// Whether anything that is stored has been replaced.
    is_update: AtomicBool,
    validation: FieldValidation,
    inputs: &'r [PathBuf],
    config: &'r Config,
    /// The definitions among the inputs, and those of the settings, as servers of each version read
    /// them, for type checks.
    definitions: PerVersion<OnceLock<Vec<CustomResourceDefinition>>>,
}

impl Run<'_> {
    fn outcome(&self, document: &Document, kubernetes: KubernetesVersion) -> Outcome {
        let (place, identity) = (document.place.clone(), Identity::of(&document.value));
        let mut checked = None;
        let result = self.findings(document, kubernetes, &mut checked);
        Outcome { place, identity, result, checked }
    }

    /// Advice about a policy or a binding, and the type check of an accepted policy (PO-90).
    fn advice(
        &self,
        document: &PolicyDocument,
        kubernetes: KubernetesVersion,
        is_accepted: bool,
    ) -> Vec<Advice> {
        if matches!(document.kind(), PolicyKind::ValidatingBinding | PolicyKind::MutatingBinding) {
            return Vec::new();
        }
        let definitions = self.definitions(kubernetes);
        let lints = document.lints_for(kubernetes, definitions);
        let mut advice: Vec<Advice> = lints.iter().map(Advice::from).collect();
        if let (PolicyDocument::Validating(policy), true) = (document, is_accepted) {
            let found = policy.type_check_for(kubernetes, definitions).expression_warnings;
            advice.extend(found.iter().map(|warning| Advice::of_expression(document, warning)));
        }
        advice
    }

    fn definitions(&self, kubernetes: KubernetesVersion) -> &[CustomResourceDefinition] {
        self.definitions.of(kubernetes).get_or_init(|| {
            let options = CrdOptions::default().kubernetes(kubernetes);
            // What cannot be read is told where it is checked.
            let (crds, _) = Crds::read(&[], self.config, self.inputs, options);
            crds.definitions().cloned().collect()
        })
    }

    fn findings(
        &self,
        document: &Document,
        kubernetes: KubernetesVersion,
        checked: &mut Option<Subject>,
    ) -> Result<Findings, Box<Problem>> {
        let (subject, unknown) = Subject::read(document, kubernetes)?;
        let duplicates = document.duplicates.iter();
        let mut notes: Vec<String> =
            duplicates.map(|path| format!("duplicate field {}", quote(path))).collect();
        notes.extend(unknown);
        match self.validation {
            FieldValidation::Ignore => notes.clear(),
            FieldValidation::Strict if !notes.is_empty() => {
                let error = format!("strict decoding error: {}", notes.join(", "));
                return Err(unreadable(document, &error).fields(&notes));
            }
            _ => {}
        }
        let mut findings = match self.old.get(&key(document)) {
            Some(old) => {
                self.is_update.store(true, Ordering::Relaxed);
                subject.update(old, kubernetes)
            }
            None => subject.create(kubernetes),
        };
        if let Subject::Policy(policy) = &subject {
            findings.lints = self.advice(policy, kubernetes, findings.errors.is_empty());
        }
        *checked = Some(subject).filter(|subject| !matches!(subject, Subject::Definition(_)));
        // A server gives the same warning once.
        let warnings: IndexSet<String> = notes.into_iter().chain(findings.warnings).collect();
        findings.warnings = warnings.into_iter().collect();
        Ok(findings)
    }
}
