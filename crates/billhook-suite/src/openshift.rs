//! Suites in the layout of OpenShift's API repository: `tests/<definition>/<suite>.yaml` beside
//! `zz_generated.crd-manifests`, which holds a definition in variants for sets of features, and
//! somewhere above them `payload-manifests/featuregates`, which says what gates a set turns on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use billhook::CustomResourceDefinition;
use serde_json::Value;

use crate::files::{self, FileError, FoundDefinition, ReadFile};
use crate::suite::Suite;

const DEFINITIONS: &str = "zz_generated.crd-manifests";
const GATES: &str = "payload-manifests/featuregates";
const FEATURE_SET: &str = "release.openshift.io/feature-set";
const MAJOR_VERSION: &str = "release.openshift.io/major-version";
const INCLUDE: &str = "include.release.openshift.io/";
/// The feature set in which gates are chosen one by one.
const CUSTOM: &str = "CustomNoUpgrade";

/// Files that the definitions of a suite cannot be found with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenshiftError {
    /// A file or directory cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The suite is not in this layout.
    #[error("no directory `{DEFINITIONS}` beside a directory `tests` that it is in")]
    NoDirectory,
    /// No definition has the name that the suite asks for.
    #[error("no definition named `{name}` in {}", directory.display())]
    NoDefinition {
        /// The name.
        name: String,
        /// The directory that was searched.
        directory: PathBuf,
    },
    /// It is not known what gates a definition is for.
    #[error("{}: no manifest of feature gates is for this definition", path.display())]
    NoGates {
        /// The file of the definition.
        path: PathBuf,
    },
}

/// Whether a file has the layout around it.
pub(crate) fn is_suite(path: &Path) -> bool {
    is_yaml(path) && definitions_directory(path).is_some()
}

/// Returns the definitions that a suite is run against, sorted by file: those with its name, if its
/// feature gates fit.
///
/// # Errors
///
/// If a file cannot be read, if no definition has that name, or if it is not known what
/// gates a definition is for.
pub fn definitions(
    path: &Path,
    suite: &Suite,
    read: ReadFile,
) -> Result<Vec<FoundDefinition>, OpenshiftError> {
    let directory = definitions_directory(path).ok_or(OpenshiftError::NoDirectory)?;
    let mut found = documents(&directory, read)?;
    found.retain(|document| {
        CustomResourceDefinition::is_definition(&document.value)
            && document.name() == Some(&suite.crd_name)
    });
    if found.is_empty() {
        return Err(OpenshiftError::NoDefinition { name: suite.crd_name.clone(), directory });
    }
    if suite.feature_gates.is_empty() {
        return Ok(found);
    }
    let gates = match path.ancestors().map(|above| above.join(GATES)).find(|path| path.is_dir()) {
        Some(directory) => documents(&directory, read)?,
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
    manifests: &[FoundDefinition],
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
    let is_its = |manifest: &&FoundDefinition| {
        let manifest = &manifest.value;
        annotation(manifest, include).is_some()
            && !values(manifest, FEATURE_SET).is_disjoint(&sets)
            && (majors.is_empty() || !values(manifest, MAJOR_VERSION).is_disjoint(&majors))
    };
    let Some(manifest) = manifests.iter().find(is_its).map(|manifest| &manifest.value) else {
        return Err(OpenshiftError::NoGates { path: definition.file().into() });
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
fn documents(directory: &Path, read: ReadFile) -> Result<Vec<FoundDefinition>, FileError> {
    let entries = files::entries(directory)?.into_iter();
    let mut paths: Vec<PathBuf> = entries.map(|(path, _)| path).collect();
    paths.retain(|path| is_yaml(path) && path.is_file());
    paths.sort();
    let documents: Result<Vec<_>, FileError> =
        paths.iter().map(|path| files::documents(path, read)).collect();
    Ok(documents?.into_iter().flatten().collect())
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}
