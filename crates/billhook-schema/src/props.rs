//! The schema as it is written in a CRD: JSONSchemaProps of `apiextensions.k8s.io/v1` (SS-10, SS-11).

use std::collections::BTreeMap;

use serde_json::Value;

use billhook_apimachinery::value::DeepValue;

/// A schema node as written. Absent strings are empty and absent flags false (SS-04); where an
/// empty list or map differs from a missing one, an `Option` tells them apart.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct JsonSchemaProps {
    /// `type`.
    pub type_: String,
    /// `title`.
    pub title: String,
    /// `description`.
    pub description: String,
    /// `nullable`.
    pub nullable: bool,
    /// `default`; never null (SS-11).
    pub default: Option<DeepValue>,
    /// `items`.
    pub items: Option<Items>,
    /// `properties`.
    pub properties: Option<BTreeMap<String, JsonSchemaProps>>,
    /// `additionalProperties`.
    pub additional_properties: Option<SchemaOrBool>,
    /// `allOf`.
    pub all_of: Vec<JsonSchemaProps>,
    /// `anyOf`.
    pub any_of: Vec<JsonSchemaProps>,
    /// `oneOf`.
    pub one_of: Vec<JsonSchemaProps>,
    /// `not`.
    pub not: Option<Box<JsonSchemaProps>>,
    /// `required`.
    pub required: Option<Vec<String>>,
    /// The keywords that look at a single value; see [`JsonSchemaProps::value_validations`].
    pub(crate) value_validations: Option<Box<ValueValidations>>,
    /// The `x-kubernetes-…` keywords.
    pub extensions: Extensions,
    /// The rest; see [`JsonSchemaProps::other`].
    pub(crate) other: Option<Box<OtherKeywords>>,
}

/// Keywords that constrain a value without giving it structure.
#[derive(Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ValueValidations {
    /// `format`.
    pub format: String,
    /// `maximum`.
    pub maximum: Option<f64>,
    /// `exclusiveMaximum`.
    pub exclusive_maximum: bool,
    /// `minimum`.
    pub minimum: Option<f64>,
    /// `exclusiveMinimum`.
    pub exclusive_minimum: bool,
    /// `maxLength`, in code points.
    pub max_length: Option<i64>,
    /// `minLength`, in code points.
    pub min_length: Option<i64>,
    /// `pattern`, in Go syntax.
    pub pattern: String,
    /// `maxItems`.
    pub max_items: Option<i64>,
    /// `minItems`.
    pub min_items: Option<i64>,
    /// `uniqueItems`.
    pub unique_items: bool,
    /// `multipleOf`.
    pub multiple_of: Option<f64>,
    /// `enum`; empty and missing are the same (SS-31).
    pub enum_: Vec<DeepValue>,
    /// `maxProperties`.
    pub max_properties: Option<i64>,
    /// `minProperties`.
    pub min_properties: Option<i64>,
}

/// The `x-kubernetes-…` keywords.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Extensions {
    /// `x-kubernetes-preserve-unknown-fields`; only `true` is legal (SS-30).
    pub preserve_unknown_fields: Option<bool>,
    /// `x-kubernetes-embedded-resource`.
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `x-kubernetes-list-map-keys`.
    pub list_map_keys: Option<Vec<String>>,
    /// `x-kubernetes-list-type`.
    pub list_type: Option<String>,
    /// `x-kubernetes-map-type`.
    pub map_type: Option<String>,
    /// `x-kubernetes-validations`.
    pub validations: Option<Vec<ValidationRule>>,
}

/// One CEL rule of `x-kubernetes-validations`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationRule {
    /// `rule`.
    pub rule: String,
    /// `message`.
    pub message: String,
    /// `messageExpression`.
    pub message_expression: String,
    /// `reason`.
    pub reason: Option<String>,
    /// `fieldPath`.
    pub field_path: String,
    /// `optionalOldSelf`.
    pub optional_old_self: Option<bool>,
}

/// Keywords without an effect on values, or without a place in a structural schema.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct OtherKeywords {
    /// `id`.
    pub id: String,
    /// `$schema`.
    pub schema: String,
    /// `$ref`.
    pub reference: Option<String>,
    /// `patternProperties`.
    pub pattern_properties: BTreeMap<String, JsonSchemaProps>,
    /// `dependencies`.
    pub dependencies: BTreeMap<String, Dependency>,
    /// `additionalItems`.
    pub additional_items: Option<SchemaOrBool>,
    /// `definitions`.
    pub definitions: BTreeMap<String, JsonSchemaProps>,
    /// `externalDocs`, as `description` and `url`.
    pub external_docs: Option<(String, String)>,
    /// `example`; never null (SS-11).
    pub example: Option<DeepValue>,
}

/// The value of `items` (SS-11).
#[derive(Debug)]
pub enum Items {
    /// One schema for all elements.
    Schema(Box<JsonSchemaProps>),
    /// A list of schemas.
    List(Vec<JsonSchemaProps>),
    /// Present, but neither.
    Empty,
}

/// The value of `additionalProperties` and `additionalItems` (SS-11).
#[derive(Debug)]
pub enum SchemaOrBool {
    /// A schema; members are allowed.
    Schema(Box<JsonSchemaProps>),
    /// A plain yes or no.
    Bool(bool),
}

/// An entry of `dependencies` (SS-11).
#[derive(Debug)]
pub enum Dependency {
    /// A schema for the whole object.
    Schema(Box<JsonSchemaProps>),
    /// Names of other properties.
    Properties(Vec<String>),
}

static NO_VALUE_VALIDATIONS: ValueValidations = ValueValidations {
    format: String::new(),
    maximum: None,
    exclusive_maximum: false,
    minimum: None,
    exclusive_minimum: false,
    max_length: None,
    min_length: None,
    pattern: String::new(),
    max_items: None,
    min_items: None,
    unique_items: false,
    multiple_of: None,
    enum_: Vec::new(),
    max_properties: None,
    min_properties: None,
};

static NO_OTHER_KEYWORDS: OtherKeywords = OtherKeywords {
    id: String::new(),
    schema: String::new(),
    reference: None,
    pattern_properties: BTreeMap::new(),
    dependencies: BTreeMap::new(),
    additional_items: None,
    definitions: BTreeMap::new(),
    external_docs: None,
    example: None,
};

impl JsonSchemaProps {
    /// Returns the keywords that look at a single value.
    pub fn value_validations(&self) -> &ValueValidations {
        self.value_validations.as_deref().unwrap_or(&NO_VALUE_VALIDATIONS)
    }

    /// Keywords that describe, or that a structural schema does not allow.
    pub fn other(&self) -> &OtherKeywords {
        self.other.as_deref().unwrap_or(&NO_OTHER_KEYWORDS)
    }

    /// Returns the schema of the list elements, if there is a single one.
    pub fn items_schema(&self) -> Option<&JsonSchemaProps> {
        match &self.items {
            Some(Items::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Returns the schema of the members that are not listed, if it is written as a schema.
    pub fn additional_schema(&self) -> Option<&JsonSchemaProps> {
        match &self.additional_properties {
            Some(SchemaOrBool::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Returns the schema of the listed member `name`.
    pub fn property(&self, name: &str) -> Option<&JsonSchemaProps> {
        self.properties.as_ref()?.get(name)
    }

    /// Returns whether members that are not listed are preserved.
    pub fn preserves_unknown_fields(&self) -> bool {
        self.extensions.preserve_unknown_fields == Some(true)
    }

    /// Returns the default, if there is one.
    pub fn default_value(&self) -> Option<&Value> {
        self.default.as_deref()
    }

    fn take_children(&mut self, into: &mut Vec<JsonSchemaProps>) {
        match self.items.take() {
            Some(Items::Schema(schema)) => into.push(*schema),
            Some(Items::List(list)) => into.extend(list),
            Some(Items::Empty) | None => {}
        }
        if let Some(properties) = self.properties.take() {
            into.extend(properties.into_values());
        }
        into.append(&mut self.all_of);
        into.append(&mut self.any_of);
        into.append(&mut self.one_of);
        into.extend(self.not.take().map(|schema| *schema));
        let mut push_schema = |either| {
            if let Some(SchemaOrBool::Schema(schema)) = either {
                into.push(*schema);
            }
        };
        push_schema(self.additional_properties.take());
        let Some(other) = self.other.take() else { return };
        push_schema(other.additional_items);
        into.extend(other.pattern_properties.into_values());
        into.extend(other.definitions.into_values());
        for dependency in other.dependencies.into_values() {
            if let Dependency::Schema(schema) = dependency {
                into.push(*schema);
            }
        }
    }
}

/// Deeply nested schemas must not be dropped by recursion.
impl Drop for JsonSchemaProps {
    fn drop(&mut self) {
        let mut pending = Vec::new();
        self.take_children(&mut pending);
        while let Some(mut schema) = pending.pop() {
            schema.take_children(&mut pending);
        }
    }
}
