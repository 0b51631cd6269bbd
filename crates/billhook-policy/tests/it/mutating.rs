//! Evaluating mutating policies on objects with a schema (PO-63 to PO-86).

use billhook::CustomResourceDefinition;
use billhook::GroupVersionKind;
use billhook::webhook::{AdmissionAttributes, EquivalentResources, NamespaceLabels, Operation};
use billhook_apply::MergeSchema;
use billhook_policy::{
    MemoryCluster, MutationOutcome, ObjectModel, ObjectModelError, PolicyContext,
    PolicyReinvocation, PolicySet,
};
use serde_json::{Value, json};

use crate::support::{create, mutating, mutating_binding};

/// Widgets in one version.
struct Widgets(CustomResourceDefinition);

impl Widgets {
    fn new() -> Self {
        let spec = json!({
            "size": {"type": "integer"},
            "color": {"type": "string"},
            "mode": {"type": "string", "default": "auto"},
            "items": {"type": "array", "items": {"type": "string"}},
            "ports": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
                    "required": ["name"], "properties": {"name": {"type": "string"},
                        "port": {"type": "integer", "default": 80}}}},
            "opt": {"type": "object", "properties": {"a": {"type": "integer", "default": 1},
                "deep": {"type": "object", "properties": {"y": {"type": "string"}}}}},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        });
        let definition = CustomResourceDefinition::from_value(&json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema":
                    {"openAPIV3Schema": {"type": "object", "properties":
                        {"spec": {"type": "object", "properties": spec}}}}}]}}));
        Widgets(definition.unwrap())
    }

    fn run(&self, more: Value, pass: &mut PolicyReinvocation) -> MutationOutcome {
        self.run_for(&create(json!({"size": 7})), more, pass)
    }

    fn run_for(
        &self,
        request: &AdmissionAttributes,
        more: Value,
        pass: &mut PolicyReinvocation,
    ) -> MutationOutcome {
        let cluster = MemoryCluster::new().with_namespace("shop", NamespaceLabels::new());
        let equivalents = EquivalentResources::new();
        let context = PolicyContext::new(&cluster, &equivalents, self);
        let set = PolicySet::new([mutating("p", more), mutating_binding("b", "p", json!({}))]);
        set.mutate(request, &context, pass)
    }
}

impl ObjectModel for Widgets {
    fn apply_defaults(
        &self,
        object: &mut Value,
        kind: &GroupVersionKind,
    ) -> Result<(), ObjectModelError> {
        let version = self.0.version(&kind.version).unwrap();
        version.apply_defaults(object, &mut ()).map_err(|error| error.to_string().into())
    }

    fn merge_schema(&self, kind: &GroupVersionKind) -> Option<MergeSchema> {
        Some(self.0.version(&kind.version)?.merge_schema().clone())
    }
}

fn apply(expression: &str) -> Value {
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
}

fn patch(expression: &str) -> Value {
    json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
}

/// The spec that mutations leave, or the error after the names of the policy and the binding.
fn mutated(mutations: &[Value]) -> Result<Value, String> {
    let more = json!({"mutations": mutations, "reinvocationPolicy": "Never"});
    let outcome = Widgets::new().run(more, &mut PolicyReinvocation::default());
    match outcome.result {
        Ok(()) => Ok(outcome.object.map_or(json!({"size": 7}), |object| object["spec"].clone())),
        Err(status) => {
            assert_eq!((status.code, status.reason.as_str()), (403, "Invalid"));
            let start = "policy 'p' with binding 'b' denied request: ";
            Err(status.message.strip_prefix(start).unwrap().to_owned())
        }
    }
}

/// PO-65: without an object there is nothing to mutate, and nothing that can fail.
#[test]
fn requests_without_an_object() {
    let rule = json!({"operations": ["CONNECT"], "apiGroups": ["example.com"],
        "apiVersions": ["v1"], "resources": ["widgets/proxy"]});
    let more = json!({"matchConstraints": {"resourceRules": [rule]},
        "mutations": [apply("Object{spec: Object.spec{size: 1 / 0}}")],
        "reinvocationPolicy": "Never"});
    let mut request = create(json!({"size": 7})).subresource("proxy");
    request.operation = Operation::Connect;
    let run = |request: &AdmissionAttributes| {
        Widgets::new().run_for(request, more.clone(), &mut PolicyReinvocation::default())
    };
    let denied = run(&request).result.unwrap_err();
    assert!(denied.message.contains("division by zero"), "{}", denied.message);
    request.object = None;
    let outcome = run(&request);
    assert!(outcome.result.is_ok() && outcome.object.is_none(), "{:?}", outcome.result);
    assert_eq!(outcome.records, []);
}

/// PO-70, PO-70a, PO-71, PO-72: the values of configurations.
#[test]
fn configurations() {
    let unfit = "error applying patch: failed to convert patch object to typed object: ";
    for (expression, expected) in [
        ("Object{spec: Object.spec{size: 3.0}}", Ok(json!({"size": 3, "mode": "auto"}))),
        (
            "Object{spec: Object.spec{opt: Object.spec.opt{deep: {'y': 'm'}}}}",
            Ok(json!({"size": 7, "mode": "auto", "opt": {"a": 1, "deep": {"y": "m"}}})),
        ),
        (
            "Object{spec: Object.spec{ports: [Object.spec.ports{name: 'x'}]}}",
            Ok(json!({"size": 7, "mode": "auto", "ports": [{"name": "x", "port": 80}]})),
        ),
        (
            "Object{spec: Object.spec{free: Object.spec.free{a: type(1), b: 9007199254740993}}}",
            Ok(
                json!({"size": 7, "mode": "auto", "free": {"a": "int", "b": 9_007_199_254_740_993_i64}}),
            ),
        ),
        (
            "Object{spec: Object.spec{size: 3u}}",
            Err(format!("{unfit}.spec.size: expected numeric (int or float), got uint64")),
        ),
        (
            "Object{spec: Object.spec{size: 'x'}}",
            Err(format!("{unfit}.spec.size: expected numeric (int or float), got string")),
        ),
        (
            "Object{spec: Object.spec{color: 5}}",
            Err(format!(
                "{unfit}.spec.color: expected string, got &value.valueUnstructured{{Value:5}}"
            )),
        ),
        (
            "Object{spec: Object.spec{opt: null}}",
            Err(format!("{unfit}.spec.opt: expected map, got &{{NULL_VALUE}}")),
        ),
        (
            "Object{spec: Object.spec{opt: {'deep': {'y': 'm'}}}}",
            Err(format!("{unfit}.spec.opt.deep: expected map, got &{{map[y:m]}}")),
        ),
        (
            "Object{spec: Object.spec{free: Object.spec.free{a: b'abc'}}}",
            Err(format!("{unfit}.spec.free.a: expected map, got &{{[97 98 99]}}")),
        ),
        (
            "Object{spec: Object.spec{free: Object.spec.free{a: duration('1h')}}}",
            Err(format!("{unfit}.spec.free.a: expected map, got &{{1h0m0s}}")),
        ),
        (
            "Object{spec: Object.spec{ports: [Object.spec.ports.item{name: 'x'}]}}",
            Err("type mismatch: unexpected type name \"Object.spec.ports.item\", expected \
                 \"Object.spec.ports\", which matches field name path from root Object type"
                .to_owned()),
        ),
        (
            "Object{spec: Object.spec{items: ['a'], color: 'red'}}",
            Err("error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, \
                 maps or structs: .spec.items"
                .to_owned()),
        ),
    ] {
        assert_eq!(mutated(&[apply(expression)]), expected, "{expression}");
    }
}

/// PO-75: patches and their errors.
#[test]
fn patches() {
    for (expression, expected) in [
        (
            "[JSONPatch{op: 'add', path: '/spec/free', value: {'a': 9007199254740993}}]",
            Ok(json!({"size": 7, "mode": "auto", "free": {"a": "9007199254740993"}})),
        ),
        (
            "[JSONPatch{op: 'add', path: '/spec/free', value: {'a': duration('90s')}}]",
            Ok(json!({"size": 7, "mode": "auto", "free": {"a": "90s"}})),
        ),
        (
            "[JSONPatch{op: 'test', path: '/spec/size', value: 8}, \
             JSONPatch{op: 'remove', path: '/spec/size'}]",
            Ok(json!({"size": 7})),
        ),
        (
            "[JSONPatch{op: 'add', path: '/spec/free/a', value: 1}]",
            Err(
                "JSON Patch: add operation does not apply: doc is missing path: \"/spec/free/a\": \
                 missing value",
            ),
        ),
        ("[JSONPatch{op: 'frob', path: '/spec'}]", Err("JSON Patch: Unexpected kind: frob")),
        (
            "[JSONPatch{op: 'add', path: '/spec/free', value: type(1)}]",
            Err("JSONPath valueExpression evaluated to a type that could not marshal to JSON: \
                 type conversion not supported for 'type'"),
        ),
    ] {
        let expected = expected.map_err(str::to_owned);
        assert_eq!(mutated(&[patch(expression)]), expected, "{expression}");
    }
}

/// PO-67: defaults are set after each mutation, and the next one sees them.
#[test]
fn mutations_see_the_defaults_of_those_before() {
    let mutations = [
        apply("Object{spec: Object.spec{opt: Object.spec.opt{}}}"),
        apply("Object{spec: Object.spec{size: object.spec.opt.a + 1, color: object.spec.mode}}"),
    ];
    let expected = json!({"size": 2, "mode": "auto", "color": "auto", "opt": {"a": 1}});
    assert_eq!(mutated(&mutations), Ok(expected));
}

/// PO-49, PO-85: the first error is the message, each is a cause.
#[test]
fn errors_are_collected() {
    let mutations =
        [apply("Object{spec: Object.spec{size: object.spec.x}}"), patch("[JSONPatch{}]")];
    let more = json!({"mutations": mutations, "reinvocationPolicy": "Never"});
    let outcome = Widgets::new().run(more, &mut PolicyReinvocation::default());
    let status = outcome.result.unwrap_err();
    let causes = status.details.unwrap().causes;
    let causes: Vec<_> = causes.iter().map(|cause| cause.message.as_str()).collect();
    assert_eq!(
        causes,
        [
            "policy 'p' with binding 'b' denied request: expression 'Object{spec: \
             Object.spec{size: object.spec.x}}' resulted in error: no such key: x",
            "policy 'p' with binding 'b' denied request: JSON Patch: Unexpected kind: ",
        ]
    );
    assert_eq!(status.message, causes[0]);
}

/// PO-80, PO-81: what ran asks for a second pass, even without effect, and runs again if it may.
#[test]
fn passes() {
    let widgets = Widgets::new();
    for (policy, runs_again) in [("IfNeeded", true), ("Never", false)] {
        for expression in ["[]", "[JSONPatch{op: 'test', path: '/kind', value: 'Gadget'}]"] {
            let expression = format!("true ? {expression} : [JSONPatch{{}}]");
            let more = json!({"mutations": [patch(&expression)], "reinvocationPolicy": policy});
            let mut passes = PolicyReinvocation::default();
            let first = widgets.run(more.clone(), &mut passes);
            assert!(passes.is_requested(), "{policy} {expression}");
            passes.end_pass(first.object.as_ref());
            passes.begin_second_pass();
            let second = widgets.run(more, &mut passes);
            let mutated = second.records.iter().filter(|it| it.index.is_some()).count();
            assert_eq!(mutated, usize::from(runs_again), "{policy} {expression}");
        }
    }
}
