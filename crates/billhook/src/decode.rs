//! Decoding an object from a request or from storage (RP-10 to RP-25, RP-50 to RP-55).

use std::borrow::Cow;
use std::collections::HashSet;

use billhook_apimachinery::metadata::{Invalid, write_unset_time};
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::{InText, Record, RecordError, check_types};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{Change, ChangeKind, FieldPath, KubernetesVersion, Reason};
use billhook_decode::is_json;
use billhook_decode::{Decoder, JsonError, ObjectView, read_json, read_json_with_spans};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::coerce_object::{BodyText, Clean, Cleaned, type_meta_of_body, type_meta_of_stored};
use crate::crd::{CONVERTED, CrdVersion, changes_of_type};
use crate::decode_options::{BodyFormat, DecodeOptions, FieldValidation};
use crate::error::DecodeError;
use crate::one_pass::{NeedsTree, one_pass};

/// A decoded object.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    object: DeepValue,
    strict_errors: Vec<String>,
    changes: Vec<Change>,
    omitted_changes: usize,
}

impl Decoded {
    /// Returns the object.
    pub fn object(&self) -> &Value {
        &self.object
    }

    /// Takes the object out.
    pub fn into_object(self) -> DeepValue {
        self.object
    }

    /// Takes everything out: the object, the [strict errors](Decoded::strict_errors) and the
    /// changes.
    pub fn into_parts(self) -> (DeepValue, Vec<String>, Vec<Change>) {
        (self.object, self.strict_errors, self.changes)
    }

    /// Returns the warnings for the client, in the server's order: duplicate and unknown fields
    /// (RP-22).
    pub fn warnings(&self) -> Vec<&str> {
        field_warnings(&self.strict_errors).collect()
    }

    /// Returns the errors for which [`FieldValidation::Strict`] would refuse the body, in the
    /// server's order (RP-20). All repeated keys of a YAML body are one entry of several lines.
    pub fn strict_errors(&self) -> &[String] {
        &self.strict_errors
    }

    /// Returns the changes, step by step, if a report was asked for.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns how many more changes there are, of which neither the paths nor the errors are
    /// listed: all paths together may take 16 MiB (PR-34).
    pub fn omitted_changes(&self) -> usize {
        self.omitted_changes
    }
}

/// A decoded object as JSON text.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedText<'t> {
    text: Cow<'t, [u8]>,
    strict_errors: Vec<String>,
    changes: Vec<Change>,
}

impl<'t> DecodedText<'t> {
    /// Returns the text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the object in the text, to read a few of its fields without building a tree.
    ///
    /// ```
    /// # use billhook::{CustomResourceDefinition, DecodeOptions};
    /// # let crd = CustomResourceDefinition::from_value(&serde_json::json!({
    /// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    /// #   "spec": {"group": "example.com", "scope": "Namespaced",
    /// #     "names": {"plural": "foos", "kind": "Foo"},
    /// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
    /// #       {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
    /// #         "properties": {"size": {"type": "integer", "default": 1}}}}}}}]}}))?;
    /// let body = br#"{"apiVersion": "example.com/v1", "kind": "Foo", "spec": {"extra": 1}}"#;
    /// let decoded = crd.version("v1").unwrap().decode_text(body, &DecodeOptions::default())?;
    /// let spec = decoded.object().get("spec").unwrap();
    /// assert_eq!(spec.get("size").and_then(|size| size.as_i64()), Some(1));
    /// assert!(spec.get("extra").is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn object(&self) -> ObjectView<'_> {
        ObjectView::of_checked(&self.text)
    }

    /// Returns whether the text is the body itself, because nothing changed.
    pub fn is_borrowed(&self) -> bool {
        matches!(self.text, Cow::Borrowed(_))
    }

    /// Takes the text out.
    pub fn into_text(self) -> Cow<'t, [u8]> {
        self.text
    }

    /// Returns the warnings for the client, as [`Decoded::warnings`] does.
    pub fn warnings(&self) -> Vec<&str> {
        field_warnings(&self.strict_errors).collect()
    }

    /// Returns the changes, as in [`Decoded::changes`].
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// Returns the warnings that field validation sends the client for its findings (RP-22).
pub fn field_warnings(strict_errors: &[String]) -> impl Iterator<Item = &str> {
    strict_errors.iter().flat_map(|entry| billhook_yaml::warnings(entry))
}

impl CrdVersion {
    /// Decodes a request body of this version, JSON or YAML, as create and update do (RP-10). The body
    /// of another kind is left as it is (RP-13): validation refuses it.
    ///
    /// # Errors
    ///
    /// If the server refuses the body.
    ///
    /// ```
    /// # use billhook::{CustomResourceDefinition, DecodeOptions, FieldValidation};
    /// # let crd = CustomResourceDefinition::from_value(&serde_json::json!({
    /// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    /// #   "spec": {"group": "example.com", "scope": "Namespaced",
    /// #     "names": {"plural": "foos", "kind": "Foo"},
    /// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
    /// #       {"openAPIV3Schema": {"type": "object"}}}]}}))?;
    /// let body = br#"{"apiVersion": "example.com/v1", "kind": "Foo", "extra": 1}"#;
    /// let v1 = crd.version("v1").unwrap();
    /// let decoded = v1.decode(body, &DecodeOptions::default())?;
    /// assert_eq!(decoded.warnings(), [r#"unknown field "extra""#]);
    ///
    /// let strict = DecodeOptions::default().field_validation(FieldValidation::Strict);
    /// let refused = v1.decode(body, &strict).unwrap_err();
    /// assert_eq!(refused.status_message(), "Foo in version \"v1\" cannot be handled as a Foo: \
    ///     strict decoding error: unknown field \"extra\"");
    /// assert_eq!(refused.field_findings(), decoded.warnings());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode(&self, body: &[u8], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
        match one_pass(self, body, options, Decoder::read, Decoder::read_reporting) {
            Ok(passed) => {
                let (object, strict_errors, changes) = passed?;
                Ok(Decoded { object, strict_errors, changes, omitted_changes: 0 })
            }
            Err(_) => self.decode_tree(body, options),
        }
    }

    /// Decodes a request body to JSON text, without building a tree: parts that are kept are copied
    /// as they are spelled, and the body itself is returned if nothing changes. Equals
    /// [`CrdVersion::decode`] in every other respect.
    ///
    /// # Errors
    ///
    /// If the server refuses the body.
    pub fn decode_text<'t>(
        &self,
        body: &'t [u8],
        options: &DecodeOptions,
    ) -> Result<DecodedText<'t>, DecodeError> {
        if let Ok(passed) = self.clean_text(body, options) {
            return passed;
        }
        let Decoded { object, strict_errors, changes, .. } = self.decode_tree(body, options)?;
        let text = Cow::Owned(crate::to_json(&object).into_bytes());
        Ok(DecodedText { text, strict_errors, changes })
    }

    /// Returns whether decoding a JSON body without field validation returns the body itself, as
    /// [`CrdVersion::decode_text`] would. False if only a tree could tell.
    pub fn decodes_to_itself(&self, body: &[u8]) -> bool {
        let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);
        matches!(self.clean_text(body, &options), Ok(Ok(text)) if text.is_borrowed())
    }

    /// Decodes a request body to a type of your own.
    ///
    /// The error of a body that was decoded but does not fit the type is that of `serde_json`.
    ///
    /// # Errors
    ///
    /// If the server refuses the body, or the object does not fit the type.
    pub fn decode_into<T: DeserializeOwned>(
        &self,
        body: &[u8],
        options: &DecodeOptions,
    ) -> Result<T, DecodeError> {
        let decoded = self.decode_text(body, options)?;
        serde_json::from_slice(decoded.text()).map_err(|error| DecodeError::conversion(&error))
    }

    pub(crate) fn clean_text<'t>(
        &self,
        body: &'t [u8],
        options: &DecodeOptions,
    ) -> Result<Result<DecodedText<'t>, DecodeError>, NeedsTree> {
        let passed = one_pass(self, body, options, Decoder::clean, Decoder::clean_reporting)?;
        Ok(passed.map(|(text, strict_errors, changes)| DecodedText {
            text,
            strict_errors,
            changes,
        }))
    }

    pub(crate) fn decode_tree(
        &self,
        body: &[u8],
        options: &DecodeOptions,
    ) -> Result<Decoded, DecodeError> {
        let kind = self.definition().kind();
        let Read { mut object, entries, converted } = read(body, options.format, kind)?;
        // Who validates fields reads YAML itself, others the JSON that is made of it.
        let ignores = options.field_validation == FieldValidation::Ignore;
        let shown = converted.as_ref().filter(|_| ignores).map_or(body, String::as_bytes);
        let body = BodyText { bytes: body, shown };
        let (strict_errors, changes, omitted_changes) =
            self.decode_object(&mut object, entries, Some(body), options)?;
        Ok(Decoded { object, strict_errors, changes, omitted_changes })
    }

    /// Like [`CrdVersion::decode`], for an object that is parsed already, in place. Returns the
    /// warnings and the changes.
    ///
    /// # Errors
    ///
    /// If the server refuses the object, which is then unchanged or partly decoded.
    pub fn decode_value(
        &self,
        object: &mut Value,
        options: &DecodeOptions,
    ) -> Result<(Vec<String>, Vec<Change>), DecodeError> {
        let (warnings, changes, _) = self.decode_object(object, Vec::new(), None, options)?;
        Ok((warnings, changes))
    }

    fn decode_object(
        &self,
        object: &mut Value,
        duplicates: Vec<String>,
        body: Option<BodyText<'_>>,
        options: &DecodeOptions,
    ) -> Result<(Vec<String>, Vec<Change>, usize), DecodeError> {
        let crd = self.definition();
        let found = type_meta_of_body(object, body, crd.kind())?;
        let refuse = |error: String| DecodeError::known(&found, crd.kind(), error);
        // Only here null is not a string (RP-12).
        type_meta_of_stored(object).map_err(refuse)?;

        let strict = options.field_validation != FieldValidation::Ignore;
        let clean = Clean { crd, invalid: Invalid::Refuse, defaults: true, sets_generation: false };
        let as_sent = crd.object_type().map(|_| DeepValue::from(deep_clone(object)));
        let cleaned = clean.run(object, &found, strict || options.report);
        let mut cleaned = cleaned.map_err(|error| {
            let sent = as_sent.as_deref().map(deep_clone).map(DeepValue::from);
            let typed = sent.and_then(|mut sent| crd.object_type()?.read(&mut sent).err());
            refuse(typed.map_or(error, |typed| self.in_text(typed, body, options).to_string()))
        })?;
        let unknown = self.read_type(object, &mut cleaned, options.report);
        let unknown =
            unknown.map_err(|error| refuse(self.in_text(error, body, options).to_string()))?;
        let mut entries: Vec<String> = Vec::new();
        if strict {
            entries = duplicates;
            entries.extend(cleaned.unknown);
            entries.extend(unknown);
            if options.field_validation == FieldValidation::Strict && !entries.is_empty() {
                let found = (&*found.kind, &*found.version);
                return Err(DecodeError::strict(found, crd.kind(), &entries));
            }
        }
        cleaned.defaults.map_err(|error| refuse(error.to_string()))?;
        let expected = self.api_version();
        // No server serves a version without a name.
        let is_expected = found.api_version == expected && !found.version.is_empty();
        if !is_expected && !options.any_version {
            let found = &found.api_version;
            let message = format!(
                "the API version in the data ({found}) does not match the expected API version \
                 ({expected})"
            );
            return Err(DecodeError::wrong_version(message, entries));
        }
        let (changes, omitted) = match options.report {
            true => (cleaned.changes, cleaned.omitted),
            false => (Vec::new(), 0),
        };
        Ok((entries, changes, omitted))
    }

    /// Reads an object that was cleaned as its type, if it has a fixed one. Returns the fields that the
    /// type does not have.
    fn read_type(
        &self,
        object: &mut Value,
        cleaned: &mut Cleaned,
        reports: bool,
    ) -> Result<Vec<String>, RecordError> {
        let Some(object_type) = self.definition().object_type() else { return Ok(Vec::new()) };
        let before = reports.then(|| DeepValue::from(deep_clone(object)));
        let unknown = object_type.read(object)?;
        if self.definition().kubernetes().writes_unset_time()
            && let Some(metadata) = object.get_mut("metadata")
        {
            write_unset_time(metadata);
        }
        if let Some(before) = before {
            add_changes_of_type(&mut cleaned.changes, changes_of_type(&before, object));
        }
        Ok(unknown)
    }

    /// Returns the error that comes first in the text of a body, for one that was found in its object.
    fn in_text(
        &self,
        error: RecordError,
        body: Option<BodyText<'_>>,
        options: &DecodeOptions,
    ) -> RecordError {
        let crd = self.definition();
        let record = crd.object_type().and_then(|object_type| object_type.record());
        let first = body.zip(record).and_then(|(body, record)| {
            first_wrong_type(body.bytes, options.format, record, crd.kubernetes())
        });
        first.unwrap_or(error)
    }

    /// Decodes stored bytes to an object of this version, as every read does (RP-50): with the
    /// schema of the version the object is stored in, then converted to this version.
    ///
    /// # Errors
    ///
    /// If the server cannot read the object.
    pub fn decode_storage(
        &self,
        stored: &[u8],
        options: &DecodeOptions,
    ) -> Result<Decoded, DecodeError> {
        let document =
            read_json(stored).map_err(|error| DecodeError::storage(error.to_string()))?;
        let mut object = document.into_value();
        let changes = self.decode_storage_value(&mut object, options)?;
        Ok(Decoded { object, strict_errors: Vec::new(), changes, omitted_changes: 0 })
    }

    /// Like [`CrdVersion::decode_storage`], for an object that is parsed already, in place. Returns
    /// the changes. Field validation does not apply.
    ///
    /// # Errors
    ///
    /// If the server cannot read the object, which may then be partly decoded.
    pub fn decode_storage_value(
        &self,
        object: &mut Value,
        options: &DecodeOptions,
    ) -> Result<Vec<Change>, DecodeError> {
        let crd = self.definition();
        let conversion = self.convert_type(object)?;
        let found = type_meta_of_stored(object).map_err(DecodeError::storage)?;
        let is_of_type = crd.object_type().is_some();
        let sets_generation = !is_of_type;
        let clean = Clean { crd, invalid: Invalid::Drop, defaults: true, sets_generation };
        let mut cleaned =
            clean.run(object, &found, options.report).map_err(DecodeError::storage)?;
        let read = self.read_type(object, &mut cleaned, options.report);
        read.map_err(|error| DecodeError::storage(error.to_string()))?;
        cleaned.defaults.map_err(|error| DecodeError::storage(error.to_string()))?;
        let mut changes = cleaned.changes;
        changes.extend(conversion.filter(|_| options.report));
        // What a type prints even if it is empty is not for the schema to remove (BK-02).
        if !(is_of_type && found.api_version == self.api_version()) {
            changes.extend(self.convert_value(object, options)?);
        }
        Ok(changes)
    }

    /// Converts an object of another version of a fixed type, whose fields the schemas do not tell how to
    /// convert. Returns the change, if it was one.
    fn convert_type(&self, object: &mut Value) -> Result<Option<Change>, DecodeError> {
        let Some(object_type) = self.definition().object_type() else { return Ok(None) };
        let found = type_meta_of_stored(object).map_err(DecodeError::storage)?;
        let is_converted = found.api_version != self.api_version()
            && object_type
                .convert(object)
                .map_err(|error| DecodeError::storage(error.to_string()))?;
        Ok(is_converted.then(|| self.conversion(&found.api_version, CONVERTED)))
    }

    /// The change of an API version to this one.
    fn conversion(&self, from: &str, reason: Reason) -> Change {
        let path = FieldPath::default().name("apiVersion");
        let values = (Some(Value::from(from)), Some(Value::from(self.api_version())));
        Change::new(ChangeKind::TypeRestored, path, values, reason, FieldPath::default())
    }

    /// Converts an object of any version to this one with the strategy None (RP-80): only
    /// `apiVersion` changes, then the object is decoded with this version's schema, without
    /// defaults (RP-82). Returns the changes.
    ///
    /// # Errors
    ///
    /// If the object cannot be decoded.
    pub fn convert_value(
        &self,
        object: &mut Value,
        options: &DecodeOptions,
    ) -> Result<Vec<Change>, DecodeError> {
        let mut changes = Vec::new();
        let expected = self.api_version();
        if let Some(Value::String(api_version)) = object.get_mut("apiVersion")
            && *api_version != expected
        {
            if options.report {
                let reason = Reason::new("RP-80", "converted; only apiVersion changes");
                changes.push(self.conversion(api_version, reason));
            }
            *api_version = expected;
        }
        let found = type_meta_of_stored(object).map_err(DecodeError::storage)?;
        let crd = self.definition();
        let clean =
            Clean { crd, invalid: Invalid::Refuse, defaults: false, sets_generation: false };
        let cleaned = clean.run(object, &found, options.report).map_err(DecodeError::storage)?;
        changes.extend(cleaned.changes);
        Ok(changes)
    }

    /// Encodes an object of this version as it is written to storage (RP-53, RP-54): if objects are
    /// stored in another version it is converted and decoded, otherwise written as it is.
    ///
    /// # Errors
    ///
    /// If the object cannot be converted to the storage version.
    pub fn encode_storage(&self, object: &Value) -> Result<Vec<u8>, DecodeError> {
        let storage = self.definition().storage().ok();
        let Some(storage) = storage.filter(|storage| storage.name() != self.name()) else {
            return Ok(crate::to_json(object).into_bytes());
        };
        let mut object = DeepValue::from(deep_clone(object));
        storage.convert_value(&mut object, &DecodeOptions::default())?;
        Ok(crate::to_json(&object).into_bytes())
    }
}

/// Adds the changes that a type makes, except for nulls that were removed before and that the type prints
/// (BK-02).
fn add_changes_of_type(changes: &mut Vec<Change>, of_type: Vec<Change>) {
    let is_removed = |change: &Change| change.kind() == ChangeKind::NullRemoved;
    let removed = changes.iter().filter(|change| is_removed(change));
    let removed: HashSet<FieldPath> = removed.map(|change| change.path().clone()).collect();
    let is_printed = |change: &Change| {
        change.after().is_some_and(Value::is_null) && removed.contains(change.path())
    };
    let (printed, of_type): (Vec<_>, Vec<_>) = of_type.into_iter().partition(is_printed);
    let printed: HashSet<&FieldPath> = printed.iter().map(Change::path).collect();
    changes.retain(|change| !(is_removed(change) && printed.contains(change.path())));
    changes.extend(of_type);
}

/// A body that was read: the object, the entries 1 and 2 of RP-20, and the text that messages show
/// if that is not the body itself.
pub(crate) struct Read {
    pub(crate) object: DeepValue,
    pub(crate) entries: Vec<String>,
    pub(crate) converted: Option<String>,
}

/// Reads a request body to a value, without decoding it: YAML or JSON, with the server's errors.
/// `kind` is the kind that is expected.
///
/// # Errors
///
/// When the body is malformed; of repeated keys the last one wins.
pub fn read_body(body: &[u8], format: BodyFormat, kind: &str) -> Result<DeepValue, DecodeError> {
    read(body, format, kind).map(|read| read.object)
}

/// Returns the error about the first value in a body that is not of the type of its field, in the order
/// of the text; none if the body is YAML, which servers read in the order of keys (BK-22).
pub fn first_wrong_type(
    body: &[u8],
    format: BodyFormat,
    record: &'static Record,
    kubernetes: KubernetesVersion,
) -> Option<RecordError> {
    if is_yaml(body, format) {
        return None;
    }
    let (document, spans) = read_json_with_spans(body).ok()?;
    let in_text = spans.top().map(|placed| InText { text: body, placed });
    check_types(document.value(), record, kubernetes, in_text).err()
}

fn is_yaml(body: &[u8], format: BodyFormat) -> bool {
    match format {
        BodyFormat::Detect => !is_json(body) && !body.iter().all(u8::is_ascii_whitespace),
        BodyFormat::Json => false,
        BodyFormat::Yaml => true,
    }
}

pub(crate) fn read(body: &[u8], format: BodyFormat, kind: &str) -> Result<Read, DecodeError> {
    if is_yaml(body, format) {
        let document = billhook_yaml::read_document(body).map_err(|error| {
            DecodeError::unrecognized(kind, error.to_string(), Some(body))
                .at(error.line(), error.column())
        })?;
        let entries = billhook_yaml::strict_error_text(document.duplicates());
        let entries = entries.into_iter().collect();
        let object = document.into_value();
        let converted = Some(crate::to_json(&object));
        return Ok(Read { object, entries, converted });
    }
    let document = read_json(body).map_err(|error| syntax_error(&error, body, kind))?;
    document
        .types()
        .check()
        .map_err(|error| DecodeError::unrecognized(kind, error.to_string(), Some(body)))?;
    let duplicate = |path: &String| format!("duplicate field {}", quote(path));
    let entries = document.duplicates().iter().map(duplicate).collect();
    Ok(Read { object: document.into_value(), entries, converted: None })
}

fn syntax_error(error: &JsonError, body: &[u8], kind: &str) -> DecodeError {
    // A number out of range does not keep the server from reading the kind first (RP-18).
    if let Some(partial) = error.partial() {
        return match type_meta_of_body(partial, Some(BodyText::of(body)), kind) {
            Ok(found) => DecodeError::known(&found, kind, error.to_string()),
            Err(refused) => refused,
        };
    }
    let text = format!("couldn't get version/kind; json parse error: {error}");
    DecodeError::unrecognized(kind, text, Some(body)).at(error.line(), error.column())
}
