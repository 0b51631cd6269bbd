//! The labels of namespaces, from the command line and from Namespace objects.

use std::path::PathBuf;

use billhook::label_selector::{LabelSelector, Operator, Selector};
use billhook::webhook::{NAMESPACE_NAME_LABEL, NamespaceLabels};
use billhook_apimachinery::namespace::is_namespace;
use billhook_findings::{Finding, Severity};
use billhook_policy::MemoryCluster;
use serde_json::{Value, json};

use crate::crds::list;
use crate::findings::ASSUMED;
use crate::input::{Document, documents};
use crate::problem::{Place, Problem};

/// Adds the namespaces of the command line to a cluster.
pub(crate) fn read(cluster: &mut MemoryCluster, given: &[String], problems: &mut Vec<Problem>) {
    for text in given {
        let path = PathBuf::from(text);
        let result = match text.split_once(':') {
            Some((name, labels)) if !path.exists() => add_text(cluster, text, name, labels),
            _ => add_files(cluster, path),
        };
        problems.extend(result.err().map(|problem| *problem));
    }
}

/// `NAME:key=value,…`
fn add_text(
    cluster: &mut MemoryCluster,
    text: &str,
    name: &str,
    labels: &str,
) -> Result<(), Box<Problem>> {
    let place = || Place::file("--namespace-labels");
    let selector: Selector =
        labels.parse().map_err(|error| Problem::unusable(place(), format!("`{text}`: {error}")))?;
    let mut found = NamespaceLabels::new();
    for requirement in selector.requirements() {
        match (requirement.operator(), requirement.values()) {
            (Operator::Equals, [value]) => {
                found.insert(requirement.key().to_owned(), value.clone());
            }
            _ => {
                let message = format!("`{text}`: expected `key=value`, found `{requirement}`");
                return Err(Problem::unusable(place(), message));
            }
        }
    }
    found.entry(NAMESPACE_NAME_LABEL.to_owned()).or_insert_with(|| name.to_owned());
    cluster.label_namespace(name, found);
    Ok(())
}

fn add_files(cluster: &mut MemoryCluster, path: PathBuf) -> Result<(), Box<Problem>> {
    let shown = path.to_string_lossy().into_owned();
    let mut any = false;
    for document in documents(&[path]) {
        any |= add_object(cluster, &document?)?;
    }
    if any {
        return Ok(());
    }
    Err(Problem::unusable(Place::file(&shown), "no Namespace objects here"))
}

/// Adds a Namespace object to a cluster; whether the document is one.
pub(crate) fn add_object(
    cluster: &mut MemoryCluster,
    document: &Document,
) -> Result<bool, Box<Problem>> {
    let value = &*document.value;
    if !is_namespace(value) {
        return Ok(false);
    }
    let labels = value.pointer("/metadata/labels").unwrap_or(&Value::Null);
    if LabelSelector::from_value(&json!({"matchLabels": labels})).is_err() {
        let message = "the labels of the namespace are not a map of strings";
        return Err(Problem::unusable(document.place.clone(), message));
    }
    cluster.insert(document.value.clone());
    Ok(true)
}

/// A warning of the namespaces that something had to be assumed of.
pub(crate) fn assumed(cluster: &MemoryCluster) -> Option<Finding> {
    let assumed = cluster.assumed_namespaces();
    let (text, help) = match assumed.as_slice() {
        [] => return None,
        [name] => (
            format!("namespace `{name}` is taken to have no labels but the one with its name"),
            format!("`--namespace-labels {name}:key=value` gives it others"),
        ),
        names => (
            format!(
                "namespaces {} are taken to have no labels but those with their names",
                list(&names.iter().collect::<Vec<_>>())
            ),
            "`--namespace-labels NAME:key=value` gives them others".to_owned(),
        ),
    };
    Some(Finding::new(Severity::Warning, ASSUMED, text).help(help))
}
