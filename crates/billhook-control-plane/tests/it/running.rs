//! How controllers are run: order, events, failures, time (CP-02, CP-03, CP-06, CP-07).

use std::sync::Arc;
use std::time::Duration;

use billhook_apiserver::storage::Batch;
use billhook_control_plane::{
    Account, Change, ControlPlane, Controller, Event, Keys, Object, Plan, Request, Resource,
    Timestamp, View, resource,
};
use serde_json::{Value, json};

use crate::support::{column, create, request, run, run_with};

const EVENTS: &str = "/api/v1/namespaces/default/events";
const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
";

/// A controller of config maps that does what a function says.
struct OfConfigMaps(fn(&Object) -> Plan);

impl std::fmt::Debug for OfConfigMaps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OfConfigMaps")
    }
}

impl Controller for OfConfigMaps {
    fn name(&self) -> &'static str {
        "config-map-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller("config-map-controller")
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&resource::CONFIG_MAPS]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        keys.add_changed(change, &resource::CONFIG_MAPS);
    }

    fn sync(&self, key: &str, view: &View, _: Timestamp) -> Plan {
        view.get(&resource::CONFIG_MAPS, key).map(|map| (self.0)(map)).unwrap_or_default()
    }
}

fn run_controller(sync: fn(&Object) -> Plan, test: impl AsyncFnOnce(&ControlPlane)) {
    let controllers = vec![Arc::new(OfConfigMaps(sync)) as Arc<dyn Controller>];
    run_with(|builder| builder.controllers(controllers).nodes([]), test);
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}";

/// CP-06: every write of a run is the same in another run.
#[test]
fn two_runs_are_the_same() {
    let states = || {
        let mut states = Vec::new();
        run(async |plane| {
            let mut changes = plane.server().changes();
            changes.read().unwrap();
            create(plane, DEPLOYMENT).await;
            let Batch::Events(events) = changes.read().unwrap() else { panic!("begun again") };
            for (collection, event) in events {
                let text = event.after.map(|object| object.text).unwrap_or_default();
                states.push(format!("{collection} {}", String::from_utf8_lossy(&text)));
            }
        });
        states
    };
    let first = states();
    assert!(first.len() > 20);
    assert_eq!(first, states());
}

/// CP-01: a controller writes as its service account, and manages its fields.
#[test]
fn controllers_have_accounts() {
    run(async |plane| {
        create(plane, DEPLOYMENT).await;
        let pods = request(plane, "GET", "/api/v1/namespaces/default/pods", "").await;
        assert_eq!(
            pods["items"][0]["metadata"]["managedFields"][0]["manager"],
            "kube-controller-manager"
        );
    });
}

/// CP-03: the same event again is counted, and many that are alike are combined.
#[test]
fn events_are_counted() {
    let tell = |map: &Object| {
        let count = map.text("/data/messages").parse().unwrap_or(1);
        let event = |number: u32| {
            Event::normal(&resource::CONFIG_MAPS, map, "Told", format!("message {number}"))
        };
        (0..count).map(event).fold(Plan::nothing(), Plan::event)
    };
    run_controller(tell, async |plane| {
        create(plane, CONFIG_MAP).await;
        let path = "/api/v1/namespaces/default/configmaps/a";
        request(plane, "PATCH", path, r#"{"data": {"x": "y"}}"#).await;
        plane.settled().await.unwrap();
        assert_eq!(column(plane, EVENTS, "/count").await, ["2"]);
        let events = request(plane, "GET", EVENTS, "").await;
        let event = &events["items"][0];
        assert_eq!(event["source"]["component"], "config-map-controller");
        assert_eq!(event["involvedObject"]["kind"], "ConfigMap");
        assert_eq!(event["metadata"]["name"], "a.18867251edfa0000");
        request(plane, "PATCH", path, r#"{"data": {"messages": "12"}}"#).await;
        plane.settled().await.unwrap();
        let messages = column(plane, EVENTS, "/message").await;
        assert_eq!(messages.len(), 11);
        assert_eq!(messages.last().unwrap(), "(combined from similar events): message 11");
    });
}

/// CP-02: a key that fails comes back after 5 ms, 10 ms, 20 ms and so on.
#[test]
fn failures_are_tried_again_later() {
    let create_taken = |map: &Object| {
        let copy = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        let (namespace, told) = (map.namespace(), "Tried".to_owned());
        Plan::nothing()
            .event(Event::normal(&resource::CONFIG_MAPS, map, "Tried", told))
            .request(Request::create(&resource::CONFIG_MAPS, namespace, &copy))
    };
    run_controller(create_taken, async |plane| {
        create(plane, CONFIG_MAP).await;
        assert_eq!(column(plane, EVENTS, "/count").await, ["1"]);
        for (passed, count) in [(4, "1"), (1, "2"), (9, "2"), (1, "3"), (20, "4")] {
            plane.advance(Duration::from_millis(passed)).await.unwrap();
            assert_eq!(column(plane, EVENTS, "/count").await, [count]);
        }
    });
}

/// CP-07: nothing is said and nothing is tried again in a namespace that is being deleted.
#[test]
fn terminating_namespaces_are_left_alone() {
    let create_other = |map: &Object| {
        let other = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
        Plan::nothing().request(Request::create(&resource::SECRETS, map.namespace(), &other))
    };
    run_controller(create_other, async |plane| {
        let text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, finalizers: [x/y]}\n---\n\
                    apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop, finalizers: [x/y]}";
        plane.server().load_text(text).await.unwrap();
        request(plane, "DELETE", "/api/v1/namespaces/shop", "").await;
        plane.settled().await.unwrap();
        assert_eq!(plane.next_timer().await, None);
    });
}

/// A controller that never comes to rest is named.
#[test]
fn what_never_comes_to_rest_is_named() {
    let change = |map: &Object| {
        let number: u64 = map.text("/data/number").parse().unwrap_or_default();
        let patch = json!({"data": {"number": (number + 1).to_string()}});
        Plan::nothing().request(Request::merge_patch(&resource::CONFIG_MAPS, map.key(), &patch))
    };
    run_controller(change, async |plane| {
        plane.server().load_text(CONFIG_MAP).await.unwrap();
        let error = plane.settled().await.unwrap_err();
        let expected = "config-map-controller never comes to rest about default/a";
        assert_eq!(error.to_string(), expected);
    });
}

/// CP-25, CP-26: each namespace has its account and its certificate; what is changed comes back.
#[test]
fn namespaces_have_accounts_and_certificates() {
    run_with(
        |builder| builder.root_certificate("PEM"),
        async |plane| {
            create(plane, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}").await;
            let account = "/api/v1/namespaces/shop/serviceaccounts/default";
            let certificate = "/api/v1/namespaces/shop/configmaps/kube-root-ca.crt";
            request(plane, "DELETE", account, "").await;
            request(plane, "PATCH", certificate, r#"{"data": {"x": "y"}}"#).await;
            plane.settled().await.unwrap();
            assert_eq!(request(plane, "GET", account, "").await["kind"], "ServiceAccount");
            let data: Value = request(plane, "GET", certificate, "").await["data"].clone();
            assert_eq!(data, json!({"ca.crt": "PEM"}));
        },
    );
}

/// CP-03: an event that a client has deleted is written anew when it happens again.
#[test]
fn an_event_that_is_gone_is_written_anew() {
    run(async |plane| {
        let claim = "
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: c, namespace: default}
spec: {storageClassName: '', accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
";
        create(plane, claim).await;
        assert_eq!(column(plane, EVENTS, "/reason").await, ["FailedBinding"]);
        request(plane, "DELETE", EVENTS, "").await;
        plane.advance(Duration::from_secs(15)).await.unwrap();
        assert_eq!(column(plane, EVENTS, "/reason").await, ["FailedBinding"]);
        assert_eq!(column(plane, EVENTS, "/count").await, ["1"]);
    });
}
