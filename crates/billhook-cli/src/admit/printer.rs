//! Where the outcomes of requests go: text and objects for people, or a format for programs.

use std::collections::BTreeSet;
use std::io;

use billhook_admission::AdmissionOutcome;
use billhook_findings::Finding;

use crate::admit::args::Admit;
use crate::admit::{json, text};
use crate::findings::About;
use crate::form::Form;
use crate::identity::Identity;
use crate::policy::Policy;
use crate::problem::{Place, Problem, Status};
use crate::report::{self, Objects};
use crate::setup::Setup;

/// Prints outcomes as they come.
pub(super) struct Printer<'r> {
    command: &'r Admit,
    form: Form<Objects>,
    policy: Policy<'r>,
    /// The things that are reported only once.
    reported: BTreeSet<String>,
}

impl<'r> Printer<'r> {
    pub(super) fn new(command: &'r Admit, policy: Policy<'r>) -> Self {
        let text = Objects::new(command.output);
        let form = Form::new(command.findings, command.report, "AdmitReport", text);
        Printer { command, form, policy, reported: BTreeSet::new() }
    }

    /// Tells what is wrong with the configuration; returns the worst status.
    pub(super) fn setup(&mut self, setup: &mut Setup) -> io::Result<Status> {
        setup.tell(&mut self.policy, self.form.collector())
    }

    /// Prints what is not about an object.
    pub(super) fn remarks(&mut self, remarks: Vec<Finding>) -> io::Result<Status> {
        let remarks = self.policy.apply(remarks);
        let status = Status::of(&remarks);
        self.form.remarks(remarks)?;
        Ok(status)
    }

    /// Prints an object, or a file, that makes no request.
    pub(super) fn problem(&mut self, problem: Problem, identity: Identity) -> io::Result<Status> {
        let is_reported = problem.once.clone().is_some_and(|thing| !self.reported.insert(thing));
        let found = About::new(&problem.place, &identity).problem(&problem);
        let found = self.policy.apply(found);
        let status = problem.counted(&found);
        if let Form::Findings(collector) = &mut self.form {
            collector.add(&problem.place, &identity, found, is_reported)?;
            return Ok(status);
        }
        if !is_reported && !found.is_empty() {
            report::problem(&problem);
        }
        if let Form::Json(items) = &mut self.form {
            items.add(json::unusable(problem, identity))?;
        }
        Ok(status)
    }

    /// Prints an outcome, and what was found in it.
    pub(super) fn outcome(
        &mut self,
        outcome: &AdmissionOutcome,
        found: Vec<Finding>,
        place: &Place,
        identity: Identity,
    ) -> io::Result<Status> {
        let found = self.policy.apply(found);
        let status = Status::of(&found);
        match &mut self.form {
            Form::Json(items) => items.add(json::item(outcome, place.clone(), identity))?,
            Form::Findings(collector) => collector.add(place, &identity, found, false)?,
            Form::Status => {
                report::client_warnings(&outcome.warnings.texts());
                report::answer(outcome.result.as_ref().err())?;
            }
            Form::Text(objects) => {
                text::outcome(outcome, place, &identity, &found, self.command);
                if let Ok(accepted) = &outcome.result
                    && let Some(object) = accepted.returned()
                {
                    objects.print(&object)?;
                }
            }
        }
        Ok(status)
    }

    /// Writes the baseline, if there is one, and prints what has not been printed.
    pub(super) fn finish(mut self) -> io::Result<Status> {
        self.policy.read_below(self.command.paths());
        let (gone, status) = self.policy.finish();
        let status = status.max(Status::of(&gone));
        self.form.remarks(gone)?;
        self.form.finish()?;
        Ok(status)
    }

    /// Prints what has not been printed of a run that ends before any request.
    pub(super) fn give_up(self) -> io::Result<()> {
        self.form.finish().map(|_| ())
    }
}
