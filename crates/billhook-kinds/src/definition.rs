//! Kinds as definitions of their resources: schemas are derived from the fields.

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::record::{Field, ListType, Record, Type};
use serde_json::{Map, Value, json};

use crate::kind::Kind;

impl Kind {
    /// Returns a CustomResourceDefinition of the kind as servers of a version know it, from which a
    /// schema can be compiled. None if its fields are not known.
    pub fn definition(&self, kubernetes: KubernetesVersion) -> Option<Value> {
        let record = self.record()?;
        let mut subresources = Map::new();
        if self.subresources.iter().any(|subresource| subresource.name == "status") {
            subresources.insert("status".to_owned(), json!({}));
        }
        if self.subresources.iter().any(|subresource| subresource.name == "scale") {
            let paths = json!({
                "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".spec.selector",
            });
            subresources.insert("scale".to_owned(), paths);
        }
        let selectable = self.field_selectors.iter().filter(|name| !name.starts_with("metadata."));
        let selectable: Vec<Value> =
            selectable.map(|name| json!({ "jsonPath": format!(".{name}") })).collect();
        let schema = without_metadata(Deriving { kubernetes, open: Vec::new() }.object(record));
        let deprecation = self.deprecation.filter(|deprecation| deprecation.since <= kubernetes);
        let mut own = json!({
            "name": self.version, "served": true, "storage": true,
            "subresources": subresources, "selectableFields": selectable,
            "deprecated": deprecation.is_some(),
            "deprecationWarning": deprecation.map(|deprecation| deprecation.warning),
        });
        set(&mut own, "schema", object([("openAPIV3Schema", schema)]));
        let versions = [own].into_iter().chain(self.others(kubernetes)).collect();
        let mut spec = json!({
            "group": self.group,
            "scope": if self.is_namespaced { "Namespaced" } else { "Cluster" },
            "names": {
                "plural": self.plural, "singular": self.singular, "kind": self.kind,
                "listKind": format!("{}List", self.kind), "shortNames": self.short_names,
                "categories": self.categories,
            },
        });
        set(&mut spec, "versions", Value::Array(versions));
        Some(object([
            ("apiVersion", "apiextensions.k8s.io/v1".into()),
            ("kind", "CustomResourceDefinition".into()),
            ("metadata", json!({"name": format!("{}.{}", self.plural, self.group)})),
            ("spec", spec),
        ]))
    }

    /// The other versions of the kind, in which managers may own fields of the same objects.
    fn others(&self, kubernetes: KubernetesVersion) -> impl Iterator<Item = Value> {
        let same = |it: &&Kind| [it.group, it.plural] == [self.group, self.plural];
        let others = Kind::all().iter().filter(same).filter(|it| it.version != self.version);
        others.filter_map(move |other| {
            let schema = Deriving { kubernetes, open: Vec::new() }.object(other.record()?);
            let schema = object([("openAPIV3Schema", without_metadata(schema))]);
            let mut version = json!({
                "name": other.version, "served": false, "storage": false,
                "subresources": {"status": {}},
            });
            set(&mut version, "schema", schema);
            Some(version)
        })
    }
}

/// The schema of an object, whose metadata is known to every reader.
fn without_metadata(mut schema: Value) -> Value {
    if let Some(metadata) = schema.pointer_mut("/properties/metadata") {
        *metadata = json!({"type": "object"});
    }
    schema
}

struct Deriving {
    kubernetes: KubernetesVersion,
    /// The records around the one that is derived.
    open: Vec<&'static str>,
}

impl Deriving {
    fn object(&mut self, record: &'static Record) -> Value {
        if self.open.contains(&record.name) {
            return json!({"x-kubernetes-preserve-unknown-fields": true});
        }
        self.open.push(record.name);
        let kubernetes = self.kubernetes;
        let known = record.fields.iter().filter(|field| field.since <= kubernetes);
        let properties: Map<String, Value> =
            known.map(|field| (field.name.to_owned(), self.field(field))).collect();
        self.open.pop();
        let mut schema =
            object([("type", "object".into()), ("properties", Value::Object(properties))]);
        if record.is_atomic {
            set(&mut schema, "x-kubernetes-map-type", "atomic".into());
        }
        schema
    }

    fn field(&mut self, field: &Field) -> Value {
        let mut schema = self.value(field.type_);
        merging(&mut schema, field);
        if let ListType::Map(keys) = field.merge.list {
            Self::complete_keys(&mut schema, field.type_, keys);
        }
        schema
    }

    /// The keys of a list's items are required or have a default.
    fn complete_keys(list: &mut Value, type_: Type, keys: &[&str]) {
        let (Some(record), Some(items)) = (item_of(type_), list.get_mut("items")) else { return };
        let default = |key: &str| record.field(key).map_or("", key_default);
        let (with, without): (Vec<&str>, Vec<&str>) =
            keys.iter().partition(|key| !default(key).is_empty());
        if !without.is_empty() {
            set(items, "required", json!(without));
        }
        for key in with {
            let default = serde_json::from_str(default(key)).unwrap_or_default();
            if let Some(schema) = items.get_mut("properties").and_then(|all| all.get_mut(key)) {
                set(schema, "default", default);
            }
        }
    }

    /// An element of a list or a map, where null stands for the empty value.
    fn element(&mut self, type_: Type) -> Value {
        let mut schema = self.value(type_);
        set(&mut schema, "nullable", true.into());
        schema
    }

    fn value(&mut self, type_: Type) -> Value {
        match type_.unnamed() {
            Type::Optional(type_) => self.value(*type_),
            Type::Float => json!({"type": "number"}),
            Type::Time | Type::MicroTime => {
                json!({"type": "string", "format": "date-time", "nullable": true})
            }
            Type::IntOrString => json!({"x-kubernetes-int-or-string": true}),
            // A value without a type of its own belongs to one manager.
            Type::Any => json!({
                "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic",
            }),
            Type::RecordOrList(_) | Type::RecordOrFlag(_) | Type::RecordOrTexts(_) => {
                json!({"x-kubernetes-preserve-unknown-fields": true})
            }
            Type::Record(table) => self.object(table()),
            Type::List(type_) => {
                object([("type", "array".into()), ("items", self.element(*type_))])
            }
            Type::Map(type_) => {
                object([("type", "object".into()), ("additionalProperties", self.element(*type_))])
            }
            scalar => scalar_schema(scalar),
        }
    }
}

/// The schema of a truth value, an integer or a text.
pub(crate) fn scalar_schema(type_: Type) -> Value {
    match type_ {
        Type::Flag => json!({"type": "boolean"}),
        Type::Int32 => json!({"type": "integer", "format": "int32"}),
        Type::Int64 => json!({"type": "integer", "format": "int64"}),
        _ => json!({"type": "string"}),
    }
}

/// Says how apply merges the values of a field.
pub(crate) fn merging(schema: &mut Value, field: &Field) {
    match field.merge.list {
        ListType::Atomic => {}
        ListType::Set => set(schema, "x-kubernetes-list-type", "set".into()),
        ListType::Map(keys) => {
            set(schema, "x-kubernetes-list-type", "map".into());
            set(schema, "x-kubernetes-list-map-keys", json!(keys));
        }
    }
    if field.merge.is_atomic {
        set(schema, "x-kubernetes-map-type", "atomic".into());
    }
    if field.merge.is_granular {
        set(schema, "x-kubernetes-map-type", "granular".into());
    }
}

/// The default of a key: a required text or number that is missing is empty (BK-18).
fn key_default(field: &Field) -> &str {
    match field.type_.unnamed() {
        _ if !field.default.is_empty() || !field.is_required => field.default,
        Type::Text => "\"\"",
        Type::Int32 | Type::Int64 => "0",
        _ => "",
    }
}

/// The record of a list's items.
fn item_of(type_: Type) -> Option<&'static Record> {
    match type_.unnamed() {
        Type::List(item) => match item.unnamed() {
            Type::Record(table) => Some(table()),
            _ => None,
        },
        _ => None,
    }
}

/// An object of its members, which `json!` would copy.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub(crate) fn set(schema: &mut Value, keyword: &str, value: Value) {
    if let Value::Object(members) = schema {
        members.insert(keyword.to_owned(), value);
    }
}
