//! Reading a document of a fixed type with the server's errors, and with the fields listed that
//! it does not know (RP-24, SS-12).

use crate::Location;
use crate::print::{json_float, quote};
use crate::value::{Num, grow, json_type, sorted};
use serde_json::{Map, Value};

use super::{Field, Record, Type};
use crate::base64;

/// How many unknown fields are listed.
const MAX_UNKNOWN_FIELDS: usize = 100;

/// Checks the types of a document; gives the unknown fields, as `unknown field "path"`.
pub fn read(value: &Value, record: &'static Record) -> Result<Vec<String>, String> {
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
            (_, Value::Null) | (Type::Any, _) => {}
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
