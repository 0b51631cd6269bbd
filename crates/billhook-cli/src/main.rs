//! The `billhook` command: shows what a Kubernetes API server makes of custom resources. It reads
//! files, asks the `billhook` library and prints what it says; it decides nothing itself.

mod admission_policies;
mod admit;
mod advice;
mod allow;
mod apply;
mod args;
mod built_in;
mod certificate_requests;
mod check;
mod cluster_view;
mod compat;
mod controllers;
mod convert;
mod crd_files;
mod crds;
mod data;
mod decode;
mod diff;
mod envtest;
mod etcd;
mod explain;
mod expression;
mod files;
mod findings;
mod fixing;
mod form;
mod front;
mod identity;
mod input;
mod json;
mod lines;
mod listening;
mod matching;
mod namespaces;
mod normal;
mod options;
mod owners;
mod parallel;
mod policy;
mod problem;
mod program;
mod progress;
mod report;
mod resolving;
mod serve;
mod server;
mod setup;
mod shell;
mod size;
mod stand_in;
mod stored;
mod suites;
mod summary;
mod traces;
mod validate;
mod watch;
mod work;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};
use mimalloc::MiMalloc;

use crate::problem::{Place, Problem, RunError, Status};

/// Trees of objects have many small parts.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = stand_in::run() {
        return code;
    }
    let cli = args::Cli::try_parse_from(args::in_order(std::env::args_os().collect()));
    let args::Cli { command, max_input } =
        match cli.and_then(|cli| cli.command.check().map(|()| cli)) {
            Ok(cli) => cli,
            Err(answer) => return exit_code(answer.print().map(|()| clap_status(&answer))),
        };
    input::limit(max_input);
    let run = || {
        run(&command).or_else(|error| match error {
            RunError::Problems(problems) => Ok(report::problems(&problems)),
            RunError::Output(error) => Err(error),
        })
    };
    let run = if command.watches() { watch::repeat(run) } else { run() };
    exit_code(run.map(Status::code))
}

fn run(command: &args::Subcommands) -> Result<Status, RunError> {
    match command {
        args::Subcommands::Decode(command) => decode::run(command),
        args::Subcommands::Validate(command) => validate::run(command),
        args::Subcommands::Check(command) => check::run(command),
        args::Subcommands::Match(command) => matching::run(command),
        args::Subcommands::Admit(command) => admit::run(command),
        args::Subcommands::Compat(command) => compat::run(command),
        args::Subcommands::Convert(command) => convert::run(command),
        args::Subcommands::Apply(command) => apply::run(command),
        args::Subcommands::Owners(command) => owners::run(command),
        args::Subcommands::Diff(command) => diff::run(command),
        args::Subcommands::Normalize(command) => normal::run(command, normal::Form::Normal),
        args::Subcommands::Neat(command) => normal::run(command, normal::Form::Neat),
        args::Subcommands::Test(command) => suites::run(command),
        args::Subcommands::Serve(command) => serve::run(command),
        args::Subcommands::Envtest(command) => envtest::run(command),
        args::Subcommands::Data(command) => data::run(command),
        args::Subcommands::Explain(command) => explain::run(command),
        args::Subcommands::ExplainExpression(command) => expression::run(command),
        args::Subcommands::Completions(command) => {
            shell::completions(command, args::Cli::command())
        }
        args::Subcommands::Man(command) => shell::man(command, args::Cli::command()),
    }
}

/// Help is an answer, anything else that clap says is an error.
fn clap_status(answer: &clap::Error) -> u8 {
    if answer.use_stderr() { Status::Unusable.code() } else { Status::Fine.code() }
}

/// Returns the exit status of a run, or of output that could not be written.
fn exit_code(run: io::Result<u8>) -> ExitCode {
    ExitCode::from(match run {
        Ok(code) => code,
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Status::Fine.code(),
        Err(error) => {
            report::problem(&Problem::io(Place::file("standard output"), &error));
            Status::Unusable.code()
        }
    })
}
