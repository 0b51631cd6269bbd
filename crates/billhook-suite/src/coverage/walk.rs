//! The parts of a definition, and which of them an object has.

use std::collections::BTreeMap;

use billhook::{FieldPath, RuleVerdict, Segment};
use billhook_apimachinery::value::{deep_eq, grow, sorted};
use billhook_cel::Branch;
use billhook_generation::FIXED;
use billhook_schema::{SchemaStep, SchemaView, WrittenVersion};
use serde_json::Value;

use super::{CoverageItem, CoverageKind};
use crate::files::FoundDefinition;

const RULES: &str = "x-kubernetes-validations";
const MESSAGE: &str = "messageExpression";
const ENUM: &str = "enum";

/// Collects the parts of a definition.
pub(super) struct Items<'d> {
    definition: &'d FoundDefinition,
    version: &'d str,
    found: Vec<CoverageItem>,
}

impl<'d> Items<'d> {
    /// The parts of all served versions, in the order of the text.
    pub(super) fn of(definition: &'d FoundDefinition) -> Vec<CoverageItem> {
        let mut items = Items { definition, version: "", found: Vec::new() };
        for WrittenVersion { name, is_served, path, schema, .. } in
            WrittenVersion::all(&definition.value)
        {
            let Some(schema) = schema.filter(|_| is_served) else { continue };
            items.version = name;
            items.keywords(schema, &path, "");
            items.below(schema, &path, "");
        }
        items.found.sort_by_key(|item| item.line);
        items.found
    }

    /// The parts of a schema that is not the top.
    fn node(&mut self, schema: SchemaView<'_>, path: &FieldPath, field: &str) {
        self.add(CoverageKind::Field, path, field);
        self.keywords(schema, path, field);
        grow(|| self.below(schema, path, field));
    }

    fn keywords(&mut self, schema: SchemaView<'_>, path: &FieldPath, field: &str) {
        if schema.keyword("default").is_some() {
            self.add(CoverageKind::Default, &path.clone().name("default"), field);
        }
        for (index, rule) in schema.list(RULES).enumerate() {
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
        for (index, _) in schema.list(ENUM).enumerate() {
            self.add(CoverageKind::EnumValue, &path.clone().name(ENUM).index(index), field);
        }
    }

    /// The branches of an expression.
    fn branches(&mut self, path: &FieldPath, expression: &str, field: &str) {
        for branch in CoverageItem::branches(&self.definition.place, path, expression) {
            self.push(branch, field);
        }
    }

    fn below(&mut self, schema: SchemaView<'_>, path: &FieldPath, field: &str) {
        for (step, part) in schema.parts() {
            let below = match step {
                // Every object has these, and the server looks after them.
                SchemaStep::Property(name) if field.is_empty() && FIXED.contains(&name) => continue,
                SchemaStep::Property(name) if field.is_empty() => name.to_owned(),
                SchemaStep::Property(name) => format!("{field}.{name}"),
                SchemaStep::AdditionalProperties | SchemaStep::Items => format!("{field}[*]"),
            };
            self.node(part, &step.add_to(path.clone()), &below);
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
    pub(super) fn values(&mut self, schema: SchemaView<'_>, object: &Value) {
        self.node(schema, object, "");
    }

    fn node(&mut self, schema: SchemaView<'_>, value: &Value, at: &str) {
        if value.is_null() {
            return;
        }
        self.hit(CoverageKind::Field, at.to_owned()).0 += 1;
        let values = schema.list(ENUM).enumerate();
        for (index, _) in values.filter(|(_, known)| deep_eq(known, value)) {
            self.hit(CoverageKind::EnumValue, format!("{at}/{ENUM}/{index}")).0 += 1;
        }
        grow(|| match value {
            Value::Object(members) => {
                for (name, member) in sorted(members) {
                    let Some((step, part)) = schema.below(Segment::Name(name)) else { continue };
                    self.node(part, member, &below(at, step));
                }
            }
            Value::Array(items) => {
                let Some(part) = schema.items() else { return };
                let at = below(at, SchemaStep::Items);
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

/// The pointer of a part one step down.
fn below(at: &str, step: SchemaStep<'_>) -> String {
    format!("{at}{}", step.add_to(FieldPath::default()).to_json_pointer())
}

/// The part of a pointer inside the schema of a version.
fn inside(pointer: &str) -> &str {
    const SCHEMA: &str = "/openAPIV3Schema";
    pointer.split_once(SCHEMA).map_or(pointer, |(_, inside)| inside)
}
