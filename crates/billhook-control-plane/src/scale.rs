//! The scale subresources of objects that others refer to by kind and name.

use std::sync::Arc;

use serde_json::Value;

use crate::object::Object;
use crate::resource::{
    DEFINITIONS, DEPLOYMENTS, REPLICA_SETS, REPLICATION_CONTROLLERS, Resource, STATEFUL_SETS,
};
use crate::view::View;

/// The built-in resources that have a scale subresource.
static SCALABLE: [&Resource; 4] =
    [&DEPLOYMENTS, &REPLICA_SETS, &REPLICATION_CONTROLLERS, &STATEFUL_SETS];

/// The scale of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScaleTarget {
    /// The path of the subresource.
    pub(crate) path: String,
    /// The plural name of the resource with its group, as errors name it: `deployments.apps`.
    pub(crate) resource: String,
}

impl ScaleTarget {
    /// Finds the scale of the object of a namespace that a reference with `apiVersion`, `kind` and
    /// `name` is to; `None` if the resource is not known.
    pub(crate) fn of_reference(view: &View, namespace: &str, reference: &Value) -> Option<Self> {
        let text = |name: &str| reference.get(name).and_then(Value::as_str);
        let (api_version, kind, name) = (text("apiVersion")?, text("kind")?, text("name")?);
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let built_in = SCALABLE.iter().find(|it| it.group == group && it.kind == kind);
        let plural = match built_in {
            Some(resource) => resource.plural,
            None => custom(view, group, kind)?,
        };
        let root = if group.is_empty() { "/api/" } else { "/apis/" };
        let resource = match group {
            "" => plural.to_owned(),
            group => format!("{plural}.{group}"),
        };
        let group = if group.is_empty() { String::new() } else { format!("{group}/") };
        let path = format!("{root}{group}{version}/namespaces/{namespace}/{plural}/{name}/scale");
        Some(ScaleTarget { path, resource })
    }
}

/// Returns the plural name of a kind that a definition defines.
fn custom<'v>(view: &'v View, group: &str, kind: &str) -> Option<&'v str> {
    let defines =
        |it: &&Arc<Object>| it.text("/spec/group") == group && it.text("/spec/names/kind") == kind;
    view.all(&DEFINITIONS).find(defines).map(|definition| definition.text("/spec/names/plural"))
}
