//! Settings with which other tools ignore the differences that are not real.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use billhook::Cause;
use billhook_apimachinery::FieldPath;
use billhook_apimachinery::print::plain_json;
use billhook_apply::{OwnedPath, PathElement, PathElementKind};
use serde_json::{Map, Value, json};

use crate::diff::args::Tool;
use crate::diff::report::Compared;
use crate::identity::Identity;

/// The settings for all objects. Status and server metadata are left out: the tools ignore them.
pub(super) struct Ignored {
    tool: Tool,
    items: Vec<Value>,
    text: String,
}

impl Ignored {
    pub(super) fn new(tool: Tool) -> Self {
        Ignored { tool, items: Vec::new(), text: String::new() }
    }

    /// Adds those of an object, whose elements of lists are counted in the live object.
    pub(super) fn add(&mut self, compared: &Compared, live: Option<&Value>) {
        let differences = compared.differences.iter().flatten();
        let differences = differences.filter(|difference| {
            matches!(difference.cause, Cause::Server { .. } | Cause::Managers(_) | Cause::Unowned)
        });
        let paths: Vec<&OwnedPath> = differences.map(|difference| &difference.path).collect();
        if paths.is_empty() {
            return;
        }
        match self.tool {
            Tool::Argocd => self.items.push(argocd(&compared.identity, &paths)),
            Tool::Flux => self.items.push(flux(&compared.identity, &paths, live)),
            Tool::Terraform => self.text.push_str(&terraform(&compared.identity, &paths)),
        }
    }

    pub(super) fn text(self) -> String {
        match self.tool {
            _ if self.items.is_empty() => self.text,
            Tool::Argocd => billhook::to_yaml(&json!({"ignoreDifferences": self.items})),
            _ => {
                let settings = json!({"mode": "enabled", "ignore": self.items});
                billhook::to_yaml(&json!({"driftDetection": settings}))
            }
        }
    }
}

fn object(members: &[(&str, Option<Value>)]) -> Value {
    let members =
        members.iter().filter_map(|(name, value)| Some(((*name).to_owned(), value.clone()?)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn texts(texts: BTreeSet<String>) -> Option<Value> {
    (!texts.is_empty()).then(|| texts.into_iter().map(Value::from).collect())
}

fn argocd(identity: &Identity, paths: &[&OwnedPath]) -> Value {
    let has_elements = |path: &&&OwnedPath| fields(path).len() < path.elements().len();
    let (by_element, by_field): (Vec<&OwnedPath>, Vec<&OwnedPath>) =
        paths.iter().partition(|path| has_elements(path));
    object(&[
        ("group", Some(identity.group().into())),
        ("kind", identity.kind.as_deref().map(Value::from)),
        ("namespace", identity.namespace.as_deref().map(Value::from)),
        ("name", identity.name.as_deref().map(Value::from)),
        ("jsonPointers", texts(by_field.into_iter().map(pointer).collect())),
        ("jqPathExpressions", texts(by_element.into_iter().map(jq).collect())),
    ])
}

fn flux(identity: &Identity, paths: &[&OwnedPath], live: Option<&Value>) -> Value {
    let target = object(&[
        ("group", Some(identity.group().into())),
        ("kind", identity.kind.as_deref().map(Value::from)),
        ("namespace", identity.namespace.as_deref().map(Value::from)),
        ("name", identity.name.as_deref().map(Value::from)),
    ]);
    let paths = paths.iter().map(|path| place(path, live).to_json_pointer()).collect();
    object(&[("paths", texts(paths)), ("target", Some(target))])
}

fn terraform(identity: &Identity, paths: &[&OwnedPath]) -> String {
    let [kind, namespace, name] = [&identity.kind, &identity.namespace, &identity.name]
        .map(|text| text.as_deref().unwrap_or_default());
    let mut text = format!("# {kind} {namespace}/{name}\ncomputed_fields = [\n");
    let paths: BTreeSet<String> = paths.iter().map(|path| attribute(path)).collect();
    for path in paths {
        let _ = writeln!(text, "  {},", plain_json(&Value::from(path)));
    }
    text.push_str("]\n");
    text
}

/// The place of a field in the live object; its list, if it is in an element that is not live.
fn place(path: &OwnedPath, mut live: Option<&Value>) -> FieldPath {
    let mut place = FieldPath::default();
    for element in path.elements() {
        if let PathElementKind::Field(name) = element.kind() {
            place = place.name(name);
            live = live.and_then(|value| value.get(name));
            continue;
        }
        let mut items = live.and_then(Value::as_array).into_iter().flatten();
        let Some(index) = items.position(|item| is_element(item, element)) else { break };
        place = place.index(index);
        live = live.and_then(|value| value.get(index));
    }
    place
}

/// Whether an item of a list is the one that an element of a path names.
fn is_element(item: &Value, element: &PathElement) -> bool {
    match element.kind() {
        PathElementKind::Value(value) => item == value,
        PathElementKind::Key(keys) => {
            keys.iter().all(|(name, value)| item.get(name).is_some_and(|own| *own == **value))
        }
        _ => false,
    }
}

/// The names of a path up to the first element of a list: without keys of lists only the whole list
/// can be ignored.
fn fields(path: &OwnedPath) -> Vec<&str> {
    let names = path.elements().iter().map_while(|element| match element.kind() {
        PathElementKind::Field(name) => Some(name),
        _ => None,
    });
    names.collect()
}

fn pointer(path: &OwnedPath) -> String {
    let names = fields(path).into_iter();
    names.fold(FieldPath::default(), FieldPath::name).to_json_pointer()
}

fn attribute(path: &OwnedPath) -> String {
    let mut text = String::new();
    for name in fields(path) {
        match is_identifier(name) {
            true if text.is_empty() => text.push_str(name),
            true => {
                let _ = write!(text, ".{name}");
            }
            false => {
                let _ = write!(text, "[{}]", plain_json(&Value::from(name)));
            }
        }
    }
    text
}

fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
}

fn jq(path: &OwnedPath) -> String {
    let mut text = String::new();
    path.elements().iter().for_each(|element| add_to_jq(&mut text, element));
    text
}

fn add_to_jq(text: &mut String, element: &PathElement) {
    let after_element = text.ends_with(')');
    let name_in_jq = |name: &str| match is_identifier(name) {
        true => format!(".{name}"),
        false => format!(".{}", plain_json(&Value::from(name))),
    };
    match element.kind() {
        PathElementKind::Field(name) => {
            text.push_str(if after_element { " | " } else { "" });
            text.push_str(&name_in_jq(name));
        }
        PathElementKind::Index(index) => {
            let _ = write!(text, "[{index}]");
        }
        PathElementKind::Value(value) => {
            let _ = write!(text, "[] | select(. == {})", plain_json(value));
        }
        PathElementKind::Key(keys) => {
            let is_key = |(name, value): &(String, _)| {
                let value: &billhook::DeepValue = value;
                format!("{} == {}", name_in_jq(name), plain_json(value))
            };
            let keys: Vec<String> = keys.iter().map(is_key).collect();
            let _ = write!(text, "[] | select({})", keys.join(" and "));
        }
        _ => {}
    }
}
