//! Servers over backends that fail: what their clients see, and what the servers do about it.

use std::sync::Arc;
use std::time::Duration;

use billhook_apiserver::{OpenError, Server};
use http::Method;
use serde_json::json;

use super::faulty::{Faulty, Mode};
use crate::support::{call, definition, text};

const FOOS: &str = "/apis/example.com/v1/namespaces/default/foos";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

async fn server(backend: &Arc<Faulty>) -> Server {
    let builder = Server::builder().definition(&definition()).unwrap().bootstrap();
    builder.collect_garbage().backend(Arc::clone(backend)).build().await.unwrap()
}

fn foo(name: &str) -> String {
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": name}});
    object.to_string()
}

/// Asks until the code of an answer is another one.
async fn wait_for(server: &Server, path: &str, code: u16) {
    let asked = async {
        while call(server, Method::GET, path, &[], "").await.code != code {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), asked).await.expect("it comes to that");
}

/// ES-60: the failure of the storage has no reason; what was not written is not visible.
#[tokio::test]
async fn a_failed_write_is_a_500() {
    let backend = Faulty::new();
    let server = server(&backend).await;
    backend.set(Mode::Fails);
    let answer = call(&server, Method::POST, FOOS, &[], &foo("a")).await;
    assert_eq!(answer.code, 500);
    assert_eq!(
        answer.json(),
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": "the disk is full", "code": 500}),
    );
    assert_eq!(call(&server, Method::GET, &format!("{FOOS}/a"), &[], "").await.code, 404);
    backend.set(Mode::Works);
    assert_eq!(call(&server, Method::POST, FOOS, &[], &foo("a")).await.code, 201);
    assert_eq!(call(&server, Method::GET, &format!("{FOOS}/a"), &[], "").await.code, 200);
}

/// ES-60: the outcome is unknown to the client; the server learns of it.
#[tokio::test]
async fn a_lost_answer_is_a_500_and_the_write_is_there() {
    let backend = Faulty::new();
    let server = server(&backend).await;
    backend.set(Mode::LosesAnswers);
    let answer = call(&server, Method::POST, FOOS, &[], &foo("a")).await;
    assert_eq!((answer.code, answer.message()), (500, "etcdserver: request timed out".to_owned()));
    wait_for(&server, &format!("{FOOS}/a"), 200).await;
}

/// The work after a write whose answer was lost is done all the same.
#[tokio::test]
async fn a_definition_whose_answer_was_lost_is_served_in_the_end() {
    let backend = Faulty::new();
    let server = Server::builder().backend(Arc::clone(&backend)).build().await.unwrap();
    backend.set(Mode::LosesAnswers);
    let created = call(&server, Method::POST, DEFINITIONS, &[], &definition().to_string()).await;
    assert_eq!(created.code, 500);
    backend.set(Mode::Works);
    wait_for(&server, FOOS, 200).await;
}

/// The writes of controllers are made again until they are made.
#[tokio::test]
async fn controllers_go_on_when_the_backend_does() {
    let backend = Faulty::new();
    let server = Server::builder().backend(Arc::clone(&backend)).build().await.unwrap();
    if backend.commits().is_multiple_of(2) {
        let object = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}"#;
        call(&server, Method::POST, "/api/v1/namespaces/default/configmaps", &[], object).await;
    }
    // The definition is written, its status is not.
    backend.set(Mode::FailsEverySecond);
    let created = call(&server, Method::POST, DEFINITIONS, &[], &definition().to_string()).await;
    assert_eq!(created.code, 201);
    let unserved = call(&server, Method::GET, FOOS, &[], "").await;
    assert_eq!(unserved.code, 404, "the definition is not established");
    wait_for(&server, FOOS, 200).await;
}

/// A namespace never goes before the objects in it, whatever fails.
#[tokio::test]
async fn a_namespace_with_objects_stays() {
    let backend = Faulty::new();
    let server = server(&backend).await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    let namespaces = "/api/v1/namespaces";
    call(&server, Method::POST, namespaces, &[], &namespace.to_string()).await;
    let foos = FOOS.replace("default", "shop");
    for name in ["a", "b", "c", "d"] {
        assert_eq!(call(&server, Method::POST, &foos, &[], &foo(name)).await.code, 201);
    }
    if backend.commits().is_multiple_of(2) {
        assert_eq!(call(&server, Method::POST, FOOS, &[], &foo("a")).await.code, 201);
    }
    backend.set(Mode::FailsEverySecond);
    let path = format!("{namespaces}/shop");
    assert_eq!(call(&server, Method::DELETE, &path, &[], "").await.code, 200);
    let listed = call(&server, Method::GET, &foos, &[], "").await;
    let left = listed.json()["items"].as_array().unwrap().len();
    assert!(left > 0, "some deletions fail");
    assert_eq!(call(&server, Method::GET, &path, &[], "").await.code, 200);
    wait_for(&server, &path, 404).await;
    assert_eq!(call(&server, Method::GET, &foos, &[], "").await.json()["items"], json!([]));
}

/// RE-22: the client gets the 504; the write finishes all the same.
#[tokio::test]
async fn a_blocked_write_is_a_504() {
    let backend = Faulty::new();
    let server = server(&backend).await;
    backend.set(Mode::Blocks);
    let path = format!("{FOOS}?timeout=50ms");
    let answer = call(&server, Method::POST, &path, &[], &foo("a")).await;
    assert_eq!(answer.code, 504);
    let path = format!("{FOOS}/a");
    assert_eq!(call(&server, Method::GET, &path, &[], "").await.code, 404);
    backend.set(Mode::Works);
    wait_for(&server, &path, 200).await;
}

/// A client that goes away leaves nothing half done: the definition that it created is served.
#[tokio::test]
async fn a_request_that_is_cancelled_comes_to_its_end() {
    let backend = Faulty::new();
    let server = Server::builder().backend(Arc::clone(&backend)).build().await.unwrap();
    backend.set(Mode::Blocks);
    let definition = definition().to_string();
    let created = call(&server, Method::POST, DEFINITIONS, &[], &definition);
    assert!(tokio::time::timeout(Duration::from_millis(50), created).await.is_err());
    assert_eq!(call(&server, Method::GET, FOOS, &[], "").await.code, 404);
    backend.set(Mode::Works);
    wait_for(&server, FOOS, 200).await;
}

/// A server that is built again has the objects, and goes on where the one before was interrupted.
#[tokio::test]
async fn a_server_goes_on_after_a_restart() {
    let backend = Faulty::new();
    let server = server(&backend).await;
    call(&server, Method::POST, FOOS, &[], &foo("a")).await;
    let before = server.dump().await.unwrap();
    let foos = call(&server, Method::GET, FOOS, &[], "").await.text;
    drop(server);
    let newest = backend.newest();
    // Without the definition: it is stored.
    let builder = Server::builder().bootstrap();
    let server = builder.backend(Arc::clone(&backend)).build().await.unwrap();
    assert_eq!(server.dump().await.unwrap(), before);
    assert_eq!(call(&server, Method::GET, FOOS, &[], "").await.text, foos);
    assert_eq!(backend.newest(), newest, "nothing is written anew");
}

/// A tail that was lost before it was acknowledged does no harm: at every revision at which a server may
/// have died, the next one serves what is there, and finishes what was begun.
#[tokio::test]
async fn any_beginning_of_the_history_can_be_gone_on_with() {
    let backend = Faulty::new();
    let server = server(&backend).await;
    call(&server, Method::POST, FOOS, &[], &foo("a")).await;
    call(&server, Method::DELETE, &format!("{DEFINITIONS}/foos.example.com"), &[], "").await;
    assert_eq!(call(&server, Method::GET, FOOS, &[], "").await.code, 404);
    for revision in 0..=backend.newest() {
        let server = self::server(&backend.without_tail(revision)).await;
        wait_for(&server, FOOS, 200).await;
        let name = format!("again-{revision}");
        let created = call(&server, Method::POST, FOOS, &[], &foo(&name)).await;
        assert_eq!(created.code, 201, "{revision}: {}", created.text);
        assert!(
            text(&created.json(), "/metadata/resourceVersion").parse::<u64>().unwrap() > revision
        );
    }
}

#[tokio::test]
async fn a_backend_that_cannot_be_loaded_is_refused() {
    let backend = Faulty::new();
    backend.set(Mode::Fails);
    let refused = Server::builder().backend(Arc::clone(&backend)).build().await;
    assert!(
        matches!(refused, Err(OpenError::Backend(error)) if error.to_string() == "the disk is gone")
    );
}

/// An acknowledgement alone is not believed.
#[tokio::test]
async fn a_write_that_was_not_made_is_not_visible() {
    let backend = Faulty::new();
    let server = server(&backend).await;
    backend.set(Mode::LosesWrites);
    let created = call(&server, Method::POST, FOOS, &[], &foo("a")).await;
    let read = call(&server, Method::GET, &format!("{FOOS}/a"), &[], "").await;
    assert_ne!(created.code, 201, "nothing was written: {}", read.code);
}
