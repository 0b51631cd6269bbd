//! The definitions of one side: from files, or from a revision of a repository.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use billhook::CustomResourceDefinition;
use billhook_findings::Source;
use indexmap::IndexMap;
use serde_json::Value;

use crate::crd_files::Files;
use crate::input::{self, Document, Input};
use crate::options::{is_manifest, is_stdin};
use crate::problem::{Place, Problem};

/// The prefix of an input that is in a repository.
const GIT: &str = "git:";

/// Reads the definitions of some inputs, by their names.
pub(super) fn definitions(inputs: &[String]) -> Result<IndexMap<String, Document>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut found = IndexMap::new();
    for input in inputs {
        match documents(input) {
            Ok(documents) => {
                for document in documents {
                    let name = document.value.pointer("/metadata/name").and_then(Value::as_str);
                    found.insert(name.unwrap_or_default().to_owned(), document);
                }
            }
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() && found.is_empty() {
        let place = Place::file(&inputs.join(" "));
        problems.push(*Problem::unusable(place, "no CustomResourceDefinition is here"));
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn documents(input: &str) -> Result<Vec<Document>, Vec<Problem>> {
    let sources = match input.strip_prefix(GIT) {
        Some(revision) => of_revision(input, revision).map_err(|problem| vec![*problem])?,
        None => of_files(input)?,
    };
    let mut found = Vec::new();
    for source in sources {
        let documents = input::documents_of(&source).map_err(|problem| vec![*problem])?;
        let is_definition =
            |document: &Document| CustomResourceDefinition::is_definition(&document.value);
        found.extend(documents.into_iter().filter(is_definition));
    }
    Ok(found)
}

fn of_files(input: &str) -> Result<Vec<Arc<Source>>, Vec<Problem>> {
    let files = Files::find(&[PathBuf::from(input)]);
    if !files.problems.is_empty() {
        return Err(files.problems);
    }
    let read = |path: PathBuf| match is_stdin(&path) {
        true => Input::Stdin.source(),
        false => Input::File(path).source(),
    };
    let sources: Result<Vec<_>, _> = files.paths.into_iter().map(read).collect();
    sources.map_err(|problem| vec![*problem])
}

/// The manifests at `REVISION:PATH`, which is a file or a directory.
fn of_revision(input: &str, revision: &str) -> Result<Vec<Arc<Source>>, Box<Problem>> {
    let unusable = |message: &str| Problem::unusable(Place::file(input), message.to_owned());
    let Some((revision, path)) = revision.split_once(':') else {
        return Err(unusable("expected `git:REVISION:PATH`"));
    };
    if revision.is_empty() || revision.starts_with('-') {
        return Err(unusable("expected a revision, as in `git:main:config/crd`"));
    }
    let path = path.trim_end_matches('/');
    let place = if path.is_empty() { "." } else { path };
    let listed = git(input, &["ls-tree", "-r", "-z", "--name-only", revision, "--", place])?;
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let names: Vec<&str> = listed.split('\0').filter(|name| !name.is_empty()).collect();
    let charts = names.iter().filter_map(|name| name.strip_suffix("Chart.yaml"));
    let charts: Vec<&str> =
        charts.filter(|chart| chart.is_empty() || chart.ends_with('/')).collect();
    let mut sources = Vec::new();
    for name in names {
        let is_found = || is_manifest(Path::new(name)) && !is_of_chart(name, &charts);
        if name != path && !is_found() {
            continue;
        }
        let text = git(input, &["show", &format!("{revision}:./{name}")])?;
        // What is checked out is named as other tools name it, so that CI finds it.
        let shown = match is_checked_out(name, &text) {
            true => name.to_owned(),
            false => format!("{revision}:{name}"),
        };
        sources.push(Arc::new(Source::new(shown, text)));
    }
    if sources.is_empty() {
        return Err(unusable("no manifest is there"));
    }
    Ok(sources)
}

/// Whether a file is part of a chart, of which only the definitions and the charts in it are manifests.
fn is_of_chart(name: &str, charts: &[&str]) -> bool {
    let is_manifest = |below: &str| below.starts_with("crds/") || below.starts_with("charts/");
    charts.iter().any(|chart| name.strip_prefix(chart).is_some_and(|below| !is_manifest(below)))
}

/// Whether there is a file with a text.
fn is_checked_out(name: &str, text: &[u8]) -> bool {
    let has_size = |it: std::fs::Metadata| it.is_file() && it.len() == text.len() as u64;
    std::fs::metadata(name).is_ok_and(has_size) && std::fs::read(name).is_ok_and(|it| it == text)
}

/// The output of a command of git.
fn git(input: &str, arguments: &[&str]) -> Result<Vec<u8>, Box<Problem>> {
    let place = Place::file(input);
    let output = Command::new("git").args(arguments).output();
    let output = output.map_err(|error| {
        Problem::unusable(place.clone(), format!("`git` cannot be run: {error}"))
    })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let line = text.lines().next().unwrap_or("git fails").trim_start_matches("fatal: ");
        return Err(Problem::unusable(place, line.to_owned()));
    }
    Ok(output.stdout)
}
