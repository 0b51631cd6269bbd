//! `billhook completions` and `billhook man`: what clap knows of the command, for shells and `man`.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::problem::{Place, Problem, Status};
use crate::report;

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to print the completions for
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Directory to write the pages to; it is made if it is not there
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

/// Prints the completions of a shell.
pub(crate) fn completions(command: &Completions, mut cli: Command) -> io::Result<Status> {
    let mut text = Vec::new();
    clap_complete::generate(command.shell, &mut cli, "billhook", &mut text);
    io::Write::write_all(&mut io::stdout().lock(), &text)?;
    Ok(Status::Fine)
}

/// Writes a manual page for the command and for each subcommand.
pub(crate) fn man(command: &Man, cli: Command) -> io::Result<Status> {
    Ok(match write_pages(&command.directory, cli) {
        Ok(()) => Status::Fine,
        Err(error) => {
            let place = Place::file(&command.directory.to_string_lossy());
            let problem = Problem::io(place, &error);
            report::problem(&problem);
            problem.status
        }
    })
}

fn write_pages(directory: &Path, cli: Command) -> io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let mut cli = cli.disable_help_subcommand(true);
    cli.build();
    clap_mangen::generate_to(cli, directory)
}
