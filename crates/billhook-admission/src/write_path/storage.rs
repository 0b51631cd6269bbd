//! To storage and back, with the conversion of the definition (RP-50, RP-53, RP-54).

use billhook::webhook::ApiResource;
use billhook::{CrdVersion, DecodeOptions};
use billhook_apimachinery::Status;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::print::{compact_json, compact_json_with_place, quote};
use billhook_apimachinery::record::{TypedRecord as _, declared_json, declared_json_with_place};
use billhook_apimachinery::value::DeepValue;
use billhook_apply::ManagedFields;
use billhook_decode::{ObjectView, read_json};
use billhook_policy::ObjectModel as _;
use bytes::Bytes;
use serde_json::Value;

use super::store::StoredObject;
use super::strategy::Strategy;
use crate::object_model::CustomResources;

/// The beginning of encrypted objects.
const ENCRYPTED: &[u8] = b"k8s:enc:";

/// The place of the resource version in an object.
const REVISION: [&str; 2] = ["metadata", "resourceVersion"];

/// An object as storage keeps it.
pub(crate) struct Encoded {
    pub(crate) text: Bytes,
    /// Whether the same is stored already (RP-53).
    pub(crate) unchanged: bool,
    /// Whether the text says what the object is, in the version that it was given in.
    pub(crate) is_faithful: bool,
    /// The place in the text where the resource version belongs, if it is the text of the object itself.
    pub(crate) revision_place: Option<usize>,
}

/// Encodes an object for storage, as answers print it (RE-14). `owners` are its managed fields, if it does
/// not have them itself; `stored` is what it replaces.
pub(crate) async fn encode(
    model: &CustomResources,
    version: &CrdVersion,
    object: &Value,
    owners: Option<&ManagedFields>,
    stored: Option<&StoredObject>,
) -> Result<Encoded, Status> {
    let is_stored = |text: &[u8]| stored.is_some_and(|stored| is_stored(model, text, stored));
    let storage = version.definition().storage().ok();
    if let Some(storage) = storage.filter(|storage| storage.name() != version.name()) {
        let mut converted = convert(model, &storage, object).await?;
        if let Some(owners) = owners {
            owners.clone().write_to(&mut converted);
        }
        let text = kept(compact_json(&converted));
        let unchanged = is_stored(&text);
        return Ok(Encoded { text, unchanged, is_faithful: false, revision_place: None });
    }
    let record = model.record();
    let owners = owners.map(|owners| match record {
        Some(_) => owners.to_declared_json(),
        None => owners.to_json(),
    });
    let owners = owners.as_deref().map(|owners| ("managedFields", owners));
    let printed = match record {
        Some(record) => declared_json_with_place(object, record, &REVISION, owners),
        None => compact_json_with_place(object, &REVISION, owners),
    };
    let text = kept(printed.text);
    let unchanged = is_stored(&text);
    let is_faithful = !printed.has_floats;
    Ok(Encoded { text, unchanged, is_faithful, revision_place: printed.place })
}

/// Returns a text that is stored as it is, without the room that it was printed in.
fn kept(text: String) -> Bytes {
    Bytes::from(text.into_boxed_str().into_boxed_bytes())
}

/// Decodes a stored object as a read in a version returns it.
pub(crate) async fn decode(
    (model, strategy): (&CustomResources, Option<&dyn Strategy>),
    version: &CrdVersion,
    stored: &[u8],
) -> Result<DeepValue, Status> {
    let mut object = read_json(stored).map_err(|error| unreadable(stored, &error))?.into_value();
    let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let stored_in = version.definition().versions().find(|v| v.api_version() == api_version);
    let is_other = stored_in.as_ref().is_none_or(|stored_in| stored_in.name() != version.name());
    if let Some(strategy) = strategy
        && is_other
        && strategy.convert(&mut object, &version.api_version())
    {
        return Ok(object);
    }
    let Some(stored_in) = stored_in else {
        // The conversion says what is wrong with a version that is gone (LC-43).
        return convert(model, version, &object).await;
    };
    if model.record().is_none() {
        let options = DecodeOptions::default();
        stored_in.decode_storage_value(&mut object, &options).map_err(|error| failed(&error))?;
    }
    if is_other { convert(model, version, &object).await } else { Ok(object) }
}

/// Returns the place in a stored text where a read in a version puts the resource version, if it
/// changes nothing else.
pub(crate) fn revision_place(
    model: &CustomResources,
    version: &CrdVersion,
    stored: &[u8],
) -> Option<usize> {
    let is_read_as_it_is = match model.record() {
        Some(_) => std::str::from_utf8(stored).is_ok(),
        None => version.decodes_to_itself(stored),
    };
    if !is_read_as_it_is {
        return None;
    }
    let metadata = ObjectView::of_checked(stored).get("metadata")?;
    // Texts of another release can have another order.
    if model.record().is_some() && !stored.starts_with(DECLARED.as_bytes()) {
        return None;
    }
    let (declared, own) = (ObjectMeta::record(), "resourceVersion");
    let is_after = |name: &str| match model.record() {
        Some(_) => declared.place(name).0 > declared.place(own).0,
        None => name > own,
    };
    let (mut place, mut has_generation) = (None, false);
    let mut members = metadata.members();
    while let Some((name, _)) = members.next() {
        has_generation |= name == "generation";
        match &*name {
            name if name == own => return None,
            name if place.is_none() && is_after(name) => place = Some(members.name_offset()),
            _ => {}
        }
    }
    // A read makes the generation of a custom resource 1 (RP-51).
    place.filter(|_| has_generation || model.record().is_some())
}

/// The beginning of objects that are printed in declared order; others begin with their version.
const DECLARED: &str = r#"{"kind":"#;

/// The object in another version, cleaned but not defaulted (RP-82).
async fn convert(
    model: &CustomResources,
    version: &CrdVersion,
    object: &Value,
) -> Result<DeepValue, Status> {
    let kind = ApiResource::of_version(version).kind;
    let converted = model.convert(object, &kind).await;
    let mut converted = converted.map_err(|error| failed(&error))?;
    let options = DecodeOptions::default();
    version.convert_value(&mut converted, &options).map_err(|error| failed(&error))?;
    Ok(converted)
}

/// Whether a text for storage is what is stored already (RP-53).
fn is_stored(model: &CustomResources, text: &[u8], stored: &StoredObject) -> bool {
    let is_declared = |text: &[u8]| text.starts_with(DECLARED.as_bytes());
    if stored.is_as_written && is_declared(text) == is_declared(&stored.bytes) {
        return stored.bytes == text;
    }
    read_json(&stored.bytes).is_ok_and(|stored| {
        let mut stored = stored.into_value();
        remove_revision(&mut stored);
        let printed = match model.record() {
            Some(record) => declared_json(&stored, record),
            None => compact_json(&stored),
        };
        printed.as_bytes() == text
    })
}

/// Says which revision an object is, if anything is known.
pub(crate) fn set_revision(object: &mut Value, revision: &str) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata")
        && !revision.is_empty()
    {
        metadata.insert("resourceVersion".to_owned(), revision.into());
    }
}

/// Takes away what storage itself knows of an object.
pub(crate) fn remove_revision(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("resourceVersion");
        metadata.remove("selfLink");
    }
}

/// Reads a revision (RE-62, RE-73).
pub(crate) fn read_revision(text: &str) -> Result<u64, Status> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = match text.parse() {
        Ok(number) if is_plain => return Ok(number),
        Err(_) if is_plain => "value out of range",
        _ => "invalid syntax",
    };
    let message = format!("strconv.ParseUint: parsing {}: {why}", quote(text));
    Err(Status::failure(500, "", message))
}

/// The failure of a read of bytes that are not an object, as of those that are encrypted (ES-14).
fn unreadable(stored: &[u8], error: &impl ToString) -> Status {
    match stored.starts_with(ENCRYPTED) {
        true => Status::internal_error("the stored object is encrypted, and there is no key"),
        false => failed(error),
    }
}

/// A stored object that cannot be read, or one that cannot be converted, is an error without a
/// reason (CX-13, RP-55).
fn failed(error: &impl ToString) -> Status {
    Status::failure(500, "", error.to_string())
}
