//! Webhooks whose answers a test writes, and the chain that calls them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use billhook::webhook::{AdmissionAttributes, NamespaceLabels, WebhookConfiguration};
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_admission::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, Chain, MemoryCluster, ReviewVersion,
};
use billhook_webhook_client::{HttpsCaller, StaticResolver};
use serde_json::{Value, json};

use crate::server::{Received, Reply, Server};

/// The action of a webhook on a call.
pub(crate) enum Act {
    Reply(Reply),
    After(Duration, Reply),
    Close,
    Never,
}

/// A call as the webhook saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) review: Value,
}

/// The answer of a webhook to a request, by the number of the call.
pub(crate) type Script = Box<dyn Fn(&AdmissionRequest, usize) -> Act + Send + Sync>;

/// A server with a script for each path, and what it has seen.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
}

/// The names in the server's certificate.
const NAMES: [&str; 3] = ["*.hooks.svc", "localhost", "127.0.0.1"];

impl World {
    pub(crate) async fn new(scripts: Vec<(&str, Script)>) -> World {
        let scripts: BTreeMap<String, Script> =
            scripts.into_iter().map(|(name, script)| (format!("/{name}"), script)).collect();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let handler = move |received: Received| {
            let act = act(&scripts, &log, &received);
            let reply: crate::server::Handled = Box::pin(async move {
                match act {
                    Act::Reply(reply) => Some(reply),
                    Act::After(time, reply) => {
                        tokio::time::sleep(time).await;
                        Some(reply)
                    }
                    Act::Close => None,
                    Act::Never => std::future::pending().await,
                }
            });
            reply
        };
        let server = Server::start("127.0.0.1:0", &NAMES, handler).await.unwrap();
        World { server, seen }
    }

    /// A caller that finds the services `a` to `f` of the namespace `hooks` here.
    pub(crate) fn caller(&self) -> HttpsCaller {
        let address = self.server.address().to_string();
        let resolver = ["a", "b", "c", "d", "e", "f"]
            .into_iter()
            .fold(StaticResolver::default(), |resolver, name| {
                resolver.with("hooks", name, &address)
            });
        HttpsCaller::default().resolver(resolver)
    }

    /// Webhook configurations that trust the server.
    pub(crate) fn configurations(&self, texts: &[String]) -> Vec<WebhookConfiguration> {
        let mut configurations: Vec<_> =
            texts.iter().map(|text| WebhookConfiguration::from_yaml(text).unwrap()).collect();
        for configuration in &mut configurations {
            for webhook in &mut configuration.webhooks {
                let ca_bundle = self.server.authority().ca_bundle.clone();
                webhook.client_config.ca_bundle = ca_bundle.into_bytes();
            }
        }
        configurations
    }

    /// A chain with the given webhooks, in a cluster with the namespace `default`.
    pub(crate) fn chain(&self, texts: &[String]) -> Chain {
        Chain::new(self.caller()).webhooks(&self.configurations(texts))
    }

    /// How often a path was called.
    pub(crate) fn calls(&self, name: &str) -> usize {
        let path = format!("/{name}");
        self.seen.lock().unwrap().iter().filter(|seen| seen.path == path).count()
    }

    /// The calls so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn act(scripts: &BTreeMap<String, Script>, log: &Mutex<Vec<Seen>>, received: &Received) -> Act {
    let mut log = log.lock().unwrap();
    let number = log.iter().filter(|seen| seen.path == received.path).count();
    let text = |value: &hyper::header::HeaderValue| value.to_str().unwrap().to_owned();
    let headers = received.headers.iter().map(|(name, value)| (name.to_string(), text(value)));
    log.push(Seen {
        path: received.path.clone(),
        query: received.query.clone(),
        headers: headers.collect(),
        review: serde_json::from_slice(&received.body).unwrap(),
    });
    let review = AdmissionReview::from_slice(&received.body).unwrap();
    let Some(script) = scripts.get(&received.path) else { return Act::Close };
    script(&review.request.unwrap(), number)
}

/// A webhook configuration with one webhook, which is the service of its name; `more` are further
/// fields of the webhook.
pub(crate) fn configuration(kind: &str, name: &str, more: &str) -> String {
    let defaults = [
        (
            "rules",
            "[{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*']}]",
        ),
        ("sideEffects", "None"),
        ("admissionReviewVersions", "[v1]"),
        ("timeoutSeconds", "5"),
    ];
    let mut text = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}WebhookConfiguration\n\
         metadata: {{name: {name}}}\nwebhooks:\n- name: {name}.example.com\n  clientConfig: \
         {{service: {{namespace: hooks, name: {name}, path: /{name}}}}}\n"
    );
    for (field, value) in defaults {
        if !more.contains(&format!("{field}:")) {
            text.push_str(&format!("  {field}: {value}\n"));
        }
    }
    for line in more.lines().map(str::trim).filter(|line| !line.is_empty()) {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// The answer of a v1 webhook.
pub(crate) fn answer(response: AdmissionResponse) -> Act {
    Act::Reply(reply(response))
}

pub(crate) fn reply(response: AdmissionResponse) -> Reply {
    Reply::json(AdmissionReview::of_response(ReviewVersion::V1, response).to_json())
}

pub(crate) fn allow(request: &AdmissionRequest) -> Act {
    answer(AdmissionResponse::allow(request))
}

/// Any JSON as the answer, in which `UID` stands for the UID of the request.
pub(crate) fn json_answer(request: &AdmissionRequest, answer: &Value) -> Act {
    Act::Reply(Reply::json(answer.to_string().replace("UID", &request.uid)))
}

pub(crate) fn kind() -> GroupVersionKind {
    GroupVersionKind::new("example.com", "v1", "Foo")
}

pub(crate) fn resource() -> GroupVersionResource {
    GroupVersionResource::new("example.com", "v1", "foos")
}

pub(crate) fn object() -> Value {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {"n": 1},
    })
}

pub(crate) fn create() -> AdmissionAttributes {
    AdmissionAttributes::create(kind(), resource(), object())
}

/// The cluster around requests: a namespace without labels.
pub(crate) fn cluster() -> MemoryCluster {
    MemoryCluster::new().with_namespace("default", NamespaceLabels::new())
}
