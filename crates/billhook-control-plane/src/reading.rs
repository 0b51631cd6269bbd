//! Reading what is stored, as little of it as is needed.
//!
//! Half of an object says which fields have which managers. Controllers do not ask, and what they write
//! without them leaves them as they are; kube-controller-manager forgets them, too.

use billhook_apimachinery::value::DeepValue;
use billhook_decode::{Document, ObjectView, read_json};
use serde::Deserialize;
use serde_json::Value;

use crate::clock::Timestamp;

/// Reads an object without its managed fields.
pub(crate) fn read(text: &[u8]) -> DeepValue {
    let object = ObjectView::of_checked(text);
    let Some(fields) = object.at(["metadata", "managedFields"]) else { return object.to_value() };
    let (before, rest) = text.split_at(fields.offset());
    let after = rest.get(fields.text().len()..).unwrap_or_default();
    let kept = [before, b"[]", after].concat();
    let mut object = ObjectView::of_checked(&kept).to_value();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
    }
    object
}

/// Reads an object.
pub(crate) fn read_whole(text: &[u8]) -> DeepValue {
    // What is stored was written by a server.
    read_json(text).map(Document::into_value).unwrap_or_default()
}

/// A write of an object, as its managed fields have it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FieldWrite {
    #[serde(default)]
    pub(crate) manager: String,
    #[serde(default)]
    pub(crate) subresource: String,
    #[serde(default)]
    time: String,
    #[serde(default, rename = "fieldsV1")]
    pub(crate) fields: Value,
}

impl FieldWrite {
    pub(crate) fn time(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.time)
    }
}

/// An object, of which only that is read which says when it was written.
#[derive(Debug, Default, Deserialize)]
struct Written {
    metadata: Writes,
}

/// The times at which an object was written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Writes {
    creation_timestamp: String,
    pub(crate) managed_fields: Vec<FieldWrite>,
}

impl Writes {
    /// Reads them; there are none where they cannot be read.
    pub(crate) fn read(text: &[u8]) -> Self {
        serde_json::from_slice::<Written>(text).unwrap_or_default().metadata
    }

    /// Returns when the object was written last.
    pub(crate) fn last(&self) -> Option<Timestamp> {
        let writes = self.managed_fields.iter().filter_map(FieldWrite::time);
        writes.chain(Timestamp::parse(&self.creation_timestamp)).max()
    }
}

/// Reads the name of an object; empty if it has none.
pub(crate) fn read_name(text: &[u8]) -> String {
    let name = ObjectView::of_checked(text).at(["metadata", "name"]);
    name.and_then(|name| name.as_str()).unwrap_or_default().into_owned()
}
