//! The labels of an object, read from its text without the rest of it.

use std::borrow::Cow;
use std::fmt;

use billhook_apimachinery::label_selector::Labels;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

/// The labels of a text.
pub(super) struct TextLabels<'t>(Vec<(Text<'t>, Text<'t>)>);

#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

impl Labels for TextLabels<'_> {
    fn label(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known.0 == key).map(|(_, value)| &*value.0)
    }
}

/// Reads the labels of an object in JSON; none if they cannot be read so.
pub(super) fn labels(text: &[u8]) -> Option<TextLabels<'_>> {
    let mut found = None;
    let place = Place { path: &["metadata", "labels"], found: &mut found };
    // Once they are found, reading ends with an error.
    let read = place.deserialize(&mut serde_json::Deserializer::from_slice(text));
    match (found, read) {
        (Some(labels), _) => Some(labels),
        (None, read) => read.ok().map(|()| TextLabels(Vec::new())),
    }
}

/// Where labels are, seen from a part of an object.
struct Place<'p, 't> {
    path: &'p [&'p str],
    found: &'p mut Option<TextLabels<'t>>,
}

impl<'t> DeserializeSeed<'t> for Place<'_, 't> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'t> Visitor<'t> for Place<'_, 't> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut members: A) -> Result<(), A::Error> {
        let Some((name, path)) = self.path.split_first() else {
            let mut labels = Vec::new();
            while let Some(label) = members.next_entry()? {
                labels.push(label);
            }
            *self.found = Some(TextLabels(labels));
            return Ok(());
        };
        while let Some(member) = members.next_key::<Text<'t>>()? {
            if member.0 == *name {
                members.next_value_seed(Place { path, found: self.found })?;
                self.found.get_or_insert(TextLabels(Vec::new()));
                return Err(A::Error::custom("the labels are found"));
            }
            members.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_in_texts() {
        for (text, expected) in [
            (r#"{"a":{"labels":{"k":"no"}},"metadata":{"labels":{"k":"v"},"x":1},"z""#, Some("v")),
            (r#"{"metadata":{"labels":{"\u006b":"\"v"}}}"#, Some("\"v")),
            (r#"{"metadata":{"name":"x"},"spec":{"labels":{"k":"no"}}}"#, None),
            (r#"{"spec":{"k":"no"}}"#, None),
        ] {
            let labels = labels(text.as_bytes());
            assert_eq!(labels.unwrap().label("k"), expected, "{text}");
        }
        assert!(labels(b"{").is_none());
        assert!(labels(br#"{"metadata":{"labels":{"k":1}}}"#).is_none());
    }
}
