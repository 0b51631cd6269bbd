//! Nulls in lists and maps, which stand for empty values (OM-03).

use serde_json::{Map, Value};

use super::{Record, Type};
use crate::value::grow;

/// Puts the empty value of their type in the place of nulls that are elements of lists or members of
/// maps, as a server does that reads a document into its type. A null field is absent, and stays.
pub fn fill_nulls(document: &mut Value, record: &'static Record) {
    let Value::Object(members) = document else { return };
    grow(|| {
        for (name, value) in members {
            if let Some(field) = record.field(name) {
                fill_below(value, field.type_);
            }
        }
    });
}

/// Fills what is below a value.
fn fill_below(value: &mut Value, type_: Type) {
    match (type_.unnamed(), value) {
        (Type::Optional(type_), value) => fill_below(value, *type_),
        (Type::Record(table), value) => fill_nulls(value, table()),
        (Type::List(type_), Value::Array(items)) => {
            grow(|| items.iter_mut().for_each(|item| fill(item, *type_)));
        }
        (Type::Map(type_), Value::Object(members)) => {
            grow(|| members.values_mut().for_each(|member| fill(member, *type_)));
        }
        _ => {}
    }
}

fn fill(value: &mut Value, type_: Type) {
    if value.is_null() {
        *value = empty(type_);
    }
    fill_below(value, type_);
}

/// The empty value of a type; null if that is one.
fn empty(type_: Type) -> Value {
    match type_.unnamed() {
        Type::Text | Type::Bytes | Type::Parsed(_) => Value::from(""),
        Type::Flag => Value::from(false),
        Type::Int32 | Type::Int64 | Type::Float => Value::from(0),
        Type::Record(_) => Value::Object(Map::new()),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metadata::ObjectMeta;
    use crate::record::{FieldValue as _, TypedRecord as _};

    /// OM-03, as reading the type and writing it again does it.
    #[test]
    fn nulls_are_those_of_the_type() {
        let metadata = json!({
            "name": null, "labels": {"a": null, "b": "1"}, "annotations": null,
            "finalizers": ["f", null],
            "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u",
                "controller": null}],
        });
        let mut filled = metadata.clone();
        fill_nulls(&mut filled, ObjectMeta::record());
        assert_eq!(filled["labels"], json!({"a": "", "b": "1"}));
        assert_eq!(filled["finalizers"], json!(["f", ""]));
        assert_eq!(filled["name"], Value::Null);
        let written = |value: &Value| ObjectMeta::of(value).to_document();
        assert_eq!(written(&filled), written(&metadata));
    }
}
