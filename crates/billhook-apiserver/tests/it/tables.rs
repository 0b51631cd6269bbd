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

/// DT-62, RE-23: an object that is not stored has no version, and so its table has none.
#[tokio::test]
async fn tables_of_dry_runs_have_no_version() {
    let server = server(&json!([])).await;
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "b"}});
    let path = format!("{FOOS}?dryRun=All");
    let accept = [("accept", TABLE)];
    let table = call(&server, Method::POST, &path, &accept, &object.to_string()).await;
    assert_eq!((table.code, &table.json()["metadata"]), (201, &json!({})));
}

/// D05, DT-64 to DT-66.
#[tokio::test]
async fn without_columns_there_is_the_age() {
    let server = server(&Value::Null).await;
    let table = get(&server, "", TABLE).await.json();
    assert_eq!(table["rows"][0]["cells"], json!(["a", "60m"]));
    let about = table["columnDefinitions"][1]["description"].as_str().unwrap();
    assert!(about.starts_with("CreationTimestamp is a timestamp representing the server time"));
    assert!(about.contains("in UTC.\n\nPopulated by the system. Read-only. Null for lists."));
}

/// The tables of the server's own kinds show what users of kubectl know; columns of a priority only
/// if they are asked for.
#[tokio::test]
async fn own_kinds_have_their_columns() {
    let server = server(&Value::Null).await;
    for (path, object, columns, cells) in own_kinds() {
        let created = call(&server, Method::POST, path, &[], &object.to_string()).await;
        assert_eq!(created.code, 201, "{}", created.text);
        let name = created.json()["metadata"]["name"].clone();
        let path = format!("{path}/{}", name.as_str().unwrap());
        let table = call(&server, Method::GET, &path, &[("accept", TABLE)], "").await.json();
        let shown = table["columnDefinitions"].as_array().unwrap().iter().map(|column| {
            let wide = if column["priority"] == 0 { "" } else { "+" };
            format!("{wide}{}", column["name"].as_str().unwrap())
        });
        assert_eq!(shown.collect::<Vec<_>>().join(", "), columns, "{path}");
        assert_eq!(table["rows"][0]["cells"], cells, "{path}");
    }
}

/// The path, an object, the columns of its table and its cells.
fn own_kinds() -> Vec<(&'static str, Value, &'static str, Value)> {
    let object = |api_version: &str, kind: &str, rest: Value| {
        let mut object =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}});
        object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        object
    };
    let core = |kind: &str, rest: Value| object("v1", kind, rest);
    let admission = |kind: &str, rest: Value| object("admissionregistration.k8s.io/v1", kind, rest);
    let webhook = json!({"name": "a.example.com", "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "clientConfig": {"url": "https://example.com"}});
    let reference = json!({"parameterNotFoundAction": "Deny", "selector": {
        "matchLabels": {"x": "y"},
        "matchExpressions": [{"key": "k", "operator": "In", "values": ["v", "w"]}]}});
    vec![
        (
            "/api/v1/namespaces",
            core("Namespace", json!({})),
            "Name, Status, Age",
            json!(["a", "Active", "60m"]),
        ),
        (
            "/api/v1/namespaces/default/configmaps",
            core("ConfigMap", json!({"data": {"k": "v"}, "binaryData": {"b": "AA=="}})),
            "Name, Data, Age",
            json!(["a", 2, "60m"]),
        ),
        (
            "/api/v1/namespaces/default/secrets",
            core("Secret", json!({"stringData": {"k": "v"}})),
            "Name, Type, Data, Age",
            json!(["a", "Opaque", 1, "60m"]),
        ),
        (
            "/api/v1/namespaces/default/serviceaccounts",
            core("ServiceAccount", json!({})),
            "Name, Age",
            json!(["a", "60m"]),
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            object("coordination.k8s.io/v1", "Lease", json!({"spec": {"holderIdentity": "me"}})),
            "Name, Holder, Age",
            json!(["a", "me", "60m"]),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
            admission("ValidatingWebhookConfiguration", json!({"webhooks": [webhook]})),
            "Name, Webhooks, Age",
            json!(["a", 1, "60m"]),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
            admission("MutatingWebhookConfiguration", json!({})),
            "Name, Webhooks, Age",
            json!(["a", 0, "60m"]),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
            admission(
                "ValidatingAdmissionPolicy",
                json!({"spec": {
                "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
                "validations": [{"expression": "true"}, {"expression": "1 < 2"}],
                "matchConstraints": {"resourceRules": [{"apiGroups": ["other.com"],
                    "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["x"]}]}}}),
            ),
            "Name, Validations, ParamKind, Age",
            json!(["a", 2, "v1/ConfigMap", "60m"]),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
            admission(
                "ValidatingAdmissionPolicyBinding",
                json!({"spec": {"policyName": "a",
                "validationActions": ["Deny"], "paramRef": reference}}),
            ),
            "Name, PolicyName, ParamRef, Age",
            json!([
                "a",
                "a",
                "&LabelSelector{MatchLabels:map[string]string{x: y,},\
                MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,\
                Operator:In,Values:[v w],},},}",
                "60m"
            ]),
        ),
        (
            "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings",
            admission(
                "MutatingAdmissionPolicyBinding",
                json!({"spec": {"policyName": "a",
                "paramRef": {"name": "p", "parameterNotFoundAction": "Deny"}}}),
            ),
            "Name, PolicyName, ParamRef, Age",
            json!(["a", "a", "*/p", "60m"]),
        ),
        (
            "/api/v1/namespaces/default/events",
            core(
                "Event",
                json!({
            "involvedObject": {"kind": "Foo", "name": "x", "namespace": "default"},
            "reason": "Tried", "type": "Normal", "message": " it was tried\n",
            "firstTimestamp": "2026-11-22T10:00:00Z", "lastTimestamp": "2026-11-22T11:59:00Z",
            "count": 3, "source": {"component": "c"}, "reportingInstance": "h"}),
            ),
            "Last Seen, Type, Reason, Object, +Subobject, +Source, Message, +First Seen, +Count, \
             +Name",
            json!(["60s", "Normal", "Tried", "foo/x", "", "c, h", "it was tried", "120m", 3, "a"]),
        ),
    ]
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
         \"metadata\":{\"resourceVersion\":\"7\"},\"items\":null}\n",
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
            "metadata": {"resourceVersion": "8"}, "columnDefinitions": null,
            "rows": [{"cells": ["a", "60m"], "object": null}]}}),
    );
}

async fn next(body: &mut billhook_apiserver::Body) -> Value {
    let frame = body.frame().await.unwrap().unwrap();
    serde_json::from_slice(&frame.into_data().unwrap()).unwrap()
}
