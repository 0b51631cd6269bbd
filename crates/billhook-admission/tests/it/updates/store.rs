//! Stores that refuse a write because another one was faster (AR-31, AR-32, RP-53).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use billhook::{KubernetesVersion, Status};
use billhook_admission::{
    Action, Admission, Chain, MemoryCluster, ObjectRequest, RequestOptions, ServerFields,
    StoreError, StoreWrite, StoredObject, Unreachable,
};
use billhook_kinds::Kind;
use serde_json::{Value, json};

use crate::in_process::{InProcess, admission, allow, body, create, message, update};
use crate::updates::{MODIFIED, bytes, changed, old};

/// Names from a list, one after the other.
fn names(suffixes: &'static [&'static str]) -> impl Fn() -> ServerFields + Send + Sync + 'static {
    let given = AtomicUsize::new(0);
    move || {
        let number = given.fetch_add(1, Ordering::Relaxed);
        let suffix = suffixes[number % suffixes.len()];
        ServerFields::new(format!("u-{number}"), "2026-01-01T00:00:00Z", suffix)
    }
}

/// AR-31: eight names at most; only the validating stage is repeated.
#[test]
fn a_taken_name_is_generated_again() {
    let mut object = body("v1", json!({}));
    object["metadata"] = json!({"generateName": "x-"});
    let hooks_called = |caller: &InProcess, hook: &str| {
        caller.seen.lock().unwrap().iter().filter(|(name, _)| name == hook).count()
    };
    let is_free = |write: StoreWrite<'_>| match write.name {
        "x-free" => Ok("12".to_owned()),
        _ => Err(StoreError::Mismatch(Some(StoredObject::new("{}")))),
    };
    let caller = InProcess::new(allow);
    let admission_of =
        |suffixes| admission(&caller).server_fields(names(suffixes)).store(Arc::new(is_free));
    let request = create("v1", &object).options(RequestOptions::default().trace(true));
    let outcome = admission_of(&["a", "b", "free"]).admit_blocking(&request, &MemoryCluster::new());
    let returned = outcome.result.as_ref().unwrap().returned().unwrap().into_owned();
    assert_eq!(returned["metadata"]["name"], "x-free");
    assert_eq!(returned["metadata"]["uid"], "u-2");
    assert_eq!(returned["metadata"]["resourceVersion"], "12");
    assert_eq!((hooks_called(&caller, "m"), hooks_called(&caller, "v")), (1, 3));
    let repeats: Vec<_> = outcome
        .steps
        .iter()
        .filter_map(|step| match &step.action {
            Action::WriteRefused { name } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(repeats, ["x-a", "x-b"]);

    caller.seen.lock().unwrap().clear();
    let outcome = admission_of(&["a"]).admit_blocking(&request, &MemoryCluster::new());
    assert_eq!(
        message(&outcome),
        "foos.example.com \"x-a\" already exists, the server was not able to generate a unique name \
         for the object"
    );
    let status = outcome.result.unwrap_err();
    assert_eq!((status.code, &*status.reason), (409, "AlreadyExists"));
    assert_eq!((hooks_called(&caller, "m"), hooks_called(&caller, "v")), (1, 8));

    caller.seen.lock().unwrap().clear();
    let outcome = admission_of(&["a"])
        .admit_blocking(&create("v1", &body("v1", json!({}))), &MemoryCluster::new());
    assert_eq!(message(&outcome), "foos.example.com \"x\" already exists");
    assert_eq!(hooks_called(&caller, "v"), 1, "a name of the client is tried once");
}

/// A store with one object, which another client changes before the first writes arrive.
struct Contended {
    stored: Mutex<(Value, u64)>,
    changes: AtomicUsize,
}

impl Contended {
    fn write(&self, write: StoreWrite<'_>) -> Result<String, StoreError> {
        let mut stored = self.stored.lock().unwrap();
        let left = self.changes.load(Ordering::Relaxed);
        if left > 0 {
            self.changes.store(left - 1, Ordering::Relaxed);
            stored.1 += 1;
            stored.0["metadata"]["labels"] = json!({"revision": stored.1.to_string()});
        }
        if write.expected.unwrap().resource_version != stored.1.to_string() {
            let found = StoredObject::new(bytes(&stored.0)).resource_version(stored.1.to_string());
            return Err(StoreError::Mismatch(Some(found)));
        }
        if !write.dry_run {
            stored.1 += 1;
            if let Some(object) = write.object {
                stored.0 = serde_json::from_slice(object).unwrap();
            }
        }
        Ok(stored.1.to_string())
    }
}

/// AR-32: a conflict in the store repeats both stages with the object that is stored by then.
#[test]
fn a_change_is_made_again_for_a_newer_object() {
    let caller = InProcess::new(allow);
    let run = |changes, request: fn(&[u8]) -> ObjectRequest| {
        caller.seen.lock().unwrap().clear();
        let mut object = old();
        object["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        let request = request(&bytes(&object));
        let request = request.stored(StoredObject::new(bytes(&object)).resource_version("7"));
        let store = Arc::new(Contended {
            stored: Mutex::new((object, 7)),
            changes: AtomicUsize::new(changes),
        });
        let kept = Arc::clone(&store);
        let outcome = admission(&caller)
            .store(Arc::new(move |write: StoreWrite<'_>| store.write(write)))
            .admit_blocking(&request, &MemoryCluster::new());
        let (stored, revision) = kept.stored.lock().unwrap().clone();
        (outcome, stored, revision)
    };
    let patch: fn(&[u8]) -> ObjectRequest = |stored| {
        ObjectRequest::json_patch(
            "v1",
            br#"[{"op": "replace", "path": "/spec/size", "value": 5}]"#,
            stored,
        )
    };
    let (outcome, stored, revision) = run(2, patch);
    let returned = outcome.result.unwrap().into_returned().unwrap();
    assert_eq!(returned["metadata"]["resourceVersion"], "10");
    assert_eq!(revision, 10);
    assert_eq!(stored["spec"]["size"], 5);
    assert_eq!(stored["metadata"]["labels"]["revision"], "9", "nothing of others is lost");
    let hooks: Vec<String> =
        caller.seen.lock().unwrap().iter().map(|(hook, _)| hook.clone()).collect();
    assert_eq!(hooks, ["m", "v", "m", "v", "m", "v"]);
    assert_eq!(caller.asked("m")["oldObject"]["metadata"]["resourceVersion"], "9");
    assert_eq!(caller.asked("m")["object"]["metadata"]["labels"]["revision"], "9");
    assert!(outcome.annotations.refused().is_empty());

    // A replacement is for one revision only.
    let replace: fn(&[u8]) -> ObjectRequest =
        |stored| ObjectRequest::replace("v1", &bytes(&changed(&json!({}))), stored);
    let (outcome, _, revision) = run(1, replace);
    assert_eq!((message(&outcome), revision), (MODIFIED, 8));
    let (outcome, ..) = run(0, replace);
    assert!(outcome.result.is_ok());

    // Nobody gets it done while others go on for ever; the request ends nevertheless.
    let (outcome, ..) = run(usize::MAX, patch);
    assert_eq!(outcome.result.unwrap_err().code, 504);

    let delete: fn(&[u8]) -> ObjectRequest = |stored| ObjectRequest::delete("v1", stored);
    let (outcome, ..) = run(1, delete);
    assert!(outcome.result.is_ok());
    assert_eq!(caller.asked("v")["oldObject"]["metadata"]["labels"]["revision"], "8");
}

#[test]
fn a_store_may_fail_and_learns_what_is_asked() {
    let request = update("v1", &changed(&json!({})), &old());
    let gone = |_: StoreWrite<'_>| Err(StoreError::Mismatch(None));
    let outcome = admission(&InProcess::new(allow))
        .store(Arc::new(gone))
        .admit_blocking(&request, &MemoryCluster::new());
    assert_eq!(message(&outcome), "foos.example.com \"x\" not found");
    let broken = |_: StoreWrite<'_>| Err(StoreError::Failed(Status::internal_error("no disk")));
    let outcome = admission(&InProcess::new(allow))
        .store(Arc::new(broken))
        .admit_blocking(&request, &MemoryCluster::new());
    assert_eq!(message(&outcome), "Internal error occurred: no disk");

    let writes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&writes);
    let store = Arc::new(move |write: StoreWrite<'_>| {
        let is_new = write.expected.is_none();
        let text = format!("{}/{} {is_new} {}", write.namespace, write.name, write.dry_run);
        seen.lock().unwrap().push((text, write.object.is_some()));
        Ok(String::new())
    });
    let admission = admission(&InProcess::new(allow)).store(store);
    let object = old();
    for request in [
        create("v1", &body("v1", json!({}))).dry_run(true),
        request,
        update("v1", &object, &object),
        ObjectRequest::delete("v1", &bytes(&object)).in_collection(),
    ] {
        admission.admit_blocking(&request, &MemoryCluster::new()).result.unwrap();
    }
    let expected = [
        ("default/x true true", true),
        ("default/x false false", true),
        // Nothing is written when nothing changed (RP-53).
        ("default/x false false", false),
    ];
    let expected = expected.map(|(text, object)| (text.to_owned(), object));
    assert_eq!(*writes.lock().unwrap(), expected);
}

/// AR-31, BK-305: a Job that gets another name begins anew, as its pods are found by its name and UID.
#[test]
fn a_job_is_found_by_the_name_that_was_free() {
    let kind = Kind::named("batch/v1", "Job").unwrap();
    let is_free = |write: StoreWrite<'_>| match write.name {
        "x-free" => Ok("12".to_owned()),
        _ => Err(StoreError::Mismatch(Some(StoredObject::new("{}")))),
    };
    let admission = Admission::of_kind(kind, KubernetesVersion::default(), Chain::new(Unreachable));
    let admission =
        admission.unwrap().server_fields(names(&["a", "free"])).store(Arc::new(is_free));
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "x-"},
        "spec": {"template": {"spec": {"restartPolicy": "Never",
            "containers": [{"name": "c", "image": "i"}]}}}});
    let request = create("v1", &job).namespace("default");
    let outcome = admission.admit_blocking(&request, &MemoryCluster::new());
    let returned = outcome.result.unwrap().into_returned().unwrap();
    assert_eq!(returned["metadata"]["name"], "x-free");
    let labels = &returned["spec"]["template"]["metadata"]["labels"];
    assert_eq!(labels["job-name"], "x-free");
    assert_eq!(labels["controller-uid"], returned["metadata"]["uid"]);
}

/// BK-05, SA-90: an object that is stored in another version of its kind is converted, for its managers, too.
#[test]
fn an_autoscaler_of_another_version_is_applied() {
    let kind = Kind::named("autoscaling/v1", "HorizontalPodAutoscaler").unwrap();
    let admission = Admission::of_kind(kind, KubernetesVersion::default(), Chain::new(Unreachable));
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let fields = json!({"f:spec": {"f:maxReplicas": {}, "f:metrics": {}, "f:scaleTargetRef": {}}});
    let live = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "default", "uid": "u", "managedFields": [
            {"manager": "other", "operation": "Apply", "apiVersion": "autoscaling/v2",
                "fieldsType": "FieldsV1", "fieldsV1": fields}]},
        "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 5, "metrics": [
            {"type": "Resource", "resource": {"name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 80}}}]},
        "status": {"currentMetrics": null, "desiredReplicas": 0},
    });
    let apply = |utilization: i64| {
        let configuration = json!({
            "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"scaleTargetRef": target, "maxReplicas": 5,
                "targetCPUUtilizationPercentage": utilization},
        });
        let request = ObjectRequest::apply("v1", configuration.to_string().as_bytes(), &[], "me")
            .stored(StoredObject::new(live.to_string()))
            .namespace("default");
        admission.as_ref().unwrap().admit_blocking(&request, &MemoryCluster::new()).result
    };
    let applied = apply(80).unwrap().into_returned().unwrap();
    assert_eq!(applied["spec"]["targetCPUUtilizationPercentage"], 80);
    let entries = applied["metadata"]["managedFields"].as_array().unwrap();
    let of_other = entries.iter().find(|entry| entry["manager"] == "other").unwrap();
    assert_eq!(of_other["fieldsV1"], fields);
    assert_eq!(entries.len(), 2);
    let conflict = "Apply failed with 1 conflict: conflict with \"other\": .spec.metrics";
    assert_eq!(apply(70).unwrap_err().message, conflict);
}
