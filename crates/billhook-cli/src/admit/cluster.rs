//! What the files say about the cluster: webhook configurations, namespaces and stored objects.

use std::borrow::Cow;
use std::sync::Arc;

use billhook::webhook::{Namespaces as _, WebhookConfiguration};

use crate::admit::args::Admit;
use crate::input::{Document, sources};
use crate::matching::configurations;
use crate::matching::namespaces::Namespaces;
use crate::problem::{Place, Problem};
use crate::run::Identity;

/// What is known of the cluster.
pub(crate) struct Cluster {
    pub(crate) configurations: Vec<WebhookConfiguration>,
    pub(crate) namespaces: Arc<Namespaces>,
    old: Vec<Document>,
}

impl Cluster {
    /// Reads the files; what cannot be read is added to the problems.
    pub(crate) fn read(command: &Admit, problems: &mut Vec<Problem>) -> Self {
        let mut namespaces = Namespaces::default();
        let configurations = match command.webhooks.as_slice() {
            [] => Vec::new(),
            paths => configurations(paths, &mut namespaces, problems),
        };
        namespaces.read(&command.namespace_labels, problems);
        let mut old = Vec::new();
        for source in sources(&command.old) {
            match source.and_then(|source| source.documents()) {
                Ok(documents) => old.extend(documents),
                Err(problem) => problems.push(*problem),
            }
        }
        Cluster { configurations, namespaces: Arc::new(namespaces), old }
    }

    /// The namespaces: those that were given, and any other one with nothing but its name.
    pub(crate) fn namespaces(&self) -> impl billhook::webhook::Namespaces + Send + Sync + 'static {
        let namespaces = Arc::clone(&self.namespaces);
        move |name: &str| Ok(namespaces.labels(name)?.map(Cow::into_owned))
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
