//! OpenAPI 3, by plain requests (DT-40 to DT-48).

use billhook_apimachinery::KubernetesVersion;
use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition};

const DOCUMENT: &str = "/openapi/v3/apis/example.com/v1";

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

/// D07, DT-40, DT-41.
#[tokio::test]
async fn documents_have_a_hash() {
    let server = crate::support::server();
    let index = get(&server, "/openapi/v3").await.json();
    let url = index["paths"]["apis/example.com/v1"]["serverRelativeURL"].as_str().unwrap();
    let document = get(&server, url).await;
    assert_eq!(document.code, 200);
    let tag = document.headers["etag"].to_str().unwrap();
    assert_eq!(url, format!("{DOCUMENT}?hash={}", tag.trim_matches('"')));
    assert_eq!(document.headers["cache-control"], "public, immutable");
    assert!(document.headers["expires"].to_str().unwrap().ends_with(" GMT"));
    let several = format!("\"other\", W/{tag}");
    let several = [("if-none-match", several.as_str())];
    assert_eq!(call(&server, Method::GET, url, &several, "").await.code, 304);
    let old = get(&server, &format!("{DOCUMENT}?hash=OLD")).await;
    assert_eq!((old.code, old.headers["location"].to_str().unwrap()), (301, url));
    let known = [("if-none-match", tag)];
    assert_eq!(call(&server, Method::GET, DOCUMENT, &known, "").await.code, 304);
    let protobuf = [("accept", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf")];
    assert_eq!(call(&server, Method::GET, DOCUMENT, &protobuf, "").await.code, 406);
    assert_eq!(get(&server, "/openapi/v3/apis/example.com/v2").await.code, 404);
}

/// DT-40: the list is that of the definitions as they are.
#[tokio::test]
async fn the_list_follows_definitions() {
    let server = crate::support::server();
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.example.com";
    let group = async || {
        let index = get(&server, "/openapi/v3").await.json();
        index["paths"].get("apis/example.com/v1").cloned()
    };
    let before = group().await;
    let form = [("content-type", "application/json-patch+json")];
    let place = "/spec/versions/0/schema/openAPIV3Schema/description";
    let change = json!([{"op": "add", "path": place, "value": "A foo."}]).to_string();
    assert_eq!(call(&server, Method::PATCH, definition, &form, &change).await.code, 200);
    let after = group().await;
    assert!(after.is_some() && after != before);
    assert_eq!(call(&server, Method::DELETE, definition, &[], "").await.code, 200);
    assert_eq!(group().await, None);
}

/// DT-41: a document can be read in parts, as a file can, with any method.
#[tokio::test]
async fn documents_are_read_in_parts() {
    let server = crate::support::server();
    let whole = get(&server, DOCUMENT).await;
    let tag = whole.headers["etag"].to_str().unwrap();
    assert_eq!(whole.headers["accept-ranges"], "bytes");
    let length = whole.text.len();
    for (headers, code, part, place) in [
        (
            vec![("range", "bytes=0-3")],
            206,
            whole.text.split_at(4).0,
            format!("bytes 0-3/{length}"),
        ),
        (
            vec![("range", "bytes=-5"), ("if-range", tag), ("accept-encoding", "gzip")],
            206,
            whole.text.split_at(length - 5).1,
            format!("bytes {}-{}/{length}", length - 5, length - 1),
        ),
        (vec![("range", "bytes=0-3"), ("if-range", "\"other\"")], 200, &whole.text, String::new()),
        (vec![("range", "bytes=0-3"), ("if-none-match", tag)], 304, "", String::new()),
        (vec![("if-match", "\"other\"")], 412, "", String::new()),
        (vec![("if-match", tag)], 200, &whole.text, String::new()),
        (vec![("range", "bytes=9999999-")], 416, "", format!("bytes */{length}")),
    ] {
        let answer = call(&server, Method::POST, DOCUMENT, &headers, "").await;
        assert_eq!((answer.code, answer.text.as_str()), (code, part), "{headers:?}");
        let found = answer.headers.get("content-range").map(|place| place.to_str().unwrap());
        assert_eq!(found.unwrap_or_default(), place, "{headers:?}");
    }
}

/// DT-44: what is added to the schema of a definition.
#[tokio::test]
async fn schemas_are_completed() {
    let mut definition = definition();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = json!({
        "type": "object", "properties": {
            "color": {"type": "string"},
            "port": {"x-kubernetes-int-or-string": true},
            "both": {"x-kubernetes-int-or-string": true, "anyOf": [{"maximum": 5}, {"maxLength": 2}]},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                "x-kubernetes-preserve-unknown-fields": true},
        },
    });
    let server = Server::builder().definition(&definition).unwrap().build();
    let document = get(&server, DOCUMENT).await.json();
    let schema = &document["components"]["schemas"]["com.example.v1.Foo"];
    let property = |path: &str| schema["properties"].pointer(path).unwrap().clone();
    let any_of = json!([{"type": "integer"}, {"type": "string"}]);
    assert_eq!(property("/spec/properties/port/anyOf"), any_of);
    assert_eq!(property("/spec/properties/both/allOf/0/anyOf"), any_of);
    assert_eq!(property("/spec/properties/both/anyOf/0"), json!({"maximum": 5}));
    assert_eq!(property("/spec/properties/template/required"), json!(["kind", "apiVersion"]));
    assert_eq!(
        property("/metadata/allOf/0/$ref"),
        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
    );
    assert_eq!(schema["x-kubernetes-selectable-fields"], json!([{"fieldPath": "spec.color"}]));
    let patch =
        &document["paths"]["/apis/example.com/v1/namespaces/{namespace}/foos/{name}"]["patch"];
    assert_eq!(patch["operationId"], "patchExampleComV1NamespacedFoo");
    let parameters = patch["parameters"].as_array().unwrap();
    let names: Vec<&Value> = parameters.iter().map(|parameter| &parameter["name"]).collect();
    assert_eq!(names, ["dryRun", "fieldManager", "fieldValidation", "force"]);
}

/// DT-47: the parameters of each operation, and where they stand.
#[tokio::test]
async fn operations_have_parameters() {
    let server = crate::support::server();
    let document = get(&server, DOCUMENT).await.json();
    let names = |place: &Value| -> Vec<String> {
        let parameters = place["parameters"].as_array().cloned().unwrap_or_default();
        parameters.iter().map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
    };
    let collection = "/apis/example.com/v1/namespaces/{namespace}/foos";
    let one = &document["paths"][format!("{collection}/{{name}}")];
    let collection = &document["paths"][collection];
    let everywhere = &document["paths"]["/apis/example.com/v1/foos"];
    let list = [
        "allowWatchBookmarks",
        "continue",
        "fieldSelector",
        "labelSelector",
        "limit",
        "resourceVersion",
        "resourceVersionMatch",
        "sendInitialEvents",
        "shardSelector",
        "timeoutSeconds",
        "watch",
    ];
    let write = ["dryRun", "fieldManager", "fieldValidation"];
    assert_eq!(names(&collection["get"]), list);
    assert_eq!(names(&collection["delete"]), list);
    assert_eq!(names(&collection["post"]), write);
    assert_eq!(names(&one["put"]), write);
    assert_eq!(names(&one["patch"]), ["dryRun", "fieldManager", "fieldValidation", "force"]);
    assert_eq!(names(&one["get"]), ["resourceVersion"]);
    assert_eq!(
        names(&one["delete"]),
        [
            "dryRun",
            "gracePeriodSeconds",
            "ignoreStoreReadErrorWithClusterBreakingPotential",
            "orphanDependents",
            "propagationPolicy"
        ]
    );
    let mut of_path = names(one);
    of_path.sort();
    assert_eq!(of_path, ["name", "namespace", "pretty"]);
    let mut of_all = names(everywhere);
    of_all.retain(|name| name != "pretty");
    assert_eq!(of_all, list);
    for parameter in one["parameters"].as_array().unwrap() {
        assert_eq!(parameter["schema"]["uniqueItems"], true);
        assert_eq!(parameter.get("required").is_some(), parameter["in"] == "path");
    }
}

/// BK-18: each type of the server's own kinds has a schema of its own, named by where the type is.
#[tokio::test]
async fn own_types_have_schemas() {
    let server = Server::builder().build();
    let everything = get(&server, "/openapi/v2").await;
    let definitions = everything.json()["definitions"].clone();
    for name in [
        "io.k8s.api.apps.v1.Deployment",
        "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerList",
        "io.k8s.api.core.v1.PodTemplateSpec",
        "io.k8s.api.flowcontrol.v1.FlowSchema",
        "io.k8s.api.rbac.v1.PolicyRule",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
        "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector",
        "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
    ] {
        assert!(definitions.get(name).is_some(), "{name}");
    }
    let index = get(&server, "/openapi/v3").await.json();
    let mut documents = vec![everything.text.clone()];
    for path in index["paths"].as_object().unwrap().keys() {
        documents.push(get(&server, &format!("/openapi/v3/{path}")).await.text);
    }
    for text in &documents {
        // Every reference leads somewhere.
        let document: Value = serde_json::from_str(text).unwrap();
        for part in text.split("\"$ref\":\"").skip(1) {
            let name = part.split('"').next().unwrap_or_default().replace('#', "");
            assert!(document.pointer(&name).is_some_and(Value::is_object), "{name}");
        }
    }
    let document = get(&server, "/openapi/v3/api/v1").await.json();
    let schemas = &document["components"]["schemas"];
    let action = &schemas["io.k8s.api.core.v1.HTTPGetAction"];
    assert_eq!(action["required"], json!(["port"]));
    assert_eq!(action["properties"]["scheme"]["enum"], json!(["HTTP", "HTTPS"]));
    let action = &definitions["io.k8s.api.core.v1.HTTPGetAction"];
    assert_eq!(action["properties"]["scheme"], json!({"type": "string"}));
    let container = &schemas["io.k8s.api.core.v1.Container"]["properties"];
    let probe = "#/components/schemas/io.k8s.api.core.v1.Probe";
    assert_eq!(container["livenessProbe"], json!({"allOf": [{"$ref": probe}]}));
    let server = Server::builder().kubernetes(KubernetesVersion::V1_32).build();
    let document = get(&server, "/openapi/v3/api/v1").await.json();
    let container = &document["components"]["schemas"]["io.k8s.api.core.v1.Container"];
    assert_eq!(container["properties"].get("restartPolicyRules"), None);
}
