//! The variables of expressions about a request (WM-73 to WM-77, WM-90 to WM-92, PO-45).

use std::sync::Arc;

use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource};
use billhook_cel::schema::SchemaType;
use billhook_cel::{Authorizer, Environment, Program, ResourceTarget, Type, Value};
use serde_json::{Map, Value as Json, json};

use super::attributes::AdmissionAttributes;
use super::condition_program::{ANY, AUTHORIZER, ENVIRONMENT, REQUEST, REQUEST_RESOURCE};
use super::conditions::{ConditionInput, ConditionsError, renamed};

/// The variables of an expression of a policy: those here, `namespaceObject`, `variables` and two of
/// the authorizer.
const MOST_VARIABLES: usize = 8;

/// The variables `object`, `oldObject`, `request` and `params` of a request.
#[derive(Debug)]
pub struct RequestVariables<'i> {
    request: DeepValue,
    object: Option<DeepValue>,
    old_object: Option<DeepValue>,
    input: ConditionInput<'i>,
}

impl<'i> RequestVariables<'i> {
    /// The variables of match conditions: `request.kind` is the kind that matched, but
    /// `request.resource` the resource that was asked for (WM-76).
    pub fn of_conditions(input: &ConditionInput<'i>) -> Self {
        Self::new(input, request(input, &input.attributes.resource))
    }

    /// The variables of the other expressions of policies: `request.resource` is the resource that
    /// matched too (PO-45).
    pub fn of_policy(input: &ConditionInput<'i>) -> Self {
        Self::new(input, Self::policy_request(input))
    }

    /// Returns the value of `request` for policies that match a request alike.
    pub fn policy_request(input: &ConditionInput<'_>) -> DeepValue {
        request(input, &input.matched.resource)
    }

    /// The variables with a value of `request`, which inputs can share.
    pub fn new(input: &ConditionInput<'i>, request: DeepValue) -> Self {
        let renamed = |object: Option<&Json>| renamed(object?, &input.matched.kind);
        RequestVariables {
            request,
            object: renamed(input.object),
            old_object: renamed(input.old_object),
            input: *input,
        }
    }

    /// Returns the variables by their names.
    ///
    /// # Errors
    ///
    /// If a variable does not have its type (WM-82).
    pub fn values(&self) -> Result<Vec<(&'static str, Value<'_>)>, ConditionsError> {
        let ConditionInput { object, old_object, params, .. } = self.input;
        let mut variables = Vec::with_capacity(MOST_VARIABLES);
        variables.push(variable("object", self.object.as_deref().or(object), &ANY)?);
        variables.push(variable("oldObject", self.old_object.as_deref().or(old_object), &ANY)?);
        variables.push(variable("request", Some(&self.request), &REQUEST)?);
        if params.is_some() {
            variables.push(variable("params", params, &ANY)?);
        }
        Ok(variables)
    }

    /// Returns the declarations of `object`, `oldObject`, `request` and `namespaceObject`, and of
    /// `params` if there may be any.
    pub fn environment(has_params: bool) -> Environment {
        let environment = ENVIRONMENT.clone();
        if has_params { environment.variable("params", Type::Dyn) } else { environment }
    }

    /// Returns whether an expression refers to `authorizer` or `authorizer.requestResource`.
    pub fn ask_authorizer(program: &Program) -> bool {
        [AUTHORIZER, REQUEST_RESOURCE].iter().any(|name| program.uses(name))
    }

    /// Declares `authorizer` and `authorizer.requestResource` too.
    pub fn declare_authorizer(environment: Environment) -> Environment {
        environment
            .variable(AUTHORIZER, Type::authorizer())
            .variable(REQUEST_RESOURCE, Type::resource_check())
    }
}

/// Returns the variables `authorizer` and `authorizer.requestResource` for a request, which
/// [`RequestVariables::declare_authorizer`] declares (WM-90, WM-92).
pub fn authorizer_variables(
    authorizer: &Arc<dyn Authorizer>,
    attributes: &AdmissionAttributes,
) -> [(&'static str, Value<'static>); 2] {
    let user = Arc::new(attributes.user.clone());
    let GroupVersionResource { group, resource, .. } = &attributes.resource;
    let mut target = ResourceTarget::new(group, resource);
    target.subresource.clone_from(&attributes.subresource);
    target.namespace.clone_from(&attributes.namespace);
    target.name.clone_from(&attributes.name);
    let resource = Value::resource_check(Arc::clone(authorizer), Arc::clone(&user), target);
    [(AUTHORIZER, Value::authorizer(Arc::clone(authorizer), user)), (REQUEST_RESOURCE, resource)]
}

/// WM-73, WM-82.
fn variable<'v>(
    name: &'static str,
    value: Option<&'v Json>,
    schema: &'v SchemaType,
) -> Result<(&'static str, Value<'v>), ConditionsError> {
    let value = value.map_or(Ok(Value::Null), |value| Value::of(value, schema));
    let problem = |error| {
        ConditionsError::new(format!("failed to prepare {name} variable for evaluation: {error}"))
    };
    value.map(|value| (name, value)).map_err(problem)
}

/// The variable `request`; what is empty is left out (WM-75).
fn request(input: &ConditionInput<'_>, asked: &GroupVersionResource) -> DeepValue {
    let attributes = input.attributes;
    let kind = |GroupVersionKind { group, version, kind }: &GroupVersionKind| json!({"group": group, "version": version, "kind": kind});
    let resource = |GroupVersionResource { group, version, resource }: &GroupVersionResource| json!({"group": group, "version": version, "resource": resource});
    let mut members = Map::new();
    let mut set = |name: &str, value: Json| members.insert(name.to_owned(), value);
    set("kind", kind(&input.matched.kind));
    set("resource", resource(asked));
    set("requestKind", kind(&attributes.kind));
    set("requestResource", resource(&attributes.resource));
    for (name, text) in [
        ("subResource", &attributes.subresource),
        ("requestSubResource", &attributes.subresource),
        ("name", &attributes.name),
        ("namespace", &attributes.namespace),
    ] {
        if !text.is_empty() {
            set(name, Json::from(text.as_str()));
        }
    }
    set("operation", Json::from(attributes.operation.name()));
    set("userInfo", serde_json::to_value(&attributes.user).unwrap_or_default());
    set("dryRun", Json::from(attributes.dry_run));
    let options = attributes.options.as_deref().map(deep_clone);
    let options = options.or_else(|| attributes.operation.empty_options().map(Json::Object));
    set("options", options.unwrap_or_default());
    DeepValue::from(Json::Object(members))
}
