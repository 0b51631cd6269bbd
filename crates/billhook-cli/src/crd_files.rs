//! From the paths of `--crd` to files: directories are searched, charts of Helm have their
//! definitions in `crds`, and kustomizations name other files and directories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::input::{entries, read_file};
use crate::options::{is_manifest, is_stdin};
use crate::problem::{Place, Problem};

/// The names that a kustomization may have.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// How many kustomizations may name each other in a row.
const MAX_DEPTH: usize = 100;

/// The files that the paths stand for.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// In order; each once.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) problems: Vec<Problem>,
    /// Resources that are somewhere else.
    pub(crate) remote: Vec<String>,
    seen: BTreeSet<PathBuf>,
    /// The kustomizations that are being read.
    open: Vec<PathBuf>,
}

impl Files {
    pub(crate) fn find(paths: &[PathBuf]) -> Self {
        let mut files = Files::default();
        for path in paths {
            let before = files.paths.len() + files.problems.len() + files.remote.len();
            if is_stdin(path) {
                files.paths.push(path.clone());
            } else if path.is_dir() {
                files.directory(path);
                if files.paths.len() + files.problems.len() + files.remote.len() == before {
                    let message = "no file in this directory ends in .yaml, .yml or .json";
                    files.problem(path, message.to_owned());
                }
            } else {
                files.file(path);
            }
        }
        files
    }

    fn problem(&mut self, path: &Path, message: String) {
        self.problems.push(*Problem::unusable(Place::path(path), message));
    }

    fn directory(&mut self, directory: &Path) {
        let entries = match entries(directory) {
            Ok(entries) => entries,
            Err(problem) => return self.problems.push(*problem),
        };
        let is_chart = directory.join("Chart.yaml").is_file();
        for (path, is_directory) in entries {
            let is_part = |name: &str| path.file_name().is_some_and(|own| own == name);
            // The templates of a chart are not YAML yet.
            if is_chart && !(is_directory && (is_part("crds") || is_part("charts"))) {
                continue;
            }
            if is_directory {
                self.directory(&path);
            } else if (is_manifest(&path) || is_kustomization(&path)) && path.is_file() {
                self.file(&path);
            }
        }
    }

    fn file(&mut self, path: &Path) {
        if is_kustomization(path) {
            return self.kustomization(path);
        }
        // A missing file is reported when it is read.
        let known = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.seen.insert(known) {
            self.paths.push(path.to_owned());
        }
    }

    fn kustomization(&mut self, path: &Path) {
        let known = match path.canonicalize() {
            Ok(known) => known,
            Err(error) => return self.problems.push(*Problem::io(Place::path(path), &error)),
        };
        if let Some(start) = self.open.iter().position(|open| *open == known) {
            let steps = self.open.iter().skip(start).chain([&known]);
            let steps: Vec<String> = steps.map(|step| format!("`{}`", step.display())).collect();
            return self.problem(path, format!("resources lead back: {}", steps.join(" -> ")));
        }
        if !self.seen.insert(known.clone()) {
            return;
        }
        if self.open.len() >= MAX_DEPTH {
            return self.problem(path, format!("more than {MAX_DEPTH} kustomizations in a row"));
        }
        self.open.push(known);
        match resources(path) {
            Ok(resources) => resources.iter().for_each(|resource| self.resource(path, resource)),
            Err(problem) => self.problems.push(*problem),
        }
        self.open.pop();
    }

    fn resource(&mut self, kustomization: &Path, resource: &str) {
        let is_remote =
            resource.contains("://") || resource.contains("?ref=") || resource.starts_with("git@");
        let path = kustomization.parent().unwrap_or(Path::new("")).join(resource);
        if path.is_dir() {
            let inner =
                KUSTOMIZATIONS.iter().map(|name| path.join(name)).find(|path| path.is_file());
            match inner {
                Some(inner) => self.kustomization(&inner),
                None => self.problem(&path, "no kustomization in this directory".to_owned()),
            }
        } else if is_remote || (resource.starts_with("github.com/") && !path.exists()) {
            self.remote.push(format!(
                "{}: `{resource}` is not here, and not read",
                kustomization.display()
            ));
        } else {
            self.file(&path);
        }
    }
}

fn is_kustomization(path: &Path) -> bool {
    path.file_name().is_some_and(|name| KUSTOMIZATIONS.iter().any(|known| name == *known))
}

/// The resources that a kustomization names.
fn resources(path: &Path) -> Result<Vec<String>, Box<Problem>> {
    let place = Place::path(path);
    let text = read_file(path).map_err(|error| Problem::io(place.clone(), &error))?;
    let manifests = billhook::read_manifests(&text)
        .map_err(|error| Problem::unusable(place, error.to_string()))?;
    let lists = manifests.iter().flat_map(|manifest| {
        // `bases` is the old name.
        ["resources", "bases"].into_iter().filter_map(|name| manifest.value().get(name)?.as_array())
    });
    Ok(lists.flatten().filter_map(Value::as_str).map(str::to_owned).collect())
}
