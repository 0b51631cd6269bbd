//! The server's verdicts about rules when a definition is written (CE-20, CE-25).

use billhook_apimachinery::{FieldPath, Location};
use billhook_cel::{CheckedSchema, RuleChecks, validate_rules};
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use proptest::prelude::*;
use serde_json::{Value, json};

const TRY: &str = " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength \
                   where arrays, maps, and strings are declared)";

fn structural(schema: &Value) -> StructuralSchema {
    StructuralSchema::new(JsonSchemaProps::from_value(schema).unwrap()).unwrap()
}

/// The errors of a schema at `S`, without the hint that ends many.
fn errors(schema: &Value) -> Vec<String> {
    errors_with(schema, false, |_| true)
}

fn errors_with(
    schema: &Value,
    unlimited: bool,
    is_clean: impl Fn(&Location<'_>) -> bool,
) -> Vec<String> {
    let base = FieldPath::default().name("S");
    let checks = RuleChecks { base, unlimited, ..RuleChecks::default() };
    let errors = validate_rules(&CheckedSchema::new(&structural(schema)), &checks, is_clean).errors;
    errors.iter().map(|error| error.to_string().replace(TRY, "")).collect()
}

/// A resource with a property `a` that has a rule.
fn with_rule(mut property: Value, rule: &Value) -> Value {
    property["x-kubernetes-validations"] = json!([rule]);
    json!({"type": "object", "properties": {"a": property}})
}

fn integer(rule: &Value) -> Value {
    with_rule(json!({"type": "integer"}), rule)
}

/// CE-20: what is wrong with a rule for an integer, below its place.
#[test]
fn expressions_must_fit() {
    let rule_at = "S.properties[a].x-kubernetes-validations[0].";
    for (rule, expected) in [
        (json!({"rule": "self > 1"}), vec![]),
        (json!({"rule": "self > 1", "messageExpression": "'a'"}), vec![]),
        (
            json!({"rule": "self"}),
            vec![
                "rule: Invalid value: {\"Rule\":\"self\",\"Message\":\"\",\"MessageExpression\":\"\",\
             \"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: cel expression must \
             evaluate to a bool",
            ],
        ),
        // What fails when the program is made, is of the right type.
        (
            json!({"rule": "int('x')"}),
            vec![
                "rule: Invalid value: {\"Rule\":\"int('x')\",\"Message\":\"\",\"MessageExpression\":\
             \"\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: cel expression must \
             evaluate to a bool",
            ],
        ),
        (
            json!({"rule": "int('x') == self", "reason": "R", "fieldPath": ".f"}),
            vec![
                "rule: Invalid value: {\"Rule\":\"int('x') == self\",\"Message\":\"\",\
             \"MessageExpression\":\"\",\"Reason\":\"R\",\"FieldPath\":\".f\",\
             \"OptionalOldSelf\":null}: program instantiation failed: type conversion error from \
             'string' to 'int'",
            ],
        ),
        (
            json!({"rule": "self > 1", "messageExpression": "self"}),
            vec![
                "messageExpression: Invalid value: {\"Rule\":\"self \\u003e 1\",\"Message\":\"\",\
             \"MessageExpression\":\"self\",\"Reason\":null,\"FieldPath\":\"\",\
             \"OptionalOldSelf\":null}: messageExpression must evaluate to a string",
            ],
        ),
        (
            json!({"rule": "self > 1", "optionalOldSelf": false}),
            vec![
                "optionalOldSelf: Invalid value: false: may not be set if oldSelf is not used in rule",
            ],
        ),
        (json!({"rule": "self > oldSelf", "optionalOldSelf": false}), vec![]),
        (json!({"rule": "self > oldSelf.value()", "optionalOldSelf": true}), vec![]),
        // The message does not count.
        (
            json!({
                "rule": "self > 1",
                "optionalOldSelf": true,
                "messageExpression": "string(oldSelf.value())",
            }),
            vec![
                "optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in \
                 rule",
            ],
        ),
    ] {
        let expected: Vec<_> = expected.iter().map(|error| format!("{rule_at}{error}")).collect();
        assert_eq!(errors(&integer(&rule)), expected, "{rule}");
    }
}

/// CE-20: a rule that does not compile counts as one without `oldSelf`, and its message is not
/// looked at.
#[test]
fn what_does_not_compile_is_said_once() {
    for (rule, expected) in [
        (json!({"rule": "self +", "messageExpression": "self +"}), vec!["rule"]),
        (json!({"rule": "oldSelf.b", "optionalOldSelf": true}), vec!["rule", "optionalOldSelf"]),
        (json!({"rule": "self > 1", "messageExpression": "self +"}), vec!["messageExpression"]),
        (
            json!({"rule": "self > oldSelf", "optionalOldSelf": true}),
            vec!["rule", "optionalOldSelf"],
        ),
        (json!({"rule": "self > 1 && request == 1"}), vec!["rule"]),
    ] {
        let checks = RuleChecks::default();
        let errors =
            validate_rules(&CheckedSchema::new(&structural(&integer(&rule))), &checks, |_| true)
                .errors;
        let fields: Vec<String> = errors.iter().map(|error| error.field().to_string()).collect();
        let at = "properties[a].x-kubernetes-validations[0]";
        let expected: Vec<_> = expected.iter().map(|name| format!("{at}.{name}")).collect();
        assert_eq!(fields, expected, "{rule}");
        let detail = errors[0].detail();
        let text = detail.strip_prefix("messageExpression ").unwrap_or(detail);
        assert!(text.starts_with("compilation failed: ERROR: <input>:1:"), "{detail}");
    }
}

/// CE-20: where old values cannot be found.
#[test]
fn old_values_must_be_correlatable() {
    let transition = json!([{"rule": "self == oldSelf"}]);
    let leaf = json!({
        "type": "string", "maxLength": 3, "x-kubernetes-validations": transition,
    });
    let object = json!({"type": "object", "properties": {"k": leaf}});
    let list = |items: &Value, list_type: &str| {
        json!({
            "type": "array",
            "maxItems": 2,
            "items": items,
            "x-kubernetes-list-type": list_type,
            "x-kubernetes-list-map-keys": ["k"],
        })
    };
    let map = |values: &Value| json!({"type": "object", "maxProperties": 2, "additionalProperties": values});
    let unknown = |mut object: Value| {
        object["x-kubernetes-map-type"] = json!("loose");
        object
    };
    let granular = {
        let mut object = object.clone();
        object["x-kubernetes-map-type"] = json!("granular");
        object
    };
    for (schema, within) in [
        (object.clone(), None),
        (granular, None),
        (map(&object), None),
        (list(&object, "map"), None),
        (list(&object, "atomic"), Some("S")),
        (list(&object, "set"), Some("S")),
        (unknown(object.clone()), Some("S")),
        (unknown(map(&leaf)), None),
        (map(&list(&leaf, "set")), Some("S.additionalProperties")),
        // The highest one.
        (list(&list(&leaf, "set"), "atomic"), Some("S")),
    ] {
        let expected = within.map(|within| {
            "Invalid value: \"self == oldSelf\": oldSelf cannot be used on the uncorrelatable \
             portion of the schema within "
                .to_owned()
                + within
        });
        let actual = errors(&schema);
        let actual: Vec<_> =
            actual.iter().map(|error| error.split_once(".rule: ").unwrap().1).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_eq!(actual, expected, "{schema}");
    }
}

/// CE-20, CE-04.
#[test]
fn some_nodes_have_no_type() {
    let rules = json!([{"rule": "true"}, {"rule": "false"}]);
    let typed = json!({"type": "string", "x-kubernetes-validations": rules});
    let untyped = json!({
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"b": typed},
    });
    let mut with_rules = untyped.clone();
    with_rules["x-kubernetes-validations"] = rules.clone();
    let failure = |at: &str| {
        format!(
            "{at}.x-kubernetes-validations: Internal error: internal error: failed to construct \
             type information for x-kubernetes-validations rules: unable to convert structural \
             schema to CEL declarations"
        )
    };
    let resource = |a: &Value| json!({"type": "object", "properties": {"a": a}});
    // Below a node without a type and without rules there are types again.
    assert_eq!(errors(&resource(&untyped)), Vec::<String>::new());
    let expected = [failure("S.properties[a].properties[b]"), failure("S.properties[a]")];
    assert_eq!(errors(&resource(&with_rules)), expected);
    let list = json!({"type": "array", "items": with_rules});
    let expected =
        [failure("S.properties[a].items.properties[b]"), failure("S.properties[a].items")];
    assert_eq!(errors(&resource(&list)), expected);
    // Names do not matter: a rule sees its own node.
    let unnamable = json!({
        "type": "object",
        "properties": {"$": typed},
        "x-kubernetes-validations": rules,
    });
    assert_eq!(errors(&unnamable), Vec::<String>::new());
}

/// CV-75, CE-20: the order of the walk, and nodes that are left out.
#[test]
fn nodes_are_visited_from_below() {
    let node = |properties: Value| {
        json!({
            "type": "object",
            "properties": properties,
            "x-kubernetes-validations": [{"rule": "1"}],
        })
    };
    let schema = node(json!({"b": node(json!({"c": node(json!({}))})), "a": node(json!({}))}));
    let fields = |is_clean: &dyn Fn(&Location<'_>) -> bool| -> Vec<String> {
        let errors = validate_rules(
            &CheckedSchema::new(&structural(&schema)),
            &RuleChecks::default(),
            is_clean,
        )
        .errors;
        let field = |error: &billhook_apimachinery::FieldError| {
            error.field().to_string().replace("x-kubernetes-validations[0].rule", "")
        };
        errors.iter().map(field).collect()
    };
    let all = ["properties[a].", "properties[b].properties[c].", "properties[b].", ""];
    assert_eq!(fields(&|_| true), all);
    let clean = |at: &Location<'_>| at.to_path().to_string() != "properties[b]";
    assert_eq!(fields(&clean), ["properties[a].", "properties[b].properties[c].", ""]);
}

/// A rule with a cost for each of so many values that all together are a little too expensive.
fn check_cost(rule: &str, node: &Value, cost: u64) {
    let values = 12_000_000 / cost;
    let mut node = node.clone();
    node["x-kubernetes-validations"] = json!([{"rule": rule}]);
    let schema = json!({"type": "array", "maxItems": values, "items": node});
    let factor = (cost * values) as f64 / 1e7;
    let expected = format!(
        "S.items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget \
         by factor of {factor:.6}x"
    );
    assert_eq!(errors(&schema), [expected], "{rule} costs {cost}");
}

/// CE-25: names and fields cost one, texts a tenth for each byte, patterns a quarter.
#[test]
fn expressions_have_costs() {
    let text = json!({"type": "string", "maxLength": 25});
    let list = json!({"type": "array", "maxItems": 20, "items": text});
    let ints = json!({"type": "array", "maxItems": 20, "items": {"type": "integer"}});
    let map = json!({"type": "object", "maxProperties": 30, "additionalProperties": text});
    let node = json!({"type": "object", "properties": {
        "s": text, "t": text, "i": {"type": "integer"}, "l": list, "n": ints, "m": map,
        "e": {"type": "string", "enum": ["abc", "abcdefghijklmnopqrstuvwxyz"]},
        "by": {"type": "string", "format": "byte", "maxLength": 50},
        "ts": {"type": "string", "format": "date-time"},
    }});
    for (rule, cost) in [
        // A variable, a field, nothing to compare of a number.
        ("self.i == 5", 2),
        ("self.i + 1 > 5", 2 + 1 + 1),
        ("has(self.s)", 1),
        ("has(self.s) && has(self.t)", 1 + 1),
        // The shorter one counts; 25 code points have up to 100 bytes.
        ("self.s == 'abc'", 2 + 1),
        ("self.s == self.t", 4 + 10),
        ("self.s < self.t", 4 + 10),
        ("self.e == self.s", 4 + 3),
        ("self.by == self.by", 4 + 5),
        ("self.s + self.t == self.s", 4 + 20 + 2 + 10),
        ("self.s.startsWith(self.t)", 4 + 10),
        ("self.s.contains(self.t)", 4 + 10 * 10),
        ("self.s.contains('abc')", 2 + 10),
        ("self.s.matches('abcdefgh')", 2 + 11 * 2),
        ("self.s.size() > 5", 2 + 1 + 1),
        ("self.s in ['a', 'b', 'c']", 2 + 10 + 3),
        ("self.s in self.l", 4 + 20),
        ("self.l[0] == self.s", 3 + 1 - 1 + 2 + 10),
        ("self.m['k'] == self.s", 3 + 2 + 10),
        ("self.m.k == self.s", 3 + 2 + 10),
        ("self.l == self.l", 4 + 2),
        ("self.l + self.l == []", 4 + 1 + 10),
        // What comes from nowhere is taken for as large as the whole: an object, which is nothing.
        ("{'a': 1}.a == 1", 30 + 1),
        ("self.i > 1 ? self.s == self.t : true", 3 + 14),
        ("self.i > 1 || self.i < 0", 3 + 3),
        ("dyn(self.i) == 5", 2 + 1 + 1 - 1),
        ("string(self.i) == 'abc'", 2 + 1 + 1),
        ("bytes(self.s) == self.by", 2 + 10 + 2 + 5),
        ("self.ts > timestamp('2024-01-01T00:00:00Z')", 2 + 1 + 1),
        // A round: the condition and the step.
        ("self.n.all(x, x > 0)", 2 + 20 * (2 + 1 + 2) + 1),
        ("self.l.all(x, x == self.s)", 2 + 20 * (2 + 1 + 3 + 10) + 1),
        ("self.l.exists(x, x == self.s)", 2 + 20 * (3 + 1 + 3 + 10) + 1),
        ("self.l.exists_one(x, x == 'a')", 2 + 20 * (2 + 2) + 1 + 1),
        ("self.m.all(k, self.m[k] == self.s)", 2 + 30 * (2 + 1 + 4 + 2 + 10) + 1),
        ("self.m.all(k, v, v == self.s)", 2 + 30 * (2 + 1 + 3 + 10) + 1),
        // It makes a list at the start and in each round.
        ("self.l.map(x, size(x)).size() == 1", 2 + 10 + 20 * (1 + 10 + 2 + 1) + 1 + 1 + 1),
        ("self.l.filter(x, x != 'a').size() == 1", 2 + 10 + 20 * (2 + 13) + 1 + 1 + 1),
        ("optional.of(self.i).value() == 5", 2 + 1 + 1 + 1),
        ("self.?s.orValue('') == 'abc'", 1 + 1 + 1 + 1),
        // The name of a type is taken for the whole as well.
        ("type(self.i) == int", 2 + 1 + 1),
        ("type(self.ts) == google.protobuf.Timestamp", 2 + 1 + 1),
        ("google.protobuf.Int64Value{value: 5} == 5", 40 + 1),
        ("google.protobuf.StringValue{value: 'abc'} == 'abc'", 40 + 1),
    ] {
        check_cost(rule, &node, cost);
    }
}

/// CE-25: the size of a type is unknown.
#[test]
fn types_have_no_bound() {
    let schema = integer(&json!({"rule": "type(self) == type(1)"}));
    let found = errors(&schema);
    let expected = "estimated rule cost exceeds budget by factor of more than 100x";
    assert!(found.iter().any(|error| error.contains(expected)), "{found:?}");
}

/// CE-25: the functions of Kubernetes' libraries.
#[test]
fn libraries_have_costs() {
    let text = json!({"type": "string", "maxLength": 25});
    let node = json!({"type": "object", "properties": {
        "s": text,
        "l": {"type": "array", "maxItems": 20, "items": text},
        "n": {"type": "array", "maxItems": 20, "items": {"type": "integer"}},
    }});
    for (rule, cost) in [
        ("self.l.isSorted()", 2 + 20 * 11),
        ("self.n.isSorted()", 2 + 20),
        ("self.n.sum() == 1", 2 + 20 + 1),
        ("self.l.indexOf('a') == 1", 2 + 20 * 11 + 1),
        ("self.s.indexOf('a') == 1", 2 + 10 + 1),
        ("self.s.lowerAscii() == self.s", 2 + 10 + 2 + 10),
        ("self.s.trim() == 'abc'", 2 + 10 + 1),
        ("self.s.charAt(0) == 'a'", 2 + 1 + 1),
        ("self.s.replace('a', 'b') == self.s", 2 + 20 + 2 + 10),
        // Each character becomes ten.
        ("self.s.replace('a', '0123456789').contains('a')", 2 + 20 + 100),
        // And something stands around all of them.
        ("self.s.replace('', 'ab').contains('a')", 2 + 20 + 31),
        ("self.s.split(',').size() == 1", 2 + 20 + 1 + 1),
        // Twenty texts and what is between them.
        ("self.l.join('---') == self.s", 2 + 206 + 2 + 10),
        ("self.s.find('[a-z]') == 'a'", 2 + 11 * 2 + 1),
        ("self.s.findAll('[a-z]').size() == 3", 2 + 11 * 2 + 1 + 1),
        ("strings.quote(self.s) == 'abc'", 2 + 10 + 1),
        ("'%s'.format([self.s]) == 'abc'", 1 + 10 + 2 + 1),
        ("url(self.s).getHost() == 'abc'", 2 + 10 + 1 + 1),
        ("isURL(self.s)", 2 + 1),
        ("ip(self.s) == ip(self.s)", 2 * (2 + 10) + 4),
        ("isIP(self.s)", 2 + 10),
        ("ip.isCanonical(self.s)", 2 + 20),
        ("isQuantity(self.s)", 2 + 10),
        ("quantity(self.s) == quantity(self.s)", 2 * (2 + 10) + 1),
        ("format.uuid().validate(self.s).hasValue()", 1 + 2 + 10 * 32 + 1),
        ("sets.contains(self.l, self.l)", 4 + 20 * 20 + 1),
        ("sets.equivalent(self.l, ['a'])", 2 + 10 + 2 * 20 + 1),
        ("self.n.sort() == []", 2 + 2 * 400 + 11 + 10),
        ("self.l.sort() == []", 2 + 840 + 11 + 10),
        ("self.n.distinct() == []", 2 + 2 * 400 + 11 + 10),
        ("self.n.reverse() == []", 2 + 20 + 11 + 10),
        ("self.n.slice(1, 5) == []", 2 + 4 + 11 + 10),
        ("lists.range(5) == []", 5 + 11 + 10),
        ("[[1], [2]].flatten() == []", 30 + 2 + 11 + 10),
    ] {
        check_cost(rule, &node, cost);
    }
}

/// CE-25: how many values there may be.
#[test]
fn costs_are_multiplied() {
    let too_much = |at: &str, factor: &str| {
        format!("{at}.rule: Forbidden: estimated rule cost exceeds budget by factor of {factor}")
    };
    // Costs 1 + 1 + 400.
    let rule = json!([{"rule": "self.contains(self)"}]);
    let text = json!({"type": "string", "maxLength": 50, "x-kubernetes-validations": rule});
    let list = |most: u64, of: &Value| json!({"type": "array", "maxItems": most, "items": of});
    let map = |most: u64, of: &Value| json!({"type": "object", "maxProperties": most, "additionalProperties": of});
    let at = "S.items.x-kubernetes-validations[0]";
    assert_eq!(errors(&list(24_875, &text)), Vec::<String>::new());
    assert_eq!(errors(&list(24_876, &text)), [too_much(at, "1.000015x")]);
    assert_eq!(errors(&list(40_000, &text)), [too_much(at, "1.6x")]);
    let at = "S.additionalProperties.items.x-kubernetes-validations[0]";
    assert_eq!(errors(&map(100, &list(300, &text))), [too_much(at, "1.206000x")]);
    // As many as fit into a request, whatever the other limits: "", and a comma.
    let unbounded = json!({"type": "array", "items": text});
    let at = "S.additionalProperties.items.x-kubernetes-validations[0]";
    let actual = errors(&map(1, &unbounded));
    assert_eq!(actual[0], too_much(at, "42.2x"));
    // Properties are there once.
    let object = json!({"type": "object", "maxProperties": 5, "properties": {"p": text}});
    let at = "S.items.properties[p].x-kubernetes-validations[0]";
    assert_eq!(errors(&list(25_000, &object)), [too_much(at, "1.005000x")]);
}

/// CE-25, CV-91: all expressions of a schema together.
#[test]
fn the_sum_is_limited() {
    // Costs 2 + 40 * 40 for up to 100 characters each; thousands of values make millions.
    let node = |name: &str, most: u64| {
        let rule = json!([{"rule": "self.contains(self)"}]);
        let text = json!({"type": "string", "maxLength": 100, "x-kubernetes-validations": rule});
        (name.to_owned(), json!({"type": "array", "maxItems": most, "items": text}))
    };
    let schema = |nodes: Vec<(String, Value)>| {
        let properties: serde_json::Map<_, _> = nodes.into_iter().collect();
        json!({"type": "object", "properties": properties})
    };
    let at = |name: &str| format!("S.properties[{name}].items.x-kubernetes-validations[0].rule");
    let part = |name: &str| {
        at(name)
            + ": Forbidden: contributed to estimated rule cost total exceeding cost limit for \
               entire OpenAPIv3 schema"
    };
    let total = |factor: &str| {
        format!(
            "S: Forbidden: x-kubernetes-validations estimated rule cost total for entire \
             OpenAPIv3 schema exceeds budget by factor of {factor}"
        )
    };
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let many = |most: u64| schema(names.iter().map(|name| node(name, most)).collect());
    // Seven times 9.612 millions are not yet too much; with a limit for each neither.
    assert_eq!(errors(&many(6_000)), Vec::<String>::new());
    let actual = errors_with(&many(10_000), true, |_| true);
    let mut expected: Vec<_> = names.iter().take(4).map(|name| part(name)).collect();
    expected.push(total("1.121400x"));
    assert_eq!(actual, expected);
    // The most expensive ones come first; those below a hundredth are not named.
    let nodes = vec![node("a", 600), node("b", 20_000), node("c", 60_000)];
    let actual = errors_with(&schema(nodes), true, |_| true);
    assert_eq!(actual, [part("c"), part("b"), total("1.291212x")]);
}

/// Costs stop at the largest number; neither deep expressions nor rules at every level of a deep
/// schema need a deep stack.
#[test]
fn hostile_rules() {
    let walk = || {
        let list = json!({"type": "array", "items": {"type": "string"}});
        let mut nested = "true".to_owned();
        for _ in 0..60 {
            nested = format!("self.all(x, {nested})");
        }
        let found = errors(&with_rule(list, &json!({"rule": nested})));
        assert_eq!(found.len(), 3, "{found:#?}");
        assert!(found[0].ends_with("by factor of more than 100x"), "{found:#?}");

        let brackets = format!(
            "{}1{} == {}1{}",
            "[".repeat(100),
            "]".repeat(100),
            "[".repeat(100),
            "]".repeat(100)
        );
        assert_eq!(errors(&integer(&json!({"rule": brackets}))), Vec::<String>::new());

        let mut schema = json!({"type": "string"});
        for _ in 0..2000 {
            let properties = Value::Object([("a".to_owned(), schema)].into_iter().collect());
            schema = Value::Object([("properties".to_owned(), properties)].into_iter().collect());
            schema["type"] = "object".into();
            schema["x-kubernetes-validations"] = json!([{"rule": "has(self.a)"}]);
        }
        let structural = structural(&schema);
        billhook_apimachinery::value::dismantle(schema);
        assert!(
            validate_rules(&CheckedSchema::new(&structural), &RuleChecks::default(), |_| true)
                .errors
                .is_empty()
        );
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(walk).unwrap().join().unwrap();
}

proptest! {
    /// Larger limits never cost less (CE-25).
    #[test]
    fn larger_values_cost_more(length in 0_u64..2000, items in 0_u64..500, more in 1_u64..500) {
        let is_refused = |length: u64, items: u64| {
            let text = json!({"type": "string", "maxLength": length});
            let list = json!({"type": "array", "maxItems": items, "items": text});
            let rule = json!({"rule": "self.all(x, self.exists(y, y.contains(x)))"});
            !errors(&with_rule(list, &rule)).is_empty()
        };
        let before = is_refused(length, items);
        prop_assert!(!before || is_refused(length + more, items));
        prop_assert!(!before || is_refused(length, items + more));
    }
}
