//! The resources that are served: definitions, compiled.

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook::{CrdError, CustomResourceDefinition};
use billhook_admission::{Admission, Chain};
use billhook_apimachinery::GroupVersionResource;
use serde_json::Value;

use crate::storage::Collection;

/// The resource of a definition, ready to serve.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) definition: CustomResourceDefinition,
    pub(crate) collection: Collection,
    /// The write path; it learns with each request where to write.
    pub(crate) admission: Admission,
}

impl Resource {
    pub(crate) fn new(document: &Value, chain: Chain) -> Result<Self, CrdError> {
        let definition = CustomResourceDefinition::from_value(document)?;
        let collection = Collection::new(definition.group(), &definition.names().plural);
        let admission = Admission::new(definition.clone(), chain);
        Ok(Resource { definition, collection, admission })
    }

    /// Names the resource in a version.
    pub(crate) fn name(&self, version: &str) -> GroupVersionResource {
        let plural = &self.definition.names().plural;
        GroupVersionResource::new(self.definition.group(), version, plural)
    }
}

/// All resources, by the names of their definitions. A clone costs nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    resources: Arc<BTreeMap<String, Arc<Resource>>>,
}

impl Catalog {
    /// Finds the resource that a part of URLs names (RE-05).
    pub(crate) fn find(&self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        self.resources.get(&format!("{plural}.{group}")).cloned()
    }

    /// All resources, by the names of their definitions.
    pub(crate) fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.resources.values().map(|resource| &**resource)
    }

    pub(crate) fn insert(&mut self, resource: Resource) {
        let name = resource.definition.name().to_owned();
        Arc::make_mut(&mut self.resources).insert(name, Arc::new(resource));
    }
}
