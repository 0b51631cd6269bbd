//! The scale subresources of objects that others refer to by kind and name.

use std::sync::Arc;

use billhook_kinds::Kind;
use serde_json::Value;

use crate::object::Object;
use crate::resource::DEFINITIONS;
use crate::view::View;

/// The scale of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScaleTarget {
    /// The path of the subresource.
    pub(crate) path: String,
    /// The plural name of the resource with its group, as errors name it: `deployments.apps`.
    pub(crate) resource: String,
    /// Whether the resource has that subresource.
    pub(crate) is_scalable: bool,
}

/// The plural name of a resource, and whether it has a scale subresource.
type Plural<'v> = (&'v str, bool);

impl ScaleTarget {
    /// Finds the scale of the object of a namespace that a reference with `apiVersion`, `kind` and
    /// `name` is to; `None` if the resource is not known.
    pub(crate) fn of_reference(view: &View, namespace: &str, reference: &Value) -> Option<Self> {
        let text = |name: &str| reference.get(name).and_then(Value::as_str);
        let (api_version, kind, name) = (text("apiVersion")?, text("kind")?, text("name")?);
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let (plural, is_scalable) = match built_in(group, kind) {
            Some(plural) => plural,
            None => custom(view, group, version, kind)?,
        };
        let root = if group.is_empty() { "/api/" } else { "/apis/" };
        let resource = match group {
            "" => plural.to_owned(),
            group => format!("{plural}.{group}"),
        };
        let group = if group.is_empty() { String::new() } else { format!("{group}/") };
        let path = format!("{root}{group}{version}/namespaces/{namespace}/{plural}/{name}/scale");
        Some(ScaleTarget { path, resource, is_scalable })
    }
}

fn built_in(group: &str, kind: &str) -> Option<Plural<'static>> {
    let found = Kind::all().iter().find(|it| it.group == group && it.kind == kind)?;
    Some((found.plural, found.subresource("scale").is_some()))
}

/// Finds the resource of a kind that a definition defines.
fn custom<'v>(view: &'v View, group: &str, version: &str, kind: &str) -> Option<Plural<'v>> {
    let defines =
        |it: &&Arc<Object>| it.text("/spec/group") == group && it.text("/spec/names/kind") == kind;
    let definition = view.all(&DEFINITIONS).find(defines)?;
    let is_meant = |it: &&Value| it.get("name").is_some_and(|name| name == version);
    let version = definition.list("/spec/versions").iter().find(is_meant)?;
    let is_scalable = version.pointer("/subresources/scale").is_some_and(Value::is_object);
    Some((definition.text("/spec/names/plural"), is_scalable))
}
