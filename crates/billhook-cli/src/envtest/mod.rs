//! `billhook envtest`: lets suites of Go find the program in place of kube-apiserver and etcd.

mod archive;
mod args;
mod layout;

use std::fs;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use crate::problem::{Place, Problem, RunError, Status};
use crate::program::Program;
use crate::report;
use args::{Action, Directory, Print};
pub(crate) use args::{Envtest, HELP};

/// The file that says that a directory is ours: real programs are never replaced.
const MARK: &str = ".billhook";

/// Runs the command.
pub(crate) fn run(command: &Envtest) -> Result<Status, RunError> {
    match &command.action {
        Action::Install(install) => {
            if let Some(file) = &install.archive {
                write_archive(file).map_err(|error| Problem::io(Place::path(file), &error))?;
                return Ok(Status::Fine);
            }
            let directory = directory(&install.directory)?;
            put(&directory)?;
            match install.print {
                Print::Path => report::write(&format!("{}\n", directory.display()))?,
                Print::Env => report::write(&export(&directory))?,
            }
        }
        Action::Path(place) => report::write(&installed(place)?.display().to_string())?,
        Action::Env(place) => report::write(&export(&installed(place)?))?,
    }
    Ok(Status::Fine)
}

fn directory(place: &Directory) -> Result<PathBuf, Box<Problem>> {
    let base = place.bin_dir.clone().or_else(layout::base);
    let unknown = || {
        let message = "the environment does not say where the files of the user are";
        Problem::unusable(Place::file("--bin-dir"), message).help("name a directory")
    };
    let base = std::path::absolute(base.ok_or_else(unknown)?);
    let base = base.map_err(|error| Problem::io(Place::file("--bin-dir"), &error))?;
    Ok(layout::directory(place.version, &base))
}

/// The directory, if the programs are in it.
fn installed(place: &Directory) -> Result<PathBuf, Box<Problem>> {
    let directory = directory(place)?;
    match directory.join(MARK).exists() {
        true => Ok(directory),
        false => Err(Problem::unusable(Place::path(&directory), "billhook is not installed there")
            .help("run `billhook envtest install` with the same options")),
    }
}

/// A line that sets the variable which envtest looks for.
fn export(directory: &Path) -> String {
    let quoted = directory.display().to_string().replace('\'', r"'\''");
    format!("export KUBEBUILDER_ASSETS='{quoted}'\n")
}

/// Puts the program into a directory under all names.
fn put(directory: &Path) -> Result<(), Box<Problem>> {
    let problem = |error: io::Error| Problem::io(Place::path(directory), &error);
    let own = std::env::current_exe().map_err(problem)?;
    let server = directory.join(file_name(Program::ApiServer));
    if server.exists() && !directory.join(MARK).exists() {
        let message = "there are other programs, which are not replaced";
        return Err(Problem::unusable(Place::path(directory), message)
            .help("remove the directory, or choose another --version"));
    }
    fs::create_dir_all(directory).map_err(problem)?;
    fs::write(directory.join(MARK), "").map_err(problem)?;
    for program in Program::ALL {
        let file = directory.join(file_name(program));
        let new = directory.join(format!(".{}-{}", program.name(), std::process::id()));
        // The programs are one file, if the system knows how: they are large.
        let linked = program != Program::ApiServer && fs::hard_link(&server, &new).is_ok();
        let copied = if linked { Ok(()) } else { fs::copy(&own, &new).map(|_| ()) };
        copied.and_then(|()| fs::rename(&new, &file)).map_err(problem)?;
    }
    Ok(())
}

fn file_name(program: Program) -> String {
    format!("{}{}", program.name(), std::env::consts::EXE_SUFFIX)
}

fn write_archive(file: &Path) -> io::Result<()> {
    let content = fs::read(std::env::current_exe()?)?;
    let names = Program::ALL.map(file_name);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    archive::write(BufWriter::new(fs::File::create(file)?), &names, &content)
}
