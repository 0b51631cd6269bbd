//! The outcome of a validation.

use billhook::{CrdVersion, Validation};
use billhook_findings::Finding;
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
        Outcome { place, identity: Identity::default(), used: None, result: Err(problem) }
    }

    fn problem(&self) -> Option<&Problem> {
        self.result.as_ref().err().map(|problem| &**problem)
    }

    /// Returns the errors and warnings, each once.
    fn findings(&self) -> Vec<Finding> {
        let is_fine = |it: &Checked| it.validation.errors().is_empty() && it.warnings.is_empty();
        if self.result.as_ref().is_ok_and(is_fine) {
            return Vec::new();
        }
        let schema = self.used.as_ref().and_then(|(crd, version)| crd.schema(version));
        let about = About { place: &self.place, identity: &self.identity, schema: schema.as_ref() };
        let checked = match &self.result {
            Ok(checked) => checked,
            Err(problem) => return about.problem(problem),
        };
        let errors = checked.validation.errors();
        let mut seen = IndexSet::new();
        let errors = errors.iter().filter(|error| seen.insert(error.to_string()));
        let mut found: Vec<Finding> = errors.map(|error| about.error(error)).collect();
        found.extend(checked.warnings.iter().map(|warning| about.warning(warning)));
        found
    }
}
