#![doc = include_str!("../README.md")]
//!
//! A default must be valid by the schema of its node, rules in CEL included, must not have fields
//! that the schema does not specify, and must be a valid resource where a resource is embedded.
//! [`validate_defaults`] returns the server's errors.

mod prune;

use billhook_apimachinery::metadata::Invalid;
use billhook_apimachinery::value::{DeepValue, deep_clone, deep_eq, grow, is_nonempty};
use billhook_apimachinery::{FieldError, FieldErrors, FieldPath, Location, aggregate};
use billhook_cel::CheckedSchema;
use billhook_cel::rules::BUDGET;
use billhook_pruning::{coerce, prune};
use billhook_schema::{CompileOptions, CompiledSchema, JsonSchemaProps, NodeRef, RESOURCE_FIELDS};
use billhook_validation::validate_embedded_node;
use serde_json::{Map, Value};

pub use prune::{DefaultPruningError, prune_defaults};

/// How the defaults of a schema are validated; by default those of a new definition.
#[derive(Clone, Debug, Default)]
pub struct DefaultChecks {
    /// Where the schema is; errors are at this path and below (DF-40).
    pub base: FieldPath,
    /// Whether defaults may have fields that the schema does not specify (DF-43).
    pub unpruned: bool,
}

/// The findings of the validation of defaults.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DefaultFindings {
    /// The errors, in the order of the walk: a node, its items, its properties by name.
    pub errors: Vec<FieldError>,
    /// Defaults that the server stores in another form, since metadata in them has unknown fields;
    /// where they are and whether they are kept (DF-47).
    pub rewritten: Vec<(FieldPath, DeepValue)>,
}

/// Validates all defaults of a schema except those of `additionalProperties`, which no server looks
/// at (DF-40). Rules in CEL are evaluated for defaults that are otherwise valid (DF-45), with one
/// budget for all of them.
///
/// ```
/// use billhook_cel::CheckedSchema;
/// use billhook_schema::{JsonSchemaProps, StructuralSchema};
/// use billhook_default_validation::{DefaultChecks, validate_defaults};
/// use serde_json::json;
///
/// let written = json!({"type": "object", "properties": {
///     "replicas": {"type": "integer", "default": "one"},
/// }});
/// let schema = StructuralSchema::new(JsonSchemaProps::from_value(&written)?)?;
/// let findings = validate_defaults(&CheckedSchema::new(&schema), &DefaultChecks::default());
/// assert_eq!(
///     findings.errors[0].to_string(),
///     "properties[replicas].default: Invalid value: \"string\":  in body must be of type \
///      integer: \"string\"",
/// );
///
/// let written = json!({"type": "object", "properties": {"replicas": {
///     "type": "integer", "default": 0, "x-kubernetes-validations": [{"rule": "self > 0"}],
/// }}});
/// let schema = StructuralSchema::new(JsonSchemaProps::from_value(&written)?)?;
/// let findings = validate_defaults(&CheckedSchema::new(&schema), &DefaultChecks::default());
/// assert_eq!(
///     findings.errors[0].to_string(),
///     "properties[replicas].default: Invalid value: 0: failed rule: self > 0",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn validate_defaults(schema: &CheckedSchema, checks: &DefaultChecks) -> DefaultFindings {
    if !has_default(schema.root()) {
        return DefaultFindings::default();
    }
    let top = schema.compiled().root();
    let mut walk = Walk {
        unpruned: checks.unpruned,
        errors: FieldErrors::default(),
        rewritten: Vec::new(),
        schema,
        budget: BUDGET,
        is_over: false,
    };
    let root = Place {
        schema: schema.root(),
        node: top,
        is_resource: schema.compiled().is_resource_root() || top.is_embedded_resource(),
        depends: false,
    };
    walk.node(&root, top, Around::Resource, false, &Location::at(&checks.base));
    let Walk { errors, rewritten, .. } = walk;
    let wording = schema.compiled().root().wording();
    let errors = errors.into_vec().into_iter().map(|error| error.worded(wording)).collect();
    DefaultFindings { errors, rewritten }
}

/// Whether pruning leaves a default as it is.
fn is_pruned(place: &Place<'_>, default: &Value) -> bool {
    let mut pruned = DeepValue::from(deep_clone(default));
    if place.depends {
        let mut options = CompileOptions::default();
        options.resource_root = place.is_resource;
        options.kubernetes = place.node.kubernetes();
        let alone = CompiledSchema::of_part(place.schema, options);
        prune(alone.root(), &mut pruned, &mut ());
    } else {
        prune(place.node, &mut pruned, &mut ());
    }
    deep_eq(&pruned, default)
}

/// Whether a node that is visited has a default.
fn has_default(schema: &JsonSchemaProps) -> bool {
    grow(|| {
        schema.default.is_some()
            || schema.items_schema().is_some_and(has_default)
            || schema.properties.iter().flatten().any(|(_, property)| has_default(property))
    })
}

/// A node in all forms that are needed of it.
struct Place<'s> {
    schema: &'s JsonSchemaProps,
    node: NodeRef<'s>,
    is_resource: bool,
    /// Whether what is above may decide how the compiled node is pruned, which does not hold for
    /// defaults: elements in a preserved list, and everything in the metadata of a resource.
    depends: bool,
}

/// The way from the nearest resource down to a node.
#[derive(Clone, Copy)]
enum Around<'a> {
    Resource,
    Property(&'a Around<'a>, &'a str),
    Items(&'a Around<'a>),
}

struct Walk<'w> {
    unpruned: bool,
    errors: FieldErrors,
    rewritten: Vec<(FieldPath, DeepValue)>,
    schema: &'w CheckedSchema,
    /// The cost that is left for the rules of all further defaults.
    budget: u64,
    /// Whether no further rules are evaluated, which ends the walk.
    is_over: bool,
}

impl<'w> Walk<'w> {
    /// DF-40, DF-41; `resource` is the node that the way around starts from, `inside` tells that
    /// the node belongs to its metadata.
    fn node(
        &mut self,
        place: &Place<'w>,
        resource: NodeRef<'_>,
        around: Around<'_>,
        inside: bool,
        at: &Location<'_>,
    ) {
        let (resource, around, inside) = match place.is_resource {
            true => (place.node, Around::Resource, false),
            false => (resource, around, inside),
        };
        if self.errors.is_full() || self.is_over {
            return;
        }
        if let Some(default) = place.schema.default_value() {
            let path = at.name("default").to_path();
            if inside {
                self.inside(place, default, (resource, around), &path);
            } else {
                self.outside(place, default, &path);
            }
        }
        grow(|| {
            if let Some(schema) = place.schema.items_schema() {
                let items = Place {
                    schema,
                    node: place.node.items().node(),
                    is_resource: schema.embedded_resource,
                    depends: place.depends || place.schema.preserves_unknown_fields(),
                };
                self.node(&items, resource, Around::Items(&around), inside, &at.name("items"));
            }
            let at = at.name("properties");
            for (name, schema) in place.schema.properties.iter().flatten() {
                let Some(property) = place.node.property(name) else { continue };
                let is_meta = place.is_resource && RESOURCE_FIELDS.contains(&name.as_str());
                let member = Place {
                    schema,
                    node: property.edge().node(),
                    is_resource: schema.embedded_resource,
                    depends: is_meta || place.depends,
                };
                let around = Around::Property(&around, name);
                self.node(&member, resource, around, inside || is_meta, &at.key(name));
            }
        });
    }

    /// DF-43.
    fn outside(&mut self, place: &Place<'_>, default: &Value, path: &FieldPath) {
        let node = place.node;
        let mut coerced = DeepValue::from(deep_clone(default));
        let refused = coerce(node, place.is_resource, Invalid::Refuse, &mut coerced, &mut ());
        if !self.unpruned && is_nonempty(default) && !is_pruned(place, default) {
            // The server shows the default as it is after the coercion that follows.
            let detail = "must not have unknown fields";
            self.errors.push(FieldError::invalid(path.clone(), deep_clone(&coerced), detail));
        }
        if let Err(error) = refused {
            self.errors.push(error.below(path));
            return;
        }
        let embedded =
            validate_embedded_node(node, place.is_resource, &coerced, &Location::at(path));
        let is_valid = embedded.is_empty();
        self.errors.extend(embedded);
        if is_valid {
            self.value(place, &coerced, path);
        }
        if !deep_eq(&coerced, default) {
            self.errors.note(path);
            self.rewritten.push((path.clone(), coerced));
        }
    }

    /// DF-46.
    fn inside(
        &mut self,
        place: &Place<'_>,
        default: &Value,
        (resource, around): (NodeRef<'_>, Around<'_>),
        path: &FieldPath,
    ) {
        let mut object = DeepValue::from(surround(default, around));
        let problem = match coerce(resource, true, Invalid::Refuse, &mut object, &mut ()) {
            Err(error) => Some(error.to_string()),
            Ok(()) => {
                let errors = validate_embedded_node(resource, true, &object, &Location::TOP);
                (!errors.is_empty()).then(|| aggregate(&errors))
            }
        };
        match problem {
            Some(problem) => {
                let detail = format!("must result in valid metadata: {problem}");
                self.errors.push(FieldError::invalid(path.clone(), deep_clone(default), &detail));
            }
            None => self.value(place, default, path),
        }
    }

    /// The value validation of a default, and what rules in CEL there are for it (DF-44, DF-45).
    fn value(&mut self, place: &Place<'_>, default: &Value, path: &FieldPath) {
        let validator = self.schema.validator().at(place.node.id());
        let mut errors = validator.check(default).at(path.clone()).errors();
        if errors.is_empty() && validator.has_rules() {
            let found = self.schema.check_default(place.node, default, path, self.budget);
            self.budget = self.budget.saturating_sub(found.cost);
            self.is_over = found.is_exhausted;
            errors = found.errors;
        }
        self.errors.extend(errors);
    }
}

/// The default in the resource that it belongs to (DF-42).
fn surround(default: &Value, around: Around<'_>) -> Value {
    let mut value = deep_clone(default);
    let mut around = &around;
    loop {
        value = match around {
            Around::Resource => break,
            Around::Property(outer, name) => {
                around = outer;
                Value::Object(Map::from_iter([((*name).to_owned(), value)]))
            }
            Around::Items(outer) => {
                around = outer;
                Value::Array(vec![value])
            }
        };
    }
    if let Value::Object(members) = &mut value {
        for (name, text) in [("kind", "Validation"), ("apiVersion", "validation/v1")] {
            members.entry(name).or_insert_with(|| Value::from(text));
        }
    }
    value
}
