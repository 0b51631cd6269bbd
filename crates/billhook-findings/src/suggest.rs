//! Names and values that may have been meant, and the edits that write it.

use billhook::{DeepValue, ErrorType, FieldError, FieldPath, Manifest, Span};
use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::ObjectMeta;
use billhook_apimachinery::record::{Record, TypedRecord as _, check_types};
use billhook_schema::SchemaView;
use serde_json::{Map, Number, Value};

use crate::edit_distance::{closest, is_alone};
use crate::finding::{Edit, Finding};
use crate::source::last_name;

/// How much of a document is read again to learn the type of a value, in bytes.
const LONGEST_VALUE: usize = 64 << 10;
/// How many fields a help line lists.
const LISTED: usize = 3;

impl Finding {
    /// Adds to a finding about an error of a field the value that may have been meant, if
    /// the error itself says enough.
    #[must_use]
    pub fn suggest(mut self, error: &FieldError) -> Self {
        match error.error_type() {
            ErrorType::NotSupported => allowed_value(&mut self, error),
            ErrorType::Invalid if is_of_metadata(&self.path) => {
                if let Some(bad) = error.bad_value().and_then(Value::as_str) {
                    self.mark_member(bad);
                }
            }
            _ => {}
        }
        self
    }

    /// Adds an edit of the text of a field. What aliases repeat is not safe to edit: it would
    /// change in other places too.
    fn edit(&mut self, span: Span, replacement: String, path: &FieldPath, is_safe: bool) {
        let Some(place) = &self.place else { return };
        let is_shared = place.document.is_some_and(|number| place.source.is_shared(number, span));
        let path = place.base.join(path);
        self.edits.push(Edit { span, replacement, path, is_safe: is_safe && !is_shared });
    }
}

/// Whether a field is one of metadata, of the object itself or of one inside it.
fn is_of_metadata(path: &FieldPath) -> bool {
    last_name(&around(path, 1)) == Some("metadata")
}

/// The allowed value that may have been meant.
fn allowed_value(finding: &mut Finding, error: &FieldError) {
    let Some(wrong) = error.bad_value().and_then(Value::as_str) else { return };
    let allowed = supported_values(error.detail());
    let Some(meant) = closest(wrong, allowed.iter().map(String::as_str)) else { return };
    finding.label = Some(format!("did you mean `{meant}`?"));
    let is_same = |value: &&String| value.to_lowercase() == wrong.to_lowercase();
    let is_safe =
        allowed.iter().filter(is_same).count() == 1 && meant.to_lowercase() == wrong.to_lowercase();
    let Some((span, raw)) = value_text(finding) else { return };
    if let Some(replacement) = respelled(raw, wrong, meant) {
        finding.edit(span, replacement, &finding.path.clone(), is_safe);
    }
}

/// The values that an error lists: `supported values: "a", "b"`.
fn supported_values(detail: &str) -> Vec<String> {
    let mut rest = detail.strip_prefix("supported values: ").unwrap_or_default();
    let mut values = Vec::new();
    loop {
        let mut read = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let Some(Ok(value)) = read.next() else { return values };
        values.push(value);
        let after = rest.get(read.byte_offset()..).unwrap_or_default();
        let Some(next) = after.strip_prefix(", ") else { return values };
        rest = next;
    }
}

/// A value of another type that is only spelled wrong: a number in quotes, a text without them.
pub(crate) fn other_type(finding: &mut Finding, wanted: &str) {
    finding.label = value_of(finding).and_then(|value| other_shape(&value, wanted));
    let Some((span, raw)) = value_text(finding) else { return };
    let raw = raw.to_owned();
    let inner = raw.strip_prefix(['"', '\'']).and_then(|raw| raw.strip_suffix(['"', '\'']));
    let (label, replacement) = match (wanted, inner) {
        ("integer", Some(inner)) if is_number(inner) && inner.parse::<i64>().is_ok() => {
            ("remove the quotes", inner.to_owned())
        }
        ("number", Some(inner)) if is_number(inner) => ("remove the quotes", inner.to_owned()),
        ("boolean", Some(inner @ ("true" | "false"))) => ("remove the quotes", inner.to_owned()),
        ("string", None) if is_plain(&raw) => ("write it in quotes", format!("\"{raw}\"")),
        _ => return,
    };
    finding.label = Some(label.to_owned());
    finding.edit(span, replacement, &finding.path.clone(), true);
}

/// Advice about a value that has another shape than it should have.
fn other_shape(value: &Value, wanted: &str) -> Option<String> {
    let text = value.as_str().unwrap_or_default();
    let advice = match (wanted, value) {
        ("array", Value::Object(_)) => "write a list: `-` before each object",
        ("array", _) if text.starts_with('-') => "write a space after each `-`",
        ("array", Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            "write a list, even for one value"
        }
        ("object", Value::Array(_)) => "write an object, without `-`",
        ("object", Value::String(_)) if text.contains(':') => "write a space after each `:`",
        ("object", Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            "write an object: fields with values"
        }
        ("integer", Value::Number(_)) => "write a whole number of at most 64 bits",
        _ => return None,
    };
    Some(advice.to_owned())
}

/// Whether a text is the same number in JSON and in YAML.
fn is_number(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    text.chars().all(is_part) && serde_json::from_str::<Number>(text).is_ok()
}

/// Whether a text is a number or a word, which needs no escapes in quotes.
fn is_plain(raw: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
    !raw.is_empty() && raw.chars().all(is_word) && !matches!(raw, "null" | "Null" | "NULL")
}

/// The text of the value of a finding's field, if it is on one line.
fn value_text(finding: &Finding) -> Option<(Span, &str)> {
    let place = finding.place.as_ref()?;
    let found = place.find(&finding.path).filter(|found| found.is_exact)?;
    let span = found.span.value;
    let text = place.source.text().get(span.start..span.end)?;
    (!text.contains('\n')).then_some((span, text))
}

/// The field that may have been meant by an unknown one, among the schemas on the way to it; or the
/// other version that specifies it.
pub(crate) fn field(finding: &mut Finding, schemas: &[SchemaView<'_>], version: Option<&str>) {
    let Some(name) = last_name(&finding.path).map(str::to_owned) else { return };
    let Some(&parent) = schemas.last() else { return };
    let names = || parent.properties().map(|(name, _)| name);
    finding.help = version.map(|version| format!("`{name}` is a field of version `{version}`"));
    if let Some(meant) = closest(&name, names()) {
        finding.label = Some(format!("did you mean `{meant}`?"));
        let is_safe = version.is_none()
            && is_alone(&name, meant, names())
            && parent.property(meant).is_some_and(|schema| {
                value_of(finding).is_some_and(|value| has_type_of(&value, schema))
            });
        rename(finding, &name, meant, is_safe);
    } else if version.is_none() {
        finding.help = elsewhere(&finding.path, &name, schemas);
    }
}

/// The value of a finding's field; `None` if it is long.
pub(crate) fn value_of(finding: &Finding) -> Option<DeepValue> {
    let place = finding.place.as_ref()?;
    let span = place.find(&finding.path).filter(|found| found.is_exact)?.span.value;
    let column = place.source.position(span.start).column;
    let is_short = span.end.saturating_sub(span.start).max(column) <= LONGEST_VALUE;
    let text = place.source.text().get(span.start..span.end).filter(|_| is_short)?;
    // The first line begins where the others do, and braces are not those of JSON.
    let text = format!("---\n{}{text}", " ".repeat(column - 1));
    let read = billhook::read_manifests(text.as_bytes()).ok()?.into_iter().next();
    Some(read.map(Manifest::into_value).unwrap_or_default())
}

/// Whether a value is of the type that a schema wants, except for quotes.
fn has_type_of(value: &Value, schema: SchemaView<'_>) -> bool {
    let text = value.as_str();
    match schema.text("type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => !value.is_object() && !value.is_array(),
        "boolean" => value.is_boolean() || matches!(text, Some("true" | "false")),
        "integer" => {
            value.as_f64().is_some_and(|number| number.fract() == 0.0)
                || text.is_some_and(|text| text.parse::<i64>().is_ok())
        }
        "number" => value.is_number() || text.is_some_and(is_number),
        _ if schema.is_set("x-kubernetes-int-or-string") => value.is_i64() || value.is_string(),
        _ => true,
    }
}

/// Adds the edit that gives a field another name, unless there is a field of that name, or the wrong
/// one is written more than once.
fn rename(finding: &mut Finding, wrong: &str, meant: &str, is_safe: bool) {
    let path = around(&finding.path, 1).name(meant);
    let edit = finding.place.as_ref().and_then(|place| {
        if place.find(&path).is_some_and(|found| found.is_exact) {
            return None;
        }
        if place
            .document
            .is_some_and(|number| place.source.is_repeated(number, &place.base.join(&finding.path)))
        {
            return None;
        }
        let span = place.find(&finding.path).filter(|found| found.is_exact)?.span.key?;
        let raw = place.source.text().get(span.start..span.end)?;
        Some((span, respelled(raw, wrong, meant)?))
    });
    if let Some((span, replacement)) = edit {
        finding.edit(span, replacement, &path, is_safe);
    }
}

/// Returns another text in the quotes of a text; `None` if the text is spelled in another way, or
/// the new one would need quotes.
fn respelled(raw: &str, wrong: &str, meant: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let fits = meant.starts_with(|c: char| c.is_ascii_alphabetic()) && meant.chars().all(is_word);
    let words = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    let is_special = words.contains(&meant.to_ascii_lowercase().as_str());
    if raw == wrong && fits && !is_special {
        return Some(meant.to_owned());
    }
    let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    (fits && raw == format!("{quote}{wrong}{quote}")).then(|| format!("{quote}{meant}{quote}"))
}

/// The path without its last steps.
fn around(path: &FieldPath, levels: usize) -> FieldPath {
    path.segments().take(path.segments().count().saturating_sub(levels)).collect()
}

/// Where else a field of that name is specified: one level up, or one level down.
fn elsewhere(path: &FieldPath, name: &str, schemas: &[SchemaView<'_>]) -> Option<String> {
    let parent = schemas.last()?;
    let is_of_metadata = ObjectMeta::FIELDS.iter().any(|field| field.name == name);
    if path.segments().count() == 1 && is_of_metadata {
        return Some(format!("`{name}` is a field of `metadata`, one level down"));
    }
    let up = schemas.len().checked_sub(2).and_then(|level| schemas.get(level));
    let has_it = |schema: SchemaView<'_>| schema.property(name).is_some();
    if up.is_some_and(|up| has_it(*up)) {
        let around = around(path, 2);
        let around =
            if around.is_empty() { "the object".to_owned() } else { format!("`{around}`") };
        return Some(format!("`{name}` is a field of {around}, one level up"));
    }
    let below = parent.properties().filter(|(_, schema)| has_it(*schema));
    let mut below: Vec<String> =
        below.map(|(below, _)| format!("`{}`", around(path, 1).name(below))).collect();
    let more = below.len().saturating_sub(LISTED);
    below.truncate(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let below = Some(below.join(", ")).filter(|below| !below.is_empty())?;
    Some(format!("`{name}` is a field of {below}{more}, one level down"))
}

/// The field of a record that may have been meant by an unknown one.
pub(crate) fn field_of(finding: &mut Finding, record: &'static Record) {
    let Some(name) = last_name(&finding.path).map(str::to_owned) else { return };
    let known = || record.fields.iter().map(|field| field.name);
    if let Some(meant) = closest(&name, known()) {
        finding.label = Some(format!("did you mean `{meant}`?"));
        let is_safe = is_alone(&name, meant, known())
            && value_of(finding).is_some_and(|mut value| {
                let members = Map::from_iter([(meant.to_owned(), value.take())]);
                let document = DeepValue::from(Value::Object(members));
                check_types(&document, record, KubernetesVersion::default(), None)
                    .is_ok_and(|unknown| unknown.is_empty())
            });
        rename(finding, &name, meant, is_safe);
    }
}
