//! Lists and watches of events, which no server answers from memory (ES-33).

use billhook_apiserver::Server;
use http::Method;
use serde_json::{Value, json};

use crate::support::{call, text};

const EVENTS: &str = "/api/v1/namespaces/default/events";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn get(server: &Server, path: &str) -> Value {
    call(server, Method::GET, path, &[], "").await.json()
}

/// A server with three events and three other objects.
async fn filled() -> Server {
    let server = Server::builder().bootstrap().build();
    for name in ["a", "b", "c"] {
        let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}});
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        for (path, object) in [(EVENTS, event), (MAPS, map)] {
            let created = call(&server, Method::POST, path, &[], &object.to_string()).await;
            assert_eq!(created.code, 201, "{}", created.text);
        }
    }
    server
}

/// ES-33: a list from memory has everything, one from storage is limited at revision 0, too.
#[tokio::test]
async fn lists_of_events_are_limited_at_any_revision() {
    let server = filled().await;
    let names = |list: &Value| {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| text(item, "/metadata/name")).collect::<Vec<_>>()
    };
    let newer = EVENTS.replace("/api/v1", "/apis/events.k8s.io/v1");
    for path in [EVENTS, &newer] {
        let page = get(&server, &format!("{path}?limit=2&resourceVersion=0")).await;
        assert_eq!(names(&page), ["a", "b"]);
        let next = text(&page, "/metadata/continue");
        let rest = get(&server, &format!("{path}?limit=2&resourceVersion=0&continue={next}")).await;
        assert_eq!(names(&rest), ["c"]);
    }
    let whole = get(&server, &format!("{MAPS}?limit=2&resourceVersion=0")).await;
    assert_eq!(names(&whole), ["a", "b", "c"]);
}

/// ES-43: a watch of events from a revision that is forgotten fails as storage says it.
#[tokio::test]
async fn watches_of_events_fail_as_storage_does() {
    let server = filled().await;
    server.compact().await.unwrap();
    let failure = async |path: &str| {
        let event = get(&server, &format!("{path}?watch=1&resourceVersion=1")).await;
        assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
        assert_eq!(event["object"]["reason"], "Expired");
        text(&event, "/object/message")
    };
    assert_eq!(failure(EVENTS).await, "The resourceVersion for the provided watch is too old.");
    assert!(failure(MAPS).await.starts_with("too old resource version: 1 ("));
}
