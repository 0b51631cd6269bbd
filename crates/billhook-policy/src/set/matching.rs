//! Which policies and bindings a request goes to, and with which parameters (PO-21, PO-26 to
//! PO-32, PO-41, PO-42).

use std::collections::BTreeSet;

use billhook::Scope;
use billhook::webhook::{
    AdmissionAttributes, CelConditions, ConditionInput, ConditionResult, Match, MatchConditions,
    RequestMatcher, Selection,
};
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, Status, aggregate};

use super::Indexed;
use super::compiled::{Binding, Head};
use crate::context::PolicyContext;
use crate::document::{GROUP, ParamKind, PolicyKind};
use crate::expression::{EvaluatedExpression, ExpressionOutcome, expression_path};
use crate::object_model::ObjectModelError;
use crate::observer::{PolicyConditions, PolicyObserver};
use crate::params::{Params, params};

/// Reviews that no policy sees (PO-21).
const EXEMPT_REVIEWS: [(&str, &[&str]); 2] = [
    ("authentication.k8s.io", &["selfsubjectreviews", "tokenreviews"]),
    (
        "authorization.k8s.io",
        &[
            "localsubjectaccessreviews",
            "selfsubjectaccessreviews",
            "selfsubjectrulesreviews",
            "subjectaccessreviews",
        ],
    ),
];

/// Returns whether no policy is evaluated for a resource (PO-21).
pub(crate) fn is_exempt(resource: &GroupVersionResource) -> bool {
    let GroupVersionResource { group, resource, .. } = resource;
    let is_policy = || PolicyKind::ALL.iter().any(|kind| kind.resource() == resource);
    let is_review = |(of, names): &(&str, &[&str])| of == group && names.contains(&&**resource);
    group == GROUP && is_policy() || EXEMPT_REVIEWS.iter().any(is_review)
}

/// An error in how a policy or a binding is set up (PO-40).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ConfigurationError {
    /// None if it is one of the policy.
    pub(crate) binding: Option<String>,
    /// The text.
    pub(crate) text: String,
}

impl ConfigurationError {
    /// The objects of a request cannot be had in the kind that a binding matched.
    pub(crate) fn unconverted(binding: &Binding, error: &ObjectModelError) -> Self {
        let text = format!("failed to convert object version: {error}");
        ConfigurationError { binding: Some(binding.name.clone()), text }
    }
}

/// A policy that a request goes to.
pub(crate) struct MatchedPolicy<'p> {
    pub(crate) matched: Match,
    pub(crate) param_kind: Option<(&'p ParamKind, Scope)>,
}

/// A binding of it, with the parameters.
pub(crate) struct MatchedBinding<'p> {
    pub(crate) binding: &'p Binding,
    pub(crate) params: Result<Vec<Params>, ConfigurationError>,
}

/// The result of a matcher; none if it does not match.
fn selected(
    matcher: &RequestMatcher,
    request: &AdmissionAttributes,
    context: &PolicyContext<'_>,
) -> Result<Option<Match>, String> {
    match matcher.select(request, context.cluster, context.equivalents) {
        Selection::Selected(matched) => Ok(Some(matched)),
        Selection::NotSelected(_) => Ok(None),
        Selection::Failed(_, status) => Err(status.message),
    }
}

/// Returns whether a policy is for a request by a binding, parameters aside.
pub(crate) fn is_selected(
    head: &Head,
    binding: &Binding,
    request: &AdmissionAttributes,
    context: &PolicyContext<'_>,
) -> bool {
    let selects = |matcher| matches!(selected(matcher, request, context), Ok(Some(_)));
    selects(&head.matcher) && binding.matcher.as_ref().is_none_or(selects)
}

/// Returns the policies that a request goes to, in order, and those with an error that leaves
/// it open.
pub(crate) fn matching_policies<'p, P>(
    indexed: &'p Indexed<P>,
    head: fn(&P) -> &Head,
    request: &AdmissionAttributes,
    context: &PolicyContext<'_>,
) -> impl Iterator<Item = (&'p P, Result<MatchedPolicy<'p>, ConfigurationError>)> {
    let candidates = indexed.index.candidates(request, context.equivalents).into_iter();
    let policies = candidates.filter_map(|position| indexed.policies.get(position));
    policies.filter_map(move |policy| {
        Some((policy, matching_policy(head(policy), request, context).transpose()?))
    })
}

/// Decides whether a policy is for a request.
fn matching_policy<'p>(
    head: &'p Head,
    request: &AdmissionAttributes,
    context: &PolicyContext<'_>,
) -> Result<Option<MatchedPolicy<'p>>, ConfigurationError> {
    let of_policy = |text: String| ConfigurationError { binding: None, text };
    head.check_constraints().map_err(of_policy)?;
    let Some(matched) = selected(&head.matcher, request, context).map_err(of_policy)? else {
        return Ok(None);
    };
    let param_kind = param_kind(head, context).map_err(of_policy)?;
    Ok(Some(MatchedPolicy { matched, param_kind }))
}

/// Returns the kind of the parameters of a policy with its scope, if it has any (PO-32).
pub(crate) fn param_kind<'p>(
    head: &'p Head,
    context: &PolicyContext<'_>,
) -> Result<Option<(&'p ParamKind, Scope)>, String> {
    let Some(kind) = &head.param_kind else { return Ok(None) };
    match context.cluster.scope(kind) {
        Some(scope) => Ok(Some((kind, scope))),
        None => {
            let shown = kind.to_kind().in_errors();
            Err(format!("failed to find resource referenced by paramKind: '{shown}'"))
        }
    }
}

/// Returns the parameters of a binding for a request (PO-31).
pub(crate) fn params_of(
    policy: &MatchedPolicy<'_>,
    binding: &Binding,
    request: &AdmissionAttributes,
    context: &PolicyContext<'_>,
) -> Result<Vec<Params>, String> {
    let namespace = match request.resource.is_namespaces() {
        true => "",
        false => &request.namespace,
    };
    params(policy.param_kind, binding.params.as_ref(), namespace, context.cluster)
}

/// Returns the kinds other than the request's that policies match it in.
pub(crate) fn other_kinds<P>(
    indexed: &Indexed<P>,
    head: fn(&P) -> &Head,
    request: &AdmissionAttributes,
    context: &PolicyContext<'_>,
) -> BTreeSet<GroupVersionKind> {
    let equivalents = context.equivalents.equivalents(&request.resource, &request.subresource);
    if is_exempt(&request.resource) || equivalents.iter().all(|it| *it == request.resource) {
        return BTreeSet::new();
    }
    let candidates = indexed.index.candidates(request, context.equivalents).into_iter();
    let kind = |position: usize| {
        let matcher = &head(indexed.policies.get(position)?).matcher;
        Some(selected(matcher, request, context).ok()??.kind)
    };
    candidates.filter_map(kind).filter(|kind| *kind != request.kind).collect()
}

/// Returns the bindings of a policy that are for a request, in order.
pub(crate) fn matching_bindings<'p>(
    head: &'p Head,
    policy: &MatchedPolicy<'p>,
    request: &AdmissionAttributes,
    context: &PolicyContext<'_>,
) -> Vec<MatchedBinding<'p>> {
    let of_binding = |binding: &'p Binding| -> Option<MatchedBinding<'p>> {
        let failed = |text| Err(ConfigurationError { binding: Some(binding.name.clone()), text });
        let is_selected = match &binding.matcher {
            None => Ok(true),
            Some(matcher) => selected(matcher, request, context).map(|matched| matched.is_some()),
        };
        let params = match is_selected {
            Ok(false) => return None,
            Ok(true) => params_of(policy, binding, request, context).or_else(failed),
            Err(text) => failed(text),
        };
        Some(MatchedBinding { binding, params })
    };
    head.bindings.iter().filter_map(of_binding).collect()
}

/// Tells of the expressions of match conditions; for that they are evaluated once more.
fn note(
    head: &Head,
    input: &ConditionInput<'_>,
    conditions: &CelConditions,
    observer: &dyn PolicyObserver,
) {
    let (Ok(results), Ok(branches)) = (
        conditions.evaluate(&head.conditions, input),
        conditions.branches(&head.conditions, input),
    ) else {
        return;
    };
    for (index, (result, branches)) in results.into_iter().zip(branches).enumerate() {
        observer.expression_evaluated(EvaluatedExpression {
            kind: head.kind,
            policy: head.name.clone(),
            path: expression_path("matchConditions", index, "expression"),
            outcome: match result {
                ConditionResult::True => ExpressionOutcome::True,
                ConditionResult::False => ExpressionOutcome::False,
                _ => ExpressionOutcome::Error,
            },
            branches: branches.unwrap_or_default(),
        });
    }
}

/// The result of match conditions (PO-42).
pub(crate) enum Conditions {
    Hold,
    DoNotHold,
    Failed(String),
}

impl Conditions {
    pub(crate) fn of(
        head: &Head,
        input: &ConditionInput<'_>,
        conditions: &CelConditions,
        context: &PolicyContext<'_>,
    ) -> Self {
        if head.conditions.is_empty() {
            return Conditions::Hold;
        }
        let (results, took) = context.timed(|| conditions.evaluate(&head.conditions, input));
        let results = results.map_err(|error| error.to_string());
        if let Some(observer) = context.observer {
            if observer.wants_expressions() {
                note(head, input, conditions, observer);
            }
            let results = results.as_deref().map_err(String::as_str);
            observer.conditions_evaluated(&PolicyConditions { policy: &head.name, took, results });
        }
        let results = match results {
            Ok(results) => results,
            Err(error) => return Conditions::Failed(error),
        };
        if results.contains(&ConditionResult::False) {
            return Conditions::DoNotHold;
        }
        let results = head.conditions.iter().zip(&results);
        let errors: Vec<String> = results.filter_map(|(it, result)| it.error_of(result)).collect();
        match errors.is_empty() {
            true => Conditions::Hold,
            false => Conditions::Failed(aggregate(&errors)),
        }
    }
}

/// The server's 404 for the namespace of a request (PO-41).
pub(crate) fn namespace_not_found(name: &str) -> Status {
    Status::not_found(&GroupVersionResource::namespaces(), name)
}
