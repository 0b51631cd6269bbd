//! The values of variables for the expressions of a policy (PO-45, PO-46).

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use billhook::webhook::{
    AdmissionAttributes, CelConditions, ConditionInput, Match, NamespaceLabels, RequestVariables,
    authorizer_variables,
};
use billhook_apimachinery::Status;
use billhook_apimachinery::value::DeepValue;
use billhook_cel::Value;
use serde_json::Value as Json;

use crate::cluster::namespace_object;
use crate::context::PolicyContext;
use crate::object_model::ObjectModelError;
use crate::program::{NAMESPACE, Pass};
use crate::request_objects::{ConvertedObjects, RequestObjects};
use crate::set::{Head, PolicySet, namespace_not_found};

/// The values that all evaluations for a request share.
pub(crate) struct Shared<'r> {
    pub(crate) request: &'r AdmissionAttributes,
    pub(crate) context: &'r PolicyContext<'r>,
    pub(crate) conditions: CelConditions,
    /// `namespaceObject`, once an expression asks for it.
    namespace: OnceCell<Result<DeepValue, String>>,
    /// The values of `request`, by how policies matched it.
    requests: RefCell<Vec<(Match, DeepValue)>>,
}

impl<'r> Shared<'r> {
    /// # Errors
    ///
    /// If the namespace of the request does not exist (PO-41).
    pub(crate) fn new(
        set: &PolicySet,
        request: &'r AdmissionAttributes,
        context: &'r PolicyContext<'r>,
    ) -> Result<Self, Status> {
        let mut conditions = set.conditions().of_request();
        if let Some(authorizer) = context.cluster.authorizer() {
            conditions = conditions.authorizer(Arc::clone(authorizer));
        }
        if is_in_namespace(request) && !context.cluster.has_namespace(&request.namespace) {
            labels_of(request, context)?;
        }
        let (namespace, requests) = (OnceCell::new(), RefCell::default());
        Ok(Shared { request, context, conditions, namespace, requests })
    }

    /// Returns the value of `namespaceObject`; null for what is in no namespace.
    fn namespace(&self) -> Result<&DeepValue, String> {
        let find = || match is_in_namespace(self.request) {
            true => namespace_of(self.request, self.context).map_err(|status| status.message),
            false => Ok(DeepValue::from(Json::Null)),
        };
        self.namespace.get_or_init(find).as_ref().map_err(String::clone)
    }

    /// Returns the variables of a request that depend on what a policy matched.
    pub(crate) fn known<'i>(
        &self,
        head: &Head,
        input: &ConditionInput<'i>,
    ) -> RequestVariables<'i> {
        if !head.asks.request {
            return RequestVariables::new(input, DeepValue::default());
        }
        let mut requests = self.requests.borrow_mut();
        let known = requests.iter().find(|(matched, _)| matched == input.matched);
        let request = match known {
            Some((_, request)) => request.clone(),
            None => {
                let request = RequestVariables::policy_request(input);
                requests.push((input.matched.clone(), request.clone()));
                request
            }
        };
        RequestVariables::new(input, request)
    }

    /// Returns the variables of an expression of a policy, for objects in the matched kind.
    ///
    /// # Errors
    ///
    /// If a variable cannot be prepared (WM-82).
    pub(crate) fn activation<'a>(
        &'a self,
        known: &'a RequestVariables<'_>,
        head: &Head,
        has_authorizer: bool,
    ) -> Result<Vec<(&'static str, Value<'a>)>, String> {
        let mut values = known.values().map_err(|error| error.to_string())?;
        let namespace = match head.asks.namespace {
            true => self.namespace()?,
            false => &Json::Null,
        };
        values.push((NAMESPACE, Value::any(namespace)));
        values.push(("variables", head.variables.deferred()));
        let has_authorizer = has_authorizer && head.asks.authorizer;
        if let Some(authorizer) = self.context.cluster.authorizer().filter(|_| has_authorizer) {
            values.extend(authorizer_variables(authorizer, self.request));
        }
        Ok(values)
    }

    /// Returns a pass over expressions of a policy.
    pub(crate) fn pass<'p, 'v>(
        &'v self,
        head: &'p Head,
        activation: &'v [(&'static str, Value<'p>)],
    ) -> Pass<'p, 'v>
    where
        'p: 'v,
    {
        Pass::new(&head.variables, activation).noting(self.context.observer, head.identity())
    }
}

fn is_in_namespace(request: &AdmissionAttributes) -> bool {
    !request.namespace.is_empty() && !request.resource.is_namespaces()
}

/// Where only the labels of a namespace are known, the namespace has no more than them.
fn namespace_of(
    request: &AdmissionAttributes,
    context: &PolicyContext<'_>,
) -> Result<DeepValue, Status> {
    let name = &request.namespace;
    if let Some(namespace) = context.cluster.namespace(name) {
        return Ok(namespace_object(&namespace));
    }
    let labels = labels_of(request, context)?;
    let namespace = serde_json::json!({"metadata": {"name": name, "labels": *labels}});
    Ok(namespace_object(&DeepValue::from(namespace)))
}

fn labels_of<'c>(
    request: &AdmissionAttributes,
    context: &'c PolicyContext<'_>,
) -> Result<Cow<'c, NamespaceLabels>, Status> {
    let labels = context.cluster.labels(&request.namespace);
    let labels = labels.map_err(|error| Status::internal_error(&error.to_string()))?;
    labels.ok_or_else(|| namespace_not_found(&request.namespace))
}

impl RequestObjects {
    /// Returns the objects of a request in the kind that a policy matched.
    pub(crate) fn matched(
        request: &AdmissionAttributes,
        matched: &Match,
        context: &PolicyContext<'_>,
    ) -> Result<Self, ObjectModelError> {
        if matched.kind == request.kind {
            return Ok(RequestObjects::of(request));
        }
        match context.converted {
            Some(converted) => converted.in_kind(&matched.kind),
            None => ConvertedObjects::default().in_kind(&matched.kind),
        }
    }

    /// Returns the input of expressions.
    pub(crate) fn input<'i>(
        &'i self,
        request: &'i AdmissionAttributes,
        matched: &'i Match,
        params: Option<&'i Json>,
    ) -> ConditionInput<'i> {
        let input = ConditionInput::new(request, matched)
            .converted(self.object.as_deref(), self.old_object.as_deref());
        match params {
            Some(params) => input.params(params),
            None => input,
        }
    }
}
