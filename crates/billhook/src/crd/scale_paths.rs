//! The paths that the scale subresource reads and writes in an object (RP-76, RP-77), and their
//! checks, which run on every write (RP-75).

use std::borrow::Cow;

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::print::plain_float;
use billhook_apimachinery::value::{DeepValue, Num, go_type, grow, sorted};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::{Map, Value, json};

/// The paths of the scale subresource, as they are written (RP-75).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScalePaths {
    /// The path of the desired number of replicas.
    pub spec_replicas: String,
    /// The path of the observed number of replicas.
    pub status_replicas: String,
    /// The path of the label selector; empty if absent.
    pub label_selector: String,
    /// Whether the selector is a structure, as in built-in kinds, and not a text.
    pub(crate) has_structure: bool,
}

/// A selector as a text: that of a label selector, or of labels that must be equal.
fn text_of(selector: &Value) -> Result<String, String> {
    let is_structure =
        ["matchLabels", "matchExpressions"].iter().any(|it| selector.get(it).is_some());
    let selector = match is_structure {
        true => Cow::Borrowed(selector),
        false => Cow::Owned(json!({ "matchLabels": selector })),
    };
    let selector = LabelSelector::from_value(&selector).map_err(|error| error.to_string())?;
    selector.parse().map(|selector| selector.to_string()).map_err(|error| error.to_string())
}

impl ScalePaths {
    /// Returns the desired replicas, if the object has them.
    pub(crate) fn wanted(&self, object: &Value) -> Result<Option<i64>, String> {
        lookup(object, &self.spec_replicas, "int64", int)
    }

    /// The number of existing replicas; 0 if the object does not say (RP-76).
    pub(crate) fn observed(&self, object: &Value) -> Result<i64, String> {
        Ok(lookup(object, &self.status_replicas, "int64", int)?.unwrap_or(0))
    }

    /// Returns the label selector; empty if absent.
    pub(crate) fn selector<'v>(&self, object: &'v Value) -> Result<Cow<'v, str>, String> {
        if self.label_selector.is_empty() {
            return Ok("".into());
        }
        if self.has_structure {
            let found = lookup(object, &self.label_selector, "map", Some)?;
            return found
                .map_or_else(|| Ok("".into()), |selector| text_of(selector).map(Cow::Owned));
        }
        Ok(lookup(object, &self.label_selector, "string", Value::as_str)?
            .unwrap_or_default()
            .into())
    }

    /// Returns the members on the way to the replicas that are wanted.
    pub(crate) fn to_replicas(&self) -> Vec<&str> {
        names(&self.spec_replicas)
    }

    /// Sets the replicas that are wanted.
    pub(crate) fn set_wanted(&self, object: &mut Value, replicas: i64) -> Result<(), String> {
        let names = names(&self.spec_replicas);
        let mut place = object;
        for (position, name) in names.iter().enumerate() {
            let Value::Object(members) = place else {
                let passed = names.get(..position).unwrap_or_default().join(".");
                return Err(format!(
                    "value cannot be set because .{passed} is not a map[string]interface{{}}"
                ));
            };
            place = members.entry(*name).or_insert_with(|| Value::Object(Map::new()));
        }
        drop(DeepValue::from(std::mem::replace(place, Value::from(replicas))));
        Ok(())
    }

    /// The errors at the places that the subresource reads.
    pub(crate) fn errors(&self, object: &Value, is_status_update: bool) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if !is_status_update {
            errors.extend(check_replicas(object, &self.spec_replicas));
        }
        errors.extend(check_replicas(object, &self.status_replicas));
        if !self.label_selector.is_empty()
            && let Err(error) = lookup(object, &self.label_selector, "string", Value::as_str)
        {
            errors.push(FieldError::invalid(path(&self.label_selector), "", &error));
        }
        errors
    }
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => match Num::of(number) {
            Num::Int(int) => Some(int),
            Num::Float(_) => None,
        },
        _ => None,
    }
}

fn check_replicas(object: &Value, written: &str) -> Option<FieldError> {
    let invalid =
        |value: i64, detail: &str| Some(FieldError::invalid(path(written), value, detail));
    match lookup(object, written, "int64", int) {
        Err(error) => invalid(0, &error),
        Ok(Some(replicas)) if replicas < 0 => invalid(replicas, "should be a non-negative integer"),
        Ok(Some(replicas)) if replicas > i64::from(i32::MAX) => {
            invalid(replicas, "should be less than or equal to 2147483647")
        }
        Ok(_) => None,
    }
}

/// The path as it is written, with its dot.
fn path(written: &str) -> FieldPath {
    FieldPath::default().name(written)
}

/// The fields on the way, from the top.
fn names(written: &str) -> Vec<&str> {
    written.strip_prefix('.').unwrap_or(written).split('.').collect()
}

/// Returns the value at a path, if there is one. It is an error if the value, or one on the way to
/// it, has another type.
fn lookup<'v, T>(
    object: &'v Value,
    written: &str,
    expected: &str,
    read: impl Fn(&'v Value) -> Option<T>,
) -> Result<Option<T>, String> {
    let names = names(written);
    let wrong = |count: usize, value: &Value, expected: &str| {
        let place = names.get(..count).unwrap_or_default().join(".");
        let (shown, found) = (go_text(value), go_type(value));
        format!(".{place} accessor error: {shown} is of the type {found}, expected {expected}")
    };
    let mut value = object;
    for (position, name) in names.iter().enumerate() {
        value = match value {
            Value::Object(members) => match members.get(*name) {
                Some(member) => member,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            other => return Err(wrong(position + 1, other, "map[string]interface{}")),
        };
    }
    match read(value) {
        Some(read) => Ok(Some(read)),
        None => Err(wrong(names.len(), value, expected)),
    }
}

/// A value as the server prints it in accessor errors.
pub(crate) fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match Num::of(number) {
            Num::Int(int) => int.to_string(),
            Num::Float(float) => plain_float(float),
        },
        Value::Array(items) => {
            let items: Vec<String> = grow(|| items.iter().map(go_text).collect());
            format!("[{}]", items.join(" "))
        }
        Value::Object(members) => {
            let member = |(key, member): (&String, &Value)| format!("{key}:{}", go_text(member));
            let members: Vec<String> = grow(|| sorted(members).into_iter().map(member).collect());
            format!("map[{}]", members.join(" "))
        }
    }
}
