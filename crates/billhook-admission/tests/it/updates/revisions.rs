//! Which object a request is for: revisions, UIDs, and whether there is one at all (RP-42, RP-91,
//! RP-92).

use billhook::{CustomResourceDefinition, FieldValidation};
use billhook_admission::{
    Admission, AdmissionResponse, Chain, MemoryCluster, ObjectRequest, StoredObject, Unreachable,
};
use serde_json::{Value, json};

use crate::in_process::{
    InProcess, admission, allow, body, configuration, create, definition, message, patch_of_m,
    stored, update,
};
use crate::updates::{MODIFIED, NO_REVISION, bytes, changed, old, refused};

/// RP-42: a replacement must name the revision it is for, and a patch may.
#[test]
fn updates_are_for_a_revision() {
    let caller = InProcess::new(allow);
    let stored = bytes(&old());
    let replace = |object: &Value| ObjectRequest::replace("v1", &bytes(object), &stored);
    let merge = |patch: Value| ObjectRequest::merge_patch("v1", &bytes(&patch), &stored);
    let apply = |object: &Value| update("v1", object, &old());
    let current = changed(&json!({}));
    let without = changed(&json!({"resourceVersion": null}));
    let outdated = changed(&json!({"resourceVersion": "6"}));
    let zero = changed(&json!({"resourceVersion": "0"}));
    let manifest = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x"}, "spec": {"size": 5}});
    for (request, expected) in [
        (replace(&current), None),
        (replace(&current).status_update(), None),
        (replace(&without), Some((422, "Invalid", NO_REVISION))),
        (replace(&zero), Some((422, "Invalid", NO_REVISION))),
        (replace(&without).status_update(), Some((422, "Invalid", NO_REVISION))),
        (replace(&outdated), Some((409, "Conflict", MODIFIED))),
        (replace(&outdated).status_update(), Some((409, "Conflict", MODIFIED))),
        (apply(&manifest), None),
        (apply(&outdated), Some((409, "Conflict", MODIFIED))),
        (merge(json!({"spec": {"size": 5}})), None),
        (
            merge(json!({"metadata": {"resourceVersion": "6"}, "spec": {"size": 5}})),
            Some((409, "Conflict", MODIFIED)),
        ),
        (
            merge(json!({"metadata": {"resourceVersion": null}})),
            Some((422, "Invalid", NO_REVISION)),
        ),
    ] {
        caller.seen.lock().unwrap().clear();
        let outcome = admission(&caller).admit_blocking(&request, &MemoryCluster::new());
        let status = outcome.result.as_ref().err();
        let found = status.map(|status| (status.code, &*status.reason, &*status.message));
        assert_eq!(found, expected);
        if let Some(details) = status.and_then(|status| status.details.as_ref()) {
            let about = (&*details.name, &*details.group, &*details.kind);
            assert_eq!(about, ("x", "example.com", "foos"));
            // The mutating stage comes before, the validating one after (AR-32).
            let seen = caller.seen.lock().unwrap();
            assert!(seen.iter().all(|(hook, _)| hook == "m") && !seen.is_empty());
        }
    }
    let status = refused(&replace(&without));
    let cause = &status.details.unwrap().causes[0];
    assert_eq!(
        (&*cause.reason, &*cause.field, &*cause.message),
        (
            "FieldValueInvalid",
            "metadata.resourceVersion",
            "Invalid value: 0: must be specified for an update"
        )
    );
}

/// The revision may stand beside the stored bytes, and the response names it.
#[test]
fn the_revision_of_a_stored_object_may_be_given_apart() {
    let mut object = old();
    object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
    let stored = StoredObject::new(bytes(&object)).resource_version("9");
    let caller = InProcess::new(allow);
    let request = |revision: &str| {
        let object = changed(&json!({"resourceVersion": revision}));
        ObjectRequest::replace("v1", &bytes(&object), b"").stored(stored.clone())
    };
    assert_eq!(refused(&request("7")).message, MODIFIED);
    let outcome = admission(&caller).admit_blocking(&request("9"), &MemoryCluster::new());
    assert!(outcome.result.is_ok());
    assert_eq!(caller.asked("v")["oldObject"]["metadata"]["resourceVersion"], "9");
    let unchanged = update("v1", &object, &object).stored(stored.clone());
    let accepted =
        admission(&caller).admit_blocking(&unchanged, &MemoryCluster::new()).result.unwrap();
    assert!(accepted.unchanged);
    assert_eq!(accepted.into_returned().unwrap()["metadata"]["resourceVersion"], "9");
}

#[test]
fn uids_are_preconditions() {
    let stored = bytes(&old());
    let object = changed(&json!({"uid": "u-2"}));
    let status = refused(&ObjectRequest::replace("v1", &bytes(&object), &stored));
    assert_eq!((status.code, &*status.reason), (409, "Conflict"));
    assert_eq!(
        status.message,
        "Operation cannot be fulfilled on foos.example.com \"x\": StorageError: invalid object, \
         Code: 4, Key: /registry/example.com/foos/default/x, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: u-2, UID in object \
         meta: u-1"
    );
    // In a patch it is a change that is not allowed (OM-41).
    let patch = bytes(&json!({"metadata": {"uid": "u-2"}}));
    let status = refused(&ObjectRequest::merge_patch("v1", &patch, &stored));
    assert_eq!(
        status.message,
        "Foo.example.com \"x\" is invalid: metadata.uid: Invalid value: \"u-2\": field is immutable"
    );
    let delete = || ObjectRequest::delete("v1", &stored);
    let caller = InProcess::new(allow);
    let right = delete().only_uid("u-1").only_resource_version("7");
    assert!(admission(&caller).admit_blocking(&right, &MemoryCluster::new()).result.is_ok());
    assert_eq!(
        caller.asked("v")["options"]["preconditions"],
        json!({"uid": "u-1", "resourceVersion": "7"})
    );
    for (request, expected) in [
        (
            delete().only_uid("u-2"),
            "the UID in the precondition (u-2) does not match the UID in record (u-1). The object \
             might have been deleted and then recreated",
        ),
        (
            delete().only_resource_version("6"),
            "the ResourceVersion in the precondition (6) does not match the ResourceVersion in \
             record (7). The object might have been modified",
        ),
    ] {
        let status = refused(&request);
        let expected =
            format!("Operation cannot be fulfilled on Foo.example.com \"x\": {expected}");
        assert_eq!((status.code, status.message), (409, expected));
    }
}

#[test]
fn objects_must_be_there_or_not() {
    let caller = InProcess::new(allow);
    let object = body("v1", json!({}));
    for request in [
        update("v1", &object, &object).stored(StoredObject::default()),
        ObjectRequest::replace("v1", &bytes(&object), b""),
        ObjectRequest::replace("v1", b"metadata: {name: x}", b""),
    ] {
        let status =
            admission(&caller).admit_blocking(&request, &MemoryCluster::new()).result.unwrap_err();
        assert_eq!((status.code, &*status.reason), (404, "NotFound"));
        assert_eq!(status.message, "foos.example.com \"x\" not found");
        assert_eq!(status.details.unwrap().kind, "foos");
    }
    assert!(caller.seen.lock().unwrap().is_empty());

    let taken = create("v1", &object).stored(StoredObject::new(bytes(&old())));
    let status =
        admission(&caller).admit_blocking(&taken, &MemoryCluster::new()).result.unwrap_err();
    assert_eq!((status.code, &*status.reason), (409, "AlreadyExists"));
    assert_eq!(status.message, "foos.example.com \"x\" already exists");
    assert_eq!(caller.asked("v")["name"], "x", "both stages come before");
    let mut other = object;
    other["metadata"]["name"] = "y".into();
    let free = create("v1", &other).stored(StoredObject::new(bytes(&old())));
    assert!(admission(&caller).admit_blocking(&free, &MemoryCluster::new()).result.is_ok());
}

/// RP-91 and RP-92.
#[test]
fn definitions_may_not_be_served() {
    let manifest = |conditions: Value| {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"plural": "foos", "kind": "Foo"},
                "versions": [{"name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}}}]},
            "status": {"conditions": conditions},
        })
    };
    let condition = |name: &str, status: &str| json!({"type": name, "status": status});
    let terminating = "foos.example.com \"x\" is forbidden: create not allowed while custom \
                       resource definition is terminating";
    let missing = "the server could not find the requested resource";
    for (conditions, expected) in [
        (json!([]), None),
        (json!([condition("Established", "True"), condition("NamesAccepted", "True")]), None),
        (json!([condition("Established", "False"), condition("NamesAccepted", "True")]), None),
        (json!([condition("Established", "True"), condition("NamesAccepted", "False")]), None),
        (
            json!([condition("Established", "False"), condition("NamesAccepted", "False")]),
            Some((404, missing)),
        ),
        (
            json!([condition("Established", "True"), condition("Terminating", "True")]),
            Some((403, terminating)),
        ),
        (json!([condition("Established", "True"), condition("Terminating", "False")]), None),
    ] {
        let definition = CustomResourceDefinition::from_value(&manifest(conditions)).unwrap();
        let admission = Admission::new(definition, Chain::new(Unreachable));
        let outcome =
            admission.admit_blocking(&create("v1", &body("v1", json!({}))), &MemoryCluster::new());
        let found = outcome.result.as_ref().err().map(|s| (s.code, s.message.as_str()));
        assert_eq!(found, expected);
        let update = admission
            .admit_blocking(&update("v1", &changed(&json!({})), &old()), &MemoryCluster::new());
        assert_eq!(update.result.is_ok(), expected.is_none_or(|(code, _)| code == 403));
    }
}

/// AR-19: the field manager is among the options, but not for deletions.
#[test]
fn webhooks_see_the_options() {
    let caller = InProcess::new(|_, request| AdmissionResponse::allow(request));
    let request = create("v1", &body("v1", json!({})))
        .field_manager("me")
        .field_validation(FieldValidation::Strict);
    admission(&caller).admit_blocking(&request, &MemoryCluster::new()).result.unwrap();
    assert_eq!(
        caller.asked("m")["options"],
        json!({"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions", "fieldManager": "me",
            "fieldValidation": "Strict"})
    );
    let chain = Chain::new(caller.clone()).webhooks(&[configuration("Validating", "v")]);
    let delete = ObjectRequest::delete("v1", &bytes(&old())).field_manager("me");
    Admission::new(definition(), chain)
        .admit_blocking(&delete, &MemoryCluster::new())
        .result
        .unwrap();
    assert_eq!(
        caller.asked("v")["options"],
        json!({"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"})
    );
}

/// DI-35: a webhook cannot move an object to another namespace, and what it calls the object is not
/// what the request was for (AR-13).
#[test]
fn webhooks_cannot_move_objects() {
    let object = body("v1", json!({}));
    let patch =
        |name: &str| json!([{"op": "add", "path": format!("/metadata/{name}"), "value": "moved"}]);
    for request in [create("v1", &object), update("v1", &changed(&json!({})), &old())] {
        let outcome = admission(&patch_of_m(patch("namespace")))
            .admit_blocking(&request, &MemoryCluster::new());
        let status = outcome.result.unwrap_err();
        assert_eq!(
            (status.code, &*status.message),
            (
                400,
                "the namespace of the provided object does not match the namespace sent on the \
                 request"
            )
        );
    }
    let renaming = patch_of_m(patch("name"));
    let outcome =
        admission(&renaming).admit_blocking(&create("v1", &object), &MemoryCluster::new());
    assert_eq!(stored(outcome)["metadata"]["name"], "moved");
    assert_eq!(renaming.asked("v")["name"], "x");
    let outcome = admission(&renaming)
        .admit_blocking(&update("v1", &changed(&json!({})), &old()), &MemoryCluster::new());
    assert!(
        message(&outcome).contains("metadata.name: Invalid value: \"moved\": field is immutable")
    );
}
