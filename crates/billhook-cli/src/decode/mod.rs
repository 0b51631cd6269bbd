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

use crate::args::Command;
use crate::crds::{Crds, Used};
use crate::findings::Collector;
use crate::options::Report;
use crate::policy::{Known, Policy};
use crate::problem::{Status, no_objects};
use crate::report;
use crate::work::{self, Done, Event, Pass};
use json::JsonReport;
use outcome::Outcome;
use run::Run;
pub(crate) use run::from_request;
use text::TextReport;

/// Where outcomes go.
enum Printer {
    Text(TextReport),
    Json(JsonReport),
    Findings(Collector),
    Status,
}

impl Printer {
    fn new(command: &Command) -> Self {
        let common = command.common();
        match (common.findings.given(), common.report) {
            _ if common.findings.is_status() => Printer::Status,
            (Some(format), _) => Printer::Findings(Collector::new(format)),
            (None, Report::Text) => Printer::Text(TextReport::new(common)),
            (None, Report::Json) => Printer::Json(JsonReport::new(command)),
        }
    }

    /// Prints an outcome; `is_told` says whether its problem was told before.
    fn add(
        &mut self,
        outcome: Outcome<'_>,
        findings: Vec<Finding>,
        is_told: bool,
    ) -> io::Result<()> {
        match self {
            Printer::Text(_) if is_told => Ok(()),
            Printer::Text(text) => text.add(&outcome, &findings),
            Printer::Json(json) => json.add(outcome, is_told),
            Printer::Status => {
                let (warnings, problem) = match &outcome.result {
                    Ok(done) => (done.warnings.as_slice(), None),
                    Err(problem) => ([].as_slice(), Some(&**problem)),
                };
                report::client_warnings(warnings);
                report::answer_of(problem.filter(|_| !is_told))
            }
            Printer::Findings(collector) => {
                collector.add(&outcome.place, &outcome.identity, findings, is_told)
            }
        }
    }

    /// Ends the output. Returns whether it is for people.
    fn finish(self) -> io::Result<bool> {
        match self {
            Printer::Text(_) => Ok(true),
            Printer::Status => Ok(false),
            Printer::Json(json) => json.finish().map(|()| false),
            Printer::Findings(collector) => {
                let is_for_people = collector.is_for_people();
                collector.finish().map(|()| is_for_people)
            }
        }
    }
}

/// Runs a command. The error is one of writing the output.
pub(crate) fn run(command: &Command) -> io::Result<Status> {
    let common = command.common();
    let is_stream = matches!(command, Command::Decode(decode) if decode.ndjson);
    let config = match common.server.config(&common.objects) {
        Ok(config) => config,
        Err(problem) => return Ok(report::problems(&[*problem])),
    };
    let inputs = if is_stream { &[] } else { common.objects.as_slice() };
    let options = common.crd_options(&config);
    let (crds, problems) = Crds::read(&common.crd.paths, &config, inputs, options);
    let mut status = report::problems(&problems);
    if crds.is_empty() {
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
    let policy = match Policy::new(&config, &Known::default()) {
        Ok(policy) => policy,
        Err(problem) => return Ok(report::problems(&[*problem])),
    };
    let mut print = |event: Event<Outcome<'_>>| {
        let Event::Done(Done { outcome, findings, is_told }) = event else { return Ok(()) };
        text::notes(&outcome, &mut used, run.is_request());
        if common.check && outcome.would_change() {
            status = status.max(Status::Changed);
        }
        printer.add(outcome, findings, is_told)
    };
    let (threads, quiet) = (common.jobs.threads(), common.quiet);
    let pass = Pass { fixing: command.fixing(), policy, threads, quiet };
    let mut end = work::run(&run, &common.objects, pass, &mut print)?;
    if end.others.is_all {
        let done = Done::failed(no_objects(&common.objects));
        end.status = end.status.max(done.status());
        print(Event::Done(done))?;
    }
    if printer.finish()? && !quiet {
        end.summary.print("object");
    }
    Ok(status.max(end.status))
}
