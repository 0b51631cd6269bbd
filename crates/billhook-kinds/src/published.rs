//! The schemas of kinds as OpenAPI has them: one for each type, by its name (BK-18).

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::record::{Field, Record, Type};
use serde_json::{Map, Value, json};

use crate::definition::{merging, object, scalar_schema, set};
use crate::kind::Kind;

/// The package of the types that all groups have.
const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
/// Its types that records of other crates describe.
const OF_META: [&str; 5] = [
    "LabelSelector",
    "LabelSelectorRequirement",
    "ManagedFieldsEntry",
    "ObjectMeta",
    "OwnerReference",
];
/// The names of types that are texts or numbers in documents.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const INT_OR_STRING: &str = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";

impl Kind {
    /// Returns the name of its type in OpenAPI.
    pub fn open_api_name(&self) -> String {
        format!("{}.{}", self.package(), self.kind)
    }

    /// Returns the schemas of its type and of all that this refers to, by their names, as servers of a
    /// version publish them. That of metadata is known to every reader.
    pub fn open_api(&self, kubernetes: KubernetesVersion) -> Map<String, Value> {
        let mut publishing =
            Publishing { kubernetes, package: self.package(), schemas: Map::new() };
        if let Some(record) = self.record() {
            let schema = publishing.object(record);
            publishing.schemas.insert(self.open_api_name(), schema);
        }
        publishing.schemas
    }

    fn package(&self) -> String {
        let of_group = match self.group {
            "" => "io.k8s.api.core".to_owned(),
            "apiextensions.k8s.io" => {
                "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions".to_owned()
            }
            "apiregistration.k8s.io" => {
                "io.k8s.kube-aggregator.pkg.apis.apiregistration".to_owned()
            }
            group => format!("io.k8s.api.{}", group.split('.').next().unwrap_or(group)),
        };
        format!("{of_group}.{}", self.version)
    }
}

struct Publishing {
    kubernetes: KubernetesVersion,
    /// The package of the kind.
    package: String,
    schemas: Map<String, Value>,
}

impl Publishing {
    fn object(&mut self, record: &'static Record) -> Value {
        let kubernetes = self.kubernetes;
        let known = || record.fields.iter().filter(|field| field.since <= kubernetes);
        let needed: Vec<&str> =
            known().filter(|field| field.is_needed).map(|field| field.name).collect();
        let properties: Map<String, Value> =
            known().map(|field| (field.name.to_owned(), self.field(field))).collect();
        let mut schema =
            object([("type", "object".into()), ("properties", Value::Object(properties))]);
        if !needed.is_empty() {
            set(&mut schema, "required", json!(needed));
        }
        if record.is_atomic {
            set(&mut schema, "x-kubernetes-map-type", "atomic".into());
        }
        schema
    }

    fn field(&mut self, field: &Field) -> Value {
        let mut schema = self.value(field.type_);
        if let Some(reference) = schema.get("$ref").cloned() {
            schema = json!({"allOf": [{"$ref": reference}]});
        }
        if !field.choices.is_empty() {
            set(&mut schema, "enum", json!(field.choices));
        }
        if let Ok(default) = serde_json::from_str(field.default) {
            set(&mut schema, "default", default);
        }
        merging(&mut schema, field);
        schema
    }

    fn value(&mut self, type_: Type) -> Value {
        match type_.unnamed() {
            Type::Optional(type_) => self.value(*type_),
            Type::Float => json!({"type": "number", "format": "double"}),
            Type::Bytes => json!({"type": "string", "format": "byte"}),
            Type::Time | Type::MicroTime => json!({"type": "string", "format": "date-time"}),
            Type::Quantity => self.one_of(QUANTITY, ["string", "number"]),
            Type::IntOrString => self.one_of(INT_OR_STRING, ["integer", "string"]),
            Type::Any | Type::RecordOrList(_) | Type::RecordOrFlag(_) | Type::RecordOrTexts(_) => {
                json!({"x-kubernetes-preserve-unknown-fields": true})
            }
            Type::Record(table) => self.record(table()),
            Type::List(type_) => json!({"type": "array", "items": self.value(*type_)}),
            Type::Map(type_) => {
                json!({"type": "object", "additionalProperties": self.value(*type_)})
            }
            scalar => scalar_schema(scalar),
        }
    }

    /// A reference to a type of which values are of two types.
    fn one_of(&mut self, name: &str, types: [&str; 2]) -> Value {
        let types = types.map(|type_| json!({"type": type_}));
        self.schemas.insert(name.to_owned(), json!({ "oneOf": types }));
        reference(name)
    }

    /// A reference to the type of a record.
    fn record(&mut self, record: &'static Record) -> Value {
        let is_of_meta = record.home.is_empty() && OF_META.contains(&record.name);
        let home = match record.home {
            _ if is_of_meta => META,
            "" => &*self.package,
            home => home,
        };
        let name = format!("{home}.{}", record.name);
        if !self.schemas.contains_key(&name) {
            // Types that have themselves in them refer to what is not there yet.
            self.schemas.insert(name.clone(), Value::Null);
            let schema = self.object(record);
            self.schemas.insert(name.clone(), schema);
        }
        reference(&name)
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
