//! Definitions through the API (LC rules).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, text};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn definition(plural: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": "Cluster",
            "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}}}]}})
}

async fn create(server: &Server, definition: &Value) -> Answer {
    call(server, Method::POST, DEFINITIONS, &[], &definition.to_string()).await
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

/// Conditions as `type=status reason`, in order.
async fn conditions(server: &Server, name: &str) -> Vec<String> {
    let found = get(server, &format!("{DEFINITIONS}/{name}.example.com")).await.json();
    let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let shown = |condition: &Value| {
        let part = |name| text(condition, name);
        format!("{}={} {}", part("/type"), part("/status"), part("/reason"))
    };
    conditions.iter().map(shown).collect()
}

/// LC-03, LC-21, LC-62.
#[tokio::test]
async fn a_resource_is_served_when_its_definition_is_created() {
    let server = Server::builder().build();
    let created = create(&server, &definition("foos", "Foo")).await;
    assert_eq!(created.code, 201);
    let body = created.json();
    let status = json!({"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]});
    assert_eq!(body["status"], status);
    assert_eq!(body["spec"]["names"]["listKind"], "FooList");
    assert_eq!(
        conditions(&server, "foos").await,
        ["NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"],
    );
    assert_eq!(get(&server, "/apis/example.com/v1/foos").await.code, 200);
    assert_eq!(get(&server, "/apis/example.com/v2/foos").await.code, 404);
}

/// LC-32, LC-33, LC-35.
#[tokio::test]
async fn names_are_taken_until_their_definition_goes() {
    let server = Server::builder().build();
    create(&server, &definition("foos", "Foo")).await;
    create(&server, &definition("bars", "Foo")).await;
    assert_eq!(
        conditions(&server, "bars").await,
        ["NamesAccepted=False ListKindConflict", "Established=False NotAccepted"],
    );
    assert_eq!(get(&server, "/apis/example.com/v1/bars").await.code, 404);
    let path = format!("{DEFINITIONS}/foos.example.com");
    assert_eq!(call(&server, Method::DELETE, &path, &[], "").await.code, 200);
    assert_eq!(get(&server, &path).await.code, 404);
    assert_eq!(
        conditions(&server, "bars").await,
        ["NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"],
    );
}

/// LC-50, LC-53 to LC-55.
#[tokio::test]
async fn a_definition_goes_after_its_objects() {
    let server = Server::builder().build();
    create(&server, &definition("foos", "Foo")).await;
    let foos = "/apis/example.com/v1/foos";
    for (name, finalizers) in [("free", json!([])), ("held", json!(["example.com/f"]))] {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
            "metadata": {"name": name, "finalizers": finalizers}});
        assert_eq!(call(&server, Method::POST, foos, &[], &object.to_string()).await.code, 201);
    }
    let path = format!("{DEFINITIONS}/foos.example.com");
    let deleted = call(&server, Method::DELETE, &path, &[], "").await.json();
    assert_eq!(text(&deleted, "/status/conditions/2/reason"), "InstanceDeletionPending");
    assert_eq!(conditions(&server, "foos").await[2], "Terminating=True InstanceDeletionInProgress");
    assert_eq!(get(&server, &format!("{foos}/free")).await.code, 404);

    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}});
    let refused = call(&server, Method::POST, foos, &[], &object.to_string()).await;
    assert_eq!(refused.code, 403);

    let merge = [("content-type", "application/merge-patch+json")];
    let patch = r#"{"metadata": {"finalizers": null}}"#;
    let held = format!("{foos}/held");
    assert_eq!(call(&server, Method::PATCH, &held, &merge, patch).await.code, 200);
    assert_eq!(get(&server, &path).await.code, 404);
    assert_eq!(get(&server, foos).await.code, 404);
    assert_eq!(create(&server, &definition("foos", "Foo")).await.code, 201);
}

/// LC-41.
#[tokio::test]
async fn a_write_of_the_status_takes_metadata_over() {
    let server = Server::builder().build();
    create(&server, &definition("foos", "Foo")).await;
    let path = format!("{DEFINITIONS}/foos.example.com/status");
    let merge = [("content-type", "application/merge-patch+json")];
    let patch = r#"{"metadata": {"labels": {"a": "b"}}, "spec": {"scope": "Namespaced"}}"#;
    let patched = call(&server, Method::PATCH, &path, &merge, patch).await.json();
    assert_eq!(text(&patched, "/metadata/labels/a"), "b");
    assert_eq!(text(&patched, "/spec/scope"), "Cluster");
    assert_eq!(patched["metadata"]["generation"], 1);
    // CV-95.
    let patch = r#"{"status": {"acceptedNames": {"kind": "B_"}}}"#;
    let refused = call(&server, Method::PATCH, &path, &merge, patch).await;
    assert_eq!(refused.code, 422);
    assert!(refused.message().contains("status.acceptedNames.kind: Invalid value: \"B_\""));
}

/// LC-41: a status that is missing is made again, with the versions of the stored spec.
#[tokio::test]
async fn a_status_that_is_wiped_is_made_again() {
    let server = Server::builder().build();
    create(&server, &definition("foos", "Foo")).await;
    let path = format!("{DEFINITIONS}/foos.example.com");
    let mut body = get(&server, &path).await.json();
    body.as_object_mut().unwrap().remove("status");
    body["spec"] = json!({"group": "other.example.com"});
    let path = format!("{path}/status");
    let wiped = call(&server, Method::PUT, &path, &[], &body.to_string()).await.json();
    let empty = json!({
        "conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]});
    assert_eq!(wiped["status"], empty);
    let made = ["NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"];
    assert_eq!(conditions(&server, "foos").await, made);
}

/// LC-04, LC-10, LC-11: a creation fills in the defaults, ignores the status and says what it warns of.
#[tokio::test]
async fn a_creation_answers_the_whole_definition() {
    let server = Server::builder().build();
    let mut written = definition("foos", "Foo");
    written["status"] = json!({"storedVersions": ["v9"], "acceptedNames": {"kind": "X"}});
    written["spec"]["versions"][0]["schema"] = json!({"openAPIV3Schema": {"type": "object",
        "properties": {"a": {"type": "string", "format": "odd"}}}});
    let created = create(&server, &written).await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(created.warnings, ["299 - \"unrecognized format \\\"odd\\\"\""]);
    assert!(
        created.text.contains(
            "\"status\":{\"conditions\":null,\"acceptedNames\":{\"plural\":\"\",\"kind\":\"\"},\
         \"storedVersions\":[\"v1\"]}"
        ),
        "{}",
        created.text
    );
    let definition = created.json();
    assert_eq!(definition["metadata"]["generation"], 1);
    assert_eq!(definition["spec"]["conversion"], json!({"strategy": "None"}));
    assert_eq!(definition["spec"]["names"]["singular"], "foo");
    assert_eq!(definition["spec"]["names"]["listKind"], "FooList");
}

/// LC-23, LC-25, LC-61: a definition is established once, and stays so.
#[tokio::test]
async fn a_definition_stays_established() {
    let server = Server::builder().build();
    let taken = create(&server, &definition("foos", "Foo")).await;
    assert_eq!(taken.code, 201);
    let mut same = definition("bars", "Foo");
    same["spec"]["names"]["listKind"] = "BarList".into();
    assert_eq!(create(&server, &same).await.code, 201);
    let found = conditions(&server, "bars").await;
    assert_eq!(found, ["NamesAccepted=False KindConflict", "Established=False NotAccepted"]);
    let patch = json!({"spec": {"names": {"shortNames": ["bar"]}}}).to_string();
    let path = format!("{DEFINITIONS}/foos.example.com");
    let merge = [("content-type", "application/merge-patch+json")];
    assert_eq!(call(&server, Method::PATCH, &path, &merge, &patch).await.code, 200);
    let found = conditions(&server, "foos").await;
    assert_eq!(found, ["NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"]);
}

/// LC-03, RP-24.
#[tokio::test]
async fn what_a_definition_does_not_have_is_removed() {
    let server = Server::builder().build();
    let mut sent = definition("foos", "Foo");
    sent["top"] = json!(1);
    let created = call(&server, Method::POST, DEFINITIONS, &[], &sent.to_string()).await;
    assert_eq!(created.code, 201);
    assert_eq!(created.warnings, ["299 - \"unknown field \\\"top\\\"\""]);
    assert_eq!(created.json()["top"], Value::Null);

    let path = format!("{DEFINITIONS}/foos.example.com");
    let mut found = call(&server, Method::GET, &path, &[], "").await.json();
    found["status"] = json!({"conditions": [], "acceptedNames": found["spec"]["names"]});
    let status = format!("{path}/status");
    let written = call(&server, Method::PUT, &status, &[], &found.to_string()).await;
    assert_eq!((written.code, &written.json()["status"]["conditions"]), (200, &json!([])));
}

/// In a task of a runtime, too, which lets others have their turn after some steps.
#[tokio::test]
async fn a_server_is_built_with_many_definitions() {
    let builder = (0..200).try_fold(Server::builder(), |builder, number| {
        builder.definition(&definition(&format!("foo{number}s"), &format!("Foo{number}")))
    });
    let server = builder.unwrap().build();
    for number in 0..200 {
        let path = format!("/apis/example.com/v1/foo{number}s");
        assert_eq!(get(&server, &path).await.code, 200, "{number}");
    }
}

#[tokio::test]
async fn a_definition_takes_the_place_of_one_of_the_same_name() {
    let builder = Server::builder().definition(&definition("foos", "Foo")).unwrap();
    let server = builder.definition(&definition("foos", "Bar")).unwrap().build();
    let answer = call(&server, Method::GET, "/apis/example.com/v1", &[], "").await;
    assert_eq!(answer.json()["resources"][0]["kind"], "Bar");
}
