//! Creates many objects of one kilobyte and prints the memory that the process takes for them:
//! `cargo run --release -p billhook-apiserver --example many_objects 1000000`.

#![allow(clippy::allow_attributes, clippy::print_stdout, reason = "it prints what it measures")]

use std::time::Instant;

use billhook_apiserver::Server;
use serde_json::json;
use tower_service::Service as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).as_deref().unwrap_or("100000").parse()?;
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo", "listKind": "FooList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
                    "properties": {"text": {"type": "string"}}}}}}}]},
    });
    let mut server = Server::builder().definition(&definition)?.build();
    let before = resident()?;
    let began = Instant::now();
    let mut bytes = 0;
    for number in 0..count {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
            "metadata": {"name": format!("foo-{number:07}")}, "spec": {"text": "x".repeat(600)}});
        let path = "/apis/example.com/v1/namespaces/default/foos";
        let response = server.call(http::Request::post(path).body(object.to_string())?).await?;
        assert_eq!(response.status(), 201);
        bytes += http_body::Body::size_hint(response.body()).lower();
    }
    let took = began.elapsed();
    let memory = resident()? - before;
    println!("{count} objects of {} bytes in {took:.1?}", bytes / count as u64);
    println!("{} MiB, {} bytes an object", memory >> 20, memory / count as u64);
    Ok(())
}

/// The memory of this process, in bytes.
fn resident() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmRSS")?;
    Ok(number.parse::<u64>()? << 10)
}
