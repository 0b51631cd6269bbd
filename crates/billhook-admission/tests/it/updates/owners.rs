//! Ownership of fields in requests: through the scale subresource, without room in storage, and
//! of new objects that are applied (SA-57, SA-63, SA-95).

use std::sync::{Arc, Mutex};

use billhook::Status;
use billhook_admission::{ObjectRequest, StoreError, StoreWrite};
use serde_json::{Value, json};

use crate::in_process::{InProcess, admission, allow, body, create, stored, update};
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
    let stored = stored(admission(&InProcess::new(allow)).admit_blocking(&request));
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
    // The same replicas change nobody's, and none have no owner.
    let all = [format!("a example.com/v1  {size}"), format!("b example.com/v1  {both}"), kept];
    assert_eq!(scaled(&object, 2), all);
    assert_eq!(scaled(&object, 0), [format!("b example.com/v1  {rest}"), all[2].clone()]);
    assert_eq!(scaled(&old(), 4), [""; 0]);
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
            true => Err(StoreError::Failed(Status::failure(413, "", "request is too large"))),
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
        let returned = admission.admit_blocking(&request).result.unwrap().returned.unwrap();
        assert_eq!(returned["metadata"].get("managedFields"), None);
        assert_eq!(std::mem::take(&mut *sizes.lock().unwrap()), [true, false]);
    }
    let configuration = body("v1", json!({"size": 5}));
    let request =
        ObjectRequest::apply("v1", &bytes(&configuration), &bytes(&old()), "m").force(true);
    assert_eq!(admission.admit_blocking(&request).result.unwrap_err().code, 413);
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
    let outcome = admission(&InProcess::new(allow)).admit_blocking(&request);
    let metadata = &stored(outcome)["metadata"];
    assert_eq!(metadata["deletionTimestamp"], "2020-01-01T00:00:00Z");
    assert_eq!(metadata["deletionGracePeriodSeconds"], 3);
    assert_ne!(metadata["creationTimestamp"], "2020-01-01T00:00:00Z");
    assert_eq!(metadata["generation"], 1);
    let owned = &metadata["managedFields"][0]["fieldsV1"]["f:metadata"];
    assert_eq!(*owned, json!({"f:deletionGracePeriodSeconds": {}, "f:deletionTimestamp": {}}));
}
