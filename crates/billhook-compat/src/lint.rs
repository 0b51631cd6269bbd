//! The parts of a schema that no object can do anything with (CC-26).

use billhook::{CrdError, CrdOptions, CustomResourceDefinition, FieldPath, to_json};
use billhook_apimachinery::value::grow;
use billhook_cel::{Reads, implies, reads};
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;
use serde_json::Value;

use crate::compare::CompareOptions;
use crate::inclusion::{Bare, Known, Prover, Shape, Unlisted};
use crate::rules;
use crate::version::Side;

/// The bytes of the largest object that etcd stores.
const MAX_STORED: usize = 3 << 19;

/// A part of a schema that no object can do anything with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLint {
    /// The kind of part.
    pub code: LintCode,
    /// The part, in the definition.
    pub path: FieldPath,
    /// A sentence about it.
    pub message: String,
}

/// The kinds of parts that no object can do anything with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LintCode {
    /// No value is valid for the schema.
    Unsatisfiable,
    /// The schema refuses an entry of its enum.
    UnusableEntry,
    /// No value of the schema is valid for one of its alternatives.
    UnusableBranch,
    /// A rule that is true for all values that the schema admits.
    Tautology,
    /// Rules that no value keeps together.
    Contradiction,
    /// A rule that exceeds its budget, and would not with bounds.
    MissingBound,
}

impl LintCode {
    /// Returns the word for it: `unsatisfiable`.
    pub fn as_str(self) -> &'static str {
        match self {
            LintCode::Unsatisfiable => "unsatisfiable",
            LintCode::UnusableEntry => "unusable-entry",
            LintCode::UnusableBranch => "unusable-branch",
            LintCode::Tautology => "tautology",
            LintCode::Contradiction => "contradiction",
            LintCode::MissingBound => "missing-bound",
        }
    }
}

/// Returns the parts of a definition's schemas for which it is proved that no object can do anything
/// with them, in the order of versions and fields. A definition that is too large for the store of a
/// server, of more than 1.5 MiB, is not looked at.
///
/// ```
/// use billhook_compat::{CompareOptions, lint};
/// use serde_json::json;
///
/// let definition = json!({
///     "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
///     "metadata": {"name": "backups.example.com"},
///     "spec": {
///         "group": "example.com", "scope": "Namespaced",
///         "names": {"plural": "backups", "singular": "backup", "kind": "Backup", "listKind": "BackupList"},
///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
///             "type": "object", "properties": {"mode": {
///                 "type": "string", "enum": ["full", "incremental"], "maxLength": 5,
///             }},
///         }}}],
///     },
/// });
/// let found = lint(&definition, &CompareOptions::default())?;
/// assert_eq!(found[0].message, "no value can be \"incremental\": the schema refuses it");
/// # Ok::<(), billhook::CrdError>(())
/// ```
///
/// # Errors
///
/// If this is not a definition, or its schemas cannot be served.
pub fn lint(definition: &Value, options: &CompareOptions) -> Result<Vec<SchemaLint>, CrdError> {
    if to_json(definition).len() > MAX_STORED {
        return Ok(Vec::new());
    }
    let crd_options = CrdOptions::default().kubernetes(options.kubernetes);
    let crd = CustomResourceDefinition::with_options(definition, &crd_options)?;
    let bare = Bare::new(options.kubernetes);
    let mut found = Vec::new();
    for side in &Side::all(&crd, definition)? {
        let mut linter = Linter { prover: Prover::new(&bare), found };
        linter.schema(side.shape(), side.schema_place());
        found = linter.found;
    }
    Ok(found)
}

struct Linter<'s> {
    prover: Prover<'s>,
    found: Vec<SchemaLint>,
}

impl<'s> Linter<'s> {
    fn add(&mut self, code: LintCode, path: FieldPath, message: String) {
        self.found.push(SchemaLint { code, path, message });
    }

    fn schema(&mut self, shape: Shape<'s>, at: FieldPath) {
        let known = Known::of(shape, self.prover.bare);
        if !shape.schema.nullable && self.prover.refutes(&known, shape.schema) {
            // What is below has no values either.
            return self.add(LintCode::Unsatisfiable, at, "no value is valid for it".to_owned());
        }
        self.entries(shape.schema, &at);
        self.branches(&known, shape.schema, &at);
        self.rules(shape, &at);
        let properties = at.clone().name("properties");
        for (name, _) in shape.schema.properties.iter().flatten() {
            if let Some(part) = shape.listed(name) {
                grow(|| self.schema(part, properties.clone().key(name.as_str())));
            }
        }
        if shape.schema.items_schema().is_some() {
            grow(|| self.schema(shape.items(self.prover.bare), at.clone().name("items")));
        }
        if shape.schema.additional_schema().is_some()
            && let Unlisted::Kept(part) = shape.unlisted(self.prover.bare)
        {
            grow(|| self.schema(part, at.name("additionalProperties")));
        }
    }

    /// Entries of an enum that other keywords refuse.
    fn entries(&mut self, schema: &JsonSchemaProps, at: &FieldPath) {
        if schema.enum_.is_empty() {
            return;
        }
        let validator = Validator::new(schema);
        for (index, entry) in schema.enum_.iter().enumerate() {
            if !validator.is_valid(entry) {
                let path = at.clone().name("enum").index(index);
                let message =
                    format!("no value can be {}: the schema refuses it", billhook::to_json(entry));
                self.add(LintCode::UnusableEntry, path, message);
            }
        }
    }

    /// Alternatives that contradict what is around them.
    fn branches(&mut self, known: &Known<'s>, schema: &'s JsonSchemaProps, at: &FieldPath) {
        // A branch is among the choices that are known, of which this is one.
        let known = Known { choices: Vec::new(), ..known.clone() };
        for (keyword, branches) in [("anyOf", &schema.any_of), ("oneOf", &schema.one_of)] {
            for (index, branch) in branches.iter().enumerate().filter(|_| branches.len() > 1) {
                if self.prover.refutes(&known, branch) {
                    let path = at.clone().name(keyword).index(index);
                    let message = "no value that the schema admits is valid for it".to_owned();
                    self.add(LintCode::UnusableBranch, path, message);
                }
            }
        }
    }

    fn rules(&mut self, shape: Shape<'s>, at: &FieldPath) {
        let rules = shape.schema.validations.as_deref().unwrap_or_default();
        let rules: Vec<_> =
            rules.iter().map(|rule| (rule.rule.as_str(), reads(&rule.rule).ok())).collect();
        let parts = rules.iter().flat_map(|(_, reads)| reads).flat_map(|reads| &reads.parts);
        let paths: Vec<_> = parts.map(|part| part.path.as_slice()).collect();
        let nodes = rules::Nodes::new(shape.schema, shape.schema, shape.in_kept_list);
        let facts = rules::facts("self", nodes, &paths);
        let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
        let at = at.clone().name("x-kubernetes-validations");
        for (index, (rule, _)) in rules.iter().enumerate() {
            if implies(&facts, rule) {
                let path = at.clone().index(index).name("rule");
                let message = "it is true for all values that the schema admits".to_owned();
                self.add(LintCode::Tautology, path, message);
            }
        }
        // New objects are not asked for what compares them with others.
        let is_asked = |reads: &Option<Reads>| reads.as_ref().is_some_and(|it| !it.uses_old);
        let asked = rules.iter().filter(|(_, reads)| is_asked(reads)).map(|(rule, _)| *rule);
        let mut premises: Vec<&str> = asked.collect();
        let count = premises.len();
        premises.extend(facts);
        if count > 0 && implies(&premises, "false") {
            let message = match count {
                1 => "no value keeps it".to_owned(),
                _ => "no value keeps all of them".to_owned(),
            };
            self.add(LintCode::Contradiction, at, message);
        }
    }
}
