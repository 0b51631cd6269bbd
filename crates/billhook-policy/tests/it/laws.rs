//! Laws: order does not matter for verdicts, the index finds what a plain loop finds, and a mutation
//! that is idempotent changes nothing when it is repeated.

use billhook_policy::{MutationOutcome, PolicyDocument, PolicyReinvocation, PolicySet};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{World, binding, create, mutating, mutating_binding, policy};

/// A few policies of which some deny, by the digits of a number.
fn documents(seed: u64) -> Vec<PolicyDocument> {
    let mut documents = Vec::new();
    for index in 0..8_u64 {
        let limit = (seed >> (index * 4)) % 16;
        let name = format!("p{index}");
        let expression = format!("object.spec.size < {limit}");
        documents.push(policy(&name, json!({"validations": [{"expression": expression}]})));
        if !limit.is_multiple_of(3) {
            let actions = if limit % 3 == 1 { "Deny" } else { "Warn" };
            let more = json!({"validationActions": [actions]});
            documents.push(binding(&format!("b{index}"), &name, more));
        }
    }
    documents
}

/// PO-25, PO-53
#[test]
fn the_order_of_documents_does_not_matter() {
    let world = World::new();
    for seed in 0..200_u64 {
        let seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let documents = documents(seed);
        let backwards = documents.iter().rev().cloned();
        let (one, other) = (PolicySet::new(documents.iter().cloned()), PolicySet::new(backwards));
        for size in [0, 5, 11] {
            let spec = json!({"size": size});
            assert_eq!(world.validate(&one, spec.clone()), world.validate(&other, spec));
        }
    }
}

/// Each policy alone says what it says among others: the index leaves out none that matches.
#[test]
fn a_set_is_its_policies() {
    let world = World::new();
    for seed in 0..100_u64 {
        let documents = documents(seed.wrapping_mul(0xD134_2543_DE82_EF95));
        let all = world.validate(&PolicySet::new(documents.clone()), json!({"size": 7}));
        let mut single = Vec::new();
        for name in (0..8).map(|index| format!("p{index}")) {
            let of_policy = documents.iter().filter(|document| match document {
                PolicyDocument::ValidatingBinding(binding) => binding.spec.policy_name == name,
                document => document.name() == name,
            });
            let set = PolicySet::new(of_policy.cloned());
            single.push(world.validate(&set, json!({"size": 7})));
        }
        let denied = single.iter().find_map(|outcome| outcome.result.clone().err());
        assert_eq!(all.result.err(), denied);
        let warnings: Vec<_> = single.iter().flat_map(|outcome| outcome.warnings.clone()).collect();
        assert_eq!(all.warnings, warnings);
        let records: Vec<_> = single.into_iter().flat_map(|outcome| outcome.records).collect();
        assert_eq!(all.records, records);
    }
}

/// Applying a configuration twice is applying it once.
#[test]
fn apply_configurations_are_idempotent() {
    let world = World::new();
    for expression in [
        "Object{spec: Object.spec{color: 'red', deep: Object.spec.deep{x: 1}}}",
        "Object{metadata: Object.metadata{labels: {'a': 'b'}}}",
        "object.spec.size > 3 ? Object{spec: Object.spec{size: 3}} : Object{}",
    ] {
        let mutation = json!({"patchType": "ApplyConfiguration",
            "applyConfiguration": {"expression": expression}});
        let more = json!({"mutations": [mutation], "reinvocationPolicy": "Never"});
        let set = PolicySet::new([mutating("p", more), mutating_binding("b", "p", json!({}))]);
        let once = world.mutate(&set, json!({"size": 5, "deep": {"y": 2}})).object.unwrap();
        let mut request = create(json!({}));
        request.object = Some(once.clone());
        let mut state = billhook_policy::PolicyReinvocation::default();
        let twice = set.mutate(&request, &world.context(), &mut state).object.unwrap();
        assert_eq!(once, twice, "{expression}");
    }
}

/// A mutation that looks at what it changes, or does not.
fn mutations() -> impl Strategy<Value = Value> {
    let patch = |expression: &str| json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}});
    let configuration = |expression: &str| json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}});
    prop::sample::select(vec![
        patch("[JSONPatch{op: 'add', path: '/spec/list/-', value: 'x'}]"),
        patch(
            "'x' in object.spec.list ? [JSONPatch{op: 'test', path: '/kind', value: ''}] : \
               [JSONPatch{op: 'add', path: '/spec/list/-', value: 'x'}]",
        ),
        patch("[JSONPatch{op: 'remove', path: '/spec/list/0'}]"),
        patch(
            "object.spec.size < 3 ? [JSONPatch{op: 'replace', path: '/spec/size', \
               value: object.spec.size + 1}] : [JSONPatch{op: 'test', path: '/kind', value: ''}]",
        ),
        configuration("Object{spec: Object.spec{size: 3}}"),
        configuration("Object{spec: Object.spec{size: 6 - object.spec.size}}"),
        configuration("Object{metadata: Object.metadata{labels: {'done': 'yes'}}}"),
    ])
}

fn mutated(set: &PolicySet, world: &World, object: Value) -> MutationOutcome {
    let mut request = create(json!({}));
    request.object = Some(object.into());
    let context = world.context().check_idempotence(true);
    set.mutate(&request, &context, &mut PolicyReinvocation::default())
}

proptest! {
    /// A policy that is run on its own output changes nothing more, or is reported (DI-47).
    #[test]
    fn policies_are_idempotent_or_reported(
        mutations in prop::collection::vec(mutations(), 1..4),
        guard in prop::option::of(prop::sample::select(vec![
            "object.spec.size < 3", "!has(object.metadata.labels)"])),
        is_selected in any::<bool>(),
        size in 0..5_i64,
        list in prop::collection::vec("[x-z]", 0..3),
    ) {
        let world = World::new();
        let conditions: Vec<Value> =
            guard.iter().map(|it| json!({"name": "guard", "expression": it})).collect();
        let more = json!({"mutations": mutations, "matchConditions": conditions,
            "reinvocationPolicy": "Never"});
        let done = json!([{"key": "done", "operator": "DoesNotExist"}]);
        let resources = json!({"objectSelector": {"matchExpressions": done}});
        let more_of_binding = match is_selected {
            true => json!({"matchResources": resources}),
            false => json!({}),
        };
        let set = PolicySet::new([mutating("p", more), mutating_binding("b", "p", more_of_binding)]);
        let object = create(json!({"size": size, "list": list})).object.unwrap().into_inner();
        let once = mutated(&set, &world, object.clone());
        let plain = world.mutate(&set, object["spec"].clone());
        prop_assert_eq!((&once.object, &once.result), (&plain.object, &plain.result));
        prop_assert_eq!(&once.records, &plain.records);
        prop_assert!(plain.repetitions.is_empty());
        prop_assume!(once.result.is_ok());
        let once_object = once.object.map_or(object, |it| it.into_inner());
        let twice = mutated(&set, &world, once_object.clone());
        let is_reported = !once.repetitions.is_empty();
        let changed = twice.object.is_some_and(|twice| *twice != once_object);
        prop_assert_eq!(is_reported, changed || twice.result.is_err());
    }
}
