//! The steps that every object goes through when it is decoded, whatever its source (RP-12 to
//! RP-14), and the defaults after them.

use billhook_apimachinery::TypeMeta;
use billhook_apimachinery::metadata::{
    Invalid, metadata_changes, normalize_metadata, unknown_metadata_fields,
};
use billhook_apimachinery::value::{DeepValue, dismantle, go_type, json_type};
use billhook_apimachinery::{Change, ChangeKind, Dialect, FieldPath, Location, Reason};
use billhook_schema::CompiledSchema;
use serde_json::{Map, Value};

use crate::CustomResourceDefinition;
use crate::error::DecodeError;

/// Whether objects of a type are those of a definition.
pub(crate) fn belongs_to(types: &TypeMeta, crd: &CustomResourceDefinition) -> bool {
    types.group == crd.group() && types.kind == crd.kind()
}

/// RP-10, steps 1 and 2: reads the API version and kind as the server does before it decodes an
/// object.
pub(crate) fn type_meta_of_body(
    object: &Value,
    body: Option<&[u8]>,
    kind: &str,
) -> Result<TypeMeta, DecodeError> {
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
    let found = TypeMeta::new(text("apiVersion")?, text("kind")?)
        .map_err(|error| refuse(error.to_string()))?;
    if found.kind.is_empty() {
        let shown = body.map_or_else(
            || crate::to_json(object),
            |body| String::from_utf8_lossy(body).into_owned(),
        );
        return Err(refuse(format!("Object 'Kind' is missing in '{shown}'")));
    }
    Ok(found)
}

/// Reads the API version and kind of an object as the server does before it decodes the object
/// (RP-10). `kind` is the kind that is expected.
///
/// # Errors
///
/// When `apiVersion` or `kind` is not a string, when there is no kind, and when the group and
/// version cannot be told apart.
pub fn type_meta(object: &Value, kind: &str) -> Result<TypeMeta, DecodeError> {
    type_meta_of_body(object, None, kind)
}

/// RP-12 for objects that were not a request body.
pub(crate) fn type_meta_of_stored(object: &Value) -> Result<TypeMeta, String> {
    let Value::Object(members) = object else {
        return Err(format!("expected an object, got {}", go_type(object)));
    };
    let text = |name: &str| match members.get(name) {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(other) => {
            let shown = billhook_apimachinery::print::plain_json(other);
            let found = go_type(other);
            Err(format!(".{name} accessor error: {shown} is of the type {found}, expected string"))
        }
    };
    TypeMeta::new(text("apiVersion")?, text("kind")?).map_err(|error| error.to_string())
}

/// The findings of decoding besides the object itself.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Entries 3 to 5 of RP-20.
    pub(crate) unknown: Vec<String>,
    pub(crate) changes: Vec<Change>,
}

#[derive(Clone, Copy)]
pub(crate) struct Report {
    pub(crate) unknown: bool,
    pub(crate) changes: bool,
}

impl Report {
    fn is_on(self) -> bool {
        self.unknown || self.changes
    }
}

/// RP-12 to RP-14.
pub(crate) struct Clean<'c> {
    pub(crate) crd: &'c CustomResourceDefinition,
    pub(crate) invalid: Invalid,
    pub(crate) report: Report,
}

impl Clean<'_> {
    pub(crate) fn run(&self, object: &mut Value, found: &TypeMeta) -> Result<Findings, String> {
        let mut findings = Findings::default();
        let belongs = crate::coerce_object::belongs_to(found, self.crd);
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

    /// Takes the metadata out and returns it normalized. An empty object holds its place: the
    /// result of the steps between is overwritten afterwards (RP-14).
    fn save_metadata(
        &self,
        object: &mut Value,
        schema: &CompiledSchema,
        findings: &mut Findings,
    ) -> Result<Option<DeepValue>, String> {
        let Some(metadata) = object.get_mut("metadata") else { return Ok(None) };
        let decoded = normalize_metadata(metadata, self.invalid, schema.dialect())
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
            return billhook_pruning::coerce(schema, false, self.invalid, object)
                .map_err(|error| error.to_string());
        }
        if cleans {
            let pruned = billhook_pruning::prune_reporting(schema, object);
            let unknown = billhook_pruning::unknown_fields(&pruned);
            findings.unknown.extend(unknown.iter().map(|path| unknown_field(path)));
            findings.changes.extend(pruned);
            findings.changes.extend(billhook_defaulting::remove_nulls_reporting(schema, object));
        }
        let coerced = billhook_pruning::coerce_reporting(schema, false, self.invalid, object)
            .map_err(|error| error.to_string())?;
        let embedded = coerced.unknown.iter().map(|path| unknown_field(path));
        let mut embedded: Vec<String> = root_unknown.into_iter().chain(embedded).collect();
        embedded.sort_unstable();
        findings.unknown.extend(embedded);
        findings.changes.extend(coerced.changes);
        Ok(())
    }
}

pub(crate) fn unknown_field(path: &str) -> String {
    ["unknown field \"", path, "\""].concat()
}

/// RP-51.
pub(crate) fn set_generation(object: &mut Value, report: bool, changes: &mut Vec<Change>) {
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

pub(crate) fn apply_defaults(
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
