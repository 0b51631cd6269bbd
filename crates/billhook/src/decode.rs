//! Decoding: what becomes of an object on its way in from a request or from storage
//! (RP-10 to RP-25, RP-50 to RP-55).

use billhook_decode::{JsonError, read_json};
use billhook_objectmeta::{Invalid, metadata_changes, normalise_metadata, unknown_metadata_fields};
use billhook_schema::print::quote;
use billhook_schema::value::{DeepValue, dismantle, go_type, json_type};
use billhook_schema::{Change, ChangeKind, CompiledSchema, Dialect, FieldPath, Location, Reason};
use serde_json::{Map, Value};

use crate::crd::Version;
use crate::error::DecodeError;
use crate::manifest::is_json;
use crate::{CustomResourceDefinition, yaml};

/// What a request does about unknown and duplicate fields (RP-20).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FieldValidation {
    /// They are dropped silently.
    Ignore,
    /// They are dropped with a warning.
    #[default]
    Warn,
    /// They make the request fail.
    Strict,
}

/// How a body is decoded.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// What to do about unknown and duplicate fields.
    pub field_validation: FieldValidation,
    /// Whether to list all changes in [`Decoded::changes`].
    pub report: bool,
}

impl DecodeOptions {
    /// The options with another field validation.
    #[must_use]
    pub fn field_validation(mut self, field_validation: FieldValidation) -> Self {
        self.field_validation = field_validation;
        self
    }

    /// The options with or without a report.
    #[must_use]
    pub fn report(mut self, report: bool) -> Self {
        self.report = report;
        self
    }
}

/// A decoded object.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    object: DeepValue,
    warnings: Vec<String>,
    changes: Vec<Change>,
}

impl Decoded {
    /// The object.
    pub fn object(&self) -> &Value {
        &self.object
    }

    /// Takes the object out.
    pub fn into_object(self) -> Value {
        self.object.into_inner()
    }

    /// The warnings for the client, in the server's order: duplicate and unknown fields (RP-22).
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What was changed, step by step, if a report was asked for.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }
}

/// What decoding found besides the object itself.
#[derive(Debug, Default)]
struct Findings {
    /// Entries 3 to 5 of RP-20.
    unknown: Vec<String>,
    changes: Vec<Change>,
}

impl Version {
    /// Decodes a request body of this version, JSON or YAML, as create and update do (RP-10).
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
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode(&self, body: &[u8], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
        let kind = self.definition().kind();
        let (mut object, duplicates) = read_body(body, kind)?;
        self.decode_object(&mut object, duplicates, Some(body), options)
            .map(|(warnings, changes)| Decoded { object, warnings, changes })
    }

    /// [`Version::decode`] for an object that is parsed already, in place; on an error the object
    /// is left as it was or partly cleaned. Gives the warnings and the changes.
    pub fn decode_value(
        &self,
        object: &mut Value,
        options: &DecodeOptions,
    ) -> Result<(Vec<String>, Vec<Change>), DecodeError> {
        self.decode_object(object, Vec::new(), None, options)
    }

    fn decode_object(
        &self,
        object: &mut Value,
        duplicates: Vec<String>,
        body: Option<&[u8]>,
        options: &DecodeOptions,
    ) -> Result<(Vec<String>, Vec<Change>), DecodeError> {
        let crd = self.definition();
        let found = type_meta(object, body, crd.kind())?;
        let refuse = |error: String| DecodeError::known(&found, crd.kind(), error);

        let strict = options.field_validation != FieldValidation::Ignore;
        let report = Report { unknown: strict, changes: options.report };
        let clean = Clean { crd, invalid: Invalid::Refuse, report };
        let findings = clean.run(object, &found).map_err(refuse)?;
        let mut entries: Vec<String> = Vec::new();
        if strict {
            entries = duplicates;
            entries.extend(findings.unknown);
            if options.field_validation == FieldValidation::Strict && !entries.is_empty() {
                let error = format!("strict decoding error: {}", entries.join(", "));
                return Err(DecodeError::known(&found, crd.kind(), error).strict());
            }
        }
        let mut changes = findings.changes;
        if found.belongs_to(crd) {
            apply_defaults(crd.schema(&found.version), object, options.report, &mut changes)
                .map_err(|error| DecodeError::known(&found, crd.kind(), error))?;
        }
        let expected = self.api_version();
        // No server serves a version without a name.
        if found.api_version != expected || found.version.is_empty() {
            let found = &found.api_version;
            return Err(DecodeError::wrong_version(format!(
                "the API version in the data ({found}) does not match the expected API version \
                 ({expected})"
            )));
        }
        Ok((entries, changes))
    }

    /// Decodes stored bytes to an object of this version, as every read does (RP-50): with the
    /// schema of the version the object is stored in, then converted to this version.
    pub fn decode_storage(
        &self,
        stored: &[u8],
        options: &DecodeOptions,
    ) -> Result<Decoded, DecodeError> {
        let document =
            read_json(stored).map_err(|error| DecodeError::storage(error.to_string()))?;
        let mut object = document.into_value();
        let changes = self.decode_storage_value(&mut object, options)?;
        Ok(Decoded { object, warnings: Vec::new(), changes })
    }

    /// [`Version::decode_storage`] for an object that is parsed already, in place; on an error
    /// the object may be partly cleaned. Gives the changes. Field validation does not apply.
    pub fn decode_storage_value(
        &self,
        object: &mut Value,
        options: &DecodeOptions,
    ) -> Result<Vec<Change>, DecodeError> {
        let crd = self.definition();
        let found = type_meta_of_stored(object).map_err(DecodeError::storage)?;
        let report = Report { unknown: false, changes: options.report };
        let clean = Clean { crd, invalid: Invalid::Drop, report };
        let mut changes = clean.run(object, &found).map_err(DecodeError::storage)?.changes;
        if found.belongs_to(crd) {
            set_generation(object, options.report, &mut changes);
            apply_defaults(crd.schema(&found.version), object, options.report, &mut changes)
                .map_err(DecodeError::storage)?;
        }
        changes.extend(self.convert_value(object, options)?);
        Ok(changes)
    }

    /// Converts an object of any version to this one with the strategy None (RP-80): only
    /// `apiVersion` changes, then the object is cleaned with this version's schema, without
    /// defaults (RP-82). Gives the changes.
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
                changes.push(Change::new(
                    ChangeKind::TypeRestored,
                    FieldPath::default().name("apiVersion"),
                    (Some(Value::from(api_version.as_str())), Some(Value::from(&*expected))),
                    Reason::new("RP-80", "converted; only apiVersion changes"),
                    FieldPath::default(),
                ));
            }
            *api_version = expected;
        }
        let found = type_meta_of_stored(object).map_err(DecodeError::storage)?;
        let report = Report { unknown: false, changes: options.report };
        let clean = Clean { crd: self.definition(), invalid: Invalid::Refuse, report };
        changes.extend(clean.run(object, &found).map_err(DecodeError::storage)?.changes);
        Ok(changes)
    }

    /// Encodes an object of this version as it is written to storage (RP-53, RP-54): if objects
    /// are stored in another version it is converted and cleaned, otherwise written as it is.
    pub fn encode_storage(&self, object: &Value) -> Result<Vec<u8>, DecodeError> {
        let storage = self.definition().storage_version();
        let Some(storage) = storage.filter(|storage| storage.name() != self.name()) else {
            return Ok(crate::to_json(object).into_bytes());
        };
        let mut object = DeepValue::from(billhook_schema::value::deep_clone(object));
        storage.convert_value(&mut object, &DecodeOptions::default())?;
        Ok(crate::to_json(&object).into_bytes())
    }
}

/// What an object says it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeMeta {
    pub(crate) kind: String,
    pub(crate) api_version: String,
    pub(crate) group: String,
    pub(crate) version: String,
}

impl TypeMeta {
    fn new(api_version: &str, kind: &str) -> Result<Self, String> {
        let (group, version) = match api_version.split_once('/') {
            None => ("", api_version),
            Some((_, version)) if version.contains('/') => {
                return Err(format!("unexpected GroupVersion string: {api_version}"));
            }
            Some(parts) => parts,
        };
        let (group, version) = (group.to_owned(), version.to_owned());
        let (kind, api_version) = (kind.to_owned(), api_version.to_owned());
        Ok(TypeMeta { kind, api_version, group, version })
    }

    fn belongs_to(&self, crd: &CustomResourceDefinition) -> bool {
        self.group == crd.group() && self.kind == crd.kind()
    }
}

/// Reads a body; gives the object and the entries 1 and 2 of RP-20.
fn read_body(body: &[u8], kind: &str) -> Result<(DeepValue, Vec<String>), DecodeError> {
    let looks_like_text = std::str::from_utf8(body).ok();
    if let Some(text) = looks_like_text
        && !is_json(body)
        && !body.iter().all(u8::is_ascii_whitespace)
        && let [Ok(document)] = yaml::read_documents(text).as_mut_slice()
        && document.value.is_object()
    {
        let mut entries = Vec::new();
        if !document.duplicates.is_empty() {
            let mut entry = "yaml: unmarshal errors:".to_owned();
            for path in &document.duplicates {
                entry.push_str(&format!("\n  key {} already set in map", last_name(path)));
            }
            entries.push(entry);
        }
        return Ok((std::mem::take(&mut document.value), entries));
    }
    let document = read_json(body).map_err(|error| syntax_error(&error, body, kind))?;
    let duplicate = |path: &String| format!("duplicate field {}", quote(path));
    let duplicates = document.duplicates().iter().map(duplicate).collect();
    Ok((document.into_value(), duplicates))
}

fn last_name(path: &FieldPath) -> String {
    match path.segments().last() {
        Some(billhook_schema::Segment::Name(name)) => quote(name),
        _ => quote(""),
    }
}

fn syntax_error(error: &JsonError, body: &[u8], kind: &str) -> DecodeError {
    // A number out of range does not keep the server from reading the kind first (RP-18).
    if let Some(partial) = error.partial() {
        return match type_meta(partial, Some(body), kind) {
            Ok(found) => DecodeError::known(&found, kind, error.to_string()),
            Err(refused) => refused,
        };
    }
    let text = format!("couldn't get version/kind; json parse error: {error}");
    DecodeError::unrecognized(kind, text, Some(body)).at(error.line(), error.column())
}

/// RP-10, steps 1 and 2: what the server reads of an object before it decodes it.
fn type_meta(object: &Value, body: Option<&[u8]>, kind: &str) -> Result<TypeMeta, DecodeError> {
    let refuse = |error: String| DecodeError::unrecognized(kind, error, body);
    let cannot_unmarshal = |value: &Value, target: &str| {
        let found = json_type(value);
        refuse(format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {found} into Go \
             {target}"
        ))
    };
    let empty = Map::new();
    let members = match object {
        Value::Object(members) => members,
        Value::Null => &empty,
        other => {
            let target = r#"value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
            return Err(cannot_unmarshal(other, target));
        }
    };
    let text = |name: &str| match members.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(other) => {
            Err(cannot_unmarshal(other, &format!("struct field .{name} of type string")))
        }
    };
    let found = TypeMeta::new(text("apiVersion")?, text("kind")?).map_err(refuse)?;
    if found.kind.is_empty() {
        let shown = body.map_or_else(
            || crate::to_json(object),
            |body| String::from_utf8_lossy(body).into_owned(),
        );
        return Err(refuse(format!("Object 'Kind' is missing in '{shown}'")));
    }
    Ok(found)
}

/// RP-12 for objects that were not a request body.
fn type_meta_of_stored(object: &Value) -> Result<TypeMeta, String> {
    let Value::Object(members) = object else {
        return Err(format!("expected an object, got {}", go_type(object)));
    };
    let text = |name: &str| match members.get(name) {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(other) => {
            let shown = billhook_schema::print::plain_json(other);
            let found = go_type(other);
            Err(format!(".{name} accessor error: {shown} is of the type {found}, expected string"))
        }
    };
    TypeMeta::new(text("apiVersion")?, text("kind")?)
}

#[derive(Clone, Copy)]
struct Report {
    unknown: bool,
    changes: bool,
}

impl Report {
    fn is_on(self) -> bool {
        self.unknown || self.changes
    }
}

/// RP-12 to RP-14.
struct Clean<'c> {
    crd: &'c CustomResourceDefinition,
    invalid: Invalid,
    report: Report,
}

impl Clean<'_> {
    fn run(&self, object: &mut Value, found: &TypeMeta) -> Result<Findings, String> {
        let mut findings = Findings::default();
        let belongs = found.belongs_to(self.crd);
        let schema = self.crd.schema(&found.version);
        if belongs && schema.dialect() == Dialect::Kep {
            billhook_pruning::check_types(schema, object).map_err(|error| error.to_string())?;
        }
        let metadata = self.save_metadata(object, schema, &mut findings)?;
        if belongs {
            self.clean_members(object, schema, &mut findings)?;
        }
        if let (Some(metadata), Value::Object(members)) = (metadata, object)
            && let Some(placeholder) = members.get_mut("metadata")
        {
            *placeholder = metadata.into_inner();
        }
        Ok(findings)
    }

    /// Takes the metadata out and gives it back in normal form. An empty object holds its place:
    /// whatever the steps between do to metadata is overwritten afterwards (RP-14).
    fn save_metadata(
        &self,
        object: &mut Value,
        schema: &CompiledSchema,
        findings: &mut Findings,
    ) -> Result<Option<DeepValue>, String> {
        let Some(metadata) = object.get_mut("metadata") else { return Ok(None) };
        let decoded = normalise_metadata(metadata, self.invalid, schema.dialect())
            .map_err(|error| error.to_string())?;
        let at = Location::TOP.name("metadata");
        if self.report.unknown {
            let unknown = unknown_metadata_fields(metadata, &at);
            findings.unknown.extend(unknown.iter().map(|path| unknown_field(path)));
        }
        if self.report.changes {
            let path = schema.root().schema_path();
            findings.changes.extend(metadata_changes(metadata, &decoded, &at, &path));
        }
        dismantle(std::mem::replace(metadata, Value::Object(Map::new())));
        Ok(Some(decoded))
    }

    /// RP-13.
    fn clean_members(
        &self,
        object: &mut Value,
        schema: &CompiledSchema,
        findings: &mut Findings,
    ) -> Result<(), String> {
        let cleans = !self.crd.preserves_unknown_fields();
        // An embedded resource at the root lists its unknown metadata once more (RP-20).
        let root_unknown = if schema.root().is_embedded_resource() {
            findings.unknown.clone()
        } else {
            Vec::new()
        };
        if !self.report.is_on() {
            if cleans {
                billhook_pruning::prune(schema, object);
                billhook_defaulting::remove_nulls(schema, object);
            }
            return billhook_objectmeta::coerce(schema, false, self.invalid, object)
                .map_err(|error| error.to_string());
        }
        if cleans {
            let pruned = billhook_pruning::prune_reporting(schema, object);
            let unknown = billhook_pruning::unknown_fields(&pruned);
            findings.unknown.extend(unknown.iter().map(|path| unknown_field(path)));
            findings.changes.extend(pruned);
            findings.changes.extend(billhook_defaulting::remove_nulls_reporting(schema, object));
        }
        let coerced = billhook_objectmeta::coerce_reporting(schema, false, self.invalid, object)
            .map_err(|error| error.to_string())?;
        let embedded = coerced.unknown.iter().map(|path| unknown_field(path));
        let mut embedded: Vec<String> = root_unknown.into_iter().chain(embedded).collect();
        embedded.sort_unstable();
        findings.unknown.extend(embedded);
        findings.changes.extend(coerced.changes);
        Ok(())
    }
}

fn unknown_field(path: &str) -> String {
    format!("unknown field \"{path}\"")
}

/// RP-51.
fn set_generation(object: &mut Value, report: bool, changes: &mut Vec<Change>) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    if metadata.contains_key("generation") {
        return;
    }
    metadata.insert("generation".to_owned(), Value::from(1));
    if report {
        changes.push(Change::new(
            ChangeKind::MetadataCoerced,
            FieldPath::default().name("metadata").name("generation"),
            (None, Some(Value::from(1))),
            Reason::new("RP-51", "a stored object without a generation reads as generation 1"),
            FieldPath::default(),
        ));
    }
}

fn apply_defaults(
    schema: &CompiledSchema,
    object: &mut Value,
    report: bool,
    changes: &mut Vec<Change>,
) -> Result<(), String> {
    let applied = if report {
        billhook_defaulting::apply_defaults_reporting(schema, object)
            .map(|applied| changes.extend(applied))
    } else {
        billhook_defaulting::apply_defaults(schema, object)
    };
    applied.map_err(|error| error.to_string())
}
