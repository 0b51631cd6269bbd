//! The outcome of an object that was decoded, pruned or defaulted.

use billhook::Change;
use billhook_apimachinery::value::DeepValue;
use billhook_findings::{Finding, SchemaSource};

use crate::findings::{self, About};
use crate::identity::Identity;
use crate::problem::{Place, Problem, Status};

/// The outcome of an object.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) place: Place,
    pub(crate) identity: Identity,
    /// Paths of the keys that are written more than once.
    pub(crate) duplicates: Vec<String>,
    /// Notes about the definition, the first time it is used.
    pub(crate) notes: Vec<String>,
    /// The schema, for explanations.
    pub(crate) schema: Option<SchemaSource>,
    pub(crate) result: Result<Done, Box<Problem>>,
}

/// An object after the step that was asked for.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) object: DeepValue,
    pub(crate) changes: Vec<Change>,
    /// The warnings of a server.
    pub(crate) warnings: Vec<String>,
}

impl Outcome {
    pub(super) fn failed(problem: Box<Problem>) -> Self {
        Outcome {
            place: problem.place.clone(),
            identity: Identity::default(),
            duplicates: Vec::new(),
            notes: Vec::new(),
            schema: None,
            result: Err(problem),
        }
    }

    /// Returns the problem or the warnings.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let about =
            About { place: &self.place, identity: &self.identity, schema: self.schema.as_ref() };
        match &self.result {
            Ok(done) => done.warnings.iter().map(|warning| about.warning(warning)).collect(),
            Err(problem) => vec![findings::problem(problem)],
        }
    }

    pub(super) fn status(&self, check: bool) -> Status {
        match &self.result {
            Err(problem) => problem.status,
            Ok(done) if check && !(done.changes.is_empty() && self.duplicates.is_empty()) => {
                Status::Changed
            }
            Ok(_) => Status::Fine,
        }
    }
}
