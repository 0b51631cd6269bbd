//! Parts of schemas, and changes of them as maintainers make them, several at once.

use serde_json::{Map, Value, json};

use crate::corpus::nodes;
use crate::operators::{Random, add_rule, is, set};
use crate::support::{object, with};

type Node = Map<String, Value>;

/// A change of a node; false if it does not apply there.
type Change = fn(&mut Node, &mut Random) -> bool;

/// Parts that changes together have an effect on.
pub(crate) fn parts() -> Vec<Value> {
    let text = || json!({"type": "string"});
    let short = || json!({"type": "string", "maxLength": 2});
    let mode = || json!({"type": "string", "enum": ["A", "B", "C"]});
    let int = || json!({"type": "integer"});
    let item = || {
        with(
            object(json!({"k": short(), "n": text(), "p": int(), "x": mode(), "y": text()})),
            json!({"required": ["k"]}),
        )
    };
    let list = |more: Value| with(json!({"type": "array", "maxItems": 4, "items": item()}), more);
    let keyed = |keys: Value, items: Value| {
        json!({"type": "array", "maxItems": 4, "items": items,
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys})
    };
    let union = |keyword: &str| {
        with(
            object(
                json!({"x": text(), "y": int(), "z": object(json!({"a": text()})), "mode": mode()}),
            ),
            json!({keyword: [{"required": ["x"]}, {"required": ["y"]}]}),
        )
    };
    let ruled = |schema: Value, rules: &[&str]| {
        let rules: Vec<Value> = rules.iter().map(|rule| json!({"rule": rule})).collect();
        with(schema, json!({"x-kubernetes-validations": rules}))
    };
    let embedded = || {
        json!({"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true})
    };
    let kept = || json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"t": text()}});
    let int_or_text = || json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
    vec![
        list(json!({})),
        list(json!({"x-kubernetes-list-type": "atomic"})),
        keyed(json!(["k"]), item()),
        keyed(json!(["k", "n"]), with(item(), json!({"required": ["k", "n"]}))),
        keyed(json!(["k", "p"]), with(item(), json!({"required": ["k", "p"]}))),
        json!({"type": "array", "maxItems": 3, "items": mode(), "x-kubernetes-list-type": "set"}),
        json!({"type": "array", "items": short()}),
        json!({"type": "array", "maxItems": 3, "items": {"type": "array", "items": mode()}}),
        union("oneOf"),
        union("anyOf"),
        ruled(union("oneOf"), &["!has(self.x) || self.x != ''"]),
        ruled(
            object(json!({"mode": mode(), "a": text(), "n": int(), "m": int()})),
            &["!has(self.mode) || self.mode != 'A' || has(self.a)"],
        ),
        ruled(
            object(json!({"n": int(), "m": int()})),
            &["!has(self.n) || !has(self.m) || self.n <= self.m"],
        ),
        with(
            object(json!({"a": text(), "b": int(), "c": {"type": "boolean"}})),
            json!({"minProperties": 1, "maxProperties": 2}),
        ),
        json!({"type": "object", "maxProperties": 3, "additionalProperties": short()}),
        json!({"type": "object", "maxProperties": 3, "additionalProperties": with(object(json!({"t": text(), "m": mode()})), json!({"required": ["t"]}))}),
        json!({"type": "object", "additionalProperties": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}),
        object(json!({"e": embedded(), "t": text()})),
        object(json!({"list": {"type": "array", "items": embedded()}, "t": mode()})),
        with(
            embedded(),
            json!({"properties": {"spec": object(json!({"t": text(), "m": mode()}))}}),
        ),
        kept(),
        json!({"x-kubernetes-preserve-unknown-fields": true}),
        json!({"type": "array", "x-kubernetes-preserve-unknown-fields": true, "items": object(json!({"t": text()}))}),
        int_or_text(),
        with(int_or_text(), json!({"pattern": "^[0-9]+%$"})),
        object(
            json!({"i": int_or_text(), "s": with(text(), json!({"nullable": true})), "d": with(text(), json!({"default": "d"}))}),
        ),
        object(
            json!({"d": with(object(json!({"q": with(int(), json!({"default": 3})), "r": text()})), json!({"default": {}})), "s": text()}),
        ),
        object(
            json!({"f": {"type": "string", "format": "date-time"}, "u": {"type": "string", "format": "uuid"}, "n": {"type": "number"}}),
        ),
        with(int(), json!({"multipleOf": 3, "minimum": -7, "maximum": 7})),
        json!({"type": "number", "minimum": -1.5, "maximum": 2.5}),
        with(mode(), json!({"nullable": true})),
        ruled(short(), &["self != 'bb'"]),
        object(json!({"kind": mode(), "apiVersion": mode(), "t": text()})),
    ]
}

fn member(node: &Node, random: &mut Random) -> Option<String> {
    let names: Vec<&String> = node.get("properties")?.as_object()?.keys().collect();
    names.get(random.below(names.len())).map(|name| (*name).clone())
}

fn toggle(node: &mut Node, keyword: &str, value: Value) -> bool {
    if node.remove(keyword).is_none() {
        node.insert(keyword.to_owned(), value);
    }
    true
}

/// The changes; each is made at a node at random.
const CHANGES: [Change; 37] = [
    |node, random| {
        let Some(name) = member(node, random) else { return false };
        let required = node.entry("required").or_insert(json!([])).as_array_mut().unwrap();
        let before = required.len();
        required.retain(|it| *it != name.as_str());
        if required.len() == before {
            required.push(name.into());
        }
        true
    },
    |node, random| {
        let Some(name) = member(node, random) else { return false };
        node["properties"].as_object_mut().unwrap().remove(&name);
        if let Some(required) = node.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|it| *it != name.as_str());
        }
        true
    },
    |node, random| {
        let part = match random.below(4) {
            0 => json!({"type": "string"}),
            1 => json!({"type": "string", "default": "d"}),
            2 => {
                json!({"type": "object", "default": {}, "properties": {"q": {"type": "integer", "default": 1}}})
            }
            _ => json!({"type": "boolean", "nullable": true}),
        };
        let properties = node.get_mut("properties").and_then(Value::as_object_mut);
        properties.is_some_and(|it| it.insert("new".to_owned(), part).is_none())
    },
    |node, random| match node.get_mut("enum").and_then(Value::as_array_mut) {
        Some(entries) if entries.len() > 1 => {
            entries.remove(random.below(entries.len()));
            true
        }
        _ => false,
    },
    |node, _| match node.get_mut("enum").and_then(Value::as_array_mut) {
        Some(entries) => {
            entries.push("D".into());
            true
        }
        _ => false,
    },
    |node, _| is(node, "string") && toggle(node, "enum", json!(["A", "B", ""])),
    |node, _| toggle(node, "nullable", true.into()),
    |node, _| is(node, "string") && toggle(node, "default", "A".into()),
    |node, _| is(node, "integer") && toggle(node, "default", 3.into()),
    |node, _| is(node, "object") && toggle(node, "default", json!({})),
    |node, _| is(node, "array") && toggle(node, "default", json!([])),
    |node, random| is(node, "string") && toggle(node, "maxLength", random.below(4).into()),
    |node, random| is(node, "string") && toggle(node, "minLength", random.below(3).into()),
    |node, random| {
        let patterns = ["^[a-z]*$", "^.{0,2}$", "^[^b]", "%$", "^$"];
        is(node, "string") && toggle(node, "pattern", patterns[random.below(patterns.len())].into())
    },
    |node, random| {
        let formats = ["date-time", "date", "uuid", "byte", "password", "ipv4"];
        is(node, "string") && toggle(node, "format", formats[random.below(formats.len())].into())
    },
    |node, random| {
        (is(node, "integer") || is(node, "number"))
            && toggle(node, "minimum", (random.below(9) as i64 - 6).into())
    },
    |node, random| {
        (is(node, "integer") || is(node, "number"))
            && toggle(node, "maximum", (random.below(9) as i64 - 4).into())
    },
    |node, random| {
        (is(node, "integer") || is(node, "number"))
            && toggle(node, "multipleOf", (random.below(3) + 1).into())
    },
    |node, _| node.contains_key("minimum") && toggle(node, "exclusiveMinimum", true.into()),
    |node, random| is(node, "array") && toggle(node, "maxItems", (random.below(3) + 1).into()),
    |node, random| is(node, "array") && toggle(node, "minItems", (random.below(2) + 1).into()),
    |node, random| {
        is(node, "object") && toggle(node, "maxProperties", (random.below(3) + 1).into())
    },
    |node, random| {
        is(node, "object") && toggle(node, "minProperties", (random.below(2) + 1).into())
    },
    |node, random| {
        if !is(node, "array") {
            return false;
        }
        node.remove("x-kubernetes-list-map-keys");
        let keys = [json!(["k"]), json!(["k", "n"]), json!(["p"]), json!(["n"]), json!(["k", "p"])];
        match random.below(6) {
            0 => node.insert("x-kubernetes-list-type".to_owned(), "atomic".into()),
            1 => node.insert("x-kubernetes-list-type".to_owned(), "set".into()),
            _ => {
                node.insert("x-kubernetes-list-map-keys".to_owned(), keys[random.below(5)].clone());
                node.insert("x-kubernetes-list-type".to_owned(), "map".into())
            }
        };
        true
    },
    |node, _| is(node, "object") && toggle(node, "x-kubernetes-map-type", "atomic".into()),
    |node, _| {
        !node.contains_key("additionalProperties")
            && (is(node, "object") || is(node, "array"))
            && toggle(node, "x-kubernetes-preserve-unknown-fields", true.into())
    },
    |node, random| {
        let Some(part) = node.remove("additionalProperties") else { return false };
        let part = if part.is_object() { part } else { json!({"type": "string"}) };
        node.remove("maxProperties");
        let names: &[&str] = if random.below(2) == 0 { &["key0"] } else { &["key0", "key1", "t"] };
        let listed: Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), part.clone())).collect();
        set(node, "properties", listed.into())
    },
    |node, _| {
        let Some(Value::Object(listed)) = node.remove("properties") else { return false };
        node.remove("required");
        node.remove("x-kubernetes-preserve-unknown-fields");
        node.remove("x-kubernetes-embedded-resource");
        let part = listed.into_iter().next().map_or(json!({"type": "string"}), |(_, part)| part);
        set(node, "additionalProperties", part)
    },
    |node, random| {
        let is_number = is(node, "integer");
        if !is_number && !is(node, "string") && !node.contains_key("x-kubernetes-int-or-string") {
            return false;
        }
        for keyword in ["type", "x-kubernetes-int-or-string", "anyOf", "default", "format"] {
            node.remove(keyword);
        }
        match random.below(3) {
            0 => set(node, "x-kubernetes-int-or-string", true.into()),
            1 => set(node, "type", if is_number { "number" } else { "string" }.into()),
            _ => set(node, "type", if is_number { "string" } else { "integer" }.into()),
        }
    },
    |node, random| {
        let (Some(a), Some(b)) = (member(node, random), member(node, random)) else { return false };
        let branches = json!([{"required": [a]}, {"required": [b]}]);
        let keyword = ["oneOf", "anyOf", "allOf"][random.below(3)];
        a != b && toggle(node, keyword, branches)
    },
    |node, random| {
        let Some(name) = member(node, random) else { return false };
        match node.get_mut("oneOf").or(None).and_then(Value::as_array_mut) {
            Some(branches) => branches.push(json!({"required": [name]})),
            None => return toggle(node, "not", json!({"required": [name]})),
        }
        true
    },
    |node, random| {
        let (Some(a), Some(b)) = (member(node, random), member(node, random)) else { return false };
        let rule = match random.below(6) {
            0 | 4 if a == b => return false,
            0 => format!("has(self.{a}) || has(self.{b})"),
            1 => format!("!has(self.{a}) || has(self.{b})"),
            2 => format!("has(self.{a}) || !has(oldSelf.{a})"),
            3 => format!("!has(self.{a}) || !has(oldSelf.{a}) || self.{a} == oldSelf.{a}"),
            4 => format!("has(self.{a}) == has(self.{b})"),
            _ if a == b => return false,
            _ => format!("!(has(self.{a}) && has(self.{b}))"),
        };
        add_rule(node, &rule)
    },
    |node, random| {
        let rules = [
            "self == 'A' || self == 'B'",
            "self != 'A'",
            "self.size() <= 2",
            "self == oldSelf",
            "self.matches('^[a-z]*$')",
        ];
        is(node, "string") && add_rule(node, rules[random.below(rules.len())])
    },
    |node, random| {
        let rules = ["self >= 1", "self != 3", "self >= oldSelf", "self <= 2 || self == 7"];
        is(node, "integer") && add_rule(node, rules[random.below(rules.len())])
    },
    |node, random| {
        let rules = [
            "self.all(e, !has(e.x) || e.x != 'A')",
            "self.size() <= 2",
            "self.exists(e, has(e.x))",
            "self.all(e, self.exists_one(o, o.k == e.k))",
            "self.filter(e, has(e.y)).size() <= 1",
            "self.all(e, self.exists_one(o, o == e))",
            "self == oldSelf",
            "self.all(e, e != 'A')",
        ];
        is(node, "array") && add_rule(node, rules[random.below(rules.len())])
    },
    |node, random| {
        let rules = [
            "self.size() <= 1",
            "!('x' in self)",
            "self.all(k, k != 'key0')",
            "self.all(k, self[k] != 'A')",
        ];
        is(node, "object")
            && node.contains_key("additionalProperties")
            && add_rule(node, rules[random.below(rules.len())])
    },
    |node, random| {
        let rules = node.get_mut("x-kubernetes-validations").and_then(Value::as_array_mut);
        rules.filter(|rules| !rules.is_empty()).is_some_and(|rules| {
            rules.remove(random.below(rules.len()));
            true
        })
    },
];

/// Makes so many changes of a schema.
pub(crate) fn changed(schema: &Value, count: usize, random: &mut Random) -> Value {
    let mut changed = schema.clone();
    let mut made = 0;
    for _ in 0..40 {
        if made == count {
            break;
        }
        let mut found = Vec::new();
        nodes(&changed, "", &mut found);
        let pointer = &found[random.below(found.len())];
        let node = changed.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap();
        made += usize::from(CHANGES[random.below(CHANGES.len())](node, random));
    }
    changed
}
