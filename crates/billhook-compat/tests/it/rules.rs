//! Rules that follow from the old definition, and rules that only seem to.

use billhook_compat::{Question, Verdict};
use serde_json::{Value, json};

use crate::support::{compared, definition, lines, spec_of};

/// Whether a change of a schema is proved to be safe for who writes.
#[track_caller]
fn check(name: &str, old: Value, new: Value, is_safe: bool) {
    let comparison = compared(&definition(old), &definition(new));
    let mut answers = comparison.answers.iter().filter(|it| it.question == Question::Writers);
    let is_proved = answers.all(|it| it.verdict == Verdict::Safe);
    assert_eq!(is_proved, is_safe, "{name}:\n{}", lines(&comparison));
}

/// A schema with rules.
fn with(mut schema: Value, rules: &[&str]) -> Value {
    let rules: Vec<Value> = rules.iter().map(|rule| json!({"rule": rule})).collect();
    schema["x-kubernetes-validations"] = rules.into();
    schema
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

/// CC-14: what the old schema says of what a rule reads is a premise.
#[test]
fn rules_follow_from_the_schema() {
    let text = json!({"type": "string"});
    let fields = object(&json!({"a": text, "b": text}));
    let more = object(&json!({"a": text, "b": text, "c": text}));
    check("new field", fields.clone(), with(more.clone(), &["!has(self.c) || self.c != ''"]), true);
    check(
        "new and old field",
        fields.clone(),
        with(more.clone(), &["!(has(self.c) && has(self.a))"]),
        true,
    );
    let defaulted = object(&json!({"a": text, "b": text, "c": {"type": "string", "default": "x"}}));
    check("new field with a default", fields.clone(), with(defaulted, &["!has(self.c)"]), false);

    let one_of = |names: &[&str]| {
        let tests: Vec<String> = names.iter().map(|name| format!("has(self.{name})")).collect();
        format!("[{}].filter(x, x).size() == 1", tests.join(", "))
    };
    check(
        "union grown",
        with(fields.clone(), &[&one_of(&["a", "b"])]),
        with(more.clone(), &[&one_of(&["a", "b", "c"])]),
        true,
    );
    check(
        "union in other words",
        with(fields.clone(), &["has(self.a) != has(self.b)"]),
        with(fields.clone(), &["(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) == 1"]),
        true,
    );

    let short = json!({"type": "string", "maxLength": 5, "pattern": "^[a-z]*$"});
    check("length", short.clone(), with(short.clone(), &["self.size() <= 5"]), true);
    check("shorter", short.clone(), with(short.clone(), &["self.size() <= 4"]), false);
    check("pattern", short.clone(), with(short.clone(), &["!self.contains('.')"]), true);
    let modes = json!({"type": "string", "enum": ["x", "y"]});
    check("enum", modes.clone(), with(modes.clone(), &["self != 'z'"]), true);
    check("entry", modes.clone(), with(modes, &["self != 'y'"]), false);

    let lists = |sum: &str| {
        let list = json!({"type": "array", "maxItems": 99, "items": {"type": "boolean"}});
        with(object(&json!({"a": list, "b": list})), &[sum])
    };
    let few = lists("!has(self.a) || !has(self.b) || size(self.a) + size(self.b) <= 16");
    let four_more =
        lists("!has(self.a) || !has(self.b) || self.a.size() + self.b.size() + 4 <= 20");
    check("sums of sizes", few.clone(), four_more.clone(), true);
    check(
        "smaller sums",
        four_more,
        lists("!has(self.a) || !has(self.b) || size(self.a) < 16"),
        false,
    );
    let one = lists("!has(self.a) || !has(self.b) || size(self.a) < 17");
    check("one of the sizes", few, one, true);

    let mut required = fields.clone();
    required["required"] = json!(["a"]);
    check(
        "required",
        required.clone(),
        with(required, &["has(self.a) && self.a.size() >= 0"]),
        true,
    );

    let list = |item: Value| json!({"type": "array", "items": item, "maxItems": 3});
    check(
        "elements",
        with(list(short.clone()), &["self.all(x, x.size() > 2)"]),
        with(list(short.clone()), &["self.all(item, 2 < item.size() && item.size() < 6)"]),
        true,
    );
    // What a filter keeps is only counted.
    let unique = ["self.all(x, self.filter(y, y.a == x.a).size() == 1)"];
    let of = |item: &Value| {
        let mut list = with(list(item.clone()), &unique);
        list["items"]["required"] = json!(["a"]);
        list
    };
    check("other fields of elements", of(&fields), of(&more), true);
    check("items", list(short.clone()), with(list(short), &["self.size() < 4"]), true);
}

/// CC-14: wherever rules can read an integer, it is within its bounds; and elements of sets and of
/// list maps differ.
#[test]
fn rules_follow_from_what_rules_read() {
    let number = |more: Value| {
        let mut number = json!({"type": "integer", "format": "int32"});
        number.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        number
    };
    let bounded = || number(json!({"minimum": 1, "maximum": 9}));
    let (more, least) = (&["self > 3"], &["self >= 4"]);
    check("integers", with(number(json!({})), more), with(number(json!({})), least), true);
    check("too few", with(number(json!({})), more), with(number(json!({})), &["self >= 5"]), false);
    check(
        "bounds",
        with(bounded(), &["self != 1"]),
        with(bounded(), &["self in [2, 3, 4, 5, 6, 7, 8, 9]"]),
        true,
    );
    let fields = |rule: &str| {
        with(
            object(&json!({"a": bounded(), "b": bounded()})),
            &["has(self.a) && self.a + self.b < 9", rule],
        )
    };
    check("fields", fields("true"), fields("self.a >= 1 && self.b < 10"), true);
    let mut required = object(&json!({"a": bounded()}));
    required["required"] = json!(["a"]);
    check("whole floats", required.clone(), with(required, &["self.a >= 1"]), false);
    let numbers = object(&json!({"a": {"type": "number", "minimum": 1}}));
    let (some, next) = (&["has(self.a) && self.a > 3"], &["has(self.a) && self.a >= 4"]);
    check("other numbers", with(numbers.clone(), some), with(numbers, next), false);

    let list = |more: Value| {
        let text = json!({"type": "string", "maxLength": 9});
        let item =
            json!({"type": "object", "required": ["a"], "properties": {"a": text, "b": text}});
        let mut list = json!({"type": "array", "maxItems": 9, "items": item});
        list.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        list
    };
    let map =
        || list(json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}));
    let filtered = "self.all(x, self.filter(y, y.a == x.a).size() == 1)";
    let one = "self.all(x, self.exists_one(y, x.a == y.a))";
    check("keys", map(), with(map(), &[filtered]), true);
    check(
        "other fields",
        map(),
        with(map(), &["self.all(x, self.exists_one(y, x.b == y.b))"]),
        false,
    );
    check("no keys", list(json!({})), with(list(json!({})), &[one]), false);
    check("two spellings", with(list(json!({})), &[filtered]), with(list(json!({})), &[one]), true);

    // What no element is, is not counted.
    let modes = |entries: Value| {
        let item = object(&json!({"mode": {"type": "string", "enum": entries}}));
        json!({"type": "array", "maxItems": 9, "items": item})
    };
    let few = &["self.filter(x, has(x.mode) && x.mode == 'C').size() <= 1"];
    check("new entry", modes(json!(["A", "B"])), with(modes(json!(["A", "B", "C"])), few), true);
    check("old entry", modes(json!(["A", "C"])), with(modes(json!(["A", "B", "C"])), few), false);
}

/// Keywords follow from the rules that they take the place of.
#[test]
fn keywords_follow_from_rules() {
    let number = |more: Value| {
        let mut number = json!({"type": "integer"});
        number.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        number
    };
    let ruled = || with(number(json!({})), &["self >= 1"]);
    check("minimum", ruled(), number(json!({"minimum": 1})), true);
    check("larger minimum", ruled(), number(json!({"minimum": 2})), false);
    check("maximum", ruled(), number(json!({"maximum": 2})), false);
    let text = json!({"type": "string"});
    let plain = || with(text.clone(), &["self.matches('^[a-z]{1,8}$')"]);
    check("maxLength", plain(), json!({"type": "string", "maxLength": 8, "minLength": 1}), true);
    check("pattern", plain(), json!({"type": "string", "pattern": "^[a-z]+$"}), true);
    check("narrower pattern", plain(), json!({"type": "string", "pattern": "^[a-f]+$"}), false);
    let modes = || with(text.clone(), &["self == 'x' || self == 'y'"]);
    check("enum", modes(), json!({"type": "string", "enum": ["x", "y", "z"]}), true);
    check("smaller enum", modes(), json!({"type": "string", "enum": ["x"]}), false);
    let fields = object(&json!({"a": text, "b": text}));
    let mut required = fields.clone();
    required["required"] = json!(["a"]);
    check(
        "required",
        with(fields.clone(), &["has(self.a) && self.a != ''"]),
        required.clone(),
        true,
    );
    check("required otherwise", with(fields, &["has(self.a) || has(self.b)"]), required, false);
}

/// Premises stop where a server decodes otherwise than the schema suggests.
#[test]
fn rules_that_only_seem_to_follow() {
    // 7.0 is an integer to the schema, and not to rules (CE-06).
    let number = json!({"type": "integer", "minimum": 1});
    check("whole floats", number.clone(), with(number, &["self >= 1"]), false);
    // A format admits lists (VV-12).
    let format = json!({"type": "string", "format": "uuid", "maxLength": 50});
    check("formats", format.clone(), with(format, &["self.size() < 60"]), false);
    // Null is absent to rules (CE-04).
    let nullable = |rules: &[&str]| {
        let part = json!({"type": "string", "nullable": true});
        let mut object = object(&json!({"a": part}));
        object["required"] = json!(["a"]);
        with(object, rules)
    };
    check("null", nullable(&[]), nullable(&["has(self.a)"]), false);
    // A list that keeps unknown fields keeps them in its elements (PR-21).
    let kept = |item: Value| json!({"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": item});
    let (old, new) = (
        json!({"a": {"type": "string"}}),
        json!({"a": {"type": "string"}, "b": {"type": "string"}}),
    );
    check("kept", kept(object(&old)), kept(with(object(&new), &["!has(self.b)"])), false);
    // A rule that does not compile refuses all objects.
    let bare = object(
        &json!({"a": {"type": "object", "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true}}}),
    );
    let mut more = bare.clone();
    more["properties"]["b"] = json!({"type": "string"});
    check("not accessible", bare, with(more, &["!(has(self.b) && has(self.a))"]), false);
}

/// An object that is refused for something else shows nothing about a rule (CC-03).
#[test]
fn witnesses_violate_the_rule_that_they_are_about() {
    let modes = |entries: Value| {
        let number = json!({"type": "integer"});
        object(&json!({"mode": {"type": "string", "enum": entries}, "a": number}))
    };
    let old = modes(json!(["full", "fast"]));
    let new = with(modes(json!(["full"])), &["!has(self.a) || self.a >= 4"]);
    let answers = compared(&definition(old), &definition(new)).answers;
    let about_rule = |it: &&billhook_compat::Answer| it.change.starts_with("rule added");
    let answer =
        answers.iter().filter(about_rule).find(|it| it.question == Question::Writers).unwrap();
    assert_eq!(answer.verdict, Verdict::Breaks);
    assert_eq!(answer.witness.as_ref().unwrap()["spec"], json!({"a": 0}));
}

/// A status that is written on its own is judged on its own.
#[test]
fn rules_of_a_status() {
    let of = |status: Value| {
        let mut definition = definition(object(&json!({})));
        let version = &mut definition["spec"]["versions"][0];
        version["subresources"] = json!({"status": {}});
        version["schema"]["openAPIV3Schema"]["properties"]["status"] =
            object(&json!({"refs": {"type": "array", "items": status}}));
        definition
    };
    let number = json!({"type": "integer", "format": "int32", "minimum": 1, "maximum": 65535});
    let reference = object(&json!({"port": number, "name": {"type": "string"}}));
    let ruled = with(reference.clone(), &["!has(self.port) || self.port + 1 <= 23"]);
    let comparison = compared(&of(reference), &of(ruled));
    let open = comparison.answers.iter().filter(|it| it.verdict == Verdict::Breaks);
    assert_eq!(open.count(), 2, "{}", lines(&comparison));
    // An update of it is one of the status.
    let phase = |rules: &[&str]| {
        let mut definition = of(object(&json!({})));
        let version = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        version["properties"]["status"]["properties"]["phase"] =
            with(json!({"type": "string"}), rules);
        definition
    };
    let comparison = compared(&phase(&[]), &phase(&["self == oldSelf"]));
    let writers = comparison.answers.iter().find(|it| it.question == Question::Writers).unwrap();
    assert_eq!(writers.verdict, Verdict::Breaks, "{}", lines(&comparison));
}

/// CE-40: a transition rule is not asked of what no update correlates.
#[test]
fn rules_that_are_never_asked() {
    let list = |rules: Value| {
        let item = json!({"type": "string", "x-kubernetes-validations": rules});
        definition(spec_of(json!({"type": "array", "items": item})))
    };
    let (old, new) = (list(json!([])), list(json!([{"rule": "self == oldSelf"}])));
    let found = compared(&old, &new);
    let writers = found.answers.iter().filter(|it| it.question == Question::Writers);
    assert!(writers.clone().all(|it| it.verdict == Verdict::Safe), "{}", lines(&found));
    // It is the definition that a server refuses.
    assert_eq!(found.verdict(), Verdict::Breaks, "{}", lines(&found));
    // Without the field, nothing is asked what it is.
    let spec = |required: Value, more: Value, rules: Value| {
        let mut fields = json!({"b": {"type": "integer"}});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        definition(json!({
            "type": "object", "properties": fields, "required": required,
            "x-kubernetes-validations": rules,
        }))
    };
    let old = spec(json!([]), json!({}), json!([]));
    let new = spec(
        json!(["name"]),
        json!({"name": {"type": "string"}}),
        json!([{"rule": "self.name != 'postgres'"}]),
    );
    let found = compared(&old, &new);
    let undecided = found.answers.iter().filter(|it| it.verdict == Verdict::Undecided);
    assert_eq!(undecided.count(), 0, "{}", lines(&found));
    assert!(lines(&found).contains("writers: breaks spec.name: required added"));
}

/// CE-03, CE-04: rules are not asked of null, and a field that is null is absent to them.
#[test]
fn rules_beside_null() {
    let spec = |nullable: bool, rule: &str| {
        let kind = json!({"type": "string", "nullable": nullable});
        definition(json!({
            "type": "object", "nullable": nullable,
            "properties": {"kind": kind, "header": {"type": "string"}},
            "x-kubernetes-validations": [{"rule": rule}],
        }))
    };
    let rule = "!has(self.kind) || self.kind != 'Header' || has(self.header)";
    for (old, new) in [(false, true), (true, false)] {
        let found = compared(&spec(old, rule), &spec(new, rule));
        assert!(!lines(&found).contains("types that a rule sees"), "{}", lines(&found));
    }
}

/// Each object has its type and its metadata, and what rules forbid is in none.
#[test]
fn rules_of_whole_objects() {
    let whole = |more: Value, rule: &str| {
        let mut crd =
            definition(json!({"type": "object", "properties": {"b": {"type": "string"}}}));
        let schema = &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
        schema["properties"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema["x-kubernetes-validations"] = json!([{"rule": rule}]);
        crd
    };
    let old = whole(json!({}), "true");
    for rule in ["has(self.kind) && has(self.metadata)", "has(self.kind) || !has(oldSelf.kind)"] {
        let found = compared(&old, &whole(json!({}), rule));
        assert_eq!(found.verdict(), Verdict::Safe, "{}", lines(&found));
    }
    let more = json!({"more": {"type": "string"}});
    let found = compared(&whole(more, "!(has(self.more) && has(self.kind))"), &old);
    assert!(!lines(&found).contains("writers: undecided"), "{}", lines(&found));
}
