//! The state of a run before its first object: problems with the files, remarks about webhook
//! configurations and policies, and where those are written.

use std::collections::BTreeMap;
use std::io;

use billhook::webhook::{ConfigurationKind, ValidationOptions, WebhookConfiguration};
use billhook::{FieldError, FieldPath};
use billhook_findings::{Finding, Label, Severity};
use billhook_policy::{PolicyDocument, PolicyKind};

use crate::findings::{self, About, Collector};
use crate::identity::Identity;
use crate::input::Document;
use crate::policy::Policy;
use crate::problem::{Place, Problem, Status};
use crate::report;

/// Everything that is to be reported before the first object, and the authors of refusals.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    pub(crate) problems: Vec<Problem>,
    pub(crate) remarks: Vec<Finding>,
    pub(crate) origins: Origins,
}

/// Where webhooks and policies are written.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    /// By kind and name.
    documents: BTreeMap<(&'static str, String), billhook_findings::Place>,
    /// The positions of webhooks, by the kind and name of their configuration and their own name.
    webhooks: BTreeMap<(&'static str, String, String), usize>,
}

/// The labels of webhooks that cannot be matched, and of policies that ignore failures.
pub(crate) const CANNOT_BE_MATCHED: &str = "this webhook cannot be matched";
pub(crate) const IGNORED: &str = "failures are ignored here";

impl Setup {
    /// Adds a configuration, which is used even if a server would refuse it; `unknown` are the fields
    /// that its kind does not have.
    pub(crate) fn add_webhooks(
        &mut self,
        document: &Document,
        configuration: &WebhookConfiguration,
        unknown: &[String],
    ) {
        let check = configuration.check(&ValidationOptions::default());
        let warnings = unknown.iter().chain(&check.warnings);
        self.remark(document, "configuration", warnings, &check.errors);
        let (kind, name) = (configuration.kind.name(), configuration.name().to_owned());
        for (index, webhook) in configuration.webhooks.iter().enumerate() {
            let key = (kind, name.clone(), webhook.name.clone());
            self.origins.webhooks.entry(key).or_insert(index);
        }
        self.origins.add((kind, name), &document.place);
    }

    /// Adds a policy or a binding in the same way.
    pub(crate) fn add_policy(
        &mut self,
        document: &Document,
        policy: &PolicyDocument,
        unknown: &[String],
    ) {
        let (kind, warnings) = (policy.kind().name(), policy.warnings());
        let warnings = unknown.iter().chain(&warnings);
        self.remark(document, kind, warnings, &policy.validate());
        self.origins.add((kind, policy.name().to_owned()), &document.place);
    }

    fn remark<'w>(
        &mut self,
        document: &Document,
        what: &str,
        warnings: impl Iterator<Item = &'w String>,
        errors: &[FieldError],
    ) {
        let (place, identity) = (&document.place, Identity::of(&document.value));
        let about = About::new(place, &identity);
        self.remarks.extend(warnings.map(|warning| about.warning(warning)));
        let refused = errors.iter().map(|error| {
            let mut finding = about.error(error);
            finding.severity = Severity::Warning;
            finding.text = format!("a server refuses this {what}: {}", finding.text);
            finding
        });
        self.remarks.extend(refused);
    }

    /// Tells the problems and remarks; returns the worst status.
    pub(crate) fn tell(
        &mut self,
        policy: &mut Policy<'_>,
        collector: Option<&mut Collector>,
    ) -> io::Result<Status> {
        let problems = std::mem::take(&mut self.problems);
        let remarks = policy.apply(std::mem::take(&mut self.remarks));
        let status = problems.iter().map(|problem| problem.status).max();
        let status = status.unwrap_or_else(|| Status::of(&remarks));
        let Some(collector) = collector else {
            report::to_stderr(&findings::text(&remarks));
            report::problems(&problems);
            return Ok(status);
        };
        let found: Vec<Finding> = problems.iter().map(findings::problem).chain(remarks).collect();
        if !found.is_empty() {
            collector.add_findings(found)?;
        }
        Ok(status)
    }
}

impl Origins {
    fn add(&mut self, key: (&'static str, String), place: &Place) {
        if let Some(place) = place.of_finding() {
            self.documents.entry(key).or_insert(place);
        }
    }

    /// A field of a webhook, or its name.
    pub(crate) fn webhook(
        &self,
        kind: ConfigurationKind,
        (configuration, hook): (&str, &str),
        field: &str,
        text: &str,
    ) -> Option<Label> {
        let kind = kind.name();
        let place = self.documents.get(&(kind, configuration.to_owned()))?;
        let key = (kind, configuration.to_owned(), hook.to_owned());
        let webhook = FieldPath::default().name("webhooks").index(*self.webhooks.get(&key)?);
        Label::new(place, webhook.clone().name(field), text)
            .or_else(|| Label::new(place, webhook.name("name"), text))
    }

    /// A validation or mutation of a policy, or its name.
    pub(crate) fn policy(
        &self,
        kind: PolicyKind,
        name: &str,
        index: Option<usize>,
        text: &str,
    ) -> Option<Label> {
        let place = self.documents.get(&(kind.name(), name.to_owned()))?;
        let spec = FieldPath::default().name("spec");
        let step = index.and_then(|index| {
            let step = match kind {
                PolicyKind::Mutating => spec.name("mutations").index(index),
                _ => spec.name("validations").index(index).name("expression"),
            };
            Label::new(place, step, text)
        });
        step.or_else(|| Label::new(place, FieldPath::default().name("metadata").name("name"), text))
    }
}
