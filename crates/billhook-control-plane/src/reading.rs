//! Reading what is stored, as little of it as is needed.
//!
//! Half of an object says which fields have which managers. Controllers do not ask, and what they write
//! without them leaves them as they are; kube-controller-manager forgets them, too.

use std::fmt;

use billhook_apimachinery::value::DeepValue;
use billhook_decode::{Document, read_json};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::clock::Timestamp;

/// Reads an object without its managed fields.
pub(crate) fn read(text: &[u8]) -> DeepValue {
    let mut reader = serde_json::Deserializer::from_slice(text);
    match Part::Object.deserialize(&mut reader) {
        Ok(object) => object.into(),
        // It is nested too deeply for this reader.
        Err(_) => read_whole(text),
    }
}

/// Reads an object.
pub(crate) fn read_whole(text: &[u8]) -> DeepValue {
    // What is stored was written by a server.
    read_json(text).map(Document::into_value).unwrap_or_default()
}

/// A part of an object that is not read as a whole.
#[derive(Clone, Copy)]
enum Part {
    Object,
    Metadata,
}

impl<'de> DeserializeSeed<'de> for Part {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Part {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = match (self, &*name) {
                (Part::Object, "metadata") => members.next_value_seed(Part::Metadata)?,
                (Part::Metadata, "managedFields") => {
                    members.next_value::<IgnoredAny>()?;
                    continue;
                }
                _ => members.next_value()?,
            };
            read.insert(name, value);
        }
        Ok(Value::Object(read))
    }
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

/// The times at which an object was written, as far as it has them.
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
    serde_json::from_slice::<Named>(text).unwrap_or_default().metadata.name
}

#[derive(Default, Deserialize)]
struct Named {
    metadata: Name,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Name {
    name: String,
}
