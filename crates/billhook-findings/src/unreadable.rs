//! Values of the wrong type, which a server cannot read: it names their fields by types in Go.

use billhook::FieldPath;
use billhook_apimachinery::metadata::{ManagedFieldsEntry, ObjectMeta, OwnerReference};
use billhook_apimachinery::record::{Field, Type, TypedRecord as _};
use billhook_apimachinery::value::json_type;

use crate::finding::Finding;
use crate::suggest::{other_type, value_of};

impl Finding {
    /// Returns the finding at the field that the server's text names, with the edit that mends it:
    /// `json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`.
    #[must_use]
    pub fn suggest_type(self) -> Self {
        let Some((found, dotted, wanted)) = mismatch(&self.text) else { return self };
        let (found, wanted) = (found.to_owned(), schema_name(wanted));
        let Some(place) = self.place.clone() else { return self };
        // The text does not say where ObjectMeta is.
        let paths = [dotted.to_owned(), format!("metadata.{dotted}")];
        let Some(path) = paths.iter().find_map(|path| place.resolve(path)) else { return self };
        let finding = self.at(&place, path);
        let member = value_of(&finding).and_then(|value| {
            let mut members = value.as_object()?.iter();
            let (name, _) = members.find(|(_, value)| json_type(value) == found)?;
            Some(finding.path.clone().key(name))
        });
        let path = member.unwrap_or_else(|| finding.path.clone());
        finding.of_wrong_type(path, wanted)
    }

    /// The finding at a value that should be of a type, with the edit that mends it.
    pub(crate) fn of_wrong_type(self, path: FieldPath, wanted: &str) -> Self {
        let Some(place) = self.place.clone() else { return self };
        let mut finding = self.at(&place, path);
        other_type(&mut finding, wanted);
        finding
    }

    /// Marks the member of an object that an error is about, if the error has its key or its value:
    /// that of labels or annotations.
    pub(crate) fn mark_member(&mut self, bad: &str) {
        let Some(place) = self.place.clone() else { return };
        let span = |name: &str| Some(place.find(&self.path.clone().key(name))?.span);
        let Some(value) = value_of(self) else { return };
        let Some(members) = value.as_object() else { return };
        let mark = if members.contains_key(bad) {
            span(bad).and_then(|span| span.key)
        } else {
            let mut members = members.iter();
            let member = members.find(|(_, value)| value.as_str() == Some(bad));
            member.and_then(|(name, _)| Some(span(name)?.value))
        };
        self.span = mark.or(self.span);
    }
}

/// The fields of metadata.
const METADATA: [&[Field]; 3] =
    [ObjectMeta::FIELDS, OwnerReference::FIELDS, ManagedFieldsEntry::FIELDS];

/// Whether a field has a type of a name that is a string.
fn has_text(fields: &[Field], name: &str) -> bool {
    let is_it = |type_| matches!(type_, Type::Named(known, Type::Text) if known == name);
    fields.iter().any(|field| is_it(field.type_))
}

/// The name in schemas of a type in Go.
fn schema_name(go_type: &str) -> &'static str {
    match go_type {
        "int64" | "int32" => "integer",
        "float64" => "number",
        "bool" => "boolean",
        "string" => "string",
        name if METADATA.iter().any(|fields| has_text(fields, name)) => "string",
        list if list.starts_with("[]") => "array",
        _ => "object",
    }
}

/// The type of the value, its path from the nearest known object, and the type in Go.
fn mismatch(text: &str) -> Option<(&str, &str, &str)> {
    let (_, rest) = text.split_once("json: cannot unmarshal ")?;
    let (found, rest) = rest.split_once(" into Go struct field ")?;
    let (field, wanted) = rest.split_once(" of type ")?;
    let (_, dotted) = field.split_once('.')?;
    Some((found, dotted, wanted))
}
