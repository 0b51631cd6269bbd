//! A recorded conversation: its parts, and how it is played.

use std::collections::BTreeMap;

use billhook::webhook::WebhookConfiguration;
use billhook_apimachinery::value::DeepValue;
use billhook_decode::read_json_to_depth;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::compare;
use super::request::Request;
use super::webhooks::{Answer, Webhooks};

/// Scenarios wrap objects that are themselves as deep as a server allows.
pub(super) const DEPTH: usize = billhook_decode::MAX_DEPTH + 10;

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
    conversion: Option<Box<RawValue>>,
    request: Request,
    expect: Box<RawValue>,
}

/// How a scenario went.
#[derive(Debug)]
pub enum Verdict {
    /// As recorded.
    Passed,
    /// As recorded, but for a text that only the build of the recorded server explains.
    Explained,
    /// Otherwise.
    Failed {
        /// Where, what was recorded there, and what happened here.
        differences: Vec<String>,
    },
    /// It needs a part of a server that there is not yet.
    Waiting(&'static str),
}

/// The parts of a scenario that are set up before its request.
struct Parts {
    crds: Vec<DeepValue>,
    namespaces: Vec<DeepValue>,
    objects: Vec<DeepValue>,
    configurations: Vec<WebhookConfiguration>,
}

impl Scenario {
    /// Reads a line.
    pub fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| error.to_string())
    }

    /// Plays it.
    pub fn play(&self) -> Result<Verdict, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(self.run())
    }

    async fn run(&self) -> Result<Verdict, String> {
        if let Some(missing) = self.missing() {
            return Ok(Verdict::Waiting(missing));
        }
        let webhooks = Webhooks::start(self.webhooks.clone()).await?;
        let parts = self.parts(&webhooks)?;
        let cluster = Cluster::new(&parts.crds, &parts.namespaces)?;
        for object in &parts.objects {
            cluster.create(object).await?;
        }
        let response = cluster.handle(&self.request, &parts.configurations).await;
        let Some(response) = response else {
            return Ok(Verdict::Waiting("a request that only an API server answers"));
        };
        let actual = json!({
            "status": response.status,
            "body": response.body.into_inner(),
            "warnings": response.warnings,
            "annotations": response.annotations,
            "calls": webhooks.calls(&parts.configurations),
        });
        let expected = read(&self.expect)?;
        Ok(compare::verdict(expected, actual.into(), &webhooks.address()))
    }

    /// The part of a server that it needs and that there is not.
    fn missing(&self) -> Option<&'static str> {
        let is_policy = |text: &RawValue| text.get().contains("AdmissionPolicy");
        if self.configurations.iter().any(|text| is_policy(text)) {
            return Some("admission policies");
        }
        self.conversion.as_ref().map(|_| "conversion webhooks")
    }

    fn parts(&self, webhooks: &Webhooks) -> Result<Parts, String> {
        let all = |texts: &[Box<RawValue>]| -> Result<Vec<DeepValue>, String> {
            texts.iter().map(|text| read(text)).collect()
        };
        let configuration = |text: &RawValue| {
            let text = webhooks.address_in(text.get());
            let value = read_text(&text)?;
            WebhookConfiguration::from_value(&value).map_err(|error| error.to_string())
        };
        Ok(Parts {
            crds: all(&self.crds)?,
            namespaces: all(&self.namespaces)?,
            objects: all(&self.objects)?,
            configurations: self
                .configurations
                .iter()
                .map(|text| configuration(text))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn read(text: &RawValue) -> Result<DeepValue, String> {
    read_text(text.get())
}

fn read_text(text: &str) -> Result<DeepValue, String> {
    let document = read_json_to_depth(text.as_bytes(), DEPTH);
    Ok(document.map_err(|error| error.to_string())?.into_value())
}

/// A text in an object; empty if there is none.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
