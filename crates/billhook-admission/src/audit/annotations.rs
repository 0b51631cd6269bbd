//! Audit annotations: what a request leaves in the audit log (OB-30 to OB-39, AR-90 to AR-92).

use std::collections::BTreeMap;

use billhook_apimachinery::Wording;
use billhook_apimachinery::names::qualified_name;
use billhook_apimachinery::print::quote;
use serde::Serialize;

/// How much of a request is written to an audit log. An annotation has the level from which on it is
/// part of an event (OB-30).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub enum AuditLevel {
    /// Nothing.
    None,
    /// Who made which request, and its outcome.
    Metadata,
    /// Its body, too.
    Request,
    /// The body of the answer, too.
    RequestResponse,
}

impl AuditLevel {
    /// The name in audit policies, e.g. `Metadata`.
    pub fn name(self) -> &'static str {
        match self {
            AuditLevel::None => "None",
            AuditLevel::Metadata => "Metadata",
            AuditLevel::Request => "Request",
            AuditLevel::RequestResponse => "RequestResponse",
        }
    }
}

/// The value of an audit annotation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditAnnotation {
    /// The value.
    pub value: String,
    /// From which level on it is logged.
    pub level: AuditLevel,
}

/// The audit annotations of a request or of one of its stages, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditAnnotations {
    by_key: BTreeMap<String, AuditAnnotation>,
    refused: Vec<String>,
}

impl AuditAnnotations {
    /// Adds an annotation. One that is there keeps its value; the attempt to change it, and a key
    /// of the wrong form, are noted in [`AuditAnnotations::refused`] (OB-30, AR-91, AR-92).
    pub fn add(&mut self, key: &str, value: &str, level: AuditLevel) {
        if !is_key(key) {
            self.refused.push(
                "annotation key has invalid format, the right format is a DNS subdomain prefix \
                 and '/' and key name. (e.g. 'podsecuritypolicy.admission.k8s.io/admit-policy')"
                    .to_owned(),
            );
            return;
        }
        match self.by_key.get(key) {
            Some(old) if old.value != value => {
                // What is for the level Request only may hold secrets (OB-55).
                let shown = |value, level| match level <= AuditLevel::Metadata {
                    true => value,
                    false => "(not shown)",
                };
                let (old, new) = (shown(&old.value, old.level), shown(value, level));
                self.refused.push(format!(
                    "admission annotations are not allowd to be overwritten, key:{}, old value: \
                     {old}, new value: {new}",
                    quote(key)
                ));
            }
            Some(_) => {}
            None => {
                let annotation = AuditAnnotation { value: value.to_owned(), level };
                self.by_key.insert(key.to_owned(), annotation);
            }
        }
    }

    /// Adds the annotations of another stage of the same request (OB-39).
    pub(crate) fn merge(&mut self, other: AuditAnnotations) {
        for (key, annotation) in other.by_key {
            self.by_key.entry(key).or_insert(annotation);
        }
        self.refused.extend(other.refused);
    }

    /// The annotation of a key.
    pub fn get(&self, key: &str) -> Option<&AuditAnnotation> {
        self.by_key.get(key)
    }

    /// All annotations, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &AuditAnnotation)> {
        self.by_key.iter().map(|(key, annotation)| (key.as_str(), annotation))
    }

    /// Returns the annotations that were refused, as the server logs them.
    pub fn refused(&self) -> &[String] {
        &self.refused
    }
}

/// Exactly one slash, and a qualified name (OB-30).
fn is_key(key: &str) -> bool {
    let problems = qualified_name(key, <&Wording>::default());
    key.bytes().filter(|byte| *byte == b'/').count() == 1 && problems.is_empty()
}
