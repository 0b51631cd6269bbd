//! Definitions that are made to use up time or memory, as the old one, as the new one and as both:
//! each comparison ends soon, on a small stack.

use std::time::Duration;

use billhook_compat::compare;
use serde_json::{Map, Value, json};

use crate::checks::clock;
use crate::support::{definition, lines, spec_of};

/// How large the attacks are; without optimization they take many times as long.
const SIZE: usize = if cfg!(debug_assertions) { 1 } else { 10 };

/// How long a comparison of two attacks may take.
const MOST: Duration = Duration::from_secs(if cfg!(debug_assertions) { 90 } else { 20 });

fn nested(depth: usize, leaf: Value, around: fn(Value) -> Value) -> Value {
    (0..depth).fold(leaf, |schema, _| around(schema))
}

fn around(keyword: &str, type_: &str, schema: Value) -> Value {
    let mut members = Map::new();
    members.insert("type".to_owned(), type_.into());
    members.insert(keyword.to_owned(), schema);
    members.into()
}

fn fields(count: usize, part: impl Fn(usize) -> Value) -> Value {
    let fields: Map<String, Value> =
        (0..count).map(|number| (format!("f{number}"), part(number))).collect();
    json!({"type": "object", "properties": fields})
}

fn ruled(schema: &Value, rules: impl Iterator<Item = String>) -> Value {
    let mut schema = schema.clone();
    schema["x-kubernetes-validations"] = rules.map(|rule| json!({"rule": rule})).collect();
    schema
}

fn attacks() -> Vec<(&'static str, Value)> {
    [schemas(), rules()].concat()
}

/// A pattern that takes much to compile.
fn wide_pattern(number: usize) -> String {
    format!("x{number}[\\pL\\pN]{{0,500}}[^\\pL]{{0,500}}")
}

fn schemas() -> Vec<(&'static str, Value)> {
    let text = json!({"type": "string"});
    let short = json!({"minLength": 1});
    let names = |count: usize| (0..count).map(|number| format!("f{number}"));
    let all_of = nested(12, short.clone(), |schema| json!({"allOf": [schema, schema]}));
    let unions = |keyword: &str| {
        let mut schema = fields(20 * SIZE, |_| json!({"type": "string"}));
        schema[keyword] = names(20 * SIZE).map(|name| json!({"required": [name]})).collect();
        schema
    };
    let objects = nested(400 * SIZE, text.clone(), |schema| {
        let fields = Map::from_iter([("x".to_owned(), schema)]);
        around("properties", "object", fields.into())
    });
    let lists = nested(800 * SIZE, text.clone(), |schema| around("items", "array", schema));
    let maps =
        nested(400 * SIZE, text.clone(), |schema| around("additionalProperties", "object", schema));
    let not =
        nested(400 * SIZE, short, |schema| Map::from_iter([("not".to_owned(), schema)]).into());
    let mut required = fields(100 * SIZE, |_| text.clone());
    required["required"] = names(100 * SIZE).collect();
    let default = "x".repeat(1000);
    let defaults = fields(100 * SIZE, |_| json!({"type": "string", "default": default}));
    let entries: Vec<String> = names(10_000 * SIZE).collect();
    let patterns =
        fields(10 * SIZE, |number| json!({"type": "string", "pattern": wide_pattern(number)}));
    vec![
        ("deep objects", objects),
        ("deep lists", lists),
        ("deep maps", maps),
        ("not", json!({"type": "string", "not": not})),
        ("allOf", json!({"type": "string", "allOf": [all_of]})),
        ("oneOf", unions("oneOf")),
        ("anyOf", unions("anyOf")),
        ("fields", fields(2_000 * SIZE, |_| text.clone())),
        ("required fields", required),
        ("defaults", defaults),
        ("enum", json!({"type": "string", "enum": entries})),
        ("patterns", patterns),
        ("hard pattern", json!({"type": "string", "pattern": "^(.*a.{300}|.*b.{301})$"})),
    ]
}

fn rules() -> Vec<(&'static str, Value)> {
    let text = json!({"type": "string", "maxLength": 10});
    let list = json!({"type": "array", "maxItems": 10, "items": text});
    let flags = fields(12, |_| json!({"type": "boolean"}));
    let numbers = fields(12, |_| json!({"type": "integer"}));
    let joined = |operator: &str, count: usize, part: &dyn Fn(usize) -> String| {
        (0..count).map(part).collect::<Vec<_>>().join(operator)
    };
    let fields_of =
        |operator: &str, count: usize| joined(operator, count, &|number| format!("self.f{number}"));
    let wide = |number| format!("self.matches('{}')", wide_pattern(number).replace('\\', "\\\\"));
    let hard = |number| format!("self.matches('^(.*a.{{30{number}}}|.*b.{{31{number}}})$')");
    let implied = |number| format!("!has(self.f{}) || self.f{}", number % 12, number % 11);
    let either = |number| format!("(has(self.f{}) || has(self.f{}))", number % 12, number % 7);
    let tests = joined(", ", 12, &|number| format!("has(self.f{number})"));
    let large = |number| format!("{0} * self.f{number} - {0} * self.f0 <= {0}", i64::MAX);
    let doubled = (0..24).fold("[1, 2, 3, 4]".to_owned(), |list, number| {
        format!("[{list}].map(x{number}, x{number} + x{number})[0]")
    });
    let macros = "self.all(a, self.all(b, self.exists(c, self.exists(d, a + b == c + d))))";
    let sizes = joined(" || ", 100 * SIZE, &|number| format!("self.size() == {number}"));
    let only = |rule: String| std::iter::once(rule);
    vec![
        ("patterns of rules", ruled(&text, (0..10 * SIZE).map(wide))),
        ("hard patterns of rules", ruled(&text, (0..5).map(hard))),
        ("many rules", ruled(&flags, (0..20 * SIZE).map(implied))),
        ("many alternatives", ruled(&flags, only(joined(" && ", 60, &either)))),
        ("counted fields", ruled(&flags, only(format!("[{tests}].filter(x, x).size() == 6")))),
        ("sums", ruled(&numbers, (1..12).map(|it| format!("{} <= {it}", fields_of(" + ", it))))),
        (
            "products",
            ruled(&numbers, (1..12).map(|it| format!("{} <= {it}", fields_of(" * ", it)))),
        ),
        ("large numbers", ruled(&numbers, (1..12).map(large))),
        ("nested macros", ruled(&list, only(macros.to_owned()))),
        ("lists that double", ruled(&list, only(format!("{doubled}.size() > 0")))),
        ("long rule", ruled(&list, only(sizes))),
        ("parentheses", ruled(&list, only(format!("{}true{}", "(".repeat(200), ")".repeat(200))))),
        ("choices", ruled(&flags, only(nested_choice(10)))),
    ]
}

fn nested_choice(depth: usize) -> String {
    match depth {
        0 => "true".to_owned(),
        _ => {
            let inner = nested_choice(depth - 1);
            format!("(has(self.f{depth}) ? {inner} : !({inner}))")
        }
    }
}

/// A definition with an attack, and a little more than that, so that nothing is just the same.
fn with(attack: &Value, more: bool) -> Value {
    let mut spec = spec_of(attack.clone());
    if more {
        spec["properties"]["b"]["minimum"] = 3.into();
        spec["properties"]["a"]["description"] = "words".into();
    }
    definition(spec)
}

fn ends(name: &str, old: &Value, new: &Value) {
    let run = || {
        let begin = clock();
        let comparison = compare(old, new);
        (comparison, clock().saturating_sub(begin))
    };
    let small = std::thread::Builder::new().stack_size(2 << 20);
    let (comparison, taken) =
        std::thread::scope(|scope| small.spawn_scoped(scope, run).unwrap().join().unwrap());
    assert!(taken < MOST, "{name}: {taken:?}\n{:.3000}", lines(&comparison.unwrap()));
}

#[test]
fn attacks_end_soon() {
    let run = || {
        let plain = with(&json!({"type": "string"}), false);
        let attacks = attacks();
        for (name, attack) in &attacks {
            let [one, other] = [false, true].map(|more| with(attack, more));
            ends(&format!("{name} as new"), &plain, &one);
            ends(&format!("{name} as old"), &one, &plain);
            ends(&format!("{name} as both"), &one, &other);
        }
        for (one, other) in attacks.iter().zip(attacks.iter().skip(1)) {
            let [old, new] = [&one.1, &other.1].map(|attack| with(attack, false));
            ends(&format!("{} to {}", one.0, other.0), &old, &new);
            ends(&format!("{} to {}", other.0, one.0), &new, &old);
        }
    };
    // To make and to drop such values takes a large one.
    std::thread::Builder::new().stack_size(1 << 30).spawn(run).unwrap().join().unwrap();
}
