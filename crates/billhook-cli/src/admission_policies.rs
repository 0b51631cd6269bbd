//! Admission policies from files, with the parameters and namespaces that they see.

use std::path::PathBuf;

use billhook::{CustomResourceDefinition, KubernetesVersion, Scope};
use billhook_apimachinery::split_api_version;
use billhook_policy::{Cluster as _, MemoryCluster, ParamKind, PolicyDocument, PolicySet};
use serde_json::{Value, json};

use crate::crds::Crds;
use crate::identity::Identity;
use crate::input::{Document, readable_documents};
use crate::namespaces;
use crate::problem::{Problem, nothing};
use crate::setup::Setup;

/// The documents of the files.
#[derive(Default)]
struct Found {
    policies: Vec<PolicyDocument>,
    others: Vec<Document>,
}

/// Reads policies and bindings, and adds parameters and namespaces to the cluster; what a server
/// would refuse is used all the same, with a warning. Objects without a namespace are in the one
/// given.
pub(crate) fn read(
    paths: &[PathBuf],
    crds: Option<&Crds>,
    cluster: &mut MemoryCluster,
    namespace: &str,
    kubernetes: KubernetesVersion,
    setup: &mut Setup,
) -> PolicySet {
    let before = setup.problems.len();
    let mut found = Found::default();
    for document in readable_documents(paths, &mut setup.problems) {
        if let Err(problem) = found.add(document, cluster, setup) {
            setup.problems.push(*problem);
        }
    }
    if found.policies.is_empty() && setup.problems.len() == before && !paths.is_empty() {
        setup.problems.push(*nothing(paths, "no admission policy here"));
    }
    let definitions = crds.into_iter().flat_map(Crds::definitions);
    definitions.for_each(|definition| cluster.register_definition(definition));
    for document in found.others {
        if let Err(problem) = insert_parameter(cluster, document, crds, namespace) {
            setup.problems.push(*problem);
        }
    }
    PolicySet::for_kubernetes(kubernetes, found.policies)
}

impl Found {
    fn add(
        &mut self,
        document: Document,
        cluster: &mut MemoryCluster,
        setup: &mut Setup,
    ) -> Result<(), Box<Problem>> {
        if PolicyDocument::kind_of(&document.value).is_some() {
            let read = PolicyDocument::from_value_reporting(&document.value);
            let (policy, unknown) =
                read.map_err(|error| Problem::unusable(document.place.clone(), error.to_string()))?;
            setup.add_policy(&document, &policy, &unknown);
            self.policies.push(policy);
        } else if !namespaces::add_object(cluster, &document)?
            && !CustomResourceDefinition::is_definition(&document.value)
        {
            self.others.push(document);
        }
        Ok(())
    }
}

/// Adds an object that may be a parameter, as a server would have stored it.
fn insert_parameter(
    cluster: &mut MemoryCluster,
    document: Document,
    crds: Option<&Crds>,
    namespace: &str,
) -> Result<(), Box<Problem>> {
    let Document { place, mut value, .. } = document;
    let identity = Identity::of(&value);
    let api_version = identity.api_version.as_deref().unwrap_or_default();
    let kind = identity.kind.as_deref().unwrap_or_default();
    let is_namespaced =
        cluster.scope(&ParamKind::new(api_version, kind)) == Some(Scope::Namespaced);
    if identity.namespace.is_none() && is_namespaced {
        let metadata = value.get_mut("metadata").and_then(Value::as_object_mut);
        metadata.map(|metadata| metadata.insert("namespace".to_owned(), json!(namespace)));
    }
    let (group, version) = split_api_version(api_version);
    if let Some(crds) = crds.filter(|crds| crds.has(group, kind)) {
        let crd = crds.find(group, version, kind, &place)?;
        if let Some(version) = crd.definition.version(version) {
            let inserted = cluster.insert_sent(value, &version);
            return inserted.map_err(|error| Problem::unusable(place, error.to_string()));
        }
    }
    cluster.insert(value);
    Ok(())
}
