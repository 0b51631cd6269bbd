//! What the files say about the cluster: webhook configurations, namespaces and stored objects.

use std::collections::BTreeMap;

use billhook::webhook::{NamespaceLabels, Namespaces, WebhookConfiguration};
use serde_json::Value;

use crate::admit::args::Admit;
use crate::input::{Document, sources};
use crate::problem::{Place, Problem};
use crate::report;
use crate::run::Identity;

/// What is known of the cluster.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    pub(crate) configurations: Vec<WebhookConfiguration>,
    namespaces: BTreeMap<String, NamespaceLabels>,
    old: Vec<Document>,
}

/// The label that a server gives every namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

impl Cluster {
    /// Reads the files; what cannot be read is added to the problems.
    pub(crate) fn read(command: &Admit, problems: &mut Vec<Problem>) -> Self {
        let mut cluster = Cluster::default();
        for document in documents(&command.webhooks, problems) {
            cluster.add(&document, problems);
        }
        cluster.old = documents(&command.old, problems);
        cluster
    }

    fn add(&mut self, document: &Document, problems: &mut Vec<Problem>) {
        let place = || document.place.clone();
        let text =
            |name: &str| document.value.get(name).and_then(Value::as_str).unwrap_or_default();
        if WebhookConfiguration::is_configuration(&document.value) {
            match WebhookConfiguration::from_value(&document.value) {
                Ok(configuration) => {
                    for error in configuration.validate() {
                        report::warning(&format!("{}: {error}", document.place));
                    }
                    self.configurations.push(configuration);
                }
                Err(error) => problems.push(*Problem::unusable(place(), error.to_string())),
            }
        } else if (text("apiVersion"), text("kind")) == ("v1", "Namespace") {
            let metadata = document.value.get("metadata");
            let field = |name: &str| metadata.and_then(|metadata| metadata.get(name));
            let name = field("name").and_then(Value::as_str).unwrap_or_default();
            let labels = field("labels").and_then(Value::as_object).into_iter().flatten();
            let mut labels: NamespaceLabels = labels
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect();
            labels.insert(NAME_LABEL.to_owned(), name.to_owned());
            self.namespaces.insert(name.to_owned(), labels);
        }
    }

    /// The namespaces: those of the files, and any other one with nothing but its name.
    pub(crate) fn namespaces(&self) -> impl Namespaces + Send + Sync + 'static {
        let known = self.namespaces.clone();
        move |name: &str| {
            let plain = || NamespaceLabels::from([(NAME_LABEL.to_owned(), name.to_owned())]);
            Ok(Some(known.get(name).cloned().unwrap_or_else(plain)))
        }
    }

    /// What is stored of an object.
    pub(crate) fn old_object(
        &self,
        identity: &Identity,
        namespace: &str,
        place: &Place,
    ) -> Result<Vec<u8>, Box<Problem>> {
        let old = self
            .old
            .iter()
            .find(|document| Identity::of(&document.value).is_same_object(identity, namespace));
        match old {
            Some(document) => Ok(billhook::to_json(&document.value).into_bytes()),
            None => {
                let name = identity.name.as_deref().unwrap_or_default();
                let message = format!("no old object of this kind with the name `{name}`");
                let help = "an update needs the object as it is stored: `--old FILE`";
                Err(Problem::unusable(place.clone(), message).help(help))
            }
        }
    }
}

/// The documents of all files.
fn documents(paths: &[std::path::PathBuf], problems: &mut Vec<Problem>) -> Vec<Document> {
    let mut found = Vec::new();
    for source in sources(paths) {
        match source.and_then(|source| source.documents()) {
            Ok(documents) => found.extend(documents),
            Err(problem) => problems.push(*problem),
        }
    }
    found
}
