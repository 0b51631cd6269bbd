//! `billhook check`: what a server says about documents that are applied to it, one verdict for
//! each. [`Subject`] knows the kinds that can be checked.

mod matrix;
mod report;
mod roles;
mod subject;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use billhook::webhook::lint_together;
use billhook::{CrdOptions, FieldValidation, KubernetesVersion};
use billhook_apimachinery::PerVersion;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::value::DeepValue;
use billhook_compat::{CompareOptions, lint, missing_bounds};
use billhook_findings::Finding;
use billhook_kinds::{PolicyRule, ServedTypes};
use billhook_policy::{PolicyDocument, PolicyKind, lint_policies_together};
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
use subject::{Findings, Subject, unreadable};

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

impl Outcome {
    fn status(&self) -> Status {
        match &self.result {
            Ok(findings) if findings.errors.is_empty() => Status::Fine,
            Ok(_) => Status::Refused,
            Err(problem) => problem.status,
        }
    }
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
    let types = PerVersion::from_fn(|_| OnceLock::new());
    let used = arguments.used_rbac.as_deref().map(roles::read_used).transpose()?;
    let run = Run { old: &old, is_update, validation, inputs, config: &config, types, used };
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
                Some(Subject::Definition(_) | Subject::Role(_)) | None => {}
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
        "no CustomResourceDefinition, webhook configuration, policy or role here",
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
    /// The types of the definitions among the inputs, of those of the settings, and of built-in
    /// kinds, as servers of each version know them, for type checks.
    types: PerVersion<OnceLock<ServedTypes>>,
    /// The permissions that a recorded run needed.
    used: Option<Vec<PolicyRule>>,
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
        let types = self.types(kubernetes);
        let lints = document.lints_for(kubernetes, types);
        let mut advice: Vec<Advice> = lints.iter().map(Advice::from).collect();
        if let (PolicyDocument::Validating(policy), true) = (document, is_accepted) {
            let found = policy.type_check_for(kubernetes, types).expression_warnings;
            advice.extend(found.iter().map(|warning| Advice::of_expression(document, warning)));
        }
        advice
    }

    fn types(&self, kubernetes: KubernetesVersion) -> &ServedTypes {
        self.types.of(kubernetes).get_or_init(|| {
            let options = CrdOptions::default().kubernetes(kubernetes);
            // What cannot be read is reported where it is checked.
            let (crds, _) = Crds::read(&[], self.config, self.inputs, options);
            ServedTypes::new(kubernetes, crds.definitions().cloned().collect())
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
        match &subject {
            Subject::Policy(policy) => {
                findings.lints = self.advice(policy, kubernetes, findings.errors.is_empty());
            }
            Subject::Definition(_) => {
                let options = CompareOptions::default().kubernetes(kubernetes);
                let lints = match findings.errors.is_empty() {
                    true => lint(&document.value, &options),
                    false => missing_bounds(&document.value, &options),
                };
                let lints = lints.unwrap_or_default();
                let name = Identity::of(&document.value).name.unwrap_or_default();
                findings.lints = lints.iter().map(|lint| Advice::of_schema(&name, lint)).collect();
            }
            Subject::Role(role) => {
                let advice = self.used.as_deref().map(|used| role.advice(used));
                findings.lints = advice.unwrap_or_default();
            }
            _ => {}
        }
        *checked = Some(subject).filter(|subject| !matches!(subject, Subject::Definition(_)));
        // A server gives the same warning once.
        let warnings: IndexSet<String> = notes.into_iter().chain(findings.warnings).collect();
        findings.warnings = warnings.into_iter().collect();
        Ok(findings)
    }
}
