//! Servers of older versions of Kubernetes (KV rules).

use billhook_admission::{AdmissionRequest, AdmissionResponse};
use billhook_apimachinery::KubernetesVersion::{self, V1_32, V1_33, V1_34, V1_35, V1_36};
use billhook_apiserver::Server;
use http::Method;
use kube::discovery::Discovery;
use serde_json::{Value, json};

use crate::support::{Answer, call, definition, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";
const APPLY: [(&str, &str); 1] = [("content-type", "application/apply-patch+yaml")];
const MERGE: [(&str, &str); 1] = [("content-type", "application/merge-patch+json")];

/// A server of a version, with a definition that has this schema.
fn server(version: KubernetesVersion, schema: &Value) -> Server {
    let definition = with_schema(schema);
    Server::builder().kubernetes(version).definition(&definition).unwrap().build()
}

fn with_schema(schema: &Value) -> Value {
    let mut definition = definition();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema.clone();
    definition["spec"]["versions"][0].as_object_mut().unwrap().remove("selectableFields");
    definition
}

fn of_spec(spec: &Value) -> Value {
    json!({"type": "object", "properties": {"spec": spec,
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
}

async fn post(server: &Server, path: &str, object: &Value) -> Answer {
    call(server, Method::POST, path, &[], &object.to_string()).await
}

async fn get(server: &Server, path: &str) -> Answer {
    call(server, Method::GET, path, &[], "").await
}

fn foo(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}, "spec": spec})
}

/// Returns the last of the changes that a version has.
fn expected<T: Copy>(version: KubernetesVersion, changes: &[(KubernetesVersion, T)]) -> T {
    changes.iter().rev().find(|(since, _)| *since <= version).unwrap().1
}

/// DT-30; the releases are those that the rules were measured with.
#[tokio::test]
async fn servers_say_which_version_they_are() {
    for (version, release, compatible) in [
        (V1_32, "v1.32.13+", None),
        (V1_33, "v1.33.13+", Some("32")),
        (V1_34, "v1.34.10+", Some("33")),
        (V1_35, "v1.35.7+", Some("34")),
        (V1_36, "v1.36.3+", Some("35")),
    ] {
        let server = Server::builder().kubernetes(version).build();
        let told = get(&server, "/version").await.json();
        let minor = text(&told, "/minor");
        assert_eq!(format!("1.{minor}"), version.as_str());
        assert!(text(&told, "/gitVersion").starts_with(release), "{told}");
        assert_eq!(told.get("minCompatibilityMinor").and_then(Value::as_str), compatible);
        let document = get(&server, "/openapi/v2").await.json();
        assert_eq!(document["info"]["version"], format!("v{version}"));
        let fork = server.fork();
        assert_eq!(get(&fork, "/version").await.json(), told);
    }
}

/// PO-01: beta and alpha versions of a kind are not served by default.
#[tokio::test]
async fn mutating_policies_are_served_since_they_are_stable() {
    for version in KubernetesVersion::ALL {
        let server = Server::builder().kubernetes(version).build();
        let client = kube::Client::new(server.clone(), "default");
        let discovery = Discovery::new(client).run().await.unwrap();
        let group = discovery.get("admissionregistration.k8s.io").unwrap();
        let kinds: Vec<String> =
            group.recommended_resources().into_iter().map(|(kind, _)| kind.kind).collect();
        let has = |kind: &str| kinds.iter().any(|known| known == kind);
        assert!(has("ValidatingAdmissionPolicy") && has("ValidatingAdmissionPolicyBinding"));
        assert_eq!(has("MutatingAdmissionPolicy"), version == V1_36, "{version}");
        assert_eq!(has("MutatingAdmissionPolicyBinding"), version == V1_36, "{version}");
        let code = if version == V1_36 { 200 } else { 404 };
        let path = format!("{ADMISSION}/mutatingadmissionpolicies");
        assert_eq!(get(&server, &path).await.code, code, "{version}");
    }
}

/// BK-113, BK-770: pods are resized since 1.33.
#[tokio::test]
async fn pods_are_resized_since_servers_can() {
    let pod = json!({"metadata": {"name": "a"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let pods = "/api/v1/namespaces/default/pods";
    for version in KubernetesVersion::ALL {
        let server = Server::builder().kubernetes(version).build();
        assert_eq!(post(&server, pods, &pod).await.code, 201);
        let code = if version >= V1_33 { 200 } else { 404 };
        assert_eq!(get(&server, &format!("{pods}/a/resize")).await.code, code, "{version}");
        let core = get(&server, "/api/v1").await.json();
        let listed = core["resources"].as_array().unwrap().iter();
        let has = listed.map(|it| text(it, "/name")).any(|name| name == "pods/resize");
        assert_eq!(has, version >= V1_33, "{version}");
    }
}

/// KV-14: the selectors of lists.
#[tokio::test]
async fn label_selectors_are_refused_in_the_words_of_the_version() {
    for version in KubernetesVersion::ALL {
        let server = server(version, &of_spec(&json!({"type": "object"})));
        let key = get(&server, &format!("{FOOS}?labelSelector=a/b/c")).await;
        assert_eq!(key.code, 400);
        let names = [(V1_32, "a qualified name must consist"), (V1_35, "a valid label key must")];
        assert!(key.message().contains(expected(version, &names)), "{version}: {}", key.message());
        let value = format!("{FOOS}?labelSelector=a={}", "x".repeat(64));
        let message = get(&server, &value).await.message();
        let lengths = [(V1_32, "no more than 63 characters"), (V1_35, "no more than 63 bytes")];
        assert!(message.contains(expected(version, &lengths)), "{version}: {message}");
    }
}

/// The gate `WatchList` is off in 1.33 (section K of the rules).
#[tokio::test(start_paused = true)]
async fn lists_are_streamed_where_the_version_does() {
    for version in KubernetesVersion::ALL {
        let server = server(version, &of_spec(&json!({"type": "object"})));
        assert_eq!(post(&server, FOOS, &foo(&json!({}))).await.code, 201);
        let asked = "watch=1&timeoutSeconds=1&allowWatchBookmarks=true";
        let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
        let streamed = get(&server, &format!("{FOOS}?{asked}&{initial}")).await;
        let plain = get(&server, &format!("{FOOS}?{asked}")).await;
        let has_end = |answer: &Answer| answer.text.contains("k8s.io/initial-events-end");
        assert!(plain.code == 200 && plain.text.contains(r#""type":"ADDED""#), "{version}");
        assert_eq!(has_end(&plain), version != V1_33, "{version}");
        assert_eq!(
            (streamed.code, has_end(&streamed)),
            match version {
                V1_33 => (422, false),
                _ => (200, true),
            }
        );
        if version == V1_33 {
            assert_eq!(
                streamed.message(),
                "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: \
                 sendInitialEvents is forbidden for watch unless the WatchList feature gate is \
                 enabled"
            );
        }
        // Without the gate nothing stands for the match that the client did not ask for.
        let continued = get(&server, &format!("{FOOS}?{asked}&continue=x")).await;
        assert_eq!(continued.code, if version == V1_33 { 200 } else { 422 }, "{version}");
    }
}

/// The gate `WatchList`, switched against the default of the version (WA-10).
#[tokio::test]
async fn streaming_of_lists_is_switched() {
    let watch = "watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    for (version, allowed, code) in [(V1_33, true, 200), (V1_36, false, 422)] {
        let builder = Server::builder().kubernetes(version).stream_lists(allowed);
        let server =
            builder.definition(&with_schema(&of_spec(&json!({"type": "object"})))).unwrap().build();
        let answer = get(&server, &format!("{FOOS}?{watch}")).await;
        assert_eq!(answer.code, code, "{version}: {}", answer.text);
        assert_eq!(answer.text.contains("unless the WatchList feature gate"), !allowed);
    }
}

/// KV-10, KV-11, KV-20: how objects are refused.
#[tokio::test]
async fn objects_are_refused_in_the_words_of_the_version() {
    let schema = of_spec(&json!({"type": "object", "properties": {
        "list": {"type": "array", "maxItems": 1, "items": {"type": "integer"}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object",
            "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "integer"}}}},
        "size": {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 3"}]},
        "max": {"type": "integer", "format": "int32"}}}));
    let cases: [(Value, &[(KubernetesVersion, &str)]); 4] = [
        (json!({"list": [1, 2]}), &[(V1_32, "at most 1 items"), (V1_34, "at most 1 item,")]),
        (
            json!({"set": [{"a": 1}, {"a": 1}]}),
            &[
                (V1_32, r#"Duplicate value: map[string]interface {}{"a":1}"#),
                (V1_34, r#"Duplicate value: {"a":1}"#),
            ],
        ),
        (
            json!({"size": 7}),
            &[(V1_32, r#"Invalid value: "integer": failed"#), (V1_35, "Invalid value: 7: failed")],
        ),
        (
            json!({"max": 3_000_000_000_i64}),
            &[(V1_32, ""), (V1_36, "must be of type integer with format int32")],
        ),
    ];
    for version in KubernetesVersion::ALL {
        let server = server(version, &schema);
        for (spec, texts) in &cases {
            let answer = call(
                &server,
                Method::POST,
                &format!("{FOOS}?dryRun=All"),
                &[],
                &foo(spec).to_string(),
            )
            .await;
            match expected(version, texts) {
                "" => assert_eq!(answer.code, 201, "{version}: {}", answer.text),
                words => {
                    assert_eq!(answer.code, 422, "{version}: {}", answer.text);
                    let message = answer.message();
                    assert!(message.contains(words), "{version}: {message}");
                }
            }
        }
    }
}

/// KV-30, KV-63, KV-70: how definitions are refused, and what they are warned of.
#[tokio::test]
async fn definitions_are_judged_by_the_version() {
    for version in KubernetesVersion::ALL {
        let server = Server::builder().kubernetes(version).build();
        let dry_run = format!("{DEFINITIONS}?dryRun=All");
        let mut without = definition();
        without["spec"]["versions"][0].as_object_mut().unwrap().remove("schema");
        let message = post(&server, &dry_run, &without).await.message();
        assert_eq!(message.contains("schemas are required"), version < V1_34, "{message}");

        let rule = |rule: &str| {
            with_schema(&of_spec(&json!({"type": "array", "maxItems": 5,
                "items": {"type": "string", "maxLength": 5},
                "x-kubernetes-validations": [{"rule": rule}]})))
        };
        for (expression, since) in
            [("self.all(i, v, true)", V1_33), ("self.sort() == self", V1_35), ("true", V1_32)]
        {
            let answer = post(&server, &dry_run, &rule(expression)).await;
            let code = if version >= since { 201 } else { 422 };
            assert_eq!(answer.code, code, "{version}: {expression}: {}", answer.text);
            let builder = Server::builder().kubernetes(version);
            assert_eq!(builder.definition(&rule(expression)).is_ok(), version >= since);
        }

        let formats = with_schema(&of_spec(&json!({"type": "object", "properties": {
            "a": {"type": "string", "format": "odd"}, "b": {"type": "object", "format": "even"}}})));
        let warned = post(&server, &dry_run, &formats).await.warnings.len();
        assert_eq!(warned, expected(version, &[(V1_32, 0), (V1_34, 1), (V1_36, 2)]), "{version}");
    }
}

/// KV-02, KV-71: what a definition may keep and lose.
#[tokio::test]
async fn definitions_are_updated_by_the_version() {
    for version in KubernetesVersion::ALL {
        let server = server(version, &of_spec(&json!({"type": "object"})));
        let one = format!("{DEFINITIONS}/foos.example.com");
        let patch = json!({"status": {"observedGeneration": 7}}).to_string();
        let strict = format!("{one}/status?fieldValidation=Strict");
        let strict = call(&server, Method::PATCH, &strict, &MERGE, &patch).await;
        let (refused, kept) =
            (strict.code != 200, strict.json()["status"]["observedGeneration"] == 7);
        assert_eq!((refused, kept), (version < V1_35, version == V1_36), "{}", strict.text);

        let mut moved = definition();
        moved["spec"]["versions"][0]["name"] = "v2".into();
        let revision = get(&server, &one).await.json()["metadata"]["resourceVersion"].clone();
        moved["metadata"]["resourceVersion"] = revision;
        let refused = call(&server, Method::PUT, &one, &[], &moved.to_string()).await;
        let words =
            [(V1_32, "must appear in spec.versions"), (V1_33, "missing from spec.versions")];
        let message = refused.message();
        assert!(message.contains(expected(version, &words)), "{version}: {message}");
    }
}

/// KV-85.
#[tokio::test]
async fn nothing_is_created_under_a_definition_that_ends() {
    for version in KubernetesVersion::ALL {
        let server = server(version, &of_spec(&json!({"type": "object"})));
        let mut held = foo(&json!({}));
        held["metadata"]["finalizers"] = json!(["example.com/hold"]);
        assert_eq!(post(&server, FOOS, &held).await.code, 201);
        let one = format!("{DEFINITIONS}/foos.example.com");
        assert_eq!(call(&server, Method::DELETE, &one, &[], "").await.code, 200);
        let mut late = foo(&json!({}));
        late["metadata"]["name"] = "late".into();
        let code = if version < V1_34 { 405 } else { 403 };
        let refused = post(&server, FOOS, &late).await;
        assert_eq!(refused.code, code, "{version}: {}", refused.text);
        assert!(
            refused
                .message()
                .ends_with("create not allowed while custom resource definition is terminating")
        );
    }
}

/// KV-83, KV-84: who owns what after an apply, and which items can be applied.
#[tokio::test]
async fn applies_follow_the_version() {
    let schema = of_spec(&json!({"type": "object", "properties": {"ports": {
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"],
        "items": {"type": "object", "properties": {
            "a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}}}));
    for version in KubernetesVersion::ALL {
        let server = server(version, &schema);
        let one = format!("{FOOS}/a?fieldManager=me");
        let partial = foo(&json!({"ports": [{"a": 1}]})).to_string();
        let applied = call(&server, Method::PATCH, &one, &APPLY, &partial).await;
        let words = [(V1_32, "omits key field \"b\" (and doesn't"), (V1_34, "b: Required value")];
        let message = applied.message();
        assert!(message.contains(expected(version, &words)), "{version}: {message}");

        let whole = foo(&json!({"ports": [{"a": 1, "b": 2}]})).to_string();
        call(&server, Method::PATCH, &one, &APPLY, &whole).await;
        let mut of_status = json!({"apiVersion": "example.com/v1", "kind": "Foo",
            "metadata": {"name": "a", "labels": {"l": "x"}}, "status": {"a": 1}});
        let status = format!("{FOOS}/a/status?fieldManager=other");
        let applied = call(&server, Method::PATCH, &status, &APPLY, &of_status.to_string()).await;
        assert_eq!(applied.code, 200, "{}", applied.text);
        let object = applied.json();
        let entries = object["metadata"]["managedFields"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["manager"] == "other").unwrap();
        let owns_metadata = entry["fieldsV1"].get("f:metadata").is_some();
        assert_eq!(owns_metadata, version < V1_36, "{version}: {entry}");
        of_status["metadata"]["labels"]["l"] = "y".into();
        of_status["spec"] = json!({"ports": [{"a": 1, "b": 2}]});
        let later = call(&server, Method::PATCH, &one, &APPLY, &of_status.to_string()).await;
        let code = if version < V1_36 { 409 } else { 200 };
        assert_eq!(later.code, code, "{version}: {}", later.text);
    }
}

/// KV-80: what was wrong before in the status may stay.
#[tokio::test]
async fn status_ratchets_since_1_33() {
    let definition = |length: i64| {
        with_schema(&json!({"type": "object", "properties": {
            "status": {"type": "object", "properties": {
                "a": {"type": "string", "maxLength": length}, "b": {"type": "integer"}}}}}))
    };
    for version in KubernetesVersion::ALL {
        let server =
            Server::builder().kubernetes(version).definition(&definition(9)).unwrap().build();
        assert_eq!(post(&server, FOOS, &foo(&json!({}))).await.code, 201);
        let status = format!("{FOOS}/a/status");
        let long = json!({"status": {"a": "too long"}}).to_string();
        assert_eq!(call(&server, Method::PATCH, &status, &MERGE, &long).await.code, 200);
        let schema = &definition(3)["spec"]["versions"][0]["schema"];
        let path = "/spec/versions/0/schema";
        let patch = json!([{"op": "replace", "path": path, "value": schema}]).to_string();
        let json_patch = [("content-type", "application/json-patch+json")];
        let one = format!("{DEFINITIONS}/foos.example.com");
        assert_eq!(call(&server, Method::PATCH, &one, &json_patch, &patch).await.code, 200);
        let other = json!({"status": {"b": 1}}).to_string();
        let answer = call(&server, Method::PATCH, &status, &MERGE, &other).await;
        assert_eq!(answer.code, if version == V1_32 { 422 } else { 200 }, "{}", answer.text);
    }
}

/// KV-87.
#[tokio::test]
async fn options_of_deletions_that_cannot_be_read_are_refused() {
    for version in KubernetesVersion::ALL {
        let server = server(version, &of_spec(&json!({"type": "object"})));
        assert_eq!(post(&server, FOOS, &foo(&json!({}))).await.code, 201);
        for body in ["{", r#"{"propagationPolicy": 1}"#, r#"{"kind": "Foo"}"#] {
            let one = format!("{FOOS}/a");
            let refused = call(&server, Method::DELETE, &one, &[], body).await;
            let (code, reason) = if version < V1_35 { (500, "") } else { (400, "BadRequest") };
            assert_eq!(refused.code, code, "{version}: {}", refused.text);
            assert_eq!(text(&refused.json(), "/reason"), reason);
        }
    }
}

/// A webhook configuration for all writes of foos, served in process.
fn mutating(failure_policy: &str) -> Value {
    json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration", "metadata": {"name": "m"},
        "webhooks": [{"name": "m.example.com", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "failurePolicy": failure_policy,
            "clientConfig": {"service": {"namespace": "default", "name": "m"}},
            "rules": [{"operations": ["CREATE"], "apiGroups": ["example.com"],
                "apiVersions": ["v1"], "resources": ["foos"]}]}]})
}

/// KV-92.
#[tokio::test]
async fn patches_that_cannot_be_read_are_failed_calls_since_1_34() {
    for version in KubernetesVersion::ALL {
        let handler = |request: &AdmissionRequest| {
            let mut response = AdmissionResponse::allow(request);
            response.patch = b"{".to_vec();
            response.patch_type = Some("JSONPatch".to_owned());
            response
        };
        let builder =
            Server::builder().kubernetes(version).admission_service("default", "m", handler);
        let schema = of_spec(&json!({"type": "object"}));
        let server = builder.definition(&with_schema(&schema)).unwrap().build();
        let path = format!("{ADMISSION}/mutatingwebhookconfigurations");
        assert_eq!(post(&server, &path, &mutating("Ignore")).await.code, 201);
        let created = post(&server, FOOS, &foo(&json!({}))).await;
        assert_eq!(created.code, if version < V1_34 { 500 } else { 201 }, "{}", created.text);
    }
}

/// KV-01: a new object has no time before the server sets it.
#[tokio::test]
async fn reviews_show_that_a_kind_of_the_server_has_no_time_until_1_34() {
    for version in KubernetesVersion::ALL {
        let handler = |request: &AdmissionRequest| {
            let object = request.object.as_ref().unwrap();
            let time = object.pointer("/metadata/creationTimestamp");
            let shown = match time {
                None => "none",
                Some(time) => time.as_str().unwrap_or("null"),
            };
            AdmissionResponse::allow(request).warning(shown)
        };
        let builder =
            Server::builder().kubernetes(version).admission_service("default", "m", handler);
        let server = builder.definition(&definition()).unwrap().build();
        let mut configuration = mutating("Fail");
        configuration["webhooks"][0]["rules"][0] = json!({
            "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]});
        let path = format!("{ADMISSION}/mutatingwebhookconfigurations");
        assert_eq!(post(&server, &path, &configuration).await.code, 201);

        let unset = if version < V1_34 { "null" } else { "none" };
        let shown = |answer: &Answer| {
            answer.warnings.concat().trim_start_matches("299 - ").trim_matches('"').to_owned()
        };
        let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        let maps = "/api/v1/namespaces/default/configmaps";
        let created = post(&server, maps, &map("a")).await;
        assert_eq!((created.code, &*shown(&created)), (201, unset), "{version}");
        let time = text(&created.json(), "/metadata/creationTimestamp");
        let path = format!("{maps}/b?fieldManager=m");
        let applied = call(&server, Method::PATCH, &path, &APPLY, &map("b").to_string()).await;
        assert_eq!((applied.code, &*shown(&applied)), (201, unset), "{version}");
        let changed = call(&server, Method::PATCH, &format!("{maps}/a"), &MERGE, "{}").await;
        assert_eq!(shown(&changed), time, "{version}");
        let custom = post(&server, FOOS, &foo(&json!({}))).await;
        assert_eq!((custom.code, &*shown(&custom)), (201, "none"), "{version}");
    }
}

/// KV-30, KV-70, KV-91: configurations of admission are validated by the version.
#[tokio::test]
async fn admission_is_configured_by_the_version() {
    for version in KubernetesVersion::ALL {
        let server = server(version, &of_spec(&json!({"type": "object"})));
        let mut nameless = mutating("Fail");
        nameless["webhooks"][0]["clientConfig"]["service"]["name"] = "".into();
        let path = format!("{ADMISSION}/mutatingwebhookconfigurations");
        let message = post(&server, &path, &nameless).await.message();
        let end =
            [(V1_32, "Required value: service namespace is required"), (V1_34, "Required value")];
        assert!(message.ends_with(expected(version, &end)), "{version}: {message}");

        let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
            "spec": {"matchConstraints": {"resourceRules": [{"operations": ["*"],
                "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["foos"]}]},
                "validations": [{"expression": "[2, 1].sort() == [1, 2]"}]}});
        let path = format!("{ADMISSION}/validatingadmissionpolicies");
        let created = post(&server, &path, &policy).await;
        assert_eq!(created.code, if version < V1_35 { 422 } else { 201 }, "{}", created.text);
    }
}

/// KV-95, WCF-97, PO-16: names are reserved for files since servers know some, and clients warned.
#[tokio::test]
async fn reserved_names_are_warned_of_since_1_36() {
    let reserved = "299 - \"metadata.name: names ending with \\\".static.k8s.io\\\" are reserved for static \
                    manifest-based configurations and cannot be managed via the API\"";
    for version in KubernetesVersion::ALL {
        let server = Server::builder().kubernetes(version).build();
        let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding", "metadata": {},
            "spec": {"policyName": "p", "validationActions": ["Deny"]}});
        for (resource, mut object) in [
            ("mutatingwebhookconfigurations", mutating("Fail")),
            ("validatingadmissionpolicybindings", binding),
        ] {
            for (name, is_reserved) in [("a.static.k8s.io", true), ("static.k8s.io", false)] {
                object["metadata"]["name"] = name.into();
                let created = post(&server, &format!("{ADMISSION}/{resource}"), &object).await;
                let warned = is_reserved && version == V1_36;
                let warnings = if warned { vec![reserved.to_owned()] } else { Vec::new() };
                assert_eq!((created.code, created.warnings), (201, warnings), "{version} {name}");
            }
        }
    }
}

/// DT-43, KV-75: what the documents of older servers do not have.
#[tokio::test]
async fn documents_are_those_of_the_version() {
    let schema = of_spec(&json!({"type": "object", "example": {"a": 1},
        "externalDocs": {"url": "https://example.com"}}));
    for version in KubernetesVersion::ALL {
        let server = server(version, &schema);
        let document = get(&server, "/openapi/v3/apis/example.com/v1").await;
        let has = |text: &str| document.text.contains(text);
        for text in ["ShardInfo", "shardInfo", "shardSelector", "externalDocs", "\"example\""] {
            assert_eq!(has(text), version == V1_36, "{version}: {text}");
        }
        let document = get(&server, "/openapi/v2").await;
        assert_eq!(document.text.contains("shardSelector"), version == V1_36);
    }
}

/// KV-83: who writes metadata of a definition with its status owns them since 1.36.
#[tokio::test]
async fn labels_of_definitions_are_owned_by_writes_to_their_status() {
    for version in KubernetesVersion::ALL {
        let server =
            Server::builder().kubernetes(version).definition(&definition()).unwrap().build();
        let path = format!("{DEFINITIONS}/foos.example.com/status?fieldManager=me");
        let patch = json!({"metadata": {"labels": {"x": "y"}},
            "status": {"storedVersions": ["v1", "v2"]}});
        let patched = call(&server, Method::PATCH, &path, &MERGE, &patch.to_string()).await.json();
        assert_eq!(patched["metadata"]["labels"], json!({"x": "y"}), "{version}");
        let entries = patched["metadata"]["managedFields"].as_array().unwrap();
        let own = entries.iter().find(|entry| entry["manager"] == "me").unwrap();
        assert_eq!(own["subresource"], "status");
        assert!(own["fieldsV1"].get("f:status").is_some(), "{version}: {own}");
        let owns_labels = own.pointer("/fieldsV1/f:metadata/f:labels/f:x").is_some();
        assert_eq!(owns_labels, version >= V1_36, "{version}: {own}");
    }
}
