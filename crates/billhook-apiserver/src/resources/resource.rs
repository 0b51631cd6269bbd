//! A resource: its definition, its write path, and how its stored objects are read.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use billhook::{CrdError, CrdOptions, CustomResourceDefinition};
use billhook_admission::{Admission, Chain, StoredObject, Strategy};
use billhook_apimachinery::record::Record;
use billhook_apimachinery::{GroupVersionResource, split_api_version};
use billhook_kinds::Kind;
use bytes::Bytes;
use serde_json::Value;
use tokio::time::Instant;

use super::style::ApiStyle;
use crate::storage::{Collection, Object, Revision, StorageForm, with_revision};

/// Where custom resources are stored, as some errors say (RE-72).
const REGISTRY: &str = "/registry/apiextensions.kubernetes.io";

/// How long the news of an established definition needs to reach other servers.
const NEWS_TIME: Duration = Duration::from_secs(2);

/// The resource of a definition, ready to serve.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) definition: CustomResourceDefinition,
    pub(crate) collection: Collection,
    /// The write path; it learns with each request where to write.
    pub(crate) admission: Admission,
    /// The style of the answers about it.
    pub(crate) style: &'static ApiStyle,
    /// The type of its objects, if it is a resource of the server itself.
    pub(crate) record: Option<&'static Record>,
    /// The kind of its objects, if it is a resource of the server itself.
    pub(crate) kind: Option<&'static Kind>,
    /// The beginning of the text of each object, which lists leave out; empty for custom resources.
    heading: String,
    /// The version that its objects are stored in, if it is one of the server itself.
    pub(crate) form: StorageForm,
    /// Returns how large an object is in etcd, by its text.
    pub(crate) stored_size: fn(&Bytes) -> usize,
    /// The revision since which it is served as it is: older changes are not shown (LC-42).
    pub(crate) since: Revision,
    /// When the definition was established.
    pub(super) established: Option<Instant>,
    /// Whether its definition was changed, so that there may be objects of a version that is gone.
    pub(crate) is_changed: bool,
    /// Differs from that of all other resources of the process, as forks share objects. Missing
    /// when all numbers are taken.
    reader: Option<NonZeroU32>,
}

/// The number of the last resource.
static READERS: AtomicU32 = AtomicU32::new(0);

impl Resource {
    pub(crate) fn new(
        document: &Value,
        options: &CrdOptions,
        chain: Chain,
    ) -> Result<Self, CrdError> {
        let definition = CustomResourceDefinition::with_options(document, options)?;
        let collection = Collection::new(definition.group(), &definition.names().plural);
        let admission = Admission::new(definition.clone(), chain).registry(REGISTRY);
        let last =
            READERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| last.checked_add(1));
        Ok(Resource {
            definition,
            collection,
            admission,
            style: &ApiStyle::CUSTOM,
            record: None,
            kind: None,
            heading: String::new(),
            form: StorageForm::default(),
            stored_size: Bytes::len,
            since: 0,
            established: None,
            is_changed: false,
            reader: last.ok().and_then(|last| NonZeroU32::new(last + 1)),
        })
    }

    /// The resource as one of the server itself, with rules of its own.
    pub(crate) fn native(mut self, strategy: Arc<dyn Strategy>, kind: &'static Kind) -> Self {
        self.record = Some(strategy.record());
        self.admission = self.admission.strategy(strategy).registry("/registry");
        self.style = &ApiStyle::TYPED;
        self.collection = collection_of(kind);
        self.kind = Some(kind);
        self.heading =
            format!(r#"{{"kind":"{}","apiVersion":"{}","#, kind.kind, kind.api_version());
        self
    }

    /// Whether a text begins as answers show objects: not that of an object in the form of another
    /// release, or of definitions, whose stored form is not the one that is shown.
    pub(crate) fn is_shown_so(&self, text: &[u8]) -> bool {
        text.starts_with(self.heading.as_bytes())
    }

    /// Returns what comes before the rest of an object's text in a list, and where that begins (RE-51).
    pub(crate) fn item_start(&self) -> (&'static str, usize) {
        if self.heading.is_empty() { ("", 0) } else { ("{", self.heading.len()) }
    }

    /// Returns an object of the storage, as the write path takes it.
    pub(crate) fn stored(&self, object: &Object) -> StoredObject {
        self.form.object(object)
    }

    /// How long a server still holds back the creation of objects: for a time after the definition
    /// is established, so that other servers see it.
    pub(crate) fn holds_back(&self) -> Duration {
        match self.established {
            Some(established) if established.elapsed() < NEWS_TIME => NEWS_TIME,
            _ => Duration::ZERO,
        }
    }

    /// Returns the text of an object as it was at a revision, if that is its stored text with the
    /// revision. It costs no tree.
    pub(crate) fn text(
        &self,
        version: &str,
        object: &Object,
        revision: Revision,
    ) -> Option<Vec<u8>> {
        let place = self.revision_place(version, object)?;
        with_revision(&object.text, place, itoa::Buffer::new().format(revision))
    }

    /// Returns the place in an object's stored text that its revision belongs into, if it is shown so
    /// otherwise.
    pub(crate) fn revision_place(&self, version: &str, object: &Object) -> Option<usize> {
        let storage = self.definition.storage().ok()?;
        let reader = self.reader.filter(|_| storage.name() == version)?;
        // 0 stands for none: no member begins before the object.
        let find = || {
            let text = Some(&object.text).filter(|text| self.is_shown_so(text));
            let place = text.and_then(|text| self.admission.revision_place(version, text));
            place.and_then(|place| u32::try_from(place).ok()).unwrap_or_default()
        };
        let place = object.remembered.get_or_find(reader, find) as usize;
        Some(place).filter(|place| (1..=object.text.len()).contains(place))
    }

    /// Whether a server answers lists and watches from memory, which shows any state; events, of which
    /// there are too many, always come from storage (ES-33).
    pub(crate) fn is_cached(&self) -> bool {
        self.collection.parts() != ("", "events")
    }

    /// Names the resource in a version.
    pub(crate) fn name(&self, version: &str) -> GroupVersionResource {
        let plural = &self.definition.names().plural;
        GroupVersionResource::new(self.definition.group(), version, plural)
    }
}

/// Returns the collection of a kind's objects: that of the group that they are stored in.
pub(super) fn collection_of(kind: &Kind) -> Collection {
    Collection::new(split_api_version(kind.storage_version).0, kind.plural)
}
