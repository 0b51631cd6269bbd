//! `billhook decode`, `prune` and `default`: every object finds its definition and version, goes
//! through the library, and its outcome is printed. A problem with one object does not keep the
//! others from being read.

mod json;
mod ndjson;
mod outcome;
mod run;
mod text;

use std::io;

use crate::args::Command;
use crate::crds::{Crds, Used};
use crate::findings::Collector;
use crate::options::Report;
use crate::problem::{Status, no_objects};
use crate::report;
use crate::work::{self, Done};
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
}

/// Runs a command. The error is one of writing the output.
pub(crate) fn run(command: &Command) -> io::Result<Status> {
    let common = command.common();
    let (crds, problems) = Crds::read(&common.crd, common.crd_options());
    let mut status = report::problems(&problems);
    if crds.is_empty() {
        return Ok(Status::Unusable);
    }
    if let Command::Decode(decode) = command
        && decode.ndjson
    {
        return Ok(status.max(ndjson::run(command, decode, &crds)?));
    }
    let mut printer = match (common.findings.given(), common.report) {
        (Some(format), _) => Printer::Findings(Collector::new(format)),
        (None, Report::Text) => Printer::Text(TextReport::new(common)),
        (None, Report::Json) => Printer::Json(JsonReport::new(command)),
    };
    let mut used = Used::default();
    let run = Run { command, crds: &crds };
    let mut print = |done: Done<Outcome<'_>>| {
        let Done { outcome, findings } = done;
        text::notes(&outcome, &mut used, run.is_request());
        if common.check && outcome.would_change() {
            status = status.max(Status::Changed);
        }
        match &mut printer {
            Printer::Text(text) => text.add(&outcome),
            Printer::Json(json) => json.add(outcome),
            Printer::Findings(collector) => {
                collector.add(&outcome.place, &outcome.identity, findings)
            }
        }
    };
    let (mut worst, others) = work::run(&run, &common.objects, command.fixing(), &mut print)?;
    if others.is_all {
        let done = Done::failed(no_objects(&common.objects));
        worst = worst.max(done.status());
        print(done)?;
    }
    match printer {
        Printer::Text(_) => {}
        Printer::Json(json) => json.finish()?,
        Printer::Findings(collector) => collector.finish()?,
    }
    Ok(status.max(worst))
}
