//! Changes that are safe alone, and not beside another one or beside parts that few objects have.

use billhook_compat::{Question, Verdict};
use serde_json::{Value, json};

use crate::support::{answered, compared, definition, lines, object, with};

use Question::{Readers, Stored, Writers};
use Verdict::{Breaks, Safe};

fn text() -> Value {
    json!({"type": "string"})
}

fn modes(entries: &[&str]) -> Value {
    json!({"type": "string", "enum": entries})
}

/// A definition whose `spec` has a part, and something beside it.
fn beside(part: impl Into<Value>) -> Value {
    definition(object(json!({"a": part.into(), "b": text()})))
}

fn ruled(schema: Value, rule: &str) -> Value {
    with(schema, json!({"x-kubernetes-validations": [{"rule": rule}]}))
}

/// VV-81: of elements with the same keys, an update is compared with the first one.
#[test]
fn elements_that_are_not_told_apart() {
    let list = |keys: &[&str], mode: Value| {
        let item = object(json!({"k": text(), "n": text(), "mode": mode, "y": text()}));
        let item = with(item, json!({"required": ["k", "n"]}));
        let list = json!({"type": "array", "maxItems": 4, "items": item});
        beside(match keys {
            [] => list,
            keys => with(
                list,
                json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}),
            ),
        })
    };
    let (wide, narrow) = (|| modes(&["A", "B", "C"]), || modes(&["A"]));
    let check = |name, wanted, old: Value, new: Value| answered(name, Stored, wanted, &old, &new);
    check("same keys", Safe, list(&["k"], wide()), list(&["k"], narrow()));
    check("more keys", Safe, list(&["k"], wide()), list(&["k", "n"], narrow()));
    check("less keys", Breaks, list(&["k", "n"], wide()), list(&["k"], narrow()));
    check("no keys before", Breaks, list(&[], wide()), list(&["k"], narrow()));
    check("other keys", Safe, list(&["k", "n"], wide()), list(&["k"], wide()));
}

/// VV-12, VV-81: a list in place of a key with a format correlates nothing.
#[test]
fn keys_with_formats() {
    let list = |mode: Value| {
        let day = json!({"type": "string", "format": "date"});
        let item = with(object(json!({"k": day, "mode": mode})), json!({"required": ["k"]}));
        beside(json!({"type": "array", "items": item,
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}))
    };
    let said = lines(&compared(&list(modes(&["A", "B"])), &list(modes(&["A"]))));
    assert!(!said.contains("v1 stored: safe"), "{said}");
}

/// VV-43, VV-44: a number alone differs from the same one with a fraction, and does not among several keys.
#[test]
fn keys_that_are_numbers() {
    let list = |key: Value, keys: &[&str]| {
        let item = with(object(json!({"k": key, "p": text()})), json!({"required": ["k", "p"]}));
        beside(json!({"type": "array", "items": item,
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys}))
    };
    let texts = [list(text(), &["k"]), list(text(), &["k", "p"])];
    answered("texts", Writers, Safe, &texts[0], &texts[1]);
    let number = || json!({"type": "integer"});
    let said = lines(&compared(&list(number(), &["k"]), &list(number(), &["k", "p"])));
    assert!(!said.contains("v1 writers: safe"), "{said}");
}

/// VV-84: the type of what is written on its own is never forgiven.
#[test]
fn types_in_a_status() {
    let status = |name: &str, entries: &[&str], is_apart: bool| {
        let mut crd = beside(text());
        let version = &mut crd["spec"]["versions"][0];
        if is_apart {
            version["subresources"] = json!({"status": {}});
        }
        version["schema"]["openAPIV3Schema"]["properties"]["status"] =
            object(json!({name: modes(entries), "other": text()}));
        crd
    };
    for (name, is_apart, wanted) in
        [("kind", true, Breaks), ("kind", false, Safe), ("phase", true, Safe)]
    {
        let of = |entries: &[&str]| status(name, entries, is_apart);
        answered(name, Stored, wanted, &of(&["A", "B"]), &of(&["A"]));
    }
}

/// VV-25: a factor that is not in the range of the type admits nothing, and one without a type does.
#[test]
fn factors_without_a_type() {
    let old = beside(json!({"type": "integer", "allOf": [{"multipleOf": 2.5}]}));
    let new = beside(json!({"type": "integer", "multipleOf": 2.5}));
    answered("multipleOf", Writers, Breaks, &old, &new);
    let old = beside(json!({"type": "integer", "allOf": [{"maximum": 5.5}]}));
    let new = beside(json!({"type": "integer", "maximum": 5.5}));
    answered("maximum", Writers, Breaks, &old, &new);
}

/// VV-85: what no schema describes makes an object differ from itself.
#[test]
fn rules_about_what_is_not_described() {
    let kept = || json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let map =
        |part: Value| json!({"type": "object", "maxProperties": 4, "additionalProperties": part});
    let check = |name, wanted, part: Value, rule: &str| {
        answered(name, Stored, wanted, &beside(part.clone()), &beside(ruled(part, rule)));
    };
    check("kept members", Breaks, map(kept()), "!('x' in self)");
    check("kept members", Breaks, map(kept()), "self.size() <= 2");
    check("texts", Safe, map(text()), "!('x' in self)");
    let fields = with(kept(), json!({"properties": {"t": text()}}));
    check("kept fields", Breaks, fields, "!has(self.t) || self.t == 'x'");
    let item = || object(json!({"t": text()}));
    let list = |item: Value| json!({"type": "array", "maxItems": 4, "items": item});
    let unique = "self.all(x, self.exists_one(y, x == y))";
    check("a list", Safe, list(item()), unique);
    check("a list", Safe, list(kept()), unique);
}

/// VV-12: a list in place of a text with a format has no value to rules.
#[test]
fn rules_about_formats() {
    let part = |format: &str| json!({"type": "string", "format": format});
    let check = |name, wanted, part: Value, rule: &str| {
        answered(name, Stored, wanted, &beside(part.clone()), &beside(ruled(part, rule)));
    };
    check("itself", Breaks, part("uuid"), "self != 'x'");
    check("itself", Breaks, part("date-time"), "self == oldSelf");
    check("inside", Breaks, object(json!({"u": part("uuid")})), "self == oldSelf");
    check(
        "elements",
        Breaks,
        json!({"type": "array", "maxItems": 4, "items": part("uuid")}),
        "self.all(x, x.matches('^[a-f]'))",
    );
    check("no format", Safe, object(json!({"u": text()})), "self == oldSelf");
}

/// DF-11, DF-12: the default of a map is for the null of a key, and makes up for no key.
#[test]
fn defaults_of_maps() {
    let old = beside(object(json!({"d": {"type": "string", "default": "d"}})));
    let map = json!({"type": "object", "maxProperties": 4,
        "additionalProperties": {"type": "string", "default": "d"}});
    let new = beside(ruled(map, "self.all(k, k != 'x')"));
    answered("readers", Readers, Breaks, &old, &new);
}

/// VV-38: null is never one of an enum, whatever may be null.
#[test]
fn nulls_and_enums() {
    let mode = |more: Value| beside(with(modes(&["A", "B"]), more));
    let (nullable, plain) = (mode(json!({"nullable": true})), mode(json!({})));
    answered("removed", Writers, Safe, &nullable, &plain);
    answered("removed", Stored, Safe, &nullable, &plain);
    answered("added", Writers, Breaks, &plain, &nullable);
}

/// CC-25, DF-10, DF-14: null elements stay, and null members only if there is a default.
#[test]
fn nulls_in_other_versions() {
    let crd = |part: &dyn Fn(Value) -> Value, more: &[Value]| {
        let mut crd = beside(part(text()));
        let version = crd["spec"]["versions"][0].take();
        let versions = more.iter().zip(["v1", "v2"]).map(|(more, name)| {
            let mut version = with(version.clone(), json!({"name": name, "storage": name == "v1"}));
            let a = "/schema/openAPIV3Schema/properties/spec/properties/a";
            *version.pointer_mut(a).unwrap() = part(with(text(), more.clone()));
            version
        });
        crd["spec"]["versions"] = versions.collect();
        crd
    };
    let list = |items: Value| json!({"type": "array", "items": items});
    let plain = [json!({}), json!({})];
    let check = |name, wanted, part: &dyn Fn(Value) -> Value, second: Value| {
        let (old, new) = (crd(part, &plain), crd(part, &[json!({"nullable": true}), second]));
        let comparison = compared(&old, &new);
        let mut visits = comparison.answers.iter().filter(|it| it.version == "v1->v2");
        assert!(visits.all(|it| it.verdict == wanted), "{name}:\n{}", lines(&comparison));
    };
    check("elements", Safe, &list, json!({}));
    check("elements with a default", Safe, &list, json!({"default": "x"}));
    check("members", Breaks, &|part| part, json!({}));
    check("members with a default", Safe, &|part| part, json!({"default": "x"}));
}

/// CC-21, DF-20: a default completes the stored object and the update alike, which stay equal.
#[test]
fn defaults_beside_equality() {
    let part = |rule: &str, mode: Value| {
        beside(ruled(object(json!({"name": text(), "mode": mode})), rule))
    };
    let default = || json!({"type": "string", "default": "A"});
    for (rule, wanted) in [("self == oldSelf", Safe), ("!has(self.mode)", Breaks)] {
        answered(rule, Stored, wanted, &part(rule, text()), &part(rule, default()));
    }
}
