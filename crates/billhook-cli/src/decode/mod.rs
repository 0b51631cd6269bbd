//! `billhook decode`, `prune` and `default`: every object finds its definition and version, goes
//! through the library, and its outcome is printed. A problem with one object does not keep the
//! others from being read.

mod json;
mod ndjson;
mod outcome;
mod run;
mod text;

use std::io;

use billhook_findings::Finding;

use crate::args::{Command, Common};
use crate::crds::{Crds, Used};
use crate::form::Form;
use crate::policy::{Known, Policy};
use crate::problem::{RunError, Status, no_objects};
use crate::report::{self, Objects};
use crate::work::{self, Done, Event, Pass};
use outcome::Outcome;
use run::Run;
pub(crate) use run::from_request;

/// Prints outcomes.
struct Printer<'c> {
    common: &'c Common,
    form: Form<Objects>,
}

impl<'c> Printer<'c> {
    fn new(command: &'c Command) -> Self {
        let common = command.common();
        let kind = match command {
            Command::Decode(_) => "DecodeReport",
            Command::Prune(_) => "PruneReport",
            Command::Default(_) => "DefaultReport",
        };
        let text = Objects::new(common.output);
        Printer { common, form: Form::new(common.findings, common.report, kind, text) }
    }

    /// Prints an outcome; `is_reported` says whether its problem was reported before.
    fn add(
        &mut self,
        outcome: Outcome<'_>,
        findings: Vec<Finding>,
        is_reported: bool,
    ) -> io::Result<()> {
        match &mut self.form {
            Form::Text(_) if is_reported => Ok(()),
            Form::Text(objects) => text::print(objects, &outcome, &findings, self.common),
            Form::Json(items) => json::add(items, outcome, is_reported, !self.common.check),
            Form::Status => {
                let (warnings, problem) = match &outcome.result {
                    Ok(done) => (done.warnings.as_slice(), None),
                    Err(problem) => ([].as_slice(), Some(&**problem)),
                };
                report::client_warnings(warnings);
                report::answer_of(problem.filter(|_| !is_reported))
            }
            Form::Findings(collector) => {
                collector.add(&outcome.place, &outcome.identity, findings, is_reported)
            }
        }
    }
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<Status, RunError> {
    let common = command.common();
    let is_stream = matches!(command, Command::Decode(decode) if decode.ndjson);
    let config = common.server.config(&common.objects)?;
    let inputs = if is_stream { &[] } else { common.objects.as_slice() };
    let options = common.crd_options(&config);
    let (crds, problems) = Crds::read(&common.crd.paths, &config, inputs, options);
    let mut status = report::problems(&problems);
    if crds.is_empty() && status > Status::Fine {
        return Ok(Status::Unusable);
    }
    if let Command::Decode(decode) = command
        && decode.ndjson
    {
        return Ok(status.max(ndjson::run(command, decode, &crds)?));
    }
    let mut printer = Printer::new(command);
    let mut used = Used::default();
    let run = Run { command, crds: &crds };
    let policy = Policy::new(&config, &Known::default())?;
    let mut print = |event: Event<Outcome<'_>>| {
        let Event::Done(Done { outcome, findings, is_reported }) = event else { return Ok(()) };
        text::notes(&outcome, &mut used, run.is_request());
        if common.check && outcome.would_change() {
            status = status.max(Status::Changed);
        }
        printer.add(outcome, findings, is_reported)
    };
    let (threads, quiet) = (common.jobs.threads(), common.quiet);
    let pass = Pass { fixing: command.fixing(), policy, threads, quiet };
    let mut end = work::run(&run, &common.objects, pass, &mut print)?;
    if end.others.is_all {
        let done = Done::failed(no_objects(&common.objects));
        end.status = end.status.max(done.status());
        print(Event::Done(done))?;
    }
    if printer.form.finish()? && !quiet {
        end.summary.print("object");
    }
    Ok(status.max(end.status))
}
