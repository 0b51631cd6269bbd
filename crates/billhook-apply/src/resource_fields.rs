//! The merge type of the fields that all resources have (SA-06), written as a schema.

use std::collections::BTreeMap;

use billhook_apimachinery::value::DeepValue;
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::{Items, SchemaOrBool};
use serde_json::Value;

/// An object with `apiVersion`, `kind` and `metadata` as they are in every resource.
pub(crate) fn schema() -> JsonSchemaProps {
    let strings =
        ["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"].map(string);
    let numbers = ["generation", "deletionGracePeriodSeconds"].map(|name| (name, typed("integer")));
    let times = ["creationTimestamp", "deletionTimestamp"].map(|name| {
        let mut time = typed("string");
        time.format = "date-time".to_owned();
        (name, time)
    });
    let maps = ["labels", "annotations"].map(|name| {
        let mut map = typed("object");
        map.additional_properties = Some(SchemaOrBool::Schema(Box::new(typed("string"))));
        (name, map)
    });
    let lists = [
        ("finalizers", list("set", typed("string"))),
        ("ownerReferences", owner_references()),
        ("managedFields", typed("array")),
    ];
    let fields = strings.into_iter().chain(numbers).chain(times).chain(maps).chain(lists);
    let metadata = ("metadata", object(fields));
    object(["apiVersion", "kind"].map(string).into_iter().chain([metadata]))
}

fn owner_references() -> JsonSchemaProps {
    let strings = ["apiVersion", "kind", "name"].map(string);
    let flags = ["controller", "blockOwnerDeletion"].map(|name| (name, typed("boolean")));
    let mut uid = typed("string");
    // A reference without a UID is identified by an empty one.
    uid.default = Some(DeepValue::from(Value::from("")));
    let fields = strings.into_iter().chain(flags).chain([("uid", uid)]);
    let mut reference = object(fields);
    reference.map_type = Some("atomic".to_owned());
    let mut references = list("map", reference);
    references.list_map_keys = Some(vec!["uid".to_owned()]);
    references
}

fn typed(type_: &str) -> JsonSchemaProps {
    let mut schema = JsonSchemaProps::default();
    schema.type_ = type_.to_owned();
    schema
}

fn string(name: &'static str) -> (&'static str, JsonSchemaProps) {
    (name, typed("string"))
}

fn list(list_type: &str, items: JsonSchemaProps) -> JsonSchemaProps {
    let mut list = typed("array");
    list.list_type = Some(list_type.to_owned());
    list.items = Some(Items::Schema(Box::new(items)));
    list
}

fn object(fields: impl IntoIterator<Item = (&'static str, JsonSchemaProps)>) -> JsonSchemaProps {
    let mut object = typed("object");
    let fields = fields.into_iter().map(|(name, field)| (name.to_owned(), Box::new(field)));
    object.properties = Some(fields.collect::<BTreeMap<_, _>>());
    object
}
