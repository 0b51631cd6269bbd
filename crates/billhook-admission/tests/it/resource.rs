//! The whole write path of a custom resource, with webhooks in the same process (DI-03, RP-60 to
//! RP-64, AR-19, AR-30).

use std::sync::Arc;

use billhook::{CustomResourceDefinition, FieldValidation};
use billhook_admission::{
    Admission, AdmissionResponse, AdmissionReview, BoxFuture, CallerError, Chain, MemoryCluster,
    ObjectRequest, RequestOptions, ReviewVersion, StoredObject, WebhookAnswer, WebhookCall,
    WebhookCaller,
};
use serde_json::{Value, json};

use crate::in_process::{
    InProcess, admission, allow, body, configuration, create, definition_with, message, patch_of_m,
    stored, update,
};

/// An object without its managed fields.
fn plain(object: &Value) -> Value {
    let mut object = object.clone();
    object["metadata"].as_object_mut().unwrap().remove("managedFields");
    object
}

#[test]
fn a_create_goes_all_the_way() {
    let caller = patch_of_m(json!([
        {"op": "add", "path": "/spec/junk", "value": 1},
        {"op": "remove", "path": "/spec/size"},
    ]));
    let mut object = body("v1", json!({"typo": 1}));
    object["status"] = json!({"ready": true});
    object["metadata"]["uid"] = "made-up".into();
    let outcome = admission(&caller).admit_blocking(&create("v1", &object), &MemoryCluster::new());
    assert_eq!(outcome.warnings.texts(), [r#"unknown field "spec.typo""#]);

    let asked = caller.asked("m");
    let seen = json!({
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {"size": 1},
        "status": {"ready": true},
    });
    assert_eq!(plain(&asked["object"]), seen, "decoded, but not prepared");
    assert_eq!(asked["options"], json!({"apiVersion": "meta.k8s.io/v1", "kind": "CreateOptions"}));
    assert_eq!((&asked["name"], &asked["namespace"]), (&json!("x"), &json!("default")));

    // What is not in the schema stays in storage, and is gone when it is read (DI-34).
    let mut expected = json!({
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "generation": 1,
            "name": "x",
            "namespace": "default",
            "uid": "u-1",
        },
        "spec": {"junk": 1, "size": 1},
    });
    assert_eq!(plain(&caller.asked("v")["object"]), expected, "final");
    let accepted = outcome.result.as_ref().unwrap();
    assert_eq!(
        plain(&serde_json::from_slice::<Value>(accepted.stored.as_ref().unwrap()).unwrap()),
        expected
    );
    expected["spec"] = json!({"size": 1});
    assert_eq!(plain(&accepted.returned().unwrap()), expected);
}

/// RP-50: a read of an object that is as it was stored needs no tree, and no other read does without.
#[test]
fn a_read_copies_text_that_stays() {
    let admission = admission(&InProcess::new(allow));
    let labels = json!({"metadata": "{\"é\\n"});
    // As of finalizers, and of items with keys.
    let fields = json!({"f:metadata": {"f:finalizers": {"v:\"a\\b\"": {}}}});
    let manager = json!({"manager": "m", "fieldsV1": fields});
    let metadata = json!({
        "generation": 1, "labels": labels, "managedFields": [manager], "name": "x", "uid": "1"});
    let mut object = body("v1", json!({"size": 3}));
    object["metadata"] = metadata;
    let changed = |path: &str, value: Value| {
        let mut object = object.clone();
        *object.pointer_mut(path).unwrap() = value;
        object
    };
    for (object, version, is_copied) in [
        (object.clone(), "v1", true),
        (changed("/metadata/name", json!(7)), "v1", false),
        (changed("/spec/size", json!(null)), "v1", false),
        (changed("/spec", json!({})), "v1", false),
        (changed("/spec", json!({"size": 1, "junk": 1})), "v1", false),
        // RP-51: a generation is added.
        (changed("/metadata", json!({"name": "x", "uid": "1"})), "v1", false),
        // A revision would come last, or is there.
        (changed("/metadata", json!({"generation": 1, "name": "x"})), "v1", false),
        (
            changed("/metadata", json!({"generation": 1, "resourceVersion": "1", "uid": "1"})),
            "v1",
            false,
        ),
        (object.clone(), "v1beta1", false),
        (changed("/apiVersion", json!("example.com/v1beta1")), "v1", false),
    ] {
        let stored = StoredObject::new(billhook::to_json(&object)).resource_version("12");
        let read = admission.read_blocking(version, &stored).unwrap();
        let text = admission.revision_place(version, &stored.bytes).map(|place| {
            let mut text = billhook::to_json(&object);
            text.insert_str(place, r#""resourceVersion":"12","#);
            text
        });
        assert_eq!(text, is_copied.then(|| billhook::to_json(&read)), "{version} {object}");
    }
}

/// RP-20, RP-22: one entry for a strict error, one warning for each key.
#[test]
fn repeated_keys_of_yaml() {
    let text = b"apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: x\n  name: x\nspec:\n  \
                 size: 1\n  size: 2\n";
    let request = ObjectRequest::create("v1", text);
    let outcome = admission(&InProcess::new(allow)).admit_blocking(&request, &MemoryCluster::new());
    assert_eq!(
        outcome.warnings.texts(),
        ["line 5: key \"name\" already set in map", "line 8: key \"size\" already set in map"]
    );
    let request = request.field_validation(FieldValidation::Strict);
    let outcome = admission(&InProcess::new(allow)).admit_blocking(&request, &MemoryCluster::new());
    assert_eq!(
        message(&outcome),
        "Foo in version \"v1\" cannot be handled as a Foo: strict decoding error: yaml: unmarshal \
         errors:\n  line 5: key \"name\" already set in map\n  line 8: key \"size\" already set in \
         map"
    );
}

/// A patch may make an object invalid, and validation comes before the validating webhooks.
#[test]
fn what_webhooks_made_is_validated() {
    let caller = patch_of_m(json!([{"op": "replace", "path": "/spec/size", "value": 10}]));
    let outcome = admission(&caller)
        .admit_blocking(&create("v1", &body("v1", json!({}))), &MemoryCluster::new());
    let status = outcome.result.unwrap_err();
    assert_eq!(
        status.message,
        "Foo.example.com \"x\" is invalid: spec.size: Invalid value: 10: spec.size in body should \
         be less than or equal to 9"
    );
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    let details = status.details.unwrap();
    assert_eq!((details.kind.as_str(), details.group.as_str()), ("Foo", "example.com"));
    assert_eq!(details.causes[0].field, "spec.size");
    assert_eq!(details.causes[0].reason, "FieldValueInvalid");
    assert!(details.causes[0].message.starts_with("Invalid value: 10: "));
    assert!(caller.seen.lock().unwrap().iter().all(|(hook, _)| hook == "m"));
}

/// A null on a field that has no default and may not be null stays and fails (RP-61).
#[test]
fn nulls_of_webhooks_are_not_removed() {
    let caller = patch_of_m(json!([{"op": "add", "path": "/status", "value": {"ready": null}}]));
    let object = body("v1", json!({}));
    let request = update("v1", &object, &object).status_update();
    let outcome = admission(&caller).admit_blocking(&request, &MemoryCluster::new());
    assert!(
        message(&outcome).contains("status.ready: Invalid value: \"null\""),
        "{}",
        message(&outcome)
    );
    let caller = patch_of_m(json!([{"op": "add", "path": "/spec/size", "value": null}]));
    let outcome = admission(&caller).admit_blocking(&create("v1", &object), &MemoryCluster::new());
    assert_eq!(stored(outcome)["spec"], json!({"size": 1}));
}

/// The name is generated between the stages (AR-30).
#[test]
fn names_are_generated_between_the_stages() {
    let caller = InProcess::new(allow);
    let mut object = body("v1", json!({}));
    object["metadata"] = json!({"generateName": "x-"});
    let outcome = admission(&caller).admit_blocking(&create("v1", &object), &MemoryCluster::new());
    assert_eq!(stored(outcome)["metadata"]["name"], "x-xxxxx");
    assert_eq!(caller.asked("m").get("name"), None);
    assert_eq!(caller.asked("v")["name"], "x-xxxxx");
    assert_eq!(caller.asked("v")["object"]["metadata"]["name"], "x-xxxxx");
}

#[test]
fn an_update_keeps_what_only_the_server_writes() {
    let caller = InProcess::new(allow);
    let first = stored(
        admission(&caller)
            .admit_blocking(&create("v1", &body("v1", json!({}))), &MemoryCluster::new()),
    );
    let mut old = first.clone();
    old["status"] = json!({"ready": true});
    let mut object = body("v1", json!({"size": 2}));
    object["status"] = json!({"ready": false});
    let outcome =
        admission(&caller).admit_blocking(&update("v1", &object, &old), &MemoryCluster::new());
    let mut expected = old.clone();
    expected["spec"]["size"] = 2.into();
    expected["metadata"]["generation"] = 2.into();
    assert!(!outcome.result.as_ref().unwrap().unchanged);
    assert_eq!(plain(&stored(outcome)), plain(&expected));
    let asked = caller.asked("m");
    assert_eq!(
        (&asked["operation"], &asked["options"]["kind"]),
        (&json!("UPDATE"), &json!("UpdateOptions"))
    );
    assert_eq!(
        asked["object"]["status"],
        json!({"ready": false}),
        "before the preparation (AR-32)"
    );
    assert_eq!(asked["oldObject"]["status"], json!({"ready": true}));
    assert_eq!(caller.asked("v")["object"]["status"], json!({"ready": true}));

    let outcome =
        admission(&caller).admit_blocking(&update("v1", &old, &old), &MemoryCluster::new());
    assert!(outcome.result.as_ref().unwrap().unchanged);

    let status = update("v1", &object, &old).status_update();
    let outcome = admission(&caller).admit_blocking(&status, &MemoryCluster::new());
    let mut expected = old;
    expected["status"]["ready"] = false.into();
    assert_eq!(plain(&stored(outcome)), plain(&expected));
    assert_eq!(caller.asked("m")["subResource"], "status");
}

#[test]
fn a_deletion_shows_the_old_object() {
    let caller = InProcess::new(|hook, request| {
        if hook == "v" && request.dry_run {
            return AdmissionResponse::deny(request, "keep it");
        }
        AdmissionResponse::allow(request)
    });
    let old = body("v1", json!({"size": 3}));
    let mut request = ObjectRequest::delete("v1", old.to_string().as_bytes());
    let outcome = admission(&caller).admit_blocking(&request, &MemoryCluster::new());
    let accepted = outcome.result.unwrap();
    assert_eq!(accepted.stored, None);
    assert_eq!(accepted.into_returned().unwrap()["spec"]["size"], 3);
    for hook in ["m", "v"] {
        let asked = caller.asked(hook);
        assert_eq!(asked["object"], Value::Null);
        assert_eq!(asked["oldObject"]["spec"]["size"], 3);
        assert_eq!(asked["options"]["kind"], "DeleteOptions");
        assert_eq!(asked["name"], "x");
    }
    admission(&caller)
        .admit_blocking(&request.clone().in_collection(), &MemoryCluster::new())
        .result
        .unwrap();
    assert_eq!(caller.asked("v").get("name"), None, "one of a collection (AR-35)");
    assert_eq!(caller.asked("v")["oldObject"]["metadata"]["name"], "x");
    request.dry_run = true;
    let outcome = admission(&caller).admit_blocking(&request, &MemoryCluster::new());
    assert_eq!(message(&outcome), "admission webhook \"v\" denied the request: keep it");
    assert_eq!(caller.asked("v")["options"]["dryRun"], json!(["All"]));
}

/// Another version than that of the storage: webhooks get the version they know, storage its own,
/// cleaned (RP-53, RP-54, WM-49).
#[test]
fn versions_are_converted() {
    let caller = patch_of_m(json!([{"op": "add", "path": "/spec/junk", "value": 1}]));
    let object = body("v1beta1", json!({"old": "x"}));
    let outcome =
        admission(&caller).admit_blocking(&create("v1beta1", &object), &MemoryCluster::new());
    assert_eq!(
        outcome.warnings.texts(),
        ["example.com/v1beta1 Foo is deprecated; use example.com/v1 Foo"]
    );
    let asked = caller.asked("m");
    assert_eq!(asked["object"]["apiVersion"], "example.com/v1");
    assert_eq!(
        asked["object"]["spec"],
        json!({"old": "x", "size": 1}),
        "conversion is bare (RP-60)"
    );
    assert_eq!(asked["requestKind"]["version"], "v1beta1");
    let returned = outcome.result.as_ref().unwrap().returned().unwrap().into_owned();
    assert_eq!(returned["apiVersion"], "example.com/v1beta1");
    let stored = stored(outcome);
    assert_eq!(stored["apiVersion"], "example.com/v1");
    assert_eq!(stored["spec"], json!({"size": 1}));
}

/// Where a webhook converts, another converter must stand in for it: on the way to webhooks, to
/// storage, and back (RP-81, DI-39).
#[test]
fn a_converter_stands_in_for_a_conversion_webhook() {
    let caller = InProcess::new(allow);
    let configurations = [configuration("Validating", "v")];
    let admission = || {
        let chain = Chain::new(caller.clone()).webhooks(&configurations);
        Admission::new(definition_with("Webhook"), chain)
    };
    let request = create("v1beta1", &body("v1beta1", json!({"old": "7"})));
    let outcome = admission().admit_blocking(&request, &MemoryCluster::new());
    assert_eq!(
        message(&outcome),
        "Internal error occurred: the conversion webhook of foos.example.com cannot be called, and \
         there is no other converter"
    );

    let converter = |object: &Value, to: &str| {
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        let spec = object["spec"].as_object_mut().unwrap();
        if to == "example.com/v1" {
            let old = spec.remove("old").unwrap();
            spec.insert("size".to_owned(), old.as_str().unwrap().parse::<i64>().unwrap().into());
        } else {
            let size = spec.remove("size").unwrap();
            spec.insert("old".to_owned(), size.to_string().into());
        }
        Ok(object)
    };
    let outcome =
        admission().converter(Arc::new(converter)).admit_blocking(&request, &MemoryCluster::new());
    assert_eq!(caller.asked("v")["object"]["spec"], json!({"size": 7}));
    let returned = outcome.result.as_ref().unwrap().returned().unwrap().into_owned();
    assert_eq!(returned["spec"], json!({"old": "7"}));
    assert_eq!(stored(outcome)["spec"], json!({"size": 7}));
}

#[test]
fn bodies_may_be_refused() {
    let caller = InProcess::new(allow);
    let object = body("v1", json!({"typo": 1}));
    let strict = create("v1", &object).field_validation(FieldValidation::Strict);
    let elsewhere = json!({"apiVersion": "example.com/v1", "kind": "Foo",
        "metadata": {"name": "x", "namespace": "own"}});
    for (request, code, expected) in [
        (
            strict,
            400,
            "Foo in version \"v1\" cannot be handled as a Foo: strict decoding error: unknown \
             field \"spec.typo\"",
        ),
        (create("v1alpha1", &object), 404, "the server could not find the requested resource"),
        (
            update("v1alpha1", &object, &object).status_update(),
            404,
            "the server could not find the requested resource",
        ),
        (create("v9", &object), 404, "the server could not find the requested resource"),
        (
            create("v1beta1", &object),
            400,
            "the API version in the data (example.com/v1) does not match the expected API version \
             (example.com/v1beta1)",
        ),
        (
            create("v1", &elsewhere).namespace("other"),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ] {
        let status =
            admission(&caller).admit_blocking(&request, &MemoryCluster::new()).result.unwrap_err();
        assert_eq!((status.code, status.message.as_str()), (code, expected));
    }
    assert!(caller.seen.lock().unwrap().is_empty());
}

/// A webhook that counts up changes its own output (DI-47).
#[test]
fn idempotence_is_checked_on_request() {
    let caller = InProcess::new(|hook, request| {
        let response = AdmissionResponse::allow(request);
        if hook != "m" {
            return response;
        }
        let size = request.object.as_ref().unwrap()["spec"]["size"].as_i64().unwrap();
        response.patch(&json!([{"op": "add", "path": "/spec/size", "value": size + 1}]))
    });
    let mut request = create("v1", &body("v1", json!({})));
    assert!(admission(&caller).admit_blocking(&request, &MemoryCluster::new()).findings.is_empty());
    request.options = RequestOptions::default().check_idempotence(true);
    let outcome = admission(&caller).admit_blocking(&request, &MemoryCluster::new());
    let finding = &outcome.findings[0];
    assert_eq!(finding.mutator.to_string(), "webhook `m` of `m`");
    assert_eq!(finding.changes[0].to_string(), "changed spec.size: 2 -> 3");
    assert_eq!(stored(outcome)["spec"]["size"], 2, "the second call leaves nothing");
}

/// Objects as deep as a server allows go all the way on a small stack; what a webhook makes deeper
/// than that is refused.
#[test]
fn deep_objects_fit_a_small_stack() {
    billhook_testing::on_small_stack(|| {
        let levels = 9_990;
        let deep = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let object = format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"name":"x"}},"spec":{{"deep":{deep}}}}}"#
        );
        let path = format!("/spec/deep{}", "/0".repeat(levels - 1));
        let value: Value = (0..20).fold(json!(1), |inner, _| json!([inner]));
        let deeper = json!([{"op": "add", "path": format!("{path}/0"), "value": value}]);
        let change = json!([{"op": "replace", "path": format!("{path}/0"), "value": 2}]);
        let definition = CustomResourceDefinition::from_value(&json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"plural": "foos", "kind": "Foo"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                    "openAPIV3Schema": {"type": "object", "properties": {"spec": {
                        "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]},
        }))
        .unwrap();
        for (patch, expected) in
            [(change, None), (deeper, Some("Internal error occurred: exceeded max depth"))]
        {
            let caller = Silent(patch);
            let configurations = [configuration("Mutating", "m"), configuration("Validating", "v")];
            let chain = Chain::new(caller).webhooks(&configurations);
            let request = ObjectRequest::create("v1", object.as_bytes())
                .options(RequestOptions::default().trace(true).check_idempotence(true));
            let outcome = Admission::new(definition.clone(), chain)
                .admit_blocking(&request, &MemoryCluster::new());
            let found = outcome.result.as_ref().err().map(|status| status.message.as_str());
            assert_eq!(found, expected);
            assert!(!format!("{outcome:?}").is_empty());
        }
    });
}

/// Patches every object the same way, and remembers nothing.
struct Silent(Value);

impl WebhookCaller for Silent {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let sent = call.review.to_json();
        let review = AdmissionReview::from_slice(&sent).unwrap();
        let mut response = AdmissionResponse::allow(review.request.as_ref().unwrap());
        if call.hook == "m" {
            response = response.patch(&self.0);
        }
        let review = AdmissionReview::of_response(ReviewVersion::V1, response);
        Box::pin(std::future::ready(Ok(WebhookAnswer::of_review(&review))))
    }
}

/// A trace tells what each step changed, and by whom.
#[test]
fn steps_are_traced() {
    let caller = patch_of_m(json!([{"op": "add", "path": "/spec/junk", "value": 1}]));
    let mut request = create("v1", &body("v1", json!({"typo": 1})));
    request.options = RequestOptions::default().trace(true);
    let outcome = admission(&caller).admit_blocking(&request, &MemoryCluster::new());
    let steps: Vec<String> = outcome
        .steps
        .iter()
        .map(|step| {
            let changes: Vec<String> = step.changes.iter().map(ToString::to_string).collect();
            format!("{:?}\n  {}", step.action, changes.join("\n  "))
        })
        .collect();
    insta::with_settings!({omit_expression => true}, {
        insta::assert_snapshot!(steps.join("\n"));
    });
}
