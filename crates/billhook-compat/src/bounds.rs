//! Bounds that bring rules within their budgets (CC-27).

use std::cell::Cell;

use billhook::{
    CrdError, CrdOptions, CustomResourceDefinition, FieldPath, KubernetesVersion, Segment,
};
use billhook_apimachinery::value::{deep_clone, grow};
use billhook_cel::{
    CheckedSchema, ReadPart, ReadStep, RuleChecks, costly_rules, costly_together, reads,
};
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
/// the order of versions and rules, and then those with which all rules of a version together are. Each
/// is the largest one with which the others do, within [`MAX_BOUND_TRIES`] tries. Nothing is said
/// of rules that no bounds help.
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
        let mut document = deep_clone(&side.document);
        let costly = Budget::Each.exceeded(&document, options.kubernetes);
        for rule in costly.into_iter().take(MAX_BOUNDED_RULES) {
            let bounded = Bounded::of_rule(&side.document, &rule, options.kubernetes);
            found.extend(lint("it is", base.clone().join(&rule), bounded, &mut document));
        }
        // With these bounds, all together may still cost too much.
        let bounded = Bounded::of_all(&document, options.kubernetes);
        found.extend(lint("the cost of all rules is", base, bounded, &mut document));
    }
    Ok(found)
}

/// The bounds that are found, which are set in the schema.
fn lint(
    whose: &str,
    path: FieldPath,
    bounded: Option<Bounded>,
    document: &mut Value,
) -> Option<SchemaLint> {
    let bounds = bounded?.bounds()?;
    bounds.iter().for_each(|(bound, most)| bound.set(document, *most));
    let named = bounds.iter().map(|(bound, most)| bound.named(*most)).collect::<Vec<_>>();
    let message = format!("{whose} within its budget with {}", named.join(" and "));
    Some(SchemaLint { code: LintCode::MissingBound, path, message })
}

/// A budget of a server for rules (CE-25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Budget {
    Each,
    All,
}

impl Budget {
    /// The rules of a schema that exceed it.
    fn exceeded(self, document: &Value, kubernetes: KubernetesVersion) -> Vec<FieldPath> {
        let schema = JsonSchemaProps::from_value(document).ok();
        let schema = schema.and_then(|schema| StructuralSchema::new(schema).ok());
        let Some(schema) = schema else { return Vec::new() };
        let (schema, checks) =
            (CheckedSchema::new(&schema).kubernetes(kubernetes), RuleChecks::default());
        let rules = match self {
            Budget::Each => costly_rules(&schema, &checks),
            Budget::All => costly_together(&schema, &checks),
        };
        rules.into_iter().map(|rule| rule.path).collect()
    }
}

/// A bound of a node: the keyword, and the node as a pointer and as it is named in objects.
struct Bound {
    keyword: &'static str,
    pointer: String,
    name: String,
}

impl Bound {
    /// Sets it in a schema, unless there is a smaller one.
    fn set(&self, document: &mut Value, most: u64) {
        if let Some(node) = document.pointer_mut(&self.pointer).and_then(Value::as_object_mut) {
            let before = node.get(self.keyword).and_then(Value::as_u64);
            let most = before.map_or(most, |before| before.min(most));
            node.insert(self.keyword.to_owned(), most.into());
        }
    }

    fn named(&self, most: u64) -> String {
        format!("`{}: {most}` at {}", self.keyword, self.name)
    }
}

/// A schema whose rules exceed a budget, and what may be bounded.
struct Bounded {
    document: Value,
    budget: Budget,
    bounds: Vec<Bound>,
    kubernetes: KubernetesVersion,
    /// How often bounds may still be tried.
    tries: Cell<usize>,
}

impl Bounded {
    fn new(document: Value, budget: Budget, kubernetes: KubernetesVersion) -> Self {
        let tries = Cell::new(MAX_BOUND_TRIES);
        Bounded { document, budget, bounds: Vec::new(), kubernetes, tries }
    }

    /// A rule that exceeds its own budget: of the schema, the way to it and what is below are left.
    fn of_rule(schema: &Value, rule: &FieldPath, kubernetes: KubernetesVersion) -> Option<Self> {
        let (steps, index) = place(rule)?;
        let document = trimmed(schema, &steps, index)?;
        let mut bounded = Bounded::new(document, Budget::Each, kubernetes);
        bounded.add_rule(&steps, 0)?;
        Some(bounded)
    }

    /// All rules of a schema that exceed their budget together; none if they do not.
    fn of_all(schema: &Value, kubernetes: KubernetesVersion) -> Option<Self> {
        let mut bounded = Bounded::new(deep_clone(schema), Budget::All, kubernetes);
        let rules = Budget::All.exceeded(schema, kubernetes);
        for rule in &rules {
            let (steps, index) = place(rule)?;
            bounded.add_rule(&steps, index)?;
        }
        (!rules.is_empty()).then_some(bounded)
    }

    /// Adds the bounds of what is around a rule and of what it reads.
    fn add_rule(&mut self, steps: &[Segment<'_>], index: usize) -> Option<()> {
        let (mut pointer, mut name) = (String::new(), String::new());
        for step in steps {
            self.add(&pointer, &name);
            match step {
                Segment::Name(keyword) => {
                    pointer = format!("{pointer}/{keyword}");
                    name.push_str(if *keyword == "properties" { "" } else { "[*]" });
                }
                Segment::Key(field) => {
                    pointer.push_str(&FieldPath::default().name(*field).to_json_pointer());
                    name = joined(&name, field);
                }
                _ => return None,
            }
        }
        let rules = self.document.pointer(&pointer)?.get("x-kubernetes-validations")?;
        let text = rules.get(index)?.get("rule")?.as_str()?;
        for part in reads(text).ok()?.parts {
            self.add_read(&part, &pointer, &name);
        }
        Some(())
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

    /// Whether the budget is kept with some of the bounds; not if that was tried too often.
    fn fits(&self, bounds: &[Option<u64>]) -> bool {
        let Some(left) = self.tries.get().checked_sub(1) else { return false };
        self.tries.set(left);
        let mut document = deep_clone(&self.document);
        for (bound, most) in self.bounds.iter().zip(bounds) {
            if let Some(most) = most {
                bound.set(&mut document, *most);
            }
        }
        self.budget.exceeded(&document, self.kubernetes).is_empty()
    }

    /// As few and as large bounds as are found.
    fn bounds(self) -> Option<Vec<(Bound, u64)>> {
        let all = |power: u32| vec![Some(1_u64 << power); self.bounds.len()];
        let power = (0..=LARGEST).rev().find(|power| self.fits(&all(*power)))?;
        let mut bounds = all(power);
        for index in 0..bounds.len() {
            self.change(&mut bounds, index, None);
        }
        for index in 0..bounds.len() {
            self.raise(&mut bounds, index);
        }
        let found = self.bounds.into_iter().zip(bounds);
        Some(found.filter_map(|(bound, most)| Some((bound, most?))).collect())
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

/// The way to the node of a rule, and the position of the rule there.
fn place(rule: &FieldPath) -> Option<(Vec<Segment<'_>>, usize)> {
    let mut steps: Vec<Segment<'_>> = rule.segments().collect();
    let (Segment::Index(index), _) = (steps.pop()?, steps.pop()?) else { return None };
    Some((steps, index))
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
