//! `billhook completions` and `billhook man`: what clap knows of the command, for shells and `man`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::problem::{Place, Problem, RunError, Status};

pub(crate) const COMPLETIONS_HELP: &str = "\
Examples:
  billhook completions bash > ~/.local/share/bash-completion/completions/billhook
  billhook completions zsh > _billhook
  billhook completions fish > ~/.config/fish/completions/billhook.fish";

pub(crate) const MAN_HELP: &str = "\
Examples:
  billhook man ~/.local/share/man/man1
  billhook man pages/";

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Shell to print the completions for
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Directory to write the pages to; created if it does not exist
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

/// Prints the completions of a shell.
pub(crate) fn completions(command: &Completions, mut cli: Command) -> Result<Status, RunError> {
    let mut text = Vec::new();
    clap_complete::generate(command.shell, &mut cli, "billhook", &mut text);
    io::Write::write_all(&mut io::stdout().lock(), &text)?;
    Ok(Status::Fine)
}

/// Writes a manual page for the command and for each subcommand.
pub(crate) fn man(command: &Man, cli: Command) -> Result<Status, RunError> {
    write_pages(&command.directory, cli)
        .map_err(|error| Problem::io(Place::path(&command.directory), &error))?;
    Ok(Status::Fine)
}

fn write_pages(directory: &Path, cli: Command) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut cli = cli.disable_help_subcommand(true);
    cli.build();
    let source = format!("billhook {}", cli.get_version().unwrap_or_default());
    for command in [&cli].into_iter().chain(cli.get_subcommands()) {
        let page = clap_mangen::Man::new(command.clone()).source(&source);
        let mut text = Vec::new();
        page.render(&mut text)?;
        let text = with_sections(&String::from_utf8_lossy(&text));
        fs::write(directory.join(page.get_filename()), text)?;
    }
    Ok(())
}

/// Makes sections of the parts of the text after the options.
fn with_sections(page: &str) -> String {
    let parts = [
        ("\n\nExit status:\n", "\n.SH \"EXIT STATUS\"\n"),
        ("\n\nExamples:\n", "\n.SH EXAMPLES\n"),
        (".SH EXTRA\nExit status:\n", ".SH \"EXIT STATUS\"\n"),
        (".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n"),
        (".SH EXTRA\n", ".SH NOTES\n"),
    ];
    parts.iter().fold(page.to_owned(), |page, (from, to)| page.replace(from, to))
}
