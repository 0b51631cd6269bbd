//! Conversion webhooks over HTTPS (CX-30 to CX-44).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use billhook::{CustomResourceDefinition, GroupVersionKind};
use billhook_admission::{
    Admission, Chain, CustomResources, MemoryCluster, ObjectModel as _, ObjectRequest,
};
use billhook_apimachinery::base64;
use billhook_webhook_client::{HttpsCaller, StaticResolver};
use serde_json::{Value, json};

use crate::server::{Handled, Received, Reply, Server};

/// A call as the webhook saw it: query, credentials and review.
type Seen = Arc<Mutex<Vec<(String, bool, Value)>>>;

struct World {
    model: CustomResources,
    seen: Seen,
    _server: Server,
}

/// A webhook that answers with what a function makes of the review; with none it never answers.
async fn world(
    versions: Value,
    answer: impl Fn(&Value) -> Option<Reply> + Send + Sync + 'static,
) -> World {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let handler = move |received: Received| -> Handled {
        let review: Value = serde_json::from_slice(&received.body).unwrap();
        let reply = answer(&review);
        let has_credentials = received.headers.contains_key("authorization");
        log.lock().unwrap().push((received.query.clone(), has_credentials, review));
        Box::pin(async move {
            match reply {
                Some(reply) => Some(reply),
                None => std::future::pending().await,
            }
        })
    };
    let server = Server::start("127.0.0.1:0", &["c.hooks.svc"], handler).await.unwrap();
    let resolver = StaticResolver::default().with("hooks", "c", &server.address().to_string());
    let config = json!({
        "service": {"namespace": "hooks", "name": "c", "path": "/convert"},
        "caBundle": base64::encode(server.authority().ca_bundle.as_bytes()),
    });
    let definition = definition(&versions, &config);
    let caller = HttpsCaller::default().resolver(resolver);
    let model = CustomResources::new(definition).caller(Arc::new(caller));
    World { model, seen, _server: server }
}

pub(crate) fn definition(versions: &Value, client_config: &Value) -> CustomResourceDefinition {
    let version = |name: &str| {
        json!({"name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": {"type": "object"}}})
    };
    CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": client_config,
                "conversionReviewVersions": versions,
            }},
            "versions": [version("v1"), version("v2")],
        },
    }))
    .unwrap()
}

pub(crate) fn object(version: &str, name: &str) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Foo",
        "metadata": {"name": name, "namespace": "n", "uid": "u"}, "spec": {"a": 1}})
}

/// The answer in which every object has the version that is wanted.
pub(crate) fn good(review: &Value) -> Value {
    let request = &review["request"];
    let convert = |object: &Value| {
        let mut object = object.clone();
        object["apiVersion"] = request["desiredAPIVersion"].clone();
        object
    };
    let objects: Value = request["objects"].as_array().unwrap().iter().map(convert).collect();
    json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": {
        "uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"}}})
}

fn sent(answer: &Value) -> Option<Reply> {
    Some(Reply::json(answer.to_string()))
}

async fn convert(world: &World) -> Result<Value, String> {
    let to = GroupVersionKind::new("example.com", "v2", "Foo");
    let converted = world.model.convert(&object("v1", "x"), &to).await;
    converted.map(|object| object.into_inner()).map_err(|error| error.to_string())
}

/// CX-30 to CX-34: both versions of reviews, the time of the call, no credentials.
#[tokio::test]
async fn objects_are_converted() {
    for (versions, expected) in [(json!(["v1"]), "v1"), (json!(["v7", "v1beta1"]), "v1beta1")] {
        let world = world(versions, |review| sent(&good(review))).await;
        assert_eq!(convert(&world).await, Ok(object("v2", "x")));
        let seen = world.seen.lock().unwrap();
        let [(query, has_credentials, review)] = seen.as_slice() else { panic!("one call") };
        assert_eq!((query.as_str(), *has_credentials), ("timeout=30s", false));
        assert_eq!(review["apiVersion"], format!("apiextensions.k8s.io/{expected}"));
        assert_eq!(review["request"]["objects"], json!([object("v1", "x")]));
        assert_eq!(review["request"]["desiredAPIVersion"], "example.com/v2");
    }
}

/// CX-22, CX-44: the items of other versions are in one review.
#[tokio::test]
async fn items_of_a_list_are_converted_together() {
    let world = world(json!(["v1"]), |review| sent(&good(review))).await;
    let list = |versions: [&str; 3]| {
        let items: Value =
            versions.iter().zip(["x", "y", "z"]).map(|it| object(it.0, it.1)).collect();
        json!({"apiVersion": format!("example.com/{}", versions[0]), "kind": "FooList", "items": items})
    };
    let to = GroupVersionKind::new("example.com", "v2", "Foo");
    let converted = world.model.convert_list(&list(["v1", "v2", "v1"]), &to).await.unwrap();
    assert_eq!(*converted, list(["v2", "v2", "v2"]));
    let seen = world.seen.lock().unwrap();
    let [(_, _, review)] = seen.as_slice() else { panic!("one call") };
    assert_eq!(review["request"]["objects"], json!([object("v1", "x"), object("v1", "z")]));
}

/// CX-40 to CX-43.
#[tokio::test]
async fn bad_answers_are_told() {
    type Answer = Box<dyn Fn(&Value) -> Option<Reply> + Send + Sync>;
    const STATUS: &str =
        r#"{"apiVersion":"v1","kind":"Status","status":"Failure","message":"full"}"#;
    let failed = "conversion webhook for example.com/v1, Kind=Foo failed: ";
    let returned = "conversion webhook for example.com/v1, Kind=Foo returned ";
    let with = |pointer: &'static str, value: Value| {
        move |review: &Value| {
            let mut answer = good(review);
            *answer.pointer_mut(pointer).unwrap() = value.clone();
            sent(&answer)
        }
    };
    let refuse = |_: &Value| Some(Reply { status: 500, ..Reply::json(STATUS) });
    let accept = |_: &Value| Some(Reply::json(STATUS));
    let text = |_: &Value| Some(Reply::new(200, Vec::new(), "garbage"));
    let cases: Vec<(Answer, String)> = vec![
        (Box::new(refuse), format!("{failed}full")),
        (
            Box::new(accept),
            format!("{failed}converting (v1.Status) to (v1.ConversionReview): unknown conversion"),
        ),
        (
            Box::new(text),
            format!(
                "{failed}couldn't get version/kind; json parse error: json: cannot unmarshal \
                 string into Go value of type struct {{ APIVersion string \
                 \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
                 \"json:\\\"kind,omitempty\\\"\" }}"
            ),
        ),
        (
            Box::new(with("/apiVersion", json!("apiextensions.k8s.io/v1beta1"))),
            format!(
                "{failed}converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown \
                 conversion"
            ),
        ),
        (
            Box::new(with("/response/result/status", json!("success"))),
            format!("{failed}response.result.status was 'success', not 'Success'"),
        ),
        (
            Box::new(with("/response/result", json!({"status": "Failed", "message": "no"}))),
            format!("{failed}no"),
        ),
        (
            Box::new(with("/response/convertedObjects", json!([]))),
            format!("{returned}0 objects, expected 1"),
        ),
        (
            Box::new(with("/response/convertedObjects/0/metadata/name", json!("y"))),
            format!("{returned}invalid object: must have the same name: x != y"),
        ),
    ];
    for (answer, expected) in cases {
        let world = world(json!(["v1"]), answer).await;
        assert_eq!(convert(&world).await, Err(expected));
    }
}

/// CX-34: a call has 30 seconds.
#[tokio::test]
async fn a_call_has_its_time() {
    let world = world(json!(["v1"]), |_| None).await;
    let seen = Arc::clone(&world.seen);
    let call = async { convert(&world).await };
    let wait = async {
        while seen.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(29)).await;
        tokio::time::advance(Duration::from_secs(2)).await;
    };
    let (outcome, ()) = tokio::join!(call, wait);
    let expected = "conversion webhook for example.com/v1, Kind=Foo failed: Post \
                    \"https://c.hooks.svc:443/convert?timeout=30s\": context deadline exceeded";
    assert_eq!(outcome, Err(expected.to_owned()));
}

/// CX-33: nothing is served whose conversion webhook can never be called.
#[test]
fn unusable_webhooks_fail_every_request() {
    let service = json!({"namespace": "hooks", "name": "c"});
    let bundle = |text: &str| base64::encode(text.as_bytes());
    let unusable = "Internal error occurred: error resolving resource";
    for (config, expected) in [
        (json!({"service": service, "caBundle": bundle("no certificate")}), Some(unusable)),
        (json!({"url": "https://h.example.com:port/c"}), Some(unusable)),
        (json!({"service": service, "caBundle": bundle(" \n")}), None),
        (json!({"url": "https://h.example.com/c"}), None),
    ] {
        let definition = definition(&json!(["v1"]), &config);
        let admission = Admission::new(definition, Chain::new(HttpsCaller::default()));
        let body = object("v1", "x").to_string();
        let request = ObjectRequest::create("v1", body.as_bytes()).namespace("n");
        let refused = admission.admit_blocking(&request, &MemoryCluster::new()).result.err();
        assert_eq!(refused.map(|status| status.message).as_deref(), expected, "{config}");
    }
}
