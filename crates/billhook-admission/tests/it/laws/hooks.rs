//! Webhooks of many kinds in the same process, and requests that go through them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use billhook::Status;
use billhook::webhook::{AdmissionAttributes, WebhookConfiguration};
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_admission::{
    AdmissionRequest, AdmissionResponse, AdmissionReview, BoxFuture, CallFailure, CallerError,
    Chain, ChainOutcome, MemoryCluster, Plugin, PluginRequest, RequestOptions, ReviewVersion,
    Stage, WebhookAnswer, WebhookCall, WebhookCaller,
};
use billhook_testing::small_values as values;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The answer of a webhook to every call.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// Sets a member, which is idempotent.
    Set(String, Value),
    /// Takes a member away if it is there, which is idempotent.
    Remove(String),
    /// Appends to a list, which is not.
    Append,
    /// Counts up, which is not.
    Count,
    /// A patch without effect.
    Nothing,
    Deny,
    Fail,
    BreakPatch,
}

#[derive(Clone, Debug)]
pub(crate) struct CompiledWebhook {
    pub(crate) deed: Deed,
    pub(crate) matches: bool,
    pub(crate) ignores: bool,
    pub(crate) if_needed: bool,
}

/// Webhooks by the name of the hook, and how often they were called.
#[derive(Clone)]
struct Scripted {
    hooks: Arc<BTreeMap<String, Deed>>,
    calls: Arc<Mutex<BTreeMap<String, usize>>>,
}

impl Scripted {
    fn answer(deed: &Deed, request: &AdmissionRequest) -> Result<AdmissionResponse, CallerError> {
        let response = AdmissionResponse::allow(request);
        let spec = |name: &str| request.object.as_ref().and_then(|o| o["spec"].get(name).cloned());
        Ok(match deed {
            Deed::Set(name, value) => response
                .patch(&json!([{"op": "add", "path": format!("/spec/{name}"), "value": value}])),
            Deed::Remove(name) if spec(name).is_some() => {
                response.patch(&json!([{"op": "remove", "path": format!("/spec/{name}")}]))
            }
            Deed::Remove(_) => response,
            Deed::Append if spec("list").is_some_and(|list| list.is_array()) => {
                response.patch(&json!([{"op": "add", "path": "/spec/list/-", "value": "x"}]))
            }
            Deed::Append => {
                response.patch(&json!([{"op": "add", "path": "/spec/list", "value": ["x"]}]))
            }
            Deed::Count => {
                let count = spec("count").and_then(|count| count.as_i64()).unwrap_or(0) + 1;
                response.patch(&json!([{"op": "add", "path": "/spec/count", "value": count}]))
            }
            Deed::Nothing => {
                response.patch(&json!([{"op": "replace", "path": "/kind", "value": "Foo"}]))
            }
            Deed::Deny => AdmissionResponse::deny(request, "no"),
            Deed::Fail => return Err(CallFailure::new("lost").into()),
            Deed::BreakPatch => response.patch(&json!([{"op": "remove", "path": "/nowhere"}])),
        })
    }
}

impl WebhookCaller for Scripted {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        *self.calls.lock().unwrap().entry(call.hook.to_owned()).or_default() += 1;
        let request = call.review.request.as_ref().unwrap();
        let mut response = Self::answer(&self.hooks[call.hook], request);
        if let Ok(response) = &mut response {
            response.warnings = vec![format!("from {}", call.hook)];
        }
        if call.stage == Stage::Validating
            && let Ok(response) = &mut response
        {
            response.patch = Vec::new();
            response.patch_type = None;
        }
        let review = |response| AdmissionReview::of_response(ReviewVersion::V1, response);
        let answer = response.map(|response| WebhookAnswer::of_review(&review(response)));
        Box::pin(std::future::ready(answer))
    }
}

/// A plugin that notes that it ran, and changes the object in its second run if it is to.
struct Noting(bool);

impl Plugin for Noting {
    fn name(&self) -> &str {
        "Noting"
    }

    fn mutate(&self, request: &mut PluginRequest<'_>) -> Result<(), Status> {
        if self.0 {
            let again = request.is_reinvocation();
            request.object_mut().unwrap()["spec"]["again"] = again.into();
        }
        Ok(())
    }
}

pub(crate) fn configuration(
    kind: &str,
    place: usize,
    name: &str,
    hook: &CompiledWebhook,
) -> WebhookConfiguration {
    let resources = if hook.matches { "foos" } else { "others" };
    WebhookConfiguration::from_value(&json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": format!("c{place:02}")},
        "webhooks": [{
            "name": name,
            "clientConfig": {"url": "https://unused"},
            "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
                "resources": [resources]}],
            "failurePolicy": if hook.ignores { "Ignore" } else { "Fail" },
            "reinvocationPolicy": (kind == "Mutating").then_some(
                if hook.if_needed { "IfNeeded" } else { "Never" }),
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    }))
    .unwrap()
}

pub(crate) struct Run {
    pub(crate) outcome: ChainOutcome,
    pub(crate) calls: BTreeMap<String, usize>,
}

/// One request through webhooks in the given order; each keeps its name wherever it stands.
pub(crate) fn run(
    kind: &str,
    hooks: &[CompiledWebhook],
    order: &[usize],
    plugin: bool,
    options: &RequestOptions,
    spec: &Value,
) -> Run {
    let name = |number: usize| format!("h{number}.example.com");
    let place = |(place, number): (usize, &usize)| {
        configuration(kind, place, &name(*number), &hooks[*number])
    };
    let configurations: Vec<_> = order.iter().enumerate().map(place).collect();
    let deeds = hooks.iter().enumerate().map(|(number, hook)| (name(number), hook.deed.clone()));
    let caller = Scripted { hooks: Arc::new(deeds.collect()), calls: Arc::new(Mutex::default()) };
    let chain = Chain::new(caller.clone()).webhooks(&configurations).plugin(Noting(plugin));
    let request = AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Foo"),
        GroupVersionResource::new("example.com", "v1", "foos"),
        object(spec),
    );
    let outcome = chain.run_blocking(request, &MemoryCluster::new(), options, |request, _| {
        request.object.as_mut().unwrap()["spec"]["prepared"] = true.into();
        Ok(())
    });
    let calls = caller.calls.lock().unwrap().clone();
    Run { outcome, calls }
}

pub(crate) fn object(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": spec})
}

pub(crate) fn specs() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]|list", values(), 0..4)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

fn idempotent() -> impl Strategy<Value = Deed> {
    prop_oneof![
        ("[a-d]", values()).prop_map(|(name, value)| Deed::Set(name, value)),
        "[a-d]".prop_map(Deed::Remove),
        Just(Deed::Nothing),
    ]
}

pub(crate) fn changing() -> impl Strategy<Value = Deed> {
    prop_oneof![4 => idempotent(), 1 => Just(Deed::Append), 1 => Just(Deed::Count)]
}

pub(crate) fn deeds() -> impl Strategy<Value = Deed> {
    prop_oneof![
        8 => changing(),
        1 => Just(Deed::Deny),
        2 => Just(Deed::Fail),
        1 => Just(Deed::BreakPatch),
    ]
}

pub(crate) fn hooks(
    deed: impl Strategy<Value = Deed>,
) -> impl Strategy<Value = Vec<CompiledWebhook>> {
    let hook = (deed, prop::bool::weighted(0.8), any::<bool>(), any::<bool>());
    let hook = hook.prop_map(|(deed, matches, ignores, if_needed)| CompiledWebhook {
        deed,
        matches,
        ignores,
        if_needed,
    });
    prop::collection::vec(hook, 0..6)
}

pub(crate) fn in_order(hooks: &[CompiledWebhook]) -> Vec<usize> {
    (0..hooks.len()).collect()
}
