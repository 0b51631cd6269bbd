//! Failures of cases as findings at their places.

use billhook::FieldPath;
use billhook_findings::{Finding, SchemaSource, Severity, Subject};

use crate::exercise::Exercise;
use crate::failure::{CaseStage, Failure};
use crate::object_path::ObjectPath;
use crate::plan::{CaseId, Run};

impl Run {
    /// Returns the outcome for a report: the failure as a finding at its place in the suite.
    pub fn subject(&self, outcome: &Result<(), Failure>) -> Subject {
        let finding = outcome.as_ref().err().map(|failure| self.finding(failure));
        Subject::new(self.file(), self.name(), finding.into_iter().collect())
    }

    /// Returns a failure as a finding at its place in the suite.
    pub fn finding(&self, failure: &Failure) -> Finding {
        let text = format!("{}: {failure}", self.case_name());
        let finding = Finding::new(Severity::Error, Failure::RULE, text);
        if let Failure::NotServed { field, meant, .. } = failure {
            let mut finding = finding.at(self.place(), self.object_path().name(field));
            finding.label = meant.as_ref().map(|meant| format!("did you mean `{meant}`?"));
            return finding;
        }
        let finding = self.at_field(finding, failure);
        match self.misspelled(failure) {
            Some(mut unknown) if matches!(failure, Failure::Part { .. }) && !self.is_row() => {
                unknown.text = finding.text;
                unknown
            }
            Some(Finding { text, label, help, .. }) => {
                let advice = label.or(help).unwrap_or_default();
                let known =
                    finding.help.as_ref().map(|help| format!("{help}; ")).unwrap_or_default();
                finding.help(format!("{known}{text}: {advice}"))
            }
            None => finding,
        }
    }

    /// The finding at the field of the case that a failure is about.
    fn at_field(&self, finding: Finding, failure: &Failure) -> Finding {
        let fields = match self.id {
            CaseId::Row(..) => Vec::new(),
            _ if self.is_example() => Vec::new(),
            CaseId::Object(_) => own_fields(failure),
            CaseId::Create(_) | CaseId::Update(_) => listed_field(failure).into_iter().collect(),
        };
        let path = fields.iter().fold(self.path(), |path, field| path.name(field));
        match refusal(failure) {
            Some((rule, field)) if matches!(failure, Failure::OtherError { .. }) => {
                let at = if field.is_empty() { "" } else { &*format!(" at `{field}`") };
                finding.at(self.place(), path).help(format!("the error is {rule}{at}"))
            }
            Some((_, field)) if matches!(self.id, CaseId::Object(_)) => {
                let below = ObjectPath::parse(field).map(|field| field.below(path.clone()));
                finding.at(self.place(), below.unwrap_or(path))
            }
            _ => finding.at(self.place(), path),
        }
    }

    fn is_row(&self) -> bool {
        matches!(self.id, CaseId::Row(..))
    }

    /// The path of the object of a case in our own format.
    fn object_path(&self) -> FieldPath {
        match self.id {
            CaseId::Object(index) | CaseId::Row(index, _) if !self.is_example() => {
                FieldPath::default().name("cases").index(index).name("object")
            }
            _ => self.path(),
        }
    }

    /// An unknown field of the object, where another one may have been meant and the case does not
    /// expect it.
    fn misspelled(&self, failure: &Failure) -> Option<Finding> {
        let expected = match failure {
            Failure::Part { part: "warnings" | "pruned", expected, .. } => {
                billhook::to_json(expected)
            }
            Failure::Refused { .. } | Failure::NoError { .. } | Failure::OtherError { .. } => {
                String::new()
            }
            _ => return None,
        };
        let Exercise { definition, version, .. } = self.exercises().into_iter().next()?;
        let value = definition.value.clone();
        let schema = SchemaSource::new(definition.place.clone(), value, version.name())?;
        let (whole, base) = (self.place(), self.object_path());
        let mut object = whole.clone();
        object.base = whole.base.join(&base);
        let observed = self.observe()?;
        let unknown = observed.pruned_paths().filter(|path| !expected.contains(&path.to_string()));
        let mut found = unknown.map(|path| {
            let text = format!("`{path}` is an unknown field");
            let finding = Finding::new(Severity::Error, Failure::RULE, text);
            let mut finding = schema.explain_unknown(finding.at_key(&object, path.clone()));
            (finding.path, finding.place) = (base.join(path), Some(whole.clone()));
            finding
        });
        found.find(|finding| finding.label.is_some() || finding.help.is_some())
    }
}

/// The rule and the field of the error of a request that is refused unexpectedly.
fn refusal(failure: &Failure) -> Option<(&str, &str)> {
    let (Failure::Refused { actual, .. } | Failure::OtherError { actual, .. }) = failure else {
        return None;
    };
    let mut causes = actual.details.iter().flat_map(|details| &details.causes);
    let (rule, field) = match causes.find(|cause| !cause.field.is_empty()) {
        Some(cause) => (&cause.reason, cause.field.as_str()),
        None => (&actual.reason, ""),
    };
    (!rule.is_empty()).then_some((rule, field))
}

/// The field of a case in OpenShift's format that a failure is about.
fn listed_field(failure: &Failure) -> Option<&'static str> {
    Some(match failure {
        Failure::Refused { stage: CaseStage::Create, .. } => "initial",
        Failure::Refused { .. } => "updated",
        Failure::Accepted { stage: CaseStage::UpdateStatus, .. }
        | Failure::Text { stage: CaseStage::UpdateStatus, .. } => "expectedStatusError",
        Failure::Accepted { .. } | Failure::Text { .. } => "expectedError",
        Failure::Object { .. } => "expected",
        Failure::Unusable(text) => {
            let mut fields = ["initialCRDPatches", "initial", "updated", "expected"].into_iter();
            return fields.find(|field| text.split(": ").next() == Some(*field));
        }
        _ => return None,
    })
}

/// The field of a case in our own format that a failure is about.
fn own_fields(failure: &Failure) -> Vec<&'static str> {
    match failure {
        Failure::Refused { .. } => vec!["object"],
        Failure::NoError { .. } | Failure::OtherError { .. } => vec!["expect", "error"],
        Failure::Object { .. } => vec!["expect"],
        Failure::Part { part, .. } => vec!["expect", part],
        _ => Vec::new(),
    }
}
