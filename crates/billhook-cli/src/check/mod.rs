//! `billhook check`: what a server says about documents that are applied to it, one verdict for
//! each. [`Subject`] knows the kinds that can be checked.

mod matrix;
mod report;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use billhook::webhook::{
    ConfigurationError, ConfigurationKind, Lint, ValidationOptions, WebhookConfiguration,
    lint_together,
};
use billhook::{
    CustomResourceDefinition, Definition, DefinitionError, DefinitionOptions, DefinitionValidation,
    FieldError, FieldValidation, KubernetesVersion,
};
use billhook_apimachinery::print::quote;
use indexmap::IndexSet;
use serde_json::Value;

use crate::args::Check;
use crate::crds::list;
use crate::identity::Identity;
use crate::input::{Document, documents, readable_documents};
use crate::problem::{Place, Problem, Status};

/// The outcome of a document.
#[derive(Debug)]
struct Outcome {
    place: Place,
    identity: Identity,
    result: Result<Findings, Box<Problem>>,
}

/// The findings of a server in a document.
#[derive(Debug, Default)]
struct Findings {
    errors: Vec<FieldError>,
    warnings: Vec<String>,
    /// The message of the server's answer.
    message: Option<String>,
    /// Advice: a server accepts this, although it is likely to be wrong.
    lints: Vec<Lint>,
}

impl Outcome {
    fn failed(problem: Box<Problem>) -> Self {
        let place = problem.place.clone();
        Outcome { place, identity: Identity::default(), result: Err(problem) }
    }

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
}

impl Subject {
    /// Whether documents of this kind can be checked.
    fn is_known(value: &Value) -> bool {
        CustomResourceDefinition::is_definition(value) || has_webhooks(value)
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
        let options = DefinitionOptions::default().kubernetes(kubernetes);
        let read = match &document.body {
            Some(text) if text.bytes().starts_with(b"{") => {
                Definition::from_json(text.bytes(), &options)
            }
            _ => Definition::with_options(&document.value, &options),
        };
        let manifest = read.map_err(|error| match error {
            DefinitionError::Kind => unknown_version(document),
            error => unreadable(document, &error.to_string()),
        })?;
        let unknown = manifest.unknown_fields().to_vec();
        Ok((Subject::Definition(Box::new(manifest)), unknown))
    }

    fn create(&self) -> Findings {
        match self {
            Subject::Definition(manifest) => manifest.validate_create().into(),
            Subject::Webhooks(new) => findings(new, &ValidationOptions::default()),
        }
    }

    /// The findings of a server when this replaces `old`.
    fn update(&self, old: &Subject) -> Findings {
        match (self, old) {
            (Subject::Definition(manifest), Subject::Definition(old)) => {
                manifest.validate_update(old).into()
            }
            (Subject::Webhooks(new), Subject::Webhooks(old)) => {
                findings(new, &ValidationOptions::default().stored(old))
            }
            // Found by their kinds, both are of the same one.
            (Subject::Definition(_), _) | (Subject::Webhooks(_), _) => self.create(),
        }
    }
}

/// Whether a document says that it is a webhook configuration, of whatever version.
fn has_webhooks(value: &Value) -> bool {
    let text = |name| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let kinds = [ConfigurationKind::Mutating, ConfigurationKind::Validating];
    text("apiVersion").starts_with("admissionregistration.k8s.io/")
        && kinds.iter().any(|kind| kind.name() == text("kind"))
}

fn findings(configuration: &WebhookConfiguration, options: &ValidationOptions<'_>) -> Findings {
    let check = configuration.check(options);
    let is_refused = !check.errors.is_empty();
    Findings {
        message: is_refused.then(|| configuration.refusal(&check.errors).message),
        errors: check.errors,
        warnings: check.warnings,
        lints: check.lints,
    }
}

impl From<DefinitionValidation> for Findings {
    fn from(validation: DefinitionValidation) -> Self {
        Findings {
            errors: validation.errors().to_vec(),
            warnings: validation.warnings().to_vec(),
            message: validation.status_message(),
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
    Problem::refused(document.place.clone(), message)
}

/// A document of a version that no server has had.
fn unknown_version(document: &Document) -> Box<Problem> {
    let text = |name| document.value.get(name).and_then(Value::as_str).unwrap_or_default();
    let message = format!("a {} of `{}` cannot be checked", text("kind"), text("apiVersion"));
    let help = match has_webhooks(&document.value) {
        true => "the versions that are known are `v1` and `v1beta1`",
        false => "the only version that servers have is `apiextensions.k8s.io/v1`",
    };
    Problem::unusable(document.place.clone(), message).help(help)
}

/// Runs the command. The error is one of writing the output.
pub(crate) fn run(arguments: &Check) -> io::Result<Status> {
    let (old, problems) = stored(&arguments.old);
    let mut status = crate::report::problems(&problems);
    let mut run = Run {
        old: &old,
        is_update: false,
        validation: arguments.field_validation(),
        configurations: Vec::new(),
    };
    status = status.max(match arguments.kubernetes.single() {
        Some(kubernetes) => for_one_version(arguments, kubernetes, &mut run)?,
        None => matrix::run(arguments, &mut run)?,
    });
    if !old.is_empty() && !run.is_update {
        let names: Vec<&str> = old.keys().map(|key| key.as_str()).collect();
        let text = format!("no document updates {}", list(&names));
        crate::report::warning(&text);
    }
    Ok(status)
}

fn for_one_version(
    arguments: &Check,
    kubernetes: KubernetesVersion,
    run: &mut Run<'_>,
) -> io::Result<Status> {
    let mut printer = report::Printer::new(arguments);
    let status = each_document(arguments, |found| {
        let outcome = match found {
            Ok(document) => run.outcome(&document, kubernetes),
            Err(problem) => Outcome::failed(problem),
        };
        let status = outcome.status();
        printer.add(outcome).map(|()| status)
    })?;
    printer.add_together(&lint_together(&run.configurations))?;
    printer.finish()?;
    Ok(status)
}

/// Goes through the documents that can be checked, and those that cannot be read. Returns the worst
/// status.
fn each_document(
    arguments: &Check,
    mut check: impl FnMut(Result<Document, Box<Problem>>) -> io::Result<Status>,
) -> io::Result<Status> {
    let (mut others, mut any) = (Vec::new(), false);
    let mut status = Status::Fine;
    for found in documents(&arguments.documents) {
        if let Ok(document) = &found
            && !Subject::is_known(&document.value)
        {
            let kind = document.value.get("kind").and_then(Value::as_str);
            others.extend(kind.map(str::to_owned).filter(|kind| !others.contains(kind)));
            continue;
        }
        any = true;
        status = status.max(check(found)?);
    }
    if !any {
        let problem = nothing(&arguments.documents, &others);
        status = status.max(problem.status);
        crate::report::problem(&problem);
    }
    Ok(status)
}

fn nothing(paths: &[PathBuf], others: &[String]) -> Box<Problem> {
    let names: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
    let place = Place::file(&names.join(", "));
    let problem =
        Problem::unusable(place, "no CustomResourceDefinition or webhook configuration here");
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

struct Run<'r> {
    old: &'r Stored,
    /// Whether anything that is stored has been replaced.
    is_update: bool,
    validation: FieldValidation,
    /// The webhook configurations that were checked.
    configurations: Vec<WebhookConfiguration>,
}

impl Run<'_> {
    fn outcome(&mut self, document: &Document, kubernetes: KubernetesVersion) -> Outcome {
        let (place, identity) = (document.place.clone(), Identity::of(&document.value));
        Outcome { place, identity, result: self.findings(document, kubernetes) }
    }

    fn findings(
        &mut self,
        document: &Document,
        kubernetes: KubernetesVersion,
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
                return Err(unreadable(document, &error));
            }
            _ => {}
        }
        let mut findings = match self.old.get(&key(document)) {
            Some(old) => {
                self.is_update = true;
                subject.update(old)
            }
            None => subject.create(),
        };
        if let Subject::Webhooks(configuration) = subject {
            self.configurations.push(*configuration);
        }
        // A server gives the same warning once.
        let warnings: IndexSet<String> = notes.into_iter().chain(findings.warnings).collect();
        findings.warnings = warnings.into_iter().collect();
        Ok(findings)
    }
}
