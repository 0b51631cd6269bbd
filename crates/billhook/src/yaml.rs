//! Reading YAML. Everything that knows the YAML library is in this module.
//!
//! The library follows YAML 1.2, a server YAML 1.1: plain `yes`, `on` and the like are strings
//! here. Anchors, merge keys, repeated keys and keys that are not strings are read as the server
//! reads them.

use std::fmt;

use billhook_schema::FieldPath;
use billhook_schema::value::DeepValue;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// One YAML document.
pub(crate) struct YamlDocument {
    pub(crate) value: DeepValue,
    /// Paths of repeated keys; the last one won.
    pub(crate) duplicates: Vec<FieldPath>,
}

/// Text that is not YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct YamlError {
    pub(crate) message: String,
    pub(crate) place: Option<(usize, usize)>,
}

/// Reads all documents of a YAML text; each is a document or what is wrong with it. Nothing can be
/// read behind a document that is not YAML.
pub(crate) fn read_documents(text: &str) -> Vec<Result<YamlDocument, YamlError>> {
    serde_yaml::Deserializer::from_str(text)
        .map(|deserializer| {
            let mut duplicates = Vec::new();
            let seed = Node { path: FieldPath::default(), duplicates: &mut duplicates };
            match seed.deserialize(deserializer) {
                Ok(value) => Ok(YamlDocument { value: DeepValue::from(value), duplicates }),
                Err(error) => Err(YamlError {
                    message: error.to_string(),
                    place: error.location().map(|place| (place.line(), place.column())),
                }),
            }
        })
        .collect()
}

/// Writes a value as YAML.
pub(crate) fn write(value: &Value) -> Result<String, String> {
    serde_yaml::to_string(&billhook_schema::value::Plain(value)).map_err(|error| error.to_string())
}

struct Node<'d> {
    path: FieldPath,
    duplicates: &'d mut Vec<FieldPath>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        match i64::try_from(value) {
            Ok(int) => Ok(Value::from(int)),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_i128<E: serde::de::Error>(self, value: i128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u128<E: serde::de::Error>(self, value: u128) -> Result<Value, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        // JSON, which the server makes of the text first, knows no `1.0`.
        if value.fract() == 0.0 && value.abs() < 9.2e18 {
            return Ok(Value::from(value as i64));
        }
        let number = Number::from_f64(value);
        number.map(Value::Number).ok_or_else(|| E::custom("not a number that JSON can hold"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let path = self.path.clone().index(items.len());
            let duplicates = &mut *self.duplicates;
            match seq.next_element_seed(Node { path, duplicates })? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        let mut merged = Vec::new();
        while let Some(key) = map.next_key::<Key>()? {
            let path = self.path.clone().name(key.0.as_str());
            let node = Node { path: path.clone(), duplicates: &mut *self.duplicates };
            let value = map.next_value_seed(node)?;
            if key.0 == "<<" && !value.is_string() {
                merged.push(value);
            } else if members.insert(key.0, value).is_some() {
                self.duplicates.push(path);
            }
        }
        for value in merged {
            merge(&mut members, value).map_err(A::Error::custom)?;
        }
        Ok(Value::Object(members))
    }
}

/// Adds what a merge key brings; keys that are there already stay.
fn merge(members: &mut Map<String, Value>, value: Value) -> Result<(), &'static str> {
    match value {
        Value::Object(more) => {
            for (key, value) in more {
                members.entry(key).or_insert(value);
            }
            Ok(())
        }
        Value::Array(list) => list.into_iter().try_for_each(|value| merge(members, value)),
        _ => Err("map merge requires map or sequence of maps as the value"),
    }
}

/// A key, as the text it becomes in JSON.
struct Key(String);

impl<'de> serde::Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_yaml::Value::deserialize(deserializer)? {
            serde_yaml::Value::String(text) => Ok(Key(text)),
            serde_yaml::Value::Bool(value) => Ok(Key(value.to_string())),
            serde_yaml::Value::Number(number) => Ok(Key(number.to_string())),
            _ => Err(D::Error::custom("a key must be a string, a number or a boolean")),
        }
    }
}
