//! The checks of every node of a schema as it is written (CV-46 to CV-54), in the server's order.

use std::collections::BTreeSet;

use billhook_apimachinery::record::show::show;
use billhook_apimachinery::record::{FieldValue, TypedRecord, is_unset, text};
use billhook_apimachinery::value::grow;
use billhook_apimachinery::{FieldError, FieldErrors, FieldPath, Location};
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::{Dependency, Items, SchemaOrBool};
use serde_json::Value;

use crate::lists;
use crate::options::NodeOptions;
use crate::rules;
use crate::shown;

/// The findings in a schema.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) errors: FieldErrors,
    /// The nodes with rules that have errors at or below them, so that the rules are not compiled
    /// (CV-75).
    pub(crate) unclean: BTreeSet<String>,
    /// Whether there are too many of those to list them all.
    pub(crate) is_cut: bool,
}

/// Checks a schema and everything below it.
pub(crate) fn check(schema: &JsonSchemaProps, base: &FieldPath, options: NodeOptions) -> Found {
    let mut walk = Walk { options, found: Found::default(), unclean_steps: 0 };
    walk.node(schema, &Location::at(base), Context { is_root: true, ..Context::default() });
    walk.found
}

/// The context of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Context {
    is_root: bool,
    /// The reason why a default is forbidden here (CV-48).
    forbidden_default: Option<&'static str>,
    inside_metadata: bool,
    /// Inside a junctor, where no rules are compiled.
    nested: bool,
}

struct Walk {
    options: NodeOptions,
    found: Found,
    /// The number of steps in the paths of the listed nodes.
    unclean_steps: usize,
}

/// Beyond that nodes are not listed: the paths of deeply nested ones are long.
const MAX_UNCLEAN_STEPS: usize = 200_000;

/// The types of values; a text that is none of them is refused (CV-50).
pub(crate) const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];

impl Walk {
    /// Checks a node; returns whether it can be converted to a structural schema (SS-30).
    fn node(&mut self, schema: &JsonSchemaProps, at: &Location<'_>, context: Context) -> bool {
        if self.found.errors.is_full() {
            return true;
        }
        grow(|| {
            let errors_before = self.found.errors.len();
            self.standard(schema, at, context);
            if schema.unique_items {
                let detail = "uniqueItems cannot be set to true since the runtime complexity \
                              becomes quadratic";
                self.forbid(at.name("uniqueItems"), detail);
            }
            let mut is_convertible = is_convertible(schema);
            let below = Context { is_root: false, ..context };
            is_convertible &= self.additional_properties(schema, at, below);
            is_convertible &= self.properties(schema, at, context);
            is_convertible &= self.junctors(schema, at, Context { nested: true, ..below });
            is_convertible &= self.items(schema, at, below);
            for (name, dependency) in schema.dependencies.iter().flatten() {
                if let Dependency::Schema(dependency) = dependency {
                    let nested = Context { nested: true, ..below };
                    self.node(dependency, &at.name("dependencies").key(name), nested);
                }
            }
            self.extensions(schema, at);
            rules::check(schema, at, is_convertible, self.options.wording, &mut self.found.errors);
            let has_rules = schema.validations.as_ref().is_some_and(|rules| !rules.is_empty());
            if has_rules && !context.nested && self.found.errors.len() != errors_before {
                let path = at.to_path();
                self.unclean_steps += path.segments().count();
                self.found.is_cut |= self.unclean_steps > MAX_UNCLEAN_STEPS;
                if !self.found.is_cut {
                    self.found.unclean.insert(path.to_string());
                }
            }
            is_convertible
        })
    }

    fn forbid(&mut self, at: Location<'_>, detail: &str) {
        self.found.errors.push(FieldError::forbidden(at.to_path(), detail));
    }

    /// CV-50.
    fn standard(&mut self, schema: &JsonSchemaProps, at: &Location<'_>, context: Context) {
        let type_ = schema.type_.as_str();
        if self.options.known_types && !type_.is_empty() && !TYPES.contains(&type_) {
            let path = at.name("type").to_path();
            let error = FieldError::not_supported(path, type_, TYPES.iter().copied());
            self.found.errors.push(error);
        }
        if let (Some(reason), Some(_)) = (context.forbidden_default, &schema.default) {
            self.forbid(at.name("default"), &format!("must not be set {reason}"));
        }
        for (keyword, is_present) in [
            ("id", !schema.id.is_empty()),
            ("additionalItems", schema.additional_items.is_some()),
            ("patternProperties", !schema.pattern_properties.is_empty()),
            ("definitions", !schema.definitions.is_empty()),
            ("dependencies", schema.dependencies.is_some()),
            ("$ref", schema.reference.is_some()),
        ] {
            if is_present {
                self.forbid(at.name(keyword), &format!("{keyword} is not supported"));
            }
        }
        if type_ == "null" {
            let detail = "type cannot be set to null, use nullable as an alternative";
            self.forbid(at.name("type"), detail);
        }
        if matches!(&schema.items, Some(Items::List(items)) if !items.is_empty()) {
            self.forbid(at.name("items"), "items must be a schema object and not an array");
        }
        if context.inside_metadata && schema.embedded_resource {
            let at = at.name("x-kubernetes-embedded-resource");
            self.forbid(at, "must not be used inside of resource meta");
        }
    }

    /// CV-52.
    fn additional_properties(
        &mut self,
        schema: &JsonSchemaProps,
        at: &Location<'_>,
        mut context: Context,
    ) -> bool {
        let Some(additional) = &schema.additional_properties else { return true };
        let at = at.name("additionalProperties");
        let lists_properties = schema.properties.as_ref().is_some_and(|listed| !listed.is_empty());
        if lists_properties && !matches!(additional, SchemaOrBool::Bool(true)) {
            self.forbid(at, "additionalProperties and properties are mutual exclusive");
        }
        if context.inside_metadata {
            context.forbidden_default =
                Some("inside additionalProperties applying to object metadata");
        }
        schema.additional_schema().is_none_or(|schema| self.node(schema, &at, context))
    }

    fn properties(
        &mut self,
        schema: &JsonSchemaProps,
        at: &Location<'_>,
        context: Context,
    ) -> bool {
        let is_resource = context.is_root || schema.embedded_resource;
        let at = at.name("properties");
        let mut is_convertible = true;
        for (name, property) in schema.properties.iter().flatten() {
            let mut below = Context { is_root: false, ..context };
            let reason = match name.as_str() {
                "metadata" => Some("in top-level metadata"),
                "kind" => Some("in top-level kind"),
                "apiVersion" => Some("in top-level apiVersion"),
                _ => None,
            };
            if is_resource && reason.is_some() {
                below.inside_metadata = true;
                if context.is_root {
                    below.forbidden_default = reason;
                }
            }
            is_convertible &= self.node(property, &at.key(name), below);
        }
        is_convertible
    }

    fn junctors(&mut self, schema: &JsonSchemaProps, at: &Location<'_>, context: Context) -> bool {
        let not = schema.not.as_ref();
        let mut is_convertible = not.is_none_or(|not| self.node(not, &at.name("not"), context));
        for (keyword, nested) in
            [("allOf", &schema.all_of), ("oneOf", &schema.one_of), ("anyOf", &schema.any_of)]
        {
            let at = at.name(keyword);
            for (index, nested) in nested.iter().enumerate() {
                is_convertible &= self.node(nested, &at.index(index), context);
            }
        }
        // A schema with definitions cannot be converted anyway.
        for (name, definition) in &schema.definitions {
            self.node(definition, &at.name("definitions").key(name), context);
        }
        is_convertible
    }

    fn items(&mut self, schema: &JsonSchemaProps, at: &Location<'_>, context: Context) -> bool {
        let at = at.name("items");
        match &schema.items {
            Some(Items::Schema(items)) => self.node(items, &at, context),
            Some(Items::List(items)) => {
                for (index, item) in items.iter().enumerate() {
                    self.node(item, &at.index(index), Context { nested: true, ..context });
                }
                items.is_empty()
            }
            _ => true,
        }
    }

    /// CV-54 to CV-66.
    fn extensions(&mut self, schema: &JsonSchemaProps, at: &Location<'_>) {
        if schema.preserve_unknown_fields == Some(false) {
            let path = at.name("x-kubernetes-preserve-unknown-fields").to_path();
            let detail = "must be true or undefined";
            self.found.errors.push(FieldError::invalid(path, false, detail));
        }
        lists::check(schema, at, self.options, &mut self.found.errors);
    }
}

/// Whether the keywords of a node itself have a place in a structural schema (SS-30).
fn is_convertible(schema: &JsonSchemaProps) -> bool {
    schema.unsupported_keyword().is_none() && schema.preserve_unknown_fields != Some(false)
}

/// Checks the keywords that the root of a schema must not have beside a status subresource (CV-41).
pub(crate) fn status_restrictions(schema: &Value, base: &FieldPath, errors: &mut Vec<FieldError>) {
    const ALLOWED: &[&str] = &[
        "Description",
        "Type",
        "Format",
        "Title",
        "Maximum",
        "ExclusiveMaximum",
        "Minimum",
        "ExclusiveMinimum",
        "MaxLength",
        "MinLength",
        "Pattern",
        "MaxItems",
        "MinItems",
        "UniqueItems",
        "MultipleOf",
        "Required",
        "Items",
        "Properties",
        "ExternalDocs",
        "Example",
        "XPreserveUnknownFields",
        "XValidations",
    ];
    for field in JsonSchemaProps::record().fields {
        if is_unset(schema.get(field.name), field.type_) {
            continue;
        }
        if field.name == "type" && text(schema, "type") != "object" {
            let detail = "only \"object\" is allowed as the type at the root of the schema if the \
                          status subresource is enabled";
            let path = base.clone().name("type");
            errors.push(FieldError::invalid(path, text(schema, "type"), detail));
            return;
        }
        if !ALLOWED.contains(&&*field.go_name()) {
            let detail = format!(
                "only [{}] fields are allowed at the root of the schema if the status subresource \
                 is enabled",
                ALLOWED.join(" ")
            );
            let shown = show(Some(schema), JsonSchemaProps::TYPE);
            let error = shown::invalid(base.clone(), shown, JsonSchemaProps::TYPE, &detail);
            errors.push(error);
            return;
        }
    }
}
