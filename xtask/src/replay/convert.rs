//! The answers of conversion webhooks of scenarios.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::pointer::text;

/// A good answer to a conversion review, and where it deviates.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Convert {
    edit: Vec<Edit>,
    drop: usize,
    again: usize,
    objects: Option<Vec<Value>>,
    #[serde(deserialize_with = "present")]
    uid: Option<Value>,
    #[serde(deserialize_with = "present")]
    result: Option<Value>,
    omit: Vec<String>,
    #[serde(deserialize_with = "present")]
    api_version: Option<Value>,
    #[serde(deserialize_with = "present")]
    kind: Option<Value>,
    no_response: bool,
}

/// A change of every converted object.
#[derive(Clone, Debug, Deserialize)]
struct Edit {
    at: Vec<String>,
    #[serde(default)]
    value: Value,
    #[serde(default)]
    remove: bool,
}

/// A member that is there, null included.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Convert {
    /// The answer to a review.
    pub(super) fn review(&self, review: &Value) -> Value {
        let own = |given: &Option<Value>, name: &str| {
            given.clone().unwrap_or_else(|| review.get(name).cloned().unwrap_or_default())
        };
        let mut answer = Map::new();
        for (name, value) in [
            ("apiVersion", own(&self.api_version, "apiVersion")),
            ("kind", own(&self.kind, "kind")),
        ] {
            if !value.is_null() {
                answer.insert(name.to_owned(), value);
            }
        }
        if !self.no_response {
            answer.insert("response".to_owned(), self.response(review));
        }
        Value::Object(answer)
    }

    fn response(&self, review: &Value) -> Value {
        let uid = self.uid.clone().unwrap_or_else(|| text(review, "/request/uid").into());
        let result = self.result.clone().unwrap_or_else(|| json!({"status": "Success"}));
        let mut response = Map::new();
        for (name, value) in [
            ("uid", uid),
            ("result", result),
            ("convertedObjects", Value::Array(self.objects(review))),
        ] {
            if !self.omit.iter().any(|omitted| omitted == name) {
                response.insert(name.to_owned(), value);
            }
        }
        Value::Object(response)
    }

    fn objects(&self, review: &Value) -> Vec<Value> {
        if let Some(objects) = &self.objects {
            return objects.clone();
        }
        let to = text(review, "/request/desiredAPIVersion");
        let sent = review.pointer("/request/objects").and_then(Value::as_array);
        let sent = sent.map_or(&[][..], Vec::as_slice);
        let mut objects: Vec<Value> = sent.iter().map(|object| self.object(object, to)).collect();
        let again: Vec<Value> = objects.iter().cycle().take(self.again).cloned().collect();
        objects.extend(again);
        objects.truncate(objects.len().saturating_sub(self.drop));
        objects
    }

    fn object(&self, object: &Value, to: &str) -> Value {
        let field = |api_version: &str| {
            let digit = api_version.chars().rfind(char::is_ascii_digit);
            format!("f{}", digit.unwrap_or_default())
        };
        let mut converted = object.clone();
        let before = field(text(object, "/apiVersion"));
        if let Some(Value::Object(spec)) = converted.get_mut("spec")
            && let Some(value) = spec.remove(&before)
        {
            spec.insert(field(to), value);
        }
        if let Value::Object(members) = &mut converted {
            members.insert("apiVersion".to_owned(), to.into());
        }
        self.edit.iter().for_each(|edit| edit.make(&mut converted));
        converted
    }
}

impl Edit {
    fn make(&self, object: &mut Value) {
        let Some((last, parents)) = self.at.split_last() else { return };
        let mut place = object;
        for name in parents {
            if !place.is_object() {
                return;
            }
            place = &mut place[name.as_str()];
            if place.is_null() {
                *place = json!({});
            }
        }
        match place {
            Value::Object(members) if self.remove => {
                members.remove(last);
            }
            Value::Object(members) => {
                members.insert(last.clone(), self.value.clone());
            }
            _ => {}
        }
    }
}
