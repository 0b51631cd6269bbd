//! `billhook serve --etcd-servers`: several servers that are one API.

use std::collections::BTreeSet;
use std::process::Command;

use billhook_testing::etcd::Etcd;
use serde_json::Value;

use crate::serve::{Running, file};

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

/// Objects move from a file into an etcd and back, and stay what they are.
#[test]
fn objects_move_between_a_file_and_etcd() {
    let Some(etcd) = Etcd::start() else { return };
    let folder = file("etcd-import", "unused", "").parent().unwrap().to_owned();
    let (kept, moved) = (folder.join("kept.data"), folder.join("moved.data"));
    let list_file = folder.join("objects.json");
    for file in [&kept, &moved] {
        let _ = std::fs::remove_file(file);
    }
    let data = |arguments: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_billhook")).arg("data").args(arguments).output();
        run.unwrap()
    };
    let server =
        Running::start(&["--http", "--listen", "127.0.0.1:0", "--data", kept.to_str().unwrap()]);
    assert_eq!(create(&server, "a"), 201);
    drop(server);
    let exported = data(&["export", kept.to_str().unwrap()]).stdout;
    std::fs::write(&list_file, &exported).unwrap();

    let into_etcd = ["import", "--etcd-servers", &etcd.url(), list_file.to_str().unwrap()];
    let imported = data(&into_etcd);
    assert_eq!(imported.status.code(), Some(0), "{}", String::from_utf8_lossy(&imported.stderr));
    let again = data(&into_etcd);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("etcd has objects"));
    let names: Value = list(&start(&etcd));
    assert_eq!(names["items"][0]["metadata"]["name"], "a");

    let from_etcd = data(&["export", "--etcd-servers", &etcd.url()]);
    assert_eq!(from_etcd.status.code(), Some(0), "{}", String::from_utf8_lossy(&from_etcd.stderr));
    std::fs::write(&list_file, &from_etcd.stdout).unwrap();
    let imported = data(&["import", moved.to_str().unwrap(), list_file.to_str().unwrap()]);
    assert_eq!(imported.status.code(), Some(0), "{}", String::from_utf8_lossy(&imported.stderr));
    let uids = |text: &[u8]| {
        let list: Value = serde_json::from_slice(text).unwrap();
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| item["metadata"]["uid"].to_string()).collect::<BTreeSet<_>>()
    };
    let moved = data(&["export", moved.to_str().unwrap()]).stdout;
    assert!(uids(&moved).is_superset(&uids(&exported)));
}

/// A server that is paused loses nothing, and sees what another one has written meanwhile.
#[test]
fn a_server_that_was_paused_catches_up() {
    let Some(etcd) = Etcd::start() else { return };
    let (paused, other) = (start(&etcd), start(&etcd));
    assert_eq!(create(&paused, "a"), 201);
    paused.signal("STOP");
    assert_eq!(create(&other, "b"), 201);
    paused.signal("CONT");
    assert_eq!(create(&paused, "b"), 409);
    assert_eq!(list(&paused), list(&other));
    let metrics = paused.send("GET", "/metrics", "", "").1;
    assert!(metrics.contains("billhook_backend_revision_lag 0"), "{metrics}");
}
