//! Pages of lists, with and without selectors (RE-56 to RE-58).

use billhook_apimachinery::base64;
use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{call, server, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";

async fn filled(count: usize) -> Server {
    let server = server();
    for number in 0..count {
        let labels = if number % 700 == 600 { json!({"app": "x"}) } else { json!({"app": "y"}) };
        let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
            "metadata": {"name": format!("foo-{number:04}"), "labels": labels},
            "spec": {"color": if number % 2 == 0 { "red" } else { "blue" }}});
        let created = call(&server, Method::POST, FOOS, &[], &object.to_string()).await;
        assert_eq!(created.code, 201);
    }
    server
}

/// The names of each page, and how many objects remain after it.
async fn pages(server: &Server, query: &str) -> Vec<(Vec<String>, Value)> {
    let (mut pages, mut next) = (Vec::new(), String::new());
    loop {
        let path = format!("{FOOS}?{query}&continue={next}");
        let list = call(server, Method::GET, &path, &[], "").await.json();
        let items = list["items"].as_array().unwrap();
        let names = items.iter().map(|item| text(item, "/metadata/name")).collect();
        pages.push((names, list["metadata"]["remainingItemCount"].clone()));
        next = text(&list, "/metadata/continue");
        if next.is_empty() {
            return pages;
        }
    }
}

#[tokio::test]
async fn pages_have_what_is_selected() {
    let server = filled(2100).await;
    let page = |names: &[&str], remaining: Value| {
        (names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), remaining)
    };
    let first = call(&server, Method::GET, &format!("{FOOS}?limit=1"), &[], "").await.json();
    assert_eq!(first["metadata"]["remainingItemCount"], 2099);
    let thousands: Vec<_> = pages(&server, "limit=1000").await;
    let shape: Vec<_> = thousands.iter().map(|(names, rest)| (names.len(), rest.clone())).collect();
    assert_eq!(shape, [(1000, json!(1100)), (1000, json!(100)), (100, Value::Null)]);

    // Objects remain after the last one that is selected, so that the last page is empty.
    assert_eq!(
        pages(&server, "limit=1&labelSelector=app%3Dx").await,
        [
            page(&["foo-0600"], Value::Null),
            page(&["foo-1300"], Value::Null),
            page(&["foo-2000"], Value::Null),
            page(&[], Value::Null),
        ],
    );
    for query in [
        "labelSelector=app%3Dx",
        "limit=5&labelSelector=app!%3Dy",
        "limit=5&labelSelector=app%3Dx&fieldSelector=spec.color%3Dred",
    ] {
        let all = page(&["foo-0600", "foo-1300", "foo-2000"], Value::Null);
        assert_eq!(pages(&server, query).await, [all], "{query}");
    }
    assert_eq!(pages(&server, "labelSelector=none").await, [page(&[], Value::Null)]);
    let one = "fieldSelector=metadata.name%3Dfoo-0007";
    assert_eq!(pages(&server, one).await, [page(&["foo-0007"], Value::Null)]);
    assert_eq!(
        pages(&server, "fieldSelector=metadata.name%3Dfoo-").await,
        [page(&[], Value::Null)]
    );
}

/// RE-58: a member of another type is an error of the decoder, before the version is looked at.
#[tokio::test]
async fn tokens_have_types() {
    let server = server();
    for (token, expected) in [
        (r#"{"v":1}"#, "number into Go struct field continueToken.v of type string"),
        (r#"{"v":"x","rv":"5"}"#, "string into Go struct field continueToken.rv of type int64"),
        (r#"{"rv":1.5}"#, "number 1.5 into Go struct field continueToken.rv of type int64"),
        (r#"{"start":{}}"#, "object into Go struct field continueToken.start of type string"),
    ] {
        let token = base64::encode(token.as_bytes()).replace('=', "");
        let path = format!("{FOOS}?continue={token}");
        let refused = call(&server, Method::GET, &path, &[], "").await;
        let expected = format!(
            "invalid continue token: continue key is not valid: json: cannot unmarshal {expected}"
        );
        assert_eq!((refused.code, refused.message()), (400, expected));
    }
}
