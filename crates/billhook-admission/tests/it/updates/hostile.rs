//! Objects as deep as a server allows, and what is larger than needed.

use std::sync::Arc;

use billhook::FieldValidation;
use billhook_admission::{
    Admission, AdmissionResponse, Chain, MemoryCluster, ObjectRequest, RequestOptions, StoreError,
    StoreWrite, Unreachable,
};
use serde_json::{Value, json};

use crate::in_process::{
    InProcess, admission, allow, body, configuration, create, definition, update,
};
use crate::updates::{bytes, old, preserving};

/// All kinds of updates of deep objects fit a small stack; what a patch makes too deep is refused.
#[test]
fn deep_objects_fit_a_small_stack() {
    billhook_testing::on_small_stack(|| {
        let levels = 9_990;
        let nested = |open: &str, inner: &str, close: &str, levels: usize| {
            format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
        };
        let lists = nested("[", "1", "]", levels);
        let deep = |spec: &str| {
            format!(
                r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"name":"x","namespace":"default","resourceVersion":"7"}},"spec":{{"size":1,"deep":{spec}}},"status":{{"deep":{lists}}}}}"#
            )
            .into_bytes()
        };
        let stored = deep(&lists);
        let changed = deep(&nested("[", "2", "]", levels));
        let objects = |levels| nested(r#"{"a":"#, "1", "}", levels);
        let merge = |levels| format!(r#"{{"spec":{{"deep":{}}}}}"#, objects(levels));
        let operation = |levels| {
            format!(r#"[{{"op":"add","path":"/spec/deep/0","value":{}}}]"#, objects(levels))
        };
        let patch = |request: fn(&str, &[u8], &[u8]) -> ObjectRequest, text: String| {
            request("v1", text.as_bytes(), &stored)
        };
        let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "x"}, "spec": {"replicas": 4}});
        let written = |write: StoreWrite<'_>| match write.expected {
            Some(_) => Ok("8".to_owned()),
            None => Err(StoreError::Mismatch(None)),
        };
        let admission =
            Admission::new(preserving(), Chain::new(Unreachable)).store(Arc::new(written));
        for (request, expected) in [
            (ObjectRequest::update("v1", &changed, &stored), None),
            (ObjectRequest::replace("v1", &changed, &stored), None),
            (ObjectRequest::update("v1", &changed, &stored).status_update(), None),
            (ObjectRequest::update("v1", &bytes(&scale), &stored).scale_update(), None),
            (ObjectRequest::delete("v1", &stored), None),
            (patch(ObjectRequest::merge_patch, merge(9_900)), None),
            (patch(ObjectRequest::json_patch, operation(9_900)), None),
            (patch(ObjectRequest::merge_patch, merge(9_997)), None),
            (patch(ObjectRequest::merge_patch, merge(10_010)), Some(400)),
            (patch(ObjectRequest::json_patch, operation(9_998)), Some(422)),
        ] {
            let request = request
                .field_validation(FieldValidation::Strict)
                .options(RequestOptions::default().trace(true));
            let status = admission.admit_blocking(&request, &MemoryCluster::new()).result.err();
            assert_eq!(status.map(|status| status.code), expected);
        }
    });
}

/// Very many owners cost no more than their text.
#[test]
fn many_owners() {
    let owner = |number: usize| json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": (number / 2).to_string()});
    let owners: Vec<Value> = (0..8_000).map(owner).collect();
    let mut object = old();
    object["metadata"]["ownerReferences"] = owners.into();
    let outcome = admission(&InProcess::new(allow))
        .admit_blocking(&update("v1", &object, &old()), &MemoryCluster::new());
    let returned = outcome.result.unwrap().into_returned().unwrap();
    assert_eq!(returned["metadata"]["ownerReferences"].as_array().unwrap().len(), 4_000);
    assert_eq!(outcome.warnings.texts()[0].chars().count(), 256);
}

/// Of the unknown fields of a patch as many are reported as of other documents (RP-20).
#[test]
fn many_unknown_fields_of_a_patch() {
    let fields: String = (0..20_000).map(|number| format!(r#","f{number}":1"#)).collect();
    let operation = format!(r#"{{"op":"test","path":"/kind","value":"Foo"{fields}}}"#);
    let patch = format!("[{operation},{operation}]");
    let request = ObjectRequest::json_patch("v1", patch.as_bytes(), &bytes(&old()));
    let outcome = admission(&InProcess::new(allow)).admit_blocking(&request, &MemoryCluster::new());
    assert!(outcome.result.is_ok());
    assert_eq!(outcome.warnings.raw().len(), 100);
}

/// A webhook that is named like the server's own annotations takes the place of its patch; what is
/// logged of that shows no patch (OB-55).
#[test]
fn refused_annotations_show_no_patches() {
    const NAME: &str = "patch.webhook.admission.k8s.io";
    let caller = InProcess::new(|_, request| {
        let patch = json!([{"op": "add", "path": "/metadata/labels", "value": {"secret": "x"}}]);
        let mut response = AdmissionResponse::allow(request).patch(&patch);
        response.audit_annotations.insert("round_0_index_0".to_owned(), "mine".to_owned());
        response
    });
    let chain = Chain::new(caller).webhooks(&[configuration("Mutating", NAME)]);
    let outcome = Admission::new(definition(), chain)
        .admit_blocking(&create("v1", &body("v1", json!({}))), &MemoryCluster::new());
    assert!(outcome.result.is_ok());
    let refused = outcome.annotations.refused();
    let key = "patch.webhook.admission.k8s.io/round_0_index_0";
    assert_eq!(outcome.annotations.get(key).unwrap().value, "mine");
    assert_eq!(
        refused,
        [format!(
            "admission annotations are not allowd to be overwritten, key:\"{key}\", old value: \
             mine, new value: (not shown)"
        )]
    );
}
