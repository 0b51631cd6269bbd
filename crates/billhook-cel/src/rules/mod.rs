//! The rules of a schema (`x-kubernetes-validations`), compiled, and their evaluation (CE-01 to
//! CE-51).

mod compile;
mod run;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use billhook_apimachinery::value::grow;
use billhook_apimachinery::{FieldError, FieldPath};
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::{Items, SchemaOrBool};
use billhook_validation::Validator;
use serde_json::Value;

use compile::Rule;
use run::Run;

use crate::language::schema::SchemaType;

/// What the evaluation of all rules of an object may cost (CE-35).
pub const BUDGET: u64 = 10_000_000;

/// What one evaluation may cost (CE-35).
pub const CALL_LIMIT: u64 = 1_000_000;

/// The rules of a schema, ready to be evaluated. Immutable, cheap to clone, and free to share
/// between threads.
#[derive(Clone)]
pub struct Rules(Arc<Arena>);

struct Arena {
    nodes: Vec<Node>,
    rules: Vec<Rule>,
}

/// A node that has rules, or below which there are some.
struct Node {
    validator: Validator,
    /// The written type.
    type_: Box<str>,
    /// None if CEL has no type for it; then it has no rules that compile.
    schema: Option<Arc<SchemaType>>,
    rules: Range<usize>,
    properties: BTreeMap<Box<str>, usize>,
    additional: Option<usize>,
    items: Option<usize>,
}

/// What the rules found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RuleFindings {
    /// What is wrong, in the server's order, with the members of an object in the order of their
    /// keys.
    pub errors: Vec<FieldError>,
    /// What was wrong before and has not changed: the server warns (CE-50).
    pub warnings: Vec<String>,
    /// What the evaluation cost (CE-35).
    pub cost: u64,
    /// Whether a limit of cost ended the evaluation before its end (CE-35).
    pub is_exhausted: bool,
}

impl Rules {
    /// Compiles the rules of a structural schema, of which `validator` is made too; none if it has
    /// no rules.
    pub fn new(schema: &JsonSchemaProps, validator: &Validator) -> Option<Self> {
        if !validator.has_rules() {
            return None;
        }
        let mut arena = Arena { nodes: Vec::new(), rules: Vec::new() };
        let schema_type = SchemaType::of(schema, true).map(Arc::new);
        arena.add(schema, validator, schema_type.as_ref());
        Some(Rules(Arc::new(arena)))
    }

    /// Evaluates the rules for an object, and for an update with the object it replaces.
    /// `budget` is what it may cost.
    pub fn check(&self, object: &Value, old: Option<&Value>, budget: u64) -> RuleFindings {
        Run::new(&self.0, budget).root(0, object, old, &FieldPath::default())
    }

    /// Evaluates the rules at and below a part of the schema for a default that stands there
    /// (DF-45): first as one that has not changed, then as a new one. `steps` leads to the part:
    /// names of properties, or none for the elements of a list or the members of a map. There are
    /// no warnings; the cost is that of the more expensive evaluation.
    pub fn check_default(
        &self,
        steps: &[Option<&str>],
        default: &Value,
        at: &FieldPath,
        budget: u64,
    ) -> RuleFindings {
        let mut id = 0;
        for step in steps {
            let Some(node) = self.0.nodes.get(id) else { return RuleFindings::default() };
            let next = match step {
                Some(name) => node.properties.get(*name).copied(),
                None => node.items.or(node.additional),
            };
            let Some(next) = next else { return RuleFindings::default() };
            id = next;
        }
        let check = |old| Run::new(&self.0, budget).strict().root(id, default, old, at);
        let unchanged = check(Some(default));
        if !unchanged.errors.is_empty() {
            return unchanged;
        }
        let new = check(None);
        RuleFindings { cost: new.cost.max(unchanged.cost), ..new }
    }
}

impl Arena {
    fn add(
        &mut self,
        schema: &JsonSchemaProps,
        validator: &Validator,
        schema_type: Option<&Arc<SchemaType>>,
    ) -> usize {
        let id = self.nodes.len();
        let written = schema.extensions.validations.as_deref().unwrap_or_default();
        let start = self.rules.len();
        self.rules.extend(Rule::compile_all(written, schema, schema_type.map(Arc::as_ref)));
        self.nodes.push(Node {
            type_: schema.type_.as_str().into(),
            schema: schema_type.cloned(),
            rules: start..self.rules.len(),
            properties: BTreeMap::new(),
            additional: None,
            items: None,
            validator: validator.clone(),
        });
        let outer = schema_type.map(Arc::as_ref);
        let mut add = |schema: &JsonSchemaProps,
                       validator: Option<Validator>,
                       schema_type: Option<&Arc<SchemaType>>| {
            let validator = validator.filter(Validator::has_rules)?;
            // What expressions can't see from outside has a type for its own rules.
            let is_resource = schema.extensions.embedded_resource;
            let own = || SchemaType::of(schema, is_resource).map(Arc::new);
            let schema_type = schema_type.cloned().or_else(own);
            Some(grow(|| self.add(schema, &validator, schema_type.as_ref())))
        };
        let mut properties = BTreeMap::new();
        for (name, property) in schema.properties.iter().flatten() {
            if let Some(child) = add(
                property,
                validator.property(name),
                outer.and_then(|outer| outer.property(name)),
            ) {
                properties.insert(name.as_str().into(), child);
            }
        }
        let additional = match &schema.additional_properties {
            Some(SchemaOrBool::Schema(schema)) => {
                add(schema, validator.additional_properties(), outer.and_then(SchemaType::elements))
            }
            _ => None,
        };
        let items = match &schema.items {
            Some(Items::Schema(schema)) => {
                add(schema, validator.items(), outer.and_then(SchemaType::elements))
            }
            _ => None,
        };
        if let Some(node) = self.nodes.get_mut(id) {
            node.properties = properties;
            node.additional = additional;
            node.items = items;
        }
        id
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("rules", &self.0.rules.len()).finish_non_exhaustive()
    }
}
