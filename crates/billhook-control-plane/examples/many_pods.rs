//! Creates a Deployment of many pods and prints how long it takes until all are ready:
//! `cargo run --release -p billhook-control-plane --example many_pods 10000`. Other controllers than all
//! can be named after the number: `many_pods 10000 workloads`.

#![allow(clippy::allow_attributes, clippy::print_stdout, reason = "it prints what it measures")]

use std::time::Instant;

use billhook_control_plane::ControlPlane;
use billhook_control_plane::controllers::Selection;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower_service::Service as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = std::env::args().nth(1).as_deref().unwrap_or("1000").parse()?;
    let names = std::env::args().nth(2).unwrap_or_else(|| "all".to_owned());
    let controllers = Selection::parse(names.split(','))?.controllers();
    let plane = ControlPlane::builder().controllers(controllers).build().await;
    plane.settled().await?;
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": count, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    });
    let began = Instant::now();
    plane.server().create_all([&deployment]).await?;
    plane.settled().await?;
    let took = began.elapsed();
    let path = "/apis/apps/v1/namespaces/default/deployments/web";
    let response =
        plane.server().clone().call(http::Request::get(path).body(String::new())?).await?;
    let body = response.into_body().collect().await?.to_bytes();
    let ready = serde_json::from_slice::<Value>(&body)?;
    let ready = ready.pointer("/status/readyReplicas").and_then(Value::as_u64);
    println!("{} pods ready in {took:.1?}", ready.unwrap_or_default());
    Ok(())
}
