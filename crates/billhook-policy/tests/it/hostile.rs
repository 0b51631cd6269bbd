//! Sizes that are meant to do harm.

use billhook_policy::{PolicyReinvocation, PolicySet};
use serde_json::{Value, json};

use crate::support::{World, binding, create, mutating, mutating_binding, policy};

/// A chain of variables as long as a document can hold does not overflow the stack.
#[test]
fn a_long_chain_of_variables() {
    let count = 2_000;
    let mut variables = vec![json!({"name": "v0", "expression": "1"})];
    for index in 1..count {
        let expression = format!("variables.v{} + 1", index - 1);
        variables.push(json!({"name": format!("v{index}"), "expression": expression}));
    }
    let last = format!("variables.v{} == {count}", count - 1);
    let more = json!({"variables": variables, "validations": [{"expression": last}]});
    let set = PolicySet::new([policy("p", more), binding("b", "p", json!({}))]);
    assert_eq!(World::new().validate(&set, json!({})).result, Ok(()));
}

/// An expression is compiled with the variables that it names, not with all that are declared.
#[test]
fn very_many_variables() {
    let count = 20_000;
    let variable = |index: usize| json!({"name": format!("v{index}"), "expression": "1"});
    let variables: Vec<Value> = (0..count).map(variable).collect();
    let last = format!("variables.v0 + variables.v{} == 2", count - 1);
    let more = json!({"variables": variables, "validations": [{"expression": last}]});
    let set = PolicySet::new([policy("p", more), binding("b", "p", json!({}))]);
    assert_eq!(World::new().validate(&set, json!({})).result, Ok(()));
}

/// A request is matched with the policies that may be for it only.
#[test]
fn many_policies_for_others() {
    let mut documents = Vec::new();
    for index in 0..1_000 {
        let name = format!("p{index}");
        let rule = json!({"operations": ["CREATE"], "apiGroups": [format!("g{index}.com")],
            "apiVersions": ["v1"], "resources": ["things"]});
        let more = json!({"matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "false"}]});
        documents.push(policy(&name, more));
        documents.push(binding(&name, &name, json!({})));
    }
    let set = PolicySet::new(documents);
    let outcome = World::new().validate(&set, json!({}));
    assert_eq!((outcome.result, outcome.records.len()), (Ok(()), 0));
}

/// Ten thousand parameters, of which one is selected.
#[test]
fn many_parameters() {
    let mut world = World::new();
    for index in 0..10_000 {
        let of = if index == 5_000 { "this" } else { "others" };
        world = world.limit(&format!("l{index}"), &json!({"of": of}), index);
    }
    let more = json!({"paramKind": {"apiVersion": "example.com/v1", "kind": "Limit"},
        "validations": [{"expression": "object.spec.size < params.max"}]});
    let of =
        json!({"selector": {"matchLabels": {"of": "this"}}, "parameterNotFoundAction": "Deny"});
    let set = PolicySet::new([policy("p", more), binding("b", "p", json!({"paramRef": of}))]);
    let outcome = world.validate(&set, json!({"size": 4_999}));
    assert_eq!((outcome.result, outcome.records.len()), (Ok(()), 1));
    assert!(world.validate(&set, json!({"size": 5_000})).result.is_err());
}

/// Objects as deep as a server reads them are converted and merged.
#[test]
fn deep_objects() {
    let mut deep = json!(1);
    for _ in 0..9_000 {
        deep = Value::Object([("a".to_owned(), deep)].into_iter().collect());
    }
    let mut request = create(json!({}));
    let spec = request.object.as_mut().unwrap().get_mut("spec").unwrap();
    spec.as_object_mut().unwrap().insert("deep".to_owned(), deep);
    let mutation = json!({"patchType": "ApplyConfiguration", "applyConfiguration":
        {"expression": "Object{spec: Object.spec{copy: object.spec.deep}}"}});
    let patch = json!({"patchType": "JSONPatch", "jsonPatch":
        {"expression": "[JSONPatch{op: 'add', path: '/spec/again', value: object.spec.deep}]"}});
    let more = json!({"mutations": [mutation, patch], "reinvocationPolicy": "Never"});
    let set = PolicySet::new([mutating("p", more), mutating_binding("b", "p", json!({}))]);
    let world = World::new();
    let mut state = PolicyReinvocation::default();
    let outcome = set.mutate(&request, &world.context(), &mut state);
    assert_eq!(outcome.result, Ok(()));
    let object = outcome.object.unwrap();
    assert!(object["spec"]["copy"]["a"].is_object() && object["spec"]["again"]["a"].is_object());
}
