//! Conversion by a webhook or a converter, and the checks of what comes back: it must be the same
//! objects, of whose metadata only labels and annotations count (RP-81, CX-20 to CX-22, CX-42 to
//! CX-45).

use billhook_apimachinery::metadata::{validate_annotations, validate_labels};
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::{DeepValue, deep_clone, deep_eq, go_type, sorted};
use billhook_apimachinery::{GroupVersionKind, Location, Wording, aggregate};
use serde_json::{Map, Value};

use super::metadata::metadata_text;
use super::source::Source;
use crate::observe::ConversionOutcome;
use crate::review::ConversionFailure;

/// A conversion of objects of one definition to a version.
pub(super) struct Conversion<'c> {
    pub(super) source: &'c Source<'c>,
    pub(super) to: &'c GroupVersionKind,
    pub(super) wording: &'c Wording,
}

/// A conversion that failed.
pub(super) struct Failed {
    pub(super) outcome: ConversionOutcome,
    pub(super) message: String,
}

impl Failed {
    fn new(outcome: ConversionOutcome, message: String) -> Self {
        Failed { outcome, message }
    }
}

/// The place of a converted object in errors: the only one, or one of several.
#[derive(Clone, Copy)]
enum Place {
    Only,
    Item(usize),
}

/// Why a converted object is refused.
enum Refusal {
    /// The element is not an object with a kind; the text is complete.
    Element(String),
    /// It is of another type.
    Type(String),
    /// It is another object.
    Identity(String),
    Metadata(String),
}

impl Conversion<'_> {
    /// Returns an object in the version.
    pub(super) async fn of_object(&self, object: &Value) -> Result<DeepValue, Failed> {
        let expected = self.to.api_version();
        if has_only_type(object) {
            return Ok(with_api_version(object, &expected));
        }
        self.check()?;
        if text(object, "apiVersion") == expected {
            return Ok(DeepValue::from(deep_clone(object)));
        }
        let subject = subject(object);
        let found = self.call(&subject, &[object]).await?;
        let found = found.into_iter().next().unwrap_or_else(|| Ok(DeepValue::default()));
        self.accept(object, found).map_err(|refusal| refusal.failed(&subject, Place::Only))
    }

    /// Returns a list with all its items in the version. Only those of another version are
    /// converted.
    pub(super) async fn of_list(&self, list: &Value) -> Result<DeepValue, Failed> {
        let expected = self.to.api_version();
        self.check()?;
        let mut converted = with_api_version(list, &expected);
        let items = list.get("items").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_other = |item: &&Value| text(item, "apiVersion") != expected;
        let others: Vec<&Value> = items.iter().filter(is_other).collect();
        if others.is_empty() {
            return Ok(converted);
        }
        let subject = subject(list);
        let found = self.call(&subject, &others).await?;
        let Some(Value::Array(places)) = converted.get_mut("items") else { return Ok(converted) };
        let places = places.iter_mut().filter(|item| text(item, "apiVersion") != expected);
        for (index, ((place, item), found)) in places.zip(others).zip(found).enumerate() {
            let accepted = self.accept(item, found);
            let accepted =
                accepted.map_err(|refusal| refusal.failed(&subject, Place::Item(index)))?;
            drop(DeepValue::from(std::mem::replace(place, accepted.into_inner())));
        }
        Ok(converted)
    }

    fn check(&self) -> Result<(), Failed> {
        let checked = self.source.check();
        checked.map_err(|message| Failed::new(ConversionOutcome::NoReviewVersion, message))
    }

    async fn call(
        &self,
        subject: &str,
        objects: &[&Value],
    ) -> Result<Vec<Result<DeepValue, String>>, Failed> {
        let found = self.source.convert(objects, &self.to.api_version()).await;
        let found = found.map_err(|failure| {
            let (outcome, error) = match failure {
                ConversionFailure::Call(error) => (ConversionOutcome::CallFailed, error),
                ConversionFailure::Response(error) => (ConversionOutcome::MalformedResponse, error),
            };
            Failed::new(outcome, format!("{subject} failed: {error}"))
        })?;
        if found.len() != objects.len() {
            let (found, expected) = (found.len(), objects.len());
            let message = format!("{subject} returned {found} objects, expected {expected}");
            return Err(Failed::new(ConversionOutcome::PartialResponse, message));
        }
        Ok(found)
    }

    /// Checks an element of the answer, and restores its metadata.
    fn accept(
        &self,
        original: &Value,
        found: Result<DeepValue, String>,
    ) -> Result<DeepValue, Refusal> {
        let mut converted = found.map_err(Refusal::Element)?;
        let expected = self.to.api_version();
        let received = text(&converted, "apiVersion");
        if received != expected {
            return Err(Refusal::Type(format!(
                "invalid groupVersion (expected {expected}, received {received})"
            )));
        }
        let (before, after) = (text(original, "kind"), text(&converted, "kind"));
        if before != after {
            return Err(Refusal::Type(format!(
                "invalid kind (expected {before}, received {after})"
            )));
        }
        for (field, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
            let (before, after) =
                (metadata_text(original, field), metadata_text(&converted, field));
            if before != after {
                let why = format!("must have the same {name}: {before} != {after}");
                return Err(Refusal::Identity(why));
            }
        }
        restore_metadata(original, &mut converted, self.wording).map_err(Refusal::Metadata)?;
        Ok(converted)
    }
}

impl Refusal {
    fn failed(self, subject: &str, place: Place) -> Failed {
        Failed::new(ConversionOutcome::InvalidObject, self.text(subject, place))
    }

    fn text(self, subject: &str, place: Place) -> String {
        match (self, place) {
            (Refusal::Element(why), Place::Only) => why,
            (Refusal::Type(why), Place::Only) => {
                format!("{subject} returned invalid object at index 0: {why}")
            }
            (Refusal::Identity(why), Place::Only) => {
                format!("{subject} returned invalid object: {why}")
            }
            (Refusal::Metadata(why), Place::Only) => {
                format!("{subject} returned invalid metadata: {why}")
            }
            (
                Refusal::Element(why) | Refusal::Type(why) | Refusal::Identity(why),
                Place::Item(index),
            ) => {
                format!("{subject} returned invalid converted object at index {index}: {why}")
            }
            (Refusal::Metadata(why), Place::Item(index)) => {
                format!("{subject} returned invalid metadata in object at index {index}: {why}")
            }
        }
    }
}

/// Returns a copy in which only the version differs.
pub(super) fn with_api_version(object: &Value, api_version: &str) -> DeepValue {
    let mut copy = DeepValue::from(deep_clone(object));
    if let Value::Object(members) = &mut *copy {
        members.insert("apiVersion".to_owned(), api_version.into());
    }
    copy
}

/// Restores the metadata of the original object in the converted one, except labels and
/// annotations (CX-45).
fn restore_metadata(
    original: &Value,
    converted: &mut Value,
    wording: &Wording,
) -> Result<(), String> {
    let place = converted.get_mut("metadata").ok_or("missing metadata in converted object")?;
    let found = as_object(place, "metadata", "converted")?;
    let mut metadata = match original.get("metadata") {
        None => Map::new(),
        Some(original) => {
            let members = as_object(original, "metadata", "input")?;
            members.iter().map(|(name, value)| (name.clone(), deep_clone(value))).collect()
        }
    };
    for name in ["labels", "annotations"] {
        let before = metadata.remove(name).map(DeepValue::from);
        let Some(value) = found.get(name).filter(|value| !value.is_null()) else { continue };
        check_texts(name, before.as_deref(), value, wording)?;
        metadata.insert(name.to_owned(), deep_clone(value));
    }
    drop(DeepValue::from(std::mem::replace(place, Value::Object(metadata))));
    Ok(())
}

fn as_object<'v>(
    value: &'v Value,
    name: &str,
    which: &str,
) -> Result<&'v Map<String, Value>, String> {
    let wrong = || format!("invalid {name} of type {} in {which} object", go_type(value));
    value.as_object().ok_or_else(wrong)
}

/// Checks the labels or annotations of a converted object; those that are the same as before may
/// be invalid.
fn check_texts(
    name: &str,
    before: Option<&Value>,
    value: &Value,
    wording: &Wording,
) -> Result<(), String> {
    let full_name = format!("metadata.{name}");
    let texts = as_object(value, &full_name, "converted")?;
    let before = before.filter(|before| !before.is_null());
    if let Some(before) = before {
        as_object(before, &full_name, "original")?;
    }
    if let Some((key, other)) = sorted(texts).into_iter().find(|(_, text)| !text.is_string()) {
        let found = go_type(other);
        return Err(format!(
            "{full_name}[{key}] must be a string, but is {found} in converted object"
        ));
    }
    if before.is_some_and(|before| deep_eq(before, value)) {
        return Ok(());
    }
    let at = Location::TOP.name("metadata");
    let errors = match name {
        "labels" => validate_labels(texts, &at.name("labels"), wording),
        _ => validate_annotations(texts, &at.name("annotation"), wording),
    };
    if errors.is_empty() { Ok(()) } else { Err(aggregate(&errors)) }
}

/// The beginning of errors: which webhook, for what.
fn subject(object: &Value) -> String {
    format!("conversion webhook for {}, Kind={}", text(object, "apiVersion"), text(object, "kind"))
}

pub(super) fn has_only_type(object: &Value) -> bool {
    object.as_object().is_some_and(|members| {
        members.len() == 2 && members.contains_key("apiVersion") && members.contains_key("kind")
    })
}
