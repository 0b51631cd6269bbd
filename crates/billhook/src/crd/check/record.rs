//! Documents of a fixed type, described by tables of their fields: reading with the server's
//! errors and the unknown fields listed, comparing, and printing in the server's internal form.

use billhook_schema::print::{compact_json, json_float, quote};
use billhook_schema::value::{Num, deep_eq, grow, json_type, sorted};
use billhook_schema::{FieldError, FieldPath, Location};
use serde_json::{Map, Value};

use crate::base64;

/// A record and its fields, in the order in which they are printed (CV-06).
pub(super) struct Record {
    pub(super) name: &'static str,
    pub(super) fields: &'static [Field],
}

/// A field: its name in documents, its name in printed values, its type.
pub(super) struct Field(pub(super) &'static str, pub(super) &'static str, pub(super) Type);

/// The type of a field. The texts are names of types in errors.
#[derive(Clone, Copy)]
pub(super) enum Type {
    /// A string that is empty when absent.
    Text(&'static str),
    OptionalText(&'static str),
    Flag,
    OptionalFlag,
    Int(&'static str),
    OptionalInt(&'static str),
    OptionalFloat,
    /// Base64 text.
    Bytes,
    Time,
    /// Any value; null is absent.
    Any,
    Anys,
    Texts(&'static str),
    TextMap,
    Record(&'static Record),
    OptionalRecord(&'static Record),
    Records(&'static Record),
    RecordMap(&'static Record, &'static str),
    /// A record, or a list of them (SS-11).
    RecordOrList(&'static Record),
    /// A record, or a yes or no (SS-11).
    RecordOrFlag(&'static Record),
    /// Members that are records or lists of texts (SS-11).
    RecordsOrTexts(&'static Record, &'static str),
}

/// How many unknown fields are listed.
const MAX_UNKNOWN_FIELDS: usize = 100;

/// Checks the types of a document; gives the unknown fields, as `unknown field "path"`.
pub(super) fn read(value: &Value, record: &'static Record) -> Result<Vec<String>, String> {
    let mut reader = Reader { saved: None, unknown: Vec::new(), inside_union: false };
    let Value::Object(members) = value else {
        let (found, name) = (json_type(value), record.name);
        return Err(format!("json: cannot unmarshal {found} into Go value of type v1.{name}"));
    };
    reader.record(members, record, &Location::TOP, None)?;
    reader.saved.map_or(Ok(reader.unknown), Err)
}

struct Reader {
    /// The first value of a wrong type. Reading goes on behind it, as an error of another sort
    /// comes before it.
    saved: Option<String>,
    unknown: Vec<String>,
    /// Unknown fields inside the unions of schemas are not noticed (SS-12).
    inside_union: bool,
}

/// The fields from the top to the one that is read.
struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    record: &'static str,
    field: &'p str,
}

impl Place<'_> {
    fn path(&self) -> String {
        let mut fields = vec![self.field];
        let mut place = self.parent;
        while let Some(outer) = place {
            fields.push(outer.field);
            place = outer.parent;
        }
        fields.reverse();
        fields.join(".")
    }
}

/// An error that ends the reading.
type Read = Result<(), String>;

impl Reader {
    fn wrong_type(&mut self, value: &Value, place: &Place<'_>, go_type: &str) {
        self.wrong(json_type(value), place, go_type);
    }

    fn wrong(&mut self, what: &str, place: &Place<'_>, go_type: &str) {
        if self.saved.is_none() {
            // Inside a union the server knows only the record around it, and that is a schema.
            let record = if self.inside_union { "JSONSchemaProps" } else { place.record };
            let path = place.path();
            self.saved = Some(format!(
                "json: cannot unmarshal {what} into Go struct field {record}.{path} of type {go_type}"
            ));
        }
    }

    fn record(
        &mut self,
        members: &Map<String, Value>,
        record: &'static Record,
        at: &Location<'_>,
        parent: Option<&Place<'_>>,
    ) -> Read {
        grow(|| {
            for (name, value) in sorted(members) {
                let at = at.name(name);
                match record.fields.iter().find(|field| field.0 == name) {
                    Some(Field(_, _, type_)) => {
                        let place = Place { parent, record: record.name, field: name };
                        self.value(value, *type_, &at, &place)?;
                    }
                    None if self.inside_union => {}
                    None if self.unknown.len() < MAX_UNKNOWN_FIELDS => {
                        let path = quote(&at.to_path().to_dotted());
                        self.unknown.push(format!("unknown field {path}"));
                    }
                    None => {}
                }
            }
            Ok(())
        })
    }

    fn value(&mut self, value: &Value, type_: Type, at: &Location<'_>, place: &Place<'_>) -> Read {
        match (type_, value) {
            (Type::RecordOrFlag(_), Value::Null) | (_, Value::Null) | (Type::Any, _) => {}
            (Type::Text(_) | Type::OptionalText(_) | Type::Time, Value::String(_))
            | (Type::Flag | Type::OptionalFlag, Value::Bool(_))
            | (Type::OptionalFloat, Value::Number(_))
            | (Type::Anys, Value::Array(_))
            | (Type::RecordOrFlag(_), Value::Bool(_)) => {}
            (Type::Int(go) | Type::OptionalInt(go), Value::Number(number)) => {
                self.integer(Num::of(number), go, place);
            }
            (Type::Bytes, Value::String(text)) => {
                if let Err(offset) = base64::decode(text) {
                    return Err(format!("illegal base64 data at input byte {offset}"));
                }
            }
            (Type::Texts(go), Value::Array(items)) => self.texts(items.iter(), go, place),
            (Type::TextMap, Value::Object(members)) => {
                self.texts(sorted(members).into_iter().map(|(_, value)| value), "string", place);
            }
            (Type::Record(record) | Type::OptionalRecord(record), value) => {
                self.one(value, record, at, place)?;
            }
            (Type::Records(record), Value::Array(items)) => self.list(items, record, at, place)?,
            (Type::RecordMap(record, _), Value::Object(members)) => {
                for (name, member) in sorted(members) {
                    self.one(member, record, &at.name(name), place)?;
                }
            }
            (Type::RecordOrList(record) | Type::RecordOrFlag(record), Value::Object(members)) => {
                self.union(|reader| reader.record(members, record, at, Some(place)))?;
            }
            (Type::RecordOrList(record), Value::Array(items)) => {
                self.union(|reader| reader.list(items, record, at, place))?;
            }
            (Type::RecordOrList(_), _) => {}
            (Type::RecordOrFlag(_), _) => return Err("boolean or JSON schema expected".to_owned()),
            (Type::RecordsOrTexts(record, _), Value::Object(members)) => {
                for (name, member) in sorted(members) {
                    let at = at.name(name);
                    match member {
                        Value::Object(members) => {
                            self.union(|reader| reader.record(members, record, &at, Some(place)))?;
                        }
                        Value::Array(items) => self.union(|reader| {
                            reader.texts(items.iter(), "string", place);
                            Ok(())
                        })?,
                        _ => {}
                    }
                }
            }
            (type_, other) => self.wrong_type(other, place, &type_.go_name()),
        }
        Ok(())
    }

    /// The decoder of a union stops at the first error in it.
    fn union(&mut self, read: impl FnOnce(&mut Self) -> Read) -> Read {
        let outside = (self.saved.take(), std::mem::replace(&mut self.inside_union, true));
        let result = read(self);
        let inside = self.saved.take();
        (self.saved, self.inside_union) = outside;
        result?;
        inside.map_or(Ok(()), Err)
    }

    fn one(
        &mut self,
        value: &Value,
        record: &'static Record,
        at: &Location<'_>,
        place: &Place<'_>,
    ) -> Read {
        match value {
            Value::Null => Ok(()),
            Value::Object(members) => self.record(members, record, at, Some(place)),
            other => {
                self.wrong_type(other, place, &format!("v1.{}", record.name));
                Ok(())
            }
        }
    }

    fn list(
        &mut self,
        items: &[Value],
        record: &'static Record,
        at: &Location<'_>,
        place: &Place<'_>,
    ) -> Read {
        for (index, item) in items.iter().enumerate() {
            self.one(item, record, &at.index(index), place)?;
        }
        Ok(())
    }

    fn texts<'v>(
        &mut self,
        items: impl Iterator<Item = &'v Value>,
        go_type: &str,
        place: &Place<'_>,
    ) {
        for item in items.filter(|item| !item.is_string() && !item.is_null()) {
            self.wrong_type(item, place, go_type);
        }
    }

    /// Whole floats are integers too (OM-03).
    fn integer(&mut self, number: Num, go_type: &str, place: &Place<'_>) {
        let (min, max) = match go_type {
            "int32" => (f64::from(i32::MIN), f64::from(i32::MAX)),
            _ => (-TWO_TO_63, TWO_TO_63.next_down()),
        };
        let (text, fits) = match number {
            Num::Int(int) if go_type == "int32" => (int.to_string(), i32::try_from(int).is_ok()),
            Num::Int(int) => (int.to_string(), true),
            Num::Float(float) => {
                let fits = float.fract() == 0.0 && (min..=max).contains(&float);
                (json_float(float), fits)
            }
        };
        if !fits {
            self.wrong(&format!("number {text}"), place, go_type);
        }
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

impl Type {
    fn go_name(self) -> String {
        match self {
            Type::Text(go) | Type::OptionalText(go) | Type::Int(go) | Type::OptionalInt(go) => {
                go.to_owned()
            }
            Type::Flag | Type::OptionalFlag => "bool".to_owned(),
            Type::OptionalFloat => "float64".to_owned(),
            Type::Bytes => "[]uint8".to_owned(),
            Type::Time | Type::Any => "string".to_owned(),
            Type::Anys => "[]v1.JSON".to_owned(),
            Type::Texts(go) => format!("[]{go}"),
            Type::TextMap => "map[string]string".to_owned(),
            Type::Records(record) => format!("[]v1.{}", record.name),
            Type::RecordMap(_, go) | Type::RecordsOrTexts(_, go) => go.to_owned(),
            Type::Record(record)
            | Type::OptionalRecord(record)
            | Type::RecordOrList(record)
            | Type::RecordOrFlag(record) => format!("v1.{}", record.name),
        }
    }
}

/// A member that is there and not null.
pub(super) fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).filter(|member| !member.is_null())
}

/// A text member; empty when absent.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    member(value, name).and_then(Value::as_str).unwrap_or_default()
}

/// A yes or no; no when absent.
pub(super) fn flag(value: &Value, name: &str) -> bool {
    member(value, name).and_then(Value::as_bool).unwrap_or_default()
}

/// The items of a list member; none when absent.
pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    member(value, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The members of a map member in the order of their keys; none when absent.
pub(super) fn map<'v>(value: &'v Value, name: &str) -> Vec<(&'v String, &'v Value)> {
    member(value, name).and_then(Value::as_object).map_or(Vec::new(), sorted)
}

/// The texts of a list member; null is an empty text.
pub(super) fn texts<'v>(value: &'v Value, name: &str) -> Vec<&'v str> {
    list(value, name).iter().map(|item| item.as_str().unwrap_or_default()).collect()
}

/// Whether a field counts as not set (CV-41).
pub(super) fn is_unset(value: Option<&Value>, type_: Type) -> bool {
    match (type_, value) {
        (_, None | Some(Value::Null)) => true,
        (Type::Text(_), Some(value)) => value.as_str() == Some(""),
        (Type::Flag, Some(value)) => value.as_bool() == Some(false),
        _ => false,
    }
}

/// Whether two documents of a type are equal: empty lists, maps and texts equal missing ones.
pub(super) fn same(left: Option<&Value>, right: Option<&Value>, type_: Type) -> bool {
    let (left, right) = (left.filter(|v| !v.is_null()), right.filter(|v| !v.is_null()));
    match type_ {
        Type::Text(_) => {
            left.and_then(Value::as_str).unwrap_or_default()
                == right.and_then(Value::as_str).unwrap_or_default()
        }
        Type::Flag => {
            left.and_then(Value::as_bool).unwrap_or_default()
                == right.and_then(Value::as_bool).unwrap_or_default()
        }
        Type::Int(_) | Type::OptionalInt(_) | Type::OptionalFloat => {
            let number = |value: Option<&Value>| value.and_then(Value::as_f64);
            let absent = matches!(type_, Type::Int(_)).then_some(0.0);
            number(left).or(absent) == number(right).or(absent)
        }
        Type::Record(record) => same_record(left, right, record),
        Type::Records(record) => {
            let items =
                |value: Option<&'_ Value>| value.and_then(Value::as_array).map_or(0, Vec::len);
            items(left) == items(right)
                && pairs(left, right)
                    .all(|(left, right)| same_record(Some(left), Some(right), record))
        }
        Type::RecordMap(record, _) => {
            same_map(left, right, |left, right| same_record(Some(left), Some(right), record))
        }
        Type::RecordsOrTexts(record, _) => same_map(left, right, |left, right| {
            same(Some(left), Some(right), Type::RecordOrList(record))
        }),
        Type::Texts(_) | Type::Anys | Type::TextMap => match (left, right) {
            (Some(left), Some(right)) => deep_eq(left, right),
            (one, other) => one.or(other).is_none_or(is_empty),
        },
        _ => match (left, right) {
            (None, None) => true,
            (Some(left @ Value::Object(_)), Some(right @ Value::Object(_))) => match type_ {
                Type::OptionalRecord(record)
                | Type::RecordOrList(record)
                | Type::RecordOrFlag(record) => same_record(Some(left), Some(right), record),
                _ => deep_eq(left, right),
            },
            (Some(left @ Value::Array(_)), Some(right @ Value::Array(_))) => match type_ {
                Type::RecordOrList(record) => same(Some(left), Some(right), Type::Records(record)),
                _ => deep_eq(left, right),
            },
            (Some(left), Some(right)) => deep_eq(left, right),
            _ => false,
        },
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn pairs<'v>(
    left: Option<&'v Value>,
    right: Option<&'v Value>,
) -> impl Iterator<Item = (&'v Value, &'v Value)> {
    let items = |value: Option<&'v Value>| value.and_then(Value::as_array).into_iter().flatten();
    items(left).zip(items(right))
}

fn same_record(left: Option<&Value>, right: Option<&Value>, record: &'static Record) -> bool {
    grow(|| {
        record.fields.iter().all(|Field(name, _, type_)| {
            same(left.and_then(|v| v.get(name)), right.and_then(|v| v.get(name)), *type_)
        })
    })
}

fn same_map(
    left: Option<&Value>,
    right: Option<&Value>,
    same: impl Fn(&Value, &Value) -> bool,
) -> bool {
    let empty = Map::new();
    let left = left.and_then(Value::as_object).unwrap_or(&empty);
    let right = right.and_then(Value::as_object).unwrap_or(&empty);
    left.len() == right.len()
        && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| same(left, right)))
}

/// An error about a value that is printed in the server's internal form (CV-06).
pub(super) fn invalid(path: FieldPath, shown: String, detail: &str) -> FieldError {
    let value = billhook_decode::read_json_to_depth(shown.as_bytes(), usize::MAX);
    let value = value.map(|document| document.into_value().into_inner()).unwrap_or_default();
    FieldError::invalid(path, value, detail).show_value_as(shown)
}

/// A value in the server's internal form: all fields of records, with their internal names
/// (CV-06).
pub(super) fn show(value: Option<&Value>, type_: Type) -> String {
    let mut out = String::new();
    write(value, type_, &mut out);
    out
}

fn write(value: Option<&Value>, type_: Type, out: &mut String) {
    let value = value.filter(|value| !value.is_null());
    match (type_, value) {
        (Type::Text(_), None) => out.push_str("\"\""),
        (Type::Flag, None) => out.push_str("false"),
        (Type::Int(_), None) => out.push('0'),
        (Type::Record(record), None) => write_record(None, record, out),
        (_, None) => out.push_str("null"),
        (Type::Record(record) | Type::OptionalRecord(record), value) => {
            write_record(value, record, out);
        }
        (Type::Records(record), Some(Value::Array(items))) => write_records(items, record, out),
        (Type::RecordMap(record, _), Some(Value::Object(members))) => {
            write_members(members, out, |member, out| write_record(Some(member), record, out));
        }
        (Type::RecordOrList(record), Some(value)) => match value {
            Value::Array(items) => {
                out.push_str("{\"Schema\":null,\"JSONSchemas\":");
                write_records(items, record, out);
                out.push('}');
            }
            value => {
                let schema = Some(value).filter(|value| value.is_object());
                out.push_str("{\"Schema\":");
                write(schema, Type::OptionalRecord(record), out);
                out.push_str(",\"JSONSchemas\":null}");
            }
        },
        (Type::RecordOrFlag(record), Some(value)) => {
            let allows = value.as_bool().unwrap_or(true);
            out.push_str(&format!("{{\"Allows\":{allows},\"Schema\":"));
            let schema = Some(value).filter(|value| value.is_object());
            write(schema, Type::OptionalRecord(record), out);
            out.push('}');
        }
        (Type::RecordsOrTexts(record, _), Some(Value::Object(members))) => {
            write_members(members, out, |member, out| {
                out.push_str("{\"Schema\":");
                let schema = Some(member).filter(|member| member.is_object());
                write(schema, Type::OptionalRecord(record), out);
                out.push_str(",\"Property\":");
                let property =
                    member.as_array().map_or("null".to_owned(), |_| compact_json(member));
                out.push_str(&property);
                out.push('}');
            });
        }
        (_, Some(value)) => out.push_str(&compact_json(value)),
    }
}

fn write_record(value: Option<&Value>, record: &'static Record, out: &mut String) {
    grow(|| {
        for (index, Field(name, shown, type_)) in record.fields.iter().enumerate() {
            out.push_str(if index == 0 { "{\"" } else { ",\"" });
            out.push_str(shown);
            out.push_str("\":");
            write(value.and_then(|value| value.get(name)), *type_, out);
        }
        out.push_str(if record.fields.is_empty() { "{}" } else { "}" });
    });
}

fn write_records(items: &[Value], record: &'static Record, out: &mut String) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        write_record(Some(item), record, out);
    }
    out.push(']');
}

fn write_members(
    members: &Map<String, Value>,
    out: &mut String,
    write: impl Fn(&Value, &mut String),
) {
    out.push('{');
    for (index, (name, member)) in sorted(members).into_iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        out.push_str(&compact_json(&Value::from(name.as_str())));
        out.push(':');
        write(member, out);
    }
    out.push('}');
}
