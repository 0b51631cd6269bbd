//! Bounds that bring rules within their budgets (CC-27).

use std::cell::Cell;

use billhook::{
    CrdError, CrdOptions, CustomResourceDefinition, FieldPath, KubernetesVersion, Segment,
};
use billhook_apimachinery::value::{deep_clone, grow};
use billhook_cel::{CheckedSchema, ReadPart, ReadStep, RuleChecks, costly_rules, reads};
use billhook_schema::{JsonSchemaProps, StructuralSchema};
use serde_json::{Map, Value};

use crate::compare::CompareOptions;
use crate::limits::{MAX_BOUND_TRIES, MAX_BOUNDED_RULES, MAX_BOUNDS};
use crate::lint::{LintCode, SchemaLint};
use crate::rules::unescaped;
use crate::version::Side;

/// The largest bound that is proposed, as a power of two.
const LARGEST: u32 = 20;

/// Returns bounds with which the rules of a definition that exceed their budgets are within them, in
/// the order of versions and rules. Each is the largest one with which the others do, as far as
/// [`MAX_BOUND_TRIES`] tries go. Nothing is said of a rule that no bounds help.
///
/// ```
/// use billhook_compat::{CompareOptions, missing_bounds};
/// use serde_json::json;
///
/// let definition = json!({
///     "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
///     "metadata": {"name": "backups.example.com"},
///     "spec": {
///         "group": "example.com", "scope": "Namespaced",
///         "names": {"plural": "backups", "singular": "backup", "kind": "Backup", "listKind": "BackupList"},
///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
///             "type": "object", "properties": {"hosts": {
///                 "type": "array", "items": {"type": "string"},
///                 "x-kubernetes-validations": [{"rule": "self.all(x, self.all(y, x == y))"}],
///             }},
///         }}}],
///     },
/// });
/// let found = missing_bounds(&definition, &CompareOptions::default())?;
/// assert!(found[0].message.starts_with("it is within its budget with `maxItems: "));
/// # Ok::<(), billhook::CrdError>(())
/// ```
///
/// # Errors
///
/// If this is not a definition, or its schemas cannot be read.
pub fn missing_bounds(
    definition: &Value,
    options: &CompareOptions,
) -> Result<Vec<SchemaLint>, CrdError> {
    let crd_options = CrdOptions::default().kubernetes(options.kubernetes);
    let crd = CustomResourceDefinition::with_options(definition, &crd_options)?;
    let mut found = Vec::new();
    for side in &Side::all(&crd, definition)? {
        let base = side.schema_place();
        let costly = costly(&side.document, &base, options.kubernetes);
        for path in costly.into_iter().take(MAX_BOUNDED_RULES) {
            let below: FieldPath = path.segments().skip(base.segments().count()).collect();
            let bounded = Bounded::new(&side.document, &below, options.kubernetes);
            if let Some(bounds) = bounded.and_then(|bounded| bounded.bounds()) {
                let message = format!("it is within its budget with {}", bounds.join(" and "));
                found.push(SchemaLint { code: LintCode::MissingBound, path, message });
            }
        }
    }
    Ok(found)
}

/// The rules of a schema that exceed their budgets.
fn costly(document: &Value, base: &FieldPath, kubernetes: KubernetesVersion) -> Vec<FieldPath> {
    let schema = JsonSchemaProps::from_value(document).ok();
    let schema = schema.and_then(|schema| StructuralSchema::new(schema).ok());
    let Some(schema) = schema else { return Vec::new() };
    let checks = RuleChecks { base: base.clone(), ..RuleChecks::default() };
    let rules = costly_rules(&CheckedSchema::new(&schema).kubernetes(kubernetes), &checks);
    rules.into_iter().map(|rule| rule.path).collect()
}

/// A bound of a node: the keyword, and the node as a pointer and as it is named in objects.
struct Bound {
    keyword: &'static str,
    pointer: String,
    name: String,
}

/// A rule in a schema of which only the way to it, and what is below, is left.
struct Bounded {
    document: Value,
    bounds: Vec<Bound>,
    kubernetes: KubernetesVersion,
    /// How often bounds may still be tried.
    tries: Cell<usize>,
}

impl Bounded {
    fn new(schema: &Value, rule: &FieldPath, kubernetes: KubernetesVersion) -> Option<Self> {
        let mut steps: Vec<Segment<'_>> = rule.segments().collect();
        let (Segment::Index(index), _) = (steps.pop()?, steps.pop()?) else { return None };
        let document = trimmed(schema, &steps, index)?;
        let tries = Cell::new(MAX_BOUND_TRIES);
        let mut bounded = Bounded { document, bounds: Vec::new(), kubernetes, tries };
        let (mut pointer, mut name) = (String::new(), String::new());
        for step in steps {
            bounded.add(&pointer, &name);
            match step {
                Segment::Name(keyword) => {
                    pointer = format!("{pointer}/{keyword}");
                    name.push_str(if keyword == "properties" { "" } else { "[*]" });
                }
                Segment::Key(field) => {
                    pointer.push_str(&FieldPath::default().name(field).to_json_pointer());
                    name = joined(&name, field);
                }
                _ => return None,
            }
        }
        let node = bounded.document.pointer(&pointer)?;
        let text = node.pointer("/x-kubernetes-validations/0/rule")?.as_str()?;
        for part in reads(text).ok()?.parts {
            bounded.add_read(&part, &pointer, &name);
        }
        Some(bounded)
    }

    /// Adds the bound of a node that has a size.
    fn add(&mut self, pointer: &str, name: &str) {
        let Some(node) = self.document.pointer(pointer) else { return };
        let keyword = match node.get("type").and_then(Value::as_str) {
            Some("array") => "maxItems",
            Some("string") => "maxLength",
            Some("object") if node.get("additionalProperties").is_some() => "maxProperties",
            None if node.get("x-kubernetes-int-or-string").is_some() => "maxLength",
            _ => return,
        };
        let is_known = self.bounds.iter().any(|bound| bound.pointer == pointer);
        if !is_known && self.bounds.len() < MAX_BOUNDS {
            let (pointer, name) = (pointer.to_owned(), name.to_owned());
            self.bounds.push(Bound { keyword, pointer, name });
        }
    }

    /// Adds the bounds of what a rule reads.
    fn add_read(&mut self, part: &ReadPart, pointer: &str, name: &str) {
        let (mut pointer, mut name) = (pointer.to_owned(), name.to_owned());
        for step in &part.path {
            self.add(&pointer, &name);
            let Some(node) = self.document.pointer(&pointer) else { return };
            let items = if node.get("items").is_some() { "items" } else { "additionalProperties" };
            match step {
                ReadStep::Field(field) if node.get("properties").is_some() => {
                    let field = unescaped(field);
                    let below = FieldPath::default().name(&field).to_json_pointer();
                    pointer = format!("{pointer}/properties{below}");
                    name = joined(&name, &field);
                }
                _ => {
                    pointer = format!("{pointer}/{items}");
                    name.push_str("[*]");
                }
            }
        }
        match part.whole {
            true => self.add_below(&pointer, &name),
            false => self.add(&pointer, &name),
        }
    }

    fn add_below(&mut self, pointer: &str, name: &str) {
        self.add(pointer, name);
        let Some(node) = self.document.pointer(pointer) else { return };
        let listed = node.get("properties").and_then(Value::as_object);
        let names: Vec<String> = listed.into_iter().flat_map(Map::keys).cloned().collect();
        let has_part = |keyword: &&str| node.get(keyword).is_some_and(Value::is_object);
        let parts: Vec<&str> =
            ["items", "additionalProperties"].into_iter().filter(has_part).collect();
        for part in parts {
            grow(|| self.add_below(&format!("{pointer}/{part}"), &format!("{name}[*]")));
        }
        for field in names {
            let below = FieldPath::default().name(&field).to_json_pointer();
            let pointer = format!("{pointer}/properties{below}");
            grow(|| self.add_below(&pointer, &joined(name, &field)));
        }
    }

    /// Whether the rule is within its budget with some of the bounds; not if that was tried too often.
    fn fits(&self, bounds: &[Option<u64>]) -> bool {
        let Some(left) = self.tries.get().checked_sub(1) else { return false };
        self.tries.set(left);
        let mut document = deep_clone(&self.document);
        for (bound, most) in self.bounds.iter().zip(bounds) {
            let node = document.pointer_mut(&bound.pointer).and_then(Value::as_object_mut);
            if let (Some(node), Some(most)) = (node, most) {
                let before = node.get(bound.keyword).and_then(Value::as_u64);
                let most = before.map_or(*most, |before| before.min(*most));
                node.insert(bound.keyword.to_owned(), most.into());
            }
        }
        costly(&document, &FieldPath::default(), self.kubernetes).is_empty()
    }

    /// As few and as large bounds as are found.
    fn bounds(&self) -> Option<Vec<String>> {
        let all = |power: u32| vec![Some(1_u64 << power); self.bounds.len()];
        let power = (0..=LARGEST).rev().find(|power| self.fits(&all(*power)))?;
        let mut bounds = all(power);
        for index in 0..bounds.len() {
            self.change(&mut bounds, index, None);
        }
        for index in 0..bounds.len() {
            self.raise(&mut bounds, index);
        }
        let named = self.bounds.iter().zip(bounds).filter_map(|(bound, most)| {
            Some(format!("`{}: {}` at {}", bound.keyword, most?, bound.name))
        });
        Some(named.collect())
    }

    /// Makes a bound, which is a power of two, as large as the others let it be.
    fn raise(&self, bounds: &mut [Option<u64>], index: usize) {
        let Some(mut most) = bounds.get(index).copied().flatten() else { return };
        while most < 1 << LARGEST && self.change(bounds, index, Some(most * 2)) {
            most *= 2;
        }
        let mut step = if most < 1 << LARGEST { most / 2 } else { 0 };
        while step > 0 {
            if self.change(bounds, index, Some(most + step)) {
                most += step;
            }
            step /= 2;
        }
    }

    /// Changes a bound if the rule is within its budget then.
    fn change(&self, bounds: &mut [Option<u64>], index: usize, to: Option<u64>) -> bool {
        let Some(bound) = bounds.get_mut(index) else { return false };
        let before = std::mem::replace(bound, to);
        let fits = self.fits(bounds);
        if let Some(bound) = bounds.get_mut(index).filter(|_| !fits) {
            *bound = before;
        }
        fits
    }
}

fn joined(name: &str, field: &str) -> String {
    if name.is_empty() { field.to_owned() } else { format!("{name}.{field}") }
}

/// The way from a node to a rule, without other fields and rules.
fn trimmed(schema: &Value, steps: &[Segment<'_>], rule: usize) -> Option<Value> {
    let mut node: Map<String, Value> = schema.as_object()?.clone();
    let rules = node.remove("x-kubernetes-validations");
    match steps {
        [] => {
            node = without_rules(&Value::Object(node)).as_object()?.clone();
            let rule = rules?.get(rule).map(deep_clone)?;
            node.insert("x-kubernetes-validations".to_owned(), Value::Array(vec![rule]));
        }
        [Segment::Name("properties"), Segment::Key(field), below @ ..] => {
            let part = schema.get("properties")?.get(field)?;
            let part = grow(|| trimmed(part, below, rule))?;
            let listed = Map::from_iter([((*field).to_owned(), part)]);
            node.insert("properties".to_owned(), listed.into());
        }
        [Segment::Name(keyword), below @ ..] => {
            let part = grow(|| trimmed(schema.get(*keyword)?, below, rule))?;
            node.insert((*keyword).to_owned(), part);
        }
        _ => return None,
    }
    Some(node.into())
}

/// A schema without the rules in it.
fn without_rules(schema: &Value) -> Value {
    grow(|| match schema {
        Value::Object(members) => {
            let members = members.iter().filter(|(name, _)| *name != "x-kubernetes-validations");
            members.map(|(name, part)| (name.clone(), without_rules(part))).collect()
        }
        Value::Array(parts) => parts.iter().map(without_rules).collect(),
        other => deep_clone(other),
    })
}
