//! Written schemas, read part by part.

use billhook_apimachinery::FieldPath;
use billhook_schema::{SchemaStep, SchemaView, WrittenVersion};
use serde_json::{Value, json};

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "ports": {"type": "array", "items": {"type": "integer", "minimum": 1}},
            "name": {"type": "string"},
            "wrong": true,
        },
        "additionalProperties": {"x-kubernetes-int-or-string": true},
    })
}

#[test]
fn parts_are_in_order_and_are_objects() {
    let schema = schema();
    let steps: Vec<SchemaStep<'_>> =
        SchemaView::new(&schema).parts().map(|(step, _)| step).collect();
    let expected = [
        SchemaStep::Property("name"),
        SchemaStep::Property("ports"),
        SchemaStep::AdditionalProperties,
    ];
    assert_eq!(steps, expected);
}

#[test]
fn fields_lead_to_their_parts() {
    let schema = schema();
    let view = SchemaView::new(&schema);
    let type_at = |path: FieldPath| view.at(&path).map(|part| part.text("type"));
    let field = FieldPath::default();
    assert_eq!(type_at(field.clone()), Some("object"));
    assert_eq!(type_at(field.clone().name("ports").index(3)), Some("integer"));
    assert_eq!(type_at(field.clone().name("name").name("below")), None);
    let other = view.at(&field.clone().key("other"));
    assert!(other.is_some_and(|part| part.is_set("x-kubernetes-int-or-string")));
    // A part that is not a schema does not hide that of the others.
    assert_eq!(view.at(&field.name("wrong")), view.additional());
}

#[test]
fn steps_are_paths_in_the_schema() {
    let steps = [SchemaStep::Property("a.b"), SchemaStep::Items, SchemaStep::AdditionalProperties];
    let path = steps.into_iter().fold(FieldPath::default(), |path, step| step.add_to(path));
    assert_eq!(path.to_json_pointer(), "/properties/a.b/items/additionalProperties");
}

#[test]
fn keywords_of_another_type_are_absent() {
    let schema = json!({"type": 1, "minItems": "2", "required": [1, "a"], "enum": {}});
    let view = SchemaView::new(&schema);
    assert_eq!((view.text("type"), view.size("minItems")), ("", None));
    assert_eq!(view.texts("required").collect::<Vec<_>>(), ["a"]);
    assert_eq!(view.list("enum").count(), 0);
}

#[test]
fn versions_have_their_place() {
    let definition = json!({"spec": {"versions": [
        {"name": "v1", "served": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
        {"name": "v2"},
    ]}});
    let versions: Vec<WrittenVersion<'_>> = WrittenVersion::all(&definition).collect();
    assert_eq!(versions.iter().map(|it| it.name).collect::<Vec<_>>(), ["v1", "v2"]);
    let named = WrittenVersion::named(&definition, "v1").unwrap();
    assert!(named.is_served && named.schema.is_some());
    assert_eq!(definition.pointer(&named.path.to_json_pointer()), Some(&json!({"type": "object"})));
    assert!(!versions[1].is_served && versions[1].schema.is_none());
    assert!(WrittenVersion::named(&definition, "v3").is_none());
}
