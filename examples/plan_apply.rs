//! Finds out what a server would make of an apply, without one: who is in the way, what is stored, and
//! in what the manifest and the live object really differ.

#![expect(clippy::print_stdout, reason = "the output is the example")]

use std::error::Error;

use billhook::{KubernetesVersion, Status};
use billhook_admission::{Admission, Chain, MemoryCluster, ObjectRequest, Unreachable};
use billhook_kinds::Kind;
use serde_json::{Value, json};

/// A Deployment as a repository has it.
fn manifest(image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{
                    "name": "app", "image": image, "resources": {"limits": {"cpu": "1000m"}},
                }]},
            },
        },
    })
}

/// The same with a number of replicas.
fn scaled(replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": replicas},
    })
}

/// Returns what a server stores when a manager applies a configuration to the live object, if there is one.
fn applied(
    admission: &Admission,
    manager: &str,
    configuration: &Value,
    live: Option<&Value>,
) -> Result<Value, Status> {
    let body = billhook::to_json(configuration).into_bytes();
    let live = live.map(|live| billhook::to_json(live).into_bytes()).unwrap_or_default();
    let request = ObjectRequest::apply("v1", &body, &live, manager).namespace("shop").dry_run(true);
    let cluster = MemoryCluster::new().assume_namespaces();
    let accepted = admission.admit_blocking(&request, &cluster).result?;
    Ok(accepted.into_returned().unwrap_or_default().into_inner())
}

fn main() -> Result<(), Box<dyn Error>> {
    let kubernetes = KubernetesVersion::default();
    let kind = Kind::named("apps/v1", "Deployment").ok_or("no such kind")?;
    // With the configurations of webhooks and policies the chain would have them, too.
    let chain = Chain::new(Unreachable);
    let admission = Admission::of_kind(kind, kubernetes, chain).ok_or("not served")?;
    let definition = kind.compile(kubernetes).ok_or("not served")??;
    let v1 = definition.served("v1")?;

    let live = applied(&admission, "gitops", &manifest("web:1"), None)?;
    let strategy = live.pointer("/spec/strategy").unwrap_or(&Value::Null);
    println!("stored by default: {strategy}");
    let live = applied(&admission, "autoscaler", &scaled(5), Some(&live))?;

    // The repository asks for replicas of its own, which the autoscaler has set.
    if let Err(status) = applied(&admission, "gitops", &scaled(2), Some(&live)) {
        println!("refused: {}", status.message);
    }

    println!("differences:");
    for difference in v1.differences(&manifest("web:2"), &live, &|manager| manager == "gitops")? {
        let sign = if difference.cause.is_real() { '!' } else { ' ' };
        println!("{sign} {}: {}", difference.path, difference.cause);
    }
    Ok(())
}
