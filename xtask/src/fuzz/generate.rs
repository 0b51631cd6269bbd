//! Schemas, and texts that more or less follow them.

use serde_json::{Map, Value, json};

use super::random::Random;

const NAMES: [&str; 12] =
    ["a", "b", "c", "d", "spec", "name with space", "é", "q\"uote", "*", "", "metadata", "kind"];
const PLAIN_NAMES: usize = 10;

pub(super) fn root_schema(random: &mut Random) -> Value {
    let mut root = object_schema(random, 4);
    let members = root.as_object_mut().expect("an object");
    for forbidden in
        ["default", "additionalProperties", "nullable", "x-kubernetes-embedded-resource"]
    {
        members.remove(forbidden);
    }
    let properties = members["properties"].as_object_mut().expect("an object");
    for name in ["metadata", "kind", "apiVersion"] {
        properties.remove(name);
    }
    if random.chance(50) {
        properties.insert("metadata".to_owned(), json!({"type": "object"}));
        properties.insert("kind".to_owned(), json!({"type": "string"}));
    }
    if random.chance(3) {
        // More members than fit one word of bits.
        for index in 0..100 {
            let mut property = scalar_schema(random);
            if random.chance(20) {
                property["default"] = scalar(random);
            }
            properties.insert(format!("wide{index}"), property);
        }
    }
    root
}

fn scalar_schema(random: &mut Random) -> Value {
    match random.below(5) {
        0 => json!({"x-kubernetes-int-or-string": true}),
        1 => json!({"x-kubernetes-preserve-unknown-fields": true}),
        other => json!({"type": *["string", "integer", "boolean"].get(other - 2).unwrap_or(&"")}),
    }
}

fn schema(random: &mut Random, depth: usize) -> Value {
    let mut node = match random.below(if depth == 0 { 3 } else { 8 }) {
        0..3 => scalar_schema(random),
        3 | 4 => json!({"type": "array", "items": schema(random, depth - 1)}),
        _ => object_schema(random, depth),
    };
    if random.chance(25) {
        node["default"] = default(random, 2);
    }
    if random.chance(20) {
        node["nullable"] = json!(true);
    }
    node
}

fn object_schema(random: &mut Random, depth: usize) -> Value {
    let mut node = json!({"type": "object"});
    let mut properties = Map::new();
    for _ in 0..random.below(6) {
        let name = *random.pick(&NAMES);
        properties.insert(name.to_owned(), schema(random, depth.saturating_sub(1)));
    }
    node["properties"] = Value::Object(properties);
    if random.chance(25) {
        node["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    if random.chance(15) {
        node["x-kubernetes-embedded-resource"] = json!(true);
        for (name, type_) in [("kind", "string"), ("metadata", "object")] {
            if let Some(property) = node["properties"].get_mut(name) {
                *property = json!({"type": type_});
                if name == "metadata" && random.chance(50) {
                    let labels = schema(random, 1);
                    property["properties"] = json!({"labels": labels, "name": {"type": "string"}});
                }
            }
        }
    } else if random.chance(25) {
        node["additionalProperties"] = match random.below(3) {
            0 => json!(true),
            _ => schema(random, depth.saturating_sub(1)),
        };
    }
    node
}

fn scalar(random: &mut Random) -> Value {
    match random.below(5) {
        0 => json!(random.chance(50)),
        1 => json!(random.below(1000)),
        2 => json!(1.5),
        _ => json!(*random.pick(&["", "x", "é😀", "\"\\\n"])),
    }
}

/// A default without nulls and without fields of resources, which a server would accept.
fn default(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 3 } else { 6 }) {
        0..3 => scalar(random),
        3 => Value::Array((0..random.below(3)).map(|_| default(random, depth - 1)).collect()),
        _ => {
            let members = (0..random.below(3))
                .map(|_| (NAMES[random.below(PLAIN_NAMES)].to_owned(), default(random, depth - 1)));
            Value::Object(members.collect())
        }
    }
}

/// The text of a resource, well-formed in most cases.
pub(super) fn body(random: &mut Random, schema: &Value) -> Vec<u8> {
    let odd = random.chance(40);
    let mut writer = Writer { random, out: Vec::new(), odd };
    writer.root(schema);
    let mut out = writer.out;
    if random.chance(15) {
        for _ in 0..=random.below(2) {
            let at = random.below(out.len());
            match random.below(3) {
                0 => drop(out.remove(at)),
                1 => out[at] = random.next() as u8,
                _ => out.insert(at, *random.pick(b"\"\\{}[],:0-.eEnulltrue \t\xff\xc3")),
            }
        }
    }
    out
}

struct Writer<'r> {
    random: &'r mut Random,
    out: Vec<u8>,
    /// Whether to spell things in unusual ways.
    odd: bool,
}

impl Writer<'_> {
    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn space(&mut self) {
        while self.odd && self.random.chance(15) {
            let space = *self.random.pick(&[" ", "\n", "\t", "\r"]);
            self.raw(space);
        }
    }

    fn token(&mut self, text: &str) {
        self.space();
        self.raw(text);
        self.space();
    }

    fn string(&mut self, text: &str) {
        self.space();
        self.raw("\"");
        for c in text.chars() {
            match c {
                '"' => self.raw("\\\""),
                '\\' => self.raw("\\\\"),
                c if (c as u32) < 0x20 => self.raw(&format!("\\u{:04X}", c as u32)),
                c if self.odd && c.is_ascii() && self.random.chance(5) => {
                    self.raw(&format!("\\u{:04x}", c as u32));
                }
                c => self.raw(c.encode_utf8(&mut [0; 4])),
            }
        }
        if self.odd && self.random.chance(2) {
            let tail = *self.random.pick(&["\\ud800", "\\ud83d\\ude00", "\\udc00x", "\\/\\b\\f"]);
            self.raw(tail);
        }
        if self.odd && self.random.chance(1) {
            self.out.extend_from_slice(b"\xff\xc3");
        }
        self.raw("\"");
        self.space();
    }

    fn number(&mut self) {
        let plain =
            ["0", "-0", "1", "42", "-7", "1.0", "1.50", "1e2", "1E-3", "12345678901234567890"];
        let odd =
            ["1e309", "-1e400", "1e-400", "0.0", "9223372036854775807", "9223372036854775808"];
        let text = if self.odd && self.random.chance(5) {
            *self.random.pick(&odd)
        } else {
            *self.random.pick(&plain)
        };
        self.token(text);
    }

    fn root(&mut self, schema: &Value) {
        let api_version = if self.random.chance(3) { "example.com/v2" } else { "example.com/v1" };
        let kind = if self.random.chance(3) { "Bar" } else { "Foo" };
        self.token("{");
        let mut order = ["apiVersion", "kind", "metadata", ""];
        for at in 0..order.len() {
            if self.random.chance(20) {
                let other = self.random.below(order.len());
                order.swap(at, other);
            }
        }
        let mut first = true;
        for name in order {
            if name.is_empty() {
                self.members(schema, 5, &mut first);
            } else if !self.random.chance(2) {
                self.comma(&mut first);
                self.string(name);
                self.token(":");
                match name {
                    "apiVersion" => self.string(api_version),
                    "kind" => self.string(kind),
                    _ => self.metadata(),
                }
            }
        }
        self.token("}");
    }

    fn comma(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.token(",");
        }
    }

    fn metadata(&mut self) {
        let normal = [
            r#""name":"x""#,
            r#""labels":{"a":"b","c":"d"}"#,
            r#""creationTimestamp":"2020-01-01T00:00:00Z""#,
            r#""ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u"}]"#,
            r#""managedFields":[{"fieldsV1":{"f:a":{}},"manager":"m","time":"2024-02-29T12:00:00Z"}]"#,
            r#""generation":7"#,
            r#""finalizers":["a/b"]"#,
        ];
        let unusual = [
            r#""creationTimestamp":null"#,
            r#""creationTimestamp":"2020-01-01T02:00:00.5+02:00""#,
            r#""labels":{}"#,
            r#""labels":{"a":null}"#,
            r#""labels":{"a":"b","a":"c"}"#,
            r#""generation":0"#,
            r#""generation":2.0"#,
            r#""deletionGracePeriodSeconds":0"#,
            r#""ownerReferences":[{"kind":"K","junk":1},null]"#,
            r#""garbage":{"a":[1]}"#,
            r#""name":"""#,
            r#""n\u0061me":"y""#,
            r#""managedFields":[{"fieldsV1":null,"x":1}]"#,
            r#""finalizers":[null]"#,
            r#""uid":5"#,
            r#""creationTimestamp":"2021-02-29T00:00:00Z""#,
        ];
        if self.random.chance(2) {
            let other = *self.random.pick(&["null", "[]", "\"x\"", "{}"]);
            return self.token(other);
        }
        self.token("{");
        let mut first = true;
        for _ in 0..self.random.below(4) {
            self.comma(&mut first);
            let field = if self.random.chance(75) {
                *self.random.pick(&normal)
            } else {
                *self.random.pick(&unusual)
            };
            self.token(field);
        }
        self.token("}");
    }

    /// Members that the schema knows, in its order in most cases, and some that it doesn't.
    fn members(&mut self, schema: &Value, depth: usize, first: &mut bool) {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let mut names: Vec<&str> =
            properties.keys().map(String::as_str).filter(|_| self.random.chance(70)).collect();
        for _ in 0..self.random.below(3) {
            if self.random.chance(40) {
                names.push(NAMES[self.random.below(PLAIN_NAMES)]);
            }
        }
        if self.random.chance(30) {
            names.reverse();
        }
        if !self.odd || self.random.chance(90) {
            let mut known = std::collections::BTreeSet::new();
            names.retain(|name| known.insert(*name));
        }
        for name in names {
            self.comma(first);
            self.string(name);
            self.token(":");
            let below = properties.get(name).or(schema.get("additionalProperties"));
            if name == "metadata" && self.random.chance(80) {
                self.metadata();
            } else {
                self.value(below.unwrap_or(&Value::Null), depth);
            }
        }
    }

    fn value(&mut self, schema: &Value, depth: usize) {
        if self.random.chance(8) {
            return self.token("null");
        }
        let follows = self.random.chance(90);
        let type_ = schema.get("type").and_then(Value::as_str).filter(|_| follows);
        let is_resource = schema.get("x-kubernetes-embedded-resource").is_some();
        match type_ {
            Some("object") if depth > 0 => {
                self.token("{");
                let mut first = true;
                if is_resource && self.random.chance(90) {
                    let kind = *self.random.pick(&["\"K\"", "\"K\"", "\"K\"", "5", "null"]);
                    let kind = if self.random.chance(80) { "\"K\"" } else { kind };
                    self.raw(r#""apiVersion":"v1","kind":"#);
                    self.raw(kind);
                    first = false;
                    if self.random.chance(70) {
                        self.raw(r#","metadata":"#);
                        self.metadata();
                    }
                }
                self.members(schema, depth - 1, &mut first);
                self.token("}");
            }
            Some("array") if depth > 0 => self.array(&schema["items"], depth),
            Some("integer") => self.number(),
            Some("boolean") => self.token("true"),
            Some("string") => self.text(),
            _ => match self.random.below(if depth > 0 { 6 } else { 4 }) {
                0 => self.number(),
                1 => self.token("false"),
                2 | 3 => self.text(),
                4 => self.array(&Value::Null, depth),
                _ => {
                    self.token("{");
                    self.members(&Value::Null, depth - 1, &mut true);
                    self.token("}");
                }
            },
        }
    }

    fn array(&mut self, items: &Value, depth: usize) {
        self.token("[");
        for index in 0..self.random.below(4) {
            if index > 0 {
                self.token(",");
            }
            self.value(items, depth - 1);
        }
        self.token("]");
    }

    fn text(&mut self) {
        let text = *self.random.pick(&["", "x", "longer than eight bytes", "é😀", "\"quoted\"\n"]);
        self.string(text);
    }
}
