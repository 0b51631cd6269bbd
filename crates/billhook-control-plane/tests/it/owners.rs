//! Owners of other namespaces (CP-16).

use serde_json::{Value, json};

use crate::support::{create, request, run};

const EVENTS: &str = "/api/v1/namespaces/default/events";

fn map(namespace: &str, name: &str, owner: Option<&Value>) -> String {
    let owners: Vec<&Value> = owner.into_iter().collect();
    let metadata = json!({"name": name, "namespace": namespace, "ownerReferences": owners});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}).to_string()
}

#[test]
fn an_event_tells_of_an_owner_of_another_namespace() {
    for (namespace, is_told) in [("kube-system", true), ("default", false)] {
        run(async |plane| {
            create(plane, &map(namespace, "owner", None)).await;
            let path = format!("/api/v1/namespaces/{namespace}/configmaps/owner");
            let uid = request(plane, "GET", &path, "").await["metadata"]["uid"].take();
            let owner =
                json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid});
            create(plane, &map("default", "child", Some(&owner))).await;
            let child = "/api/v1/namespaces/default/configmaps/child";
            let is_gone = request(plane, "GET", child, "").await["code"] == 404;
            assert_eq!(is_gone, is_told);
            let events = request(plane, "GET", EVENTS, "").await["items"].take();
            let event = events.as_array().unwrap().iter();
            let mut event = event.filter(|it| it["reason"] == "OwnerRefInvalidNamespace");
            let Some(event) = event.next() else { return assert!(!is_told, "{events}") };
            let message = format!(
                "ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: {}] does not exist in \
                 namespace \"default\"",
                uid.as_str().unwrap()
            );
            assert_eq!(event["message"], message);
            assert_eq!(event["type"], "Warning");
            assert_eq!(event["involvedObject"]["name"], "child");
            assert_eq!(event["source"]["component"], "garbage-collector-controller");
        });
    }
}
