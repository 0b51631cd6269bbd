//! Patches of clients, and the repairs after those of webhooks (RP-30 to RP-34, RP-63).

use billhook::FieldValidation;
use billhook_admission::{Admission, Chain, MemoryCluster, ObjectRequest, Unreachable};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::in_process::{InProcess, admission, allow, patch_of_m, stored, update};
use crate::updates::{bytes, changed, old, preserving, refused};

/// RP-30 to RP-32, RP-34, AR-33: webhooks see what a patch makes, the client gets it decoded.
#[test]
fn patches_are_applied_to_what_is_stored() {
    let caller = InProcess::new(allow);
    let stored_bytes = bytes(&old());
    let json_patch = json!([{"op": "replace", "path": "/spec/size", "value": 5}]);
    let merge_patch = json!({"spec": {"size": 5, "typo": 1}, "status": null});
    for (request, warnings) in [
        (ObjectRequest::json_patch("v1", &bytes(&json_patch), &stored_bytes), vec![]),
        (
            ObjectRequest::merge_patch("v1", &bytes(&merge_patch), &stored_bytes),
            vec!["unknown field \"spec.typo\"".to_owned()],
        ),
    ] {
        let outcome = admission(&caller).admit_blocking(&request, &MemoryCluster::new());
        assert_eq!(outcome.warnings.texts(), warnings);
        let asked = caller.asked("m");
        assert_eq!(asked["object"]["spec"], json!({"size": 5}));
        assert_eq!((&asked["operation"], &asked["name"]), (&json!("UPDATE"), &json!("x")));
        let mut expected = changed(&json!({"resourceVersion": null, "generation": 4}));
        expected["spec"] = json!({"size": 5});
        assert_eq!(stored(outcome), expected, "the status is that of before");
    }
    for patch in [json!([]), json!([{"op": "add", "path": "/spec/size", "value": 2}])] {
        let request = ObjectRequest::json_patch("v1", &bytes(&patch), &stored_bytes);
        assert!(
            admission(&caller)
                .admit_blocking(&request, &MemoryCluster::new())
                .result
                .unwrap()
                .unchanged,
            "RP-34"
        );
    }
}

/// RP-31: entries of the patch come before those of the patched object, and the error is about the
/// whole.
#[test]
fn patches_are_validated_with_what_they_make() {
    let stored = bytes(&old());
    let json_patch = |text: &str| ObjectRequest::json_patch("v1", text.as_bytes(), &stored);
    let merge_patch = |text: &str| ObjectRequest::merge_patch("v1", text.as_bytes(), &stored);
    let strange = r#"[{"op": "add", "path": "/spec/typo", "value": 1, "foo": 2, "op": "add"}]"#;
    let entries = [
        r#"json patch duplicate field "[0].op""#,
        r#"json patch unknown field "[0].foo""#,
        r#"unknown field "spec.typo""#,
    ];
    let caller = InProcess::new(allow);
    let outcome = admission(&caller).admit_blocking(&json_patch(strange), &MemoryCluster::new());
    assert_eq!(outcome.warnings.texts(), entries);
    let silent = json_patch(strange).field_validation(FieldValidation::Ignore);
    assert!(
        admission(&caller)
            .admit_blocking(&silent, &MemoryCluster::new())
            .warnings
            .texts()
            .is_empty()
    );

    let strict = json_patch(strange).field_validation(FieldValidation::Strict);
    let status = refused(&strict);
    assert_eq!((status.code, &*status.reason), (422, "Invalid"));
    let start = r#" "" is invalid: patch: Invalid value: "{\"apiVersion\":\"example.com/v1\","#;
    assert!(status.message.starts_with(start), "{}", status.message);
    let end = format!("\": strict decoding error: {}", entries.join(", "));
    assert!(status.message.ends_with(&end), "{}", status.message);
    let details = status.details.unwrap();
    assert_eq!((&*details.name, &*details.kind, &*details.causes[0].field), ("", "", "patch"));

    let duplicate = r#"{"spec": {"size": 3, "size": 4}}"#;
    let outcome = admission(&caller).admit_blocking(&merge_patch(duplicate), &MemoryCluster::new());
    assert_eq!(outcome.warnings.texts(), [r#"duplicate field "spec.size""#]);

    let status = refused(&merge_patch(r#"{"metadata": {"labels": {"a": 1}}}"#));
    assert_eq!(status.code, 422);
    let end = "\": json: cannot unmarshal number into Go struct field ObjectMeta.labels of type \
               string";
    assert!(status.message.ends_with(end), "{}", status.message);

    let many =
        format!("[{}]", vec![r#"{"op":"test","path":"/kind","value":"Foo"}"#; 10_001].join(","));
    for (request, code, expected) in [
        (
            json_patch(&many),
            413,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, \
             got 10001",
        ),
        (
            json_patch(r#"[{"op": "remove", "path": "/spec/none"}]"#),
            422,
            "the server rejected our request due to an error in our request",
        ),
        (
            json_patch("{}"),
            400,
            "error decoding patch: json: cannot unmarshal object into Go value of type \
             []handlers.jsonPatchOp",
        ),
        (
            merge_patch("[]"),
            400,
            "error decoding patch: json: cannot unmarshal array into Go value of type \
             map[string]interface {}",
        ),
        (
            json_patch("{}").field_validation(FieldValidation::Ignore),
            400,
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        (merge_patch("{").field_validation(FieldValidation::Ignore), 400, "Invalid JSON Patch"),
        (merge_patch("5").field_validation(FieldValidation::Ignore), 400, "Invalid JSON Patch"),
        (
            merge_patch("[]").field_validation(FieldValidation::Ignore),
            422,
            " \"\" is invalid: patch: Invalid value: \"[]\": couldn't get version/kind; json parse error: json: cannot \
             unmarshal array into Go value of type struct { APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }",
        ),
    ] {
        let status = refused(&request);
        assert_eq!((status.code, &*status.message), (code, expected));
    }
}

/// RP-63, DI-36, RE-26, SA-33, SA-58.
#[test]
fn ownership_is_put_right_after_admission() {
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-9"});
    let mut object = old();
    object["metadata"]["managedFields"] = json!([{"manager": "me", "operation": "Update", "apiVersion": "example.com/v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:size": {}}}}]);
    let before = object["metadata"]["managedFields"].clone();
    let entry = |operation: &str, api_version: &str, fields_type: &str| json!([{"operation": operation, "apiVersion": api_version, "fieldsType": fields_type}]);
    let mut unreadable = entry("Apply", "v1", "FieldsV1");
    unreadable[0]["fieldsV1"] = json!({"f:spec": 1});
    for (value, error) in [
        (entry("Delete", "", ""), "operation must be `Apply` or `Update`"),
        (entry("Update", "", ""), "apiVersion must not be empty"),
        (entry("Apply", "v1", ""), "missing fieldsType in managed fields entry 0"),
        (entry("Apply", "v1", "X"), "invalid fieldsType \"X\" in managed fields entry 0"),
        (unreadable, "error decoding versioned set from "),
    ] {
        let caller = patch_of_m(json!([
            {"op": "add", "path": "/metadata/managedFields", "value": value},
            {"op": "add", "path": "/metadata/ownerReferences", "value": [owner, owner]},
        ]));
        let outcome = admission(&caller)
            .admit_blocking(&update("v1", &object, &object), &MemoryCluster::new());
        let warnings = outcome.warnings.texts();
        assert_eq!(warnings.len(), 2);
        let start = ".metadata.managedFields was in an invalid state after admission; this could \
                     be caused by an outdated mutating admission controller; please fix your \
                     requests: ";
        let warned = warnings[0].strip_prefix(start).unwrap();
        // What else the text has of a set that cannot be read depends on the entry.
        let is_whole = !error.ends_with(' ');
        assert!(warned.starts_with(error) && (warned == error || !is_whole), "{warned}");
        assert_eq!(
            warnings[1],
            ".metadata.ownerReferences contains duplicate entries after mutating admission \
             happens; API server dedups owner references in 1.20+, and may reject such requests as \
             early as 1.24; please fix your requests; duplicate UID(s) observed: u-9"
        );
        let asked = caller.asked("v");
        assert_eq!(asked["object"]["metadata"]["managedFields"], before);
        assert_eq!(asked["object"]["metadata"]["ownerReferences"], json!([owner]));
        assert_eq!(stored(outcome)["metadata"]["managedFields"], before);
    }
    // References that differ stay, and so do managed fields that a webhook may set.
    let mut other = owner.clone();
    other["controller"] = true.into();
    let valid = json!([{"operation": "Apply", "manager": "hook", "apiVersion": "example.com/v1",
        "fieldsType": "FieldsV1", "fieldsV1": {}}]);
    let caller = patch_of_m(json!([
        {"op": "add", "path": "/metadata/managedFields", "value": valid},
        {"op": "add", "path": "/metadata/ownerReferences", "value": [owner, other]},
    ]));
    let outcome =
        admission(&caller).admit_blocking(&update("v1", &object, &object), &MemoryCluster::new());
    assert!(outcome.warnings.texts().is_empty());
    let stored = stored(outcome);
    assert_eq!(stored["metadata"]["managedFields"], valid);
    assert_eq!(stored["metadata"]["ownerReferences"], json!([owner, other]));
}

/// A patch of the status changes nothing else (RP-70).
#[test]
fn patches_may_be_for_the_status() {
    let patch = json!({"spec": {"size": 8}, "status": {"ready": false}});
    let request = ObjectRequest::merge_patch("v1", &bytes(&patch), &bytes(&old())).status_update();
    let outcome = admission(&InProcess::new(allow)).admit_blocking(&request, &MemoryCluster::new());
    let mut expected = old();
    expected["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    expected["status"]["ready"] = false.into();
    assert_eq!(stored(outcome), expected);
}

/// The result of a patch for `spec`, where everything is kept.
fn patched(request: fn(&str, &[u8], &[u8]) -> ObjectRequest, patch: &Value, spec: &Value) -> Value {
    let stored = json!({
        "apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": spec,
    });
    let admission = Admission::new(preserving(), Chain::new(Unreachable));
    let request = request("v1", &bytes(patch), &bytes(&stored));
    let accepted = admission.admit_blocking(&request, &MemoryCluster::new()).result.unwrap();
    accepted.into_returned().unwrap()["spec"].clone()
}

#[test]
fn merge_patches_merge_objects_only() {
    for (before, patch, after) in [
        (json!({"a": 1}), json!({"a": 2}), json!({"a": 2})),
        (json!({"a": 1}), json!({"b": 2}), json!({"a": 1, "b": 2})),
        (json!({"a": 1}), json!({"a": null}), json!({})),
        (json!({"a": 1, "b": 2}), json!({"a": null}), json!({"b": 2})),
        (json!({"a": [1]}), json!({"a": 2}), json!({"a": 2})),
        (json!({"a": 2}), json!({"a": [1]}), json!({"a": [1]})),
        (json!({"a": {"b": 1}}), json!({"a": {"b": 2, "c": null}}), json!({"a": {"b": 2}})),
        (json!({"a": [{"b": 1}]}), json!({"a": [1]}), json!({"a": [1]})),
        (json!({"a": 1}), json!({"a": {"b": {"c": null}}}), json!({"a": {"b": {}}})),
        (json!({"a": 1}), json!({}), json!({"a": 1})),
    ] {
        let patch = json!({"spec": patch});
        assert_eq!(patched(ObjectRequest::merge_patch, &patch, &before), after, "{patch}");
    }
}

/// Objects without nulls, which no merge patch can set.
fn objects() -> impl Strategy<Value = Value> {
    let scalar =
        prop_oneof![any::<i32>().prop_map(Value::from), "[a-c]{0,2}".prop_map(Value::from)];
    let value = scalar.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            members(inner),
        ]
    });
    members(value)
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    proptest::collection::btree_map("[a-d]", value, 0..4)
        .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into())
}

/// The merge patch that makes one object of another.
fn difference(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return after.clone();
    };
    let mut patch = Map::new();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in after {
        let old = before.get(name).unwrap_or(&Value::Null);
        if old != value {
            patch.insert(name.clone(), difference(old, value));
        }
    }
    patch.into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Both kinds of patch lead from any object to any other, and twice is the same as once.
    #[test]
    fn patches_lead_anywhere(before in objects(), after in objects()) {
        let merge = json!({"spec": difference(&before, &after)});
        prop_assert_eq!(&patched(ObjectRequest::merge_patch, &merge, &before), &after);
        prop_assert_eq!(&patched(ObjectRequest::merge_patch, &merge, &after), &after);
        let replace = json!([{"op": "replace", "path": "/spec", "value": after}]);
        prop_assert_eq!(&patched(ObjectRequest::json_patch, &replace, &before), &after);
    }
}
