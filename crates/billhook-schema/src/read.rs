//! Reading JSONSchemaProps from JSON (SS-10 to SS-12).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::props::{
    Dependency, Items, JsonSchemaProps, OtherKeywords, SchemaOrBool, ValidationRule,
    ValueValidations,
};
use billhook_apimachinery::value::{DeepValue, Num, deep_clone, grow, json_type};
use billhook_apimachinery::{FieldPath, Location};

/// The maximum nesting depth of schemas.
pub const MAX_SCHEMA_DEPTH: usize = 10_000;

/// A schema that cannot be read as JSONSchemaProps.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{message}", Self::prefix(.path))]
pub struct SchemaReadError {
    path: FieldPath,
    message: String,
}

impl SchemaReadError {
    fn prefix(path: &FieldPath) -> String {
        if path.is_empty() { String::new() } else { format!("{path}: ") }
    }

    fn at(place: &Location<'_>, message: String) -> Self {
        SchemaReadError { path: place.to_path(), message }
    }

    fn wrong_type(place: &Location<'_>, expected: &str, found: &Value) -> Self {
        Self::at(place, format!("expected {expected}, found {}", json_type(found)))
    }

    /// Returns the path in the schema.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// Returns the message, without the path.
    pub fn message(&self) -> &str {
        &self.message
    }
}

type Result<T> = std::result::Result<T, SchemaReadError>;

impl JsonSchemaProps {
    /// Reads a schema. Keywords that JSONSchemaProps does not know are dropped, as the server drops
    /// them; null is the same as absent (SS-10, SS-11).
    ///
    /// # Errors
    ///
    /// If a keyword has a value of the wrong type, or schemas are nested too deeply.
    pub fn from_value(value: &Value) -> Result<Self> {
        Self::from_value_at(value, &FieldPath::default())
    }

    /// Like [`JsonSchemaProps::from_value`], for a schema that is part of a document; errors name
    /// paths from `base`.
    ///
    /// # Errors
    ///
    /// As for [`JsonSchemaProps::from_value`].
    pub fn from_value_at(value: &Value, base: &FieldPath) -> Result<Self> {
        read_schema(value, &Location::at(base), 0)
    }
}

fn read_schema(value: &Value, at: &Location<'_>, depth: usize) -> Result<JsonSchemaProps> {
    let mut schema = JsonSchemaProps::default();
    let members = match value {
        Value::Object(members) => members,
        Value::Null => return Ok(schema),
        other => return Err(SchemaReadError::wrong_type(at, "a schema object", other)),
    };
    if depth > MAX_SCHEMA_DEPTH {
        let message = format!("schemas are nested deeper than {MAX_SCHEMA_DEPTH} levels");
        return Err(SchemaReadError::at(at, message));
    }
    grow(|| {
        for (keyword, value) in members {
            if !value.is_null() {
                read_keyword(&mut schema, keyword, value, &at.name(keyword), depth)?;
            }
        }
        Ok(schema)
    })
}

fn read_keyword(
    schema: &mut JsonSchemaProps,
    keyword: &str,
    value: &Value,
    at: &Location<'_>,
    depth: usize,
) -> Result<()> {
    let below = depth + 1;
    match keyword {
        "type" => schema.type_ = string(value, at)?,
        "title" => schema.title = string(value, at)?,
        "description" => schema.description = string(value, at)?,
        "nullable" => schema.nullable = boolean(value, at)?,
        "default" => schema.default = Some(DeepValue::from(deep_clone(value))),
        "items" => schema.items = Some(read_items(value, at, below)?),
        "properties" => schema.properties = Some(read_map(value, at, below)?),
        "additionalProperties" => {
            schema.additional_properties = Some(read_schema_or_bool(value, at, below)?);
        }
        "allOf" => schema.all_of = read_list(value, at, below)?,
        "anyOf" => schema.any_of = read_list(value, at, below)?,
        "oneOf" => schema.one_of = read_list(value, at, below)?,
        "not" => schema.not = Some(Box::new(read_schema(value, at, below)?)),
        "required" => schema.required = Some(strings(value, at)?),
        "id" => other(schema).id = string(value, at)?,
        "$schema" => other(schema).schema = string(value, at)?,
        "$ref" => other(schema).reference = Some(string(value, at)?),
        "patternProperties" => other(schema).pattern_properties = read_map(value, at, below)?,
        "definitions" => other(schema).definitions = read_map(value, at, below)?,
        "dependencies" => other(schema).dependencies = read_dependencies(value, at, below)?,
        "additionalItems" => {
            other(schema).additional_items = Some(read_schema_or_bool(value, at, below)?);
        }
        "externalDocs" => other(schema).external_docs = Some(read_external_docs(value, at)?),
        "example" => other(schema).example = Some(DeepValue::from(deep_clone(value))),
        _ if keyword.starts_with("x-kubernetes-") => {
            read_extension(schema, keyword, value, at)?;
        }
        _ => read_value_validation(schema, keyword, value, at)?,
    }
    Ok(())
}

fn other(schema: &mut JsonSchemaProps) -> &mut OtherKeywords {
    schema.other.get_or_insert_default()
}

const VALUE_VALIDATIONS: [&str; 15] = [
    "format",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "multipleOf",
    "enum",
    "maxProperties",
    "minProperties",
];

fn read_value_validation(
    schema: &mut JsonSchemaProps,
    keyword: &str,
    value: &Value,
    at: &Location<'_>,
) -> Result<()> {
    if !VALUE_VALIDATIONS.contains(&keyword) {
        return Ok(());
    }
    let validations: &mut ValueValidations = schema.value_validations.get_or_insert_default();
    match keyword {
        "format" => validations.format = string(value, at)?,
        "maximum" => validations.maximum = Some(double(value, at)?),
        "exclusiveMaximum" => validations.exclusive_maximum = boolean(value, at)?,
        "minimum" => validations.minimum = Some(double(value, at)?),
        "exclusiveMinimum" => validations.exclusive_minimum = boolean(value, at)?,
        "maxLength" => validations.max_length = Some(integer(value, at)?),
        "minLength" => validations.min_length = Some(integer(value, at)?),
        "pattern" => validations.pattern = string(value, at)?,
        "maxItems" => validations.max_items = Some(integer(value, at)?),
        "minItems" => validations.min_items = Some(integer(value, at)?),
        "uniqueItems" => validations.unique_items = boolean(value, at)?,
        "multipleOf" => validations.multiple_of = Some(double(value, at)?),
        "enum" => {
            validations.enum_ =
                array(value, at)?.iter().map(|item| DeepValue::from(deep_clone(item))).collect();
        }
        "maxProperties" => validations.max_properties = Some(integer(value, at)?),
        "minProperties" => validations.min_properties = Some(integer(value, at)?),
        _ => {}
    }
    Ok(())
}

fn read_extension(
    schema: &mut JsonSchemaProps,
    keyword: &str,
    value: &Value,
    at: &Location<'_>,
) -> Result<()> {
    let extensions = &mut schema.extensions;
    match keyword {
        "x-kubernetes-preserve-unknown-fields" => {
            extensions.preserve_unknown_fields = Some(boolean(value, at)?);
        }
        "x-kubernetes-embedded-resource" => extensions.embedded_resource = boolean(value, at)?,
        "x-kubernetes-int-or-string" => extensions.int_or_string = boolean(value, at)?,
        "x-kubernetes-list-map-keys" => extensions.list_map_keys = Some(strings(value, at)?),
        "x-kubernetes-list-type" => extensions.list_type = Some(string(value, at)?),
        "x-kubernetes-map-type" => extensions.map_type = Some(string(value, at)?),
        "x-kubernetes-validations" => {
            let mut rules = Vec::new();
            for (index, rule) in array(value, at)?.iter().enumerate() {
                rules.push(read_rule(rule, &at.index(index))?);
            }
            extensions.validations = Some(rules);
        }
        _ => {}
    }
    Ok(())
}

fn read_rule(value: &Value, at: &Location<'_>) -> Result<ValidationRule> {
    let mut rule = ValidationRule::default();
    if value.is_null() {
        return Ok(rule);
    }
    for (name, value) in object(value, at)? {
        if value.is_null() {
            continue;
        }
        let at = &at.name(name);
        match name.as_str() {
            "rule" => rule.rule = string(value, at)?,
            "message" => rule.message = string(value, at)?,
            "messageExpression" => rule.message_expression = string(value, at)?,
            "reason" => rule.reason = Some(string(value, at)?),
            "fieldPath" => rule.field_path = string(value, at)?,
            "optionalOldSelf" => rule.optional_old_self = Some(boolean(value, at)?),
            _ => {}
        }
    }
    Ok(rule)
}

fn read_items(value: &Value, at: &Location<'_>, depth: usize) -> Result<Items> {
    Ok(match value {
        Value::Object(_) => Items::Schema(Box::new(read_schema(value, at, depth)?)),
        Value::Array(_) => Items::List(read_list(value, at, depth)?),
        _ => Items::Empty,
    })
}

fn read_schema_or_bool(value: &Value, at: &Location<'_>, depth: usize) -> Result<SchemaOrBool> {
    match value {
        Value::Object(_) => Ok(SchemaOrBool::Schema(Box::new(read_schema(value, at, depth)?))),
        Value::Bool(allowed) => Ok(SchemaOrBool::Bool(*allowed)),
        _ => Err(SchemaReadError::at(at, "boolean or JSON schema expected".to_owned())),
    }
}

fn read_list(value: &Value, at: &Location<'_>, depth: usize) -> Result<Vec<JsonSchemaProps>> {
    let mut schemas = Vec::new();
    for (index, item) in array(value, at)?.iter().enumerate() {
        schemas.push(read_schema(item, &at.index(index), depth)?);
    }
    Ok(schemas)
}

fn read_map(
    value: &Value,
    at: &Location<'_>,
    depth: usize,
) -> Result<BTreeMap<String, JsonSchemaProps>> {
    let mut schemas = BTreeMap::new();
    for (name, member) in object(value, at)? {
        schemas.insert(name.clone(), read_schema(member, &at.key(name), depth)?);
    }
    Ok(schemas)
}

fn read_dependencies(
    value: &Value,
    at: &Location<'_>,
    depth: usize,
) -> Result<BTreeMap<String, Dependency>> {
    let mut dependencies = BTreeMap::new();
    for (name, member) in object(value, at)? {
        let at = &at.key(name);
        let dependency = match member {
            Value::Array(_) => Dependency::Properties(strings(member, at)?),
            Value::Object(_) => Dependency::Schema(Box::new(read_schema(member, at, depth)?)),
            _ => Dependency::Properties(Vec::new()),
        };
        dependencies.insert(name.clone(), dependency);
    }
    Ok(dependencies)
}

fn read_external_docs(value: &Value, at: &Location<'_>) -> Result<(String, String)> {
    let members = object(value, at)?;
    let text = |name| match members.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(value) => string(value, &at.name(name)),
    };
    Ok((text("description")?, text("url")?))
}

fn string(value: &Value, at: &Location<'_>) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(SchemaReadError::wrong_type(at, "a string", other)),
    }
}

fn boolean(value: &Value, at: &Location<'_>) -> Result<bool> {
    value.as_bool().ok_or_else(|| SchemaReadError::wrong_type(at, "a boolean", value))
}

fn double(value: &Value, at: &Location<'_>) -> Result<f64> {
    match value {
        Value::Number(number) => Ok(Num::of(number).as_f64()),
        other => Err(SchemaReadError::wrong_type(at, "a number", other)),
    }
}

fn integer(value: &Value, at: &Location<'_>) -> Result<i64> {
    let Value::Number(number) = value else {
        return Err(SchemaReadError::wrong_type(at, "an integer", value));
    };
    let number = Num::of(number);
    number.to_i64().ok_or_else(|| {
        let found = billhook_apimachinery::print::json_float(number.as_f64());
        SchemaReadError::at(at, format!("expected a 64-bit integer, found {found}"))
    })
}

fn strings(value: &Value, at: &Location<'_>) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for (index, item) in array(value, at)?.iter().enumerate() {
        texts.push(match item {
            Value::Null => String::new(),
            item => string(item, &at.index(index))?,
        });
    }
    Ok(texts)
}

fn array<'v>(value: &'v Value, at: &Location<'_>) -> Result<&'v Vec<Value>> {
    value.as_array().ok_or_else(|| SchemaReadError::wrong_type(at, "a list", value))
}

fn object<'v>(value: &'v Value, at: &Location<'_>) -> Result<&'v Map<String, Value>> {
    value.as_object().ok_or_else(|| SchemaReadError::wrong_type(at, "an object", value))
}
