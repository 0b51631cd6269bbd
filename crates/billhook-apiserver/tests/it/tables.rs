//! Tables and metadata, by plain requests (DT-60 to DT-75, WA-50, WA-51).

use billhook::Time;
use billhook_admission::ServerFields;
use billhook_apiserver::Server;
use http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower_service::Service as _;

use crate::support::{Answer, call, definition};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

/// A server with one object, created at eleven; it is twelve.
async fn server(columns: &Value) -> Server {
    let mut definition = definition();
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = columns.clone();
    let server = Server::builder()
        .definition(&definition)
        .unwrap()
        .server_fields(|| ServerFields::new("u", "2026-11-22T11:00:00Z", "xxxxx"))
        .clock(|| Time::parse("2026-11-22T12:00:00Z").unwrap())
        .build();
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "a"}, "spec": {"a": 1}});
    assert_eq!(call(&server, Method::POST, FOOS, &[], &object.to_string()).await.code, 201);
    server
}

async fn get(server: &Server, path: &str, accept: &str) -> Answer {
    call(server, Method::GET, &format!("{FOOS}{path}"), &[("accept", accept)], "").await
}

/// D04.
#[tokio::test]
async fn a_list_is_a_table() {
    let columns = json!([
        {"name": "Color", "type": "string", "jsonPath": ".spec.color"},
        {"name": "A", "type": "integer", "jsonPath": ".spec.a", "priority": 1},
    ]);
    let server = server(&columns).await;
    insta::assert_snapshot!(get(&server, "", TABLE).await.text);
    let none = get(&server, "/a?includeObject=None", TABLE).await.json();
    assert_eq!(none["rows"], json!([{"cells": ["a", null, 1], "object": null}]));
    let object = get(&server, "?includeObject=Object", TABLE).await.json();
    assert_eq!(object["rows"][0]["object"]["spec"], json!({"a": 1}));
    let wrong = get(&server, "/a?includeObject=X", TABLE).await;
    assert_eq!(wrong.code, 400);
    assert_eq!(
        wrong.message(),
        "Unable to convert to Table as requested: includeObject: Invalid value: \"X\": must be \
         'Metadata', 'Object', 'None', or empty",
    );
    let beta = get(&server, "?limit=1", &TABLE.replace("v1", "v1beta1")).await.json();
    assert_eq!(beta["apiVersion"], "meta.k8s.io/v1beta1");
}

/// D05, DT-64, DT-65.
#[tokio::test]
async fn without_columns_there_is_the_age() {
    let server = server(&Value::Null).await;
    let table = get(&server, "", TABLE).await.json();
    assert_eq!(table["rows"][0]["cells"], json!(["a", "60m"]));
}

/// D08, DT-75.
#[tokio::test]
async fn metadata_is_shown_alone() {
    let server = server(&Value::Null).await;
    let one = get(&server, "/a", METADATA).await.json();
    assert_eq!((&one["kind"], &one["spec"]), (&json!("PartialObjectMetadata"), &Value::Null));
    assert_eq!(one["metadata"]["uid"], "u");
    let all = get(&server, "", METADATA_LIST).await.json();
    assert_eq!(all["items"][0], one);
    let none = get(&server, "?labelSelector=x", METADATA_LIST).await;
    assert_eq!(
        none.text,
        "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\
         \"metadata\":{\"resourceVersion\":\"8\"},\"items\":null}\n",
    );
    let refused = get(&server, "", METADATA).await;
    assert_eq!(refused.code, 406);
    assert_eq!(
        refused.message(),
        "you requested PartialObjectMetadata, but the requested object is a list \
         (*unstructured.UnstructuredList)",
    );
    let refused = get(&server, "/a", METADATA_LIST).await;
    assert_eq!((refused.code, refused.message().as_str()), (500, "content is not a list"));
}

/// RE-17: a failure is indented if only other forms are accepted.
#[tokio::test]
async fn failures_have_no_other_form() {
    let server = server(&Value::Null).await;
    let indented = get(&server, "/none", TABLE).await;
    assert!(indented.text.starts_with("{\n  \"kind\": \"Status\""), "{}", indented.text);
    let compact = get(&server, "/none", &format!("{TABLE},application/json")).await;
    assert!(compact.text.starts_with("{\"kind\":\"Status\""), "{}", compact.text);
}

/// WA-51: the first event alone has the columns.
#[tokio::test]
async fn events_are_tables() {
    let server = server(&Value::Null).await;
    let request = http::Request::get(format!("{FOOS}?watch=1&includeObject=None"));
    let request = request.header("accept", TABLE).body(String::new()).unwrap();
    let mut body = server.clone().call(request).await.unwrap().into_body();
    let first: Value = next(&mut body).await;
    assert_eq!(first["object"]["columnDefinitions"][1]["name"], "Age");
    let merge = [("content-type", "application/merge-patch+json")];
    let path = format!("{FOOS}/a");
    call(&server, Method::PATCH, &path, &merge, r#"{"spec":{"a":2}}"#).await;
    let second: Value = next(&mut body).await;
    assert_eq!(
        second,
        json!({"type": "MODIFIED", "object": {"kind": "Table", "apiVersion": "meta.k8s.io/v1",
            "metadata": {"resourceVersion": "9"}, "columnDefinitions": null,
            "rows": [{"cells": ["a", "60m"], "object": null}]}}),
    );
}

async fn next(body: &mut billhook_apiserver::Body) -> Value {
    let frame = body.frame().await.unwrap().unwrap();
    serde_json::from_slice(&frame.into_data().unwrap()).unwrap()
}
