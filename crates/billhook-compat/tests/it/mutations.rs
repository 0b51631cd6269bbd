//! Definitions that people serve, changed as maintainers change them: what is answered is checked
//! against both definitions.

use std::path::{Path, PathBuf};

use billhook::{
    CrdVersion, CustomResourceDefinition, DecodeOptions, DeepValue, FieldValidation,
    ValidateOptions,
};
use billhook_compat::{Question, Verdict, compare};
use billhook_generation::{Hints, Oracle, changes, sample_object};
use serde_json::{Value, json};

/// A change of a schema at one of its nodes; false if it does not apply there.
type Operator = fn(&mut serde_json::Map<String, Value>, &mut Random) -> bool;

/// A source of numbers that are always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

fn is(node: &serde_json::Map<String, Value>, type_: &str) -> bool {
    node.get("type").and_then(Value::as_str) == Some(type_)
}

fn set(node: &mut serde_json::Map<String, Value>, keyword: &str, value: Value) -> bool {
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

const OPERATORS: [(&str, Operator); 51] = [
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
fn optional(node: &serde_json::Map<String, Value>, random: &mut Random) -> Option<String> {
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

fn rewrite(
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

fn add_rule(node: &mut serde_json::Map<String, Value>, rule: &str) -> bool {
    let rules = node.entry("x-kubernetes-validations").or_insert(json!([])).as_array_mut().unwrap();
    rules.push(json!({"rule": rule, "message": "added by the test"}));
    true
}

fn add_property(node: &mut serde_json::Map<String, Value>, name: &str) -> bool {
    let properties = node.get_mut("properties").and_then(Value::as_object_mut);
    properties.is_some_and(|it| it.insert(name.into(), json!({"type": "string"})).is_none())
}

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = root.join("../shared/corpus/crds");
    let directory = if shared.is_dir() { shared } else { root.join("fixtures/crds") };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// The schemas of a document, as pointers; not those below junctors.
fn nodes(schema: &Value, pointer: &str, found: &mut Vec<String>) {
    found.push(pointer.to_owned());
    for (name, part) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if !["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
            let name = name.replace('~', "~0").replace('/', "~1");
            nodes(part, &format!("{pointer}/properties/{name}"), found);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(part @ Value::Object(_)) = schema.get(keyword) {
            nodes(part, &format!("{pointer}/{keyword}"), found);
        }
    }
}

struct Tally {
    decided: usize,
    open: usize,
    with_rules: (usize, usize),
    undecided: Vec<String>,
}

/// Applies each operator to a definition, and checks what is answered.
fn attack(path: &Path, objects: usize, tally: &mut Tally, random: &mut Random) {
    let text = std::fs::read(path).unwrap();
    for manifest in billhook::read_manifests(&text).unwrap() {
        let old = manifest.into_value();
        let has_rules = String::from_utf8_lossy(&text).contains("x-kubernetes-validations");
        let versions = old["spec"]["versions"].as_array().unwrap().len();
        for (name, operator) in OPERATORS {
            let mut new = old.clone();
            let version = random.below(versions);
            let schema = &mut new["spec"]["versions"][version]["schema"]["openAPIV3Schema"];
            let mut found = Vec::new();
            nodes(schema, "", &mut found);
            let begin = random.below(found.len());
            found.rotate_left(begin);
            let applied = found.iter().any(|pointer| {
                let node = schema.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap();
                !(pointer.is_empty() && ["make nullable", "preserve", "atomic map"].contains(&name))
                    && operator(node, random)
            });
            if applied {
                check(path, name, &old, &new, objects, has_rules, tally);
                let undone = format!("undo: {name}");
                check(path, &undone, &new, &old, objects, has_rules, tally);
            }
        }
    }
}

fn check(
    path: &Path,
    name: &str,
    old: &Value,
    new: &Value,
    objects: usize,
    has_rules: bool,
    tally: &mut Tally,
) {
    let Ok(comparison) = compare(old, new) else { return };
    let label = || format!("{} {name}", path.file_name().unwrap().to_string_lossy());
    let (old_crd, new_crd) = (
        CustomResourceDefinition::from_value(old).unwrap(),
        CustomResourceDefinition::from_value(new).unwrap(),
    );
    for answer in &comparison.answers {
        match answer.verdict {
            Verdict::Undecided => {
                tally.undecided.push(format!(
                    "{}: {} {} {}: {}",
                    label(),
                    answer.question,
                    answer.path,
                    answer.change,
                    answer.reason
                ));
                tally.open += 1;
                if has_rules {
                    tally.with_rules.1 += 1;
                }
            }
            _ => {
                tally.decided += 1;
                if has_rules {
                    tally.with_rules.0 += 1;
                }
            }
        }
        if answer.question != Question::Writers {
            continue;
        }
        let (before, after) =
            (old_crd.version(&answer.version).unwrap(), new_crd.version(&answer.version).unwrap());
        match (answer.verdict, &answer.witness) {
            (Verdict::Breaks, Some(witness)) if witness.get("before").is_none() => {
                let stored = written(&before, witness, FieldValidation::Strict)
                    .unwrap_or_else(|| panic!("{}: not accepted: {witness:?}", label()));
                assert_ne!(
                    Some(stored),
                    written(&after, witness, FieldValidation::Ignore),
                    "{}: no difference",
                    label()
                );
            }
            (Verdict::Safe, _) if answer.reason != "nothing changed" => {
                attack_safe(&before, &after, objects, &label());
            }
            _ => {}
        }
    }
}

/// The object that is stored after an object and, where that is apart, its status are written.
fn written(version: &CrdVersion, object: &Value, mode: FieldValidation) -> Option<DeepValue> {
    let options = DecodeOptions::default().field_validation(mode);
    let decode =
        || Some(version.decode(billhook::to_json(object).as_bytes(), &options).ok()?.into_object());
    let validate = ValidateOptions::default().generic_checks(false);
    let mut created = decode()?;
    version.prepare_create(&mut created, "default");
    if !version.validate_create(&created, &validate).errors().is_empty() {
        return None;
    }
    if !version.has_status_subresource() || object.get("status").is_none() {
        return Some(created);
    }
    let mut updated = decode()?;
    for object in [&mut created, &mut updated] {
        object["metadata"]["resourceVersion"] = "1".into();
        object["metadata"]["namespace"] = "default".into();
    }
    version.prepare_status_update(&mut updated, &created);
    version
        .validate_status_update(&updated, &created, &validate)
        .errors()
        .is_empty()
        .then_some(updated)
}

/// Looks for an object that the old definition accepts and the new one does not store alike.
fn attack_safe(before: &CrdVersion, after: &CrdVersion, objects: usize, label: &str) {
    if objects == 0 {
        return;
    }
    for version in [before, after] {
        let schema = version.open_api_v3_schema().unwrap();
        let oracle = Oracle::new(before.clone(), &schema);
        let Some(mut object) = oracle.valid_near(&sample_object(version, &schema), &|_| true)
        else {
            continue;
        };
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut tried = 0;
        while tried < objects {
            let near = changes(&schema, &object, &Hints::default());
            if near.is_empty() {
                break;
            }
            for changed in near.iter().take(objects - tried) {
                tried += 1;
                if let Some(stored) = written(before, changed, FieldValidation::Strict) {
                    let new = written(after, changed, FieldValidation::Ignore);
                    assert_eq!(new.as_ref(), Some(&stored), "{label}: not safe: {changed}");
                }
            }
            object = near[random.below(near.len())].clone();
        }
    }
}

#[test]
fn answers_hold() {
    let files = corpus();
    // How many objects are tried for each proof, and with which part of the definitions.
    let attack = std::env::var("BILLHOOK_COMPAT_ATTACK").unwrap_or_default();
    let (objects, part) = attack.split_once('/').unwrap_or((&attack, "1"));
    let (step, objects) = match objects.parse() {
        Ok(objects) => (part.parse().unwrap(), objects),
        Err(_) => (files.len().div_ceil(3), 40),
    };
    let mut random = Random(42);
    let mut tally = Tally { decided: 0, open: 0, with_rules: (0, 0), undecided: Vec::new() };
    for path in files.iter().step_by(step) {
        self::attack(path, objects, &mut tally, &mut random);
    }
    let Tally { decided, open, with_rules, undecided } = &tally;
    if !attack.is_empty() {
        println!(
            "{}\ndecided {decided}, undecided {open}; with rules {with_rules:?}",
            undecided.join("\n")
        );
    }
    assert!(
        *decided >= 19 * open,
        "{decided} decided, {open} undecided:\n{}",
        undecided.join("\n")
    );
}
