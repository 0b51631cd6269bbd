//! The identity of an object: group, version, kind, namespace and name, as it says itself.

use billhook_apimachinery::split_api_version;
use billhook_apimachinery::value::json_type;
use serde_json::{Map, Value};

use crate::problem::{Place, Problem};

/// The identity of an object, if any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    pub(crate) api_version: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
}

/// Returns `apiVersion` and kind of an object.
pub(crate) fn type_meta<'i>(
    value: &Value,
    identity: &'i Identity,
    place: &Place,
) -> Result<(&'i str, &'i str), Box<Problem>> {
    let unusable = |message: String| Problem::unusable(place.clone(), message);
    if !value.is_object() {
        return Err(unusable(format!("expected an object, found {}", json_type(value))));
    }
    let missing = |name: &str| match value.get(name) {
        None | Some(Value::Null) => {
            let problem = unusable(format!("`{name}` is missing"));
            let members = value.as_object().into_iter().flat_map(Map::keys);
            match members.into_iter().find(|member| member.eq_ignore_ascii_case(name)) {
                Some(other) => problem.help(format!("write `{name}`, not `{other}`")),
                None => problem,
            }
        }
        Some(Value::String(_)) => unusable(format!("`{name}` is empty")),
        Some(other) => unusable(format!("`{name}` must be a string, found {}", json_type(other))),
    };
    let api_version = identity.api_version.as_deref().filter(|text| !text.is_empty());
    let kind = identity.kind.as_deref().filter(|text| !text.is_empty());
    let api_version = api_version.ok_or_else(|| missing("apiVersion"))?;
    Ok((api_version, kind.ok_or_else(|| missing("kind"))?))
}

impl Identity {
    pub(crate) fn of(value: &Value) -> Self {
        let text = |path: &str| value.pointer(path).and_then(Value::as_str).map(str::to_owned);
        Identity {
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        }
    }

    /// Returns the group that the object says it is of.
    pub(crate) fn group(&self) -> &str {
        let api_version = self.api_version.as_deref().unwrap_or_default();
        split_api_version(api_version).0
    }
}
