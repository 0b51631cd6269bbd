//! Laws of the admission chain, over generated webhooks in the same process: what a trace tells
//! adds up, order counts only where it should, and the idempotence check finds what it should.

#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use billhook::admission::{
    Action, AdmissionRequest, AdmissionResponse, AdmissionReview, BoxFuture, CallFailure,
    CallerError, Chain, ChainOutcome, Difference, HookResult, JsonPatch, Plugin, PluginRequest,
    RequestOptions, ReviewVersion, Stage, Status, Step, WebhookAnswer, WebhookCall, WebhookCaller,
};
use billhook::webhook::{
    AdmissionAttributes, GroupVersionKind, GroupVersionResource, NamespaceLabels,
    WebhookConfiguration,
};
use common::small_values as values;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What a webhook does with every call.
#[derive(Clone, Debug)]
enum Deed {
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
struct Hook {
    deed: Deed,
    matches: bool,
    ignores: bool,
    if_needed: bool,
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

/// A plugin that notes that it ran, and changes the object in its second run if it is told to.
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

fn configuration(kind: &str, place: usize, name: &str, hook: &Hook) -> WebhookConfiguration {
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

struct Run {
    outcome: ChainOutcome,
    calls: BTreeMap<String, usize>,
}

/// One request through webhooks in the given order; each keeps its name wherever it stands.
fn run(
    kind: &str,
    hooks: &[Hook],
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
    let chain = Chain::new(caller.clone())
        .webhooks(&configurations)
        .plugin(Noting(plugin))
        .namespaces(BTreeMap::<String, NamespaceLabels>::new());
    let request = AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Foo"),
        GroupVersionResource::new("example.com", "v1", "foos"),
        object(spec),
    );
    let outcome = chain.run_blocking(request, options, |request, _| {
        request.object.as_mut().unwrap()["spec"]["prepared"] = true.into();
        Ok(())
    });
    let calls = caller.calls.lock().unwrap().clone();
    Run { outcome, calls }
}

fn object(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": spec})
}

fn specs() -> impl Strategy<Value = Value> {
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

fn changing() -> impl Strategy<Value = Deed> {
    prop_oneof![4 => idempotent(), 1 => Just(Deed::Append), 1 => Just(Deed::Count)]
}

fn deeds() -> impl Strategy<Value = Deed> {
    prop_oneof![
        8 => changing(),
        1 => Just(Deed::Deny),
        2 => Just(Deed::Fail),
        1 => Just(Deed::BreakPatch),
    ]
}

fn hooks(deed: impl Strategy<Value = Deed>) -> impl Strategy<Value = Vec<Hook>> {
    let hook = (deed, prop::bool::weighted(0.8), any::<bool>(), any::<bool>());
    let hook = hook.prop_map(|(deed, matches, ignores, if_needed)| Hook {
        deed,
        matches,
        ignores,
        if_needed,
    });
    prop::collection::vec(hook, 0..6)
}

fn in_order(hooks: &[Hook]) -> Vec<usize> {
    (0..hooks.len()).collect()
}

/// The patch that does what a step says it changed: what is gone is taken away from behind.
fn patch_of(changes: &[Difference]) -> Value {
    let operation = |change: &Difference| {
        let path = change.path.to_json_pointer();
        match (&change.before, &change.after) {
            (None, Some(after)) => json!({"op": "add", "path": path, "value": **after}),
            (Some(_), Some(after)) => json!({"op": "replace", "path": path, "value": **after}),
            _ => json!({"op": "remove", "path": path}),
        }
    };
    let (gone, rest): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.after.is_none());
    rest.into_iter().map(operation).chain(gone.into_iter().rev().map(operation)).collect()
}

fn replay(start: &Value, steps: &[Step]) -> Value {
    steps.iter().fold(start.clone(), |object, step| {
        let patch = patch_of(&step.changes).to_string();
        JsonPatch::from_slice(patch.as_bytes()).unwrap().apply(&object).unwrap()
    })
}

/// The webhooks of a stage in a round, in the order they were looked at: name, and what came of a
/// call if there was one.
fn steps_of(steps: &[Step], wanted: Stage, in_round: u8) -> Vec<(String, Option<&HookResult>)> {
    let mut found = Vec::new();
    for step in steps {
        let (hook, stage, round, result) = match &step.action {
            Action::Webhook { hook, stage, round, result, .. } => {
                (hook, stage, round, Some(result))
            }
            Action::Skipped { hook, stage, round, .. } => (hook, stage, round, None),
            _ => continue,
        };
        if (*stage, *round) == (wanted, in_round) {
            found.push((hook.clone(), result));
        }
    }
    found
}

proptest! {
    /// The changes that a trace lists, one after the other, make the final object of the first.
    #[test]
    fn a_trace_can_be_replayed(
        hooks in hooks(changing()),
        plugin in any::<bool>(),
        spec in specs(),
    ) {
        let options = RequestOptions::default().trace(true);
        let run = run("Mutating", &hooks, &in_order(&hooks), plugin, &options, &spec);
        let last = run.outcome.result.unwrap().object.unwrap();
        prop_assert_eq!(replay(&object(&spec), &run.outcome.steps), last.into_inner());
    }

    /// A trace changes nothing but that there is one (WM-96).
    #[test]
    fn a_trace_only_looks(hooks in hooks(deeds()), plugin in any::<bool>(), spec in specs()) {
        for kind in ["Mutating", "Validating"] {
            let order = in_order(&hooks);
            let [plain, traced] = [false, true].map(|trace| {
                let options = RequestOptions::default().trace(trace);
                run(kind, &hooks, &order, plugin, &options, &spec)
            });
            prop_assert_eq!(plain.outcome.result, traced.outcome.result);
            prop_assert_eq!(plain.outcome.annotations, traced.outcome.annotations);
            prop_assert_eq!(plain.outcome.warnings.texts(), traced.outcome.warnings.texts());
            prop_assert_eq!(plain.outcome.validating_errors, traced.outcome.validating_errors);
            prop_assert_eq!(plain.calls, traced.calls);
            prop_assert!(plain.outcome.steps.is_empty());
        }
    }

    /// The index of an annotation is the place of the webhook among all of them, and each call
    /// has one (DI-12, OB-31, OB-36).
    #[test]
    fn annotations_stand_where_the_trace_says(
        hooks in hooks(deeds()),
        plugin in any::<bool>(),
        spec in specs(),
    ) {
        let options = RequestOptions::default().trace(true);
        let run = run("Mutating", &hooks, &in_order(&hooks), plugin, &options, &spec);
        let mut expected = BTreeMap::new();
        for round in [0, 1] {
            let steps = steps_of(&run.outcome.steps, Stage::Mutating, round);
            for (index, (hook, result)) in steps.iter().enumerate() {
                let place = format!("round_{round}_index_{index}");
                let Some(result) = result else { continue };
                let key = format!("mutation.webhook.admission.k8s.io/{place}");
                expected.insert(key, hook.clone());
                if let HookResult::FailedOpen(_) = result {
                    let key = format!("failed-open.mutation.webhook.admission.k8s.io/{place}");
                    expected.insert(key, hook.clone());
                }
            }
        }
        let found: BTreeMap<String, String> = run
            .outcome
            .annotations
            .iter()
            .filter(|(key, _)| !key.starts_with("patch."))
            .map(|(key, found)| {
                let hook = serde_json::from_str::<Value>(&found.value)
                    .map_or(found.value.clone(), |v| v["webhook"].as_str().unwrap().to_owned());
                (key.to_owned(), hook)
            })
            .collect();
        prop_assert_eq!(found, expected);
    }

    /// Nobody is called more than twice; a second call is for those that asked for it and were
    /// called before somebody else changed the object (DI-40 to DI-44).
    #[test]
    fn second_calls_have_a_reason(
        hooks in hooks(deeds()),
        plugin in any::<bool>(),
        spec in specs(),
    ) {
        let options = RequestOptions::default().trace(true);
        let run = run("Mutating", &hooks, &in_order(&hooks), plugin, &options, &spec);
        prop_assert!(run.calls.values().all(|count| *count <= 2));
        let mutated = |round, index| {
            let key = format!("mutation.webhook.admission.k8s.io/round_{round}_index_{index}");
            let found = run.outcome.annotations.get(&key);
            found.is_some_and(|found| found.value.ends_with("\"mutated\":true}"))
        };
        let first = steps_of(&run.outcome.steps, Stage::Mutating, 0);
        let second = steps_of(&run.outcome.steps, Stage::Mutating, 1);
        let changed: Vec<usize> = (0..first.len()).filter(|index| mutated(0, *index)).collect();
        if changed.is_empty() {
            prop_assert!(second.is_empty());
        } else if run.outcome.result.is_ok() {
            prop_assert_eq!(second.len(), first.len());
        }
        for (index, (_, result)) in second.iter().enumerate() {
            if result.is_none() {
                continue;
            }
            prop_assert!(hooks[index].if_needed && first[index].1.is_some());
            let by_another = changed.iter().any(|other| *other > index)
                || (0..index).any(|other| mutated(1, other));
            prop_assert!(by_another || plugin, "{} was called again", index);
        }
        // The reverse: who asked for it is called again if a later one changed the object.
        if run.outcome.result.is_ok() {
            for index in 0..first.len() {
                let is_due = first[index].1.is_some()
                    && hooks[index].if_needed
                    && changed.iter().any(|other| *other > index);
                prop_assert!(!is_due || second[index].1.is_some(), "{} was not called again", index);
            }
        }
    }

    /// The order of validating webhooks decides nothing but the order of what they say.
    #[test]
    fn validating_webhooks_have_no_order(
        (hooks, order) in hooks(deeds()).prop_flat_map(|hooks| {
            let order = Just(in_order(&hooks)).prop_shuffle();
            (Just(hooks), order)
        }),
        spec in specs(),
    ) {
        let options = RequestOptions::default();
        let runs = [in_order(&hooks), order]
            .map(|order| run("Validating", &hooks, &order, false, &options, &spec));
        let seen = |run: &Run| {
            let errors: BTreeSet<String> =
                run.outcome.validating_errors.iter().map(|s| format!("{s:?}")).collect();
            let mut warnings = run.outcome.warnings.texts();
            warnings.sort();
            let mut failed: Vec<_> =
                run.outcome.annotations.iter().map(|(_, found)| found.value.clone()).collect();
            failed.sort();
            let object = run.outcome.result.as_ref().ok().and_then(|r| r.object.clone());
            (errors, warnings, failed, object.map(|object| object.to_string()))
        };
        prop_assert_eq!(seen(&runs[0]), seen(&runs[1]));
        prop_assert_eq!(&runs[0].calls, &runs[1].calls);
        let matching = hooks.iter().filter(|hook| hook.matches).count();
        prop_assert_eq!(runs[0].calls.len(), matching, "all are called, whatever the others say");
    }

    /// A webhook that leaves its own output alone is not reported, one that does not is, and the
    /// check leaves no other trace (DI-47).
    #[test]
    fn the_idempotence_check_is_right(hooks in hooks(changing()), spec in specs()) {
        let order = in_order(&hooks);
        let run = |check| {
            let options = RequestOptions::default().trace(true).check_idempotence(check);
            run("Mutating", &hooks, &order, false, &options, &spec)
        };
        let (plain, checked) = (run(false), run(true));
        let (result, annotations) = (plain.outcome.result, plain.outcome.annotations);
        prop_assert_eq!(result, checked.outcome.result);
        prop_assert_eq!(annotations, checked.outcome.annotations);
        prop_assert!(plain.outcome.findings.is_empty());
        let found: BTreeSet<&str> =
            checked.outcome.findings.iter().map(|finding| finding.hook.as_str()).collect();
        let names: Vec<String> = (0..hooks.len()).map(|n| format!("h{n}.example.com")).collect();
        let expected: BTreeSet<&str> = hooks
            .iter()
            .zip(&names)
            .filter(|(hook, _)| hook.matches && matches!(hook.deed, Deed::Append | Deed::Count))
            .map(|(_, name)| name.as_str())
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert!(checked.outcome.findings.iter().all(|finding| !finding.changes.is_empty()));
        for (hook, count) in &checked.calls {
            prop_assert_eq!(*count, 2 * plain.calls[hook]);
        }
    }

    /// Whatever a webhook says, the request gets a result, and one that the failure policy does not
    /// excuse is a refusal by the webhook, a patch that does not apply, or a failed call.
    #[test]
    fn any_answer_has_a_result(answer in answers(), cut in prop::option::of(0..300_usize)) {
        let mut text = answer.to_string().into_bytes();
        text.truncate(cut.unwrap_or(text.len()));
        for kind in ["Mutating", "Validating"] {
            let [ignoring, failing] = [true, false].map(|ignores| {
                let hook =
                    Hook { deed: Deed::Nothing, matches: true, ignores, if_needed: false };
                let configuration = configuration(kind, 0, "h.example.com", &hook);
                let chain = Chain::new(Parrot(text.clone()))
                    .webhooks(&[configuration])
                    .uids(|| "u".to_owned());
                let request = AdmissionAttributes::create(
                    GroupVersionKind::new("example.com", "v1", "Foo"),
                    GroupVersionResource::new("example.com", "v1", "foos"),
                    object(&json!({"a": 1})),
                );
                chain.run_blocking(request, &RequestOptions::default(), |_, _| Ok(())).result
            });
            match (ignoring, failing) {
                (Ok(ignoring), Ok(failing)) => prop_assert_eq!(ignoring, failing),
                (Ok(ignoring), Err(status)) => {
                    let text = "Internal error occurred: failed calling webhook \"h.example.com\": ";
                    prop_assert!(status.message.starts_with(text));
                    prop_assert_eq!(status.code, 500);
                    prop_assert_eq!(ignoring.object.unwrap().into_inner(), object(&json!({"a": 1})));
                }
                (Err(ignoring), Err(failing)) => {
                    let text = "admission webhook \"h.example.com\" denied the request";
                    let is_engine = ignoring.code == 500 && kind == "Mutating";
                    prop_assert!(ignoring.message.starts_with(text) || is_engine);
                    prop_assert!(ignoring.code >= 400);
                    prop_assert_eq!(ignoring, failing);
                }
                (Err(status), Ok(_)) => prop_assert!(false, "{} only if ignored", status),
            }
        }
    }

    /// A patch does what its operations do one by one, up to the first that fails (DI-30).
    #[test]
    fn a_patch_is_its_operations(
        document in specs(),
        operations in prop::collection::vec(operation(), 0..6),
    ) {
        let apply = |document: &Value, operations: &[Value]| {
            let text = Value::from(operations).to_string();
            let patch = JsonPatch::from_slice(text.as_bytes()).unwrap();
            assert_eq!(patch.operations().len(), operations.len());
            patch.apply(document).map_err(|error| error.to_string())
        };
        let whole = apply(&document, &operations);
        let one_by_one = operations.iter().try_fold(document.clone(), |document, operation| {
            apply(&document, std::slice::from_ref(operation))
        });
        prop_assert_eq!(whole, one_by_one);
    }
}

/// Says the same to everybody.
struct Parrot(Vec<u8>);

impl WebhookCaller for Parrot {
    fn call<'a>(&'a self, _: WebhookCall<'a>) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let answer = WebhookAnswer::new("application/json", self.0.clone());
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// Reviews that are right but for some members.
fn answers() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "/apiVersion",
        "/kind",
        "/request",
        "/response",
        "/response/uid",
        "/response/allowed",
        "/response/status",
        "/response/status/code",
        "/response/status/message",
        "/response/status/details",
        "/response/status/details/causes",
        "/response/patch",
        "/response/patchType",
        "/response/auditAnnotations",
        "/response/auditAnnotations/k",
        "/response/warnings",
        "/response/warnings/0",
        "/response/unknown",
    ]);
    let value = prop_oneof![
        2 => values(),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(json!("JSONPatch")),
        // `[{"op":"add","path":"/spec/x"}]` and `[{}]`.
        1 => Just(json!("W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMveCJ9XQ==")),
        1 => Just(json!("W3t9XQ==")),
    ];
    let changes = prop::collection::vec((name, prop::option::of(value)), 0..4);
    (any::<bool>(), any::<bool>(), changes).prop_map(|(allowed, patches, changes)| {
        let mut answer = json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {
                "uid": "u",
                "allowed": allowed,
                "status": {"code": 403, "message": "no", "details": {"causes": [{"field": "f"}]}},
                "warnings": ["w"],
                "auditAnnotations": {"k": "v"},
            },
        });
        if patches {
            answer["response"]["patch"] = "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMveCJ9XQ==".into();
            answer["response"]["patchType"] = "JSONPatch".into();
        }
        for (pointer, value) in changes {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            match (answer.pointer_mut(parent), value) {
                (Some(Value::Object(members)), Some(value)) => {
                    members.insert(name.to_owned(), value);
                }
                (Some(Value::Object(members)), None) => {
                    members.remove(name);
                }
                (Some(Value::Array(items)), Some(value)) => items.push(value),
                _ => {}
            }
        }
        answer
    })
}

/// Operations that often find something.
fn operation() -> impl Strategy<Value = Value> {
    let part = "[a-d]|list|[0-2]|-|-1|~0|~1";
    let path = prop_oneof![
        8 => prop::collection::vec(part, 1..4).prop_map(|parts| format!("/{}", parts.join("/"))),
        1 => Just(String::new()),
        1 => "[a-d]",
    ];
    let op = "add|add|add|remove|replace|move|copy|test";
    (op, path.clone(), path, values()).prop_map(|(op, path, from, value)| {
        let mut operation = json!({"op": op, "path": path});
        match op.as_str() {
            "move" | "copy" => operation["from"] = from.into(),
            "remove" => {}
            _ => operation["value"] = value,
        }
        operation
    })
}

/// Chains are shared between threads, and a request may go from one to another while it waits.
#[test]
fn requests_may_change_threads() {
    fn can_be_sent<T: Send>(_: &T) {}
    fn can_be_shared<T: Send + Sync>(_: &T) {}
    let chain = Chain::new(billhook::admission::Unreachable);
    can_be_shared(&chain);
    let kind = GroupVersionKind::new("example.com", "v1", "Foo");
    let resource = GroupVersionResource::new("example.com", "v1", "foos");
    let request = AdmissionAttributes::create(kind, resource, object(&json!({})));
    let options = RequestOptions::default();
    can_be_sent(&chain.run(request, &options, |_, _| Ok(())));
}

/// A trace lists a bounded number of differences, and fewer where their paths are long.
#[test]
fn long_lists_of_changes_are_cut() {
    let trace = |levels: usize, leaves: usize| {
        let wrap = |inner: Value| (0..levels).fold(inner, |inner, _| json!({"a": inner}));
        let leaves: Value = (0..leaves)
            .map(|n| (format!("k{n:04}"), Value::from(n)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let hook = Hook {
            deed: Deed::Set("deep".to_owned(), wrap(leaves)),
            matches: true,
            ignores: false,
            if_needed: false,
        };
        let options = RequestOptions::default().trace(true);
        let spec = json!({"deep": wrap(json!({}))});
        let run = run("Mutating", &[hook], &[0], false, &options, &spec);
        run.outcome.steps.iter().map(|step| step.changes.len()).max().unwrap()
    };
    assert_eq!(trace(1, 1_000), 1_000);
    assert_eq!(trace(1, 1_001), 1_000);
    assert_eq!(trace(97, 1_001), 1_000);
    assert_eq!(trace(997, 1_001), 100);
}
