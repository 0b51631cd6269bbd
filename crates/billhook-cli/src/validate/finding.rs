//! The findings of a validation.

use billhook::{Validation, Verdict};

use crate::identity::Identity;
use crate::problem::{Place, Problem, Status};

/// The verdict of a server on an object.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) place: Place,
    pub(crate) identity: Identity,
    /// Notes about the definition, the first time it is used.
    pub(crate) notes: Vec<String>,
    pub(crate) result: Result<Checked, Box<Problem>>,
}

/// An object that was decoded and validated.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The warnings of a server.
    pub(crate) warnings: Vec<String>,
    pub(crate) validation: Validation,
}

impl Finding {
    pub(super) fn failed(problem: Box<Problem>) -> Self {
        let place = problem.place.clone();
        Finding { place, identity: Identity::default(), notes: Vec::new(), result: Err(problem) }
    }

    pub(super) fn status(&self) -> Status {
        match &self.result {
            Err(problem) => problem.status,
            Ok(checked) if checked.validation.verdict() == Verdict::Invalid => Status::Refused,
            Ok(_) => Status::Fine,
        }
    }
}
