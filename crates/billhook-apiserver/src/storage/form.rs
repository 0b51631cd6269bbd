//! Objects that are served in more than one version: events in two groups, and autoscalers in two
//! versions of theirs. All are stored in one (ES-13).

use std::ptr;

use billhook::KubernetesVersion;
use billhook_admission::StoredObject;
use billhook_apimachinery::record::declared_json;
use billhook_decode::{ObjectView, read_json};
use billhook_kinds::Kind;
use bytes::Bytes;

use super::Object;

/// Returns the kind that the objects of a kind are stored as, if that is another one of the server.
pub(crate) fn stored_as(kind: &Kind) -> Option<&'static Kind> {
    Kind::named(kind.storage_version, kind.kind).filter(|stored| !ptr::eq(*stored, kind))
}

/// The versions of a resource's objects: that which it serves, and that which is stored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StorageForm {
    /// The kind that is served and the one that is stored, if they differ.
    differs: Option<(&'static Kind, &'static Kind)>,
}

impl StorageForm {
    /// Returns that of the resource of a kind.
    pub(crate) fn of(kind: &'static Kind) -> Self {
        StorageForm { differs: stored_as(kind).map(|stored| (kind, stored)) }
    }

    /// Returns the text of a stored object as the resource serves it.
    fn served(self, stored: &Bytes) -> Bytes {
        self.differs.map_or_else(|| stored.clone(), |(kind, _)| text_as(kind, stored))
    }

    /// Returns an object of the storage as its resource reads it.
    pub(crate) fn object(self, object: &Object) -> StoredObject {
        let stored = StoredObject::new(self.served(&object.text)).as_written();
        stored.resource_version(object.modified.to_string())
    }

    /// Returns the text that is stored for one of an object of the resource.
    pub(crate) fn stored(self, served: &Bytes) -> Bytes {
        self.differs.map_or_else(|| served.clone(), |(_, kind)| text_as(kind, served))
    }
}

/// Returns the text of an object as an object of a kind; what cannot be read stays as it is.
pub(crate) fn text_as(kind: &Kind, object: &Bytes) -> Bytes {
    let api_version = kind.api_version();
    let written = ObjectView::of_checked(object).get("apiVersion");
    if written.and_then(|it| it.as_str()).is_some_and(|it| it == api_version) {
        return object.clone();
    }
    let (Ok(document), Some(record)) = (read_json(object), kind.record()) else {
        return object.clone();
    };
    let mut value = document.into_value();
    match kind.behavior().convert(&mut value, &api_version, KubernetesVersion::default()) {
        true => declared_json(&value, record).into(),
        false => object.clone(),
    }
}
