//! Differences between the versions of servers (KV-20 to KV-51).

use KubernetesVersion::{V1_32, V1_33, V1_34, V1_35};
use billhook_apimachinery::{FieldPath, KubernetesVersion};
use billhook_cel::rules::{BUDGET, Rules};
use billhook_cel::{
    CheckedSchema, Environment, Libraries, RuleChecks, StoredExpressions, validate_rules,
};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, StructuralSchema};
use billhook_validation::Validator;
use serde_json::{Value, json};

use crate::evaluate::evaluate_in;

/// KV-30, KV-31: the versions since which stored and new expressions compile.
#[test]
fn functions_come_with_versions() {
    let table = [
        ("[1].all(i, v, v == 1)", V1_32, V1_33),
        ("[1].exists(i, v, v == 1)", V1_32, V1_33),
        ("[1].existsOne(i, v, v == 1)", V1_32, V1_33),
        ("[1].transformList(i, v, v) == [1]", V1_32, V1_33),
        ("{'a': 1}.transformMap(k, v, v) == {'a': 1}", V1_32, V1_33),
        ("{'a': 1}.transformMapEntry(k, v, {k: v}) == {'a': 1}", V1_32, V1_33),
        ("semver('1.2.3').major() == 1", V1_33, V1_34),
        ("isSemver('v1.0', true)", V1_33, V1_34),
        ("[2, 1].sort() == [1, 2]", V1_34, V1_35),
        ("[2, 1].sortBy(x, x) == [1, 2]", V1_34, V1_35),
        ("[1, 2].slice(0, 1) == [1]", V1_34, V1_35),
        ("[[1]].flatten() == [1]", V1_34, V1_35),
        ("[1, 1].distinct() == [1]", V1_34, V1_35),
        ("[1, 2].reverse() == [2, 1]", V1_34, V1_35),
        ("lists.range(2) == [0, 1]", V1_34, V1_35),
        ("[1].first() == optional.of(1)", V1_33, V1_33),
        ("[1].last() == optional.of(1)", V1_33, V1_33),
        ("optional.unwrap([optional.of(1)]) == [1]", V1_33, V1_33),
        ("[optional.of(1)].unwrapOpt() == [1]", V1_33, V1_33),
        ("[1].filter(x, x > 0).isSorted()", V1_32, V1_32),
        ("ip('127.0.0.1').family() == 4", V1_32, V1_32),
        ("[1].exists_one(x, x == 1)", V1_32, V1_32),
    ];
    for (expression, stored, new) in table {
        for version in KubernetesVersion::ALL {
            let compiles = |libraries| {
                let environment = Environment::default().kubernetes(version).libraries(libraries);
                environment.compile(expression).is_ok()
            };
            assert_eq!(compiles(Libraries::Full), version >= stored, "{version} {expression}");
            assert_eq!(compiles(Libraries::Compatible), version >= new, "{version} {expression}");
        }
    }
}

/// KV-33: no parameter of a type is left to be printed in one way or another.
#[test]
fn open_types_are_dyn_in_every_version() {
    for (expression, types) in [
        ("[] + 1", "'_+_' applied to '(list(dyn), int)'"),
        ("{} + 1", "'_+_' applied to '(map(dyn, dyn), int)'"),
        ("[[]] == 1", "'_==_' applied to '(list(list(dyn)), int)'"),
    ] {
        for version in KubernetesVersion::ALL {
            let compiled = Environment::default().kubernetes(version).compile(expression);
            let error = compiled.err().unwrap().to_string();
            let expected = format!("found no matching overload for {types}");
            assert!(error.contains(&expected), "{version} {expression}: {error}");
        }
    }
}

fn evaluate(version: KubernetesVersion, expression: &str) -> String {
    evaluate_in(&Environment::default().kubernetes(version), &[], expression)
}

/// KV-14, KV-31 to KV-43: the results up to a version and after it.
#[test]
fn results_change() {
    let zone = |name: &str| format!("timestamp('2020-01-01T00:00:00Z').getHours('{name}')");
    let (verb, index, padded, percent, stars, end) =
        (zone("%d"), zone("a%[3]s"), zone("%-05.2xb"), zone("%%"), zone("%*.*q"), zone("9%"));
    let atoi = zone("a%v:00");
    let table = [
        (V1_32, "[1].all(x, __result__)", "true", "does not compile: "),
        (V1_32, "[1].all(__result__, true)", "does not compile: ", "true"),
        (V1_33, "''.lastIndexOf('abc')", "error: index out of range: -1", "-1"),
        (V1_33, "'a'.lastIndexOf('abc')", "-1", "-1"),
        (V1_33, "''.lastIndexOf('')", "0", "0"),
        (
            V1_32,
            "(1 / 0 > 0 ? [1] : [2]).all(i, v, true)",
            "error: unsupported comprehension range type: *types.Err",
            "error: division by zero",
        ),
        (
            V1_32,
            "dyn(1).all(i, v, true)",
            "error: unsupported comprehension range type: types.Int",
            "error: unsupported comprehension range type: types.Int",
        ),
        (V1_32, &verb, "error: unknown time zone %!d(MISSING)", "error: unknown time zone %d"),
        (
            V1_32,
            &index,
            "error: unknown time zone a%!s(BADINDEX)",
            "error: unknown time zone a%[3]s",
        ),
        (
            V1_32,
            &padded,
            "error: unknown time zone %!x(MISSING)b",
            "error: unknown time zone %-05.2xb",
        ),
        (V1_32, &percent, "error: unknown time zone %", "error: unknown time zone %%"),
        (
            V1_32,
            &stars,
            "error: unknown time zone %!(BADWIDTH)%!(BADPREC)%!q(MISSING)",
            "error: unknown time zone %*.*q",
        ),
        (V1_32, &end, "error: unknown time zone 9%!(NOVERB)", "error: unknown time zone 9%"),
        (
            V1_32,
            &atoi,
            "error: strconv.Atoi: parsing \"a%!v(MISSING)\": invalid syntax",
            "error: strconv.Atoi: parsing \"a%v\": invalid syntax",
        ),
    ];
    let long = format!("format.labelValue().validate('{}').value()", "a".repeat(64));
    let table = table.into_iter().chain([(
        V1_34,
        long.as_str(),
        "[must be no more than 63 characters]",
        "[must be no more than 63 bytes]",
    )]);
    for (last, expression, before, after) in table {
        for version in KubernetesVersion::ALL {
            let expected = if version <= last { before } else { after };
            let actual = evaluate(version, expression);
            let is_expected = match expected {
                "does not compile: " => actual.starts_with(expected),
                _ => actual == expected,
            };
            assert!(is_expected, "{version} {expression}: {actual}");
        }
    }
}

/// KV-43: only the errors of time zones are affected, not those of how they come about.
#[test]
fn other_errors_keep_their_text() {
    let expression = "timestamp('2020-01-01T00:00:00Z').getHours({'a': 'b'}['%d'])";
    assert_eq!(evaluate(V1_32, expression), "error: no such key: %d");
}

/// KV-44.
#[test]
fn optionals_weigh_what_their_values_do() {
    let long = "a".repeat(75);
    let expression = format!("optional.of('{long}') == optional.of('{long}b')");
    for version in KubernetesVersion::ALL {
        let program = Environment::default().kubernetes(version).compile(&expression).unwrap();
        let expected = if version == V1_32 { 3 } else { 10 };
        assert_eq!(program.evaluate(&[], BUDGET).cost, expected, "{version}");
    }
}

/// The errors of the rules for an object.
fn rule_errors(
    version: KubernetesVersion,
    schema: &Value,
    object: &Value,
    old: Option<&Value>,
) -> Vec<String> {
    let schema = JsonSchemaProps::from_value(schema).unwrap();
    let mut options = CompileOptions::default();
    options.resource_root = false;
    options.kubernetes = version;
    let validator = Validator::of(&CompiledSchema::of_part(&schema, options), &schema);
    let findings = Rules::new(&schema, &validator).unwrap().check(object, old, BUDGET);
    findings.errors.iter().map(ToString::to_string).collect()
}

/// KV-20: a property `a` with the rule `false`, and how the error shows its value.
#[test]
fn values_of_violated_rules_are_shown_since_1_35() {
    let typed = |type_: &str| json!({"type": type_});
    let table = [
        (typed("string"), json!("x%s\""), r#""string""#, r#""x%s\"""#),
        (typed("integer"), json!(7), r#""integer""#, "7"),
        (typed("number"), json!(1.5), r#""number""#, "1.5"),
        (typed("boolean"), json!(false), r#""boolean""#, "false"),
        (json!({"type": "array", "items": {"type": "string"}}), json!([]), r#""array""#, ""),
        (typed("object"), json!({}), r#""object""#, ""),
        (json!({"x-kubernetes-int-or-string": true}), json!("5%"), r#""""#, r#""5%""#),
        (json!({"x-kubernetes-int-or-string": true}), json!(5), r#""""#, "5"),
    ];
    for (mut property, value, before, after) in table {
        let reasons = [Value::Null, "FieldValueDuplicate".into(), "FieldValueRequired".into()];
        property["x-kubernetes-validations"] =
            reasons.map(|reason| json!({"rule": "false", "message": "m", "reason": reason})).into();
        let schema = json!({"type": "object", "properties": {"a": property}});
        for version in KubernetesVersion::ALL {
            let shown = if version < V1_35 { before } else { after };
            let shown = if shown.is_empty() { String::new() } else { format!("{shown}: ") };
            let errors = rule_errors(version, &schema, &json!({"a": value}), None);
            assert_eq!(errors[0], format!("a: Invalid value: {shown}m"), "{version}");
            let duplicate = format!("a: Duplicate value: {shown}");
            assert_eq!(errors[1], duplicate.trim_end_matches([':', ' ']), "{version}");
            assert_eq!(errors[2], "a: Required value: m", "{version}");
        }
    }
}

/// KV-21: an error that stops a rule shows the type in all versions.
#[test]
fn errors_show_the_type() {
    let schema = json!({"type": "object", "x-kubernetes-validations": [{"rule": "1 / 0 == 1"}],
        "properties": {"a": {"type": "string"}}});
    for version in KubernetesVersion::ALL {
        let errors = rule_errors(version, &schema, &json!({}), None);
        let expected = "<nil>: Invalid value: \"object\": division by zero evaluating rule: \
                        1 / 0 == 1";
        assert_eq!(errors, [expected], "{version}");
    }
}

/// KV-40: two objects, and whether they are equal up to 1.33 and since.
#[test]
fn objects_with_nulls_equal_others_since_1_34() {
    let schema = json!({"type": "object",
    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "m"}],
    "properties": {
        "a": {"type": "string", "nullable": true},
        "b": {"type": "string"},
        "c": {"type": "string", "nullable": true},
    }});
    let table = [
        (json!({"a": null, "b": "x"}), json!({"a": null, "b": "x"}), false, true),
        (json!({"a": null, "b": "x"}), json!({"b": "x", "c": null}), false, true),
        (json!({"a": null, "b": "x"}), json!({"a": "y", "b": "x"}), false, false),
        (json!({"a": "y", "b": "x"}), json!({"a": null, "b": "x"}), false, false),
        // The members are counted first.
        (json!({"a": null, "b": "x"}), json!({"b": "x"}), false, false),
        (json!({"b": "x"}), json!({"a": null, "b": "x"}), false, false),
        (json!({"b": "x"}), json!({"b": "x"}), true, true),
    ];
    for (new, old, before, after) in table {
        for version in KubernetesVersion::ALL {
            let expected = if version < V1_34 { before } else { after };
            let is_equal = rule_errors(version, &schema, &new, Some(&old)).is_empty();
            assert_eq!(is_equal, expected, "{version} {new} {old}");
        }
    }
}

/// The errors of a definition with a schema, at `S`.
fn definition_errors(
    version: KubernetesVersion,
    schema: &Value,
    stored: StoredExpressions,
) -> Vec<String> {
    let schema = StructuralSchema::new(JsonSchemaProps::from_value(schema).unwrap()).unwrap();
    let schema = CheckedSchema::new(&schema).kubernetes(version);
    let checks = RuleChecks { base: FieldPath::default().name("S"), unlimited: false, stored };
    validate_rules(&schema, &checks, |_| true).errors.iter().map(ToString::to_string).collect()
}

/// KV-50: rules on a list of at most three short texts that are too expensive for 1.32 only.
#[test]
fn sizes_are_followed_since_1_33() {
    let rules = [
        "dyn(self.l) == dyn(self.l)",
        "dyn(self.l).all(x, x == 'a')",
        "'%s'.format([optional.of(1) == optional.of(1)]) == ''",
        "optional.of(1) != optional.none()",
    ];
    for rule in rules {
        let list = json!({"type": "array", "maxItems": 3,
            "items": {"type": "string", "maxLength": 3}});
        let schema = json!({"type": "object", "properties": {"l": list},
            "x-kubernetes-validations": [{"rule": rule}]});
        for version in KubernetesVersion::ALL {
            let errors = definition_errors(version, &schema, StoredExpressions::default());
            let is_refused = errors.iter().any(|error| error.contains("more than 100x"));
            assert_eq!(is_refused, version == V1_32, "{version} {rule}: {errors:?}");
            assert_eq!(errors.is_empty(), version > V1_32, "{version} {rule}: {errors:?}");
        }
    }
}

/// KV-51.
#[test]
fn max_length_limits_int_or_string_since_1_34() {
    let items = json!({"x-kubernetes-int-or-string": true, "maxLength": 10,
        "x-kubernetes-validations": [
            {"rule": "type(self) == string ? self.matches('^[0-9]+%$') : true"}]});
    let schema = json!({"type": "object", "properties": {
        "l": {"type": "array", "maxItems": 100, "items": items}}});
    for version in KubernetesVersion::ALL {
        let errors = definition_errors(version, &schema, StoredExpressions::default());
        let is_refused = errors.iter().any(|error| error.contains("by factor of 12.6x"));
        assert_eq!(is_refused, version < V1_34, "{version}: {errors:?}");
        assert_eq!(errors.is_empty(), version >= V1_34, "{version}: {errors:?}");
    }
}

/// CV-06: a rule as errors print it.
#[test]
fn rules_are_shown_in_go_up_to_1_33() {
    let schema = json!({"type": "object", "x-kubernetes-validations": [{"rule": "'a\"'"}]});
    let go = "S.x-kubernetes-validations[0].rule: Invalid value: apiextensions.ValidationRule{\
              Rule:\"'a\\\"'\", Message:\"\", MessageExpression:\"\", \
              Reason:(*apiextensions.FieldValueErrorReason)(nil), FieldPath:\"\", \
              OptionalOldSelf:(*bool)(nil)}: cel expression must evaluate to a bool";
    let json = "S.x-kubernetes-validations[0].rule: Invalid value: {\"Rule\":\"'a\\\"'\",\
                \"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,\"FieldPath\":\"\",\
                \"OptionalOldSelf\":null}: cel expression must evaluate to a bool";
    for version in KubernetesVersion::ALL {
        let expected = if version < V1_34 { go } else { json };
        let errors = definition_errors(version, &schema, StoredExpressions::default());
        assert_eq!(errors, [expected], "{version}");
    }
}

/// CV-91, KV-30: an expression that is stored may use what came with the server's own version; for
/// rules and for message expressions each.
#[test]
fn stored_expressions_may_use_more() {
    let sorted = "[2, 1].sort() == [1, 2]";
    let message = "semver('1.0.0').major() == 1 ? 'a' : 'b'";
    let schema = json!({"type": "object", "x-kubernetes-validations": [
        {"rule": sorted}, {"rule": "true", "messageExpression": message}]});
    let count = |version, stored: &[(&str, &str)]| {
        let stored = StoredExpressions::new(stored.iter().copied());
        definition_errors(version, &schema, stored).len()
    };
    assert_eq!(count(V1_34, &[]), 1);
    assert_eq!(count(V1_34, &[(sorted, "")]), 0);
    assert_eq!(count(V1_34, &[("true", sorted)]), 1);
    assert_eq!(count(V1_33, &[]), 2);
    assert_eq!(count(V1_33, &[(sorted, message)]), 1);
    assert_eq!(count(V1_35, &[]), 0);
}

/// DF-45, KV-30: defaults are checked with all libraries of the server, whatever new rules may use.
#[test]
fn defaults_are_checked_with_all_libraries() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer", "default": 1,
        "x-kubernetes-validations": [{"rule": "[2, self].sort() == [1, 2]"}]}}});
    let schema = StructuralSchema::new(JsonSchemaProps::from_value(&schema).unwrap()).unwrap();
    let findings = |version| {
        let schema = CheckedSchema::new(&schema).kubernetes(version);
        let root = schema.compiled().clone();
        let node = root.root().property("a").unwrap().edge().node();
        schema.check_default(node, &json!(1), &FieldPath::default(), BUDGET).errors.len()
    };
    assert_eq!(KubernetesVersion::ALL.map(findings), [1, 1, 0, 0, 0]);
}
