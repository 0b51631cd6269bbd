//! A recorded conversation: its parts, and how it is played.

use std::collections::BTreeMap;
use std::time::Duration;

use billhook::webhook::WebhookConfiguration;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json_to_depth;
use billhook_policy::{PolicyDocument, PolicyKind};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::client::{Answered, Client, DEFINITIONS};
use super::cluster::{Cluster, Configurations};
use super::compare;
use super::pointer::text;
use super::request::Request;
use super::verdict::Verdict;
use super::webhooks::{Answer, CONVERT, Webhooks};

/// Scenarios wrap objects that are themselves as deep as a server allows.
pub(super) const DEPTH: usize = billhook_decode::MAX_DEPTH + 10;

/// How long after the request of a scenario others are sent during it.
const LATER: Duration = Duration::from_millis(500);

/// A recorded conversation.
#[derive(Debug, Deserialize)]
pub struct Scenario {
    /// Its name.
    pub id: String,
    /// Its subject.
    #[serde(default)]
    pub note: String,
    crds: Vec<Box<RawValue>>,
    #[serde(default)]
    namespaces: Vec<Box<RawValue>>,
    #[serde(default)]
    objects: Vec<Box<RawValue>>,
    #[serde(default)]
    configurations: Vec<Box<RawValue>>,
    #[serde(default)]
    webhooks: BTreeMap<String, Vec<Answer>>,
    #[serde(default)]
    conversion: Option<Vec<Answer>>,
    request: Request,
    #[serde(default)]
    during: Vec<Request>,
    expect: Box<RawValue>,
}

/// The parts of a scenario that are set up before its request.
struct Parts {
    crds: Vec<DeepValue>,
    namespaces: Vec<DeepValue>,
    objects: Vec<DeepValue>,
    configurations: Configurations,
}

impl Scenario {
    /// Reads a line.
    pub fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    /// Its part of the API.
    pub(super) fn area(&self) -> &'static str {
        if self.conversion.is_some() { "conversion" } else { "admission" }
    }

    /// Plays it.
    pub fn play(&self) -> Result<Verdict, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(self.run())
    }

    async fn run(&self) -> Result<Verdict, String> {
        let conversion =
            self.conversion.iter().map(|answers| (CONVERT.to_owned(), answers.clone()));
        let answers = self.webhooks.clone().into_iter().chain(conversion).collect();
        let webhooks = Webhooks::start(answers).await?;
        let parts = self.parts(&webhooks)?;
        let is_conversion = self.conversion.is_some() && parts.configurations.is_empty();
        let is_of_server =
            is_conversion || self.request.is_of_policies() || self.request.is_review();
        let actual = match is_of_server {
            true => self.on_server(&webhooks, &parts).await?,
            false => self.on_write_path(&webhooks, &parts).await?,
        };
        let Some(actual) = actual else {
            return Ok(Verdict::Waiting("a request that only an API server answers"));
        };
        let expected = read(&self.expect)?;
        Ok(verdict_of_any(expected, actual.into(), &webhooks.address()))
    }

    /// Plays it on the write path alone, whose audit annotations are seen too.
    async fn on_write_path(
        &self,
        webhooks: &Webhooks,
        parts: &Parts,
    ) -> Result<Option<Value>, String> {
        let mut cluster = Cluster::new(&parts.crds, &parts.namespaces)?;
        for object in parts.namespaces.iter().chain(&parts.objects) {
            cluster.create(object).await?;
        }
        webhooks.begin();
        let response = cluster.handle(&self.request, &parts.configurations).await?;
        Ok(response.map(|response| {
            json!({
                "status": response.status,
                "body": response.body.into_inner(),
                "warnings": response.warnings,
                "annotations": response.annotations,
                "calls": webhooks.calls(&parts.configurations.webhooks),
            })
        }))
    }

    /// Plays it on the API server.
    async fn on_server(&self, webhooks: &Webhooks, parts: &Parts) -> Result<Option<Value>, String> {
        let client = Client::new();
        for namespace in &parts.namespaces {
            client.create(namespace, "namespaces").await?;
        }
        for definition in &parts.crds {
            client.create(definition, DEFINITIONS).await?;
        }
        for object in &parts.objects {
            let found = parts
                .crds
                .iter()
                .find(|definition| text(definition, "/spec/names/kind") == text(object, "/kind"));
            let plural = found.map_or("", |definition| text(definition, "/spec/names/plural"));
            client.create(object, plural).await?;
        }
        for policy in &parts.configurations.policies {
            let plural = PolicyDocument::kind_of(policy).map_or("", PolicyKind::resource);
            client.create(policy, plural).await?;
        }
        let revision = client.revision(&self.request).await?;
        webhooks.begin();
        let during = async {
            for request in &self.during {
                tokio::time::sleep(LATER).await;
                client.send(request, "").await?;
            }
            Ok::<_, String>(())
        };
        let (answer, during) = tokio::join!(client.send(&self.request, &revision), during);
        during?;
        let Answered { status, mut body, warnings } = answer?;
        if self.request.is_of_policies()
            && let Some(Value::Object(found)) = body.get_mut("status")
        {
            // The recorded server has no controllers: types were not checked (PO-90).
            found
                .retain(|name, _| !["observedGeneration", "typeChecking"].contains(&name.as_str()));
        }
        let calls = webhooks.calls(&parts.configurations.webhooks);
        // Audit annotations are not shown; those of webhooks and policies need the write path.
        Ok(Some(json!({"status": status, "body": body, "warnings": warnings, "annotations": {},
            "calls": calls})))
    }

    fn parts(&self, webhooks: &Webhooks) -> Result<Parts, String> {
        let all = |texts: &[Box<RawValue>]| -> Result<Vec<DeepValue>, String> {
            texts.iter().map(|text| read(text)).collect()
        };
        let mut configurations = Configurations::default();
        for text in &self.configurations {
            let value = read_text(&webhooks.address_in(text.get()))?;
            if PolicyDocument::kind_of(&value).is_some() {
                configurations.policies.push(value.into_inner());
            } else {
                let webhooks = WebhookConfiguration::from_value(&value);
                configurations.webhooks.push(webhooks.map_err(|error| error.to_string())?);
            }
        }
        Ok(Parts {
            crds: self
                .crds
                .iter()
                .map(|text| read_text(&webhooks.address_in(text.get())))
                .collect::<Result<_, _>>()?,
            namespaces: all(&self.namespaces)?,
            objects: all(&self.objects)?,
            configurations,
        })
    }
}

/// Of several recorded results, one has to be the actual one.
fn verdict_of_any(mut expected: DeepValue, actual: DeepValue, webhooks: &str) -> Verdict {
    let results = expected.get_mut("anyOf").and_then(Value::as_array_mut).map(std::mem::take);
    let Some(results) = results else { return compare::verdict(expected, actual, webhooks) };
    let mut verdicts = results
        .into_iter()
        .map(|expected| compare::verdict(expected.into(), actual.clone(), webhooks));
    let first = verdicts.next();
    let is_passed = |verdict: &Verdict| !matches!(verdict, Verdict::Failed { .. });
    let found = first.into_iter().chain(verdicts).reduce(|best, verdict| {
        if is_passed(&best) {
            best
        } else if is_passed(&verdict) {
            verdict
        } else {
            best
        }
    });
    found.unwrap_or(Verdict::Failed { differences: vec!["no result was recorded".to_owned()] })
}

fn read(text: &RawValue) -> Result<DeepValue, String> {
    read_text(text.get())
}

fn read_text(text: &str) -> Result<DeepValue, String> {
    let document = read_json_to_depth(text.as_bytes(), DEPTH);
    Ok(document.map_err(|error| error.to_string())?.into_value())
}
