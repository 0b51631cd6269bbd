//! JSON patches with the semantics of the server's library (DI-30): RFC 6902 with negative array
//! indices, `replace` of absent members, absent equal to null, and its error texts.

use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::value::{DeepValue, Num, deep_clone, deep_eq, depth, grow, json_type};
use billhook_decode::{MAX_DEPTH, read_json};
use serde_json::Value;

use super::error::PatchError;
use super::limits::Work;
use super::pointer::{Place, find, find_mut};

/// A list of JSON patch operations, read but not yet checked: as on a server, an operation is
/// looked at when its turn comes (DI-26, DI-30).
///
/// ```
/// use billhook::JsonPatch;
/// use serde_json::json;
///
/// let patch = JsonPatch::from_slice(br#"[{"op": "add", "path": "/list/-1", "value": 3}]"#)?;
/// assert_eq!(*patch.apply(&json!({"list": [1, 2]}))?, json!({"list": [1, 2, 3]}));
///
/// let patch = JsonPatch::from_slice(br#"[{"op": "add", "path": "/a/b", "value": 3}]"#)?;
/// let error = patch.apply(&json!({})).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     r#"add operation does not apply: doc is missing path: "/a/b": missing value"#,
/// );
/// # Ok::<(), billhook::PatchError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonPatch {
    operations: Vec<DeepValue>,
    /// A number in them that no object can have: what they make cannot be read (DI-31).
    out_of_range: Option<PatchError>,
}

impl JsonPatch {
    /// Reads a list of operations; `null` is the empty list (DI-26).
    pub fn from_slice(text: &[u8]) -> Result<Self, PatchError> {
        let (mut value, out_of_range) = match read_json(text) {
            Ok(document) => (document.into_value(), None),
            Err(error) => match error.partial() {
                Some(value) => (deep_clone(value).into(), Some(PatchError::new(error.to_string()))),
                None => return Err(PatchError::new(error.to_string())),
            },
        };
        let unfit = |found: &Value, target: &str| {
            let found = json_type(found);
            PatchError::new(format!(
                "json: cannot unmarshal {found} into Go value of type jsonpatch.{target}"
            ))
        };
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
            None => Ok(JsonPatch { operations, out_of_range }),
        }
    }

    /// Returns a patch of operations as values.
    pub fn from_operations(operations: impl IntoIterator<Item = DeepValue>) -> Self {
        JsonPatch { operations: operations.into_iter().collect(), out_of_range: None }
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
    ///
    /// Time and memory are bounded: besides what may be copied, the items are counted that lists
    /// move to make room, and 2^28 of them are the limit of this implementation.
    pub fn apply(&self, document: &Value) -> Result<DeepValue, PatchError> {
        let mut document = DeepValue::from(encoded(document));
        let mut work = Work::default();
        for operation in &self.operations {
            apply_one(&mut document, &Operation(operation), &mut work)?;
        }
        if depth(&document) > MAX_DEPTH {
            return Err(PatchError::too_deep());
        }
        match &self.out_of_range {
            None => Ok(document),
            Some(error) => Err(error.clone()),
        }
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
        Value::Number(number) => {
            Num::of(number).to_i64().map_or_else(|| value.clone(), Value::from)
        }
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

    /// The value to write; null if absent.
    fn value(&self) -> &'p Value {
        self.0.get("value").unwrap_or(&Value::Null)
    }
}

fn apply_one(
    document: &mut DeepValue,
    operation: &Operation<'_>,
    work: &mut Work,
) -> Result<(), PatchError> {
    match operation.kind() {
        "add" => add(document, operation, work),
        "remove" => remove(document, operation, work),
        "replace" => replace(document, operation),
        "move" => move_value(document, operation, work),
        "copy" => copy(document, operation, work),
        "test" => test(document, operation),
        other => Err(PatchError::new(format!("Unexpected kind: {other}"))),
    }
}

fn add(document: &mut Value, operation: &Operation<'_>, work: &mut Work) -> Result<(), PatchError> {
    let path = operation.pointer("path")?;
    let place = find_mut(document, path).ok_or_else(|| {
        PatchError::missing(&format!(
            "add operation does not apply: doc is missing path: \"{path}\""
        ))
    })?;
    place
        .add(deep_clone(operation.value()), work)
        .map_err(|error| error.within(&format!("error in add for path: '{path}'")))
}

fn remove(
    document: &mut Value,
    operation: &Operation<'_>,
    work: &mut Work,
) -> Result<(), PatchError> {
    let path = operation.pointer("path")?;
    let place = find_mut(document, path).ok_or_else(|| {
        PatchError::missing(&format!(
            "remove operation does not apply: doc is missing path: \"{path}\""
        ))
    })?;
    let removed = place.remove(work);
    removed.map(drop).map_err(|error| error.within(&format!("error in remove for path: '{path}'")))
}

fn replace(document: &mut DeepValue, operation: &Operation<'_>) -> Result<(), PatchError> {
    let path = operation.pointer("path")?;
    let value = operation.value();
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            // The server prints the error it does not have.
            let text = "replace operation value must be object or array: %!w(<nil>)";
            return Err(PatchError::new(text.to_owned()));
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

fn move_value(
    document: &mut Value,
    operation: &Operation<'_>,
    work: &mut Work,
) -> Result<(), PatchError> {
    let from = operation.pointer("from")?;
    let source = find_mut(document, from).ok_or_else(|| {
        PatchError::missing(&format!(
            "move operation does not apply: doc is missing from path: {from}"
        ))
    })?;
    let within = format!("error in move for path: '{}'", source.key());
    let moved = source.remove(work).map_err(|error| error.within(&within))?;
    let path = operation.pointer("path")?;
    let target = find_mut(document, path).ok_or_else(|| {
        PatchError::missing(&format!(
            "move operation does not apply: doc is missing destination path: {path}"
        ))
    })?;
    target
        .add(moved.into_inner(), work)
        .map_err(|error| error.within(&format!("error in move for path: '{path}'")))
}

fn copy(
    document: &mut Value,
    operation: &Operation<'_>,
    work: &mut Work,
) -> Result<(), PatchError> {
    let missing = |what: &str, path: &str| {
        let text = format!("copy operation does not apply: doc is missing {what} path: {path}");
        PatchError::missing(&text)
    };
    let from = operation.pointer("from")?;
    let source = find(document, from).ok_or_else(|| missing("from", from))?;
    let value =
        source.get().map_err(|error| error.within(&format!("error in copy for from: '{from}'")))?;
    let value = value.unwrap_or(&Value::Null);
    // Each copy could otherwise be twice as deep as the one before.
    if depth(value) > MAX_DEPTH {
        return Err(PatchError::too_deep());
    }
    let value = DeepValue::from(deep_clone(value));
    let path = operation.pointer("path")?;
    let target = find_mut(document, path).ok_or_else(|| missing("destination", path))?;
    work.copy(compact_json(&value).len())?;
    target
        .add(value.into_inner(), work)
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
        Some(expected) if deep_eq(found, expected) => Ok(()),
        _ => Err(PatchError::test_failed(path)),
    }
}
