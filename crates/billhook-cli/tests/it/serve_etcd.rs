//! `billhook serve --etcd-servers`: several servers that are one API.

use std::process::Command;

use billhook_testing::etcd::Etcd;
use serde_json::Value;

use crate::serve::Running;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn start(etcd: &Etcd) -> Running {
    Running::start(&["--http", "--listen", "127.0.0.1:0", "--etcd-servers", &etcd.url()])
}

fn create(server: &Running, name: &str) -> u16 {
    let body =
        format!(r#"{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "{name}"}}}}"#);
    server.send("POST", MAPS, "Content-Type: application/json\r\n", &body).0
}

fn list(server: &Running) -> Value {
    serde_json::from_str(&server.send("GET", MAPS, "", "").1).unwrap()
}

/// A server is killed, without a chance to end in good order; the other one goes on.
#[test]
fn a_server_goes_on_where_another_was_killed() {
    let Some(etcd) = Etcd::start() else { return };
    let (first, second) = (start(&etcd), start(&etcd));
    assert_eq!(create(&first, "a"), 201);
    assert_eq!(create(&second, "a"), 409);
    let before = list(&first);
    // Dropping it kills it.
    drop(first);
    assert_eq!(list(&second), before);
    assert_eq!(create(&second, "b"), 201);
    let third = start(&etcd);
    assert_eq!(list(&third), list(&second));
    let key =
        String::from_utf8(etcd.ctl(&["get", "/registry/configmaps/default/b", "--keys-only"]));
    assert_eq!(key.unwrap().trim(), "/registry/configmaps/default/b");
}

#[test]
fn a_url_that_is_none_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_billhook"))
        .args(["serve", "--etcd-servers", "127.0.0.1:2379"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("a URL begins with http:// or https://"), "{message}");
}
