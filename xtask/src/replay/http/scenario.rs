//! The format of conversations: scenarios of steps.

use std::collections::BTreeMap;

use billhook_apimachinery::base64;
use serde::Deserialize;
use serde_json::Value;

use super::placeholders::Bindings;

/// A recorded conversation of several steps.
#[derive(Debug, Deserialize)]
pub struct Conversation {
    /// Its name.
    pub id: String,
    /// Its part of the API.
    pub area: String,
    /// Its subject.
    pub about: String,
    pub(super) groups: Vec<String>,
    /// Definitions that are there before the steps. Conversations about built-in kinds have none.
    pub(super) crds: Option<Vec<Value>>,
    /// Namespaces that are there before the steps, by name or as objects.
    #[serde(default)]
    pub(super) namespaces: Vec<Value>,
    /// Whether the controllers of a cluster act.
    #[serde(default, rename = "controllers")]
    pub(super) has_controllers: bool,
    pub(super) steps: Vec<Step>,
}

/// A step: an action, and the answer that was recorded.
#[derive(Debug, Deserialize)]
pub(super) struct Step {
    #[serde(flatten)]
    pub(super) action: Action,
    pub(super) response: Option<Response>,
    #[serde(default, rename = "unordered")]
    pub(super) is_unordered: bool,
}

/// The recorded part of a step: an answer, or the objects of paths.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Response {
    Objects(Vec<Objects>),
    Answer(Recorded),
}

/// The objects at a path, without what differs from run to run.
#[derive(Debug, Deserialize)]
pub(super) struct Objects {
    pub(super) path: String,
    pub(super) items: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Action {
    Request(Request),
    Watch(Request),
    Events {
        id: String,
        lines: Vec<Value>,
    },
    EndOfWatch {
        id: String,
        by: String,
    },
    Establish {
        crd: String,
        ready: Vec<String>,
    },
    Poll(Poll),
    Until {
        path: String,
        field: String,
        value: Value,
    },
    /// The objects of the recorded response are read and compared.
    Objects(serde::de::IgnoredAny),
    /// Waits until nothing has changed for so many seconds.
    Settle {
        quiet: f64,
    },
    /// Waits for so many seconds.
    Sleep(f64),
}

/// A request; a stream has an identifier.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    #[serde(default)]
    pub(super) id: String,
    pub(super) method: Option<String>,
    pub(super) path: String,
    /// Those without a value are not sent.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Option<String>>,
    #[serde(default, deserialize_with = "present")]
    body: Option<Value>,
    body_text: Option<String>,
    /// Bytes in base64.
    body_base64: Option<String>,
    /// Texts, and how often each is repeated.
    body_parts: Option<Vec<(String, usize)>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Poll {
    #[serde(flatten)]
    pub(super) request: Request,
    pub(super) status: u16,
    #[serde(default)]
    pub(super) contains: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Recorded {
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, Value>,
    #[serde(default, deserialize_with = "present")]
    pub(super) body: Option<Value>,
    pub(super) body_text: Option<String>,
    /// Placeholders for members of the body that later steps name, by their paths.
    #[serde(default)]
    pub(super) bind: BTreeMap<String, String>,
}

/// A member that is there, null included.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

impl Request {
    /// A request without a body.
    pub(super) fn get(path: &str) -> Self {
        Request { path: path.to_owned(), ..Request::default() }
    }

    /// A request that creates an object.
    pub(super) fn post(path: &str, object: &Value) -> Self {
        let method = Some("POST".to_owned());
        Request { method, body: Some(object.clone()), ..Request::get(path) }
    }

    /// The body as it is sent.
    pub(super) fn body(&self, bindings: &Bindings) -> Option<Vec<u8>> {
        if let Some(body) = &self.body {
            let mut body = body.clone();
            bindings.in_value(&mut body);
            return Some(body.to_string().into_bytes());
        }
        if let Some(text) = &self.body_text {
            return Some(bindings.in_text(text).into_bytes());
        }
        if let Some(bytes) = &self.body_base64 {
            return base64::decode(bytes).ok();
        }
        let parts = self.body_parts.as_ref()?;
        Some(parts.iter().map(|(text, times)| text.repeat(*times)).collect::<String>().into_bytes())
    }
}
