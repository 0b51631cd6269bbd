//! Objects in other versions than the stored one: a converter in the place of a webhook (CX-10 to
//! CX-13), and the time of requests (RE-22).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use billhook_admission::{BoxFuture, Converter, ConverterError};
use billhook_apimachinery::value::DeepValue;
use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{Answer, call, text};

fn definition() -> Value {
    let version = |name: &str, field: &str| {
        json!({"name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {field: {"type": "string"}}}}}}})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo", "listKind": "FooList", "singular": "foo"},
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": {"service": {"namespace": "shop", "name": "converter"}},
                "conversionReviewVersions": ["v1"]}},
            "versions": [version("v1", "one"), version("v2", "two")]},
    })
}

/// Renames the field, unless it is out of order.
fn server(is_broken: &Arc<AtomicBool>) -> Server {
    let is_broken = Arc::clone(is_broken);
    let converter = move |object: &Value, api_version: &str| {
        if is_broken.load(Ordering::Relaxed) {
            return Err("out of order".into());
        }
        let mut object = object.clone();
        object["apiVersion"] = api_version.into();
        let (from, to) =
            if api_version == "example.com/v1" { ("two", "one") } else { ("one", "two") };
        let value = object["spec"].as_object_mut().and_then(|spec| spec.remove(from));
        object["spec"][to] = value.unwrap_or_default();
        Ok(object)
    };
    let builder = Server::builder().conversion_service("shop", "converter", converter);
    builder.definition(&definition()).unwrap().build()
}

fn path(version: &str, rest: &str) -> String {
    format!("/apis/example.com/{version}/namespaces/default/foos{rest}")
}

async fn get(server: &Server, version: &str, rest: &str) -> Answer {
    call(server, Method::GET, &path(version, rest), &[], "").await
}

async fn create(server: &Server, version: &str, name: &str, spec: &Value) -> Answer {
    let object = json!({"apiVersion": format!("example.com/{version}"), "kind": "Foo",
        "metadata": {"name": name}, "spec": spec});
    call(server, Method::POST, &path(version, ""), &[], &object.to_string()).await
}

#[tokio::test]
async fn objects_are_read_in_every_version() {
    let server = server(&Arc::default());
    assert_eq!(create(&server, "v2", "a", &json!({"two": "x"})).await.code, 201);
    assert_eq!(get(&server, "v1", "/a").await.json()["spec"], json!({"one": "x"}));
    assert_eq!(get(&server, "v2", "/a").await.json()["spec"], json!({"two": "x"}));
    let list = get(&server, "v2", "").await.json();
    assert_eq!(list["items"][0]["apiVersion"], "example.com/v2");
    let watch = get(&server, "v2", "?watch=1&timeoutSeconds=1").await;
    assert_eq!(text(&watch.json(), "/type"), "ADDED");
    assert_eq!(watch.json()["object"]["spec"], json!({"two": "x"}));
}

/// CX-13.
#[tokio::test]
async fn conversions_that_fail_are_told() {
    let is_broken = Arc::new(AtomicBool::new(false));
    let server = server(&is_broken);
    assert_eq!(create(&server, "v1", "a", &json!({"one": "x"})).await.code, 201);
    is_broken.store(true, Ordering::Relaxed);
    assert_eq!(get(&server, "v1", "/a").await.code, 200);
    let message = "conversion webhook for example.com/v1, Kind=Foo failed: out of order";
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {},
        "status": "Failure", "message": message, "code": 500});
    for rest in ["", "/a"] {
        let answer = get(&server, "v2", rest).await;
        assert_eq!((answer.code, answer.json()), (500, status.clone()));
    }
    let watch = get(&server, "v2", "?watch=1&timeoutSeconds=1").await;
    assert_eq!(watch.code, 200);
    let event = watch.json();
    assert_eq!(text(&event, "/type"), "ERROR");
    assert_eq!(text(&event, "/object/reason"), "InternalError");
    assert_eq!(text(&event, "/object/message"), format!("Internal error occurred: {message}"));
}

/// Never answers.
struct Stuck;

impl Converter for Stuck {
    fn convert<'a>(
        &'a self,
        _: &'a [&'a Value],
        _: &'a str,
    ) -> BoxFuture<'a, Result<Vec<DeepValue>, ConverterError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn requests_have_their_time() {
    let builder = Server::builder().conversion_service("shop", "converter", Stuck);
    let server = builder.definition(&definition()).unwrap().build();
    assert_eq!(create(&server, "v1", "a", &json!({"one": "x"})).await.code, 201);
    let answer = get(&server, "v2", "/a?timeout=10ms").await;
    assert_eq!(answer.code, 504);
    assert_eq!(answer.headers["content-type"], "text/plain; charset=utf-8");
    let message = "Timeout: request did not complete within the allotted timeout";
    assert_eq!(
        answer.json(),
        json!({"metadata": {}, "status": "Failure", "message": message, "reason": "Timeout",
            "details": {}, "code": 504})
    );
    let answer = get(&server, "v1", "/a?timeout=x").await;
    assert_eq!(answer.code, 400);
    assert_eq!(
        answer.message(),
        "invalid timeout specified in the request URL - time: invalid duration \"x\""
    );
}

/// RE-56, CX-11: no object is converted whose name or namespace cannot be selected.
#[tokio::test]
async fn objects_that_fields_rule_out_are_not_read() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let converter = move |object: &Value, api_version: &str| {
        counted.fetch_add(1, Ordering::Relaxed);
        let mut object = object.clone();
        object["apiVersion"] = api_version.into();
        Ok(object)
    };
    let builder = Server::builder().conversion_service("shop", "converter", converter);
    let server = builder.definition(&definition()).unwrap().build();
    for name in ["a", "a1", "b"] {
        assert_eq!(create(&server, "v1", name, &json!({})).await.code, 201);
    }
    let all = "/apis/example.com/v2/foos";
    let own = path("v2", "");
    for (path, expected, converted) in [
        (format!("{own}?fieldSelector=metadata.name%3Da"), json!(["a"]), 1),
        (format!("{own}?fieldSelector=metadata.name%3Da&limit=1"), json!(["a"]), 1),
        (format!("{own}?fieldSelector=metadata.name%3Dc"), json!([]), 0),
        (format!("{own}?fieldSelector=metadata.name!%3Da"), json!(["a1", "b"]), 3),
        // Without a namespace a name is not a key.
        (format!("{all}?fieldSelector=metadata.name%3Da"), json!(["a"]), 3),
        (format!("{all}?fieldSelector=metadata.namespace%3Dother"), json!([]), 0),
        (
            format!("{all}?fieldSelector=metadata.namespace%3Ddefault,metadata.name%3Da"),
            json!(["a"]),
            1,
        ),
    ] {
        calls.store(0, Ordering::Relaxed);
        let answer = call(&server, Method::GET, &path, &[], "").await.json();
        let names: Value = answer["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["metadata"]["name"].clone())
            .collect();
        assert_eq!(names, expected, "{path}");
        assert_eq!(answer["metadata"]["continue"], "", "{path}");
        assert_eq!(calls.load(Ordering::Relaxed), converted, "{path}");
    }
    calls.store(0, Ordering::Relaxed);
    let watch =
        get(&server, "v2", "?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Da").await;
    assert_eq!(text(&watch.json(), "/object/metadata/name"), "a");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

/// RE-56, RE-58: the pages of a namespace that a field selects follow each other.
#[tokio::test]
async fn pages_of_a_selected_namespace_follow_each_other() {
    let server = server(&Arc::default());
    for name in ["a", "b", "c"] {
        assert_eq!(create(&server, "v1", name, &json!({})).await.code, 201);
    }
    let list = "/apis/example.com/v1/foos?limit=2&fieldSelector=metadata.namespace%3Ddefault";
    let first = call(&server, Method::GET, list, &[], "").await.json();
    assert_eq!(first["items"].as_array().unwrap().len(), 2);
    let token = text(&first, "/metadata/continue");
    let second = call(&server, Method::GET, &format!("{list}&continue={token}"), &[], "").await;
    assert_eq!(text(&second.json(), "/items/0/metadata/name"), "c");
}

/// CX-13, RP-55: embedded metadata that the version of storage lets be anything.
#[tokio::test]
async fn what_a_version_cannot_read_is_told() {
    let embedded = json!({"type": "object", "x-kubernetes-embedded-resource": true,
        "x-kubernetes-preserve-unknown-fields": true});
    let mut definition = definition();
    definition["spec"]["conversion"] = json!({"strategy": "None"});
    let versions = &mut definition["spec"]["versions"];
    for (index, e) in
        [json!({"x-kubernetes-preserve-unknown-fields": true}), embedded].into_iter().enumerate()
    {
        versions[index]["schema"]["openAPIV3Schema"]["properties"]["e"] = e;
    }
    let server = Server::builder().definition(&definition).unwrap().build();
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"},
        "e": {"apiVersion": "v1", "kind": "Pod", "metadata": "x"}});
    let created = call(&server, Method::POST, &path("v1", ""), &[], &object.to_string()).await;
    assert_eq!(created.code, 201);
    assert_eq!(get(&server, "v1", "/a").await.json()["e"], object["e"]);
    let message = "e.metadata: Invalid value: \"x\": json: cannot unmarshal string into Go value of \
                   type v1.ObjectMeta";
    for rest in ["", "/a"] {
        let answer = get(&server, "v2", rest).await;
        assert_eq!((answer.code, answer.message()), (500, message.to_owned()));
        assert_eq!(answer.json().get("reason"), None);
    }
}

const MERGE: (&str, &str) = ("content-type", "application/merge-patch+json");
const PATH_OF_DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.example.com";

/// CX-13: only the answer fails.
#[tokio::test]
async fn a_write_whose_answer_cannot_be_converted_is_stored() {
    let left = Arc::new(AtomicUsize::new(1));
    let counted = Arc::clone(&left);
    let converter = move |object: &Value, api_version: &str| {
        let update = |left: usize| left.checked_sub(1);
        counted
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, update)
            .map_err(|_| "out of order")?;
        let mut object = object.clone();
        object["apiVersion"] = api_version.into();
        Ok(object)
    };
    let builder = Server::builder().conversion_service("shop", "converter", converter);
    let server = builder.definition(&definition()).unwrap().build();
    let message = "conversion webhook for example.com/v1, Kind=Foo failed: out of order";
    let answer = create(&server, "v2", "a", &json!({})).await;
    assert_eq!((answer.code, answer.message()), (500, message.to_owned()));
    let created = get(&server, "v1", "/a").await;
    assert_eq!(created.code, 200);
    // The object is read and written; its fields are tracked in its own version alone.
    left.store(2, Ordering::Relaxed);
    let labels = json!({"metadata": {"labels": {"a": "b"}}}).to_string();
    let answer = call(&server, Method::PATCH, &path("v2", "/a"), &[MERGE], &labels).await;
    assert_eq!((answer.code, answer.message()), (500, message.to_owned()));
    assert_eq!(get(&server, "v1", "/a").await.json()["metadata"]["labels"], json!({"a": "b"}));
}

/// CX-10, CX-60, CX-61, RP-53: objects keep the version that they were stored in until they are
/// written, and are not written if they are stored like that.
#[tokio::test]
async fn a_write_brings_an_object_to_the_version_of_storage() {
    let is_broken = Arc::new(AtomicBool::new(false));
    let server = server(&is_broken);
    for name in ["a", "b"] {
        assert_eq!(create(&server, "v1", name, &json!({"one": "x"})).await.code, 201);
    }
    let mut versions = definition()["spec"]["versions"].clone();
    versions[0]["storage"] = false.into();
    versions[1]["storage"] = true.into();
    let change = json!({"spec": {"versions": versions}}).to_string();
    let changed = call(&server, Method::PATCH, PATH_OF_DEFINITION, &[MERGE], &change).await;
    assert_eq!(changed.code, 200);
    let before = get(&server, "v1", "/a").await.json();
    let written = call(&server, Method::PATCH, &path("v1", "/a"), &[MERGE], "{}").await.json();
    assert_ne!(written["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"]);
    let again = call(&server, Method::PATCH, &path("v1", "/a"), &[MERGE], "{}").await.json();
    assert_eq!(again, written);
    is_broken.store(true, Ordering::Relaxed);
    for (version, name, code) in
        [("v1", "a", 500), ("v2", "a", 200), ("v1", "b", 200), ("v2", "b", 500)]
    {
        let answer = get(&server, version, &format!("/{name}")).await;
        assert_eq!(answer.code, code, "{name} in {version}");
    }
}

/// CX-03, CX-65, RP-82: what a version does not know is not shown in it, and a write through it loses it.
#[tokio::test]
async fn a_version_loses_what_it_does_not_know() {
    let mut definition = definition();
    definition["spec"]["conversion"] = json!({"strategy": "None"});
    let server = Server::builder().definition(&definition).unwrap().build();
    assert_eq!(create(&server, "v1", "a", &json!({"one": "x"})).await.code, 201);
    assert_eq!(get(&server, "v2", "/a").await.json()["spec"], json!({}));
    assert_eq!(get(&server, "v1", "/a").await.json()["spec"], json!({"one": "x"}));
    let change = json!({"spec": {"two": "y"}}).to_string();
    let answer = call(&server, Method::PATCH, &path("v2", "/a"), &[MERGE], &change).await;
    assert_eq!(answer.json()["spec"], json!({}));
    assert_eq!(get(&server, "v1", "/a").await.json()["spec"], json!({}));
}

/// CX-45, CX-63, CX-64: only labels and annotations of an answer count, and those of a write stay.
#[tokio::test]
async fn labels_that_a_webhook_drops_are_gone_after_a_write() {
    let converter = |object: &Value, api_version: &str| {
        let mut object = object.clone();
        object["apiVersion"] = api_version.into();
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.remove("labels");
        metadata.remove("managedFields");
        Ok(object)
    };
    let builder = Server::builder().conversion_service("shop", "converter", converter);
    let server = builder.definition(&definition()).unwrap().build();
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {"one": "x"}});
    let created =
        call(&server, Method::POST, &path("v1", ""), &[], &object.to_string()).await.json();
    let read = get(&server, "v2", "/a").await.json();
    assert_eq!(read["metadata"].get("labels"), None);
    assert_eq!(read["metadata"]["managedFields"], created["metadata"]["managedFields"]);
    assert_eq!(get(&server, "v1", "/a").await.json(), created);
    let change = json!({"spec": {"two": "y"}}).to_string();
    assert_eq!(call(&server, Method::PATCH, &path("v2", "/a"), &[MERGE], &change).await.code, 200);
    assert_eq!(get(&server, "v1", "/a").await.json()["metadata"].get("labels"), None);
}

/// Renames the field once it is told to.
struct Waiting(Arc<Notify>);

impl Converter for Waiting {
    fn convert<'a>(
        &'a self,
        objects: &'a [&'a Value],
        api_version: &'a str,
    ) -> BoxFuture<'a, Result<Vec<DeepValue>, ConverterError>> {
        Box::pin(async move {
            self.0.notified().await;
            let rename = |object: &&Value| {
                let mut object = DeepValue::from((*object).clone());
                object["apiVersion"] = api_version.into();
                object["spec"] = json!({"two": object["spec"]["one"]});
                object
            };
            Ok(objects.iter().map(rename).collect())
        })
    }
}

/// CX-01, CX-66: the strategy of a definition decides, and a request that began before it changed
/// ends with the old one.
#[tokio::test]
async fn the_strategy_may_change_under_a_request() {
    let told = Arc::new(Notify::new());
    let converter = Waiting(Arc::clone(&told));
    let builder = Server::builder().conversion_service("shop", "converter", converter);
    let server = builder.definition(&definition()).unwrap().build();
    assert_eq!(create(&server, "v1", "a", &json!({"one": "x"})).await.code, 201);
    let change = async {
        let change = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
        let change = change.to_string();
        let changed = call(&server, Method::PATCH, PATH_OF_DEFINITION, &[MERGE], &change).await;
        told.notify_one();
        changed.code
    };
    let (read, code) = tokio::join!(get(&server, "v2", "/a"), change);
    assert_eq!(code, 200);
    assert_eq!(read.json()["spec"], json!({"two": "x"}));
    assert_eq!(get(&server, "v2", "/a").await.json()["spec"], json!({}));
}

/// CX-10: a watch converts an object as it is, and then as it was if that has to be known.
#[tokio::test(start_paused = true)]
async fn watches_convert_the_current_object_first() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&log);
    let converter = move |object: &Value, api_version: &str| {
        seen.lock().unwrap().push(text(object, "/metadata/labels/a"));
        let mut object = object.clone();
        object["apiVersion"] = api_version.into();
        Ok(object)
    };
    let builder = Server::builder().conversion_service("shop", "converter", converter);
    let server = builder.definition(&definition()).unwrap().build();
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x", "labels": {"a": "old"}}});
    let created = call(&server, Method::POST, &path("v1", ""), &[], &object.to_string()).await;
    let revision = text(&created.json(), "/metadata/resourceVersion");
    let change = json!({"metadata": {"labels": {"a": "new"}}}).to_string();
    assert_eq!(call(&server, Method::PATCH, &path("v1", "/x"), &[MERGE], &change).await.code, 200);
    let options = format!("?watch=1&timeoutSeconds=1&resourceVersion={revision}");
    for (selector, kind, converted) in [
        ("", "MODIFIED", &["new"][..]),
        ("&labelSelector=a%3Dold", "DELETED", &["new", "old"]),
        ("&labelSelector=a%3Dnew", "ADDED", &["new", "old"]),
    ] {
        let server = server.fork();
        log.lock().unwrap().clear();
        let watch = get(&server, "v2", &format!("{options}{selector}")).await;
        assert_eq!(text(&watch.json(), "/type"), kind);
        assert_eq!(*log.lock().unwrap(), converted, "{selector}");
    }
}
