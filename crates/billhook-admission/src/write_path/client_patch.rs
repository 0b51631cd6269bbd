//! Patches that clients send: what they make of the stored object is decoded like any other body
//! (RP-30 to RP-32, AR-33).

use billhook::{FieldValidation, scale};
use billhook_apimachinery::Status;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::{Record, patched_json};
use billhook_apimachinery::value::{DeepValue, deep_clone, depth, grow, json_type};
use billhook_apimachinery::{FieldError, FieldPath, strict_decoding_error};
use billhook_decode::{Document, MAX_DEPTH, read_json};
use serde_json::{Map, Value};

use super::request::{ObjectRequest, UpdateForm};
use super::strategy::Strategy;
use super::{strategic_patch, strategic_types};
use crate::patch::JsonPatch;
use crate::trace::{FieldDifference, differences};

/// The operations that a JSON patch may have (RP-32).
const MAX_OPERATIONS: usize = 10_000;

/// How many unknown and duplicate fields of a patch are reported, as of other documents (RP-20).
const MAX_ENTRIES: usize = 100;

/// The server's library on a merge patch that is neither an object nor a list (RE-82).
const INVALID_PATCH: &str = "Invalid JSON Patch";

/// The record of objects of which nothing is known.
static NO_FIELDS: Record = Record::new("", &[]);

/// The members of an operation of a JSON patch.
const OPERATION_FIELDS: [&str; 4] = ["op", "path", "from", "value"];

/// An object after a patch.
pub(crate) struct Patched<'p> {
    /// The object that takes the place of the patch.
    pub(crate) object: DeepValue,
    /// The unknown and duplicate fields of the patch itself (RP-31).
    pub(crate) entries: Vec<String>,
    /// The changes it makes, if a trace is wanted.
    pub(crate) changes: Vec<FieldDifference>,
    /// The object before the patch, if it is of a type that is known.
    before: Option<(&'p Value, &'static Record)>,
    /// A strategic merge patch, which errors show in place of the object.
    strategic: Option<&'p [u8]>,
}

/// Applies the patch of a request to the object as it is stored, in the version of the request.
/// None if the body is not a patch.
pub(crate) fn apply<'p>(
    request: &'p ObjectRequest,
    strategy: Option<&dyn Strategy>,
    current: &'p Value,
) -> Option<Result<Patched<'p>, Status>> {
    let patched = match request.form {
        UpdateForm::JsonPatch => apply_json_patch(request, current),
        UpdateForm::MergePatch => apply_merge_patch(request, current, |target, patch| {
            merge(target, patch);
            Ok(())
        }),
        UpdateForm::StrategicMergePatch => apply_merge_patch(request, current, |target, patch| {
            strategic_patch::check(patch).map_err(Status::bad_request)?;
            let record = strategy.map_or(&NO_FIELDS, Strategy::record);
            let applied = strategic_patch::merge(target, patch, record);
            applied.map_err(|error| Status::failure(500, "", error))
        }),
        UpdateForm::Applied | UpdateForm::Replacement | UpdateForm::ServerSideApply => return None,
    };
    Some(patched.map(|(object, entries)| {
        let is_traced = request.options.trace;
        let changes = if is_traced { differences(current, &object) } else { Vec::new() };
        let record = if scale::is_scale(current) {
            Some(scale::record())
        } else {
            strategy.map(Strategy::record)
        };
        let before = record.map(|record| (current, record));
        let is_strategic = request.form == UpdateForm::StrategicMergePatch;
        let strategic = is_strategic.then_some(&request.body[..]);
        Patched { object, entries, changes, before, strategic }
    }))
}

impl Patched<'_> {
    /// The text of the object.
    pub(crate) fn body(&self) -> String {
        match &self.before {
            Some((before, record)) => patched_json(&self.object, before, record),
            None => billhook::to_json(&self.object),
        }
    }

    /// Field validation of a patch: an error that is about the patched object, and says so.
    pub(crate) fn check_strict(
        &self,
        request: &ObjectRequest,
        found: &[String],
    ) -> Result<(), Status> {
        let mut entries = self.entries.iter().chain(found).map(String::as_str).peekable();
        if request.field_validation != FieldValidation::Strict || entries.peek().is_none() {
            return Ok(());
        }
        Err(self.refused(&strict_decoding_error(entries)))
    }

    /// The patched object cannot be decoded (RP-31).
    pub(crate) fn undecodable(&self, error: &str) -> Status {
        let record = self.before.as_ref().map(|(_, record)| *record);
        match record.filter(|_| self.strategic.is_some()) {
            Some(record) => match strategic_types::mismatch(&self.object, record) {
                Some(mismatch) => self.refused(&mismatch),
                None => self.refused(error),
            },
            None => self.refused(error),
        }
    }

    fn refused(&self, error: &str) -> Status {
        let path = FieldPath::default().name("patch");
        let shown = match self.strategic.map(read_json) {
            Some(Ok(patch)) => strategic_patch::go_text(patch.value()),
            Some(Err(_)) => String::new(),
            None => self.body(),
        };
        let error = FieldError::invalid(path, shown, error);
        Status::invalid("", "", "", &[error])
    }
}

type Applied = Result<(DeepValue, Vec<String>), Status>;

fn apply_json_patch(request: &ObjectRequest, current: &Value) -> Applied {
    let patch = JsonPatch::from_slice(&request.body).map_err(|error| {
        let error = error.to_string();
        match request.field_validation {
            FieldValidation::Ignore => unreadable(request, &error),
            // Field validation reads operations as a type of its own.
            _ => unreadable(request, &error.replace("jsonpatch.Patch", "[]handlers.jsonPatchOp")),
        }
    })?;
    if request.field_validation != FieldValidation::Ignore {
        check_operations(request, &patch)?;
    }
    let count = patch.operations().len();
    if count > MAX_OPERATIONS {
        let message = format!(
            "Request entity too large: The allowed maximum operations in a JSON patch is \
             {MAX_OPERATIONS}, got {count}"
        );
        return Err(Status::failure(413, "RequestEntityTooLarge", message));
    }
    let mut entries = Vec::new();
    if request.field_validation != FieldValidation::Ignore {
        let document = read_json(&request.body);
        entries.extend(document.iter().flat_map(|it| duplicates(it, "json patch ")));
        for (index, operation) in patch.operations().enumerate() {
            let members = operation.as_object().into_iter().flat_map(Map::keys);
            let unknown = members.filter(|name| !OPERATION_FIELDS.contains(&name.as_str()));
            entries.extend(unknown.take(MAX_ENTRIES).map(|name| {
                let path = FieldPath::default().index(index).name(name).to_dotted();
                format!("json patch unknown field {}", quote(&path))
            }));
            if entries.len() > MAX_ENTRIES {
                break;
            }
        }
        entries.truncate(MAX_ENTRIES);
    }
    let patched = patch.apply(current).map_err(|_| Status::unprocessable())?;
    Ok((patched, entries))
}

/// Field validation reads operations as a type of its own, whose texts are texts.
fn check_operations(request: &ObjectRequest, patch: &JsonPatch) -> Result<(), Status> {
    for operation in patch.operations() {
        for name in ["op", "path", "from"] {
            let Some(value) = operation.get(name) else { continue };
            if !value.is_string() && !value.is_null() {
                let found = json_type(value);
                return Err(unreadable(
                    request,
                    &format!(
                        "json: cannot unmarshal {found} into Go struct field jsonPatchOp.{name} of \
                         type string"
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn apply_merge_patch(
    request: &ObjectRequest,
    current: &Value,
    merge: impl FnOnce(&mut Value, &Map<String, Value>) -> Result<(), Status>,
) -> Applied {
    let is_checked = request.field_validation != FieldValidation::Ignore;
    let document = read_json(&request.body).map_err(|error| match is_checked {
        true => unreadable(request, &error.to_string()),
        false => Status::bad_request(INVALID_PATCH),
    })?;
    let entries = if is_checked { duplicates(&document, "") } else { Vec::new() };
    let patch = document.into_value();
    let mut merged = DeepValue::from(deep_clone(current));
    match &*patch {
        Value::Object(members) => merge(&mut merged, members)?,
        Value::Null => return Err(Status::bad_request(INVALID_PATCH)),
        Value::Array(_) if !is_checked => return Ok((patch, Vec::new())),
        _ if !is_checked => return Err(Status::bad_request(INVALID_PATCH)),
        other => {
            let found = json_type(other);
            let error = format!(
                "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
            );
            return Err(unreadable(request, &error));
        }
    }
    if depth(&merged) > MAX_DEPTH {
        return Err(Status::unprocessable());
    }
    Ok((merged, entries))
}

/// 400: the body is not a patch.
fn unreadable(request: &ObjectRequest, error: &str) -> Status {
    let is_checked = request.field_validation != FieldValidation::Ignore;
    match is_checked && request.form != UpdateForm::StrategicMergePatch {
        true => Status::bad_request(format!("error decoding patch: {error}")),
        false => Status::bad_request(error),
    }
}

fn duplicates(document: &Document, prefix: &str) -> Vec<String> {
    let duplicate = |path: &String| format!("{prefix}duplicate field {}", quote(path));
    document.duplicates().iter().map(duplicate).collect()
}

/// Merges members into a value: null takes a member away, objects are merged, anything else takes
/// the place of what is there.
fn merge(target: &mut Value, patch: &Map<String, Value>) {
    if !target.is_object() {
        drop(DeepValue::from(std::mem::replace(target, Value::Object(Map::new()))));
    }
    let Value::Object(members) = target else { return };
    for (name, value) in patch {
        match value {
            Value::Null => {
                members.remove(name).map(DeepValue::from);
            }
            Value::Object(patch) => {
                let member = members.entry(name.as_str()).or_insert(Value::Null);
                grow(|| merge(member, patch));
            }
            other => {
                members.insert(name.clone(), deep_clone(other)).map(DeepValue::from);
            }
        }
    }
}
