//! Decoding, validation, rules, definitions, YAML and server-side apply.

use std::hint::black_box;

use billhook::{
    CustomResourceDefinition, DecodeOptions, DeepValue, FieldManagement, FieldValidation,
    ValidateOptions,
};
use billhook_cel::rules::{BUDGET, CALL_LIMIT, Rules};
use billhook_cel::schema::SchemaType;
use billhook_cel::{Environment, Type};
use billhook_compat::compare;
use billhook_regex::limits::SETTLED_MATCHES;
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;
use serde_json::{Value, json};

use super::{Path, Peer, Run, alone, beside, peer};
use crate::apply::ManagedObject;
use crate::{Document, Variant, fixture_sources, stack};

pub(super) fn paths() -> Vec<Path> {
    let to_value = || peer("serde_json to Value", parse_object, None);
    vec![
        beside("decode: text to text, 12 KB", || decode_text(Variant::Clean), to_value()),
        alone("decode: text to text and parts of it, 12 KB", read_parts),
        alone("decode: text to text, 12 KB, 10 % unknown", || decode_text(Variant::Unknown)),
        alone("decode: text with a report, 12 KB, 10 % unknown", || {
            decode_reporting(document(Variant::Unknown))
        }),
        alone("decode: metadata with a report, 64 KB, 10 % unknown", || {
            decode_reporting(metadata())
        }),
        beside("decode: text to Value, 12 KB", decode, to_value()),
        alone("decode: in place, 12 KB", in_place),
        with_peer("validate: verdict, 12 KB", is_valid, jsonschema()),
        alone("validate: create, 12 KB", validate_create),
        alone("rules: two on each of 100 objects", rules),
        alone("rules: compile two", compile_rules),
        alone("expression: compile", compile_expression),
        alone("expression: evaluate", evaluate_expression),
        beside("definition: from JSON", from_json, peer("serde_json to Value", parse_json, None)),
        with_peer("definition: from YAML", from_yaml, serde_yaml()),
        with_peer("YAML: a definition", read_yaml, serde_yaml()),
        alone("compat: a definition without one of its fields", compare_definitions),
        alone("apply: 10 % changed onto a copy, 12 KB", apply),
    ]
}

fn with_peer(name: &'static str, prepare: fn() -> Run, peer: Option<Peer>) -> Path {
    Path { name, prepare, peer }
}

fn document(variant: Variant) -> Document {
    stack("12 KB", 12_000).input(variant).documents.remove(0)
}

fn plain() -> DecodeOptions {
    DecodeOptions::default().field_validation(FieldValidation::Ignore)
}

fn decode_text(variant: Variant) -> Run {
    let document = document(variant);
    Box::new(move || {
        let version = &document.kind.version;
        drop(black_box(version.decode_text(black_box(&document.text), &plain()).unwrap()));
    })
}

/// Reads a name, a kind, and which fields a spec has; for the last the whole text is passed over.
fn read_parts() -> Run {
    let document = document(Variant::Clean);
    Box::new(move || {
        let version = &document.kind.version;
        let decoded = version.decode_text(black_box(&document.text), &plain()).unwrap();
        let object = decoded.object();
        black_box(object.at(["metadata", "name"]).and_then(|name| name.as_str()));
        black_box(object.get("kind").and_then(|kind| kind.as_str()));
        black_box(object.get("spec").map(|spec| spec.members().count()));
    })
}

/// An object whose metadata has unknown fields.
fn metadata() -> Document {
    let mut sources = fixture_sources().into_iter();
    let source = sources.find(|source| source.name == "metadata").unwrap();
    source.input(Variant::Unknown).documents.remove(0)
}

fn decode_reporting(document: Document) -> Run {
    let options = DecodeOptions::default().report(true);
    Box::new(move || {
        let version = &document.kind.version;
        drop(black_box(version.decode_text(black_box(&document.text), &options).unwrap()));
    })
}

fn decode() -> Run {
    let document = document(Variant::Clean);
    Box::new(move || {
        let version = &document.kind.version;
        drop(black_box(version.decode(black_box(&document.text), &plain()).unwrap()));
    })
}

fn parse_object() -> Run {
    let text = document(Variant::Clean).text;
    Box::new(move || drop(black_box(serde_json::from_slice::<Value>(black_box(&text)).unwrap())))
}

fn in_place() -> Run {
    let document = document(Variant::Clean);
    let mut value = document.value.clone();
    Box::new(move || {
        document.kind.version.prune_and_default(black_box(&mut value), &mut ()).unwrap();
    })
}

fn is_valid() -> Run {
    let document = document(Variant::Clean);
    let validator = document.kind.validator();
    settled(move || assert!(validator.is_valid(black_box(&document.value))))
}

fn validate_create() -> Run {
    let document = document(Variant::Clean);
    let options = ValidateOptions::default();
    settled(move || {
        let version = &document.kind.version;
        drop(black_box(version.validate_create(black_box(&document.value), &options)));
    })
}

/// Work whose patterns have matched so often that they learn no more.
fn settled(mut run: impl FnMut() + 'static) -> Run {
    (0..SETTLED_MATCHES).for_each(|_| run());
    Box::new(run)
}

#[cfg(feature = "peers")]
fn jsonschema() -> Option<Peer> {
    let prepare = || -> Run {
        let document = document(Variant::Clean);
        let peer = crate::peers::jsonschema(&document.kind.written_schema());
        Box::new(move || assert!(peer.is_valid(black_box(&document.value))))
    };
    Some(peer("jsonschema", prepare, Some(0.7)))
}

#[cfg(not(feature = "peers"))]
fn jsonschema() -> Option<Peer> {
    None
}

/// The schema of a list of objects with two rules each, and a hundred of them.
fn ruled() -> (JsonSchemaProps, Value) {
    let port = json!({"type": "object", "properties": {
        "name": {"type": "string", "maxLength": 63},
        "number": {"type": "integer", "minimum": 1},
    }, "x-kubernetes-validations": [
        {"rule": "self.number < 65536"}, {"rule": "!self.name.startsWith('x-')"},
    ]});
    let schema =
        json!({"type": "object", "properties": {"ports": {"type": "array", "items": port}}});
    let ports: Vec<_> = (1..=100).map(|number| json!({"name": "p", "number": number})).collect();
    (JsonSchemaProps::from_value(&schema).unwrap(), json!({"ports": ports}))
}

fn rules() -> Run {
    let (schema, object) = ruled();
    let rules = Rules::new(&schema, &Validator::new(&schema)).unwrap();
    Box::new(move || assert!(rules.check(black_box(&object), None, BUDGET).errors.is_empty()))
}

fn compile_rules() -> Run {
    let (schema, _) = ruled();
    let validator = Validator::new(&schema);
    Box::new(move || drop(black_box(Rules::new(black_box(&schema), &validator).unwrap())))
}

const EXPRESSION: &str = "object.ports.all(port, port.number > 0 && port.number < 65536)";

fn environment() -> Environment {
    Environment::default().variable("object", Type::Dyn)
}

fn compile_expression() -> Run {
    let environment = environment();
    Box::new(move || drop(black_box(environment.compile(black_box(EXPRESSION)).unwrap())))
}

fn evaluate_expression() -> Run {
    let (_, object) = ruled();
    let program = environment().compile(EXPRESSION).unwrap();
    let any = SchemaType::ANY;
    Box::new(move || {
        let object = billhook_cel::Value::of(black_box(&object), &any).unwrap();
        let evaluation = program.evaluate(&[("object", object)], CALL_LIMIT);
        assert!(matches!(evaluation.result, Ok(billhook_cel::Value::Bool(true))));
    })
}

/// The text of a definition in YAML and in JSON.
fn definition() -> (&'static str, String) {
    let yaml = include_str!("../../../fixtures/crds/stacks.platform.example.com.yaml");
    (yaml, crate::corpus::yaml_to_json(yaml))
}

fn from_json() -> Run {
    let (_, json) = definition();
    Box::new(move || {
        let text = black_box(json.as_bytes());
        drop(black_box(CustomResourceDefinition::from_json(text).unwrap()));
    })
}

fn parse_json() -> Run {
    let (_, json) = definition();
    Box::new(move || drop(black_box(serde_json::from_str::<Value>(black_box(&json)).unwrap())))
}

fn from_yaml() -> Run {
    let (yaml, _) = definition();
    Box::new(move || drop(black_box(CustomResourceDefinition::from_yaml(black_box(yaml)).unwrap())))
}

fn compare_definitions() -> Run {
    let (_, json) = definition();
    let old: Value = serde_json::from_str(&json).unwrap();
    let mut new = old.clone();
    for version in new["spec"]["versions"].as_array_mut().unwrap() {
        let spec = &mut version["schema"]["openAPIV3Schema"]["properties"]["spec"];
        let fields = spec["properties"].as_object_mut().unwrap();
        let removed = fields.keys().next().unwrap().clone();
        fields.remove(&removed);
        if let Some(required) = spec.get_mut("required").and_then(Value::as_array_mut) {
            required.retain(|it| *it != removed.as_str());
        }
    }
    Box::new(move || drop(black_box(compare(black_box(&old), black_box(&new)).unwrap())))
}

fn read_yaml() -> Run {
    let (yaml, _) = definition();
    Box::new(move || {
        drop(black_box(billhook_yaml::read_document(black_box(yaml.as_bytes())).unwrap()));
    })
}

#[cfg(feature = "peers")]
fn serde_yaml() -> Option<Peer> {
    let prepare = || -> Run {
        let (yaml, _) = definition();
        Box::new(move || drop(black_box(serde_yaml::from_str::<Value>(black_box(yaml)).unwrap())))
    };
    Some(peer("serde_yaml", prepare, None))
}

#[cfg(not(feature = "peers"))]
fn serde_yaml() -> Option<Peer> {
    None
}

fn apply() -> Run {
    let document = document(Variant::Clean);
    let object = ManagedObject::of(&document);
    Box::new(move || {
        let fields = FieldManagement::new(&document.kind.version, object.manager(), object.now);
        let mut live = DeepValue::from((*object.live).clone());
        black_box(fields.apply_to(&mut live, &object.changed, true).unwrap());
    })
}
