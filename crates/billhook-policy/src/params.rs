//! The parameters of bindings (PO-30 to PO-32).

use billhook::Scope;
use billhook_apimachinery::label_selector::{Selector, SelectorError};
use billhook_apimachinery::value::DeepValue;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::document::{ParamKind, ParamRef};

/// The parameters of one evaluation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Params {
    /// The policy has no parameters: `params` is not declared.
    Undeclared,
    /// The binding has none.
    Null,
    /// An object.
    Object(DeepValue),
}

impl Params {
    /// Returns the value of `params`, if it is declared.
    pub(crate) fn value(&self) -> Option<&Value> {
        match self {
            Params::Undeclared => None,
            Params::Null => Some(&Value::Null),
            Params::Object(object) => Some(object),
        }
    }

    /// Returns `<namespace>/<name>` of the object.
    pub(crate) fn key(&self) -> String {
        let Params::Object(object) = self else { return String::new() };
        let text =
            |name: &str| object.get("metadata").and_then(|it| it.get(name)).and_then(Value::as_str);
        let (namespace, name) = (text("namespace"), text("name"));
        format!("{}/{}", namespace.unwrap_or_default(), name.unwrap_or_default())
    }
}

/// Where a binding finds its parameters, ready to look.
#[derive(Clone, Debug)]
pub(crate) struct ParamSource {
    namespace: String,
    wanted: Wanted,
    denies_if_none: bool,
}

#[derive(Clone, Debug)]
enum Wanted {
    Name(String),
    Selected(Result<Selector, SelectorError>),
}

impl ParamSource {
    pub(crate) fn new(param_ref: &ParamRef) -> Self {
        let wanted = match &param_ref.selector {
            Some(selector) if param_ref.name.is_empty() => Wanted::Selected(selector.parse()),
            _ => Wanted::Name(param_ref.name.clone()),
        };
        let denies_if_none = param_ref.parameter_not_found_action.as_deref() == Some("Deny");
        ParamSource { namespace: param_ref.namespace.clone(), wanted, denies_if_none }
    }
}

/// Returns the parameters of a binding for a request in a namespace, in order (PO-25); the text of
/// the error if there is one (PO-32).
pub(crate) fn params(
    kind: Option<(&ParamKind, Scope)>,
    source: Option<&ParamSource>,
    request_namespace: &str,
    cluster: &dyn Cluster,
) -> Result<Vec<Params>, String> {
    let Some((kind, scope)) = kind else { return Ok(vec![Params::Undeclared]) };
    let Some(source) = source else { return Ok(vec![Params::Null]) };
    let namespace = match scope {
        Scope::Cluster if source.namespace.is_empty() => "",
        Scope::Cluster => {
            return Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
                .to_owned());
        }
        Scope::Namespaced if !source.namespace.is_empty() => &source.namespace,
        Scope::Namespaced if request_namespace.is_empty() => {
            return Err("cannot use namespaced paramRef in policy binding that matches \
                        cluster-scoped resources"
                .to_owned());
        }
        Scope::Namespaced => request_namespace,
    };
    let found: Vec<DeepValue> = match &source.wanted {
        Wanted::Name(name) => cluster.object(kind, namespace, name).into_iter().collect(),
        Wanted::Selected(selector) => {
            let selector = selector.as_ref().map_err(ToString::to_string)?;
            cluster.objects(kind, namespace, selector)
        }
    };
    if found.is_empty() && source.denies_if_none {
        return Err(
            "no params found for policy binding with `Deny` parameterNotFoundAction".to_owned()
        );
    }
    Ok(found.into_iter().map(Params::Object).collect())
}
