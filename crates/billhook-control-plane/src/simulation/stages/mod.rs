//! Stages of kwok: what happens next to objects of a kind (CP-110).

mod controller;
mod fields;
mod path;
mod selector;
mod template;

use std::time::Duration;

use serde_json::Value;

pub(crate) use self::controller::Stages;
use self::fields::Fields;
use self::path::Path;
use self::selector::Selector;
use self::template::Template;

const API_VERSION: &str = "kwok.x-k8s.io/v1alpha1";

/// A stage of kwok: what happens to the objects of a kind that a selector selects, and when.
///
/// It is read from a document with the kind `Stage`. What is not understood is refused.
///
/// ```
/// use billhook_control_plane::simulation::Stage;
/// use serde_json::json;
///
/// let mut document = json!({
///     "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": "ready"},
///     "spec": {
///         "resourceRef": {"apiGroup": "example.com/v1", "kind": "Team"},
///         "selector": {"matchExpressions": [{"key": ".status.phase", "operator": "DoesNotExist"}]},
///         "delay": {"durationMilliseconds": 1000},
///         "next": {"statusTemplate": "phase: Ready\nsince: {{ Now }}\n"},
///     },
/// });
/// assert!(Stage::from_value(&document).is_ok());
/// document["spec"]["next"]["snapshot"] = true.into();
/// let error = Stage::from_value(&document).unwrap_err();
/// assert_eq!(error.to_string(), "spec.next.snapshot is not understood");
/// ```
#[derive(Clone, Debug)]
pub struct Stage {
    name: String,
    api_version: String,
    kind: String,
    selector: Selector,
    weight: u64,
    /// Where the object says the weight.
    weight_from: Option<Path>,
    delay: Delay,
    next: Next,
}

/// Why a document is not a stage that is understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} {why}")]
pub struct StageError {
    path: String,
    why: String,
}

/// How long it takes until a stage is entered.
#[derive(Clone, Debug, Default)]
struct Delay {
    duration: Duration,
    /// The longest delay, if it is not always the same.
    jitter: Option<Duration>,
    /// Where the object says how long, or until when, and how long at most.
    from: Option<Path>,
    jitter_from: Option<Path>,
}

/// The changes that a stage makes.
#[derive(Clone, Debug, Default)]
struct Next {
    event: Option<[String; 3]>,
    finalizers: Finalizers,
    is_deletion: bool,
    patches: Vec<Patch>,
}

#[derive(Clone, Debug, Default)]
struct Finalizers {
    added: Vec<String>,
    removed: Vec<String>,
    are_emptied: bool,
}

/// A patch of a member of an object, printed from the object.
#[derive(Clone, Debug)]
struct Patch {
    subresource: String,
    root: String,
    template: Template,
    /// Whether it is a list of operations.
    is_json: bool,
}

impl StageError {
    /// Returns the path of the member that is missing, wrong or not understood: `spec.next.patches[0].type`.
    pub fn path(&self) -> &str {
        &self.path
    }

    fn new(path: &str, why: &str) -> Self {
        StageError { path: path.to_owned(), why: why.to_owned() }
    }
}

impl Stage {
    /// Returns whether a document says that it is a stage.
    pub fn is_meant(value: &Value) -> bool {
        value.get("kind").is_some_and(|kind| kind == "Stage")
    }

    /// Reads a stage.
    ///
    /// # Errors
    ///
    /// If a member is missing, wrong, or not understood.
    pub fn from_value(value: &Value) -> Result<Self, StageError> {
        let stage = Fields::read(value, "", &["apiVersion", "kind", "metadata", "spec"])?;
        if stage.text("apiVersion")? != Some(API_VERSION) {
            return Err(StageError::new("apiVersion", &format!("is not {API_VERSION}")));
        }
        let name = stage.get("metadata").and_then(|it| it.get("name")?.as_str());
        let known = [
            "resourceRef",
            "selector",
            "weight",
            "weightFrom",
            "delay",
            "next",
            "immediateNextStage",
        ];
        let spec = stage.object("spec", &known)?.ok_or_else(|| stage.missing("spec"))?;
        let of = spec.object("resourceRef", &["apiGroup", "kind"])?;
        let of = of.ok_or_else(|| spec.missing("resourceRef"))?;
        let known = ["matchLabels", "matchAnnotations", "matchExpressions"];
        let selector = spec.object("selector", &known)?;
        let next = next(&spec)?;
        Ok(Stage {
            name: name.unwrap_or_default().to_owned(),
            api_version: of.text("apiGroup")?.unwrap_or("v1").to_owned(),
            kind: of.text("kind")?.ok_or_else(|| of.missing("kind"))?.to_owned(),
            selector: selector.map(|it| Selector::read(&it)).transpose()?.unwrap_or_default(),
            weight: spec.number("weight")?.unwrap_or_default(),
            weight_from: expression(&spec, "weightFrom")?,
            delay: delay(&spec)?,
            next,
        })
    }

    /// Returns whether it is about pods, which nodes do not run by scripts then.
    pub(crate) fn is_of_pods(&self) -> bool {
        self.api_version == "v1" && self.kind == "Pod"
    }

    /// Returns whether it is about nodes, whose status is left to stages then.
    pub(crate) fn is_of_nodes(&self) -> bool {
        self.api_version == "v1" && self.kind == "Node"
    }
}

fn delay(spec: &Fields<'_>) -> Result<Delay, StageError> {
    let known = [
        "durationMilliseconds",
        "jitterDurationMilliseconds",
        "durationFrom",
        "jitterDurationFrom",
    ];
    let Some(delay) = spec.object("delay", &known)? else { return Ok(Delay::default()) };
    let milliseconds = |name| Ok(delay.number(name)?.map(Duration::from_millis));
    Ok(Delay {
        duration: milliseconds("durationMilliseconds")?.unwrap_or_default(),
        jitter: milliseconds("jitterDurationMilliseconds")?,
        from: expression(&delay, "durationFrom")?,
        jitter_from: expression(&delay, "jitterDurationFrom")?,
    })
}

/// Reads where an object says the value of a member, if the stage leaves that to it.
fn expression(fields: &Fields<'_>, name: &str) -> Result<Option<Path>, StageError> {
    let Some(from) = fields.object(name, &["expressionFrom"])? else { return Ok(None) };
    let path = from.text("expressionFrom")?.ok_or_else(|| from.missing("expressionFrom"))?;
    let error = |why: String| StageError::new(&from.at("expressionFrom"), &why);
    Path::parse(path).map(Some).map_err(error)
}

fn next(spec: &Fields<'_>) -> Result<Next, StageError> {
    let known = ["event", "finalizers", "delete", "patches", "statusTemplate", "statusSubresource"];
    let next = spec.object("next", &known)?.ok_or_else(|| spec.missing("next"))?;
    let event = match next.object("event", &["type", "reason", "message"])? {
        Some(event) => {
            let text = |name| Ok(event.text(name)?.unwrap_or_default().to_owned());
            Some([text("type")?, text("reason")?, text("message")?])
        }
        None => None,
    };
    let mut patches = Vec::new();
    if let Some(text) = next.text("statusTemplate")? {
        let subresource = next.text("statusSubresource")?.unwrap_or("status").to_owned();
        let template = template(text, &next.at("statusTemplate"))?;
        patches.push(Patch { subresource, root: "status".to_owned(), template, is_json: false });
    }
    for patch in next.objects("patches", &["subresource", "root", "template", "type"])? {
        let is_json = match patch.text("type")? {
            None | Some("merge" | "strategic") => false,
            Some("json") if patch.text("root")?.is_none_or(str::is_empty) => true,
            Some("json") => {
                let why = "is not understood with type json, whose operations have paths";
                return Err(StageError::new(&patch.at("root"), why));
            }
            Some(_) => {
                return Err(StageError::new(&patch.at("type"), "is not json, merge or strategic"));
            }
        };
        let text = patch.text("template")?.ok_or_else(|| patch.missing("template"))?;
        patches.push(Patch {
            subresource: patch.text("subresource")?.unwrap_or_default().to_owned(),
            root: patch.text("root")?.unwrap_or_default().to_owned(),
            template: template(text, &patch.at("template"))?,
            is_json,
        });
    }
    let finalizers = finalizers(&next)?;
    Ok(Next { event, finalizers, is_deletion: next.is_set("delete")?, patches })
}

fn finalizers(next: &Fields<'_>) -> Result<Finalizers, StageError> {
    let Some(finalizers) = next.object("finalizers", &["add", "remove", "empty"])? else {
        return Ok(Finalizers::default());
    };
    let values = |name| -> Result<Vec<String>, StageError> {
        let items = finalizers.objects(name, &["value"])?;
        let value = |item: &Fields<'_>| {
            Ok(item.text("value")?.ok_or_else(|| item.missing("value"))?.to_owned())
        };
        items.iter().map(value).collect()
    };
    Ok(Finalizers {
        added: values("add")?,
        removed: values("remove")?,
        are_emptied: finalizers.is_set("empty")?,
    })
}

fn template(text: &str, path: &str) -> Result<Template, StageError> {
    Template::parse(text).map_err(|why| StageError::new(path, &why))
}
