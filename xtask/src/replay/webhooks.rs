//! The webhooks of a scenario: one HTTPS server of this process, which answers as was recorded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use billhook::webhook::{ConfigurationKind, WebhookConfiguration};
use billhook_apimachinery::base64;
use billhook_decode::read_json;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use self::server::{Handled, Received, Reply, Server};
use super::convert::Convert;
use super::pointer::text;

#[path = "../../../crates/billhook-webhook-client/examples/webhook_server/server.rs"]
mod server;

/// An answer of a webhook. What is missing is as in a correct one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Answer {
    #[serde(deserialize_with = "present")]
    allowed: Option<Value>,
    /// The patch as it is sent.
    patch: Option<Box<RawValue>>,
    patch_text: Option<String>,
    #[serde(deserialize_with = "present")]
    patch_type: Option<Value>,
    #[serde(deserialize_with = "present")]
    status: Option<Value>,
    #[serde(deserialize_with = "present")]
    warnings: Option<Value>,
    #[serde(deserialize_with = "present")]
    audit_annotations: Option<Value>,
    #[serde(deserialize_with = "present")]
    uid: Option<Value>,
    #[serde(deserialize_with = "present")]
    api_version: Option<Value>,
    #[serde(deserialize_with = "present")]
    kind: Option<Value>,
    no_response: bool,
    http: Option<u16>,
    body: Option<String>,
    content_type: Option<String>,
    headers: BTreeMap<String, String>,
    delay_seconds: f64,
    close: bool,
    /// That of a conversion webhook.
    convert: Option<Convert>,
}

/// A member that is there, null included.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Answer {
    /// The reply to a review; none if the connection is closed.
    fn reply(&self, review: &Value) -> Option<Reply> {
        if self.close {
            return None;
        }
        let uid = text(review, "/request/uid");
        let (status, body) = match self.http {
            Some(status) => (status, self.body.as_deref().unwrap_or_default().replace("$UID", uid)),
            None => match &self.convert {
                Some(convert) => (200, convert.review(review).to_string()),
                None => (200, self.review(review).to_string()),
            },
        };
        // The recorded webhooks called all their answers JSON.
        let content_type = self.content_type.as_deref().unwrap_or("application/json");
        let headers = self.headers.iter().map(|(name, value)| (name.clone().into(), value.clone()));
        let mut reply =
            Reply { headers: headers.collect(), ..Reply::new(status, Vec::new(), body) };
        if !content_type.is_empty() {
            reply.headers.push(("content-type".into(), content_type.to_owned()));
        }
        Some(reply)
    }

    fn review(&self, review: &Value) -> Value {
        let mut response = Map::new();
        let patch = self.patch_text.as_deref().or(self.patch.as_ref().map(|patch| patch.get()));
        let patch_type = self.patch_type.clone().or(patch.map(|_| json!("JSONPatch")));
        let patch = patch.map(|patch| json!(base64::encode(patch.as_bytes())));
        let uid = self.uid.clone().or_else(|| review.pointer("/request/uid").cloned());
        let members = [
            ("uid", uid),
            ("allowed", self.allowed.clone()),
            ("patch", patch),
            ("patchType", patch_type),
            ("status", self.status.clone()),
            ("warnings", self.warnings.clone()),
            ("auditAnnotations", self.audit_annotations.clone()),
        ];
        set(&mut response, members);
        let own = |given: &Option<Value>, name: &str| given.clone().or(review.get(name).cloned());
        let mut answer = Map::new();
        set(
            &mut answer,
            [
                ("apiVersion", own(&self.api_version, "apiVersion")),
                ("kind", own(&self.kind, "kind")),
                ("response", (!self.no_response).then_some(Value::Object(response))),
            ],
        );
        Value::Object(answer)
    }
}

/// Sets members; null leaves one out.
fn set<const N: usize>(object: &mut Map<String, Value>, members: [(&str, Option<Value>); N]) {
    for (name, value) in members {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            object.insert(name.to_owned(), value);
        }
    }
}

/// A call as the webhook saw it.
#[derive(Clone, Debug)]
struct Call {
    path: String,
    query: String,
    review: Value,
}

/// The path of the conversion webhook.
pub(super) const CONVERT: &str = "/convert";

/// The questions to the webhooks, and whether the request of the scenario has begun.
#[derive(Debug, Default)]
struct Log {
    calls: Vec<Call>,
    has_begun: bool,
}

/// A running server, and what it was asked.
pub(super) struct Webhooks {
    server: Server,
    log: Arc<Mutex<Log>>,
}

impl Webhooks {
    /// Starts a server whose answers are listed by path; the last one is repeated.
    pub(super) async fn start(answers: BTreeMap<String, Vec<Answer>>) -> Result<Self, String> {
        let shared = Arc::default();
        let log = Arc::clone(&shared);
        let handler = move |received: Received| {
            let answer = answer(&answers, &log, &received);
            let handled: Handled = Box::pin(async move {
                let (delay, reply) = answer?;
                tokio::time::sleep(delay).await;
                reply
            });
            handled
        };
        let server = Server::start("127.0.0.1:0", &["127.0.0.1"], handler).await;
        Ok(Webhooks { server: server.map_err(|error| error.to_string())?, log: shared })
    }

    /// Begins the request of the scenario: until then objects are converted well, and nothing is
    /// recorded.
    pub(super) fn begin(&self) {
        *lock(&self.log) = Log { calls: Vec::new(), has_begun: true };
    }

    /// Its `host:port`.
    pub(super) fn address(&self) -> String {
        self.server.address().to_string()
    }

    /// A configuration with the real address and authority.
    pub(super) fn address_in(&self, configuration: &str) -> String {
        let bundle = base64::encode(self.server.authority().ca_bundle.as_bytes());
        let configuration =
            configuration.replace("https://WEBHOOK", &format!("https://{}", self.address()));
        configuration.replace("CABUNDLE", &bundle)
    }

    /// The calls in order; those to validating webhooks run at the same time and are sorted by path.
    pub(super) fn calls(&self, configurations: &[WebhookConfiguration]) -> Value {
        let mut calls = lock(&self.log).calls.clone();
        let is_validating = |call: &Call| {
            let url = format!("https://{}{}", self.address(), call.path);
            configurations
                .iter()
                .filter(|configuration| configuration.kind == ConfigurationKind::Validating)
                .flat_map(|configuration| &configuration.webhooks)
                .any(|webhook| webhook.client_config.url.as_ref() == Some(&url))
        };
        for run in calls.chunk_by_mut(|left, right| is_validating(left) && is_validating(right)) {
            run.sort_by(|left, right| left.path.cmp(&right.path));
        }
        let call =
            |Call { path, query, review }| json!({"path": path, "query": query, "review": review});
        calls.into_iter().map(call).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The delay of an answer and its reply; none closes the connection.
fn answer(
    answers: &BTreeMap<String, Vec<Answer>>,
    log: &Mutex<Log>,
    received: &Received,
) -> Option<(Duration, Option<Reply>)> {
    let review = read_json(&received.body).ok()?.into_value().into_inner();
    let (path, query) = (received.path.clone(), received.query.clone());
    let mut log = lock(log);
    if !log.has_begun && path == CONVERT {
        let good = Answer { convert: Some(Convert::default()), ..Answer::default() };
        return Some((Duration::ZERO, good.reply(&review)));
    }
    let number = log.calls.iter().filter(|call| call.path == path).count();
    let answers = answers.get(&path)?;
    let answer = answers.get(number).or(answers.last())?;
    let reply = answer.reply(&review);
    log.calls.push(Call { path, query, review });
    let delay = Duration::try_from_secs_f64(answer.delay_seconds).unwrap_or_default();
    Some((delay, reply))
}
