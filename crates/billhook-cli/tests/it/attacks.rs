//! Definitions that `check` accepts and objects of up to three megabytes, made to use up memory or
//! time. The command runs with limits that end it if it takes more than any request may: two
//! gigabytes, ten seconds (many more without optimization), a small stack.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

const MEMORY_KILOBYTES: u64 = 2 << 20;
const STACK_KILOBYTES: u64 = 2048;
const CPU_SECONDS: u64 = if cfg!(debug_assertions) { 120 } else { 10 };

/// Stands where the schema of `spec` goes.
const SPEC: &str = "(spec)";

/// A definition and an object, as files.
struct Attack {
    folder: PathBuf,
}

impl Attack {
    /// Writes a definition whose `spec` has a schema, and an object.
    fn new(name: &str, spec: &Value, object: &Value) -> Attack {
        Self::of_text(name, &spec.to_string(), object)
    }

    fn of_text(name: &str, spec: &str, object: &Value) -> Attack {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("attack-{name}"));
        fs::create_dir_all(&folder).unwrap();
        let schema = json!({"type": "object", "properties": {"spec": SPEC}});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": schema},
                }],
            },
        });
        let object = json!({
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "metadata": {"name": "a", "namespace": "default"},
            "spec": object,
        });
        let definition = definition.to_string().replacen(&json!(SPEC).to_string(), spec, 1);
        fs::write(folder.join("crd.json"), definition).unwrap();
        fs::write(folder.join("object.json"), object.to_string()).unwrap();
        Attack { folder }
    }

    /// Runs the command on the files; returns its exit status and what it printed.
    #[track_caller]
    fn run(&self, arguments: &str) -> (i32, String) {
        self.run_within(MEMORY_KILOBYTES, arguments)
    }

    #[track_caller]
    fn run_within(&self, memory_kilobytes: u64, arguments: &str) -> (i32, String) {
        let limits = format!(
            "ulimit -v {memory_kilobytes} && ulimit -s {STACK_KILOBYTES} && ulimit -t {CPU_SECONDS} \
             && exec \"$0\" \"$@\""
        );
        let output = Command::new("sh")
            .args(["-c", &limits, env!("CARGO_BIN_EXE_billhook")])
            .args(arguments.split_whitespace())
            .current_dir(&self.folder)
            .output()
            .unwrap();
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let Some(status) = output.status.code() else {
            panic!("{arguments}: {}: {shown:.500}", output.status)
        };
        (status, shown)
    }

    /// The definition is accepted; returns what `validate` says about the object.
    #[track_caller]
    fn validate(&self) -> (i32, String) {
        let (status, shown) = self.run("check crd.json");
        assert_eq!(status, 0, "{shown:.500}");
        self.run("validate --crd crd.json object.json")
    }

    #[track_caller]
    fn is_valid(&self) {
        let (status, shown) = self.validate();
        assert_eq!(status, 0, "{shown:.500}");
    }

    #[track_caller]
    fn is_refused(&self, because: &str) {
        let (status, shown) = self.validate();
        assert_eq!(status, 1, "{shown:.500}");
        assert!(shown.contains(because), "{shown:.500}");
    }
}

/// A `spec` with a rule.
fn ruled(rule: &str, properties: &Value) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "x-kubernetes-validations": [{"rule": rule}],
    })
}

fn nested(of: &str, step: &str, times: usize) -> String {
    (0..times).fold(of.to_owned(), |inner, _| format!("[{inner}].map(x, {step})[0]"))
}

#[test]
fn a_list_that_doubles() {
    let list = nested("[1, 2, 3, 4]", "x + x", 40);
    Attack::new("list", &ruled(&format!("{list}.size() > 0"), &json!({})), &json!({})).is_valid();
}

#[test]
fn a_list_whose_elements_double() {
    let list = nested("[]", "[x, x]", 60);
    let rule = format!("{list} == {list}");
    let attack = Attack::new("tree", &ruled(&rule, &json!({})), &json!({}));
    attack.is_refused("its functions look at more than 134217728 values");
}

#[test]
fn texts_that_cost_nothing() {
    let properties = json!({
        "l": {"type": "array", "maxItems": 1000, "items": {"type": "integer"}},
        "t": {"type": "string"},
    });
    let rule = "self.l.map(x, '%s'.format([self.t])).size() > 0";
    let object = json!({"l": vec![1; 1000], "t": "x".repeat(2 << 20)});
    let attack = Attack::new("texts", &ruled(rule, &properties), &object);
    attack.is_refused("the values that it makes take more than 512 MiB of memory");
}

#[test]
fn patterns_with_large_classes() {
    let pattern = |index: usize| format!(r"x{index}[\pL\pN]{{0,500}}[^\pL]{{0,500}}");
    let property =
        |index| (format!("p{index}"), json!({"type": "string", "pattern": pattern(index)}));
    let properties: serde_json::Map<_, _> = (0..300).map(property).collect();
    let object: serde_json::Map<_, _> =
        (0..300).map(|index| (format!("p{index}"), json!(format!("x{index}é")))).collect();
    let schema = json!({"type": "object", "properties": properties});
    Attack::new("patterns", &schema, &Value::Object(object)).is_valid();
}

#[test]
fn patterns_in_rules() {
    let rule = |index| {
        let pattern = format!(r"x{index}|[\\pL\\pN]{{0,500}}[^\\pL]{{0,500}}");
        json!({"rule": format!("'a'.matches('{pattern}')")})
    };
    let rules: Vec<Value> = (0..100).map(rule).collect();
    let schema = json!({"type": "object", "x-kubernetes-validations": rules});
    Attack::new("rule-patterns", &schema, &json!({})).is_valid();
}

#[test]
fn patterns_in_values() {
    let properties = json!({
        "l": {"type": "array", "maxItems": 100, "items": {"type": "string", "maxLength": 100}},
    });
    let values: Vec<String> =
        (0..100).map(|index| format!(r"x{index}|[\pL\pN]{{0,500}}[^\pL]{{0,500}}")).collect();
    let schema = ruled("self.l.all(x, 'a'.matches(x))", &properties);
    Attack::new("value-patterns", &schema, &json!({"l": values})).is_valid();
}

/// The state of this search is a set of 500 places that no two positions share.
#[test]
fn a_pattern_that_remembers() {
    let mut state = 1_u32;
    let random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(if state >> 31 == 0 { 'a' } else { 'b' })
    };
    let text: String = std::iter::from_fn(random).take(3 << 20).collect();
    let schema = json!({"type": "string", "pattern": "(?:a|b)*a(?:a|b){500}c$"});
    let attack = Attack::new("memory", &schema, &json!(text));
    attack.is_refused("but matching takes too many steps");
}

#[test]
fn defaults_of_a_megabyte() {
    let text = json!({"type": "string", "default": "x".repeat(1_000_000)});
    let items = json!({"type": "object", "properties": {"a": text}});
    let schema = json!({"type": "array", "items": items});
    let attack = Attack::new("defaults", &schema, &json!(vec![json!({}); 10_000]));
    let limit = "the defaults of the object take more than 268435456 bytes of memory";
    for command in ["validate", "decode", "decode --check", "decode --report json", "admit"] {
        let (status, shown) = attack.run(&format!("{command} --crd crd.json object.json"));
        assert!(matches!(status, 1 | 2), "{command}: {shown:.500}");
        assert!(shown.contains(limit), "{command}: {shown:.500}");
    }
}

#[test]
fn defaults_of_millions_of_values() {
    let text = json!({"type": "array", "items": {"type": "integer"}, "default": vec![0; 100_000]});
    let items = json!({"type": "object", "properties": {"a": text}});
    let schema = json!({"type": "array", "items": items});
    let attack = Attack::new("default-values", &schema, &json!(vec![json!({}); 10_000]));
    let (_, shown) = attack.run("validate --crd crd.json object.json");
    assert!(shown.contains("the defaults of the object take more than"), "{shown:.500}");
}

/// A default at each of so many levels, each of which has all levels below it in it: half a million
/// small objects, which are kept twice, as they were read and for the schema.
#[test]
fn defaults_at_each_level() {
    const MEGABYTE: u64 = 1 << 10;
    let (mut schema, mut value) = (r#"{"type":"string"}"#.to_owned(), "\"\"".to_owned());
    for _ in 0..1000 {
        value = format!(r#"{{"a":{value}}}"#);
        schema = format!(r#"{{"type":"object","default":{value},"properties":{{"a":{schema}}}}}"#);
    }
    let attack = Attack::of_text("levels", &schema, &json!({}));
    for command in ["check", "validate --crd crd.json", "decode -q --crd crd.json"] {
        let of = if command == "check" { "crd.json" } else { "object.json" };
        let (status, shown) = attack.run_within(800 * MEGABYTE, &format!("{command} {of}"));
        assert_eq!(status, 0, "{shown:.500}");
    }
}

/// A report is printed while it is put together; what it takes as text, or as a tree, is more than
/// the limit.
#[test]
fn reports_of_many_changes() {
    let items = json!({"type": "object", "properties": {"a": {"type": "integer", "default": 1}}});
    let schema = json!({"type": "array", "items": items});
    let attack = Attack::new("changes", &schema, &json!(vec![json!({}); 200_000]));
    let arguments = "decode -q --check --report json --crd crd.json object.json";
    let (status, shown) = attack.run_within(400 << 10, arguments);
    assert_eq!(status, 1, "{shown:.500}");
    assert!(shown.contains("spec[199999].a"), "{shown:.500}");
}

/// The place of a value among many entries is not searched.
#[test]
fn enums_of_many_entries() {
    let of = |prefix: &str| -> Vec<String> {
        (0..100_000).map(|index| format!("{prefix}{index}")).collect()
    };
    let schema = json!({"type": "array", "items": {"type": "string", "enum": of("v")}});
    let attack = Attack::new("enum", &schema, &json!(of("v")));
    attack.is_valid();
    let lists = |last: usize| -> Vec<Value> {
        (0..100_000).map(|index| json!([0, 0, 0, index % last])).collect()
    };
    let item = json!({"type": "array", "items": {"type": "integer"}, "enum": lists(100_000)});
    let schema = json!({"type": "array", "items": item});
    Attack::new("enum-lists", &schema, &json!(lists(50_000))).is_valid();
}

/// Branches multiply with what they are for: every one is tried with every item, for the verdict and
/// then, where no branch fits, for the errors.
#[test]
fn alternatives_of_many_items() {
    let branches: Vec<Value> =
        (0..50_000).map(|index| json!({"enum": [format!("v{index}")]})).collect();
    for (junctor, item) in [("anyOf", "v49999"), ("oneOf", "w")] {
        let schema = json!({"type": "array", "items": {"type": "string", junctor: branches}});
        let attack = Attack::new(junctor, &schema, &json!(vec![item; 300_000]));
        attack.is_refused("take more than 16777216 steps to check");
    }
}

/// Each branch looks at the whole list, or at the whole text.
#[test]
fn alternatives_of_large_values() {
    let branches: Vec<Value> = (0..20_000).map(|index| json!({"maxLength": index})).collect();
    let text = json!({"type": "string", "anyOf": branches});
    let because = "take more than 16777216 steps to check";
    Attack::new("anyOf-text", &text, &json!("é".repeat(1 << 20))).is_refused(because);
    let branch = |index| json!({"items": {"not": {"enum": [index]}}, "minItems": 1 << 30});
    let branches: Vec<Value> = (0..20_000).map(branch).collect();
    let item = json!({"type": "integer"});
    let list = json!({"type": "array", "items": item, "anyOf": branches});
    Attack::new("anyOf-list", &list, &json!(vec![-1; 500_000])).is_refused(because);
}

/// Each condition looks at a tree with 2^60 leaves; all together may look at no more than one may
/// alone.
#[test]
fn conditions_that_cost_nothing() {
    let tree = nested("[]", "[x, x]", 60);
    let condition =
        |index| json!({"name": format!("c{index}"), "expression": format!("{tree} == {tree}")});
    let conditions: Vec<Value> = (0..64).map(condition).collect();
    let webhook = |index| {
        json!({
            "name": format!("w{index}.example.com"),
            "clientConfig": {"url": "https://example.com"},
            "rules": [{
                "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"],
            }],
            "matchConditions": conditions,
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        })
    };
    let webhooks: Vec<Value> = (0..4).map(webhook).collect();
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "conditions"},
        "webhooks": webhooks,
    });
    let attack = Attack::new("conditions", &json!({"type": "object"}), &json!({}));
    fs::write(attack.folder.join("webhooks.json"), configuration.to_string()).unwrap();
    let (status, shown) = attack.run("match --webhooks webhooks.json --crd crd.json object.json");
    assert_eq!(status, 1, "{shown:.500}");
    assert!(shown.contains("look at more than 134217728 values"), "{shown:.500}");
}

/// Many validations of one policy, none of which makes too much alone (CE-36).
#[test]
fn many_validations() {
    let validations: Vec<Value> =
        (0..520).map(|_| json!({"expression": "'%s'.format([object.spec.t]) != ''"})).collect();
    let group = "admissionregistration.k8s.io/v1";
    let rule = json!({"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"],
        "operations": ["*"]});
    let policies = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
            "spec": {"matchConstraints": {"resourceRules": [rule]}, "validations": validations}},
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "b"},
            "spec": {"policyName": "p", "validationActions": ["Deny"]}},
    ]});
    let text = json!({"type": "object", "properties": {"t": {"type": "string"}}});
    let attack = Attack::new("validations", &text, &json!({"t": "x".repeat(1 << 20)}));
    fs::write(attack.folder.join("policies.json"), policies.to_string()).unwrap();
    let (status, shown) = attack.run("admit --policies policies.json --crd crd.json object.json");
    assert_eq!(status, 1, "{shown:.500}");
    assert!(shown.contains("more than 512 MiB of memory"), "{shown:.500}");
}

/// Each unknown field has a path of a thousand steps, and so has its schema; what leads there is
/// not copied at each step.
#[test]
fn unknown_fields_in_a_deep_schema() {
    const DEPTH: usize = 1000;
    let schema = (0..DEPTH).fold(r#"{"type":"object"}"#.to_owned(), |inner, _| {
        format!(r#"{{"type":"object","properties":{{"a":{inner}}}}}"#)
    });
    let fields = (0..3000).map(|index| (format!("x{index}"), json!(1))).collect();
    let object = (0..DEPTH).fold(Value::Object(fields), |inner, _| json!({"a": inner}));
    let attack = Attack::of_text("deep-unknown", &schema, &object);
    for command in ["decode --check", "validate"] {
        let (_, shown) = attack.run(&format!("{command} --crd crd.json object.json"));
        assert!(shown.contains("x2999"), "{command}: {shown:.500}");
    }
}

/// A finding takes much more memory than the field that it is about, so there are only so many; the last
/// says how many are left out.
#[test]
fn more_unknown_fields_than_findings() {
    let fields = (0..100_000).map(|index| (format!("x{index}"), json!(1))).collect();
    let attack = Attack::new("more-unknown", &json!({"type": "object"}), &Value::Object(fields));
    for (command, status) in
        [("validate --format json", 0), ("validate --strict --format json", 1), ("validate", 0)]
    {
        let arguments = format!("{command} --crd crd.json object.json");
        let (found, shown) = attack.run_within(400 << 10, &arguments);
        assert_eq!(found, status, "{command}: {shown:.500}");
        let left_out = "not shown: 90,000 more findings about this object";
        assert!(shown.contains(left_out), "{command}: {shown:.500}");
    }
    let (_, shown) =
        attack.run_within(400 << 10, "decode -q --check --report json --crd crd.json object.json");
    assert!(shown.contains("unknown field \\\"spec.x99999\\\""), "{shown:.500}");
}

/// Each unknown field may be meant for any known one.
#[test]
fn unknown_fields_among_many() {
    let names = |end: &'static str| {
        (0..10_000).map(move |index| format!("aFieldOfSomeLength{index:06}{end}"))
    };
    let known = names("").map(|name| (name, json!({"type": "string"})));
    let schema = json!({"type": "object", "properties": Value::Object(known.collect())});
    let fields = names("x").map(|name| (name, json!(1)));
    let attack = Attack::new("many-unknown", &schema, &Value::Object(fields.collect()));
    let (_, shown) = attack.run("validate --crd crd.json object.json");
    assert!(shown.contains("did you mean `aFieldOfSomeLength000000`?"), "{shown:.500}");
    assert!(shown.contains("aFieldOfSomeLength009999x"), "{shown:.500}");
}

/// A name may end at each dot.
#[test]
fn a_name_of_dots() {
    let schema = json!({"type": "object"});
    let object = json!({".".repeat(2 << 20): 1, "typo": 1});
    let (_, shown) =
        Attack::new("dots", &schema, &object).run("validate --crd crd.json object.json");
    assert!(shown.contains("spec.typo"), "{shown:.500}");
}
