//! The outcome of a validation.

use billhook::{CrdVersion, Validation};
use billhook_findings::{DeprecatedField, Finding};
use indexmap::IndexSet;

use crate::crds::Crd;
use crate::findings::About;
use crate::identity::Identity;
use crate::problem::{Place, Problem};
use crate::work;

/// The verdict of a server on an object.
#[derive(Debug)]
pub(crate) struct Outcome<'r> {
    pub(crate) place: Place,
    pub(crate) identity: Identity,
    /// The definition and its version, if they were found.
    pub(crate) used: Option<(Crd<'r>, CrdVersion)>,
    /// The deprecated fields that the object sets.
    pub(crate) deprecated: Vec<DeprecatedField>,
    pub(crate) result: Result<Checked, Box<Problem>>,
}

/// An object that was decoded and validated.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The warnings of a server.
    pub(crate) warnings: Vec<String>,
    pub(crate) validation: Validation,
}

impl work::Outcome for Outcome<'_> {
    fn failed(problem: Box<Problem>) -> Self {
        let place = problem.place.clone();
        let (identity, used, deprecated) = (Identity::default(), None, Vec::new());
        Outcome { place, identity, used, deprecated, result: Err(problem) }
    }

    fn problem(&self) -> Option<&Problem> {
        self.result.as_ref().err().map(|problem| &**problem)
    }

    /// Returns the errors, each once, warnings, and notes on deprecated fields.
    fn findings(&self) -> Vec<Finding> {
        let is_fine = |it: &Checked| it.validation.errors().is_empty() && it.warnings.is_empty();
        if self.deprecated.is_empty() && self.result.as_ref().is_ok_and(is_fine) {
            return Vec::new();
        }
        let about = About::new(&self.place, &self.identity);
        let about = match &self.used {
            Some((crd, version)) => about.version(crd.schema(version), version),
            None => about,
        };
        let mut found = match &self.result {
            Ok(Checked { warnings, validation }) => {
                let mut seen = IndexSet::new();
                let errors = validation.errors().iter();
                let errors = errors.filter(|error| seen.insert(error.to_string()));
                let mut found = about.each(errors, |error| about.error(error));
                found.extend(about.each(warnings, |warning| about.warning(warning)));
                found
            }
            Err(problem) => about.problem(problem),
        };
        found.extend(about.each(&self.deprecated, |field| about.deprecated(field)));
        found
    }
}
