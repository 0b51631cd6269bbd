//! The `billhook` command: shows what a Kubernetes API server makes of custom resources. It reads
//! files, asks the `billhook` library and prints what it says; it decides nothing itself.

mod args;
mod check;
mod crds;
mod findings;
mod input;
mod json;
mod ndjson;
mod problem;
mod report;
mod run;
mod validate;

use std::io;
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::AnyCommand;
use crate::problem::{Place, Problem, Status};

fn main() -> ExitCode {
    let command = args::Cli::parse().command;
    let checked = match &command {
        AnyCommand::Objects(command) => command.check(),
        AnyCommand::Check(check) => check.check(),
        AnyCommand::Validate(validate) => validate.check(),
    };
    if let Err(conflict) = checked {
        conflict.exit();
    }
    let result = match &command {
        AnyCommand::Objects(command) => run::run(command),
        AnyCommand::Check(check) => check::run(check),
        AnyCommand::Validate(validate) => validate::run(validate),
    };
    let status = match result {
        Ok(status) => status,
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Status::Fine,
        Err(error) => {
            report::problem(&Problem::io(Place::file("standard output"), &error));
            Status::Unusable
        }
    };
    ExitCode::from(status.code())
}
