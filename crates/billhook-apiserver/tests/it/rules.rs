//! Rules of REST (17) that no worked example shows, by their numbers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use billhook_admission::{CallFailure, CallerError, WebhookAnswer, WebhookCall, WebhookCaller};
use billhook_apiserver::{BoxFuture, Server};
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, call, server, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const MERGE: &str = "application/merge-patch+json";
const JSON: &str = "application/json-patch+json";

async fn create(server: &Server) -> Value {
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"},
        "spec": {"a": 1}});
    call(server, Method::POST, FOOS, &[], &object.to_string()).await.json()
}

async fn patch(server: &Server, type_: &str, patch: &str) -> Answer {
    let path = format!("{FOOS}/a");
    call(server, Method::PATCH, &path, &[("content-type", type_)], patch).await
}

/// RE-131: 1 and 1.0 are different numbers, although the same is stored.
#[tokio::test]
async fn another_spelling_of_a_number_is_a_change() {
    for type_ in [MERGE, JSON] {
        let server = server();
        let before = create(&server).await;
        let change = match type_ {
            MERGE => r#"{"spec": {"a": 1.0}}"#,
            _ => r#"[{"op": "replace", "path": "/spec/a", "value": 1.0}]"#,
        };
        let after = patch(&server, type_, change).await.json();
        assert_eq!(after["spec"], json!({"a": 1}), "{type_}");
        assert_eq!(after["metadata"]["generation"], 2, "{type_}");
        assert_ne!(after["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    }
}

/// RP-40: what a patch makes of an object may be of any version until it is validated.
#[tokio::test]
async fn patches_do_not_change_what_an_object_is() {
    let server = server();
    create(&server).await;
    for (type_, change, code, message) in [
        (
            MERGE,
            r#"{"apiVersion": "x/v1"}"#,
            422,
            "Foo.x \"a\" is invalid: apiVersion: Invalid value: \"x/v1\": must be example.com/v1",
        ),
        (
            MERGE,
            r#"{"apiVersion": "example.com/v9"}"#,
            422,
            "Foo.example.com \"a\" is invalid: apiVersion: Invalid value: \"example.com/v9\": must \
             be example.com/v1",
        ),
        (
            MERGE,
            r#"{"kind": "Bar"}"#,
            422,
            "Bar.example.com \"a\" is invalid: kind: Invalid value: \"Bar\": must be Foo",
        ),
        (
            JSON,
            r#"[{"op": "remove", "path": "/apiVersion"}]"#,
            500,
            "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion \
             field'",
        ),
    ] {
        let answer = patch(&server, type_, change).await;
        assert_eq!((answer.code, answer.message().as_str()), (code, message), "{change}");
    }
}

/// RP-10, RP-13, RE-25: the schema of an unknown version knows no field, and the warning is sent
/// with the failure.
#[tokio::test]
async fn bodies_of_other_versions_are_warned_about() {
    for (version, query, warnings) in [
        ("example.com/v9", "", &["299 - \"unknown field \\\"spec\\\"\""][..]),
        ("example.com/v9", "?fieldValidation=Ignore", &[]),
        ("other.com/v1", "", &[]),
    ] {
        let object = json!({"apiVersion": version, "kind": "Foo", "metadata": {"name": "a"},
            "spec": {"a": 1}});
        let path = format!("{FOOS}{query}");
        let answer = call(&server(), Method::POST, &path, &[], &object.to_string()).await;
        assert_eq!(answer.code, 400);
        assert_eq!(answer.warnings, warnings, "{version}{query}");
    }
}

/// RP-18: YAML without a kind is shown as it was sent, unless fields are not validated.
#[tokio::test]
async fn yaml_without_a_kind_is_shown_as_it_is() {
    for (body, query, expected) in [
        ("# nothing\n", "", "Object 'Kind' is missing in '# nothing\n' (23206e6f7468696e670a)"),
        ("a: 1\n", "", "Object 'Kind' is missing in 'a: 1\n' (613a20310a)"),
        (
            "a: 1\n",
            "?fieldValidation=Ignore",
            "Object 'Kind' is missing in '{\"a\":1}' (613a20310a)",
        ),
    ] {
        let headers = [("content-type", "application/yaml")];
        let path = format!("{FOOS}{query}");
        let answer = call(&server(), Method::POST, &path, &headers, body).await;
        let prefix = "the object provided is unrecognized (must be of type Foo): ";
        assert_eq!(answer.message(), format!("{prefix}{expected}"));
    }
}

/// RE-11: failures are negotiated again, and then there is protobuf.
#[tokio::test]
async fn failures_come_in_protobuf_to_those_who_take_nothing_else() {
    let server = server();
    create(&server).await;
    let protobuf = "application/vnd.kubernetes.protobuf";
    for (path, accept, code, type_) in [
        ("/a", protobuf, 406, protobuf),
        ("/b", "application/vnd.kubernetes.protobuf,application/json", 404, protobuf),
        ("/b", "application/json,application/vnd.kubernetes.protobuf", 404, "application/json"),
        ("/a", "application/vnd.kubernetes.protobuf,application/json", 200, "application/json"),
    ] {
        let path = format!("{FOOS}{path}");
        let mut request = http::Request::get(&path).body(String::new()).unwrap();
        request.headers_mut().insert("accept", accept.parse().unwrap());
        let response = tower_service::Service::call(&mut server.clone(), request).await.unwrap();
        assert_eq!(response.status(), code, "{path} {accept}");
        assert_eq!(response.headers()["content-type"], type_, "{path} {accept}");
    }
}

/// DT-50.
#[tokio::test]
async fn one_document_tells_everything() {
    let server = server();
    let answer = call(&server, Method::GET, "/openapi/v2", &[], "").await;
    let document = answer.json();
    assert_eq!(text(&document, "/swagger"), "2.0");
    let spec = &document["definitions"]["com.example.v1.Foo"]["properties"]["spec"];
    assert_eq!(spec["properties"]["a"], json!({"type": "integer"}));
    let list = "/paths/~1apis~1example.com~1v1~1namespaces~1{namespace}~1foos/get/responses/200";
    assert_eq!(
        document.pointer(list).unwrap()["schema"],
        json!({"$ref": "#/definitions/com.example.v1.FooList"}),
    );
    // Every reference leads somewhere.
    for part in answer.text.split("\"$ref\":\"").skip(1) {
        let name = part.split('"').next().unwrap_or_default().replace('#', "");
        assert!(document.pointer(&name).is_some(), "{name}");
    }
    let tag = answer.headers["etag"].to_str().unwrap();
    let again = call(&server, Method::GET, "/openapi/v2", &[("if-none-match", tag)], "").await;
    assert_eq!(again.code, 304);
    let refused = call(&server, Method::GET, "/openapi/v2", &[("accept", "text/html")], "").await;
    assert_eq!(refused.code, 406);
    let protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    let mut tags = Vec::new();
    for accept in ["application/com.github.proto-openapi.spec.v2@v1.0+protobuf", protobuf] {
        let mut request = http::Request::get("/openapi/v2").body(String::new()).unwrap();
        request.headers_mut().insert("accept", accept.parse().unwrap());
        let response = tower_service::Service::call(&mut server.clone(), request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], protobuf);
        tags.push(response.headers()["etag"].clone());
        let message =
            http_body_util::BodyExt::collect(response.into_body()).await.unwrap().to_bytes();
        assert!(message.starts_with(b"\x0a\x032.0"));
        let name = b"\x0a\x12com.example.v1.Foo";
        assert!(message.windows(name.len()).any(|window| window == name));
    }
    let [first, second] = tags.as_slice() else { panic!("{tags:?}") };
    assert_eq!(first, second);
    assert_ne!(first, tag);
    let known = [("accept", protobuf), ("if-none-match", first.to_str().unwrap())];
    assert_eq!(call(&server, Method::GET, "/openapi/v2", &known, "").await.code, 304);
}

/// LC-26: a definition in a group of the Kubernetes project says whether its API is approved.
#[tokio::test]
async fn protected_groups_are_examined() {
    for (annotation, expected) in [
        ("https://github.com/kubernetes/kubernetes/pull/1", ["True", "ApprovedAnnotation"]),
        ("unapproved, an experiment", ["False", "UnapprovedAnnotation"]),
    ] {
        let server = Server::builder().build();
        let mut object = crate::support::definition();
        object["spec"]["group"] = "x.k8s.io".into();
        object["metadata"] = json!({"name": "foos.x.k8s.io",
            "annotations": {"api-approved.kubernetes.io": annotation}});
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let created = call(&server, Method::POST, path, &[], &object.to_string()).await;
        assert_eq!(created.code, 201, "{}", created.text);
        let path = format!("{path}/foos.x.k8s.io");
        let found = call(&server, Method::GET, &path, &[], "").await.json();
        let conditions = found["status"]["conditions"].as_array().unwrap();
        let shown: Vec<_> = conditions.iter().map(|condition| text(condition, "/type")).collect();
        assert_eq!(
            shown,
            ["NamesAccepted", "Established", "KubernetesAPIApprovalPolicyConformant"],
        );
        let last = conditions.last().unwrap();
        assert_eq!([text(last, "/status"), text(last, "/reason")], expected);
    }
}

/// WA-29: progress is reported before the end of a watch, if there was any.
#[tokio::test(start_paused = true)]
async fn watches_tell_their_progress() {
    let server = server();
    let before = create(&server).await;
    let revision = text(&before, "/metadata/resourceVersion");
    let path = format!(
        "{FOOS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion={revision}"
    );
    let silent = call(&server, Method::GET, &path, &[], "").await;
    assert_eq!(silent.text, "", "nothing happened");
    patch(&server, MERGE, r#"{"spec": {"a": 2}}"#).await;
    let answer = call(&server, Method::GET, &path, &[], "").await;
    let lines: Vec<Value> =
        answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| text(line, "/type")).collect();
    assert_eq!(kinds, ["MODIFIED", "BOOKMARK"]);
    assert_eq!(
        lines[1]["object"],
        json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {
            "resourceVersion": lines[0]["object"]["metadata"]["resourceVersion"]}}),
    );
    let unasked = path.replace("&allowWatchBookmarks=true", "");
    let unasked = call(&server, Method::GET, &unasked, &[], "").await;
    assert_eq!(unasked.text.lines().count(), 1, "{}", unasked.text);
}

/// A dump can be loaded again.
#[tokio::test]
async fn objects_are_loaded_and_dumped() {
    let objects = format!(
        "apiVersion: example.com/v1\nkind: Foo\nmetadata: {{name: a, namespace: team}}\n\
         spec: {{a: 1}}\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: {{name: team}}\n---\n{}\n",
        crate::support::definition(),
    );
    let fields = || {
        let uid = "00000000-0000-0000-0000-000000000001";
        billhook_admission::ServerFields::new(uid, "2026-01-02T03:04:05Z", "aaaaa")
    };
    let server = Server::builder().server_fields(fields).build();
    assert_eq!(server.load_text(&objects).await.unwrap(), 3);
    let dump = server.dump().await.unwrap();
    let foo = "apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  creationTimestamp: \
               \"2026-01-02T03:04:05Z\"\n  generation: 1\n  name: a\n  namespace: team\n  uid: \
               00000000-0000-0000-0000-000000000001\nspec:\n  a: 1\n";
    assert!(dump.ends_with(foo), "{dump}");
    assert!(!dump.contains("kube-system"), "{dump}");
    let again = Server::builder().server_fields(fields).build();
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("load");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("all.yaml"), &dump).unwrap();
    assert_eq!(again.load(&directory).await.unwrap(), 3);
    assert_eq!(again.dump().await.unwrap(), dump);
}

/// `kubectl get --output yaml` prints such objects.
#[tokio::test]
async fn lists_and_objects_of_another_server_are_loaded() {
    let server = Server::builder().build();
    let list = "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: \"\"}\nitems:\n\
                - apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a, namespace: default, \
                resourceVersion: \"71\", uid: 5b1c}\n  data: {key: one}\n\
                - apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n";
    assert_eq!(server.load_text(list).await.unwrap(), 2);
    let dump = server.dump().await.unwrap();
    assert!(dump.contains("key: one") && !dump.contains("5b1c"), "{dump}");
    let error = server.load_text(list).await.unwrap_err().to_string();
    assert_eq!(error, "text: ConfigMap a: configmaps \"a\" already exists");
}

#[tokio::test]
async fn what_cannot_be_loaded_says_where() {
    let server = Server::builder().build();
    for (objects, expected) in [
        ("a: [", "text: "),
        (
            "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a}\n",
            "text: Foo a: nothing is served for kind `Foo` of `example.com/v1`",
        ),
        ("kind: Foo\nmetadata: {name: a}\n", "text: Foo a: `apiVersion` is missing"),
        ("apiVersion: v1\nmetadata: {name: a}\n", "text: a: `kind` is missing"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: none}\n",
            "text: ConfigMap a: namespaces \"none\" not found",
        ),
    ] {
        let error = server.load_text(objects).await.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    let error = server.load("no/such/file.yaml").await.unwrap_err();
    assert_eq!(error.place(), "no/such/file.yaml");
}

/// RE-140: a body that says how long it is is not read; one that does not is read up to the limit.
#[tokio::test]
async fn bodies_of_gigabytes_are_not_read() {
    use http_body_util::StreamBody;
    let server = server();
    let chunk = bytes::Bytes::from(vec![b' '; 1 << 20]);
    let sent = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = std::sync::Arc::clone(&sent);
    let frames = (0..3 << 10).map(move |_| {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok::<_, std::convert::Infallible>(http_body::Frame::data(chunk.clone()))
    });
    let body = StreamBody::new(futures_util::stream::iter(frames));
    let request = http::Request::post(FOOS).body(body).unwrap();
    let response = tower_service::Service::call(&mut server.clone(), request).await.unwrap();
    assert_eq!(response.status(), 413);
    assert!(sent.load(std::sync::atomic::Ordering::Relaxed) <= 5, "3 GB were not read");
}

/// RE-14, RE-124: a scale has the order of its type, not that of custom resources.
#[tokio::test]
async fn scales_have_the_order_of_their_type() {
    let mut definition = crate::support::definition();
    definition["spec"]["versions"][0]["subresources"]["scale"] =
        json!({"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"});
    let server = Server::builder().definition(&definition).unwrap().build();
    let metadata = create(&server).await["metadata"].clone();
    let [uid, revision, created] =
        ["uid", "resourceVersion", "creationTimestamp"].map(|name| metadata[name].to_string());
    let scale = call(&server, Method::GET, &format!("{FOOS}/a/scale"), &[], "").await;
    assert_eq!(
        scale.text,
        format!(
            "{{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{{\"name\":\"a\",\
             \"namespace\":\"default\",\"uid\":{uid},\"resourceVersion\":{revision},\
             \"creationTimestamp\":{created}}},\"spec\":{{\"replicas\":1}},\"status\":\
             {{\"replicas\":0}}}}\n"
        ),
    );
}

/// RE-14: the same characters are escaped in every answer, whatever it was made of.
#[tokio::test]
async fn characters_that_are_escaped() {
    let server = server();
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "a", "annotations": {"n": "<>&\u{2028}\u{2029}\u{e9}"}}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": object["metadata"]});
    let maps = "/api/v1/namespaces/default/configmaps";
    let escaped = r#"{"n":"\u003c\u003e\u0026\u2028\u2029é"}"#;
    for (path, object) in [(FOOS, object), (maps, map)] {
        let one = format!("{path}/a");
        let label = r#"{"metadata": {"labels": {"l": "m"}}}"#;
        let merge = [("content-type", MERGE)];
        for answer in [
            call(&server, Method::POST, path, &[], &object.to_string()).await,
            call(&server, Method::GET, &one, &[], "").await,
            call(&server, Method::GET, path, &[], "").await,
            call(&server, Method::PATCH, &one, &merge, label).await,
            call(&server, Method::GET, &one, &[], "").await,
        ] {
            assert!(answer.text.contains(escaped), "{}", answer.text);
        }
    }
}

/// RE-15: large answers are compressed for those who ask for it only.
#[tokio::test]
async fn large_answers_are_compressed() {
    let server = server();
    for name in ["a", "b"] {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
            "metadata": {"name": name}, "spec": {"color": "x".repeat(100_000)}});
        assert_eq!(call(&server, Method::POST, FOOS, &[], &object.to_string()).await.code, 201);
    }
    let plain = call(&server, Method::GET, FOOS, &[], "").await.text;
    for (path, encodings, is_compressed) in [
        (FOOS.to_owned(), "gzip", true),
        (FOOS.to_owned(), "deflate, gzip", true),
        (FOOS.to_owned(), "deflate, br", false),
        (format!("{FOOS}/a"), "gzip", false),
    ] {
        let request = http::Request::get(&path).header("accept-encoding", encodings);
        let request = request.body(String::new()).unwrap();
        let answer = tower_service::Service::call(&mut server.clone(), request).await.unwrap();
        let (head, body) = answer.into_parts();
        let encoding = head.headers.get("content-encoding").map(|value| value.to_str().unwrap());
        assert_eq!(encoding, is_compressed.then_some("gzip"), "{path} {encodings}");
        if is_compressed {
            assert_eq!(head.headers["vary"], "Accept-Encoding");
            let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
            assert!(body.len() < 10_000, "{}", body.len());
            let text = std::io::read_to_string(flate2::read::GzDecoder::new(&*body)).unwrap();
            assert_eq!(text, plain);
        }
    }
}

/// RE-22: a write of one object has less time than other requests, and says so as a Status.
#[tokio::test(start_paused = true)]
async fn writes_have_little_time() {
    struct Slow;
    impl WebhookCaller for Slow {
        fn call<'a>(
            &'a self,
            _: WebhookCall<'a>,
        ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
            Box::pin(std::future::pending())
        }
    }
    let definition = crate::support::definition();
    let server = Server::builder().definition(&definition).unwrap().webhooks(Slow).build();
    create(&server).await;
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "slow"},
        "webhooks": [{"name": "slow.example.com", "admissionReviewVersions": ["v1"],
            "sideEffects": "None", "clientConfig": {"url": "https://example.com"},
            "rules": [{"operations": ["*"], "apiGroups": ["example.com"], "apiVersions": ["*"],
                "resources": ["*"]}]}]});
    assert_eq!(call(&server, Method::POST, path, &[], &configuration.to_string()).await.code, 201);
    let own =
        "Timeout: request did not complete within requested timeout - context deadline exceeded";
    let others = "Timeout: request did not complete within the allotted timeout";
    let one = format!("{FOOS}/a");
    for (method, path, seconds, message) in [
        (Method::DELETE, one.clone(), 34, own),
        (Method::DELETE, format!("{one}?timeout=5s"), 5, others),
        (Method::DELETE, FOOS.to_owned(), 60, others),
    ] {
        let began = tokio::time::Instant::now();
        let answer = call(&server, method, &path, &[], "").await;
        assert_eq!((answer.code, answer.message().as_str()), (504, message), "{path}");
        assert_eq!(began.elapsed().as_secs(), seconds, "{path}");
    }
}

/// DI-50, DI-53, RE-22: a webhook has no more time than what is left to the request, and what it fails
/// with at the end of that comes too late.
#[tokio::test]
async fn webhooks_have_the_time_of_the_request() {
    #[derive(Default)]
    struct Patient(Mutex<Vec<Duration>>);
    impl WebhookCaller for Patient {
        fn call<'a>(
            &'a self,
            call: WebhookCall<'a>,
        ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
            let time = call.timeout.unwrap();
            self.0.lock().unwrap().push(time);
            Box::pin(async move {
                let waits = call.review.request.as_ref().is_some_and(|asked| asked.name == "wait");
                tokio::time::sleep(if waits { time } else { Duration::ZERO }).await;
                Err(CallerError::Exchange(CallFailure::new("no answer")))
            })
        }
    }
    let caller = Arc::new(Patient::default());
    let definition = crate::support::definition();
    let builder = Server::builder().definition(&definition).unwrap();
    let server = builder.webhooks(Arc::clone(&caller)).build();
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "patient"},
        "webhooks": [{"name": "patient.example.com", "admissionReviewVersions": ["v1"],
            "sideEffects": "None", "clientConfig": {"url": "https://example.com"},
            "failurePolicy": "Ignore", "timeoutSeconds": 10,
            "rules": [{"operations": ["*"], "apiGroups": ["example.com"], "apiVersions": ["*"],
                "resources": ["*"]}]}]});
    assert_eq!(call(&server, Method::POST, path, &[], &configuration.to_string()).await.code, 201);
    let late = "Timeout: request did not complete within the allotted timeout";
    for (name, timeout, seconds, code) in
        [("a", "", 10, 201), ("b", "?timeout=8500ms", 9, 201), ("wait", "?timeout=99ms", 1, 504)]
    {
        let object =
            json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name}});
        let path = format!("{FOOS}{timeout}");
        let answer = call(&server, Method::POST, &path, &[], &object.to_string()).await;
        assert_eq!(answer.code, code, "{name}: {}", answer.text);
        if code == 504 {
            assert_eq!(answer.message(), late);
            assert_eq!(answer.json().get("kind"), None);
        }
        let sent = caller.0.lock().unwrap().pop().unwrap();
        assert_eq!(sent.as_secs_f64().ceil(), f64::from(seconds), "{name}: {sent:?}");
    }
    let absent = call(&server, Method::GET, &format!("{FOOS}/wait"), &[], "").await;
    assert_eq!(absent.code, 404);
}

/// RE-01, RE-58: odd paths and tokens are answered, never served by mistake.
#[tokio::test]
async fn tricks_with_paths_and_tokens_fail() {
    let server = server();
    create(&server).await;
    for (path, codes) in [
        ("/apis/example.com/v1/namespaces/default/foos/..%2fa", [404, 404]),
        ("/apis/example.com/v1/namespaces/default/foos/%2e%2e", [400, 400]),
        ("/apis/example.com/v1/namespaces/default/foos/a%00", [404, 404]),
        ("/apis/example.com/v1/namespaces/..%2fdefault/foos", [404, 404]),
        ("/apis/example.com/v1//foos", [404, 404]),
        ("//apis/example.com/v1/foos", [404, 404]),
        ("/apis/example.com/v1/namespaces/default/foos/%ff", [404, 400]),
        ("/apis/../etc/passwd", [404, 404]),
    ] {
        let answer = call(&server, Method::GET, path, &[], "").await;
        assert!(codes.contains(&answer.code), "{path}: {}", answer.code);
    }
    for token in [
        "garbage",
        "!!",
        "e30",
        "%00",
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiLy4uL2EifQ",
    ] {
        let path = format!("{FOOS}?limit=1&continue={token}");
        let answer = call(&server, Method::GET, &path, &[], "").await;
        assert_eq!(answer.code, 400, "{token}: {}", answer.text);
        let prefix = "invalid continue token: continue key is not valid: ";
        assert!(answer.message().starts_with(prefix), "{}", answer.message());
    }
}
