//! The form of a report: text for people, one JSON document, findings, or a server's answers.

use std::io;

use billhook_findings::Finding;

use crate::findings::{self, Collector};
use crate::json::Items;
use crate::options::{FindingsFormat, Report};
use crate::report;

/// Where outcomes go.
#[derive(Debug)]
pub(crate) enum Form<T> {
    Text(T),
    Json(Items),
    Findings(Collector),
    /// The server's answer to each object that it refuses.
    Status,
}

impl<T> Form<T> {
    /// Chooses the form that the options ask for; `kind` is that of the JSON document.
    pub(crate) fn new(
        findings: FindingsFormat,
        report: Report,
        kind: &'static str,
        text: T,
    ) -> Self {
        match (findings.given(), report) {
            _ if findings.is_status() => Form::Status,
            (Some(format), _) => Form::Findings(Collector::new(format)),
            (None, Report::Json) => Form::Json(Items::new(kind)),
            (None, Report::Text) => Form::Text(text),
        }
    }

    pub(crate) fn collector(&mut self) -> Option<&mut Collector> {
        match self {
            Form::Findings(collector) => Some(collector),
            _ => None,
        }
    }

    /// Adds findings that are not about an object, beside the report if it does not consist of them.
    pub(crate) fn remarks(&mut self, remarks: Vec<Finding>) -> io::Result<()> {
        match self.collector() {
            _ if remarks.is_empty() => {}
            Some(collector) => collector.add_findings(remarks)?,
            None => report::to_stderr(&findings::text(&remarks)),
        }
        Ok(())
    }

    /// Prints what has not been printed; returns whether the report is for people.
    pub(crate) fn finish(self) -> io::Result<bool> {
        match self {
            Form::Text(_) => Ok(true),
            Form::Json(items) => items.finish().map(|()| false),
            Form::Findings(collector) => {
                let is_for_people = collector.is_for_people();
                collector.finish().map(|()| is_for_people)
            }
            Form::Status => Ok(false),
        }
    }
}
