//! Suites in the layout of OpenShift's API repository: `tests/<definition>/<suite>.yaml` beside
//! `zz_generated.crd-manifests`, which holds a definition in variants for sets of features, and
//! somewhere above them `payload-manifests/featuregates`, which says what gates a set turns on.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use billhook::{CustomResourceDefinition, DeepValue, ManifestError};
use serde_json::Value;

use crate::suite::Suite;

const DEFINITIONS: &str = "zz_generated.crd-manifests";
const GATES: &str = "payload-manifests/featuregates";
const FEATURE_SET: &str = "release.openshift.io/feature-set";
const MAJOR_VERSION: &str = "release.openshift.io/major-version";
const INCLUDE: &str = "include.release.openshift.io/";
/// The feature set in which gates are chosen one by one.
const CUSTOM: &str = "CustomNoUpgrade";

/// A definition that suites are run against.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundDefinition {
    /// The file.
    pub path: PathBuf,
    /// The document.
    pub value: DeepValue,
}

/// Files that the definitions of a suite cannot be found with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenshiftError {
    /// A file or directory cannot be read.
    #[error("{path}: {error}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// A file is neither YAML nor JSON.
    #[error("{path}: {error}")]
    Manifest {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        error: ManifestError,
    },
    /// No definition has the name that the suite asks for.
    #[error("no definition named `{name}` in {directory}")]
    NoDefinition {
        /// The name.
        name: String,
        /// The directory that was searched.
        directory: PathBuf,
    },
    /// It is not known what gates a definition is for.
    #[error("{path}: no manifest of feature gates is for this definition")]
    NoGates {
        /// The file of the definition.
        path: PathBuf,
    },
}

/// Returns the suites below a directory, sorted: the YAML files that have the layout around them.
/// Links to directories are not followed.
///
/// # Errors
///
/// If a directory cannot be read.
pub fn find_suites(directory: &Path) -> Result<Vec<PathBuf>, OpenshiftError> {
    let mut suites = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for (path, is_directory) in entries(&directory)? {
            if is_directory {
                open.push(path);
            } else if is_yaml(&path) && definitions_directory(&path).is_some() {
                suites.push(path);
            }
        }
    }
    suites.sort();
    Ok(suites)
}

/// Returns the definitions that a suite is run against, sorted by file: those with its name, if its
/// feature gates fit. The files are read with `read`, such as [`std::fs::read`].
///
/// # Errors
///
/// If a file cannot be read, if no definition has that name, or if it is not known what
/// gates a definition is for.
pub fn definitions(
    path: &Path,
    suite: &Suite,
    read: impl Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Vec<FoundDefinition>, OpenshiftError> {
    let directory = definitions_directory(path).unwrap_or_default();
    let mut found = Vec::new();
    for (path, value) in documents(&directory, &read)? {
        let name = value.pointer("/metadata/name").and_then(Value::as_str);
        if CustomResourceDefinition::is_definition(&value) && name == Some(&suite.crd_name) {
            found.push(FoundDefinition { path, value });
        }
    }
    if found.is_empty() {
        return Err(OpenshiftError::NoDefinition { name: suite.crd_name.clone(), directory });
    }
    if suite.feature_gates.is_empty() {
        return Ok(found);
    }
    let gates = match path.ancestors().map(|above| above.join(GATES)).find(|path| path.is_dir()) {
        Some(directory) => documents(&directory, &read)?,
        None => Vec::new(),
    };
    let mut fitting = Vec::new();
    for definition in found {
        if is_for(&definition, &suite.feature_gates, &gates)? {
            fitting.push(definition);
        }
    }
    Ok(fitting)
}

/// The directory of the definitions of a suite.
fn definitions_directory(suite: &Path) -> Option<PathBuf> {
    let tests = suite.parent()?.parent()?;
    let directory = tests.with_file_name(DEFINITIONS);
    (tests.file_name()? == "tests" && directory.is_dir()).then_some(directory)
}

/// Whether a definition is for all of the gates.
fn is_for(
    definition: &FoundDefinition,
    gates: &[String],
    manifests: &[(PathBuf, DeepValue)],
) -> Result<bool, OpenshiftError> {
    let value = &definition.value;
    let sets = values(value, FEATURE_SET);
    if sets.contains(CUSTOM) {
        return Ok(!gates.iter().any(|gate| gate.starts_with('-')));
    }
    let annotations = value.pointer("/metadata/annotations").and_then(Value::as_object);
    let includes = annotations.into_iter().flatten();
    let includes = includes.filter(|(name, value)| name.starts_with(INCLUDE) && *value == "true");
    let Some(include) = includes.map(|(name, _)| name).min() else { return Ok(true) };
    let sets = if sets.is_empty() { BTreeSet::from(["Default"]) } else { sets };
    let majors = values(value, MAJOR_VERSION);
    let is_its = |manifest: &&(PathBuf, DeepValue)| {
        let (_, manifest) = manifest;
        annotation(manifest, include).is_some()
            && !values(manifest, FEATURE_SET).is_disjoint(&sets)
            && (majors.is_empty() || !values(manifest, MAJOR_VERSION).is_disjoint(&majors))
    };
    let Some((_, manifest)) = manifests.iter().find(is_its) else {
        return Err(OpenshiftError::NoGates { path: definition.path.clone() });
    };
    Ok(gates.iter().all(|gate| match gate.strip_prefix('-') {
        Some(gate) => has_gate(manifest, "disabled", gate),
        None => has_gate(manifest, "enabled", gate),
    }))
}

fn has_gate(manifest: &Value, list: &str, gate: &str) -> bool {
    let gates = manifest.pointer(&format!("/status/featureGates/0/{list}"));
    let gates = gates.and_then(Value::as_array).into_iter().flatten();
    gates.into_iter().any(|known| known.get("name").and_then(Value::as_str) == Some(gate))
}

fn annotation<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.pointer("/metadata/annotations")?.get(name)?.as_str()
}

/// The values of an annotation, which are separated by commas.
fn values<'v>(value: &'v Value, name: &str) -> BTreeSet<&'v str> {
    annotation(value, name).into_iter().flat_map(|text| text.split(',')).map(str::trim).collect()
}

/// The documents of the YAML files of a directory, sorted by file.
fn documents(
    directory: &Path,
    read: impl Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Vec<(PathBuf, DeepValue)>, OpenshiftError> {
    let mut paths: Vec<PathBuf> = entries(directory)?.into_iter().map(|(path, _)| path).collect();
    paths.retain(|path| is_yaml(path) && path.is_file());
    paths.sort();
    let mut documents = Vec::new();
    for path in paths {
        let text = read(&path).map_err(|error| OpenshiftError::Io { path: path.clone(), error })?;
        let found = billhook::read_manifests(&text)
            .map_err(|error| OpenshiftError::Manifest { path: path.clone(), error })?;
        documents.extend(found.into_iter().map(|document| (path.clone(), document.into_value())));
    }
    Ok(documents)
}

/// The entries of a directory, and whether they are directories themselves.
fn entries(directory: &Path) -> Result<Vec<(PathBuf, bool)>, OpenshiftError> {
    let failed = |error| OpenshiftError::Io { path: directory.to_owned(), error };
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        found.push((entry.path(), entry.file_type().map_err(failed)?.is_dir()));
    }
    Ok(found)
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}
