//! Sends many requests through real webhooks and prints what the process holds on the way: memory,
//! threads and open files must not grow.
//!
//! ```console
//! $ cargo run -p billhook --features https --example admission_soak -- 10000
//! ```

#![expect(clippy::print_stdout, reason = "the figures are its output")]

#[path = "webhook_server/behavior.rs"]
mod behavior;
#[path = "webhook_server/configuration.rs"]
mod configuration;
#[path = "webhook_server/server.rs"]
mod server;

use std::error::Error;
use std::time::{Duration, Instant};

use billhook::CustomResourceDefinition;
use billhook::webhook::WebhookConfiguration;
use billhook_admission::{Admission, Chain, MemoryCluster, ObjectRequest, RequestOptions};
use billhook_webhook_client::HttpsCaller;
use serde_json::{Value, json};
use server::Server;

/// Every so many requests one goes to a webhook that misbehaves.
const TROUBLE_EVERY: usize = 50;
const TROUBLES: [&str; 4] = ["close", "half", "uid", "never"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let count = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    let answer = |received| -> server::Handled { Box::pin(behavior::answer(received)) };
    let server = Server::start("127.0.0.1:0", &["localhost"], answer).await?;
    let documents = configuration::of(&server)?;
    let fine = admission(&documents, "")?;
    let troubled: Result<Vec<_>, _> =
        TROUBLES.iter().map(|trouble| admission(&documents, trouble)).collect();
    let troubled = troubled?;
    let body = json!({
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": "x"},
        "spec": {"text": "x".repeat(1000)},
    });
    let body = body.to_string();
    let (mut admitted, mut refused) = (0, 0);
    println!("requests admitted refused seconds memory/KiB threads files connections");
    let began = Instant::now();
    for number in 1..=count {
        let is_troubled = number % TROUBLE_EVERY == 0;
        let time = Duration::from_millis(if is_troubled { 50 } else { 10_000 });
        let request = ObjectRequest::create("v1", body.as_bytes())
            .options(RequestOptions::default().deadline(Instant::now() + time));
        let troubled = troubled.get(number / TROUBLE_EVERY % TROUBLES.len());
        let admission = troubled.filter(|_| is_troubled).unwrap_or(&fine);
        match admission.admit(&request, &MemoryCluster::new().assume_namespaces()).await.result {
            Ok(_) => admitted += 1,
            Err(_) => refused += 1,
        }
        if number % (count / 10).max(1) == 0 {
            let seconds = began.elapsed().as_secs();
            let (memory, threads, files) = held();
            let connections = server.connections();
            println!(
                "{number} {admitted} {refused} {seconds} {memory} {threads} {files} {connections}"
            );
        }
    }
    Ok(())
}

/// The write path through the example's webhooks, of which the mutating one is in trouble.
fn admission(
    documents: &[Value],
    trouble: &str,
) -> Result<Admission, Box<dyn Error + Send + Sync>> {
    let definition = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
                    "properties": {"text": {"type": "string"}}}}}}}]},
    }))?;
    let mut configurations = Vec::new();
    for document in documents {
        let mut configuration = WebhookConfiguration::from_value(document)?;
        for webhook in &mut configuration.webhooks {
            if let Some(url) = webhook.client_config.url.as_mut().filter(|_| !trouble.is_empty()) {
                *url = url.replace("/mutate", &format!("/mutate:{trouble}"));
            }
        }
        configurations.push(configuration);
    }
    let chain = Chain::new(HttpsCaller::default()).webhooks(&configurations);
    Ok(Admission::new(definition, chain))
}

/// Resident memory in KiB, threads, and open files of the process; zero where that is not known.
fn held() -> (u64, u64, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    };
    let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    (field("VmRSS:"), field("Threads:"), files)
}
