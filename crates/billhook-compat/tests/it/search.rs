//! Witnesses of which several parts have to fit together.

use billhook_compat::{Question, Verdict};
use serde_json::{Value, json};

use crate::support::{compared, definition, lines};

/// Checks that a question about a change of `spec` has a witness.
#[track_caller]
fn check(name: &str, question: Question, old: impl Into<Value>, new: impl Into<Value>) {
    let comparison = compared(&definition(old), &definition(new));
    let mut answers = comparison.answers.iter().filter(|it| it.question == question);
    let is_broken = answers.all(|it| it.verdict == Verdict::Breaks);
    assert!(is_broken, "{name}: {question}:\n{}", lines(&comparison));
}

fn ruled(mut schema: Value, rules: &[&str]) -> Value {
    let rules: Vec<Value> = rules.iter().map(|rule| json!({"rule": rule})).collect();
    schema["x-kubernetes-validations"] = rules.into();
    schema
}

/// A list of unions: the field with the name of the type is there, and no other one.
fn filters(most: u32) -> Value {
    let part = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let item = json!({"type": "object", "required": ["type"], "properties": {
        "type": {"type": "string", "enum": ["Header", "Mirror", "Redirect"]},
        "header": part, "mirror": part, "redirect": part,
    }});
    let rules = [
        "!(has(self.header) && self.type != 'Header')",
        "!(!has(self.header) && self.type == 'Header')",
        "!(has(self.mirror) && self.type != 'Mirror')",
        "!(!has(self.mirror) && self.type == 'Mirror')",
        "!(has(self.redirect) && self.type != 'Redirect')",
        "!(!has(self.redirect) && self.type == 'Redirect')",
    ];
    json!({"type": "array", "maxItems": most, "items": ruled(item, &rules)})
}

#[test]
fn lists_of_several_elements() {
    let few = "self.filter(f, f.type == 'Mirror').size() <= 1";
    let exclusive = "!(self.exists(f, f.type == 'Redirect') && self.exists(f, f.type == 'Mirror'))";
    check("two alike", Question::Writers, filters(16), ruled(filters(16), &[few]));
    check("two others", Question::Writers, filters(16), ruled(filters(16), &[exclusive]));
    let limited = |most| ruled(filters(most), &["self.filter(f, f.type == 'Header').size() <= 1"]);
    check("many", Question::Writers, limited(16), limited(8));
}

#[test]
fn elements_beside_others() {
    let conditions = |required: Value| {
        let text = json!({"type": "string"});
        let item = json!({"type": "object", "required": required, "properties": {"type": text, "reason": text}});
        let list = json!({"type": "array", "items": item, "maxItems": 8,
            "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]});
        ruled(list, &["self.exists(x, has(x.reason))"])
    };
    let (old, new) = (conditions(json!(["type"])), conditions(json!(["type", "reason"])));
    check("one with a reason", Question::Writers, old.clone(), new.clone());
    check("one without", Question::Readers, new, old);
}

#[test]
fn values_that_rules_ask_more_of() {
    let fields = |part: Option<Value>| {
        let mut fields = json!({"b": {"type": "string"}});
        if let Some(part) = part {
            fields["a"] = part;
        }
        json!({"type": "object", "properties": fields})
    };
    let part = json!({"type": "object", "properties": {
        "count": {"type": "integer", "minimum": 0},
        "items": {"type": "array", "maxItems": 9, "items": {"type": "string"}},
    }});
    let rule = "has(self.count) && has(self.items) && size(self.items) > self.count";
    let old = fields(Some(ruled(part, &[rule])));
    check("removed", Question::Writers, old.clone(), fields(None));
    check("lost", Question::Stored, old, fields(None));
    // What breaks the new rule has to keep another one.
    let modes = json!({"type": "object", "required": ["mode"], "properties": {
        "mode": {"type": "string", "enum": ["Pass", "End"], "default": "End"},
        "refs": {"type": "array", "maxItems": 4, "items": {"type": "string"}},
    }});
    let modes =
        ruled(modes, &["self.mode == 'End' ? has(self.refs) && size(self.refs) > 0 : true"]);
    let listener = json!({"type": "object", "required": ["protocol"], "properties": {
        "protocol": {"type": "string", "maxLength": 9}, "tls": modes,
    }});
    let list = json!({"type": "array", "maxItems": 4, "items": listener});
    let old = ruled(list.clone(), &["self.all(l, l.protocol in ['A', 'B'] ? !has(l.tls) : true)"]);
    let new = ruled(list, &["self.all(l, l.protocol in ['A', 'B', 'C'] ? !has(l.tls) : true)"]);
    check("kept", Question::Writers, old, new);
}

#[test]
fn long_texts_of_formats() {
    for format in ["byte", "uri"] {
        let text = |more: Value| {
            let mut text = json!({"type": "string", "format": format});
            text.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({"type": "object", "properties": {"a": text}})
        };
        check(format, Question::Writers, text(json!({})), text(json!({"maxLength": 253})));
    }
}
