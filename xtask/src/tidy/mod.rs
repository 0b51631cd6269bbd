//! Keeps the project tidy: what every file must look like, and the invariants of the layout that
//! the compiler does not check.

mod circles;
mod layers;
mod licences;
mod links;
mod manifests;
mod rules;
mod text;
mod versions;
mod words;

use std::path::Path;
use std::process::{Command, ExitCode};

use serde_json::Value;

/// The findings.
#[derive(Debug, Default)]
pub struct Findings {
    /// Problems to repair, each with its place.
    pub problems: Vec<String>,
    /// Possible improvements.
    pub notes: Vec<String>,
}

/// The files of the project that are text.
struct Files(Vec<(String, String)>);

impl Files {
    /// Reads all files that git knows or does not ignore, sorted.
    fn read(root: &Path) -> Result<Self, String> {
        let arguments = ["ls-files", "--cached", "--others", "--exclude-standard"];
        let listed = output(root, "git", &arguments)?;
        let mut names: Vec<&str> = listed.lines().collect();
        names.sort_unstable();
        let read =
            |name: &str| Some((name.to_owned(), std::fs::read_to_string(root.join(name)).ok()?));
        Ok(Files(names.into_iter().filter_map(read).collect()))
    }

    fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    fn ending_in(&self, ending: &str) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(move |(name, _)| name.ends_with(ending))
    }

    fn text(&self, wanted: &str) -> Option<&str> {
        self.all().find(|(name, _)| *name == wanted).map(|(_, text)| text)
    }
}

/// Checks everything.
pub fn check(root: &Path) -> Result<Findings, String> {
    let files = Files::read(root)?;
    let metadata = metadata(root)?;
    let mut findings = Findings::default();
    let problems = &mut findings.problems;
    text::check(&files, problems);
    manifests::check(&files, problems);
    rules::check(&files, problems);
    links::check(&files, root, problems);
    layers::check(&files, &metadata, problems);
    licences::check(&metadata, problems);
    versions::check(&files, problems);
    words::check(&files, &mut findings);
    circles::check(root, &files, &mut findings)?;
    Ok(findings)
}

/// Returns cargo's metadata of the packages.
pub(crate) fn metadata(root: &Path) -> Result<Value, String> {
    let arguments = ["metadata", "--format-version", "1", "--all-features", "--locked"];
    let text = output(root, env!("CARGO"), &arguments)?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

fn output(root: &Path, program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// `cargo xtask tidy`.
pub fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match check(&root) {
        Ok(findings) => {
            findings.notes.iter().for_each(|note| println!("note: {note}"));
            findings.problems.iter().for_each(|problem| eprintln!("{problem}"));
            match findings.problems.len() {
                0 => println!("tidy"),
                count => eprintln!("{count} problems"),
            }
            if findings.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
