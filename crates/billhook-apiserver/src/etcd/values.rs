//! The values of objects in etcd: built-in kinds in protobuf, others in JSON (ES-10 to ES-15).

use std::collections::BTreeMap;

use billhook::KubernetesVersion;
use billhook_apimachinery::record::{complete, declared_json, text};
use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json;
use billhook_kinds::Kind;
use bytes::Bytes;

use super::definitions::from_beta;
use crate::kinds::{is_stored_in_json, record_of};
use crate::protobuf;
use crate::storage::{Collection, stored_as, text_as};

/// The group whose definitions are stored in JSON, of an older version in other servers (ES-12).
const DEFINITIONS: &str = "apiextensions.k8s.io";

/// The encodings of the built-in kinds.
#[derive(Debug)]
pub(super) struct Values {
    /// Those that are stored in protobuf.
    kinds: Kinds,
    /// Those that are stored in a version of their group that is not served.
    older: Kinds,
    /// Those that other kinds are stored as, too.
    shared: Kinds,
}

/// Kinds by their groups and plurals.
type Kinds = BTreeMap<(&'static str, &'static str), &'static Kind>;

impl Values {
    pub(super) fn new() -> Self {
        let stored = || {
            let kinds = Kind::all().iter();
            kinds.filter(|kind| kind.is_stored() && !is_stored_in_json(kind))
        };
        let by_name = |kind: &'static Kind| ((kind.group, kind.plural), kind);
        let is_own = |kind: &&Kind| kind.api_version() == kind.storage_version;
        let is_older = |kind: &&Kind| {
            split_api_version(kind.storage_version).0 == kind.group
                && Kind::named(kind.storage_version, kind.kind).is_none()
        };
        Values {
            kinds: stored().filter(is_own).map(by_name).collect(),
            older: stored().filter(is_older).map(by_name).collect(),
            shared: stored().filter_map(stored_as).map(by_name).collect(),
        }
    }

    /// Returns the bytes that are stored for an object: a message in the storage version of its kind
    /// (ES-11, ES-13), or its text on a line (ES-10).
    ///
    /// # Errors
    ///
    /// If an object of a built-in kind cannot be written as one.
    pub(super) fn encode(&self, collection: &Collection, object: &Bytes) -> Result<Bytes, String> {
        let Some(kind) = self.kinds.get(&collection.parts()) else {
            let older = self.older.get(&collection.parts()).and_then(|kind| {
                in_version(object, kind, &kind.api_version(), kind.storage_version)
            });
            return Ok([older.as_ref().unwrap_or(object), &b"\n"[..]].concat().into());
        };
        let object = read_json(object).map_err(|error| error.to_string())?;
        let message = protobuf::object(&object.into_value(), record_of);
        let unwritable = || format!("the object is no {}", kind.kind);
        message.map(Bytes::from).ok_or_else(unwritable)
    }

    /// Returns the text of stored bytes, in the version that is stored here if other servers had another
    /// one. Those that cannot be read, because they are damaged or encrypted, stay as they are: reads of
    /// the object fail (ES-14, ES-15).
    pub(super) fn decode(&self, collection: &Collection, stored: &Bytes) -> Bytes {
        let text = self.text(collection, stored);
        match self.shared.get(&collection.parts()) {
            Some(kind) => text_as(kind, &text),
            None => text,
        }
    }

    fn text(&self, collection: &Collection, stored: &Bytes) -> Bytes {
        let older = self.older.get(&collection.parts()).copied();
        if stored.starts_with(protobuf::MAGIC) {
            return from_protobuf(stored, older).unwrap_or_else(|| stored.clone());
        }
        let text =
            stored.strip_suffix(b"\n").map_or_else(|| stored.clone(), |it| stored.slice_ref(it));
        match collection.parts() {
            (DEFINITIONS, _) => from_beta(&text).unwrap_or(text),
            _ => older
                .and_then(|kind| in_version(&text, kind, kind.storage_version, &kind.api_version()))
                .unwrap_or(text),
        }
    }
}

/// Returns the text of an object with another version; `None` if it is not of the first.
fn in_version(text_: &[u8], kind: &Kind, from: &str, to: &str) -> Option<Bytes> {
    let mut object = read_json(text_).ok()?.into_value();
    if text(&object, "apiVersion") != from {
        return None;
    }
    object.as_object_mut()?.insert("apiVersion".to_owned(), to.into());
    Some(declared_json(&object, kind.record()?).into())
}

/// Reads a message, of which `older` is the kind if it may be of the version that is only stored: the
/// types of both versions are alike.
fn from_protobuf(stored: &[u8], older: Option<&'static Kind>) -> Option<Bytes> {
    let served = |api_version: &str| {
        let older = older.filter(|kind| kind.storage_version == api_version);
        older.map_or_else(|| api_version.to_owned(), Kind::api_version)
    };
    let record_of = |api_version: &str, kind: &str| record_of(&served(api_version), kind);
    let mut object: DeepValue = protobuf::read(stored, record_of).ok()?;
    let (api_version, kind) = (served(text(&object, "apiVersion")), text(&object, "kind"));
    let record = record_of(&api_version, kind)?;
    object.as_object_mut()?.insert("apiVersion".to_owned(), api_version.into());
    complete(&mut object, record, KubernetesVersion::default());
    Some(billhook::to_json(&object).into())
}
