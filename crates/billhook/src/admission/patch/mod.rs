//! JSON patches with the semantics of the server's library (DI-30): RFC 6902 with negative array
//! indices, `replace` of absent members, absent equal to null, and its error texts.

mod pointer;

use billhook_decode::{MAX_DEPTH, read_json};
use billhook_schema::value::{DeepValue, Num, deep_clone, depth, grow, json_type};
use serde_json::Value;

use pointer::{Place, find, find_mut};

/// The bytes that all `copy` operations of one patch may create (DI-30).
const MAX_COPIED: usize = 3 * 1024 * 1024;

/// A patch that cannot be read or applied. Prints as the server's library prints it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatchError(String);

impl PatchError {
    fn missing(text: &str) -> Self {
        PatchError(format!("{text}: missing value"))
    }

    fn test_failed(path: &str) -> Self {
        PatchError(format!("testing value {path} failed: test failed"))
    }

    fn within(self, text: &str) -> Self {
        PatchError(format!("{text}: {}", self.0))
    }
}

/// A list of JSON patch operations, read but not yet checked: as on a server, an operation is
/// looked at when its turn comes (DI-26, DI-30).
///
/// ```
/// use billhook::admission::JsonPatch;
/// use serde_json::json;
///
/// let patch = JsonPatch::from_slice(br#"[{"op": "add", "path": "/list/-1", "value": 3}]"#)?;
/// assert_eq!(patch.apply(&json!({"list": [1, 2]}))?, json!({"list": [1, 2, 3]}));
///
/// let patch = JsonPatch::from_slice(br#"[{"op": "add", "path": "/a/b", "value": 3}]"#)?;
/// let error = patch.apply(&json!({})).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"add operation does not apply: doc is missing path: "/a/b": missing value"#,
/// );
/// # Ok::<(), billhook::admission::PatchError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonPatch {
    operations: Vec<DeepValue>,
}

impl JsonPatch {
    /// Reads a list of operations; `null` is the empty list (DI-26).
    pub fn from_slice(text: &[u8]) -> Result<Self, PatchError> {
        let document = read_json(text).map_err(|error| PatchError(error.to_string()))?;
        let unfit = |found: &Value, target: &str| {
            let found = json_type(found);
            PatchError(format!(
                "json: cannot unmarshal {found} into Go value of type jsonpatch.{target}"
            ))
        };
        let mut value = document.into_value();
        let mut operations = Vec::new();
        match &mut *value {
            Value::Null => {}
            Value::Array(items) => {
                operations.extend(items.drain(..).map(DeepValue::from));
            }
            other => return Err(unfit(other, "Patch")),
        }
        let is_unfit = |operation: &&DeepValue| !operation.is_object() && !operation.is_null();
        match operations.iter().find(is_unfit) {
            Some(operation) => Err(unfit(operation, "Operation")),
            None => Ok(JsonPatch { operations }),
        }
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The operations as they were written.
    pub fn operations(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.operations.iter().map(|operation| &**operation)
    }

    /// Applies all operations in order to a copy of a document (DI-29, DI-30): all or nothing.
    ///
    /// The document is taken as its JSON text, in which whole floats have no fraction.
    pub fn apply(&self, document: &Value) -> Result<Value, PatchError> {
        let mut document = DeepValue::from(encoded(document));
        let mut copied = 0;
        for operation in &self.operations {
            apply_one(&mut document, &Operation(operation), &mut copied)?;
        }
        if depth(&document) > MAX_DEPTH {
            return Err(PatchError("exceeded max depth".to_owned()));
        }
        Ok(document.into_inner())
    }
}

/// A copy of a value as it reads after it was written as JSON text.
fn encoded(value: &Value) -> Value {
    match value {
        Value::Array(items) => grow(|| Value::Array(items.iter().map(encoded).collect())),
        Value::Object(members) => grow(|| {
            let copy = members.iter().map(|(key, member)| (key.clone(), encoded(member)));
            Value::Object(copy.collect())
        }),
        Value::Number(number) => match Num::of(number) {
            Num::Float(float) if float.fract() == 0.0 && float.abs() < 9e18 => {
                Value::from(float as i64)
            }
            _ => value.clone(),
        },
        scalar => scalar.clone(),
    }
}

/// One operation. Members other than those asked for are ignored.
struct Operation<'p>(&'p Value);

impl<'p> Operation<'p> {
    fn kind(&self) -> &'p str {
        self.text("op").unwrap_or("unknown")
    }

    /// A member that every operation of this kind must have.
    fn pointer(&self, name: &str) -> Result<&'p str, PatchError> {
        let missing = || format!("{} operation failed to decode {name}", self.kind());
        self.text(name).ok_or_else(|| PatchError::missing(&missing()))
    }

    fn text(&self, name: &str) -> Option<&'p str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// The value to write; null if there is none.
    fn value(&self) -> &'p Value {
        self.0.get("value").unwrap_or(&Value::Null)
    }
}

fn apply_one(
    document: &mut DeepValue,
    operation: &Operation<'_>,
    copied: &mut usize,
) -> Result<(), PatchError> {
    match operation.kind() {
        "add" => add(document, operation),
        "remove" => remove(document, operation),
        "replace" => replace(document, operation),
        "move" => move_value(document, operation),
        "copy" => copy(document, operation, copied),
        "test" => test(document, operation),
        other => Err(PatchError(format!("Unexpected kind: {other}"))),
    }
}

fn add(document: &mut Value, operation: &Operation<'_>) -> Result<(), PatchError> {
    let path = operation.pointer("path")?;
    let place = find_mut(document, path).ok_or_else(|| {
        PatchError::missing(&format!(
            "add operation does not apply: doc is missing path: \"{path}\""
        ))
    })?;
    place
        .add(deep_clone(operation.value()))
        .map_err(|error| error.within(&format!("error in add for path: '{path}'")))
}

fn remove(document: &mut Value, operation: &Operation<'_>) -> Result<(), PatchError> {
    let path = operation.pointer("path")?;
    let place = find_mut(document, path).ok_or_else(|| {
        PatchError::missing(&format!(
            "remove operation does not apply: doc is missing path: \"{path}\""
        ))
    })?;
    let removed = place.remove();
    removed.map(drop).map_err(|error| error.within(&format!("error in remove for path: '{path}'")))
}

fn replace(document: &mut DeepValue, operation: &Operation<'_>) -> Result<(), PatchError> {
    let path = operation.pointer("path")?;
    let value = operation.value();
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            let text = "replace operation value must be object or array";
            return Err(PatchError(text.to_owned()));
        }
        *document = DeepValue::from(deep_clone(value));
        return Ok(());
    }
    let does_not_apply = |what: &str| {
        let text = format!("replace operation does not apply: doc is missing {what}: {path}");
        PatchError::missing(&text)
    };
    let place = find_mut(document, path).ok_or_else(|| does_not_apply("path"))?;
    // An absent member of an object is set like one that is there.
    place.replace(deep_clone(value)).map_err(|_| does_not_apply("key"))
}

fn move_value(document: &mut Value, operation: &Operation<'_>) -> Result<(), PatchError> {
    let from = operation.pointer("from")?;
    let source = find_mut(document, from).ok_or_else(|| {
        PatchError::missing(&format!(
            "move operation does not apply: doc is missing from path: {from}"
        ))
    })?;
    let within = format!("error in move for path: '{}'", source.key());
    let moved = source.remove().map_err(|error| error.within(&within))?;
    let path = operation.pointer("path")?;
    let target = find_mut(document, path).ok_or_else(|| {
        PatchError::missing(&format!(
            "move operation does not apply: doc is missing destination path: {path}"
        ))
    })?;
    target
        .add(moved.into_inner())
        .map_err(|error| error.within(&format!("error in move for path: '{path}'")))
}

fn copy(
    document: &mut Value,
    operation: &Operation<'_>,
    copied: &mut usize,
) -> Result<(), PatchError> {
    let missing = |what: &str, path: &str| {
        let text = format!("copy operation does not apply: doc is missing {what} path: {path}");
        PatchError::missing(&text)
    };
    let from = operation.pointer("from")?;
    let source = find(document, from).ok_or_else(|| missing("from", from))?;
    let value =
        source.get().map_err(|error| error.within(&format!("error in copy for from: '{from}'")))?;
    let value = DeepValue::from(value.map_or(Value::Null, deep_clone));
    let path = operation.pointer("path")?;
    let target = find_mut(document, path).ok_or_else(|| missing("destination", path))?;
    *copied += billhook_schema::print::compact_json(&value).len();
    if *copied > MAX_COPIED {
        return Err(PatchError(format!(
            "the copy operations of the patch create {copied} bytes, more than {MAX_COPIED}"
        )));
    }
    target
        .add(value.into_inner())
        .map_err(|error| error.within("error while adding value during copy"))
}

fn test(document: &Value, operation: &Operation<'_>) -> Result<(), PatchError> {
    let path = operation.pointer("path")?;
    let found = if path.is_empty() {
        document
    } else {
        let place: Place<'_, &Value> = find(document, path).ok_or_else(|| {
            PatchError::missing(&format!("test operation does not apply: is missing path: {path}"))
        })?;
        let found = place
            .get()
            .map_err(|error| error.within(&format!("error in test for path: '{path}'")))?;
        // An absent member equals null.
        found.unwrap_or(&Value::Null)
    };
    let expected = operation.0.get("value");
    match expected {
        Some(expected) if billhook_schema::value::deep_eq(found, expected) => Ok(()),
        _ => Err(PatchError::test_failed(path)),
    }
}
