//! The values of objects in etcd: built-in kinds in protobuf, others in JSON (ES-10 to ES-15).

use std::collections::BTreeMap;

use billhook::KubernetesVersion;
use billhook_apimachinery::record::{complete, text};
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json;
use billhook_kinds::Kind;
use bytes::Bytes;

use super::definitions::from_beta;
use crate::kinds::{own_text, record_of};
use crate::protobuf;
use crate::storage::Collection;

/// The group whose definitions are stored in JSON, of an older version in other servers (ES-12).
const DEFINITIONS: &str = "apiextensions.k8s.io";
/// The groups of built-in kinds that are stored in JSON.
const IN_JSON: [&str; 2] = [DEFINITIONS, "apiregistration.k8s.io"];

/// The encodings of the built-in kinds that are stored in protobuf.
#[derive(Debug)]
pub(super) struct Values {
    kinds: BTreeMap<(&'static str, &'static str), &'static Kind>,
}

impl Values {
    pub(super) fn new() -> Self {
        let stored = Kind::all().iter().filter(|kind| {
            kind.is_stored()
                && kind.api_version() == kind.storage_version
                && !IN_JSON.contains(&kind.group)
        });
        Values { kinds: stored.map(|kind| ((kind.group, kind.plural), kind)).collect() }
    }

    /// Returns the bytes that are stored for an object: a message in the storage version of its kind
    /// (ES-11, ES-13), or its text on a line (ES-10).
    ///
    /// # Errors
    ///
    /// If an object of a built-in kind cannot be written as one.
    pub(super) fn encode(&self, collection: &Collection, object: &Bytes) -> Result<Bytes, String> {
        let Some(kind) = self.kinds.get(&collection.parts()) else {
            return Ok([object, &b"\n"[..]].concat().into());
        };
        let object = read_json(&own_text(kind)(object)).map_err(|error| error.to_string())?;
        let message = protobuf::object(&object.into_value(), record_of);
        let unwritable = || format!("the object is no {}", kind.kind);
        message.map(Bytes::from).ok_or_else(unwritable)
    }

    /// Returns the text of stored bytes. Those that cannot be read, because they are damaged or
    /// encrypted, stay as they are: reads of the object fail (ES-14, ES-15).
    pub(super) fn decode(&self, collection: &Collection, stored: &Bytes) -> Bytes {
        if stored.starts_with(protobuf::MAGIC) {
            return from_protobuf(stored).unwrap_or_else(|| stored.clone());
        }
        let text =
            stored.strip_suffix(b"\n").map_or_else(|| stored.clone(), |it| stored.slice_ref(it));
        match collection.parts() {
            (DEFINITIONS, _) => from_beta(&text).unwrap_or(text),
            _ => text,
        }
    }
}

fn from_protobuf(stored: &[u8]) -> Option<Bytes> {
    let mut object: DeepValue = protobuf::read(stored, record_of).ok()?;
    let record = record_of(text(&object, "apiVersion"), text(&object, "kind"))?;
    complete(&mut object, record, KubernetesVersion::default());
    Some(billhook::to_json(&object).into())
}
