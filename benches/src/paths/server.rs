//! The API server in process: a request from its first byte to the last one of its answer.

use std::hint::black_box;
use std::sync::LazyLock;

use billhook_apiserver::{Body, Server};
use http::Method;
use serde_json::{Value, json};

use super::{Path, Run, alone, beside, peer};
use crate::server::{FOOS, PODS, call, definition, filled, has_event, object, pod, watch};

pub(super) fn paths() -> [Path; 10] {
    [
        alone("server: start with a definition", start),
        beside("server: create 1 KB", create, peer("serde_json reads it", read_object, None)),
        alone("server: create 1 KB, 1,000 watchers", create_watched),
        beside("server: get 1 KB", get, peer("serde_json reads it", read_object, None)),
        beside("server: list 1,000 of 1 KB", list, peer("serde_json writes them", write, None)),
        alone("server: a page of 1 in 1,000", page),
        alone("server: a selector without matches, 1,000 objects", select),
        beside(
            "server: create a Pod of 2 KB",
            create_pod,
            peer("serde_json reads it", read_pod, None),
        ),
        alone("server: replace the status of a Pod", replace_status),
        alone("server: patch the status of a Pod", patch_status),
    ]
}

fn start() -> Run {
    let document = definition("foos");
    Box::new(move || {
        black_box(Server::builder().definition(&document).unwrap().build());
    })
}

/// Creates an object of another name with each run.
fn creating(server: Server, renew: impl Fn(&mut Server)) -> impl FnMut() {
    creating_at(FOOS, object("NAME").to_string(), server, renew)
}

fn creating_at(
    path: &'static str,
    text: String,
    mut server: Server,
    renew: impl Fn(&mut Server),
) -> impl FnMut() {
    let mut number = 0;
    move || {
        number += 1;
        if number % 256 == 0 {
            renew(&mut server);
        }
        let body = text.replacen("NAME", &format!("new-{number:09}"), 1);
        assert_eq!(call(&server, Method::POST, path, body), 201);
    }
}

fn create() -> Run {
    let first = filled(100);
    // Lest the server fills up.
    Box::new(creating(first.fork(), move |server| *server = first.fork()))
}

fn create_pod() -> Run {
    let first = Server::builder().build();
    Box::new(creating_at(PODS, pod("NAME").to_string(), first.fork(), move |server| {
        *server = first.fork();
    }))
}

/// A status that differs from that of the number before.
fn pod_status(number: usize) -> Value {
    json!({"phase": "Running", "podIP": format!("10.0.0.{}", number % 250),
        "conditions": [{"type": "Ready", "status": "True"}]})
}

fn replace_status() -> Run {
    let server = Server::builder().build();
    assert_eq!(call(&server, Method::POST, PODS, pod("web").to_string()), 201);
    let mut pod = pod("web");
    let path = format!("{PODS}/web/status");
    let mut number = 0;
    Box::new(move || {
        number += 1;
        pod["status"] = pod_status(number);
        assert_eq!(call(&server, Method::PUT, &path, pod.to_string()), 200);
    })
}

fn patch_status() -> Run {
    let server = Server::builder().build();
    assert_eq!(call(&server, Method::POST, PODS, pod("web").to_string()), 201);
    let path = format!("{PODS}/web/status");
    let mut number = 0;
    Box::new(move || {
        number += 1;
        let patch = json!({"status": pod_status(number)});
        assert_eq!(call(&server, Method::PATCH, &path, patch.to_string()), 200);
    })
}

fn create_watched() -> Run {
    let server = filled(100);
    let mut watches: Vec<Body> = (0..1000).map(|_| watch(&server, "foos")).collect();
    watches.iter_mut().for_each(|watch| assert!(!has_event(watch)));
    let mut create = creating(server, |_| ());
    Box::new(move || {
        create();
        watches.iter_mut().for_each(|watch| assert!(has_event(watch)));
    })
}

/// Reads a path of a server with a thousand objects.
fn reading(path: String) -> Run {
    static SERVER: LazyLock<Server> = LazyLock::new(|| filled(1000));
    Box::new(move || assert_eq!(call(&SERVER, Method::GET, &path, String::new()), 200))
}

fn get() -> Run {
    reading(format!("{FOOS}/foo-0000500"))
}

fn list() -> Run {
    reading(FOOS.to_owned())
}

fn page() -> Run {
    reading(format!("{FOOS}?limit=1"))
}

fn select() -> Run {
    reading(format!("{FOOS}?labelSelector=app%3Dy"))
}

fn read_object() -> Run {
    let text = object("a").to_string();
    Box::new(move || drop(black_box(serde_json::from_str::<Value>(black_box(&text)).unwrap())))
}

fn read_pod() -> Run {
    let text = pod("a").to_string();
    Box::new(move || drop(black_box(serde_json::from_str::<Value>(black_box(&text)).unwrap())))
}

fn write() -> Run {
    let many: Vec<Value> = (0..1000).map(|number| object(&format!("foo-{number}"))).collect();
    Box::new(move || drop(black_box(serde_json::to_string(black_box(&many)).unwrap())))
}
