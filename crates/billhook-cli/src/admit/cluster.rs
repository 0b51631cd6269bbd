//! What the files say about the cluster: webhook configurations, namespaces and stored objects.

use std::borrow::Cow;
use std::sync::Arc;

use billhook::webhook::{Namespaces as _, WebhookConfiguration};

use crate::admit::args::Admit;
use crate::input::{Document, sources};
use crate::matching::configurations;
use crate::matching::namespaces::Namespaces;
use crate::problem::Problem;
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

    /// The object that is stored under an identity.
    pub(crate) fn old_object(&self, identity: &Identity, namespace: &str) -> Option<&Document> {
        self.old
            .iter()
            .find(|document| Identity::of(&document.value).is_same_object(identity, namespace))
    }

    /// The object whose replicas a `Scale` sets: the one of its name.
    pub(crate) fn scaled_object(&self, scale: &Identity, namespace: &str) -> Option<&Document> {
        self.old.iter().find(|document| {
            let old = Identity::of(&document.value);
            let like = Identity {
                api_version: old.api_version.clone(),
                kind: old.kind.clone(),
                ..scale.clone()
            };
            old.is_same_object(&like, namespace)
        })
    }
}
