//! The operations on webhook configurations: selectors, validation, matching.

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook::FieldPath;
use billhook::label_selector::{LabelSelector, Selector};
use billhook::webhook::{
    AdmissionAttributes, Authorizer, CelConditions, CompiledWebhook, ConditionInput, Decision,
    EquivalentResources, Match, MatchContext, NamespaceLabels, ValidationOptions,
    WebhookConfiguration, WebhookSet,
};
use billhook::{GroupVersionKind, GroupVersionResource, UserInfo};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_cel::{
    AuthorizationDecision, AuthorizationRequest, AuthorizationTarget, ResourceTarget,
};
use serde_json::{Map, Value, json};

use super::Outcome;
use super::input::{Given, Run, field_error, object, ok};

/// `label_selector`.
pub(super) fn label_selector(input: Given<'_>) -> Run {
    let written = input.get("selector").unwrap_or(&Value::Null);
    let document = LabelSelector::from_value(written).map_err(|error| error.to_string())?;
    let mut errors = Vec::new();
    let selector = match written {
        Value::Null => Ok(Selector::nothing()),
        _ => document.parse_for(input.kubernetes),
    };
    if let Err(error) = &selector {
        let error = json!({"error": error.to_string(), "source": "selector"});
        errors.push(DeepValue::from(error));
    }
    let invalid = document.validate_for(&FieldPath::default(), input.kubernetes, false);
    errors.extend(invalid.iter().map(|error| field_error(error, Some("validation"))));
    match selector {
        Ok(selector) if errors.is_empty() => {
            let none = Map::new();
            let labels = input.get("labels").and_then(Value::as_object).unwrap_or(&none);
            Ok(ok(json!({
                "matches": selector.matches(labels),
                "empty": selector.is_everything(),
                "selector": selector.to_string(),
            })))
        }
        _ => Ok(Outcome { errors, ..Outcome::default() }),
    }
}

/// `webhook_config`.
pub(super) fn webhook_config(input: Given<'_>) -> Run {
    let written = input.get("configuration").unwrap_or(&Value::Null);
    let (configuration, unknown) =
        WebhookConfiguration::from_value_reporting(written).map_err(|error| error.to_string())?;
    let configuration = configuration.kubernetes(input.kubernetes);
    let conditions = CelConditions::new();
    let options = ValidationOptions::default().expressions(&conditions);
    let errors = configuration.validate_with(&options);
    Ok(Outcome {
        errors: errors.iter().map(|error| field_error(error, None)).collect(),
        ..ok(object([
            ("configuration", configuration.to_value().into_inner()),
            ("valid", Value::from(errors.is_empty())),
            ("strict_errors", Value::from(unknown)),
        ]))
    })
}

/// `webhook_match`: every webhook is decided for, whether or not the kind is exempt.
pub(super) fn webhook_match(input: Given<'_>) -> Run {
    let part = |name: &str| input.get(name).unwrap_or(&Value::Null);
    let configuration = WebhookConfiguration::from_value(part("configuration"))
        .map_err(|error| error.to_string())?
        .kubernetes(input.kubernetes);
    let set = WebhookSet::new(configuration.kind, [configuration]);
    let attributes = request(part("request"))?;
    let namespaces = namespaces(part("namespaces"))?;
    let registry = registry(part("equivalentResources"))?;
    let allow = part("allow").as_array().into_iter().flatten().map(deep_clone);
    let conditions = CelConditions::new().authorizer(Arc::new(Allow(allow.collect())));
    let context = MatchContext::new(&namespaces, &registry).conditions(&conditions);
    let candidates = set.candidates(&attributes, &registry);
    let mut hooks = Vec::new();
    for (position, hook) in set.hooks().iter().enumerate() {
        let mut decision = hook.decide(&attributes, &context);
        if hook.explain(&attributes, &context).decision() != &decision {
            return Err("the decisions with and without a trace differ".to_owned());
        }
        if !decision.is_skipped() && !candidates.contains(&position) {
            return Err("the index leaves out a webhook".to_owned());
        }
        if let Decision::NotEvaluated(matched) = decision {
            let convert = |object: &Option<DeepValue>| {
                object.as_deref().map(|object| renamed(object, &matched))
            };
            let (object, old) = (convert(&attributes.object), convert(&attributes.old_object));
            let input = ConditionInput::new(&attributes, &matched);
            let input = input.converted(object.as_deref(), old.as_deref());
            decision = hook.decide_conditions(&conditions, &input);
        }
        hooks.push(decided(hook, &decision));
    }
    let exempt = Value::from(attributes.is_exempt());
    let members = object([("exempt", exempt), ("hooks", Value::from(hooks))]);
    Ok(ok(members))
}

/// A request in the form of the vectors, which spell one field of a review differently.
fn request(written: &Value) -> Result<AdmissionAttributes, String> {
    let mut review = DeepValue::from(deep_clone(written));
    if let Value::Object(members) = &mut *review
        && let Some(subresource) = members.remove("subresource")
    {
        members.insert("subResource".to_owned(), subresource);
    }
    AdmissionAttributes::from_review_request(&review).map_err(|error| error.to_string())
}

fn namespaces(written: &Value) -> Result<BTreeMap<String, NamespaceLabels>, String> {
    let mut namespaces = BTreeMap::new();
    for (name, labels) in written.as_object().into_iter().flatten() {
        let labels = json!({"matchLabels": labels});
        let read = LabelSelector::from_value(&labels).map_err(|error| error.to_string())?;
        namespaces.insert(name.clone(), read.match_labels);
    }
    Ok(namespaces)
}

fn registry(written: &Value) -> Result<EquivalentResources, String> {
    let mut registry = EquivalentResources::new();
    let sets = || written.as_array().into_iter().flatten().filter_map(Value::as_array);
    let text = |entry: &Value, name: &str| {
        entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    for set in sets() {
        let Some(first) = set.first() else { continue };
        for entry in set {
            let (group, resource) = (text(entry, "group"), text(entry, "resource"));
            let (stored_group, stored) = (text(first, "group"), text(first, "resource"));
            registry.share_storage((&group, &resource), (&stored_group, &stored));
        }
    }
    for entry in sets().flatten() {
        let (group, version) = (text(entry, "group"), text(entry, "version"));
        let kind = match entry.get("kind") {
            Some(Value::Object(_)) => return Err("a kind with a group of its own".to_owned()),
            _ => GroupVersionKind::new(group.clone(), version.clone(), text(entry, "kind")),
        };
        let resource = GroupVersionResource::new(group, version, text(entry, "resource"));
        registry.register(resource, &text(entry, "subresource"), kind);
    }
    Ok(registry)
}

fn decided(hook: &CompiledWebhook, decision: &Decision) -> Value {
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| {
        members.insert(name.to_owned(), value);
    };
    set("config", Value::from(hook.configuration()));
    set("name", Value::from(hook.name()));
    set("uid", Value::from(hook.key()));
    set("call", Value::from(matches!(decision, Decision::Called(_))));
    match decision {
        Decision::Called(Match { resource, subresource, kind, .. }) => {
            let GroupVersionKind { group, version, kind } = kind;
            set("kind", json!({"group": group, "version": version, "kind": kind}));
            let GroupVersionResource { group, version, resource } = resource;
            set("resource", json!({"group": group, "version": version, "resource": resource}));
            set("subresource", Value::from(subresource.as_str()));
        }
        Decision::Rejected(_, status) => {
            let (code, message, reason) = (status.code, &status.message, &status.reason);
            let status = json!({"code": code, "message": message, "reason": reason});
            set("status_error", status);
        }
        _ => {}
    }
    Value::Object(members)
}

/// An object in another kind. The vectors' server changes nothing else.
fn renamed(object: &Value, matched: &Match) -> DeepValue {
    let mut object = DeepValue::from(deep_clone(object));
    if let Value::Object(members) = &mut *object {
        let GroupVersionKind { kind, .. } = &matched.kind;
        members.insert("apiVersion".to_owned(), matched.kind.api_version().into());
        members.insert("kind".to_owned(), kind.as_str().into());
    }
    object
}

/// The allowed differences: a member that is not there matches anything.
#[derive(Debug)]
struct Allow(Vec<Value>);

impl Authorizer for Allow {
    fn authorize(&self, user: &UserInfo, request: &AuthorizationRequest) -> AuthorizationDecision {
        let user = match &request.service_account {
            Some(account) => {
                format!("system:serviceaccount:{}:{}", account.namespace, account.name)
            }
            None => user.username.clone(),
        };
        let resource = match &request.target {
            AuthorizationTarget::Resource(resource) => resource.clone(),
            _ => ResourceTarget::default(),
        };
        let path = match &request.target {
            AuthorizationTarget::Path(path) => path.as_str(),
            _ => "",
        };
        let parts = [
            ("user", user.as_str()),
            ("verb", &request.verb),
            ("path", path),
            ("group", &resource.group),
            ("resource", &resource.resource),
            ("subresource", &resource.subresource),
            ("namespace", &resource.namespace),
            ("name", &resource.name),
        ];
        let is_allowed = |entry: &Value| {
            parts.iter().all(|(name, actual)| entry.get(name).is_none_or(|said| said == actual))
        };
        AuthorizationDecision::new(self.0.iter().any(is_allowed))
    }
}
