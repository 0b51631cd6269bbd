//! Conversion by webhooks: what they are asked, and what is made of their answers (CX-20 to CX-44).

use std::sync::{Arc, Mutex};

use billhook::{CustomResourceDefinition, GroupVersionKind};
use billhook_admission::{
    BoxFuture, CallerError, ConversionCall, ConversionResponse, ConversionReview, CustomResources,
    ObjectModel as _, WebhookAnswer, WebhookCall, WebhookCaller,
};
use serde_json::{Value, json};

/// Answers with what a function makes of the review, and remembers the reviews.
pub(crate) struct Webhook<A> {
    pub(crate) answer: A,
    pub(crate) seen: Arc<Mutex<Vec<Value>>>,
}

impl<A: Fn(&Value) -> String + Send + Sync> WebhookCaller for Webhook<A> {
    fn call<'a>(&'a self, _: WebhookCall<'a>) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        panic!("no admission here")
    }

    fn convert<'a>(
        &'a self,
        call: ConversionCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        assert_eq!(call.client_config.url.as_deref(), Some("https://h/convert"));
        let review: Value = serde_json::from_slice(&call.review.to_json()).unwrap();
        let body = (self.answer)(&review);
        self.seen.lock().unwrap().push(review);
        Box::pin(std::future::ready(Ok(WebhookAnswer::new("application/json", body))))
    }
}

pub(crate) fn definition(versions: &Value) -> CustomResourceDefinition {
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
                "clientConfig": {"url": "https://h/convert"},
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

pub(crate) fn v2() -> GroupVersionKind {
    GroupVersionKind::new("example.com", "v2", "Foo")
}

struct Asked {
    result: Result<Value, String>,
    seen: Vec<Value>,
}

/// Converts an object or a list to v2.
async fn asked(
    versions: &Value,
    subject: &Value,
    answer: impl Fn(&Value) -> String + Send + Sync + 'static,
) -> Asked {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let webhook = Webhook { answer, seen: Arc::clone(&seen) };
    let model = CustomResources::new(definition(versions)).caller(Arc::new(webhook));
    let result = match subject.get("items") {
        Some(_) => model.convert_list(subject, &v2()).await,
        None => model.convert(subject, &v2()).await,
    };
    let result = result.map(|found| found.into_inner()).map_err(|error| error.to_string());
    let seen = seen.lock().unwrap().clone();
    Asked { result, seen }
}

/// An answer in which every object has the version that is wanted.
pub(crate) fn good(review: &Value) -> Value {
    let request = &review["request"];
    let convert = |object: &Value| {
        let mut object = object.clone();
        object["apiVersion"] = request["desiredAPIVersion"].clone();
        object
    };
    let objects: Value = request["objects"].as_array().unwrap().iter().map(convert).collect();
    json!({
        "apiVersion": review["apiVersion"],
        "kind": review["kind"],
        "response": {
            "uid": request["uid"],
            "convertedObjects": objects,
            "result": {"status": "Success"},
        },
    })
}

/// A good answer with one member replaced, or removed by null.
pub(crate) fn but(review: &Value, pointer: &str, value: Value) -> String {
    let mut answer = good(review);
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = answer.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match value {
        Value::Null => parent.remove(name),
        value => parent.insert(name.to_owned(), value),
    };
    answer.to_string()
}

/// CX-30, CX-31.
#[tokio::test]
async fn a_webhook_is_asked_in_the_first_version_it_knows() {
    for (versions, expected) in [
        (json!(["v1"]), "v1"),
        (json!(["v1beta1"]), "v1beta1"),
        (json!(["v2", "v1beta1", "v1"]), "v1beta1"),
    ] {
        let found = asked(&versions, &object("v1", "x"), |review| good(review).to_string()).await;
        assert_eq!(found.result, Ok(object("v2", "x")));
        let [review] = found.seen.as_slice() else { panic!("one call") };
        let uid = review["request"]["uid"].as_str().unwrap();
        assert_eq!(uid.len(), 36);
        let expected = json!({
            "apiVersion": format!("apiextensions.k8s.io/{expected}"),
            "kind": "ConversionReview",
            "request": {
                "uid": uid,
                "desiredAPIVersion": "example.com/v2",
                "objects": [object("v1", "x")],
            },
            "response": {"uid": "", "convertedObjects": null, "result": {"metadata": {}}},
        });
        assert_eq!(*review, expected);
    }
}

/// CX-20, CX-21, CX-23.
#[tokio::test]
async fn nobody_is_asked_without_need() {
    let never = |_: &Value| -> String { panic!("nothing to convert") };
    let bare = json!({"apiVersion": "example.com/v1", "kind": "Foo"});
    let found = asked(&json!(["v9"]), &bare, never).await;
    assert_eq!(found.result, Ok(json!({"apiVersion": "example.com/v2", "kind": "Foo"})));
    let found = asked(&json!(["v1"]), &object("v2", "x"), never).await;
    assert_eq!(found.result, Ok(object("v2", "x")));
    for version in ["v1", "v2"] {
        let found = asked(&json!(["v9"]), &object(version, "x"), never).await;
        assert_eq!(found.result, Err("no supported conversion review versions".to_owned()));
    }
}

/// CX-40 to CX-43.
#[tokio::test]
async fn answers_are_checked() {
    type Answer = fn(&Value) -> String;
    let failed = "conversion webhook for example.com/v1, Kind=Foo failed: ";
    let returned = "conversion webhook for example.com/v1, Kind=Foo returned ";
    let answers: [(Answer, String); 19] = [
        (
            |r| but(r, "/kind", Value::Null),
            failed.to_owned()
                + "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got \
               apiextensions.k8s.io/v1, Kind=",
        ),
        (
            |_| "{}".to_owned(),
            failed.to_owned()
                + "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got \
               /, Kind=",
        ),
        (
            |r| but(r, "/apiVersion", "apiextensions.k8s.io/v1beta1".into()),
            failed.to_owned()
                + "converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion",
        ),
        (
            |_| r#"{"apiVersion": "v1", "kind": "Status", "status": "Failure"}"#.to_owned(),
            failed.to_owned()
                + "converting (v1.Status) to (v1.ConversionReview): unknown conversion",
        ),
        (
            |r| but(r, "/kind", "AdmissionReview".into()),
            failed.to_owned()
                + "no kind \"AdmissionReview\" is registered for version \"apiextensions.k8s.io/v1\" in \
               scheme \"k8s.io/apiserver/pkg/util/webhook/client.go:71\"",
        ),
        (
            |_| "garbage".to_owned(),
            failed.to_owned()
                + "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go \
               value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind \
               string \"json:\\\"kind,omitempty\\\"\" }",
        ),
        (|r| but(r, "/response", Value::Null), failed.to_owned() + "no response provided"),
        (
            |r| but(r, "/response/uid", "u".into()),
            failed.to_owned() + "expected response.uid=\"UID\", got \"u\"",
        ),
        (
            |r| but(r, "/response/uid", Value::Null),
            failed.to_owned() + "expected response.uid=\"UID\", got \"\"",
        ),
        (
            |r| but(r, "/response/result", json!({"status": "success"})),
            failed.to_owned() + "response.result.status was 'success', not 'Success'",
        ),
        (
            |r| but(r, "/response/result", Value::Null),
            failed.to_owned() + "response.result.status was '', not 'Success'",
        ),
        (
            |r| {
                but(
                    r,
                    "/response/result",
                    json!({"message": "no", "code": 422, "reason": "Invalid"}),
                )
            },
            failed.to_owned() + "no",
        ),
        (
            |r| but(r, "/response/convertedObjects", "x".into()),
            failed.to_owned()
                + "json: cannot unmarshal string into Go struct field \
                   ConversionResponse.response.convertedObjects of type []runtime.RawExtension",
        ),
        (
            |r| but(r, "/response/convertedObjects", json!([])),
            returned.to_owned() + "0 objects, expected 1",
        ),
        (
            |r| but(r, "/response/convertedObjects", Value::Null),
            returned.to_owned() + "0 objects, expected 1",
        ),
        (
            |r| but(r, "/response/convertedObjects", json!([1, 2])),
            returned.to_owned() + "2 objects, expected 1",
        ),
        (
            |r| but(r, "/response/convertedObjects", json!([null])),
            "unexpected end of JSON input".to_owned(),
        ),
        (
            |r| but(r, "/response/convertedObjects", json!([[]])),
            "json: cannot unmarshal array into Go value of type map[string]interface {}".to_owned(),
        ),
        (
            |r| good(r).to_string().replace(r#""kind":"Foo","#, "  "),
            "Object 'Kind' is missing in '{\"apiVersion\":\"example.com/v2\",  \
             \"metadata\":{\"name\":\"x\",\"namespace\":\"n\",\"uid\":\"u\"},\"spec\":{\"a\":1}}'"
                .to_owned(),
        ),
    ];
    for (answer, expected) in answers {
        let found = asked(&json!(["v1"]), &object("v1", "x"), answer).await;
        let uid = found.seen[0]["request"]["uid"].as_str().unwrap();
        assert_eq!(found.result, Err(expected.replace("UID", uid)));
    }
}

/// CX-47: numbers are read as in every body (SS-01).
#[tokio::test]
async fn numbers_of_answers_are_those_of_bodies() {
    let answer = |review: &Value| {
        let numbers = r#"{"a": 1.0, "b": 1e3, "c": 9007199254740993, "d": 18446744073709551616}"#;
        but(review, "/response/convertedObjects/0/spec", "numbers".into())
            .replace(r#""numbers""#, numbers)
    };
    let found = asked(&json!(["v1"]), &object("v1", "x"), answer).await;
    let spec = found.result.unwrap()["spec"].take();
    assert!(spec["a"].is_f64() && spec["b"].is_f64() && spec["d"].is_f64());
    let printed = r#"{"a":1,"b":1000,"c":9007199254740993,"d":18446744073709552000}"#;
    assert_eq!(billhook::to_json(&spec), printed);
}

/// CX-41: the older version checks neither type nor UID.
#[tokio::test]
async fn answers_of_the_older_version_are_hardly_checked() {
    let found = asked(&json!(["v1beta1"]), &object("v1", "x"), |review| {
        let mut answer = good(review);
        answer["response"]["uid"] = "other".into();
        let members = answer.as_object_mut().unwrap();
        members.remove("apiVersion");
        members.remove("kind");
        answer.to_string()
    })
    .await;
    assert_eq!(found.result, Ok(object("v2", "x")));
}

/// YAML is read too, and then the text of an element is that of the JSON it becomes.
#[tokio::test]
async fn answers_may_be_in_yaml() {
    let found =
        asked(&json!(["v1"]), &object("v1", "x"), |review| billhook::to_yaml(&good(review))).await;
    assert_eq!(found.result, Ok(object("v2", "x")));
    let found = asked(&json!(["v1"]), &object("v1", "x"), |review| {
        let answer = but(review, "/response/convertedObjects", json!([{"a": 1}]));
        billhook::to_yaml(&serde_json::from_str(&answer).unwrap())
    })
    .await;
    assert_eq!(found.result, Err("Object 'Kind' is missing in '{\"a\":1}'".to_owned()));
}

pub(crate) fn list(items: &[Value]) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "FooList", "metadata": {}, "items": items})
}

/// CX-01, CX-22, CX-44.
#[tokio::test]
async fn lists_are_converted_in_one_call() {
    let items = [object("v1", "a"), object("v2", "b"), object("v1", "c")];
    let found = asked(&json!(["v1"]), &list(&items), |review| good(review).to_string()).await;
    let converted = [object("v2", "a"), object("v2", "b"), object("v2", "c")];
    let mut expected = list(&converted);
    expected["apiVersion"] = "example.com/v2".into();
    assert_eq!(found.result, Ok(expected.clone()));
    assert_eq!(found.seen.len(), 1);
    let sent = &found.seen[0]["request"]["objects"];
    assert_eq!(*sent, json!([object("v1", "a"), object("v1", "c")]));

    let never = |_: &Value| -> String { panic!("nothing to convert") };
    let found = asked(&json!(["v1"]), &list(&converted), never).await;
    assert_eq!(found.result, Ok(expected));
}

/// CX-02, CX-44: items are counted among those that were sent.
#[tokio::test]
async fn errors_in_lists_name_the_item() {
    let items = list(&[object("v2", "a"), object("v1", "b"), object("v1", "c")]);
    let subject = "conversion webhook for example.com/v1, Kind=FooList returned ";
    type Answer = fn(&mut Value);
    let answers: [(Answer, &str); 5] = [
        (
            |o| o[1]["apiVersion"] = "example.com/v1".into(),
            "invalid converted object at index 1: invalid groupVersion (expected example.com/v2, \
             received example.com/v1)",
        ),
        (
            |o| o[1]["metadata"]["name"] = "d".into(),
            "invalid converted object at index 1: must have the same name: c != d",
        ),
        (
            |o| o[0] = Value::Null,
            "invalid converted object at index 0: unexpected end of JSON input",
        ),
        (
            |o| o[1]["metadata"]["labels"] = 1.into(),
            "invalid metadata in object at index 1: invalid metadata.labels of type int64 in \
             converted object",
        ),
        (
            |o| {
                o.as_array_mut().unwrap().pop();
            },
            "1 objects, expected 2",
        ),
    ];
    for (change, expected) in answers {
        let found = asked(&json!(["v1"]), &items, move |review| {
            let mut answer = good(review);
            change(&mut answer["response"]["convertedObjects"]);
            answer.to_string()
        })
        .await;
        assert_eq!(found.result, Err(format!("{subject}{expected}")));
    }
    let never = |_: &Value| -> String { panic!("nothing to convert") };
    let unknown = list(&[object("v1", "a"), object("v9", "b")]);
    assert_eq!(
        asked(&json!(["v1"]), &unknown, never).await.result,
        Err("request to convert CR list failed, list index 1 has invalid group/version: \
             example.com/v9"
            .to_owned())
    );
}

/// The documents serve webhooks too.
#[test]
fn a_webhook_may_say_why_not() {
    let review = ConversionReview::from_slice(
        br#"{"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "ConversionReview",
            "request": {"uid": "u", "desiredAPIVersion": "a/v1", "objects": [{"kind": "Foo"}]}}"#,
    )
    .unwrap();
    let request = review.request.as_ref().unwrap();
    let answer = review.answer(ConversionResponse::failure(request, "not today"));
    let answer: Value = serde_json::from_slice(&answer.to_json()).unwrap();
    assert_eq!(
        answer,
        json!({
            "apiVersion": "apiextensions.k8s.io/v1beta1",
            "kind": "ConversionReview",
            "response": {"uid": "u", "convertedObjects": null,
                "result": {"status": "Failure", "message": "not today"}},
        })
    );
    assert!(ConversionReview::from_slice(b"[").is_err());
    assert!(ConversionReview::from_slice(br#"{"request": 1}"#).is_err());
}
