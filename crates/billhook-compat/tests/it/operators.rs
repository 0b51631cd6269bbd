//! Changes of single nodes of schemas, as maintainers make them.

use serde_json::{Value, json};

/// A change of a schema at one of its nodes; false if it does not apply there.
pub(crate) type Operator = fn(&mut serde_json::Map<String, Value>, &mut Random) -> bool;

/// A source of numbers that are always the same.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

pub(crate) fn is(node: &serde_json::Map<String, Value>, type_: &str) -> bool {
    node.get("type").and_then(Value::as_str) == Some(type_)
}

pub(crate) fn set(node: &mut serde_json::Map<String, Value>, keyword: &str, value: Value) -> bool {
    node.insert(keyword.to_owned(), value).is_none()
}

fn listed<'n>(
    node: &'n mut serde_json::Map<String, Value>,
    random: &mut Random,
) -> Option<(&'n mut serde_json::Map<String, Value>, String)> {
    let properties = node.get_mut("properties")?.as_object_mut()?;
    let names: Vec<String> = properties
        .keys()
        .filter(|name| !["apiVersion", "kind", "metadata"].contains(&name.as_str()))
        .cloned()
        .collect();
    let name = names.get(random.below(names.len()))?.clone();
    Some((properties, name))
}

pub(crate) const OPERATORS: [(&str, Operator); 51] = [
    ("remove property", |node, random| {
        let Some((properties, name)) = listed(node, random) else { return false };
        properties.remove(&name);
        if let Some(required) = node.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|it| *it != name.as_str());
        }
        true
    }),
    ("add property", |node, _| match node.get_mut("properties").and_then(Value::as_object_mut) {
        Some(properties) => {
            properties.insert("addedByTest".into(), json!({"type": "string"})).is_none()
        }
        None => false,
    }),
    ("add property with default", |node, _| {
        match node.get_mut("properties").and_then(Value::as_object_mut) {
            Some(properties) => properties
                .insert("addedByTest".into(), json!({"type": "string", "default": "x"}))
                .is_none(),
            None => false,
        }
    }),
    ("require property", |node, random| {
        let Some((_, name)) = listed(node, random) else { return false };
        let required = node.entry("required").or_insert(json!([])).as_array_mut().unwrap();
        let is_new = !required.contains(&name.as_str().into());
        if is_new {
            required.push(name.into());
        }
        is_new
    }),
    ("make property optional", |node, random| {
        match node.get_mut("required").and_then(Value::as_array_mut) {
            Some(required) if !required.is_empty() => {
                required.remove(random.below(required.len()));
                true
            }
            _ => false,
        }
    }),
    ("shrink enum", |node, random| {
        let has_default = node.contains_key("default");
        match node.get_mut("enum").and_then(Value::as_array_mut) {
            Some(entries) if entries.len() > 1 && !has_default => {
                entries.remove(random.below(entries.len()));
                true
            }
            _ => false,
        }
    }),
    ("grow enum", |node, _| match node.get_mut("enum").and_then(Value::as_array_mut) {
        Some(entries) => {
            entries.push("addedByTest".into());
            true
        }
        None => false,
    }),
    ("drop enum", |node, _| node.remove("enum").is_some()),
    ("add enum", |node, _| {
        is(node, "string")
            && !node.contains_key("default")
            && !node.contains_key("enum")
            && set(node, "enum", json!(["a", "b"]))
    }),
    ("add maxLength", |node, _| {
        is(node, "string") && !node.contains_key("default") && set(node, "maxLength", 4.into())
    }),
    ("raise maxLength", |node, _| match node.get("maxLength").and_then(Value::as_i64) {
        Some(length) => {
            node.insert("maxLength".into(), (length + 1).into());
            true
        }
        None => false,
    }),
    ("lower maxLength", |node, _| match node.get("maxLength").and_then(Value::as_i64) {
        Some(length) if length > 64 => {
            node.insert("maxLength".into(), (length - 1).into());
            true
        }
        _ => false,
    }),
    ("add minLength", |node, _| {
        is(node, "string") && !node.contains_key("default") && set(node, "minLength", 1.into())
    }),
    ("add pattern", |node, _| {
        is(node, "string")
            && !node.contains_key("default")
            && set(node, "pattern", "^[a-z]*$".into())
    }),
    ("drop pattern", |node, _| node.remove("pattern").is_some()),
    ("widen pattern", |node, _| match node.get("pattern").and_then(Value::as_str) {
        Some(pattern) => {
            let wide = format!("(?:{pattern})|^added$");
            node.insert("pattern".into(), wide.into());
            true
        }
        None => false,
    }),
    ("add maximum", |node, _| {
        is(node, "integer") && !node.contains_key("default") && set(node, "maximum", 1000.into())
    }),
    ("add minimum", |node, _| {
        is(node, "integer") && !node.contains_key("default") && set(node, "minimum", 1.into())
    }),
    ("drop minimum", |node, _| node.remove("minimum").is_some()),
    ("lower minimum", |node, _| match node.get("minimum").and_then(Value::as_i64) {
        Some(minimum) => {
            node.insert("minimum".into(), (minimum - 1).into());
            true
        }
        None => false,
    }),
    ("widen integer", |node, _| {
        is(node, "integer") && node.get("format").is_none_or(|format| format == "int64") && {
            node.insert("type".into(), "number".into());
            node.remove("format");
            true
        }
    }),
    ("int32 to int64", |node, _| {
        node.get("format") == Some(&"int32".into()) && {
            node.insert("format".into(), "int64".into());
            true
        }
    }),
    ("change type", |node, _| {
        is(node, "string") && !node.contains_key("default") && !node.contains_key("enum") && {
            node.insert("type".into(), "boolean".into());
            true
        }
    }),
    ("add default", |node, _| is(node, "boolean") && set(node, "default", true.into())),
    ("change default", |node, _| match node.get("default").and_then(Value::as_bool) {
        Some(default) => {
            node.insert("default".into(), (!default).into());
            true
        }
        None => false,
    }),
    ("drop default", |node, _| node.remove("default").is_some()),
    ("make nullable", |node, _| {
        (is(node, "string") || is(node, "object")) && set(node, "nullable", true.into())
    }),
    ("add maxItems", |node, _| {
        is(node, "array")
            && !node.contains_key("maxItems")
            && !node.contains_key("default")
            && set(node, "maxItems", 3.into())
    }),
    ("add list set", |node, _| {
        is(node, "array")
            && node.get("items").is_some_and(|items| items["type"] == "string")
            && !node.contains_key("default")
            && set(node, "x-kubernetes-list-type", "set".into())
    }),
    ("atomic map", |node, _| {
        is(node, "object")
            && !node.contains_key("x-kubernetes-map-type")
            && set(node, "x-kubernetes-map-type", "atomic".into())
    }),
    ("prune preserved", |node, _| {
        is(node, "object") && node.remove("x-kubernetes-preserve-unknown-fields").is_some()
    }),
    ("preserve", |node, _| {
        is(node, "object")
            && !node.contains_key("additionalProperties")
            && set(node, "x-kubernetes-preserve-unknown-fields", true.into())
    }),
    ("drop rule", |node, random| {
        let Some(rules) = rules(node) else { return false };
        rules.remove(random.below(rules.len()));
        true
    }),
    ("guard rule", |node, random| {
        let Some(name) = optional(node, random) else { return false };
        rewrite(node, random, |rule| format!("!has(self.{name}) || ({rule})"))
    }),
    ("strengthen rule", |node, random| {
        let Some(name) = optional(node, random) else { return false };
        rewrite(node, random, |rule| format!("({rule}) && has(self.{name})"))
    }),
    ("negate rule", |node, random| rewrite(node, random, |rule| format!("!({rule})"))),
    ("raise number of rule", |node, random| {
        let number = |rule: &str| {
            let begin = rule.find(|it: char| it.is_ascii_digit()).unwrap_or(rule.len());
            let (before, rest) = rule.split_at(begin);
            let end = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
            let (number, after) = rest.split_at(end);
            let raised = number.parse::<i64>().map_or(number.to_owned(), |it| (it + 1).to_string());
            format!("{before}{raised}{after}")
        };
        rewrite(node, random, number)
    }),
    ("change message", |node, random| {
        let Some(rules) = rules(node) else { return false };
        let chosen = random.below(rules.len());
        rules[chosen]["message"] = "changed by the test".into();
        true
    }),
    ("drop property and its rules", |node, random| {
        let Some((_, name)) = listed(node, random) else { return false };
        let names_it = |rule: &Value| rule["rule"].as_str().unwrap().contains(&format!(".{name}"));
        let Some(rules) = rules(node).filter(|rules| rules.iter().any(names_it)) else {
            return false;
        };
        rules.retain(|rule| !names_it(rule));
        node["properties"].as_object_mut().unwrap().remove(&name);
        if let Some(required) = node.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|it| *it != name.as_str());
        }
        true
    }),
    ("make immutable", |node, _| {
        (is(node, "string") || is(node, "integer")) && add_rule(node, "self == oldSelf")
    }),
    ("make unset immutable", |node, random| {
        let Some(name) = optional(node, random) else { return false };
        add_rule(node, &format!("has(self.{name}) || !has(oldSelf.{name})"))
    }),
    ("rule: at most one", |node, random| {
        let (Some(a), Some(b)) = (optional(node, random), optional(node, random)) else {
            return false;
        };
        a != b && add_rule(node, &format!("!(has(self.{a}) && has(self.{b}))"))
    }),
    ("rule: exactly one", |node, random| {
        let (Some(a), Some(b)) = (optional(node, random), optional(node, random)) else {
            return false;
        };
        a != b && add_rule(node, &format!("has(self.{a}) != has(self.{b})"))
    }),
    ("rule: one needs another", |node, random| {
        let (Some(a), Some(b)) = (optional(node, random), optional(node, random)) else {
            return false;
        };
        a != b && add_rule(node, &format!("has(self.{a}) ? has(self.{b}) : true"))
    }),
    ("rule: few items", |node, _| is(node, "array") && add_rule(node, "self.size() <= 5")),
    ("rule: all items", |node, _| {
        is(node, "array")
            && node.get("items").is_some_and(|items| items["type"] == "string")
            && add_rule(node, "self.all(x, x != '')")
    }),
    ("rule: pattern", |node, _| is(node, "string") && add_rule(node, "self.matches('^[a-z]*$')")),
    ("rule: prefix", |node, _| is(node, "string") && add_rule(node, "self.startsWith('a')")),
    ("rule: minimum", |node, _| is(node, "integer") && add_rule(node, "self >= 1")),
    ("rule of a new property", |node, _| {
        add_property(node, "addedByTest")
            && add_rule(node, "!has(self.addedByTest) || self.addedByTest != ''")
    }),
    ("rule of a new property and an old one", |node, random| {
        let Some(name) = optional(node, random) else { return false };
        add_property(node, "addedByTest")
            && add_rule(node, &format!("!(has(self.addedByTest) && has(self.{name}))"))
    }),
];

/// The rules of a node, if it has any.
fn rules(node: &mut serde_json::Map<String, Value>) -> Option<&mut Vec<Value>> {
    node.get_mut("x-kubernetes-validations")?.as_array_mut().filter(|rules| !rules.is_empty())
}

/// A property that may be absent and can be named in a rule.
pub(crate) fn optional(
    node: &serde_json::Map<String, Value>,
    random: &mut Random,
) -> Option<String> {
    let required = node.get("required").and_then(Value::as_array);
    let is_named = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !["in", "as", "if", "for", "package", "namespace", "import", "function"]
                .contains(&name)
    };
    let properties = node.get("properties")?.as_object()?;
    let names: Vec<&String> = properties
        .iter()
        .filter(|(name, part)| {
            is_named(name)
                && part.get("default").is_none()
                && !required.is_some_and(|required| required.contains(&name.as_str().into()))
        })
        .map(|(name, _)| name)
        .collect();
    names.get(random.below(names.len().max(1))).map(|name| (*name).clone())
}

pub(crate) fn rewrite(
    node: &mut serde_json::Map<String, Value>,
    random: &mut Random,
    edit: impl Fn(&str) -> String,
) -> bool {
    let Some(rules) = rules(node) else { return false };
    let chosen = random.below(rules.len());
    let before = rules[chosen]["rule"].as_str().unwrap().to_owned();
    rules[chosen]["rule"] = edit(&before).into();
    rules[chosen]["rule"] != before.as_str()
}

pub(crate) fn add_rule(node: &mut serde_json::Map<String, Value>, rule: &str) -> bool {
    let rules = node.entry("x-kubernetes-validations").or_insert(json!([])).as_array_mut().unwrap();
    rules.push(json!({"rule": rule, "message": "added by the test"}));
    true
}

pub(crate) fn add_property(node: &mut serde_json::Map<String, Value>, name: &str) -> bool {
    let properties = node.get_mut("properties").and_then(Value::as_object_mut);
    properties.is_some_and(|it| it.insert(name.into(), json!({"type": "string"})).is_none())
}
