//! The steps that every object goes through when it is decoded, whatever its source (RP-12 to
//! RP-14), and the defaults after them.

use billhook_apimachinery::TypeMeta;
use billhook_apimachinery::metadata::{Invalid, normalize_metadata, write_unset_time};
use billhook_apimachinery::value::{DeepValue, go_type};
use billhook_apimachinery::{Change, ChangeKind, Dialect, FieldPath, Location, Reason};
use billhook_decode::{Cleaning, Steps};
use billhook_defaulting::LimitError;
use billhook_schema::CompiledSchema;
use billhook_schema::walk::{Findings, Report};
use serde_json::Value;

use crate::CustomResourceDefinition;
use crate::crd::go_text;
use crate::error::DecodeError;

/// Whether objects of a type are those of a definition.
pub(crate) fn belongs_to(types: &TypeMeta, crd: &CustomResourceDefinition) -> bool {
    types.group == crd.group() && types.kind == crd.kind()
}

/// A body, and the text of it that messages show.
#[derive(Clone, Copy)]
pub(crate) struct BodyText<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) shown: &'b [u8],
}

impl<'b> BodyText<'b> {
    pub(crate) fn of(body: &'b [u8]) -> Self {
        BodyText { bytes: body, shown: body }
    }
}

/// RP-10, steps 1 and 2: reads the API version and kind as the server does before it decodes an
/// object.
pub(crate) fn type_meta_of_body(
    object: &Value,
    body: Option<BodyText<'_>>,
    kind: &str,
) -> Result<TypeMeta, DecodeError> {
    let refuse =
        |error: String| DecodeError::unrecognized(kind, error, body.map(|body| body.bytes));
    let found = TypeMeta::of_object(object).map_err(|error| refuse(error.to_string()))?;
    if found.kind.is_empty() {
        let shown = body.map_or_else(
            || crate::to_json(object),
            |body| String::from_utf8_lossy(body.shown).into_owned(),
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
/// version cannot be distinguished.
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
            let shown = go_text(other);
            let found = go_type(other);
            Err(format!(".{name} accessor error: {shown} is of the type {found}, expected string"))
        }
    };
    TypeMeta::new(text("apiVersion")?, text("kind")?).map_err(|error| error.to_string())
}

/// The findings of decoding besides the object itself.
#[derive(Debug)]
pub(crate) struct Cleaned {
    /// Entries 3 to 5 of RP-20.
    pub(crate) unknown: Vec<String>,
    pub(crate) changes: Vec<Change>,
    /// The number of changes that are not listed.
    pub(crate) omitted: usize,
    /// Whether all defaults were applied.
    pub(crate) defaults: Result<(), LimitError>,
}

/// RP-12 to RP-14, and the defaults after that.
pub(crate) struct Clean<'c> {
    pub(crate) crd: &'c CustomResourceDefinition,
    pub(crate) invalid: Invalid,
    /// Whether defaults are applied.
    pub(crate) defaults: bool,
    /// Whether a missing generation is set (RP-51).
    pub(crate) sets_generation: bool,
}

impl Clean<'_> {
    pub(crate) fn run(
        &self,
        object: &mut Value,
        found: &TypeMeta,
        reports: bool,
    ) -> Result<Cleaned, String> {
        let schema = self.crd.schema(&found.version);
        let own = belongs_to(found, self.crd).then_some(schema);
        if own.is_some() && schema.root().dialect() == Dialect::Kep {
            billhook_pruning::check_types(schema, object).map_err(|error| error.to_string())?;
        }
        if !reports {
            let metadata = self.take_metadata(object, schema, &mut ())?;
            let defaults = self.steps(object, metadata, own, &mut ())?;
            return Ok(Cleaned { unknown: Vec::new(), changes: Vec::new(), omitted: 0, defaults });
        }
        let mut root = Findings::default();
        let metadata = self.take_metadata(object, schema, &mut root)?;
        let mut below = Findings::default();
        let defaults = self.steps(object, metadata, own, &mut below)?;
        let mut embedded = below.unknown;
        // An embedded resource at the root lists its unknown metadata once more (RP-20).
        if own.is_some_and(|schema| schema.root().is_embedded_resource()) {
            embedded.extend_from_slice(&root.unknown);
        }
        embedded.sort_unstable();
        let pruned = billhook_pruning::unknown_fields(&below.changes);
        let unknown = root.unknown.iter().chain(&pruned).chain(&embedded);
        let unknown = unknown.map(|path| unknown_field(path)).collect();
        root.changes.extend(below.changes);
        let omitted = root.omitted + below.omitted;
        Ok(Cleaned { unknown, changes: root.changes, omitted, defaults })
    }

    /// The steps over an object whose metadata was taken out, with its own schema if it belongs to
    /// the definition; then metadata is put back.
    fn steps(
        &self,
        object: &mut Value,
        mut metadata: Option<DeepValue>,
        schema: Option<&CompiledSchema>,
        report: &mut impl Report,
    ) -> Result<Result<(), LimitError>, String> {
        let mut defaults = Ok(());
        if let Some(schema) = schema {
            let cleans = !self.crd.preserves_unknown_fields();
            let mut cleaning = Cleaning::new(schema, Steps { cleans, defaults: self.defaults });
            cleaning.run(object, self.invalid, report).map_err(|error| error.to_string())?;
            if let Some(metadata) = &mut metadata {
                if self.sets_generation {
                    set_generation(metadata, report);
                }
                cleaning.default_metadata(metadata, report);
            }
            defaults = cleaning.finish(0, report);
        }
        if let (Some(metadata), Value::Object(members)) = (metadata, object)
            && let Some(placeholder) = members.get_mut("metadata")
        {
            *placeholder = metadata.into_inner();
        }
        Ok(defaults)
    }

    /// Takes the metadata out and returns it normalized. A scalar holds its place, at which no step does
    /// anything (RP-14).
    fn take_metadata(
        &self,
        object: &mut Value,
        schema: &CompiledSchema,
        report: &mut impl Report,
    ) -> Result<Option<DeepValue>, String> {
        let Some(metadata) = object.get_mut("metadata") else { return Ok(None) };
        let decoded = normalize_metadata(metadata, self.invalid, schema.root().dialect())
            .map_err(|error| error.to_string())?;
        let changed = match schema.root().writes_unset_time() {
            true => {
                let mut decoded = decoded.into_value();
                write_unset_time(&mut decoded);
                Some(decoded)
            }
            false => decoded.changed(),
        };
        if let Some(changed) = &changed {
            report.metadata(metadata, changed, &Location::TOP.name("metadata"), schema.root());
        }
        let taken = DeepValue::from(std::mem::replace(metadata, Value::Bool(false)));
        Ok(Some(changed.unwrap_or(taken)))
    }
}

pub(crate) fn unknown_field(path: &str) -> String {
    ["unknown field \"", path, "\""].concat()
}

/// RP-51.
fn set_generation<R: Report>(metadata: &mut Value, report: &mut R) {
    let Value::Object(metadata) = metadata else { return };
    if metadata.contains_key("generation") {
        return;
    }
    metadata.insert("generation".to_owned(), Value::from(1));
    if R::IS_ON {
        report.push(Change::new(
            ChangeKind::MetadataCoerced,
            FieldPath::default().name("metadata").name("generation"),
            (None, Some(Value::from(1))),
            Reason::new("RP-51", "a stored object without a generation reads as generation 1"),
            FieldPath::default(),
        ));
    }
}
