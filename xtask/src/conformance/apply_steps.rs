//! Sequences of requests on one object: applies and updates, with the fields that their managers
//! own afterwards.

use billhook::{CrdOptions, CustomResourceDefinition, Status};
use billhook_admission::{
    Admission, Chain, MemoryCluster, ObjectRequest, ServerFields, StoredObject, Subresource,
    Unreachable,
};
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::{DeepValue, deep_clone, with_depth};
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::input::{Given, Run, object, ok};
use crate::fuzz::same;

const NAME: &str = "obj";
const NAMESPACE: &str = "default";
/// The fields that the vectors leave out.
const LEFT_OUT: [&str; 3] = ["uid", "resourceVersion", "creationTimestamp"];

/// The object of a sequence, and what the requests so far were answered.
struct Sequence<'s> {
    admission: Admission,
    version: &'s str,
    stored: Bytes,
    revision: u64,
    answers: Vec<Option<DeepValue>>,
}

pub(super) fn run(input: Given<'_>) -> Run {
    let mut options = CrdOptions::default();
    options.kubernetes = input.kubernetes;
    let crd = input.input.get("crd").unwrap_or(&Value::Null);
    let crd = CustomResourceDefinition::with_options(crd, &options).map_err(|e| e.to_string())?;
    let admission = Admission::new(crd, Chain::new(Unreachable))
        .server_fields(|| ServerFields::new("a-uid", "2026-01-01T00:00:00Z", "x"));
    let version = text(input.input, "version");
    let (stored, answers) = Default::default();
    let mut sequence = Sequence { admission, version, stored, revision: 1, answers };
    let steps = input.input.get("steps").and_then(Value::as_array);
    let steps = steps.into_iter().flatten().map(|step| sequence.step(step));
    let steps = Value::Array(steps.collect());
    Ok(ok(object([("steps", steps)])))
}

impl Sequence<'_> {
    fn step(&mut self, step: &Value) -> Value {
        let outcome = self.admission.admit_blocking(&self.request(step), &MemoryCluster::new());
        let (answer, shown) = match outcome.result {
            Ok(accepted) => {
                if !accepted.unchanged {
                    self.revision += 1;
                    self.stored = accepted.stored.clone().unwrap_or_default();
                }
                let returned = accepted.into_returned().unwrap_or_default();
                let shown = object([("object", comparable(&returned))]);
                (Some(returned), shown)
            }
            Err(status) => (None, object([("status", shown_status(&status))])),
        };
        self.answers.push(answer);
        shown
    }

    fn request(&self, step: &Value) -> ObjectRequest {
        let version = match text(step, "version") {
            "" => self.version,
            version => version,
        };
        let (manager, subresource) = (text(step, "manager"), text(step, "subresource"));
        let body = self.body(step);
        let request = match text(step, "op") {
            "apply" => ObjectRequest::apply(version, &body, &[], manager)
                .force(step.get("force") == Some(&Value::Bool(true))),
            _ if self.stored.is_empty() && subresource.is_empty() => {
                ObjectRequest::create(version, &body).field_manager(manager)
            }
            _ => ObjectRequest::replace(version, &body, &[]).field_manager(manager),
        };
        let stored =
            StoredObject::new(self.stored.clone()).resource_version(self.revision.to_string());
        let request = request.stored(stored).name(NAME).namespace(NAMESPACE);
        if subresource.is_empty() { request } else { request.subresource(Subresource::Status) }
    }

    fn body(&self, step: &Value) -> Vec<u8> {
        let mut body = DeepValue::from(step.get("object").map_or(Value::Null, deep_clone));
        let carried = step.get("carry").and_then(Value::as_u64).and_then(|carry| {
            let answer = self.answers.get(usize::try_from(carry).ok()?)?.as_deref()?;
            answer.pointer("/metadata/managedFields").map(deep_clone)
        });
        if text(step, "op") == "update"
            && let Some(Value::Object(metadata)) = body.get_mut("metadata")
        {
            if !self.stored.is_empty() {
                metadata.insert("resourceVersion".into(), self.revision.to_string().into());
            }
            metadata.extend(carried.map(|carried| ("managedFields".to_owned(), carried)));
        }
        // Whole floats keep their fraction (SA-11).
        with_depth(&body, || serde_json::to_vec(&*body)).unwrap_or_default()
    }
}

/// An answer as the vectors show it.
fn comparable(answer: &Value) -> Value {
    let mut answer = deep_clone(answer);
    if let Some(Value::Object(metadata)) = answer.get_mut("metadata") {
        LEFT_OUT.iter().for_each(|name| drop(metadata.remove(*name)));
        if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
            for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                entry.remove("time");
            }
            let part = |entry: &Value, name: &str| text(entry, name).to_owned();
            entries.sort_by_key(|entry| {
                ["operation", "manager", "apiVersion", "subresource"].map(|name| part(entry, name))
            });
        }
    }
    answer
}

fn shown_status(status: &Status) -> Value {
    let mut lines: Vec<&str> = status.message.split('\n').collect();
    lines.sort_unstable();
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let mut causes: Vec<_> = causes
        .map(|cause| [&cause.field, &cause.message, &cause.reason].map(String::as_str))
        .collect();
    causes.sort_unstable();
    let causes = causes.iter().map(|[field, message, reason]| {
        let parts = [("field", field), ("message", message), ("reason", reason)];
        let present = parts.into_iter().filter(|(_, text)| !text.is_empty());
        Value::Object(
            present
                .map(|(name, text)| (name.to_owned(), Value::from(*text)))
                .collect::<Map<_, _>>(),
        )
    });
    json!({
        "code": status.code,
        "reason": status.reason,
        "message": status.message,
        "lines": lines,
        "causes": causes.collect::<Vec<_>>(),
    })
}

/// The first step that was not answered as by the server, as both answered it. What a vector does
/// not say about a status is random.
pub(super) fn difference(expect: &Value, actual: &Value) -> Option<(Value, Value)> {
    let steps = |value: &Value| {
        let steps = value.get("steps").and_then(Value::as_array);
        steps.map_or(Vec::new(), |steps| steps.iter().map(deep_clone).collect())
    };
    let (expected, mut actual) = (steps(expect), steps(actual));
    actual.resize(expected.len(), Value::Null);
    let mut pairs = expected.into_iter().zip(actual);
    pairs.find(|(expected, actual)| match (expected.get("status"), actual.get("status")) {
        (Some(Value::Object(expected)), Some(actual)) => {
            let known = |(name, value)| actual.get(name).is_some_and(|own| same(value, own));
            !expected.iter().all(known)
        }
        _ => !same(expected, actual),
    })
}
