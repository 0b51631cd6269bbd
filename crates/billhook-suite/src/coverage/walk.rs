//! The parts of a definition, and which of them an object has.

use std::collections::BTreeMap;

use billhook::{FieldPath, RuleVerdict};
use billhook_apimachinery::value::{deep_eq, grow, sorted};
use billhook_cel::Branch;
use serde_json::Value;

use super::{CoverageItem, CoverageKind};
use crate::files::FoundDefinition;

/// The name of a list or map, under which the parts of an item are.
const ITEMS: &str = "items";
const ADDITIONAL: &str = "additionalProperties";
const RULES: &str = "x-kubernetes-validations";
const MESSAGE: &str = "messageExpression";
const ENUM: &str = "enum";

/// The elements of a list of a schema.
fn elements<'v>(schema: &'v Value, keyword: &str) -> impl Iterator<Item = &'v Value> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// Collects the parts of a definition.
pub(super) struct Items<'d> {
    definition: &'d FoundDefinition,
    version: &'d str,
    found: Vec<CoverageItem>,
}

impl<'d> Items<'d> {
    /// The parts of all served versions, in the order of the text.
    pub(super) fn of(definition: &'d FoundDefinition) -> Vec<CoverageItem> {
        let versions = definition.value.pointer("/spec/versions").and_then(Value::as_array);
        let mut items = Items { definition, version: "", found: Vec::new() };
        for (index, version) in versions.into_iter().flatten().enumerate() {
            let name = version.get("name").and_then(Value::as_str).unwrap_or_default();
            let schema = version.pointer("/schema/openAPIV3Schema");
            let Some(schema) = schema.filter(|_| version.get("served") == Some(&true.into()))
            else {
                continue;
            };
            items.version = name;
            let path = FieldPath::default().name("spec").name("versions").index(index);
            let path = path.name("schema").name("openAPIV3Schema");
            items.keywords(schema, &path, "");
            items.below(schema, &path, "");
        }
        items.found.sort_by_key(|item| item.line);
        items.found
    }

    /// The parts of a schema that is not the top.
    fn node(&mut self, schema: &Value, path: &FieldPath, field: &str) {
        if !schema.is_object() {
            return;
        }
        self.add(CoverageKind::Field, path, field);
        self.keywords(schema, path, field);
        grow(|| self.below(schema, path, field));
    }

    fn keywords(&mut self, schema: &Value, path: &FieldPath, field: &str) {
        if schema.get("default").is_some() {
            self.add(CoverageKind::Default, &path.clone().name("default"), field);
        }
        for (index, rule) in elements(schema, RULES).enumerate() {
            let path = path.clone().name(RULES).index(index);
            self.add(CoverageKind::Rule, &path, field);
            let text = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default();
            self.branches(&path.clone().name("rule"), text("rule"), field);
            let message = text(MESSAGE);
            if !message.is_empty() {
                let path = path.name(MESSAGE);
                let whole =
                    CoverageItem::new(CoverageKind::Expression, &self.definition.place, &path);
                self.push(CoverageItem { text: message.to_owned(), ..whole }, field);
                self.branches(&path, message, field);
            }
        }
        for (index, _) in elements(schema, ENUM).enumerate() {
            self.add(CoverageKind::EnumValue, &path.clone().name(ENUM).index(index), field);
        }
    }

    /// The branches of an expression.
    fn branches(&mut self, path: &FieldPath, expression: &str, field: &str) {
        for branch in CoverageItem::branches(&self.definition.place, path, expression) {
            self.push(branch, field);
        }
    }

    fn below(&mut self, schema: &Value, path: &FieldPath, field: &str) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.map(sorted).into_iter().flatten() {
            // Every object has these, and the server looks after them.
            if field.is_empty() && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
                continue;
            }
            let dot = if field.is_empty() { "" } else { "." };
            let field = format!("{field}{dot}{name}");
            self.node(property, &path.clone().name("properties").name(name), &field);
        }
        for keyword in [ITEMS, ADDITIONAL] {
            if let Some(part) = schema.get(keyword) {
                self.node(part, &path.clone().name(keyword), &format!("{field}[*]"));
            }
        }
    }

    fn add(&mut self, kind: CoverageKind, path: &FieldPath, field: &str) {
        self.push(CoverageItem::new(kind, &self.definition.place, path), field);
    }

    fn push(&mut self, item: CoverageItem, field: &str) {
        let (version, field) = (self.version.to_owned(), field.to_owned());
        self.found.push(CoverageItem { version, field, ..item });
    }
}

/// The parts that an object has, as JSON pointers from the schema of the version.
#[derive(Default)]
pub(super) struct Hits {
    /// How often, and how often a rule was violated or a branch false.
    found: BTreeMap<Part, (u64, u64)>,
}

/// The kind, the place, and where a branch begins and ends.
type Part = (CoverageKind, String, Option<(usize, usize)>);

impl Hits {
    pub(super) fn set_default(&mut self, schema: &FieldPath) {
        let part = format!("{}/default", inside(&schema.to_json_pointer()));
        self.hit(CoverageKind::Default, part).0 += 1;
    }

    pub(super) fn rule(&mut self, verdict: &RuleVerdict) {
        let schema = verdict.schema_path.to_json_pointer();
        let part = format!("{}/{RULES}/{}", inside(&schema), verdict.rule);
        self.branches(&format!("{part}/rule"), &verdict.branches);
        if let Some(branches) = &verdict.message_branches {
            let message = format!("{part}/{MESSAGE}");
            self.branches(&message, branches);
            self.hit(CoverageKind::Expression, message).0 += 1;
        }
        let (kept, violated) = self.hit(CoverageKind::Rule, part);
        *(if verdict.is_kept { kept } else { violated }) += 1;
    }

    fn branches(&mut self, part: &str, branches: &[Branch]) {
        for Branch { span, truths, falsehoods, .. } in branches {
            let span = Some((span.start, span.end));
            let key = (CoverageKind::Branch, part.to_owned(), span);
            let (hits, violations) = self.found.entry(key).or_default();
            *hits += truths;
            *violations += falsehoods;
        }
    }

    /// Counts the values of an object.
    pub(super) fn values(&mut self, schema: &Value, object: &Value) {
        self.node(schema, object, "");
    }

    fn node(&mut self, schema: &Value, value: &Value, at: &str) {
        if value.is_null() {
            return;
        }
        self.hit(CoverageKind::Field, at.to_owned()).0 += 1;
        let values = elements(schema, ENUM).enumerate();
        for (index, _) in values.filter(|(_, known)| deep_eq(known, value)) {
            self.hit(CoverageKind::EnumValue, format!("{at}/{ENUM}/{index}")).0 += 1;
        }
        grow(|| match value {
            Value::Object(members) => {
                for (name, member) in sorted(members) {
                    let property = schema.get("properties").and_then(|known| known.get(name));
                    if let Some(property) = property {
                        let path = FieldPath::default().name("properties").name(name);
                        self.node(property, member, &format!("{at}{}", path.to_json_pointer()));
                    } else if let Some(part) = schema.get(ADDITIONAL) {
                        self.node(part, member, &format!("{at}/{ADDITIONAL}"));
                    }
                }
            }
            Value::Array(items) => {
                let Some(part) = schema.get(ITEMS) else { return };
                let at = format!("{at}/{ITEMS}");
                items.iter().for_each(|item| self.node(part, item, &at));
            }
            _ => {}
        });
    }

    fn hit(&mut self, kind: CoverageKind, part: String) -> &mut (u64, u64) {
        self.found.entry((kind, part, None)).or_default()
    }

    /// Adds the numbers to the parts of a version.
    pub(super) fn add_to(&self, items: &mut [CoverageItem], version: &str) {
        for item in items.iter_mut().filter(|item| item.version == version) {
            let pointer = item.path.to_json_pointer();
            let span = item.span.as_ref().map(|span| (span.start, span.end));
            let part = (item.kind, inside(&pointer).to_owned(), span);
            if let Some((hits, violations)) = self.found.get(&part) {
                item.hits += hits;
                item.violations += violations;
            }
        }
    }
}

/// The part of a pointer inside the schema of a version.
fn inside(pointer: &str) -> &str {
    const SCHEMA: &str = "/openAPIV3Schema";
    pointer.split_once(SCHEMA).map_or(pointer, |(_, inside)| inside)
}
