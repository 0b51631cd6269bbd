//! The outcome of a validation.

use billhook::{Validation, Verdict};
use billhook_findings::{Finding, SchemaSource};
use indexmap::IndexSet;

use crate::findings::{self, About};
use crate::identity::Identity;
use crate::problem::{Place, Problem, Status};

/// The verdict of a server on an object.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) place: Place,
    pub(crate) identity: Identity,
    /// Notes about the definition, the first time it is used.
    pub(crate) notes: Vec<String>,
    /// The schema, for explanations.
    pub(crate) schema: Option<SchemaSource>,
    pub(crate) result: Result<Checked, Box<Problem>>,
}

/// An object that was decoded and validated.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The warnings of a server.
    pub(crate) warnings: Vec<String>,
    pub(crate) validation: Validation,
}

impl Outcome {
    pub(super) fn failed(problem: Box<Problem>) -> Self {
        let place = problem.place.clone();
        Outcome {
            place,
            identity: Identity::default(),
            notes: Vec::new(),
            schema: None,
            result: Err(problem),
        }
    }

    pub(super) fn status(&self) -> Status {
        match &self.result {
            Err(problem) => problem.status,
            Ok(checked) if checked.validation.verdict() == Verdict::Invalid => Status::Refused,
            Ok(_) => Status::Fine,
        }
    }

    /// Returns the errors and warnings, each once.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let about =
            About { place: &self.place, identity: &self.identity, schema: self.schema.as_ref() };
        let checked = match &self.result {
            Ok(checked) => checked,
            Err(problem) => return vec![findings::problem(problem)],
        };
        let mut seen = IndexSet::new();
        let errors = checked.validation.errors().iter();
        let errors = errors.filter(|error| seen.insert(error.to_string()));
        let mut found: Vec<Finding> = errors.map(|error| about.error(error)).collect();
        found.extend(checked.warnings.iter().map(|warning| about.warning(warning)));
        found
    }
}
