//! From the schema as written to a structural schema (SS-20 to SS-33), and the int-or-string
//! patterns (SS-41).

use std::sync::Arc;

use billhook_apimachinery::message_error;
use billhook_apimachinery::record::TypedRecord;
use billhook_apimachinery::value::grow;

use crate::props::{Items, JsonSchemaProps, SchemaOrBool};

/// A schema whose keywords a structural schema may hold (SS-30). [`StructuralSchema::validate`]
/// checks whether it obeys the structural rules.
///
/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct StructuralSchema(Arc<JsonSchemaProps>);

message_error! {
    /// A keyword that a structural schema cannot hold (SS-30); prints the server's text.
    pub struct ConversionError;
}

impl StructuralSchema {
    /// Converts a schema.
    ///
    /// # Errors
    ///
    /// Returns an error for the first keyword that has no place in a structural schema.
    pub fn new(schema: impl Into<Arc<JsonSchemaProps>>) -> Result<Self, ConversionError> {
        let schema = schema.into();
        check_node(&schema)?;
        Ok(StructuralSchema(schema))
    }

    /// Returns the root node.
    pub fn root(&self) -> &JsonSchemaProps {
        &self.0
    }
}

fn check_node(schema: &JsonSchemaProps) -> Result<(), ConversionError> {
    if let Some(keyword) = schema.unsupported_keyword() {
        return Err(ConversionError::new(format!("OpenAPIV3Schema '{keyword}' is not supported")));
    }
    grow(|| {
        schema.junctors().try_for_each(|(_, _, nested)| check_node(nested))?;
        if schema.preserve_unknown_fields == Some(false) {
            return Err(ConversionError::new(
                "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
                    .to_owned(),
            ));
        }
        match &schema.items {
            Some(Items::List(list)) if !list.is_empty() => {
                return Err(ConversionError::new(
                    "OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned(),
                ));
            }
            Some(Items::Schema(items)) => check_node(items)?,
            _ => {}
        }
        schema.properties.iter().flatten().try_for_each(|(_, property)| check_node(property))?;
        schema.additional_schema().map_or(Ok(()), check_node)
    })
}

fn indexed<'s>(
    keyword: &'static str,
    schemas: &'s [JsonSchemaProps],
) -> impl Iterator<Item = (&'static str, Option<usize>, &'s JsonSchemaProps)> {
    schemas.iter().enumerate().map(move |(index, schema)| (keyword, Some(index), schema))
}

impl JsonSchemaProps {
    /// Returns the first keyword of the node itself that no structural schema can hold (SS-30), as
    /// the server names it.
    pub fn unsupported_keyword(&self) -> Option<&'static str> {
        let unsupported = [
            ("id", !self.id.is_empty()),
            ("schema", !self.schema.is_empty()),
            ("$ref", self.reference.as_ref().is_some_and(|reference| !reference.is_empty())),
            ("patternProperties", !self.pattern_properties.is_empty()),
            ("dependencies", self.dependencies.as_ref().is_some_and(|all| !all.is_empty())),
            ("additionalItems", self.additional_items.is_some()),
            ("definitions", !self.definitions.is_empty()),
        ];
        unsupported.into_iter().find(|(_, is_set)| *is_set).map(|(keyword, _)| keyword)
    }

    /// Returns the schemas under `not`, `allOf`, `anyOf` and `oneOf`, with the keyword and the
    /// position in its list (none for `not`).
    pub fn junctors(&self) -> impl Iterator<Item = (&'static str, Option<usize>, &Self)> {
        let not = self.not.iter().map(|schema| ("not", None, &**schema));
        not.chain(indexed("allOf", &self.all_of))
            .chain(indexed("anyOf", &self.any_of))
            .chain(indexed("oneOf", &self.one_of))
    }

    /// Whether no keyword is written but `type`, `default`, `properties` and
    /// `additionalProperties`. Empty lists that differ from missing ones count as written (SS-31).
    fn is_otherwise_bare(&self) -> bool {
        self.set_fields().iter().all(|keyword| match *keyword {
            "type" | "default" | "properties" | "additionalProperties" => true,
            "$ref" | "dependencies" => true,
            "items" => self.items_schema().is_none(),
            _ => false,
        })
    }

    /// Whether root metadata constrains nothing but `name` and `generateName` (SS-63).
    pub(crate) fn constrains_only_names(&self) -> bool {
        self.is_otherwise_bare()
            && self.additional_properties.is_none()
            && self
                .properties
                .iter()
                .flatten()
                .all(|(name, _)| name == "name" || name == "generateName")
    }

    /// Whether `anyOf` is exactly `[{type: integer}, {type: string}]` (SS-41 a).
    pub(crate) fn has_int_or_string_any_of(&self) -> bool {
        match self.any_of.as_slice() {
            [first, second] => first.is_only_type("integer") && second.is_only_type("string"),
            _ => false,
        }
    }

    fn is_only_type(&self, expected: &str) -> bool {
        // Under a junctor `additionalProperties: false` counts as absent (SS-32).
        let additional =
            matches!(self.additional_properties, None | Some(SchemaOrBool::Bool(false)));
        self.type_ == expected
            && additional
            && self.default.is_none()
            && self.properties.is_none()
            && self.is_otherwise_bare()
    }
}
