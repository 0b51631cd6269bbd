//! Rules in CEL at run time: what they say, of what kind, with which value, and when they are
//! forgiven (CE-01 to CE-51).

use billhook::{CrdVersion, CustomResourceDefinition, ValidateOptions, Validation};
use serde_json::{Value, json};

fn version(spec: Value) -> CrdVersion {
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let crd = CustomResourceDefinition::from_value(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}],
        },
    }));
    crd.unwrap().version("v1").unwrap()
}

fn foo(spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x", "resourceVersion": "1"}, "spec": spec})
}

fn create(version: &CrdVersion, spec: Value) -> Validation {
    version.validate_create(&foo(&spec), &ValidateOptions::default())
}

fn update(version: &CrdVersion, old: Value, spec: Value) -> Validation {
    let options = ValidateOptions::default().generic_checks(false);
    version.validate_update(&foo(&spec), &foo(&old), &options)
}

fn texts(validation: &Validation) -> Vec<String> {
    validation.errors().iter().map(ToString::to_string).collect()
}

/// An object with an integer `a`, other members, and these rules.
fn with_rules(rules: Value) -> Value {
    json!({"type": "object", "x-kubernetes-validations": rules, "properties": {
        "a": {"type": "integer"}, "b": {"type": "integer"},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
    }})
}

/// CE-31 and CE-32: kind, value and message of a violated rule.
#[test]
fn a_violated_rule() {
    for (rule, expected) in [
        (json!({"rule": " self.a > 5 "}), "spec: Invalid value: failed rule: self.a > 5"),
        (
            json!({"rule": "self.a > 5", "message": " too small\n"}),
            "spec: Invalid value: too small",
        ),
        (
            json!({"rule": "self.a > 5", "messageExpression": "'got ' + string(self.a)"}),
            "spec: Invalid value: got 1",
        ),
        (
            json!({"rule": "self.a > 5", "messageExpression": "string(self.b)", "message": "m"}),
            "spec: Invalid value: m",
        ),
        (
            json!({"rule": "self.a > 5", "messageExpression": "'x\\ny'"}),
            "spec: Invalid value: failed rule: self.a > 5",
        ),
        (
            json!({"rule": "self.a > 5", "messageExpression": "' '", "message": "m"}),
            "spec: Invalid value: m",
        ),
        (
            json!({"rule": "self.a > 5", "reason": "FieldValueForbidden"}),
            "spec: Forbidden: failed rule: self.a > 5",
        ),
        (
            json!({"rule": "self.a > 5", "reason": "FieldValueRequired", "message": "m"}),
            "spec: Required value: m",
        ),
        (json!({"rule": "self.a > 5", "reason": "FieldValueDuplicate"}), "spec: Duplicate value"),
        (
            json!({"rule": "self.a > 5", "fieldPath": ".a"}),
            "spec.a: Invalid value: failed rule: self.a > 5",
        ),
    ] {
        let version = version(with_rules(json!([rule])));
        assert_eq!(texts(&create(&version, json!({"a": 1}))), [expected], "{rule}");
        assert_eq!(texts(&create(&version, json!({"a": 6}))), [""; 0], "{rule}");
    }
}

/// CE-30, CE-31: places, and the values of scalars.
#[test]
fn places() {
    let rule = |rule: &str| json!([{"rule": rule}]);
    let version = version(json!({"type": "object", "x-kubernetes-validations": rule("false"),
    "properties": {
        "a": {"type": "integer", "x-kubernetes-validations": rule("self > 5")},
        "i": {"x-kubernetes-int-or-string": true, "x-kubernetes-validations": rule("self == 1")},
        "l": {"type": "array", "items":
            {"type": "string", "x-kubernetes-validations": rule("self != 'x'")}},
        "m": {"type": "object", "additionalProperties":
            {"type": "string", "x-kubernetes-validations": rule("self != 'x'")}},
        "n": {"type": "string", "nullable": true, "x-kubernetes-validations": rule("false")},
    }}));
    let spec = json!({"a": 1, "i": "s", "l": ["y", "x"], "m": {"a.b": "x"}, "n": null});
    assert_eq!(
        texts(&create(&version, spec)),
        [
            "spec: Invalid value: failed rule: false",
            "spec.a: Invalid value: 1: failed rule: self > 5",
            "spec.i: Invalid value: \"s\": failed rule: self == 1",
            "spec.l[1]: Invalid value: \"x\": failed rule: self != 'x'",
            "spec.m[a.b]: Invalid value: \"x\": failed rule: self != 'x'",
        ]
    );
}

/// CE-33: what keeps a rule from having a result.
#[test]
fn a_rule_without_a_result() {
    for (rule, expected) in [
        (
            json!({"rule": "self.a > 5"}),
            "spec: Invalid value: \"object\": no such key: a evaluating rule: self.a > 5",
        ),
        (
            json!({"rule": "self.a > 5", "message": "m"}),
            "spec: Invalid value: \"object\": no such key: a evaluating rule: m",
        ),
        (
            json!({"rule": "self.b / 0 == 1"}),
            "spec: Invalid value: \"object\": division by zero evaluating rule: self.b / 0 == 1",
        ),
        (
            json!({"rule": "self.m['k'] == ''"}),
            "spec: Invalid value: \"object\": no such key: k evaluating rule: self.m['k'] == ''",
        ),
    ] {
        let version = version(with_rules(json!([rule])));
        assert_eq!(texts(&create(&version, json!({"b": 1, "m": {}}))), [expected], "{rule}");
    }
}

/// CE-06: a whole float is a valid integer, but not for a rule.
#[test]
fn a_float_where_an_integer_is_said() {
    let version = version(with_rules(json!([{"rule": "self.a > 5"}])));
    assert_eq!(
        texts(&create(&version, json!({"a": 7.0}))),
        ["spec: Invalid value: \"object\": invalid data, expected int, got float64 evaluating \
            rule: self.a > 5"]
    );
}

/// CE-07: names that expressions must escape.
#[test]
fn escaped_names() {
    let version = version(json!({"type": "object", "properties": {
        "x-y": {"type": "integer"}, "a.b": {"type": "integer"}, "__c__": {"type": "integer"},
        "in": {"type": "integer"}, "d/e": {"type": "integer"},
    }, "x-kubernetes-validations": [{"rule": "self.x__dash__y == 1 && self.a__dot__b == 2 && \
        self.__underscores__c__underscores__ == 3 && self.__in__ == 4 && self.d__slash__e == 5"}]}));
    let spec = json!({"x-y": 1, "a.b": 2, "__c__": 3, "in": 4, "d/e": 5});
    assert_eq!(texts(&create(&version, spec)), [""; 0]);
}

/// CE-40: rules about the old value.
#[test]
fn transitions() {
    let rules = json!([{"rule": "self.a >= oldSelf.a", "message": "shrinks"}]);
    let plain = version(with_rules(rules));
    assert_eq!(texts(&create(&plain, json!({"a": 1}))), [""; 0]);
    let shrunk = update(&plain, json!({"a": 2}), json!({"a": 1}));
    assert_eq!(texts(&shrunk), ["spec: Invalid value: shrinks"]);
    assert_eq!(texts(&update(&plain, json!({"a": 1}), json!({"a": 1}))), [""; 0]);

    let rules = json!([{"rule": "oldSelf.hasValue() || self.a == 1", "optionalOldSelf": true}]);
    let optional = version(with_rules(rules));
    assert_eq!(texts(&create(&optional, json!({"a": 2}))).len(), 1);
    assert_eq!(texts(&update(&optional, json!({"a": 1}), json!({"a": 2}))), [""; 0]);
}

/// CE-40: the elements of list maps have old values, those of other lists have none.
#[test]
fn transitions_of_elements() {
    let items = json!({"type": "object", "properties": {"k": {"type": "string"},
        "v": {"type": "integer", "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}});
    let version = version(json!({"type": "object", "properties": {
        "map": {"type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"], "items": items},
        "list": {"type": "array", "items": items},
    }}));
    let old = json!([{"k": "a", "v": 1}, {"k": "b", "v": 2}]);
    let new = json!([{"k": "b", "v": 3}, {"k": "c", "v": 4}]);
    let changed =
        update(&version, json!({"map": old, "list": old}), json!({"map": new, "list": new}));
    assert_eq!(texts(&changed), ["spec.map[0].v: Invalid value: 3: failed rule: self == oldSelf"]);
}

/// CE-50 and CE-51: what was wrong before and has not changed is only warned of.
#[test]
fn ratcheting() {
    let version = version(json!({"type": "object", "properties": {
        "a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 5"}]},
        "b": {"type": "integer"},
        "c": {"type": "object", "x-kubernetes-validations": [{"rule": "self.d > 5"}],
            "properties": {"d": {"type": "integer"}, "e": {"type": "integer"}}},
        "l": {"type": "array", "items":
            {"type": "integer", "x-kubernetes-validations": [{"rule": "self > 5"}]}},
    }}));
    let spec = |b: i64, e: i64, l: Value| json!({"a": 1, "b": b, "c": {"d": 1, "e": e}, "l": l});
    let error = |place: &str| format!("spec.{place}: Invalid value: 1: failed rule: self > 5");
    let of_c = "spec.c: Invalid value: failed rule: self.d > 5";

    let sibling = update(&version, spec(1, 1, json!([1])), spec(2, 1, json!([1])));
    assert_eq!(texts(&sibling), [""; 0]);
    assert_eq!(sibling.warnings(), [error("a"), of_c.to_owned(), error("l[0]")]);

    let changed = update(&version, spec(1, 1, json!([1])), spec(1, 2, json!([1, 7])));
    assert_eq!(texts(&changed), [of_c.to_owned(), error("l[0]")]);
    assert_eq!(changed.warnings(), [error("a")]);
}

/// CE-35: an evaluation that costs too much ends all of them.
#[test]
fn limits_of_cost() {
    let items = json!({"type": "array", "items": {"type": "integer"}});
    let version = version(json!({"type": "object", "properties": {"l": items},
    "x-kubernetes-validations": [
        {"rule": "self.l.all(x, self.l.all(y, x + y >= 0))"}, {"rule": "false"},
    ]}));
    let list: Vec<u32> = (0..2_000).collect();
    assert_eq!(
        texts(&create(&version, json!({"l": list}))),
        ["spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no \
            further validation rules will be run due to call cost exceeds limit for rule: \
            self.l.all(x, self.l.all(y, x + y >= 0))"]
    );
    let few: Vec<u32> = (0..20).collect();
    assert_eq!(
        texts(&create(&version, json!({"l": few}))),
        ["spec: Invalid value: failed rule: false"]
    );
}

/// A rule that a server would not have taken says so wherever it would run.
#[test]
fn a_rule_that_does_not_compile() {
    let version = version(with_rules(json!([{"rule": "self.x == 1"}, {"rule": "1"}])));
    let found = texts(&create(&version, json!({"a": 1})));
    assert_eq!(found.len(), 2, "{found:?}");
    let start = "spec: Invalid value: \"object\": rule compile error: ";
    assert!(found[0].starts_with(&format!("{start}compilation failed: ERROR: <input>:1:5: ")));
    assert_eq!(found[1], format!("{start}cel expression must evaluate to a bool"));
}

/// The errors of a custom resource with a field `s` of a schema, and a rule of the whole object.
fn errors_of_list(list: &Value, rule: &str, s: &Value) -> Vec<String> {
    let version = version(json!({
        "type": "object",
        "properties": {"s": list},
        "x-kubernetes-validations": [{"rule": rule}],
    }));
    texts(&create(&version, json!({"s": s})))
}

/// CE-04: elements of a set are found by their value as it is written.
#[test]
fn sets_of_values_that_expressions_see_otherwise() {
    let set = |items: Value| json!({"type": "array", "x-kubernetes-list-type": "set", "maxItems": 5, "items": items});
    let numbers = set(json!({"type": "number"}));
    let dates = set(json!({"type": "string", "format": "date", "maxLength": 10}));
    let texts = set(json!({"type": "string", "maxLength": 10}));
    let object = json!({"type": "object", "x-kubernetes-map-type": "atomic",
        "properties": {"a": {"type": "integer"}}});
    let objects = set(object);
    for (list, value, rule, holds) in [
        (&numbers, json!([0]), "self.s == self.s", false),
        (&numbers, json!([0]), "self.s != self.s", true),
        (&numbers, json!([0]), "self == self", false),
        (&numbers, json!([0]), "self.s == [0.0]", false),
        (&numbers, json!([0.5]), "self.s == self.s && self.s == [0.5]", true),
        (&numbers, json!([0]), "size(self.s + self.s) == 1", false),
        (&numbers, json!([0.5]), "size(self.s + self.s) == 1", true),
        (&numbers, json!([0]), "0.0 in self.s", true),
        (&dates, json!(["2024-02-29"]), "self.s == self.s", false),
        (&dates, json!(["2024-02-29"]), "size(self.s + self.s) == 2", true),
        (&texts, json!(["a", "b"]), "self.s == ['b', 'a'] && size(self.s + self.s) == 2", true),
        (&objects, json!([]), "self.s == self.s", true),
    ] {
        let errors = errors_of_list(list, rule, &value);
        assert_eq!(errors.is_empty(), holds, "{rule} {value} {errors:?}");
    }
    let unhashable = "hash of unhashable type map[string]interface {} evaluating rule: ";
    for rule in ["self.s == self.s", "self != self", "size(self.s + self.s) == 1 || true"] {
        let errors = errors_of_list(&objects, rule, &json!([{"a": 1}]));
        let expected = format!("internal error: runtime error: {unhashable}{rule}");
        assert!(errors.iter().any(|error| error.ends_with(&expected)), "{rule} {errors:?}");
    }
}

/// CE-06: a value that does not have its type is an error only where it is read.
#[test]
fn a_value_that_no_rule_reads() {
    let a = |rule: &str| {
        let rules = json!([{"rule": rule}]);
        version(json!({"type": "object", "properties": {
            "a": {"type": "integer", "x-kubernetes-validations": rules},
        }}))
    };
    for (rule, old, new, expected) in [
        ("true", None, json!(2.0), ""),
        ("1 == 1 || self > 1", None, json!(2.0), ""),
        ("self > 1", None, json!(2.0), "invalid data, expected int, got float64 evaluating"),
        ("self > 1 || oldSelf > 1", Some(json!("x")), json!(2), ""),
        ("oldSelf > 1", Some(json!("x")), json!(2), "invalid data, expected int, got string"),
    ] {
        let spec = |a: Value| json!({"a": a});
        let validation = match old {
            Some(old) => update(&a(rule), spec(old), spec(new)),
            None => create(&a(rule), spec(new)),
        };
        let found = texts(&validation).join(", ");
        assert!(
            found.contains(expected) && found.is_empty() == expected.is_empty(),
            "{rule} {found}"
        );
    }
}

/// CE-02: messages know the old value only where a rule uses it.
#[test]
fn a_message_with_an_old_value_that_no_rule_uses() {
    let rule = json!({"rule": "self.a > 5", "messageExpression": "'was ' + string(oldSelf.a)"});
    let other = json!({"rule": "oldSelf.a < 5"});
    for (rules, expected) in
        [(json!([rule]), "failed rule: self.a > 5"), (json!([rule, other]), "was 2")]
    {
        let version = version(with_rules(rules));
        let found = texts(&update(&version, json!({"a": 2}), json!({"a": 3})));
        assert!(found.len() == 1 && found[0].ends_with(expected), "{found:?}");
    }
}
