//! The schema as it is written in a CRD: JSONSchemaProps of `apiextensions.k8s.io/v1` (SS-10 to
//! SS-12).

use std::collections::BTreeMap;
use std::mem::take;

use billhook_apimachinery::record;
use billhook_apimachinery::record::{FieldValue, RecordError, Type, TypedRecord, too_deep};
use billhook_apimachinery::value::{DeepValue, depth, grow};
use serde::Serializer;
use serde_json::Value;

/// How deep lists and objects may be nested in a schema; in one that was read from text they never
/// are.
pub const MAX_SCHEMA_DEPTH: usize = 40_000;

record! {
    /// A schema node as written. Absent strings are empty and absent flags false (SS-04); where an
    /// empty list or map differs from a missing one, an `Option` tells them apart. The fields are
    /// in the order in which the server prints them (CV-06).
    #[derive(Debug, Default)]
    #[non_exhaustive]
    pub struct JsonSchemaProps = "JSONSchemaProps" {
        /// `id`.
        pub id: String = "id" [1] as "ID",
        /// `$schema`.
        pub schema: String = "$schema" [2] as "Schema" of "v1.JSONSchemaURL",
        /// `$ref`.
        pub reference: Option<String> = "$ref" [3] as "Ref",
        /// `description`.
        pub description: String = "description" [4],
        /// `type`.
        pub type_: String = "type" [5],
        /// `nullable`.
        pub nullable: bool = "nullable" [37],
        /// `format`.
        pub format: String = "format" [6],
        /// `title`.
        pub title: String = "title" [7],
        /// `default`; never null (SS-11).
        pub default: Option<DeepValue> = "default" [8],
        /// `maximum`.
        pub maximum: Option<f64> = "maximum" [9],
        /// `exclusiveMaximum`.
        pub exclusive_maximum: bool = "exclusiveMaximum" [10],
        /// `minimum`.
        pub minimum: Option<f64> = "minimum" [11],
        /// `exclusiveMinimum`.
        pub exclusive_minimum: bool = "exclusiveMinimum" [12],
        /// `maxLength`, in code points.
        pub max_length: Option<i64> = "maxLength" [13],
        /// `minLength`, in code points.
        pub min_length: Option<i64> = "minLength" [14],
        /// `pattern`, in Go syntax.
        pub pattern: String = "pattern" [15],
        /// `maxItems`.
        pub max_items: Option<i64> = "maxItems" [16],
        /// `minItems`.
        pub min_items: Option<i64> = "minItems" [17],
        /// `uniqueItems`.
        pub unique_items: bool = "uniqueItems" [18],
        /// `multipleOf`.
        pub multiple_of: Option<f64> = "multipleOf" [19],
        /// `enum`; empty and missing are the same (SS-31).
        pub enum_: Vec<DeepValue> = "enum" [20],
        /// `maxProperties`.
        pub max_properties: Option<i64> = "maxProperties" [21],
        /// `minProperties`.
        pub min_properties: Option<i64> = "minProperties" [22],
        /// `required`.
        pub required: Option<Vec<String>> = "required" [23],
        /// `items`.
        pub items: Option<Items> = "items" [24],
        /// `allOf`.
        pub all_of: Vec<JsonSchemaProps> = "allOf" [25],
        /// `oneOf`.
        pub one_of: Vec<JsonSchemaProps> = "oneOf" [26],
        /// `anyOf`.
        pub any_of: Vec<JsonSchemaProps> = "anyOf" [27],
        /// `not`.
        pub not: Option<Box<JsonSchemaProps>> = "not" [28],
        /// `properties`.
        pub properties: Option<BTreeMap<String, Box<JsonSchemaProps>>> = "properties" [29],
        /// `additionalProperties`.
        pub additional_properties: Option<SchemaOrBool> = "additionalProperties" [30],
        /// `patternProperties`.
        pub pattern_properties: BTreeMap<String, Box<JsonSchemaProps>> = "patternProperties" [31],
        /// `dependencies`.
        pub dependencies: Option<BTreeMap<String, Dependency>> =
            "dependencies" [32] of "v1.JSONSchemaDependencies",
        /// `additionalItems`.
        pub additional_items: Option<SchemaOrBool> = "additionalItems" [33],
        /// `definitions`.
        pub definitions: BTreeMap<String, Box<JsonSchemaProps>> =
            "definitions" [34] of "v1.JSONSchemaDefinitions",
        /// `externalDocs`.
        pub external_docs: Option<ExternalDocumentation> = "externalDocs" [35],
        /// `example`; never null (SS-11).
        pub example: Option<DeepValue> = "example" [36],
        /// `x-kubernetes-preserve-unknown-fields`; only `true` is legal (SS-30).
        pub preserve_unknown_fields: Option<bool> =
            "x-kubernetes-preserve-unknown-fields" [38] as "XPreserveUnknownFields",
        /// `x-kubernetes-embedded-resource`.
        pub embedded_resource: bool = "x-kubernetes-embedded-resource" [39] as "XEmbeddedResource",
        /// `x-kubernetes-int-or-string`.
        pub int_or_string: bool = "x-kubernetes-int-or-string" [40] as "XIntOrString",
        /// `x-kubernetes-list-map-keys`.
        pub list_map_keys: Option<Vec<String>> = "x-kubernetes-list-map-keys" [41] as "XListMapKeys",
        /// `x-kubernetes-list-type`.
        pub list_type: Option<String> = "x-kubernetes-list-type" [42] as "XListType",
        /// `x-kubernetes-map-type`.
        pub map_type: Option<String> = "x-kubernetes-map-type" [43] as "XMapType",
        /// `x-kubernetes-validations`.
        pub validations: Option<Vec<ValidationRule>> =
            "x-kubernetes-validations" [44] as "XValidations" of "v1.ValidationRules",
    }

    /// A link to documentation.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ExternalDocumentation = "ExternalDocumentation" {
        /// `description`.
        pub description: String = "description" [1],
        /// `url`.
        pub url: String = "url" [2] as "URL",
    }

    /// One CEL rule of `x-kubernetes-validations`.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ValidationRule = "ValidationRule" {
        /// `rule`.
        pub rule: String = "rule" [1] @required,
        /// `message`.
        pub message: String = "message" [2],
        /// `messageExpression`.
        pub message_expression: String = "messageExpression" [3],
        /// `reason`.
        pub reason: Option<String> = "reason" [4] of "v1.FieldValueErrorReason",
        /// `fieldPath`.
        pub field_path: String = "fieldPath" [5],
        /// `optionalOldSelf`.
        pub optional_old_self: Option<bool> = "optionalOldSelf" [6],
    }
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

impl FieldValue for Items {
    const TYPE: Type = Type::RecordOrList(JsonSchemaProps::record);

    fn of(value: &Value) -> Self {
        match value {
            Value::Object(_) => Items::Schema(FieldValue::of(value)),
            Value::Array(_) => Items::List(FieldValue::of(value)),
            _ => Items::Empty,
        }
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Items::Schema(schema) => schema.write(to),
            Items::List(list) => list.write(to),
            Items::Empty => to.serialize_none(),
        }
    }
}

impl FieldValue for SchemaOrBool {
    const TYPE: Type = Type::RecordOrFlag(JsonSchemaProps::record);

    fn of(value: &Value) -> Self {
        match value {
            Value::Bool(allowed) => SchemaOrBool::Bool(*allowed),
            _ => SchemaOrBool::Schema(FieldValue::of(value)),
        }
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            SchemaOrBool::Schema(schema) => schema.write(to),
            SchemaOrBool::Bool(allowed) => allowed.write(to),
        }
    }
}

impl FieldValue for Dependency {
    const TYPE: Type = Type::RecordOrTexts(JsonSchemaProps::record);

    fn of(value: &Value) -> Self {
        match value {
            Value::Object(_) => Dependency::Schema(FieldValue::of(value)),
            _ => Dependency::Properties(FieldValue::of(value)),
        }
    }

    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Dependency::Schema(schema) => schema.write(to),
            Dependency::Properties(names) => names.write(to),
        }
    }
}

impl JsonSchemaProps {
    /// Reads a schema. Keywords that JSONSchemaProps doesn't know are dropped, as the server drops
    /// them; null is the same as absent (SS-10, SS-11).
    ///
    /// # Errors
    ///
    /// The server's text when a keyword has the wrong type.
    pub fn from_value(value: &Value) -> Result<Self, RecordError> {
        if depth(value) > MAX_SCHEMA_DEPTH {
            return Err(too_deep());
        }
        Self::read(value).map(|(schema, _)| schema)
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
        self.properties.as_ref()?.get(name).map(AsRef::as_ref)
    }

    /// Returns whether members that are not listed are preserved.
    pub fn preserves_unknown_fields(&self) -> bool {
        self.preserve_unknown_fields == Some(true)
    }

    /// Returns the default, if there is one.
    pub fn default_value(&self) -> Option<&Value> {
        self.default.as_deref()
    }

    /// Returns the schemas directly below, in the order of the names of their keywords, then of
    /// their own names.
    pub fn children(&self) -> Vec<&JsonSchemaProps> {
        let JsonSchemaProps {
            additional_items,
            additional_properties,
            all_of,
            any_of,
            definitions,
            dependencies,
            items,
            not,
            one_of,
            pattern_properties,
            properties,
            ..
        } = self;
        let mut children: Vec<&Self> = Vec::new();
        for keyword in [additional_items, additional_properties] {
            if let Some(SchemaOrBool::Schema(schema)) = keyword {
                children.push(schema);
            }
        }
        children.extend(all_of.iter().chain(any_of));
        children.extend(definitions.values().map(AsRef::as_ref));
        for dependency in dependencies.iter().flat_map(BTreeMap::values) {
            if let Dependency::Schema(schema) = dependency {
                children.push(schema);
            }
        }
        match items {
            Some(Items::Schema(schema)) => children.push(schema),
            Some(Items::List(schemas)) => children.extend(schemas),
            Some(Items::Empty) | None => {}
        }
        children.extend(not.as_deref());
        children.extend(one_of);
        children.extend(pattern_properties.values().map(AsRef::as_ref));
        children.extend(properties.iter().flat_map(BTreeMap::values).map(AsRef::as_ref));
        children
    }

    /// Returns this schema and all below, each before those below it.
    pub fn nodes(&self) -> impl Iterator<Item = &JsonSchemaProps> {
        let mut pending = vec![self];
        std::iter::from_fn(move || {
            let schema = pending.pop()?;
            pending.extend(schema.children().into_iter().rev());
            Some(schema)
        })
    }
}

/// Schemas are equal if a server writes them alike: an empty keyword is a missing one.
impl PartialEq for JsonSchemaProps {
    fn eq(&self, other: &Self) -> bool {
        self.to_document() == other.to_document()
    }
}

/// Deeply nested schemas are dropped on a stack that grows.
impl Drop for JsonSchemaProps {
    fn drop(&mut self) {
        grow(|| {
            drop((take(&mut self.additional_items), take(&mut self.additional_properties)));
            drop((take(&mut self.all_of), take(&mut self.any_of), take(&mut self.one_of)));
            drop((take(&mut self.not), take(&mut self.items), take(&mut self.properties)));
            drop((take(&mut self.definitions), take(&mut self.dependencies)));
            drop(take(&mut self.pattern_properties));
        });
    }
}
