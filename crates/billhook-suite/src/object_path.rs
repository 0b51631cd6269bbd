//! Paths that people write: `spec.items[0].name`, or a JSON pointer.

use billhook::{DeepValue, FieldPath};
use billhook_apimachinery::value::deep_clone;
use serde_json::{Map, Value};

/// The path of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Name(String),
    Index(usize),
    /// A name, or an index of a list.
    Either(String),
}

impl ObjectPath {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(pointer) = text.strip_prefix('/') {
            let step = |step: &str| Step::Either(step.replace("~1", "/").replace("~0", "~"));
            return Ok(ObjectPath(pointer.split('/').map(step).collect()));
        }
        let mut steps = Vec::new();
        for part in text.split('.') {
            let mut pieces = part.split('[');
            let name = pieces.next().unwrap_or_default();
            let malformed =
                || format!("`{text}` is not a path such as `spec.items[0].name` or a JSON pointer");
            if name.is_empty() {
                return Err(malformed());
            }
            steps.push(Step::Name(name.to_owned()));
            for piece in pieces {
                let index = piece.strip_suffix(']').and_then(|index| index.parse().ok());
                steps.push(Step::Index(index.ok_or_else(malformed)?));
            }
        }
        Ok(ObjectPath(steps))
    }

    /// Returns the path of the field below another one.
    pub(crate) fn below(&self, top: FieldPath) -> FieldPath {
        self.0.iter().fold(top, |path, step| match step {
            Step::Name(name) | Step::Either(name) => path.name(name),
            Step::Index(index) => path.index(*index),
        })
    }

    /// Returns the object with another value at the path; objects around it are made if they are
    /// not there.
    pub(crate) fn set(&self, object: &Value, value: &Value) -> Result<DeepValue, String> {
        let mut whole = DeepValue::from(deep_clone(object));
        let mut place: &mut Value = &mut whole;
        for step in &self.0 {
            if place.is_null() && !matches!(step, Step::Index(_)) {
                *place = Value::Object(Map::new());
            }
            place = match (step, place) {
                (Step::Name(name) | Step::Either(name), Value::Object(members)) => {
                    members.entry(name.as_str()).or_insert(Value::Null)
                }
                (Step::Index(index), Value::Array(items)) => item(items, *index)?,
                (Step::Either(name), Value::Array(items)) => {
                    let index = name.parse().map_err(|_| format!("`{name}` is not an index"))?;
                    item(items, index)?
                }
                (Step::Index(index), _) => return Err(format!("`[{index}]` is not in a list")),
                (Step::Name(name) | Step::Either(name), _) => {
                    return Err(format!("`{name}` is not in an object"));
                }
            };
        }
        *place = deep_clone(value);
        Ok(whole)
    }
}

/// An item, or the place after the last one.
fn item(items: &mut Vec<Value>, index: usize) -> Result<&mut Value, String> {
    if index == items.len() {
        items.push(Value::Null);
    }
    let length = items.len();
    items.get_mut(index).ok_or_else(|| format!("the list has {length} items, no `[{index}]`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths() {
        let object = json!({"spec": {"items": [{"name": "a"}]}, "a.b": 1});
        let set = |path: &str| {
            let path = ObjectPath::parse(path)?;
            path.set(&object, &json!(7)).map(|changed| billhook::to_json(&changed))
        };
        for (path, changed) in [
            ("spec.items[0].name", r#"{"a.b":1,"spec":{"items":[{"name":7}]}}"#),
            ("spec.items[1]", r#"{"a.b":1,"spec":{"items":[{"name":"a"},7]}}"#),
            ("/spec/items/0/x~1y", r#"{"a.b":1,"spec":{"items":[{"name":"a","x/y":7}]}}"#),
            ("/a.b", r#"{"a.b":7,"spec":{"items":[{"name":"a"}]}}"#),
            ("status.count", r#"{"a.b":1,"spec":{"items":[{"name":"a"}]},"status":{"count":7}}"#),
        ] {
            assert_eq!(set(path).as_deref(), Ok(changed), "{path}");
        }
        for (path, error) in [
            ("spec.items[3]", "the list has 1 items, no `[3]`"),
            ("spec[0]", "`[0]` is not in a list"),
            ("/spec/items/x", "`x` is not an index"),
            ("spec.items[0].name.x", "`x` is not in an object"),
        ] {
            assert_eq!(set(path), Err(error.to_owned()), "{path}");
        }
        for path in ["", "a..b", "a[x]", "a[0", "[0]"] {
            assert!(set(path).is_err_and(|error| error.contains("is not a path")), "{path}");
        }
    }
}
