//! The `billhook` command: shows what a Kubernetes API server makes of custom resources. It reads
//! files, asks the `billhook` library and prints what it says; it decides nothing itself.

mod admit;
mod allow;
mod args;
mod check;
mod crds;
mod decode;
mod explain;
mod identity;
mod input;
mod json;
mod matching;
mod options;
mod problem;
mod report;
mod validate;

use std::io;
use std::process::ExitCode;

use clap::Parser as _;

use crate::problem::{Place, Problem, Status};

fn main() -> ExitCode {
    let command = args::Cli::parse().command;
    if let Err(conflict) = command.check() {
        conflict.exit();
    }
    let run = match &command {
        args::Subcommands::Decode(command) => decode::run(command),
        args::Subcommands::Validate(command) => validate::run(command),
        args::Subcommands::Check(command) => check::run(command),
        args::Subcommands::Match(command) => matching::run(command),
        args::Subcommands::Admit(command) => admit::run(command),
        args::Subcommands::Explain(command) => explain::run(command),
    };
    let status = match run {
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
