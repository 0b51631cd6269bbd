//! Why policies apply to a request (PO-20 to PO-42).

use billhook_policy::{PolicyApplication, PolicyDocument, PolicyExplanation, PolicySet};
use serde_json::{Value, json};

use crate::support::{World, binding, create, mutating, mutating_binding, policy};

/// `policy/binding: reason`, or what it applies with.
fn line(found: &PolicyExplanation) -> String {
    let name = format!("{}/{}", found.policy, found.binding.as_deref().unwrap_or_default());
    let parameter = &found.parameter;
    match &found.application {
        PolicyApplication::Applies(matched) => format!("{name} {parameter} {}", matched.kind.kind),
        _ => format!("{name} {parameter} {}", found.summary().unwrap()),
    }
}

fn explain(world: &World, documents: &[PolicyDocument]) -> Vec<String> {
    let set = PolicySet::new(documents.iter().cloned());
    let found = set.explain(&create(json!({"size": 3})), &world.context());
    found.iter().map(line).collect()
}

fn rule(operation: &str) -> Value {
    json!({"operations": [operation], "apiGroups": ["example.com"], "apiVersions": ["v1"],
        "resources": ["widgets"]})
}

#[test]
fn each_reason_is_told() {
    let constraints = |more: Value| {
        let mut constraints = json!({"resourceRules": [rule("CREATE")]});
        constraints.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"matchConstraints": constraints})
    };
    let condition = |expression: &str| json!({"matchConditions": [{"name": "large", "expression": expression}]});
    let selects = json!({"matchResources": {"namespaceSelector":
        {"matchLabels": {"env": "test"}}}});
    let documents = [
        policy("applies", json!({})),
        binding("b-applies", "applies", json!({})),
        binding("other-namespace", "applies", selects),
        policy("condition", condition("object.spec.size > 5")),
        binding("b-condition", "condition", json!({})),
        policy("error", condition("object.spec.sise > 5")),
        binding("b-error", "error", json!({})),
        policy("excluded", constraints(json!({"excludeResourceRules": [rule("*")]}))),
        binding("b-excluded", "excluded", json!({})),
        policy("unbound", json!({})),
        binding("lost", "none", json!({})),
        policy("updates", json!({"matchConstraints": {"resourceRules": [rule("UPDATE")]}})),
        binding("b-updates", "updates", json!({})),
        policy("asks", condition("authorizer.path('/a').check('get').allowed()")),
        binding("b-asks", "asks", json!({})),
        mutating("mutates", json!({"reinvocationPolicy": "Never"})),
        mutating_binding("m", "mutates", json!({})),
    ];
    let expected = [
        "mutates/m  Widget",
        "applies/b-applies  Widget",
        "applies/other-namespace  matchResources: namespaceSelector `env=test`: failed, namespace \
         `shop` has `env=prod` (WM-14)",
        "asks/b-asks  a match condition asks for permissions of the user",
        "condition/b-condition  match condition `large` is false (PO-42)",
        "error/b-error  the request is refused: expression 'object.spec.sise > 5' resulted in \
         error: no such key: sise",
        "excluded/  matchConstraints: excludeResourceRules[0]: the request is excluded (PO-26)",
        "none/lost  the policy does not exist (PO-23)",
        "unbound/  no binding names it (PO-23)",
        "updates/  matchConstraints: resourceRules[0]: its operations are `UPDATE`, not `CREATE` (WM-32)",
    ];
    assert_eq!(explain(&World::new(), &documents), expected);
    let set = PolicySet::new(documents);
    let found = set.explain(&create(json!({"size": 3})), &World::new().context());
    let text = |policy: &str| {
        let found = found.iter().find(|found| found.policy == policy).unwrap();
        found.to_string().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        text("condition"),
        [
            "matchConstraints: namespaceSelector: passed, it selects everything (WM-13)",
            "matchConstraints: objectSelector: passed, it selects everything (WM-20)",
            "matchConstraints: resourceRules[0] for example.com/v1 widgets: passed (WM-30)",
            "matchConditions: `large` false (PO-42)",
            "  object.spec.size > 5  false  bool  cost 4",
            "  └─ object.spec.size   3      int   cost 3",
            "does not apply: a match condition is false (PO-42)",
        ]
    );
    assert_eq!(text("applies").last().unwrap(), "applies with example.com/v1 Widget");
    let fit = "does not apply: its match constraints do not fit (PO-26)";
    assert_eq!(text("excluded").last().unwrap(), fit);
}

/// PO-30 to PO-32: an explanation for each parameter.
#[test]
fn parameters() {
    let world = World::new().limit("a", &json!({"of": "x"}), 1).limit("b", &json!({"of": "x"}), 2);
    let kind = |kind: &str| json!({"paramKind": {"apiVersion": "example.com/v1", "kind": kind}});
    let of = |label: &str, action: &str| {
        json!({"paramRef": {"selector": {"matchLabels": {"of": label}},
            "parameterNotFoundAction": action}})
    };
    let documents = [
        policy("limits", kind("Limit")),
        binding("allows", "limits", of("none", "Allow")),
        binding("denies", "limits", of("none", "Deny")),
        binding("finds", "limits", of("x", "Deny")),
        policy("unknown", kind("Unknown")),
        binding("of-unknown", "unknown", json!({})),
    ];
    let expected = [
        "limits/allows  no parameter is found, which the binding allows (PO-32)",
        "limits/denies  the request is refused: failed to configure binding: no params found for \
         policy binding with `Deny` parameterNotFoundAction",
        "limits/finds shop/a Widget",
        "limits/finds shop/b Widget",
        "unknown/  the request is refused: failed to configure policy: failed to find resource \
         referenced by paramKind: 'example.com/v1, Kind=Unknown'",
    ];
    assert_eq!(explain(&world, &documents), expected);
}

/// A policy applies if and only if it is evaluated.
#[test]
fn what_applies_is_evaluated() {
    let world = World::new();
    for seed in 0..200_u64 {
        let mut documents = Vec::new();
        for index in 0..6_u64 {
            let choice = (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (index * 5)) % 32;
            let operation = ["CREATE", "UPDATE"][(choice % 2) as usize];
            let fails = ["Fail", "Ignore"][(choice / 2 % 2) as usize];
            let condition = ["object.spec.size > 1", "object.spec.size > 5", "object.a", "true"]
                [(choice / 4 % 4) as usize];
            let name = format!("p{index}");
            documents.push(policy(
                &name,
                json!({"failurePolicy": fails,
                "matchConstraints": {"resourceRules": [rule(operation)]},
                "matchConditions": [{"name": "c", "expression": condition}],
                "validations": [{"expression": "true"}]}),
            ));
            if choice < 24 {
                documents.push(binding(&format!("b{index}"), &name, json!({})));
            }
        }
        let set = PolicySet::new(documents);
        let request = create(json!({"size": 3}));
        let explained = set.explain(&request, &world.context());
        let outcome = set.validate(&request, &world.context());
        let applies = explained
            .iter()
            .filter(|found| matches!(found.application, PolicyApplication::Applies(_)));
        let applies: Vec<&str> = applies.map(|found| found.policy.as_str()).collect();
        let admitted = outcome.records.iter().filter(|record| record.index.is_some());
        let admitted = admitted
            .filter(|record| matches!(record.verdict, billhook_policy::PolicyVerdict::Admitted));
        let admitted: Vec<&str> = admitted.map(|record| record.policy.as_str()).collect();
        assert_eq!(applies, admitted, "{seed}");
        let fails =
            explained.iter().any(|found| matches!(found.application, PolicyApplication::Fails(_)));
        assert_eq!(fails, outcome.result.is_err(), "{seed}");
    }
}
