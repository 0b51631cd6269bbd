//! The cluster, as the files describe it: webhook configurations, policies, namespaces and stored
//! objects.

use std::path::PathBuf;

use billhook::KubernetesVersion;
use billhook::webhook::WebhookConfiguration;
use billhook_admission::ObjectRequest;
use billhook_policy::{MemoryCluster, PolicySet};

use crate::admission_policies;
use crate::admit::args::Admit;
use crate::allow;
use crate::crds::Crds;
use crate::input::{documents, readable_documents};
use crate::matching::configurations;
use crate::namespaces;
use crate::problem::{Place, Problem};
use crate::setup::Setup;
use crate::stored::Stored;

/// A patch for all objects.
pub(crate) struct Patch {
    text: Vec<u8>,
    /// Whether it is a list of operations.
    is_json_patch: bool,
}

impl Patch {
    /// Reads a patch: one document, in JSON or YAML.
    pub(crate) fn read(path: &PathBuf) -> Result<Self, Box<Problem>> {
        let read: Result<Vec<_>, _> = documents(std::slice::from_ref(path)).collect();
        match read?.as_mut_slice() {
            [document] => {
                let is_json = |text: &Vec<u8>| matches!(text.first(), Some(b'{' | b'['));
                let text = document.body.as_deref().map(|body| body.bytes().to_vec());
                let text = text.filter(is_json);
                let converted = || billhook::to_json(&document.value).into_bytes();
                let is_json_patch = document.value.is_array();
                Ok(Patch { text: text.unwrap_or_else(converted), is_json_patch })
            }
            found => {
                let message = format!("expected one patch, found {}", found.len());
                Err(Problem::unusable(Place::path(path), message))
            }
        }
    }

    /// The request that patches a stored object.
    pub(crate) fn request(&self, version: &str, stored: &[u8]) -> ObjectRequest {
        match self.is_json_patch {
            true => ObjectRequest::json_patch(version, &self.text, stored),
            false => ObjectRequest::merge_patch(version, &self.text, stored),
        }
    }
}

/// The known parts of the cluster.
pub(crate) struct Cluster {
    pub(crate) configurations: Vec<WebhookConfiguration>,
    pub(crate) policies: PolicySet,
    /// Namespaces, parameters and permissions.
    pub(crate) world: MemoryCluster,
    /// The patch that is applied to the objects, if there is one.
    pub(crate) patch: Option<Patch>,
    /// The objects that are stored.
    pub(crate) old: Stored,
}

impl Cluster {
    /// Reads the files; what cannot be read is a problem.
    pub(crate) fn read(
        command: &Admit,
        crds: &Crds,
        kubernetes: KubernetesVersion,
        setup: &mut Setup,
    ) -> Self {
        let mut world = allow::world(&command.allow, kubernetes);
        let configurations = match command.webhooks.as_slice() {
            [] => Vec::new(),
            paths => configurations(paths, kubernetes, &mut world, setup),
        };
        namespaces::read(&mut world, &command.namespace_labels, &mut setup.problems);
        let (paths, namespace) = (&command.policies, &command.namespace);
        let policies =
            admission_policies::read(paths, Some(crds), &mut world, namespace, kubernetes, setup);
        let old = readable_documents(&command.old, &mut setup.problems);
        let old = Stored::new(old, &command.namespace, Some(crds)).with_namespaces();
        let patch = match command.patch.as_ref().map(Patch::read).transpose() {
            Ok(patch) => patch,
            Err(problem) => {
                setup.problems.push(*problem);
                None
            }
        };
        Cluster { configurations, policies, world, patch, old }
    }
}
