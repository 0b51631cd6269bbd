//! Documents in the form in which servers print their types (BK-02, BK-04).

use serde_json::{Map, Value};

use super::check::check_for_nulls;
use super::{Field, Record, RecordError, Type, fill_nulls};
use crate::base64;
use crate::time::{MicroTime, Time};
use crate::value::{Num, dismantle, grow};
use crate::{KubernetesVersion, Quantity};

/// Brings a document whose types have been checked into the form in which a server prints it: empty
/// fields have their default, are left out, or are there with the empty value of their type if they
/// are required; quantities and times have their canonical form. Fields that the record does not have
/// are removed.
///
/// ```
/// use billhook_apimachinery::record::{Field, Record, Type, complete};
/// static FIELDS: [Field; 3] = [
///     Field::new("image", Type::Text),
///     Field::new("memory", Type::Quantity),
///     Field::new("ports", Type::List(&Type::Int32)).required(),
/// ];
/// static CONTAINER: Record = Record::new("Container", &FIELDS);
/// let mut container = serde_json::json!({"image": "", "memory": "1024Mi", "size": 1});
/// complete(&mut container, &CONTAINER, Default::default());
/// assert_eq!(container, serde_json::json!({"memory": "1Gi", "ports": null}));
/// ```
pub fn complete(document: &mut Value, record: &'static Record, kubernetes: KubernetesVersion) {
    if let Value::Object(members) = document {
        complete_members(members, record, Form { kubernetes, keeps_empty: false });
    }
}

/// Decodes a document as a type: checks its values, removes unknown fields, and brings it into the
/// form of [`complete`], but keeps required lists and maps that are there and empty: a client owns
/// them, and only storage forgets them (BK-04). Returns the unknown fields as field validation
/// reports them.
///
/// # Errors
///
/// If a value is not of the type of its field.
pub fn decode(
    document: &mut Value,
    record: &'static Record,
    kubernetes: KubernetesVersion,
) -> Result<Vec<String>, RecordError> {
    let (unknown, has_nulls) = check_for_nulls(document, record, kubernetes)?;
    if has_nulls {
        fill_nulls(document, record);
    }
    if let Value::Object(members) = document {
        complete_members(members, record, Form { kubernetes, keeps_empty: true });
    }
    Ok(unknown)
}

/// The form that documents are brought into.
#[derive(Clone, Copy)]
struct Form {
    kubernetes: KubernetesVersion,
    keeps_empty: bool,
}

impl Form {
    fn has(self, field: &Field) -> bool {
        field.since <= self.kubernetes
    }
}

fn complete_members(members: &mut Map<String, Value>, record: &'static Record, form: Form) {
    let mut loses_some = false;
    for (name, value) in members.iter_mut() {
        let field = record.field(name).filter(|field| form.has(field));
        if !field.is_some_and(|field| !value.is_null() && complete_field(value, field, form)) {
            dismantle(value.take());
            loses_some = true;
        }
    }
    if loses_some {
        members.retain(|_, value| !value.is_null());
    }
    let missing = |field: &&Field| field.is_required || !field.default.is_empty();
    for field in record.fields.iter().filter(missing).filter(|field| form.has(field)) {
        if !members.contains_key(field.name)
            && let Some(value) = value_if_absent(field, form)
        {
            members.insert(field.name.to_owned(), value);
        }
    }
}

/// Completes the value of a field; returns whether the field keeps it.
fn complete_field(value: &mut Value, field: &Field, form: Form) -> bool {
    let is_kept = complete_value(value, field.type_, form);
    is_kept || form.keeps_empty && field.is_required && is_empty_collection(value)
}

/// The value of a field that is absent or empty, if it is there all the same.
fn value_if_absent(field: &Field, form: Form) -> Option<Value> {
    default(field).or_else(|| field.is_required.then(|| empty(field.type_, form)))
}

fn is_empty_collection(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// The default of a field, unless it is left out with that value, too.
fn default(field: &Field) -> Option<Value> {
    if field.default.is_empty() {
        return None;
    }
    let default: Value = serde_json::from_str(field.default).ok()?;
    let is_empty = match &default {
        Value::String(text) => text.is_empty(),
        Value::Number(number) => Num::of(number) == Num::Int(0),
        Value::Bool(flag) => !flag,
        _ => false,
    };
    let is_left_out = is_empty && !matches!(field.type_.unnamed(), Type::Optional(_));
    (!is_left_out).then_some(default)
}

/// Completes a value that is there; returns whether the field that holds it is not empty.
fn complete_value(value: &mut Value, type_: Type, form: Form) -> bool {
    match (type_.unnamed(), value) {
        (Type::Optional(type_), value) => {
            complete_value(value, *type_, form);
            true
        }
        (Type::Text | Type::Bytes, Value::String(text)) => {
            if matches!(type_.unnamed(), Type::Bytes) {
                complete_bytes(text);
            }
            !text.is_empty()
        }
        (Type::Bytes, bytes @ Value::Array(_)) => {
            let items = bytes.as_array().into_iter().flatten();
            // Null is the zero byte.
            let byte = |item: &Value| item.as_u64().and_then(|byte| u8::try_from(byte).ok());
            let read: Vec<u8> = items.map(|item| byte(item).unwrap_or_default()).collect();
            dismantle(std::mem::replace(bytes, base64::encode(&read).into()));
            !read.is_empty()
        }
        (Type::Flag, Value::Bool(flag)) => *flag,
        (Type::Int32 | Type::Int64 | Type::Float | Type::IntOrString, Value::Number(number)) => {
            let number = Num::of(number);
            number != Num::Int(0) || matches!(type_.unnamed(), Type::IntOrString)
        }
        (Type::Time, Value::String(text)) => {
            let time = Time::parse(text).unwrap_or_default();
            *text = time.to_rfc3339();
            !time.is_zero()
        }
        (Type::MicroTime, Value::String(text)) => {
            let time = MicroTime::parse(text).unwrap_or_default();
            *text = time.to_rfc3339();
            time != MicroTime::default()
        }
        (Type::Quantity, value) => {
            complete_quantity(value);
            true
        }
        (Type::Record(table), Value::Object(members)) => {
            grow(|| complete_members(members, table(), form));
            true
        }
        (Type::List(type_), Value::Array(items)) => {
            grow(|| items.iter_mut().for_each(|item| complete_item(item, *type_, form)));
            !items.is_empty()
        }
        (Type::Map(type_), Value::Object(members)) => {
            grow(|| members.values_mut().for_each(|item| complete_item(item, *type_, form)));
            !members.is_empty()
        }
        _ => true,
    }
}

/// An element has the empty value of its type in place of null.
fn complete_item(item: &mut Value, type_: Type, form: Form) {
    if item.is_null() {
        *item = match type_.unnamed() {
            // An empty text is there.
            Type::Bytes => Value::from(""),
            type_ => empty(type_, form),
        };
    } else if !complete_value(item, type_, form)
        && matches!(type_.unnamed(), Type::Time | Type::MicroTime)
    {
        // The zero time is printed as none.
        *item = Value::Null;
    }
}

/// Line breaks are no part of the base64 that is printed (BK-24).
fn complete_bytes(text: &mut String) {
    if text.contains(['\r', '\n']) {
        *text = base64::encode(&base64::decode(text).unwrap_or_default());
    }
}

fn complete_quantity(value: &mut Value) {
    let quantity = match value {
        Value::String(text) if Quantity::is_short_form(text) => return,
        Value::String(text) => text.parse::<Quantity>(),
        Value::Number(number) => number.to_string().parse(),
        _ => return,
    };
    if let Ok(quantity) = quantity {
        *value = quantity.to_string().into();
    }
}

/// The empty value of a required field.
fn empty(type_: Type, form: Form) -> Value {
    match type_.unnamed() {
        Type::Text | Type::Parsed(_) => "".into(),
        Type::Flag => false.into(),
        Type::Int32 | Type::Int64 | Type::Float | Type::IntOrString => 0.into(),
        Type::Quantity => "0".into(),
        Type::Record(table) => {
            let mut members = Map::new();
            grow(|| complete_members(&mut members, table(), form));
            Value::Object(members)
        }
        _ => Value::Null,
    }
}
