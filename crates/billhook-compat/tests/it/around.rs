//! Changes that are decided only together with what is around them.

use billhook_compat::{Question, Verdict};
use serde_json::{Value, json};

use crate::support::{answered, compared, definition, lines, with};

use Question::{Appliers, Stored, Writers};
use Verdict::{Breaks, Safe, Undecided};

/// Checks the answer to a question about a change of `spec`, whatever else is answered.
#[track_caller]
fn check(
    name: &str,
    question: Question,
    wanted: Verdict,
    old: impl Into<Value>,
    new: impl Into<Value>,
) {
    answered(name, question, wanted, &definition(old), &definition(new));
}

fn object(properties: impl Into<Value>, required: impl Into<Value>) -> Value {
    json!({"type": "object", "properties": properties.into(), "required": required.into()})
}

fn ruled(schema: Value, rules: &[&str]) -> Value {
    let rules: Vec<Value> = rules.iter().map(|rule| json!({"rule": rule})).collect();
    with(schema, json!({"x-kubernetes-validations": rules}))
}

/// DF-20: a default is set where a field is missed, which one that is required never is.
#[test]
fn defaults_of_required_fields() {
    let fields = |more: Value, required: Value| {
        object(json!({"a": with(json!({"type": "string"}), more)}), required)
    };
    let default = json!({"default": "x"});
    let required = || json!(["a"]);
    check(
        "required",
        Writers,
        Safe,
        fields(json!({}), required()),
        fields(default.clone(), required()),
    );
    check(
        "optional",
        Writers,
        Breaks,
        fields(json!({}), json!([])),
        fields(default.clone(), required()),
    );
    check("removed", Writers, Breaks, fields(default, required()), fields(json!({}), required()));
}

/// CE-04: a list is a list to rules, atomic or not, and a number has no format.
#[test]
fn rules_do_not_see_all_keywords() {
    let modes = json!({"type": "string", "enum": ["x", "y"]});
    let list = |more: Value| with(json!({"type": "array", "maxItems": 3, "items": modes}), more);
    let atomic = json!({"x-kubernetes-list-type": "atomic"});
    let told = &["self.all(x, x != 'z')"];
    check("atomic", Writers, Safe, list(json!({})), ruled(list(atomic.clone()), told));
    let set = json!({"x-kubernetes-list-type": "set"});
    check("set", Writers, Breaks, list(json!({})), ruled(list(set), &["self != self + self"]));
    let numbers = |more: Value| {
        let number = json!({"type": "integer", "maximum": 10});
        let part = object(json!({"a": with(number, more), "b": {"type": "string"}}), json!([]));
        ruled(object(json!({"part": part}), json!([])), &["self.part.a < 9"])
    };
    let format = |name: &str| numbers(json!({"format": name}));
    check("format", Writers, Safe, format("int32"), format("int64"));
}

/// CC-21: the violation of a number is forgiven, whatever rules around say of it.
#[test]
fn formats_of_stored_numbers() {
    let number = |more: Value| {
        let fields = json!({"a": with(json!({"type": "integer"}), more), "b": {"type": "integer"}});
        ruled(object(fields, json!([])), &["!has(self.a) || self.a > 0"])
    };
    check("int32", Stored, Safe, number(json!({})), number(json!({"format": "int32"})));
}

/// VV-20, VV-25, VV-70: what other keywords leave over.
#[test]
fn keywords_that_follow_from_others() {
    let text = |more: Value| object(json!({"a": with(json!({"type": "string"}), more)}), json!([]));
    let date = json!({"format": "date-time"});
    let long = |least: i64| with(date.clone(), json!({"minLength": least}));
    check("no empty date", Writers, Safe, text(date.clone()), text(long(1)));
    check(
        "empty password",
        Writers,
        Breaks,
        text(json!({"format": "password"})),
        text(json!({"minLength": 1})),
    );
    let codes = json!({"type": "integer", "enum": [301, 302]});
    let of = |codes: Value| object(json!({"a": codes}), json!([]));
    let narrow = with(codes.clone(), json!({"format": "int32"}));
    check("small numbers", Writers, Safe, of(codes), of(narrow.clone()));
    let large = with(narrow, json!({"enum": [301, 4_294_967_296_i64]}));
    let wide = json!({"type": "integer", "enum": [301, 4_294_967_296_i64]});
    check("a large number", Writers, Breaks, of(wide), of(large));
}

/// Lists whose elements other rules and keywords restrict.
#[test]
fn lists_that_are_too_long() {
    let item =
        object(json!({"name": {"type": "string"}, "port": {"type": "integer"}}), json!(["name"]));
    let list = |most: i64, items: &Value| {
        let list = json!({"type": "array", "maxItems": most, "items": items});
        object(json!({"a": list}), json!([]))
    };
    let unique = |most: i64| {
        let mut spec = list(most, &item);
        spec["properties"]["a"] = ruled(
            spec["properties"]["a"].take(),
            &["self.all(x, self.exists_one(y, x.name == y.name))"],
        );
        spec
    };
    check("unique names", Writers, Breaks, unique(8), unique(4));
    let modes = json!({"type": "string", "enum": ["x", "y"]});
    check("few entries", Writers, Breaks, list(8, &modes), list(4, &modes));
}

/// Objects that rules accept only with several fields of their own.
#[test]
fn fields_that_need_each_other() {
    let part = || object(json!({"name": {"type": "string", "minLength": 1}}), json!(["name"]));
    let spec = |more: Value| {
        let fields = json!({"a": part(), "b": part(), "c": part(), "d": {"type": "string"}});
        ruled(
            object(with(fields, more), json!([])),
            &["[has(self.a), has(self.b), has(self.c)].filter(x, x).size() == 2"],
        )
    };
    let (old, new) = (spec(json!({"e": {"type": "string"}})), spec(json!({})));
    check("two of three", Writers, Breaks, old.clone(), new.clone());
    check("two of three", Stored, Breaks, old, new);
}

/// CC-14: a list in which elements differ; texts that one pattern matches and another one does not.
#[test]
fn rules_that_take_certain_values() {
    let item = object(json!({"x": {"type": "string"}, "y": {"type": "string"}}), json!(["y"]));
    let list = || json!({"type": "array", "maxItems": 8, "items": item});
    for rule in [
        "self.all(i, has(i.x)) || self.all(i, !has(i.x))",
        "self.filter(i, has(i.x)).size() <= 1",
        "self.exists(i, has(i.x))",
    ] {
        check(rule, Writers, Breaks, list(), ruled(list(), &[rule]));
        check(rule, Stored, Breaks, list(), ruled(list(), &[rule]));
    }
    let text = |rule: &str| ruled(json!({"type": "string"}), &[rule]);
    let of = |text: Value| object(json!({"a": text}), json!([]));
    let (old, new) = ("self.matches('^[^/]+/x[0-9]{4,}$')", "self.matches('^[^/]+/x[0-9]{4,6}$')");
    check("patterns", Writers, Breaks, of(text(old)), of(text(new)));
    check("patterns", Writers, Safe, of(text(new)), of(text(old)));
}

/// The values are those of the old definition, however far the new one widens others.
#[test]
fn rules_beside_other_changes() {
    let item = |status: Value| {
        object(json!({"status": status, "reason": {"type": "string"}}), json!(["status"]))
    };
    let list = |item: Value| json!({"type": "array", "maxItems": 4, "items": item});
    let old = list(item(json!({"type": "string", "enum": ["True", "False"]})));
    let new = ruled(list(item(json!({"type": "string"}))), &["self.exists(x, has(x.reason))"]);
    check("enum removed", Writers, Breaks, old.clone(), new.clone());
    check("enum removed", Stored, Breaks, old, new);
}

/// CC-21: an update that leaves alone what a rule reads.
#[test]
fn stored_objects_keep_rules() {
    let fields = || {
        let number = json!({"type": "integer"});
        object(json!({"a": number, "b": number, "c": {"type": "string"}}), json!([]))
    };
    for rule in [
        "has(self.a) || !has(oldSelf.a)",
        "!has(self.a) || !has(oldSelf.a) || self.a >= oldSelf.a",
        "self == oldSelf",
    ] {
        check(rule, Writers, Breaks, fields(), ruled(fields(), &[rule]));
        check(rule, Stored, Safe, fields(), ruled(fields(), &[rule]));
    }
    for rule in ["!has(oldSelf.a) || !has(self.a)", "!has(self.a) || self.a + 1 <= 10"] {
        check(rule, Writers, Breaks, fields(), ruled(fields(), &[rule]));
    }
    // Another field of the same object cannot be changed any more.
    let rule = "!has(self.a) || self.a + 1 <= 10";
    check(rule, Stored, Breaks, fields(), ruled(fields(), &[rule]));
    // CE-04: such lists do not equal themselves.
    let numbers = || {
        let set =
            json!({"type": "array", "items": {"type": "number"}, "x-kubernetes-list-type": "set"});
        object(json!({"a": set, "b": {"type": "string"}}), json!([]))
    };
    let comparison =
        compared(&definition(numbers()), &definition(ruled(numbers(), &["self == oldSelf"])));
    let mut stored = comparison.answers.iter().filter(|it| it.question == Stored);
    assert!(stored.all(|it| it.verdict != Safe), "{}", lines(&comparison));
}

/// A member of a map is at a key, and not at a field.
#[test]
fn stored_members_of_maps() {
    let map = |fields: Value| {
        let map = json!({"type": "object", "additionalProperties": object(fields, json!([]))});
        object(json!({"a": map}), json!([]))
    };
    let text = json!({"type": "string"});
    check("removed", Stored, Breaks, map(json!({"x": text, "y": text})), map(json!({"x": text})));
}

/// CC-24: a configuration need not have all fields, and the status is applied on its own.
#[test]
fn configurations_of_parts() {
    let atomic = json!({"x-kubernetes-map-type": "atomic"});
    let reference = || object(json!({"name": {"type": "string"}}), json!(["name"]));
    let spec = |reference: Value| object(json!({"a": reference}), json!([]));
    check("required", Appliers, Breaks, spec(reference()), spec(with(reference(), atomic.clone())));
    // Besides, the spec needs another field now.
    let more = |required: &Value, reference: Value| {
        let fields = json!({"a": reference, "b": {"type": "string"}});
        object(fields, required.clone())
    };
    let (old, new) = (reference(), with(reference(), atomic.clone()));
    check("beside", Appliers, Breaks, more(&json!([]), old), more(&json!(["b"]), new));
    let status = |more: Value| {
        let mut crd = definition(json!({"type": "object"}));
        let version = &mut crd["spec"]["versions"][0];
        version["subresources"] = json!({"status": {}});
        let fields = json!({"a": {"type": "string"}, "b": {"type": "string"}});
        version["schema"]["openAPIV3Schema"]["properties"]["status"] =
            with(object(fields, json!([])), more);
        crd
    };
    answered("status", Appliers, Breaks, &status(json!({})), &status(atomic));
}

/// CC-25: a scalar survives in a version that has another type for it, and no null is stored that is
/// removed when it is written.
#[test]
fn types_of_other_versions() {
    let version = |name: &str, a: Value| {
        let spec = object(json!({"a": a}), json!([]));
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": spec},
        }}})
    };
    let versions = |first: Value, second: Value| {
        let mut crd = definition(json!({"type": "object"}));
        crd["spec"]["versions"] = json!([version("v1", first), version("v2", second)]);
        crd
    };
    let text = json!({"type": "string"});
    let old = versions(text.clone(), text.clone());
    answered("scalars", Stored, Safe, &old, &versions(text.clone(), json!({"type": "integer"})));
    let kept = json!({"x-kubernetes-preserve-unknown-fields": true});
    let said = lines(&compared(&old, &versions(text.clone(), kept)));
    assert!(said.contains("v1->v2 stored: safe"), "{said}");
    let part = object(json!({"x": text}), json!([]));
    answered(
        "objects",
        Stored,
        Breaks,
        &versions(part.clone(), part.clone()),
        &versions(part, text),
    );
}

/// VV-80, CE-50: what is unchanged as a whole is forgiven, and an empty list has nothing inside that
/// could change alone.
#[test]
fn what_an_update_leaves_as_it_is() {
    let list = |more: Value| {
        let item = object(json!({"a": {"type": "string"}}), json!([]));
        with(json!({"type": "array", "maxItems": 9, "items": item}), more)
    };
    let field = |part: Value| object(json!({"a": part, "b": {"type": "string"}}), json!([]));
    let check = |name, wanted, old, new| check(name, Stored, wanted, field(old), field(new));
    check("not empty", Safe, list(json!({})), list(json!({"minItems": 1})));
    check("two elements", Breaks, list(json!({})), list(json!({"minItems": 2})));
    check("not empty by rule", Safe, list(json!({})), ruled(list(json!({})), &["size(self) > 0"]));
    check("two by rule", Breaks, list(json!({})), ruled(list(json!({})), &["size(self) > 1"]));
    // A format lets lists pass, which are forgiven as well (VV-12).
    let text = || json!({"type": "string"});
    check("format removed", Safe, json!({"type": "string", "format": "date"}), text());
    let hosts =
        || json!({"type": "array", "maxItems": 9, "items": {"type": "string", "maxLength": 99}});
    check("total", Safe, hosts(), ruled(hosts(), &["self.all(host, !isIP(host))"]));
    let union = || {
        object(
            json!({"type": text(), "rolling": object(json!({"most": {"type": "integer"}}), json!([]))}),
            json!(["type"]),
        )
    };
    let rule = "!(self.type != 'Rolling' && has(self.rolling))";
    check("inside of what is there", Breaks, union(), ruled(union(), &[rule]));
    let kept = |rule: &str| {
        with(
            union(),
            json!({"x-kubernetes-validations": [{"rule": rule, "optionalOldSelf": true}]}),
        )
    };
    let same = "!oldSelf.hasValue() || oldSelf.value().type == self.type";
    check("optional old value", Safe, union(), kept(same));
    let of_all =
        "self.type == 'Host' ? (!has(self.value) || self.value.matches('^[a-z]+$')) : true";
    let address = || object(json!({"type": text(), "value": text()}), json!(["type"]));
    check("all that there is is read", Safe, address(), ruled(address(), &[of_all]));
}

/// CC-24: what a second manager leaves out stays or goes.
#[test]
fn atomic_objects() {
    let text = || json!({"type": "string"});
    let atomic = |part: Value| with(part, json!({"x-kubernetes-map-type": "atomic"}));
    let field = |part: Value| object(json!({"a": part, "b": text()}), json!([]));
    let name = || object(json!({"name": text()}), json!(["name"]));
    let more = || object(json!({"name": text(), "key": text()}), json!(["name"]));
    let check = |name, wanted, old, new| check(name, Appliers, wanted, field(old), field(new));
    check("an empty configuration", Breaks, name(), atomic(name()));
    check("two fields", Breaks, atomic(more()), more());
    check("an optional field", Breaks, atomic(object(json!({"name": text()}), json!([]))), name());
    let names = json!({"type": "array", "maxItems": 3, "minItems": 1, "items": text()});
    let rule = "!has(self.names) || self.names[0] == self.name";
    let ruled = ruled(object(json!({"name": text(), "names": names}), json!(["name"])), &[rule]);
    check("with a rule", Breaks, atomic(ruled.clone()), ruled);
}

/// RP-75: the replicas of a scale subresource are integers, whatever their schema lets pass.
#[test]
fn rules_about_replicas() {
    let scaled = |number: Value, rules: &[&str]| {
        let mut definition =
            definition(ruled(object(json!({"replicas": number}), json!([])), rules));
        definition["spec"]["versions"][0]["subresources"] = json!({"scale": {
            "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
        }});
        definition
    };
    let number = |rules: &[&str]| ruled(json!({"type": "integer", "minimum": 1}), rules);
    let check = |name, wanted, old, new| answered(name, Writers, wanted, &old, &new);
    check("itself", Safe, scaled(number(&[]), &[]), scaled(number(&["self >= 1"]), &[]));
    check("too large", Breaks, scaled(number(&[]), &[]), scaled(number(&["self >= 2"]), &[]));
    let around = &["!has(self.replicas) || self.replicas > 0"];
    check("around", Safe, scaled(number(&[]), &[]), scaled(number(&[]), around));
    let plain = json!({"type": "integer"});
    let rule = &["!has(self.replicas) || self.replicas >= 0"];
    check("not negative", Safe, scaled(plain.clone(), &[]), scaled(plain.clone(), rule));
    let least = |least: i64| scaled(with(plain.clone(), json!({"minimum": least})), &[]);
    check("a bound", Safe, scaled(plain.clone(), &[]), least(0));
    check("another bound", Breaks, scaled(plain.clone(), &[]), least(1));
}

/// VV-50: the branch that admits a value asks for another field.
#[test]
fn values_of_other_branches() {
    let addresses = |most: i64| {
        let item = json!({
            "type": "object", "required": ["value"],
            "properties": {
                "kind": {"type": "string", "default": "IPAddress", "enum": ["IPAddress", "Hostname"]},
                "value": {"type": "string", "maxLength": most},
                "more": {"type": "object", "properties": {
                    "first": {"type": "string"}, "second": {"type": "string"},
                }},
            },
            "oneOf": [
                {"properties": {"kind": {"enum": ["IPAddress"]}, "value": {"format": "ipv4"}}},
                {"properties": {"kind": {"not": {"enum": ["IPAddress"]}}}},
            ],
        });
        object(json!({"a": {"type": "array", "maxItems": 9, "items": item}}), json!([]))
    };
    check("long names", Writers, Breaks, addresses(253), addresses(60));
}

/// CC-24: of an object with nothing but its keys, or with nothing at all, there is nothing to merge. One
/// with all its members replaces another one as a whole, but shares the equal ones with it: when its
/// manager leaves it out, these stay if they are not atomic.
#[test]
fn objects_with_all_their_members() {
    let text = || json!({"type": "string"});
    let atomic = |part: Value| with(part, json!({"x-kubernetes-map-type": "atomic"}));
    let field = |part: Value| object(json!({"a": part, "b": text()}), json!([]));
    let check = |name, wanted, old, new| check(name, Appliers, wanted, field(old), field(new));
    let all = || object(json!({"name": text(), "key": text()}), json!(["name", "key"]));
    check("all are required", Undecided, atomic(all()), all());
    check("left out", Breaks, all(), atomic(all()));
    let set = json!({"type": "array", "items": text(), "x-kubernetes-list-type": "set"});
    let with_set = || object(json!({"names": set}), json!(["names"]));
    check("a set", Breaks, atomic(with_set()), with_set());
    let defaulted = || {
        let key = with(text(), json!({"default": "x"}));
        object(json!({"name": text(), "key": key}), json!(["name", "key"]))
    };
    check("a default", Breaks, atomic(defaulted()), defaulted());
    let none = || json!({"type": "object"});
    check("no members", Safe, none(), atomic(none()));
    check("no members", Safe, atomic(none()), none());
    let any = || json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    check("any members", Breaks, any(), atomic(any()));
    check("any members", Breaks, atomic(any()), any());
    let list = |item: Value| {
        json!({"type": "array", "items": item,
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]})
    };
    let key = || object(json!({"name": text()}), json!(["name"]));
    check("keys only", Safe, list(key()), list(atomic(key())));
    check("keys only", Safe, list(atomic(key())), list(key()));
}

/// A list that is too long, of elements that differ in more than rules ask for.
#[test]
fn long_lists_of_different_elements() {
    let item =
        object(json!({"name": {"type": "string"}, "section": {"type": "string"}}), json!(["name"]));
    let list = || json!({"type": "array", "maxItems": 32, "items": item});
    let unique = "self.all(p1, self.exists_one(p2, p1.name == p2.name && \
        (has(p1.section) ? p1.section : '') == (has(p2.section) ? p2.section : '')))";
    let old = ruled(list(), &[unique]);
    check("rule", Writers, Breaks, old.clone(), ruled(list(), &[unique, "self.size() <= 5"]));
    check("keyword", Writers, Breaks, old, ruled(with(list(), json!({"maxItems": 5})), &[unique]));
}

/// CE-50: a rule of a text that has a result for all that is stored is forgiven while it is unchanged.
#[test]
fn durations_that_are_stored() {
    let interval = |rule: &str| {
        object(
            json!({"a": ruled(json!({"type": "string"}), &[rule]), "b": {"type": "string"}}),
            json!([]),
        )
    };
    let old = "!(duration(self) < duration('1s') || duration(self) > duration('1h'))";
    let new = "duration(self) >= duration('1s') && duration(self) <= duration('30m')";
    let same = "duration(self) >= duration('1s') && duration(self) <= duration('60m')";
    check("put otherwise", Writers, Safe, interval(old), interval(same));
    check("shorter", Writers, Breaks, interval(old), interval(new));
    check("shorter", Stored, Safe, interval(old), interval(new));
}

/// CC-21: what breaks a rule of the whole object gets no label any more.
#[test]
fn stored_objects_as_a_whole() {
    let plain = definition(object(json!({"a": {"type": "string"}}), json!([])));
    let mut ruled = plain.clone();
    ruled["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] =
        json!([{"rule": "has(self.metadata) ? has(self.spec) : true"}]);
    answered("metadata", Stored, Breaks, &plain, &ruled);
}
