//! Places in objects and in their schemas.

use billhook::{FieldPath, Segment};
use billhook_apimachinery::value::deep_clone;
use billhook_schema::SchemaView;
use serde_json::{Map, Value};

/// Returns the schema of a place; listed properties come before the schema of the others.
pub fn schema_at<'v>(schema: &'v Value, place: &FieldPath) -> Option<&'v Value> {
    SchemaView::new(schema).at(place).map(SchemaView::written)
}

/// Returns the value at a place.
pub fn find<'v>(object: &'v Value, place: &FieldPath) -> Option<&'v Value> {
    object.pointer(&place.to_json_pointer())
}

/// Returns the object with another value at a place, if what is around it is there; without a
/// value, without the member.
pub fn replaced(object: &Value, place: &FieldPath, value: Option<Value>) -> Value {
    let mut object = deep_clone(object);
    let Some(last) = place.segments().last() else { return value.unwrap_or(object) };
    let above = parent(place).map(|above| above.to_json_pointer()).unwrap_or_default();
    match (last, object.pointer_mut(&above), value) {
        (Segment::Name(name) | Segment::Key(name), Some(Value::Object(members)), Some(value)) => {
            members.insert(name.to_owned(), value);
        }
        (Segment::Name(name) | Segment::Key(name), Some(Value::Object(members)), None) => {
            members.remove(name);
        }
        (Segment::Index(index), Some(Value::Array(items)), Some(value)) => {
            match items.get_mut(index) {
                Some(item) => *item = value,
                None => items.push(value),
            }
        }
        _ => {}
    }
    object
}

/// Returns the path of what is around a field.
pub fn parent(path: &FieldPath) -> Option<FieldPath> {
    let count = path.segments().count().checked_sub(1)?;
    Some(path.segments().take(count).collect())
}

/// Sets or removes a field of the metadata, which is added if absent.
pub fn set_metadata(object: &mut Value, name: &str, value: Option<&str>) {
    let Some(members) = object.as_object_mut() else { return };
    let metadata = members.entry("metadata").or_insert(Value::Null);
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    let Some(metadata) = metadata.as_object_mut() else { return };
    match value {
        Some(value) => metadata.insert(name.to_owned(), value.into()),
        None => metadata.remove(name),
    };
}
