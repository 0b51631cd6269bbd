//! When a foreign conversion is asked, and the changes that it may make to an object (RP-81, CX-04 to
//! CX-64).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use billhook_admission::{
    Admission, AdmissionOutcome, Chain, Converter, MemoryCluster, ObjectRequest, StoredObject,
    Unreachable,
};
use serde_json::{Value, json};

use super::{bytes, changed, old};
use crate::in_process::{
    InProcess, allow, body, configuration, create, definition_with, message, patch_of_m, stored,
    update,
};

fn converted(converter: impl Converter + 'static) -> AdmissionOutcome {
    let mut object = body("v1beta1", json!({"old": "7"}));
    object["metadata"]["labels"] = json!({"a": "b", "c": "d"});
    object["metadata"]["annotations"] = json!({"e": "f"});
    let admission = Admission::new(definition_with("Webhook"), Chain::new(Unreachable));
    admission
        .converter(Arc::new(converter))
        .admit_blocking(&create("v1beta1", &object), &MemoryCluster::new())
}

/// Changes only the version, and what `change` changes on the way to storage.
fn with(change: impl Fn(&mut Value) + Send + Sync + 'static) -> AdmissionOutcome {
    converted(move |object: &Value, to: &str| {
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        if to == "example.com/v1" {
            change(&mut object);
        }
        Ok(object)
    })
}

/// CX-43, CX-45.
#[test]
fn a_converted_object_must_be_the_same() {
    type Change = fn(&mut Value);
    let refusals: [(Change, &str); 17] = [
        (|o| o["metadata"]["name"] = "y".into(), "object: must have the same name: x != y"),
        (
            |o| o["metadata"]["namespace"] = "y".into(),
            "object: must have the same namespace: default != y",
        ),
        (|o| o["metadata"]["uid"] = "y".into(), "object: must have the same UID: "),
        (
            |o| o["kind"] = "Bar".into(),
            "object at index 0: invalid kind (expected Foo, received Bar)",
        ),
        (
            |o| o["apiVersion"] = "example.com/v2".into(),
            "object at index 0: invalid groupVersion (expected example.com/v1, received \
             example.com/v2)",
        ),
        // The name is looked for before the metadata.
        (|o| o["metadata"] = Value::Null, "object: must have the same name: x != "),
        (
            |o| {
                o.as_object_mut().unwrap().remove("metadata");
            },
            "object: must have the same name: x != ",
        ),
        (
            |o| o["metadata"]["labels"]["k"] = 1.into(),
            "metadata: metadata.labels[k] must be a string, but is int64 in converted object",
        ),
        (
            |o| o["metadata"]["annotations"]["k"] = json!([]),
            "metadata: metadata.annotations[k] must be a string, but is []interface {} in \
             converted object",
        ),
        (
            |o| o["metadata"]["labels"] = json!(1.5),
            "metadata: invalid metadata.labels of type float64 in converted object",
        ),
        (
            |o| o["metadata"]["annotations"] = json!(true),
            "metadata: invalid metadata.annotations of type bool in converted object",
        ),
        (
            |o| o["metadata"]["labels"] = json!(["a"]),
            "metadata: invalid metadata.labels of type []interface {} in converted object",
        ),
        (
            |o| o["metadata"]["labels"]["a"] = "-".into(),
            "metadata: metadata.labels: Invalid value: \"-\": a valid label must be an empty string",
        ),
        (
            |o| o["metadata"]["labels"] = json!({"-": "", "_": ""}),
            "metadata: [metadata.labels: Invalid value: \"-\": name part must consist of",
        ),
        (
            |o| o["metadata"]["annotations"]["-"] = "".into(),
            "metadata: metadata.annotation: Invalid value: \"-\": name part must consist of",
        ),
        (
            |o| o["metadata"]["annotations"]["k"] = "v".repeat(256 * 1024).into(),
            "metadata: metadata.annotation: Too long: may not be more than 262144 bytes",
        ),
        (
            |o| o["metadata"] = json!({"name": "x"}),
            "object: must have the same namespace: default != ",
        ),
    ];
    for (change, expected) in refusals {
        let outcome = with(change);
        let start = "conversion webhook for example.com/v1beta1, Kind=Foo returned invalid ";
        let found = message(&outcome).strip_prefix(start);
        assert!(found.is_some_and(|found| found.starts_with(expected)), "{}", message(&outcome));
    }
    let failing = converted(|_: &Value, _: &str| Err("out of order".into()));
    assert_eq!(
        message(&failing),
        "conversion webhook for example.com/v1beta1, Kind=Foo failed: out of order"
    );
}

#[test]
fn of_converted_metadata_only_labels_and_annotations_count() {
    let outcome = with(|object| {
        object["metadata"]["labels"] = json!({"new": "label"});
        object["metadata"].as_object_mut().unwrap().remove("annotations");
        object["metadata"]["generation"] = 9.into();
        object["metadata"]["finalizers"] = json!(["a.b/c"]);
    });
    let stored: Value = serde_json::from_slice(&outcome.result.unwrap().stored.unwrap()).unwrap();
    assert_eq!(stored["metadata"]["labels"], json!({"new": "label"}));
    assert_eq!(stored["metadata"]["generation"], 1);
    for name in ["annotations", "finalizers"] {
        assert_eq!(stored["metadata"].get(name), None, "{name}");
    }
}

/// Nobody is asked to convert what is in the version already.
#[test]
fn what_is_in_the_version_is_not_converted() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let converter = move |_: &Value, _: &str| {
        counted.fetch_add(1, Ordering::Relaxed);
        Err("not asked".into())
    };
    let admission = Admission::new(definition_with("Webhook"), Chain::new(Unreachable));
    let admission = admission.converter(Arc::new(converter));
    assert!(
        admission
            .admit_blocking(&create("v1", &body("v1", json!({}))), &MemoryCluster::new())
            .result
            .is_ok()
    );
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

/// Sends a request for version `v1` past webhooks that want `v1beta1`. Returns what happened, in
/// order: conversions with the size of the object, and calls of webhooks.
fn order_of(hooks: &InProcess, request: &ObjectRequest) -> Vec<String> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let (conversions, calls) = (Arc::clone(&log), Arc::clone(&log));
    let converter = move |object: &Value, to: &str| {
        let to_version = to.rsplit('/').next().unwrap();
        conversions.lock().unwrap().push(format!("{} to {to_version}", object["spec"]["size"]));
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        Ok(object)
    };
    let hooks = hooks.clone();
    let caller = InProcess::new(move |hook, request| {
        calls.lock().unwrap().push(hook.to_owned());
        hooks.answer(hook, request)
    });
    past_v1beta1(&caller, converter).admit_blocking(request, &MemoryCluster::new()).result.unwrap();
    log.lock().unwrap().clone()
}

/// The write path past webhooks that want `v1beta1`.
fn past_v1beta1(caller: &InProcess, converter: impl Converter + 'static) -> Admission {
    let configurations = [("Mutating", "m"), ("Validating", "v")].map(|(kind, name)| {
        let mut configuration = configuration(kind, name);
        configuration.webhooks[0].rules[0].api_versions = vec!["v1beta1".to_owned()];
        configuration
    });
    let chain = Chain::new(caller.clone()).webhooks(&configurations);
    Admission::new(definition_with("Webhook"), chain).converter(Arc::new(converter))
}

/// CX-11: the old object is converted before the new one.
#[test]
fn the_old_object_is_converted_first() {
    let request = ObjectRequest::update("v1", &bytes(&changed(&json!({}))), &bytes(&old()));
    let found = order_of(&InProcess::new(allow), &request);
    let both = ["2 to v1beta1", "5 to v1beta1"];
    assert_eq!(found, [&both[..], &["m"], &both, &["v"]].concat());
    let patch = patch_of_m(json!([{"op": "add", "path": "/spec/size", "value": 7}]));
    let found = order_of(&patch, &request);
    let after = ["2 to v1beta1", "7 to v1beta1"];
    assert_eq!(found, [&both[..], &["m", "7 to v1"], &after, &["v"]].concat());
}

/// CX-11: the object that a deletion is about is read a second time before admission.
#[test]
fn a_deletion_reads_twice_before_admission() {
    let mut stored = old();
    stored["apiVersion"] = "example.com/v1beta1".into();
    let found = order_of(&InProcess::new(allow), &ObjectRequest::delete("v1", &bytes(&stored)));
    let read = "2 to v1";
    assert_eq!(found, [read, read, "2 to v1beta1", "m", "2 to v1beta1", "v", read]);
}

/// CX-04: the object is converted, its `Scale` never.
#[test]
fn a_scale_is_not_converted() {
    let kinds = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&kinds);
    let converter = move |object: &Value, to: &str| {
        seen.lock().unwrap().push(format!("{} to {to}", object["kind"].as_str().unwrap()));
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        Ok(object)
    };
    let mut stored = old();
    stored["apiVersion"] = "example.com/v1beta1".into();
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "x", "namespace": "default"}, "spec": {"replicas": 5}});
    let request = update("v1", &scale, &stored).scale_update();
    let outcome = past_v1beta1(&InProcess::new(allow), converter)
        .admit_blocking(&request, &MemoryCluster::new());
    assert_eq!(outcome.result.unwrap().into_returned().unwrap()["kind"], "Scale");
    assert_eq!(*kinds.lock().unwrap(), ["Foo to example.com/v1"]);
}

/// CX-05, CX-15: webhooks get what a conversion makes of a copy, as it is.
#[test]
fn webhooks_see_a_conversion_as_it_is() {
    let hooks = InProcess::new(allow);
    let converter = |object: &Value, to: &str| {
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        object["spec"] = json!({"unknown": null});
        Ok(object)
    };
    let admission = past_v1beta1(&hooks, converter);
    let stored = stored(
        admission
            .admit_blocking(&update("v1", &changed(&json!({})), &old()), &MemoryCluster::new()),
    );
    for hook in ["m", "v"] {
        let asked = hooks.asked(hook);
        for object in ["object", "oldObject"] {
            assert_eq!(asked[object]["spec"], json!({"unknown": null}), "{object} of {hook}");
        }
    }
    assert_eq!(stored["spec"], json!({"size": 5}));
}

/// CX-14, CX-35: nothing that failed is tried again, nothing is remembered, and what a webhook for
/// admission says about failures does not matter.
#[test]
fn every_conversion_is_asked_once() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let converter = move |object: &Value, to: &str| {
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            return Err("out of order".into());
        }
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        Ok(object)
    };
    let mut configuration = configuration("Validating", "v");
    configuration.webhooks[0].failure_policy = Some("Ignore".to_owned());
    configuration.webhooks[0].rules[0].api_versions = vec!["*".to_owned()];
    let chain = Chain::new(InProcess::new(allow)).webhooks(&[configuration]);
    let admission = Admission::new(definition_with("Webhook"), chain);
    let admission = admission.converter(Arc::new(converter));
    let failed = admission
        .admit_blocking(&create("v1beta1", &body("v1beta1", json!({}))), &MemoryCluster::new());
    assert_eq!(
        message(&failed),
        "conversion webhook for example.com/v1beta1, Kind=Foo failed: out of order"
    );
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let stored = StoredObject::new(bytes(&old()));
    for count in [2, 3] {
        assert!(admission.read_blocking("v1beta1", &stored).is_ok());
        assert_eq!(calls.load(Ordering::Relaxed), count);
    }
}

/// CX-15: what is read is pruned and has no nulls, but gets no defaults.
#[test]
fn a_read_cleans_but_does_not_default() {
    let converter = |object: &Value, to: &str| {
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        object["spec"] = json!({"unknown": 1, "old": null});
        Ok(object)
    };
    let admission = Admission::new(definition_with("Webhook"), Chain::new(Unreachable));
    let admission = admission.converter(Arc::new(converter));
    let read = admission.read_blocking("v1beta1", &StoredObject::new(bytes(&old()))).unwrap();
    assert_eq!(read["spec"], json!({}));
}

/// CX-46: what is stored in another version is not validated.
#[test]
fn what_is_stored_in_another_version_is_not_validated() {
    let outcome = with(|object| object["spec"]["size"] = 99.into());
    assert_eq!(stored(outcome)["spec"]["size"], 99);
}

/// CX-62: who owns a field of a version in which it is lost keeps it.
#[test]
fn fields_that_a_version_loses_do_not_change_there() {
    let entry = json!({"manager": "a", "operation": "Update", "apiVersion": "example.com/v1beta1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:size": {}}},
        "time": "2026-01-01T00:00:00Z"});
    let mut before = old();
    before["metadata"]["managedFields"] = json!([entry]);
    for is_lost in [true, false] {
        let converter = move |object: &Value, to: &str| {
            let mut object = object.clone();
            object["apiVersion"] = to.into();
            if is_lost && to == "example.com/v1beta1" {
                object["spec"] = json!({});
            }
            Ok(object)
        };
        let admission = Admission::new(definition_with("Webhook"), Chain::new(Unreachable));
        let admission = admission.converter(Arc::new(converter));
        let metadata = json!({"managedFields": [entry]});
        let request = update("v1", &changed(&metadata), &before).field_manager("m");
        let written = stored(admission.admit_blocking(&request, &MemoryCluster::new()));
        let entries = written["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(entries.contains(&entry), is_lost);
        assert!(entries.iter().any(|entry| entry["manager"] == "m"));
    }
}
