//! The parts of a trace add up, order counts only where it should, and the idempotence check finds
//! what it should.

use std::collections::{BTreeMap, BTreeSet};

use billhook::webhook::AdmissionAttributes;
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_admission::{
    Action, Chain, FieldDifference, HookResult, IdempotenceFinding, JsonPatch, MemoryCluster,
    Mutator, RequestOptions, Stage, Step,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::laws::hooks::{
    CompiledWebhook, Deed, Run, changing, deeds, hooks, in_order, object, run, specs,
};

/// The patch that does what a step says it changed: what is gone is taken away from behind.
fn patch_of(changes: &[FieldDifference]) -> Value {
    let operation = |change: &FieldDifference| {
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
        JsonPatch::from_slice(patch.as_bytes()).unwrap().apply(&object).unwrap().into_inner()
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

    /// A trace changes nothing else (WM-96).
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
    /// called before another client changed the object (DI-40 to DI-44).
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
        let hook = |finding: &IdempotenceFinding| match &finding.mutator {
            Mutator::Webhook { hook, .. } => hook.clone(),
            other => panic!("{other}"),
        };
        let found: Vec<String> = checked.outcome.findings.iter().map(hook).collect();
        let names: Vec<String> = (0..hooks.len()).map(|n| format!("h{n}.example.com")).collect();
        let expected: Vec<String> = hooks
            .iter()
            .zip(&names)
            .filter(|(hook, _)| hook.matches && matches!(hook.deed, Deed::Append | Deed::Count))
            .map(|(_, name)| name.clone())
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert!(checked.outcome.findings.iter().all(|finding| !finding.changes.is_empty()));
        for (hook, count) in &checked.calls {
            prop_assert_eq!(*count, 2 * plain.calls[hook]);
        }
    }
}

/// Chains are shared between threads, and a request may go from one to another while it waits.
#[test]
fn requests_may_change_threads() {
    fn can_be_sent<T: Send>(_: &T) {}
    fn can_be_shared<T: Send + Sync>(_: &T) {}
    let chain = Chain::new(billhook_admission::Unreachable);
    can_be_shared(&chain);
    let kind = GroupVersionKind::new("example.com", "v1", "Foo");
    let resource = GroupVersionResource::new("example.com", "v1", "foos");
    let request = AdmissionAttributes::create(kind, resource, object(&json!({})));
    let options = RequestOptions::default();
    can_be_sent(&chain.run(request, &MemoryCluster::new(), &options, |_, _| Ok(())));
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
        let hook = CompiledWebhook {
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
