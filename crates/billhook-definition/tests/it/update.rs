//! Validation of updates of definitions (CV-80 to CV-95).

use billhook_definition::DefinitionValidation;
use billhook_testing::definitions::{base, with_schema};
use serde_json::{Value, json};

use crate::support::{create, errors, manifest, update};

fn with_property(schema: &Value) -> Value {
    with_schema(json!({"type": "object", "properties": {"a": schema}}))
}

/// The base with another version beside the stored one.
fn with_version(name: &str, storage: bool) -> Value {
    let mut definition = base();
    let mut version = definition["spec"]["versions"][0].clone();
    version["name"] = json!(name);
    version["storage"] = json!(storage);
    definition["spec"]["versions"].as_array_mut().unwrap().push(version);
    definition
}

fn established(mut definition: Value) -> Value {
    definition["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
    definition
}

/// A check that an old definition violates is relaxed for the whole new one; otherwise the update
/// is refused with the same error as a create.
fn relaxed_by(old: &Value, new: &Value, error: &str) {
    assert_eq!(errors(&create(new)), [error]);
    assert_eq!(errors(&update(new, &base())), [error], "update of a clean definition");
    assert_eq!(errors(&update(new, old)), [""; 0], "update of a definition like it");
}

#[test]
fn nothing_changed() {
    assert!(update(&base(), &base()).errors().is_empty());
}

/// CV-02, CV-12: what has been stored once must stay.
#[test]
fn versions_that_were_stored() {
    let both = with_version("v2", false);
    let mut moved = with_version("v2", true);
    moved["spec"]["versions"][0]["storage"] = json!(false);
    assert_eq!(errors(&update(&moved, &both)), [""; 0]);
    let mut gone = moved.clone();
    gone["spec"]["versions"].as_array_mut().unwrap().remove(0);
    let missing = "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions";
    assert_eq!(errors(&update(&gone, &moved)), [""; 0]);
    assert_eq!(errors(&update(&gone, &base())), [missing]);
    // A status that lists more than the first storage version.
    moved["status"] = json!({"storedVersions": ["v1", "v2"]});
    assert_eq!(errors(&update(&gone, &moved)), [missing]);
}

/// CV-80: there is no check of the name's syntax.
#[test]
fn metadata() {
    let mut other = base();
    other["metadata"]["name"] = json!("Foos");
    assert_eq!(
        errors(&update(&other, &base())),
        ["metadata.name: Invalid value: \"Foos\": field is immutable"]
    );
    assert!(update(&other, &other).errors().is_empty());
    // What only servers write is kept by a patch.
    let mut stored = base();
    stored["metadata"] = json!({"name": "foos.example.com", "resourceVersion": "7", "uid": "u",
        "generation": 3, "creationTimestamp": "2024-01-01T00:00:00Z"});
    assert_eq!(errors(&update(&base(), &stored)), [""; 0]);
    let mut forged = stored.clone();
    forged["metadata"]["uid"] = json!("v");
    assert_eq!(
        errors(&update(&forged, &stored)),
        ["metadata.uid: Invalid value: \"v\": field is immutable"]
    );
}

/// CV-81.
#[test]
fn immutable_fields() {
    let mut other = base();
    other["spec"]["scope"] = json!("Cluster");
    other["spec"]["names"] =
        json!({"plural": "bars", "kind": "Bar", "singular": "s", "listKind": "L"});
    other["spec"]["group"] = json!("example.org");
    let always = [
        "spec.group: Invalid value: \"example.org\": field is immutable",
        "spec.names.plural: Invalid value: \"bars\": field is immutable",
    ];
    assert_eq!(errors(&update(&other, &base())), always);
    let established = errors(&update(&other, &established(base())));
    assert_eq!(
        established,
        [
            "spec.scope: Invalid value: \"Cluster\": field is immutable",
            "spec.names.kind: Invalid value: \"Bar\": field is immutable",
            always[0],
            always[1],
        ]
    );
}

/// CV-82.
#[test]
fn unknown_types() {
    let bad = with_property(&json!({"type": "text"}));
    let error = "spec.validation.openAPIV3Schema.properties[a].type: Unsupported value: \"text\": supported values: \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\"";
    let mut elsewhere = with_version("v2", false);
    elsewhere["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["not"] = json!({"type": "date"});
    relaxed_by(&elsewhere, &bad, error);
}

/// CV-83, CV-24.
#[test]
fn missing_schemas() {
    let mut bad = base();
    bad["spec"]["versions"][0]["schema"] = json!(null);
    let required = "spec.versions[0].schema.openAPIV3Schema: Required value";
    assert_eq!(errors(&update(&bad, &base())), [required]);
    let pruned = format!("{required}: because otherwise all fields are pruned");
    assert_eq!(errors(&update(&bad, &bad)), [pruned]);
    bad["spec"]["versions"][0]["served"] = json!(false);
    assert_eq!(errors(&update(&bad, &bad)), [""; 0]);
}

/// CV-22, CV-84: only definitions that preserve unknown fields need no structural schema.
#[test]
fn schemas_that_are_not_structural() {
    let mut bad = with_schema(json!({"properties": {"a": {"type": "string"}}}));
    let error =
        "spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root";
    assert_eq!(errors(&update(&bad, &bad)), [error]);
    bad["spec"]["preserveUnknownFields"] = json!(true);
    assert_eq!(errors(&update(&bad, &bad)), [""; 0]);
    // A map type alone forces nothing, a list type does.
    let mut map = bad.clone();
    map["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"] =
        json!({"type": "object", "x-kubernetes-map-type": "atomic"});
    assert_eq!(errors(&update(&map, &bad)), [""; 0]);
    let mut list = bad.clone();
    list["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"] =
        json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"});
    assert_eq!(errors(&update(&list, &bad)), [error]);
}

/// CV-85.
#[test]
fn defaults_that_are_not_pruned() {
    let with_default = |default: Value| {
        with_property(
            &json!({"type": "object", "properties": {"b": {"type": "string"}}, "default": default}),
        )
    };
    relaxed_by(
        &with_default(json!({"y": 1})),
        &with_default(json!({"x": 1})),
        "spec.validation.openAPIV3Schema.properties[a].default: Invalid value: {\"x\":1}: must not have unknown fields",
    );
}

/// CV-86.
#[test]
fn sets_of_objects() {
    let set = |items: Value| {
        with_property(&json!({"type": "array", "x-kubernetes-list-type": "set", "items": items}))
    };
    relaxed_by(
        &set(
            json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}),
        ),
        &set(json!({"type": "object"})),
        "spec.validation.openAPIV3Schema.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set",
    );
}

/// CV-87.
#[test]
fn keys_that_may_be_missing() {
    let set = with_property(&json!({"type": "array", "x-kubernetes-list-type": "set",
        "items": {"type": "string", "nullable": true}}));
    let map = with_property(&json!({"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": {"type": "object", "properties": {"k": {"type": "string"}}}}));
    let path = "spec.validation.openAPIV3Schema.properties[a].items";
    relaxed_by(
        &map,
        &set,
        &format!(
            "{path}.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set"
        ),
    );
    relaxed_by(
        &set,
        &map,
        &format!(
            "{path}.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
        ),
    );
}

/// CV-88: the list must be the same.
#[test]
fn too_many_selectable_fields() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let with_fields = |count: usize| {
        let properties: serde_json::Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let mut definition = with_schema(json!({"type": "object", "properties": properties}));
        let fields: Vec<Value> =
            names.iter().take(count).map(|name| json!({"jsonPath": format!(".{name}")})).collect();
        definition["spec"]["versions"][0]["selectableFields"] = json!(fields);
        definition
    };
    assert!(create(&with_fields(8)).errors().is_empty());
    let error = "spec.selectableFields: Too many: 9: must have at most 8 items";
    assert_eq!(errors(&update(&with_fields(9), &with_fields(8))), [error]);
    assert_eq!(errors(&update(&with_fields(9), &with_fields(10))), [error]);
    assert_eq!(errors(&update(&with_fields(9), &with_fields(9))), [""; 0]);
}

fn with_webhook(bundle: Option<&str>, versions: &[&str]) -> Value {
    let mut definition = base();
    definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": {"url": "https://x", "caBundle": bundle},
        "conversionReviewVersions": versions,
    }});
    definition
}

/// CV-89.
#[test]
fn certificates() {
    let bad = with_webhook(Some("eHg="), &["v1"]);
    // A block of the right name with three bytes, which are no certificate.
    let empty = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BRUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";
    let malformed = with_webhook(Some(empty), &["v1"]);
    let good =
        with_webhook(Some(include_str!("../../../../fixtures/ca-bundle.b64").trim_end()), &["v1"]);
    let none = with_webhook(None, &["v1"]);
    let error = "spec.conversion.webhookClientConfig.caBundle: Invalid value: \"eHg=\": unable to load root certificates: unable to parse bytes as PEM block";
    let malformed_error = format!(
        "spec.conversion.webhookClientConfig.caBundle: Invalid value: \"{empty}\": unable to load \
         root certificates: failed to parse certificate: x509: malformed certificate"
    );
    assert!(create(&bad).errors().is_empty());
    for (new, old, expected) in [
        (&bad, none.clone(), vec![]),
        (&bad, established(none.clone()), vec![error]),
        (&bad, established(base()), vec![error]),
        (&bad, established(good.clone()), vec![error]),
        (&bad, established(bad.clone()), vec![]),
        (&bad, established(malformed.clone()), vec![]),
        (&malformed, established(good.clone()), vec![malformed_error.as_str()]),
        (&malformed, established(bad.clone()), vec![]),
        (&good, established(none), vec![]),
    ] {
        assert_eq!(errors(&update(new, &old)), expected, "{old}");
    }
}

/// CV-107.
#[test]
fn unknown_review_versions() {
    let unknown = with_webhook(None, &["v9"]);
    let error = "spec.conversion.conversionReviewVersions: Invalid value: [\"v9\"]: must include at least one of v1, v1beta1";
    assert_eq!(errors(&create(&unknown)), [error]);
    assert_eq!(errors(&update(&unknown, &base())), [error]);
    assert_eq!(errors(&update(&unknown, &with_webhook(None, &["v1", "v9"]))), [error]);
    assert_eq!(errors(&update(&unknown, &unknown)), [""; 0]);
}

/// CV-13: only a change of the class counts.
#[test]
fn approval() {
    let with = |annotation: &str| {
        let mut definition = base();
        definition["spec"]["group"] = json!("x.k8s.io");
        definition["metadata"] = json!({"name": "foos.x.k8s.io",
            "annotations": {"api-approved.kubernetes.io": annotation}});
        definition
    };
    assert!(update(&with(""), &with("")).errors().is_empty());
    assert!(update(&with("a"), &with("b")).errors().is_empty());
    assert_eq!(update(&with(""), &with("a")).errors().len(), 1);
    assert_eq!(update(&with("a"), &with("https://x/y")).errors().len(), 1);
    assert!(update(&with("unapproved"), &with("a")).errors().is_empty());
}

/// CV-14.
#[test]
fn preserving_unknown_fields() {
    let mut preserving = base();
    preserving["spec"]["preserveUnknownFields"] = json!(true);
    assert_eq!(update(&preserving, &base()).errors().len(), 1);
    assert!(update(&preserving, &preserving).errors().is_empty());
    assert!(update(&base(), &preserving).errors().is_empty());
}

/// CV-90.
#[test]
fn warnings_only_about_new_formats() {
    let with = |first: &str, second: &str| {
        with_schema(json!({"type": "object", "properties": {
            "a": {"type": "string", "format": first}, "b": {"type": "string", "format": second},
        }}))
    };
    let verdict = update(&with("moment", "span"), &with("date", "moment"));
    assert_eq!(verdict.warnings(), ["unrecognized format \"span\""]);
}

/// CV-95.
#[test]
fn updates_of_the_status() {
    let mut new = with_property(&json!({}));
    new["status"] =
        json!({"storedVersions": ["v9"], "acceptedNames": {"plural": "A", "kind": "B"}});
    let verdict: DefinitionValidation = manifest(&new).validate_status_update(&manifest(&base()));
    let errors = errors(&verdict);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(
        errors[0]
            .starts_with("status.acceptedNames.plural: Invalid value: \"A\": a DNS-1035 label")
    );
}
