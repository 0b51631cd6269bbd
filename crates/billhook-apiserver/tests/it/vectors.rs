//! Objects of the server's own kinds as a real server makes them, where the vectors are there (BK-05,
//! BK-722).

use std::path::Path;

use billhook_apiserver::Server;
use billhook_kinds::Kind;
use http::Method;
use serde_json::Value;

use crate::support::{call, text};

/// The admission plugins that the vectors were made without.
const PLUGINS: [&str; 8] = [
    "DefaultIngressClass",
    "DefaultStorageClass",
    "DefaultTolerationSeconds",
    "PersistentVolumeClaimResize",
    "Priority",
    "RuntimeClass",
    "StorageObjectInUseProtection",
    "TaintNodesByCondition",
];

/// The members that the vectors were made without, or that differ from run to run.
const OTHERS: [&str; 6] = [
    "/metadata/creationTimestamp",
    "/metadata/managedFields",
    "/metadata/resourceVersion",
    "/metadata/uid",
    "/spec/clusterIP",
    "/spec/clusterIPs",
];

fn lines(file: &str) -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/facts/kinds").join(file);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(Vector::parse).collect()
}

/// An object as all runs have it.
fn without_others(mut object: Value) -> Value {
    for place in OTHERS {
        let (parent, name) = place.rsplit_once('/').unwrap();
        object.pointer_mut(parent).and_then(Value::as_object_mut).map(|it| it.remove(name));
    }
    serde_json::from_str(&without_uids(&object.to_string())).unwrap()
}

/// A text without UIDs and without times of today.
fn without_uids(text: &str) -> String {
    let is_of_uid = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let mut out = Vec::new();
    for part in text.split('"') {
        let is_time = part.len() == 20 && part.starts_with("20") && part.ends_with('Z');
        let is_now = is_time && !part.starts_with("2024");
        out.push(match part {
            "<now>" => "<time>",
            part if part.len() == 36 && is_of_uid(part) => "<uid>",
            _ if is_now => "<time>",
            part => part,
        });
    }
    out.join("\"")
}

/// The errors of a refusal. Maps have no order.
fn errors(status: &Value) -> Vec<String> {
    let causes = status.pointer("/details/causes").and_then(Value::as_array);
    let causes = causes
        .into_iter()
        .flatten()
        .map(|cause| without_uids(&cause.to_string().replace("\\\"", "\"")));
    let mut errors: Vec<String> = causes.collect();
    errors.sort();
    errors
}

async fn answered(server: &Server, vector: &Vector, is_update: bool) -> (u16, Value) {
    let object = &vector.value["in"];
    let kind = Kind::named(&text(object, "/apiVersion"), &text(object, "/kind")).unwrap();
    let root = if kind.group.is_empty() { "/api" } else { "/apis" };
    let namespace = if kind.is_namespaced { "namespaces/ns/" } else { "" };
    let mut path = format!("{root}/{}/{namespace}{}", kind.api_version(), kind.plural);
    let method = if is_update { Method::PUT } else { Method::POST };
    if is_update {
        path = format!("{path}/{}", text(object, "/metadata/name"));
    }
    let answer = call(server, method, &path, &[], &vector.body).await;
    (answer.code, answer.json())
}

/// A vector, with its input as it is written: the first value of a wrong type is reported.
struct Vector {
    value: Value,
    body: String,
}

impl Vector {
    fn parse(line: &str) -> Self {
        let (_, input) = line.split_once("\"in\":").unwrap();
        let mut values = serde_json::Deserializer::from_str(input).into_iter::<Value>();
        values.next().unwrap().unwrap();
        let (body, _) = input.split_at(values.byte_offset());
        Vector { value: serde_json::from_str(line).unwrap(), body: body.to_owned() }
    }
}

/// Returns how an answer differs from the one of a vector.
fn difference(vector: &Value, code: u16, answer: &Value) -> Option<String> {
    let message = text(answer, "/message");
    if let Some(error) = vector["decodeError"].as_str() {
        return (!message.ends_with(error)).then(|| format!("{message}\n  not {error}"));
    }
    if let Some(status) = vector.get("status") {
        // Services are given addresses before they are validated, but not in the vectors.
        let is_other = text(vector, "/in/kind") == "Service";
        return (!is_other && errors(answer) != errors(status))
            .then(|| format!("{message}\n  not {}", text(status, "/message")));
    }
    if code >= 300 {
        return Some(message);
    }
    let (found, expected) = (without_others(answer.clone()), without_others(vector["out"].clone()));
    (vector.get("out").is_some() && found != expected).then(|| format!("{found}\n  not {expected}"))
}

#[tokio::test]
async fn objects_are_written_as_on_a_real_server() {
    let mut builder = Server::builder().any_namespace();
    for plugin in PLUGINS {
        builder = builder.without_admission_plugin(plugin);
    }
    let server = builder.build();
    let vectors = lines("strategy-vectors.jsonl");
    let number = |vector: &Vector, name: &str| vector.value[name].as_i64();
    let mut differences = Vec::new();
    for vector in &vectors {
        let server = server.fork();
        let before = number(vector, "after");
        let before = vectors.iter().find(|it| before.is_some() && number(it, "n") == before);
        if let Some(before) = before {
            answered(&server, before, false).await;
        }
        let (code, answer) = answered(&server, vector, before.is_some()).await;
        if let Some(difference) = difference(&vector.value, code, &answer) {
            differences.push(format!("{}: {difference}", vector.value["n"]));
        }
    }
    assert!(differences.is_empty(), "{}\n{}", differences.len(), differences.join("\n"));
}

/// The cells of rows.
#[test]
fn rows_are_those_of_a_real_server() {
    for Vector { value: vector, .. } in lines("table-vectors.jsonl") {
        let mut object = vector["in"].clone();
        let kind = Kind::named(&text(&object, "/apiVersion"), &text(&object, "/kind")).unwrap();
        let record = kind.record().unwrap();
        kind.behavior().read(&mut object, record, Default::default()).unwrap();
        let cells = kind.behavior().cells(&object, Default::default());
        assert_eq!(Value::from(cells), vector["cells"], "{object}");
        let conditions = kind.behavior().row_conditions(&object);
        let expected = vector.get("conditions").and_then(Value::as_array).cloned();
        assert_eq!(conditions, expected.unwrap_or_default(), "{object}");
    }
}
