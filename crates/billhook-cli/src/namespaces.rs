//! The labels of namespaces, from the command line and from Namespace objects.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use billhook::label_selector::{LabelSelector, Operator, Selector};
use billhook::webhook::{NamespaceError, NamespaceLabels};
use billhook_findings::{Finding, Severity};
use serde_json::{Value, json};

use crate::crds::list;
use crate::findings::ASSUMED;
use crate::input::{Document, documents};
use crate::problem::{Place, Problem};

/// The label that a server gives every namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The namespaces that were given; all others exist too, but nothing is known of them.
#[derive(Default)]
pub(crate) struct Namespaces {
    known: BTreeMap<String, NamespaceLabels>,
    /// Those that were asked for and not given.
    assumed: Mutex<BTreeSet<String>>,
}

impl Namespaces {
    /// Adds those of the command line.
    pub(crate) fn read(&mut self, given: &[String], problems: &mut Vec<Problem>) {
        for text in given {
            let path = PathBuf::from(text);
            let result = match text.split_once(':') {
                Some((name, labels)) if !path.exists() => self.add_text(text, name, labels),
                _ => self.add_files(path),
            };
            problems.extend(result.err().map(|problem| *problem));
        }
    }

    /// `NAME:key=value,…`
    fn add_text(&mut self, text: &str, name: &str, labels: &str) -> Result<(), Box<Problem>> {
        let place = || Place::file("--namespace-labels");
        let selector: Selector = labels
            .parse()
            .map_err(|error| Problem::unusable(place(), format!("`{text}`: {error}")))?;
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
        self.add(name, found);
        Ok(())
    }

    fn add_files(&mut self, path: PathBuf) -> Result<(), Box<Problem>> {
        let shown = path.to_string_lossy().into_owned();
        let mut any = false;
        for document in documents(&[path]) {
            any |= self.add_object(&document?)?;
        }
        if any {
            return Ok(());
        }
        Err(Problem::unusable(Place::file(&shown), "no Namespace objects here"))
    }

    /// Adds a Namespace object; whether the document is one.
    pub(crate) fn add_object(&mut self, document: &Document) -> Result<bool, Box<Problem>> {
        let value = &*document.value;
        let text = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default();
        if (text("/apiVersion"), text("/kind")) != ("v1", "Namespace") {
            return Ok(false);
        }
        let labels = value.pointer("/metadata/labels").unwrap_or(&Value::Null);
        let selector = LabelSelector::from_value(&json!({"matchLabels": labels}));
        let unusable = |_| {
            let message = "the labels of the namespace are not a map of strings";
            Problem::unusable(document.place.clone(), message)
        };
        self.add(text("/metadata/name"), selector.map_err(unusable)?.match_labels);
        Ok(true)
    }

    fn add(&mut self, name: &str, mut labels: NamespaceLabels) {
        labels.entry(NAME_LABEL.to_owned()).or_insert_with(|| name.to_owned());
        self.known.insert(name.to_owned(), labels);
    }

    /// A warning of the namespaces that something had to be assumed of.
    pub(crate) fn assumed(&self) -> Option<Finding> {
        let assumed = self.assumed.lock().unwrap_or_else(PoisonError::into_inner);
        let assumed: Vec<&String> = assumed.iter().collect();
        let (text, help) = match assumed.as_slice() {
            [] => return None,
            [name] => (
                format!("namespace `{name}` is taken to have no labels but the one with its name"),
                format!("`--namespace-labels {name}:key=value` gives it others"),
            ),
            names => (
                format!(
                    "namespaces {} are taken to have no labels but those with their names",
                    list(names)
                ),
                "`--namespace-labels NAME:key=value` gives them others".to_owned(),
            ),
        };
        Some(Finding::new(Severity::Warning, ASSUMED, text).help(help))
    }
}

impl billhook::webhook::Namespaces for Namespaces {
    fn labels<'n>(
        &'n self,
        name: &str,
    ) -> Result<Option<Cow<'n, NamespaceLabels>>, NamespaceError> {
        if let Some(labels) = self.known.get(name) {
            return Ok(Some(Cow::Borrowed(labels)));
        }
        if name.is_empty() {
            return Ok(None);
        }
        let mut assumed = self.assumed.lock().unwrap_or_else(PoisonError::into_inner);
        assumed.insert(name.to_owned());
        let labels = NamespaceLabels::from([(NAME_LABEL.to_owned(), name.to_owned())]);
        Ok(Some(Cow::Owned(labels)))
    }
}
