//! From a schema to types (CE-04, CE-05), and how large values can be (CE-25).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::value::grow;
use billhook_schema::JsonSchemaProps;

use super::{Bounds, Field, ListType, SchemaKind, SchemaType, Type, names, object_type};
use crate::edition::{EDITIONS, Edition};

/// The largest request that a server takes, in bytes.
const REQUEST_BYTES: u64 = 3 * 1024 * 1024;
/// The part of it that is left between two quotation marks or brackets.
const REQUEST_CONTENT: u64 = REQUEST_BYTES - 2;

/// The longest JSON text of a duration and of a time, the only one of a date.
const MAX_DURATION: u64 = 32;
const MAX_DATE_TIME: u64 = 32;
const DATE: u64 = 12;

/// How long the names of types may get; beyond that they are numbered.
const MAX_NAME: usize = 200;

pub(super) fn convert(
    schema: &JsonSchemaProps,
    is_resource: bool,
    kubernetes: KubernetesVersion,
) -> Option<SchemaType> {
    let mut conversion = Conversion { numbered: 0, edition: EDITIONS.of(kubernetes) };
    conversion.node(schema, is_resource, names::TOP)
}

struct Conversion {
    numbered: usize,
    edition: &'static Edition,
}

impl Conversion {
    fn node(
        &mut self,
        schema: &JsonSchemaProps,
        is_resource: bool,
        name: &str,
    ) -> Option<SchemaType> {
        if schema.int_or_string {
            let mut type_ = SchemaType::simple(SchemaKind::IntOrString, Type::Dyn, 1);
            let written = schema.max_length.filter(|_| self.edition.limits_int_or_string);
            type_.max = Some(characters(written).unwrap_or(REQUEST_CONTENT));
            return Some(type_);
        }
        match schema.type_.as_str() {
            "array" => grow(|| self.list(schema, name)),
            "object" => grow(|| self.object(schema, is_resource, name)),
            "string" => Some(string(schema)),
            "boolean" => Some(SchemaType::BOOL),
            "integer" => Some(number(SchemaType::INT, schema)),
            "number" => Some(number(SchemaType::DOUBLE, schema)),
            _ => None,
        }
    }

    fn below(&mut self, schema: &JsonSchemaProps, name: String) -> Option<Arc<SchemaType>> {
        let name = match name.len() <= MAX_NAME {
            true => name,
            false => {
                self.numbered += 1;
                format!("{}.@{}", names::TOP, self.numbered)
            }
        };
        self.node(schema, schema.embedded_resource, &name).map(Arc::new)
    }

    fn list(&mut self, schema: &JsonSchemaProps, name: &str) -> Option<SchemaType> {
        let items = self.below(schema.items_schema()?, format!("{name}{}", names::ELEMENT))?;
        // A comma stands between two elements.
        let fitting = REQUEST_CONTENT / (items.min_bytes + 1);
        let list_type = match schema.list_type.as_deref() {
            Some("set") => ListType::Set,
            Some("map") => {
                let keys = schema.list_map_keys.iter().flatten();
                // By the names of expressions, even in objects.
                let name = |key: &String| match names::escape(key) {
                    Some(escaped) => escaped.into(),
                    None => key.as_str().into(),
                };
                ListType::Map(keys.map(name).collect())
            }
            _ => ListType::Atomic,
        };
        let mut type_ = SchemaType::list_of(items, list_type);
        type_.max = Some(limit(schema.max_items).unwrap_or(fitting));
        type_.bounds = sizes(schema, schema.min_items, schema.max_items);
        Some(type_)
    }

    fn object(
        &mut self,
        schema: &JsonSchemaProps,
        is_resource: bool,
        name: &str,
    ) -> Option<SchemaType> {
        if let Some(values) = schema.additional_schema() {
            let values = self.below(values, format!("{name}{}", names::VALUE))?;
            // The shortest key, a colon and a comma.
            let fitting = REQUEST_CONTENT / (values.min_bytes + 6);
            let mut type_ = SchemaType::map_of(values);
            type_.max = Some(limit(schema.max_properties).unwrap_or(fitting));
            type_.bounds = sizes(schema, schema.min_properties, schema.max_properties);
            return Some(type_);
        }
        let (mut fields, mut hidden) = (BTreeMap::new(), BTreeMap::new());
        let mut min_bytes = 2;
        let required: BTreeSet<_> = schema.required.iter().flatten().map(String::as_str).collect();
        let mut add = |json_name: &str, type_: Arc<SchemaType>, has_default: bool| {
            if required.contains(json_name) && !has_default {
                // Quotation marks, a colon and a comma.
                min_bytes += json_name.len() as u64 + type_.min_bytes + 4;
            }
            match names::escape(json_name) {
                Some(name) => {
                    let field = Field { json_name: json_name.into(), schema: type_ };
                    fields.insert(name.into(), field);
                }
                None => {
                    hidden.insert(json_name.into(), type_);
                }
            }
        };
        let standard = is_resource && !has_standard_fields(schema);
        for (json_name, property) in schema.properties.iter().flatten() {
            if standard && STANDARD_FIELDS.iter().any(|(name, _)| name == json_name) {
                continue;
            }
            let name = format!("{name}.{}", names::escape(json_name).unwrap_or_default());
            if let Some(type_) = self.below(property, name) {
                add(json_name, type_, property.default.is_some());
            }
        }
        if standard {
            for (json_name, type_) in &*STANDARD_FIELDS {
                add(json_name, Arc::clone(type_), false);
            }
        }
        let mut type_ = SchemaType::object_of(name.into(), fields);
        type_.min_bytes = min_bytes;
        type_.ignores_nulls = self.edition.ignores_nulls;
        type_.hidden = hidden;
        Some(type_)
    }
}

/// The fields that every resource has, whatever its schema says (CE-05).
static STANDARD_FIELDS: LazyLock<[(&str, Arc<SchemaType>); 3]> = LazyLock::new(|| {
    let text = || text(REQUEST_CONTENT);
    let metadata = object_type("ObjectMeta", [("name", text()), ("generateName", text())]);
    [("apiVersion", Arc::new(text())), ("kind", Arc::new(text())), ("metadata", Arc::new(metadata))]
});

/// Whether a schema lists the fields of resources as they are anyway.
fn has_standard_fields(schema: &JsonSchemaProps) -> bool {
    let is = |schema: &JsonSchemaProps, name: &str, type_: &str| {
        schema.property(name).is_some_and(|property| property.type_ == type_)
    };
    is(schema, "kind", "string")
        && is(schema, "apiVersion", "string")
        && is(schema, "metadata", "object")
        && schema.property("metadata").is_some_and(|metadata| {
            is(metadata, "name", "string") && is(metadata, "generateName", "string")
        })
}

fn text(max: u64) -> SchemaType {
    let mut type_ = SchemaType::STRING;
    type_.max = Some(max);
    type_
}

fn string(schema: &JsonSchemaProps) -> SchemaType {
    let max_length = limit(schema.max_length);
    let (kind, type_, max, min_bytes) = match schema.format.as_str() {
        "byte" => (SchemaKind::Bytes, Type::Bytes, max_length.unwrap_or(REQUEST_CONTENT), 2),
        "duration" => (SchemaKind::Duration, Type::Duration, MAX_DURATION, 3),
        "date" => (SchemaKind::Date, Type::Timestamp, DATE, DATE),
        "date-time" => (SchemaKind::DateTime, Type::Timestamp, MAX_DATE_TIME, 21),
        _ => {
            let listed = schema.enum_.iter().filter_map(|value| value.as_str());
            let longest = listed.map(|text| text.len() as u64).max().unwrap_or_default();
            let mut type_ = text(match characters(schema.max_length) {
                Some(bytes) => bytes,
                None if !schema.enum_.is_empty() => longest,
                None => REQUEST_CONTENT,
            });
            type_.bounds = sizes(schema, schema.min_length, schema.max_length);
            return type_;
        }
    };
    let mut type_ = SchemaType::simple(kind, type_, min_bytes);
    type_.max = Some(max);
    type_
}

/// A number within the limits that the schema sets.
fn number(mut type_: SchemaType, schema: &JsonSchemaProps) -> SchemaType {
    // Beyond the limit itself an integer begins with the next one, a number at once.
    let step = |excludes: bool| {
        if excludes && matches!(type_.kind, SchemaKind::Int) { 1.0 } else { 0.0 }
    };
    let min = schema.minimum.map(|min| min + step(schema.exclusive_minimum));
    let max = schema.maximum.map(|max| max - step(schema.exclusive_maximum));
    type_.bounds = bounds(schema, f64::NEG_INFINITY, min, max);
    type_
}

fn sizes(schema: &JsonSchemaProps, min: Option<i64>, max: Option<i64>) -> Option<Box<Bounds>> {
    bounds(schema, 0.0, limit(min).map(|min| min as f64), limit(max).map(|max| max as f64))
}

/// A value that may be null has no bounds.
fn bounds(
    schema: &JsonSchemaProps,
    least: f64,
    min: Option<f64>,
    max: Option<f64>,
) -> Option<Box<Bounds>> {
    let texts = schema.enum_.iter().map(|value| value.as_str().map(Box::from));
    let texts: Box<[_]> = texts.collect::<Option<_>>().unwrap_or_default();
    let is_bound = min.is_some() || max.is_some() || !texts.is_empty();
    let (min, max) = (min.unwrap_or(least), max.unwrap_or(f64::INFINITY));
    (is_bound && !schema.nullable).then(|| Box::new(Bounds { min, max, texts }))
}

impl SchemaType {
    /// How many values of this type a request has room for (CE-25).
    pub(crate) fn most_in_request(&self) -> u64 {
        REQUEST_BYTES / (self.min_bytes + 1)
    }
}

/// The bytes of so many characters, each of which takes up to four.
fn characters(written: Option<i64>) -> Option<u64> {
    limit(written).map(|length| length.saturating_mul(4))
}

/// A limit that the schema sets; a negative one lets nothing in.
fn limit(written: Option<i64>) -> Option<u64> {
    written.map(|limit| u64::try_from(limit).unwrap_or_default())
}
