//! A stored definition, and the resource that is served for it (LC-36, LC-60).

use std::sync::Arc;

use billhook::definition::DefinitionDocument;
use billhook::{CrdOptions, KubernetesVersion};
use billhook_admission::Chain;
use billhook_apimachinery::record::{TypedRecord as _, to_value};
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json;
use serde_json::Value;
use tokio::time::Instant;

use super::resource::Resource;
use crate::storage::{Object, Revision};

/// A stored definition.
#[derive(Debug)]
pub(crate) struct StoredDefinition {
    pub(crate) document: Arc<DefinitionDocument>,
    pub(crate) created: Revision,
    pub(crate) revision: Revision,
    /// Its resource, if there are answers for its objects (LC-60).
    pub(crate) served: Option<Arc<Resource>>,
}

impl StoredDefinition {
    /// Reads a stored definition. What is served stays as it was if it need not change (LC-42);
    /// returns whether it does.
    pub(super) fn new(
        object: &Object,
        before: Option<&StoredDefinition>,
        kubernetes: KubernetesVersion,
        chain: &Chain,
    ) -> Option<(Self, bool)> {
        let value = read_json(&object.text).ok()?.into_value();
        let (document, _) = DefinitionDocument::read(&value).ok()?;
        let served_before = before.and_then(|before| before.served.as_ref());
        let kept = served_before.filter(|_| {
            before.is_some_and(|before| {
                before.document.metadata.uid == document.metadata.uid
                    && before.document.status.accepted_names == document.status.accepted_names
                    && before.document.spec == document.spec
            })
        });
        let served = is_served(&document).then(|| {
            let is_terminating = has(&document, "Terminating");
            let mut resource = match kept {
                Some(kept) if kept.definition.is_terminating() == is_terminating => {
                    Resource::clone(kept)
                }
                _ => {
                    let definition = under_accepted_names(value, &document);
                    let options = CrdOptions::default().kubernetes(kubernetes);
                    Resource::new(&definition, &options, chain.clone()).ok()?
                }
            };
            resource.since = kept.map_or(object.modified, |kept| kept.since);
            resource.is_changed = document.metadata.generation > 1;
            let established = served_before.and_then(|before| before.established);
            let is_established = has(&document, ESTABLISHED);
            resource.established = is_established.then(|| established.unwrap_or_else(Instant::now));
            Some(Arc::new(resource))
        });
        let (created, revision, is_kept) = (object.created, object.modified, kept.is_some());
        let (document, served) = (Arc::new(document), served.flatten());
        Some((StoredDefinition { document, created, revision, served }, is_kept))
    }
}

/// Whether there are answers for the objects of a definition (LC-60).
fn is_served(document: &DefinitionDocument) -> bool {
    has(document, "NamesAccepted") || has(document, ESTABLISHED)
}

/// The definition that clients are served by: under the accepted names (LC-36).
fn under_accepted_names(mut definition: DeepValue, document: &DefinitionDocument) -> DeepValue {
    if !document.status.accepted_names.kind.is_empty()
        && let Some(Value::Object(spec)) = definition.get_mut("spec")
    {
        let names = to_value(&document.status.accepted_names).into_inner();
        spec.insert("names".to_owned(), names);
    }
    definition
}

impl StoredDefinition {
    /// Whether discovery lists it (LC-60).
    pub(super) fn is_established(&self) -> bool {
        has(&self.document, ESTABLISHED)
    }
}

const ESTABLISHED: &str = "Established";

fn has(document: &DefinitionDocument, condition: &str) -> bool {
    document.status.conditions.iter().any(|found| found.is_true(condition))
}
