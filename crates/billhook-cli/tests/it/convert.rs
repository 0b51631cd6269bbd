//! `billhook convert`.

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::server::{Handled, Received, Reply, Server};
use crate::support::{cases, run, snapshot};

cases! {
    help_convert: "convert --help";
    convert_by_name: "convert --crd fixtures/crds --to v1beta1 -"
        < ["apiVersion: platform.example.com/v1\nkind: Stack\nmetadata: {name: a, namespace: b}\nspec: {replicas: 2, unknown: 1}\n"];
    convert_to_nowhere: "convert --crd fixtures/crds --to v9 fixtures/objects/stack-clean.json";
    convert_round_trip: "convert --round-trip --crd -" < [&renamed("None")];
    convert_round_trip_of_one_version: "convert --round-trip --crd fixtures/crds/backups.data.example.com.yaml";
    convert_round_trip_of_objects: "convert --round-trip --crd fixtures/crds fixtures/objects/stack-clean.json";
    convert_round_trip_unreachable: "convert --round-trip --crd - --url https://127.0.0.1:1/convert" < [&definition()];
    convert_plain_http: "convert --crd - --to v2 --url http://localhost:1/c fixtures/objects/backup-clean.json"
        < [&definition()];
    convert_unreachable: "convert --crd - --to v2 --url https://127.0.0.1:1/convert fixtures/objects/backup-clean.json"
        < [&definition()];
}

/// A definition whose objects a webhook converts.
pub(crate) fn definition() -> String {
    let version = |name: &str, field: &str| {
        json!({"name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {field: {"type": "string"}}}}}}})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "backups.data.example.com"},
        "spec": {"group": "data.example.com", "scope": "Namespaced",
            "names": {"plural": "backups", "kind": "Backup"},
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": {"service": {"namespace": "shop", "name": "hook", "path": "/c"}},
                "conversionReviewVersions": ["v1"]}},
            "versions": [version("v1", "schedule"), version("v2", "when")]},
    })
    .to_string()
}

/// Renames `spec.schedule` to `spec.when`.
pub(crate) fn answer(received: Received) -> Handled {
    let mut review: Value = serde_json::from_slice(&received.body).unwrap();
    let request = review["request"].take();
    let convert = |object: &Value| {
        let mut object = object.clone();
        object["apiVersion"] = request["desiredAPIVersion"].clone();
        object["spec"] = json!({"when": object["spec"]["schedule"], "unknown": 1});
        object
    };
    let objects: Value = request["objects"].as_array().unwrap().iter().map(convert).collect();
    review["response"] = json!({"uid": request["uid"], "convertedObjects": objects,
        "result": {"status": "Success"}});
    Box::pin(async move { Some(Reply::new(200, Vec::new(), review.to_string())) })
}

/// The webhook of the definition, or one elsewhere.
#[test]
fn convert_by_webhook() {
    let runtime = Runtime::new().unwrap();
    let start = Server::start("127.0.0.1:0", &["localhost", "hook.shop.svc"], answer);
    let server = runtime.block_on(start).unwrap();
    let file = std::env::temp_dir().join(format!("billhook-convert-{}.pem", std::process::id()));
    std::fs::write(&file, &server.authority().ca_bundle).unwrap();
    let (bundle, port) = (file.display(), server.address().port());
    for at in [
        format!("--resolve hook.shop=127.0.0.1:{port}"),
        format!("--url https://localhost:{port}/c"),
    ] {
        let arguments = format!(
            "convert --crd - --to v2 --ca-bundle {bundle} {at} fixtures/objects/backup-clean.json"
        );
        let shown = run(&arguments, &definition());
        let (_, shown) = shown.split_once('\n').unwrap();
        snapshot!("convert_by_webhook", shown);
    }
    std::fs::remove_file(&file).unwrap();
}

/// A definition of two versions, of which each has a field that the other one does not have, and one
/// that rules out another.
fn renamed(strategy: &str) -> String {
    let text = json!({"type": "string", "minLength": 1});
    let version = |name: &str, own: &str| {
        let spec = json!({
            "type": "object",
            "properties": {
                "keep": {"type": "integer", "default": 3, "maximum": 20},
                "suspended": {"type": "boolean"},
                "note": text, "now": {"type": "boolean"}, own: text,
                "steps": {"type": "array", "items": {"type": "object", "properties": {
                    "run": text, "never": {"type": "string", "enum": ["x"]}}}},
            },
            "x-kubernetes-validations": [
                {"rule": "!has(self.now) || !has(self.suspended)"},
                {"rule": "!has(self.steps) || self.steps.all(s, !has(s.never))"},
            ],
        });
        json!({"name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}})
    };
    let mut definition: Value = serde_json::from_str(&definition()).unwrap();
    definition["spec"]["versions"] = json!([version("v1", "schedule"), version("v2", "when")]);
    if strategy == "None" {
        definition["spec"]["conversion"] = json!({"strategy": "None"});
    }
    definition.to_string()
}

/// Renames the field in both directions, and loses notes on the way.
fn forgetful(received: Received) -> Handled {
    let mut review: Value = serde_json::from_slice(&received.body).unwrap();
    let request = review["request"].take();
    let convert = |object: &Value| {
        let mut object = object.clone();
        object["apiVersion"] = request["desiredAPIVersion"].clone();
        let Some(spec) = object["spec"].as_object_mut() else { return object };
        let schedule = spec.remove("schedule");
        let when = spec.remove("when");
        spec.remove("note");
        spec.extend(schedule.map(|value| ("when".to_owned(), value)));
        spec.extend(when.map(|value| ("schedule".to_owned(), value)));
        object
    };
    let objects: Value = request["objects"].as_array().unwrap().iter().map(convert).collect();
    review["response"] = json!({"uid": request["uid"], "convertedObjects": objects,
        "result": {"status": "Success"}});
    Box::pin(async move { Some(Reply::new(200, Vec::new(), review.to_string())) })
}

/// A webhook that loses a field.
#[test]
fn convert_round_trip_by_webhook() {
    let runtime = Runtime::new().unwrap();
    let start = Server::start("127.0.0.1:0", &["localhost"], forgetful);
    let server = runtime.block_on(start).unwrap();
    let name = format!("billhook-round-trip-{}.pem", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, &server.authority().ca_bundle).unwrap();
    let (bundle, port) = (file.display(), server.address().port());
    let arguments = format!(
        "convert --round-trip --crd - --ca-bundle {bundle} --url https://localhost:{port}/c"
    );
    let shown = run(&arguments, &renamed("Webhook"));
    let (_, shown) = shown.split_once('\n').unwrap();
    snapshot!("convert_round_trip_by_webhook", shown);
    std::fs::remove_file(&file).unwrap();
}
