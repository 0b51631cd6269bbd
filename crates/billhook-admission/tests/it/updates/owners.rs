//! Ownership of fields in requests: through the scale subresource, without room in storage, and
//! of new objects that are applied (SA-57, SA-63, SA-95).

use std::sync::{Arc, Mutex};

use billhook::Status;
use billhook_admission::{MemoryCluster, ObjectRequest, StoreError, StoreWrite};
use serde_json::{Value, json};

use crate::in_process::{InProcess, admission, allow, body, create, patch_of_m, stored, update};
use crate::updates::{bytes, changed, old};

fn entry(manager: &str, api_version: &str, fields: &Value) -> Value {
    json!({"manager": manager, "operation": "Update", "apiVersion": api_version,
        "fieldsType": "FieldsV1", "fieldsV1": fields, "time": "2026-01-01T00:00:00Z"})
}

/// The stored object with entries.
fn owned(entries: &[Value]) -> Value {
    let mut object = old();
    object["metadata"]["managedFields"] = entries.iter().cloned().collect();
    object
}

/// The entries of an object after `m` set its replicas.
fn scaled(object: &Value, replicas: i64) -> Vec<String> {
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "x", "namespace": "default"}, "spec": {"replicas": replicas}});
    let request = update("v1", &scale, object).scale_update().field_manager("m");
    let stored =
        stored(admission(&InProcess::new(allow)).admit_blocking(&request, &MemoryCluster::new()));
    let entries = stored["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let text = |entry: &Value| {
        let subresource = entry["subresource"].as_str().unwrap_or_default();
        let (manager, version) = (entry["manager"].as_str(), entry["apiVersion"].as_str());
        let time = if entry["time"].is_null() { " without time" } else { "" };
        let (manager, version) = (manager.unwrap(), version.unwrap());
        format!("{manager} {version} {subresource}{time} {}", entry["fieldsV1"])
    };
    entries.iter().map(text).collect()
}

#[test]
fn a_change_of_replicas_takes_them_from_their_owners() {
    let size = json!({"f:spec": {"f:size": {}}});
    let both = json!({"f:spec": {"f:size": {}, "f:other": {}}});
    let object = owned(&[
        entry("a", "example.com/v1", &size),
        entry("b", "example.com/v1", &both),
        // This version has no scale subresource, that one does not exist.
        entry("c", "example.com/v1beta1", &size),
        entry("d", "example.com/v9", &size),
    ]);
    let kept = format!("c example.com/v1beta1  {size}");
    let rest = json!({"f:spec": {"f:other": {}}});
    assert_eq!(
        scaled(&object, 4),
        [
            format!("m example.com/v1 scale without time {size}"),
            format!("b example.com/v1  {rest}"),
            kept.clone(),
        ]
    );
    // The same replicas change no owner, and without any there is none.
    let all = [format!("a example.com/v1  {size}"), format!("b example.com/v1  {both}"), kept];
    assert_eq!(scaled(&object, 2), all);
    assert_eq!(scaled(&object, 0), [format!("b example.com/v1  {rest}"), all[2].clone()]);
    assert_eq!(scaled(&old(), 4), [""; 0]);
}

/// A `Scale` whose replicas have no owner is not tracked, whatever else is owned.
#[test]
fn replicas_without_owner_stay_without() {
    let object = owned(&[entry("a", "example.com/v1", &json!({"f:spec": {"f:other": {}}}))]);
    let expected = r#"a example.com/v1  {"f:spec":{"f:other":{}}}"#;
    assert_eq!(scaled(&object, 4), [expected]);
}

/// A mutating webhook sees the owners, and what it changes has none.
#[test]
fn replicas_are_tracked_before_the_mutating_webhooks() {
    let size = json!({"f:spec": {"f:size": {}}});
    let object = owned(&[entry("a", "example.com/v1", &size)]);
    let caller = patch_of_m(json!([{"op": "replace", "path": "/spec/replicas", "value": 6}]));
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "x", "namespace": "default"}, "spec": {"replicas": 2}});
    let request = update("v1", &scale, &object).scale_update().field_manager("m");
    let stored = stored(admission(&caller).admit_blocking(&request, &MemoryCluster::new()));
    assert_eq!(stored["spec"]["size"], 6);
    let entries = &stored["metadata"]["managedFields"];
    assert_eq!((entries.as_array().unwrap().len(), &entries[0]["manager"]), (1, &json!("a")));
    let asked = caller.asked("m");
    let owner = &asked["object"]["metadata"]["managedFields"][0];
    assert_eq!((&owner["manager"], &owner["apiVersion"]), (&json!("a"), &json!("autoscaling/v1")));
    assert_eq!(owner["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
    assert_eq!(caller.asked("v")["object"]["metadata"].get("managedFields"), None);
}

fn applied_to_scale(configuration: &Value, object: &Value, force: bool) -> Result<Value, Status> {
    let request = ObjectRequest::apply("v1", &bytes(configuration), &bytes(object), "m")
        .scale_update()
        .force(force);
    let outcome = admission(&InProcess::new(allow)).admit_blocking(&request, &MemoryCluster::new());
    outcome.result.map(|accepted| serde_json::from_slice(&accepted.stored.unwrap()).unwrap())
}

/// SA-95.
#[test]
fn an_apply_to_the_scale_changes_owners_at_most() {
    let size = json!({"f:spec": {"f:size": {}}});
    let object = owned(&[entry("a", "example.com/v1", &size)]);
    let scale = |replicas: i64| {
        json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "x"},
            "spec": {"replicas": replicas}})
    };
    let refused = applied_to_scale(&scale(4), &object, false).unwrap_err();
    let message = "Apply failed with 1 conflict: conflict with \"a\" using autoscaling/v1: \
                   .spec.replicas";
    assert_eq!((refused.code, refused.message.as_str()), (409, message));

    let refused = applied_to_scale(&scale(4), &object, true).unwrap_err();
    let message = "failed to convert new object (/x; autoscaling/v1, Kind=Scale) to proper \
                   version: request to convert CR to an invalid group/version: autoscaling/v1";
    assert_eq!((refused.code, refused.reason.as_str()), (500, ""));
    assert_eq!(refused.message, message);

    let stored = applied_to_scale(&scale(2), &object, false).unwrap();
    let entries = stored["metadata"]["managedFields"].as_array().unwrap();
    let [applied, other] = entries.as_slice() else { panic!("{entries:?}") };
    let expected = json!({"manager": "m", "operation": "Apply", "apiVersion": "example.com/v1",
        "fieldsType": "FieldsV1", "fieldsV1": size, "subresource": "scale"});
    assert_eq!((applied, &other["manager"]), (&expected, &json!("a")));

    let without_owner = applied_to_scale(&scale(2), &old(), false).unwrap_err();
    let message = "failed to create manager for existing fields: failed to convert live object \
                   (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an \
                   invalid group/version: autoscaling/v1";
    assert_eq!((without_owner.code, without_owner.message.as_str()), (500, message));

    let foo = applied_to_scale(&old(), &object, true).unwrap_err();
    assert_eq!(
        (foo.code, foo.message.as_str()),
        (400, "invalid object type: example.com/v1, Kind=Foo")
    );
    let mut unknown = scale(2);
    unknown["spec"]["size"] = 2.into();
    let unknown = applied_to_scale(&unknown, &object, true).unwrap_err();
    let message = "failed to create typed patch object (/x; autoscaling/v1, Kind=Scale): \
                   .spec.size: field not declared in schema";
    assert_eq!((unknown.code, unknown.message.as_str()), (500, message));
}

/// An object that storage does not take is written once more without its managed fields, unless
/// it is applied.
#[test]
fn large_objects_lose_their_owners() {
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sizes);
    let store = move |write: StoreWrite<'_>| {
        let text = String::from_utf8(write.object.unwrap().to_vec()).unwrap();
        let has_owners = text.contains("managedFields");
        seen.lock().unwrap().push(has_owners);
        match has_owners {
            true => Err(StoreError::TooLarge(Status::failure(500, "", "too large"))),
            false => Ok("9".to_owned()),
        }
    };
    let admission = admission(&InProcess::new(allow)).store(Arc::new(store));
    let object = owned(&[entry("a", "example.com/v1", &json!({"f:spec": {"f:size": {}}}))]);
    let patch = bytes(&json!({"spec": {"size": 5}}));
    for request in [
        create("v1", &body("v1", json!({"size": 3}))),
        update("v1", &changed(&json!({})), &object),
        ObjectRequest::merge_patch("v1", &patch, &bytes(&object)),
    ] {
        let returned = admission
            .admit_blocking(&request, &MemoryCluster::new())
            .result
            .unwrap()
            .into_returned()
            .unwrap();
        assert_eq!(returned["metadata"].get("managedFields"), None);
        assert_eq!(std::mem::take(&mut *sizes.lock().unwrap()), [true, false]);
    }
    let configuration = body("v1", json!({"size": 5}));
    let request =
        ObjectRequest::apply("v1", &bytes(&configuration), &bytes(&old()), "m").force(true);
    assert_eq!(
        admission.admit_blocking(&request, &MemoryCluster::new()).result.unwrap_err().message,
        "too large"
    );
    assert_eq!(*sizes.lock().unwrap(), [true]);
}

/// A server ignores some metadata in the configuration of a new object, and keeps other.
#[test]
fn server_metadata_in_the_configuration_of_a_new_object() {
    let mut configuration = body("v1", json!({"size": 5}));
    let metadata = configuration["metadata"].as_object_mut().unwrap();
    for (name, value) in [
        ("deletionTimestamp", json!("2020-01-01T00:00:00Z")),
        ("deletionGracePeriodSeconds", json!(3)),
        ("creationTimestamp", json!("2020-01-01T00:00:00Z")),
        ("generation", json!(7)),
        ("resourceVersion", json!("5")),
    ] {
        metadata.insert(name.to_owned(), value);
    }
    let request = ObjectRequest::apply("v1", &bytes(&configuration), b"", "m");
    let outcome = admission(&InProcess::new(allow)).admit_blocking(&request, &MemoryCluster::new());
    let metadata = &stored(outcome)["metadata"];
    assert_eq!(metadata["deletionTimestamp"], "2020-01-01T00:00:00Z");
    assert_eq!(metadata["deletionGracePeriodSeconds"], 3);
    assert_ne!(metadata["creationTimestamp"], "2020-01-01T00:00:00Z");
    assert_eq!(metadata["generation"], 1);
    let owned = &metadata["managedFields"][0]["fieldsV1"]["f:metadata"];
    assert_eq!(*owned, json!({"f:deletionGracePeriodSeconds": {}, "f:deletionTimestamp": {}}));
}
