//! The consequences of a failure for the request: the table of the failure policy, and dry runs
//! (DI-13, DI-22, DI-23, DI-70).

use billhook::Status;
use billhook::webhook::AdmissionAttributes;
use billhook_admission::{AdmissionRequest, AdmissionResponse};
use serde_json::{Value, json};

use crate::chain::answers::ask;
use crate::chain::world::{
    Act, Script, allow, answer, create, json_answer, kind, object, resource,
};
use crate::server::Reply;

/// How a row of the failure policy table ends: nothing, or code and message.
///
/// A message of a failed call stands without what all of those begin with; `…` is its open end.
type End = Option<(i32, &'static str)>;

const PREFIX: &str = "Internal error occurred: failed calling webhook \"a.example.com\": ";

struct Row {
    name: &'static str,
    stages: &'static [&'static str],
    more: &'static str,
    script: fn(&AdmissionRequest) -> Act,
    request: fn() -> AdmissionAttributes,
    fail: End,
    ignore: End,
    /// The metric code (OB-17).
    code: i32,
}

const BOTH: &[&str] = &["Mutating", "Validating"];
const MUTATING: &[&str] = &["Mutating"];

fn patch(request: &AdmissionRequest, operations: &Value) -> Act {
    answer(AdmissionResponse::allow(request).patch(operations))
}

/// The table of DI-70, except for matching and conversion, which have tests of their own.
#[tokio::test]
async fn failure_policies() {
    let dry = || create().dry_run(true);
    let delete = || AdmissionAttributes::delete(kind(), resource(), object());
    let rows = [
        Row {
            name: "the connection is closed",
            stages: BOTH,
            more: "",
            script: |_| Act::Close,
            request: create,
            fail: Some((
                500,
                "failed to call webhook: Post \"https://a.hooks.svc:443/a?timeout=5s\": EOF",
            )),
            ignore: None,
            code: 503,
        },
        Row {
            name: "an HTTP error",
            stages: BOTH,
            more: "",
            script: |_| Act::Reply(Reply::new(404, Vec::new(), "")),
            request: create,
            fail: Some((
                500,
                "failed to call webhook: the server could not find the requested resource",
            )),
            ignore: None,
            code: 404,
        },
        Row {
            name: "the time is over",
            stages: BOTH,
            more: "timeoutSeconds: 1",
            script: |_| Act::Never,
            request: create,
            fail: Some((
                500,
                "failed to call webhook: Post \"https://a.hooks.svc:443/a?timeout=1s\": context deadline exceeded",
            )),
            ignore: None,
            code: 503,
        },
        Row {
            name: "an unreadable body",
            stages: BOTH,
            more: "",
            script: |_| Act::Reply(Reply::json("garbage")),
            request: create,
            fail: Some((
                500,
                "failed to call webhook: couldn't get version/kind; json parse error: …",
            )),
            ignore: None,
            code: 503,
        },
        Row {
            name: "another UID",
            stages: BOTH,
            more: "",
            script: |_| answer(AdmissionResponse::allow(&AdmissionRequest::default())),
            request: create,
            fail: Some((500, "received invalid webhook response: expected response.uid=\"…")),
            ignore: None,
            code: 503,
        },
        Row {
            name: "an undecodable patch",
            stages: MUTATING,
            more: "",
            script: |request| patch(request, &json!({})),
            request: create,
            fail: Some((
                500,
                "received undecodable patch in webhook response: json: cannot unmarshal object …",
            )),
            ignore: None,
            code: 503,
        },
        Row {
            name: "an unsupported patch type",
            stages: MUTATING,
            more: "",
            script: |request| {
                json_answer(
                    request,
                    &json!({
                        "apiVersion": "admission.k8s.io/v1",
                        "kind": "AdmissionReview",
                        // The text `[{"op":"add","path":"/spec/x","value":1}]`.
                        "response": {"uid": "UID", "allowed": true, "patchType": "Other",
                            "patch": "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMveCIsInZhbHVlIjoxfV0="},
                    }),
                )
            },
            request: create,
            fail: Some((500, "unsupported patch type \"Other\"")),
            ignore: None,
            code: 400,
        },
        Row {
            name: "no known review version",
            stages: BOTH,
            more: "admissionReviewVersions: [v2]",
            script: allow,
            request: create,
            fail: Some((
                500,
                "could not create admission objects: webhook does not accept known \
                 AdmissionReview versions (v1, v1beta1)",
            )),
            ignore: None,
            code: 400,
        },
        Row {
            name: "no side effects named, and a dry run",
            stages: BOTH,
            more: "sideEffects:",
            script: allow,
            request: dry,
            fail: Some((500, "Webhook SideEffects is nil")),
            ignore: None,
            code: 400,
        },
        Row {
            name: "denied",
            stages: BOTH,
            more: "",
            script: |request| answer(AdmissionResponse::deny(request, "no")),
            request: create,
            fail: Some((400, "admission webhook \"a.example.com\" denied the request: no")),
            ignore: Some((400, "admission webhook \"a.example.com\" denied the request: no")),
            code: 400,
        },
        Row {
            name: "side effects, and a dry run",
            stages: BOTH,
            more: "sideEffects: Some",
            script: allow,
            request: dry,
            fail: Some((400, "admission webhook \"a.example.com\" does not support dry run")),
            ignore: Some((400, "admission webhook \"a.example.com\" does not support dry run")),
            code: 0,
        },
        Row {
            name: "a patch that does not apply",
            stages: MUTATING,
            more: "",
            script: |request| patch(request, &json!([{"op": "remove", "path": "/nothing"}])),
            request: create,
            fail: Some((
                500,
                "Internal error occurred: error in remove for path: '/nothing': Unable to remove \
                 nonexistent key: nothing: missing value",
            )),
            ignore: Some((500, "Internal error occurred: error in remove for path: '/nothing'…")),
            code: 0,
        },
        Row {
            name: "a patch that takes the kind away",
            stages: MUTATING,
            more: "",
            script: |request| patch(request, &json!([{"op": "remove", "path": "/kind"}])),
            request: create,
            fail: Some((500, "Internal error occurred: Object 'Kind' is missing in '{…")),
            ignore: Some((500, "Internal error occurred: Object 'Kind' is missing in '{…")),
            code: 0,
        },
        Row {
            name: "a patch that changes the version",
            stages: MUTATING,
            more: "",
            script: |request| {
                let version = json!({"op": "replace", "path": "/apiVersion", "value": "a.b/v1"});
                patch(request, &json!([version]))
            },
            request: create,
            // The call succeeds; its object has no way back.
            fail: Some((500, "no conversion to example.com/v1 Foo is known")),
            ignore: Some((500, "no conversion to example.com/v1 Foo is known")),
            code: 200,
        },
        Row {
            name: "a patch for a deletion",
            stages: MUTATING,
            more: "",
            script: |request| patch(request, &json!([{"op": "add", "path": "/x", "value": 1}])),
            request: delete,
            fail: Some((
                500,
                "Internal error occurred: admission webhook \"a.example.com\" attempted to modify \
                 the object, which is not supported for this operation",
            )),
            ignore: Some((
                500,
                "Internal error occurred: admission webhook \"a.example.com\" attempted to modify …",
            )),
            code: 0,
        },
        Row {
            name: "an empty patch for a deletion",
            stages: MUTATING,
            more: "",
            script: |request| patch(request, &json!([])),
            request: delete,
            fail: None,
            ignore: None,
            code: 200,
        },
    ];
    for row in &rows {
        for stage in row.stages {
            for (policy, expected) in [("Fail", &row.fail), ("Ignore", &row.ignore)] {
                let name = format!("{}, {stage}, {policy}", row.name);
                let script = row.script;
                let script: Script = Box::new(move |request, _| script(request));
                let more = format!("{}\nfailurePolicy: {policy}", row.more);
                let (outcome, ended, _) = ask(stage, &more, script, (row.request)()).await;
                let key = match *stage {
                    "Mutating" => "failed-open.mutation.webhook.admission.k8s.io/round_0_index_0",
                    _ => "failed-open.validating.webhook.admission.k8s.io/round_0_index_0",
                };
                let failed_open = outcome.annotations.get(key);
                match (&outcome.result, expected) {
                    (Ok(_), None) => {
                        let expects_open = policy == "Ignore" && row.fail.is_some();
                        assert_eq!(failed_open.is_some(), expects_open, "{name}");
                    }
                    (Err(status), Some((code, text))) => {
                        assert_eq!(status.code, *code, "{name}");
                        let is_call =
                            *code == 500 && !text.starts_with("Internal error") && row.code != 200;
                        let text = format!("{}{text}", if is_call { PREFIX } else { "" });
                        let found = &status.message;
                        match text.strip_suffix('…') {
                            Some(start) => assert!(found.starts_with(start), "{name}: {found}"),
                            None => assert_eq!(*found, text, "{name}"),
                        }
                        assert!(failed_open.is_none(), "{name}");
                    }
                    (found, expected) => panic!("{name}: {found:?}, expected {expected:?}"),
                }
                assert_eq!(ended[0].1, row.code, "{name}");
            }
        }
    }
}

/// A dry-run request never reaches a webhook that may have side effects, and says what it is to
/// one that has none (DI-22, DI-23).
#[tokio::test]
async fn dry_runs() {
    let dry = || create().dry_run(true);
    for (side_effects, calls) in [("None", 1), ("NoneOnDryRun", 1), ("Some", 0), ("Unknown", 0)] {
        let more = format!("sideEffects: {side_effects}");
        let (outcome, _, world) = ask("Mutating", &more, Box::new(|r, _| allow(r)), dry()).await;
        assert_eq!(world.calls("a"), calls, "{side_effects}");
        assert_eq!(outcome.result.is_ok(), calls == 1, "{side_effects}");
        for seen in world.seen() {
            assert_eq!(seen.review["request"]["dryRun"], true);
        }
    }
    let (outcome, ..) =
        ask("Validating", "sideEffects: Some", Box::new(|r, _| allow(r)), dry()).await;
    let expected =
        Status::bad_request("admission webhook \"a.example.com\" does not support dry run");
    assert_eq!(outcome.result.unwrap_err(), expected);
}
