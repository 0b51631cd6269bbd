//! The outcome of an object that was decoded, pruned or defaulted.

use billhook::{Change, CrdVersion};
use billhook_apimachinery::value::DeepValue;
use billhook_findings::{DeprecatedField, Finding};
use serde_json::Value;

use crate::crds::{Crd, Used};
use crate::findings::About;
use crate::identity::Identity;
use crate::problem::{Place, Problem};
use crate::work;

/// The outcome of an object.
#[derive(Debug)]
pub(crate) struct Outcome<'r> {
    pub(crate) place: Place,
    pub(crate) identity: Identity,
    /// Paths of the keys that are written more than once.
    pub(crate) duplicates: Vec<String>,
    /// The definition and its versions, if they were found.
    pub(crate) used: Option<UsedVersions<'r>>,
    pub(crate) result: Result<Done, Box<Problem>>,
}

/// A definition, and its versions for an object.
#[derive(Debug)]
pub(crate) struct UsedVersions<'r> {
    crd: Crd<'r>,
    /// The name of the version that the object is written in.
    own: String,
    /// The version that was used.
    version: CrdVersion,
    /// The deprecated fields that the object sets.
    deprecated: Vec<DeprecatedField>,
}

/// An object after the step that was asked for.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) object: DeepValue,
    pub(crate) changes: Vec<Change>,
    /// The warnings of a server.
    pub(crate) warnings: Vec<String>,
}

impl<'r> UsedVersions<'r> {
    pub(super) fn new(crd: Crd<'r>, own: &str, version: CrdVersion, object: &Value) -> Self {
        let deprecated = crd.deprecated(&version, object);
        UsedVersions { crd, own: own.to_owned(), version, deprecated }
    }
}

impl Outcome<'_> {
    /// Returns notes about the definition, most of them when it is used for the first time.
    pub(super) fn notes(&self, seen: &mut Used, is_request: bool) -> Vec<String> {
        let Some(UsedVersions { crd, own, version, .. }) = &self.used else { return Vec::new() };
        let mut notes = Vec::new();
        let own_version = crd.definition.version(own);
        if own_version.is_none() {
            notes.push(format!(
                "{}: the CRD in `{}` has no version `{own}`, so none of the fields is known",
                self.place, crd.place
            ));
        }
        for version in own_version.iter().chain([version]) {
            notes.extend(seen.notes(crd, version, is_request));
        }
        notes
    }

    pub(super) fn would_change(&self) -> bool {
        let changes = |done: &Done| !(done.changes.is_empty() && self.duplicates.is_empty());
        self.result.as_ref().is_ok_and(changes)
    }
}

impl work::Outcome for Outcome<'_> {
    fn failed(problem: Box<Problem>) -> Self {
        Outcome {
            place: problem.place.clone(),
            identity: Identity::default(),
            duplicates: Vec::new(),
            used: None,
            result: Err(problem),
        }
    }

    fn problem(&self) -> Option<&Problem> {
        self.result.as_ref().err().map(|problem| &**problem)
    }

    /// Returns the problem or the warnings, and notes on deprecated fields.
    fn findings(&self) -> Vec<Finding> {
        let deprecated = self.used.as_ref().map_or(&[][..], |used| &used.deprecated);
        let is_fine = |done: &Done| done.warnings.is_empty();
        if deprecated.is_empty() && self.result.as_ref().is_ok_and(is_fine) {
            return Vec::new();
        }
        let about = About::new(&self.place, &self.identity);
        let about = match &self.used {
            Some(used) => about.version(used.crd.schema(&used.version), &used.version),
            None => about,
        };
        let mut found: Vec<Finding> = match &self.result {
            Ok(done) => about.each(&done.warnings, |warning| about.warning(warning)),
            Err(problem) => about.problem(problem),
        };
        found.extend(about.each(deprecated, |field| about.deprecated(field)));
        found
    }
}
