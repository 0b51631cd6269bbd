//! The end of a Job, and the conditions that say it (CP-64).

use serde_json::Value;

use crate::object::Object;

/// The end of a Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) is_success: bool,
    pub(super) reason: String,
    pub(super) message: String,
}

impl Ending {
    pub(super) fn success(reason: &str, message: impl Into<String>) -> Self {
        Ending { is_success: true, reason: reason.to_owned(), message: message.into() }
    }

    pub(super) fn failure(reason: &str, message: impl Into<String>) -> Self {
        Ending { is_success: false, reason: reason.to_owned(), message: message.into() }
    }

    /// Returns the end that a condition says.
    pub(super) fn of_condition(job: &Object, is_success: bool) -> Option<Self> {
        let kind = Ending { is_success, reason: String::new(), message: String::new() }.begun();
        let condition = job.condition(kind).filter(|_| job.is_condition_true(kind))?;
        let text =
            |name| condition.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Ending { is_success, reason: text("reason"), message: text("message") })
    }

    /// Returns the type of the condition that is set when the end has begun: pods may still run.
    pub(super) fn begun(&self) -> &'static str {
        if self.is_success { "SuccessCriteriaMet" } else { "FailureTarget" }
    }

    /// Returns the type of the condition that is set when all is over.
    pub(super) fn over(&self) -> &'static str {
        if self.is_success { "Complete" } else { "Failed" }
    }
}
