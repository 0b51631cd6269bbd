//! Checking the types in a document with the server's errors, and listing the fields that its type
//! does not know (RP-24, SS-12).

use serde_json::{Map, Value};

use super::{Record, Type};
use crate::edition::EDITIONS;
use crate::print::{compact_json, json_float, quote};
use crate::time::{MicroTime, Time};
use crate::value::{InOrder, Num, grow, in_order, in_this_order, json_type, sorted};
use crate::{FieldPath, KubernetesVersion, Location, Placed, Quantity, Segment, Span, base64};

/// How many unknown fields are listed.
const MAX_UNKNOWN_FIELDS: usize = 100;

/// A value that the type of its field does not take; prints the server's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RecordError {
    message: String,
    path: Option<Box<FieldPath>>,
    wanted: Option<&'static str>,
}

impl RecordError {
    /// Creates an error with the server's text.
    pub fn new(message: impl Into<String>) -> Self {
        RecordError { message: message.into(), path: None, wanted: None }
    }

    /// Returns the path of the value in the document, if the error is about one value.
    pub fn path(&self) -> Option<&FieldPath> {
        self.path.as_deref()
    }

    /// Returns the type that the value should have, as schemas name types, if it has another one.
    pub fn wanted(&self) -> Option<&'static str> {
        self.wanted
    }

    fn at(message: String, path: &Location<'_>) -> Self {
        RecordError { path: Some(Box::new(path.to_path())), ..RecordError::new(message) }
    }
}

/// The error about a document that is nested too deep.
pub fn too_deep() -> RecordError {
    RecordError::new("exceeded max depth".to_owned())
}

/// A document in its text.
#[derive(Clone, Copy, Debug)]
pub struct InText<'t> {
    /// The text.
    pub text: &'t [u8],
    /// The place of the document.
    pub placed: Placed<'t>,
}

/// Checks the types of a document; returns the unknown fields, as `unknown field "path"`. Of several
/// errors the first one counts: in the text if the document is known to be `in_text`, else in the
/// order of keys, as a server reads what was YAML.
pub fn check_types(
    value: &Value,
    record: &'static Record,
    kubernetes: KubernetesVersion,
    in_text: Option<InText<'_>>,
) -> Result<Vec<String>, RecordError> {
    let checker = Checker { kubernetes, ..Checker::default() };
    checker.document(value, record, in_text).result()
}

/// As [`check_types`]; also returns whether there are nulls among the elements of lists and maps.
pub(super) fn check_for_nulls(
    value: &Value,
    record: &'static Record,
    kubernetes: KubernetesVersion,
) -> Result<(Vec<String>, bool), RecordError> {
    let checker = Checker { kubernetes, ..Checker::default() }.document(value, record, None);
    let has_nulls = checker.has_nulls;
    Ok((checker.result()?, has_nulls))
}

/// Checks the types of a document that was read to a tree and is written anew, in which whole floats
/// become integers (OM-03).
pub(crate) fn check_tree(
    value: &Value,
    record: &'static Record,
) -> Result<Vec<String>, RecordError> {
    let checker = Checker { is_tree: true, ..Checker::default() };
    checker.document(value, record, None).result()
}

/// Checks the types in one field of a record in a tree.
pub(crate) fn check_field(
    record: &'static Record,
    name: &str,
    value: &Value,
) -> Result<(), RecordError> {
    let mut checker = Checker { is_tree: true, ..Checker::default() };
    checker.field(name, value, record, &At::top(None).name(name), None);
    checker.result().map(|_| ())
}

/// Returns the unknown fields of a document, whatever the types in it.
pub fn unknown_fields(value: &Value, record: &'static Record) -> Vec<FieldPath> {
    Checker::default().document(value, record, None).unknown
}

#[derive(Default)]
struct Checker {
    kubernetes: KubernetesVersion,
    /// Whether whole floats are integers.
    is_tree: bool,
    /// The first value of a wrong type.
    wrong_type: Option<RecordError>,
    /// The first error of another sort; it comes before all wrong types.
    other: Option<RecordError>,
    unknown: Vec<FieldPath>,
    /// Unknown fields inside the unions of schemas are not noticed (SS-12).
    inside_union: bool,
    /// Whether an element of a list or a map is null.
    has_nulls: bool,
}

/// The place of a value: its path and, if that is known, where it is in the text.
#[derive(Clone, Copy)]
struct At<'a> {
    path: Location<'a>,
    in_text: Option<InText<'a>>,
}

impl<'a> At<'a> {
    fn top(in_text: Option<InText<'a>>) -> Self {
        At { path: Location::TOP, in_text }
    }

    fn name<'b>(&'b self, name: &'b str) -> At<'b> {
        At { path: self.path.name(name), in_text: self.child(Segment::Name(name)) }
    }

    fn index(&self, index: usize) -> At<'_> {
        At { path: self.path.index(index), in_text: self.child(Segment::Index(index)) }
    }

    fn child(&self, segment: Segment<'_>) -> Option<InText<'a>> {
        let InText { text, placed } = self.in_text?;
        Some(InText { text, placed: placed.child(segment)? })
    }

    /// The value as it is written.
    fn written(&self) -> Option<String> {
        let InText { text, placed } = self.in_text?;
        let Span { start, end } = placed.span().value;
        Some(String::from_utf8_lossy(text.get(start..end)?).into_owned())
    }

    /// The members of an object in the order in which they count.
    fn members<'v>(&self, members: &'v Map<String, Value>) -> InOrder<'v> {
        if self.in_text.is_none() {
            return in_order(members);
        }
        let mut members = sorted(members);
        members.sort_by_key(|(name, _)| {
            self.child(Segment::Name(name)).map(|member| member.placed.span().value.start)
        });
        in_this_order(members)
    }
}

/// The fields from the top to the one that is read.
struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    record: &'static str,
    /// The Go type that declares the field, if it is embedded in that of the record.
    embedded: &'static str,
    field: &'p str,
    type_: Type,
}

/// A value that is not of the type of its field.
struct Wrong<'w> {
    /// Its own type, or the number, as the server names it.
    what: &'w str,
    type_: Type,
    go_type: &'w str,
}

impl Place<'_> {
    fn path(&self, kubernetes: KubernetesVersion) -> String {
        let edition = EDITIONS.of(kubernetes);
        let mut fields = Vec::new();
        let mut place = Some(self);
        while let Some(inner) = place {
            if edition.ends_paths_at_unions && inner.type_.has_union() {
                fields.clear();
            }
            fields.push(inner.field);
            if edition.names_embedded_types && !inner.embedded.is_empty() {
                fields.push(inner.embedded);
            }
            place = inner.parent;
        }
        fields.reverse();
        fields.join(".")
    }
}

impl Checker {
    fn document(
        mut self,
        value: &Value,
        record: &'static Record,
        in_text: Option<InText<'_>>,
    ) -> Self {
        match value {
            Value::Object(members) => self.record(members, record, &At::top(in_text), None),
            Value::Null => {}
            other => {
                let (found, Record { package, name, .. }) = (json_type(other), record);
                let text = format!(
                    "json: cannot unmarshal {found} into Go value of type {package}.{name}"
                );
                self.fail(text, &At::top(in_text));
            }
        }
        self
    }

    /// The first error, or the unknown fields.
    fn result(self) -> Result<Vec<String>, RecordError> {
        if let Some(error) = self.other.or(self.wrong_type) {
            return Err(error);
        }
        let unknown = self.unknown.iter();
        Ok(unknown.map(|path| format!("unknown field {}", quote(&path.to_dotted()))).collect())
    }

    fn wrong(&mut self, wrong: &Wrong<'_>, at: &At<'_>, place: &Place<'_>) {
        if self.wrong_type.is_none() {
            self.wrong_type = Some(self.mismatch(wrong, at, place));
        }
    }

    fn mismatch(&self, wrong: &Wrong<'_>, at: &At<'_>, place: &Place<'_>) -> RecordError {
        // Inside a union the server knows only the record around it, and that is a schema.
        let record = if self.inside_union { "JSONSchemaProps" } else { place.record };
        let (path, Wrong { what, type_, go_type }) = (place.path(self.kubernetes), wrong);
        let text = format!(
            "json: cannot unmarshal {what} into Go struct field {record}.{path} of type {go_type}"
        );
        RecordError { wanted: Some(type_.schema_name()), ..RecordError::at(text, &at.path) }
    }

    fn record(
        &mut self,
        members: &Map<String, Value>,
        record: &'static Record,
        at: &At<'_>,
        parent: Option<&Place<'_>>,
    ) {
        grow(|| {
            for (name, value) in at.members(members) {
                self.field(name, value, record, &at.name(name), parent);
            }
        });
    }

    fn field(
        &mut self,
        name: &str,
        value: &Value,
        record: &'static Record,
        at: &At<'_>,
        parent: Option<&Place<'_>>,
    ) {
        if let Some(field) = record.field(name).filter(|it| it.since <= self.kubernetes) {
            let (embedded, type_) = (field.embedded, field.type_);
            let place = Place { parent, record: record.name, embedded, field: name, type_ };
            self.value(value, field.type_, at, &place);
        } else if !self.inside_union && self.unknown.len() < MAX_UNKNOWN_FIELDS {
            self.unknown.push(at.path.to_path());
        }
    }

    fn value(&mut self, value: &Value, type_: Type, at: &At<'_>, place: &Place<'_>) {
        self.named_value(value, type_, type_.name(), at, place);
    }

    /// A value of a type that has a name of its own.
    fn named_value(
        &mut self,
        value: &Value,
        type_: Type,
        name: Option<&'static str>,
        at: &At<'_>,
        place: &Place<'_>,
    ) {
        // An item of `[]v1.Name` is a `v1.Name`.
        let name_of_items = |prefix| name.and_then(|name: &str| name.strip_prefix(prefix));
        match (type_.shape(), value) {
            (_, Value::Null)
            | (Type::Any, _)
            | (Type::Text, Value::String(_))
            | (Type::Flag | Type::RecordOrFlag(_), Value::Bool(_))
            | (Type::Float, Value::Number(_)) => {}
            (Type::Int32 | Type::Int64, Value::Number(number)) => {
                self.integer(Num::of(number), type_.shape(), at, place);
            }
            (Type::IntOrString, Value::String(_)) => {}
            (Type::IntOrString, Value::Number(number)) => {
                self.integer(Num::of(number), Type::Int32, at, place);
            }
            (Type::IntOrString, other) => {
                let what = json_type(other);
                self.wrong(&Wrong { what, type_, go_type: "int32" }, at, place);
            }
            (Type::Quantity, other) => self.quantity(other, at),
            (Type::Bytes | Type::Time | Type::MicroTime | Type::Parsed(_), Value::String(text)) => {
                self.text(text, type_.shape(), at);
            }
            (Type::Bytes, Value::Array(items)) => {
                for item in items.iter().filter(|item| !item.is_null()) {
                    self.byte(item, at, place);
                }
            }
            // A time that cannot be read ends the decoding, whatever is wrong with it (OM-05).
            (Type::Time | Type::MicroTime, other) => {
                let what = json_type(other);
                let error = self.mismatch(&Wrong { what, type_, go_type: "string" }, at, place);
                self.other.get_or_insert(error);
            }
            (Type::Record(table), Value::Object(members)) => {
                self.record(members, table(), at, Some(place));
            }
            (Type::List(type_), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.has_nulls |= item.is_null();
                    let name = type_.name().or(name_of_items("[]"));
                    self.named_value(item, *type_, name, &at.index(index), place);
                }
            }
            (Type::Map(type_), Value::Object(members)) => {
                for (name, member) in at.members(members) {
                    self.has_nulls |= member.is_null();
                    let type_name = type_.name().or(name_of_items("map[string]"));
                    self.named_value(member, *type_, type_name, &at.name(name), place);
                }
            }
            (Type::RecordOrList(_) | Type::RecordOrFlag(_) | Type::RecordOrTexts(_), _) => {
                self.either(value, type_.shape(), at, place);
            }
            (_, other) => {
                let go_type = name.map_or_else(|| type_.go_name(), str::to_owned);
                let wrong = Wrong { what: json_type(other), type_, go_type: &go_type };
                self.wrong(&wrong, at, place);
            }
        }
    }

    /// A text that stands for something else.
    fn text(&mut self, text: &str, type_: Type, at: &At<'_>) {
        let error = match type_ {
            Type::Bytes => base64::decode(text)
                .err()
                .map(|offset| format!("illegal base64 data at input byte {offset}")),
            Type::Time => Time::parse(text).err().map(|error| error.to_string()),
            Type::MicroTime => MicroTime::parse(text).err().map(|error| error.to_string()),
            Type::Parsed(parse) => parse(text).err().map(|error| error.to_string()),
            _ => None,
        };
        if let Some(error) = error {
            self.fail(error, at);
        }
    }

    /// A quantity is read from the text of its JSON, whatever that is.
    fn quantity(&mut self, value: &Value, at: &At<'_>) {
        let read = match value {
            Value::String(text) if Quantity::is_short_form(text) => return,
            Value::String(text) => text.parse::<Quantity>(),
            other => at.written().unwrap_or_else(|| compact_json(other)).parse(),
        };
        if let Err(error) = read {
            self.fail(error.to_string(), at);
        }
    }

    /// A record, or what may stand in its place.
    fn either(&mut self, value: &Value, type_: Type, at: &At<'_>, place: &Place<'_>) {
        match (type_, value) {
            (
                Type::RecordOrList(table) | Type::RecordOrFlag(table) | Type::RecordOrTexts(table),
                Value::Object(members),
            ) => self.union(|checker| checker.record(members, table(), at, Some(place))),
            (Type::RecordOrList(table), Value::Array(items)) => {
                self.union(|checker| checker.list(items, Type::Record(table), at, place));
            }
            (Type::RecordOrTexts(_), Value::Array(items)) => {
                self.union(|checker| checker.list(items, Type::Text, at, place));
            }
            (Type::RecordOrFlag(_), _) => {
                self.fail("boolean or JSON schema expected".to_owned(), at);
            }
            _ => {}
        }
    }

    fn fail(&mut self, error: String, at: &At<'_>) {
        self.other.get_or_insert_with(|| RecordError::at(error, &at.path));
    }

    /// The decoder of a union stops at the first error in it.
    fn union(&mut self, read: impl FnOnce(&mut Self)) {
        let unknown = std::mem::take(&mut self.unknown);
        let Checker { kubernetes, is_tree, .. } = *self;
        let inner = Checker { kubernetes, is_tree, unknown, inside_union: true, ..Self::default() };
        let outer = std::mem::replace(self, inner);
        read(self);
        let inner = std::mem::replace(self, outer);
        self.unknown = inner.unknown;
        self.other = self.other.take().or(inner.other).or(inner.wrong_type);
    }

    fn list(&mut self, items: &[Value], type_: Type, at: &At<'_>, place: &Place<'_>) {
        for (index, item) in items.iter().enumerate() {
            self.value(item, type_, &at.index(index), place);
        }
    }

    fn byte(&mut self, item: &Value, at: &At<'_>, place: &Place<'_>) {
        let what = match item {
            Value::Number(number) if number.as_u64().is_some_and(|byte| byte < 256) => return,
            Value::Number(number) => format!("number {number}"),
            other => json_type(other).to_owned(),
        };
        let wrong = Wrong { what: &what, type_: Type::Int32, go_type: "uint8" };
        self.wrong(&wrong, at, place);
    }

    fn integer(&mut self, number: Num, type_: Type, at: &At<'_>, place: &Place<'_>) {
        let fits = match type_ {
            Type::Int32 => number.to_i32().is_some(),
            _ => number.to_i64().is_some(),
        };
        if fits && (self.is_tree || matches!(number, Num::Int(_))) {
            return;
        }
        let written = at.written().unwrap_or_else(|| match number {
            Num::Int(int) => int.to_string(),
            // A whole float that is not shown as an integer was written as a float.
            Num::Float(float) if fits => format!("{float:?}"),
            Num::Float(float) => json_float(float),
        });
        let wrong = Wrong { what: &format!("number {written}"), type_, go_type: &type_.go_name() };
        self.wrong(&wrong, at, place);
    }
}

impl Type {
    /// The type without its name in errors.
    pub fn unnamed(self) -> Type {
        match self {
            Type::Named(_, type_) => type_.unnamed(),
            type_ => type_,
        }
    }

    /// Whether the value, or those in it, are read by a decoder of their own.
    fn has_union(self) -> bool {
        match self.shape() {
            Type::RecordOrList(_) | Type::RecordOrFlag(_) | Type::RecordOrTexts(_) => true,
            Type::List(type_) | Type::Map(type_) => type_.has_union(),
            _ => false,
        }
    }

    fn name(self) -> Option<&'static str> {
        match self {
            Type::Named(name, _) => Some(name),
            _ => None,
        }
    }

    /// The type without its name and whether it may be absent.
    fn shape(self) -> Type {
        match self {
            Type::Named(_, type_) | Type::Optional(type_) => type_.shape(),
            type_ => type_,
        }
    }

    /// The name of the type in schemas.
    fn schema_name(self) -> &'static str {
        match self.shape() {
            Type::Text | Type::Bytes | Type::Parsed(_) => "string",
            Type::Time | Type::MicroTime | Type::Quantity => "string",
            Type::Flag => "boolean",
            Type::Int32 | Type::Int64 | Type::IntOrString => "integer",
            Type::Float => "number",
            Type::List(_) => "array",
            _ => "object",
        }
    }

    fn go_name(self) -> String {
        match self {
            Type::Named(name, _) => name.to_owned(),
            Type::Optional(type_) => type_.go_name(),
            Type::Text | Type::Parsed(_) => "string".to_owned(),
            Type::Time => "v1.Time".to_owned(),
            Type::MicroTime => "v1.MicroTime".to_owned(),
            Type::Quantity => "resource.Quantity".to_owned(),
            Type::Flag => "bool".to_owned(),
            Type::Int32 | Type::IntOrString => "int32".to_owned(),
            Type::Int64 => "int64".to_owned(),
            Type::Float => "float64".to_owned(),
            Type::Bytes => "[]uint8".to_owned(),
            Type::Any => "v1.JSON".to_owned(),
            Type::List(item) => format!("[]{}", item.go_name()),
            Type::Map(member) => format!("map[string]{}", member.go_name()),
            Type::Record(table)
            | Type::RecordOrList(table)
            | Type::RecordOrFlag(table)
            | Type::RecordOrTexts(table) => format!("{}.{}", table().package, table().name),
        }
    }
}
