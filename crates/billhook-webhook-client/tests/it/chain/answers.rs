//! The meaning of an answer: the tables of response verification and of status mapping (AR-50 to
//! AR-93, DI-20 to DI-28).

use super::world::cluster;
use std::sync::{Arc, Mutex};

use billhook::webhook::AdmissionAttributes;
use billhook_admission::{CallEnd, CallOutcome, ChainOutcome, Observer, RequestOptions};
use serde_json::{Value, json};

use crate::chain::world::{Act, Script, World, configuration, create, json_answer};
use crate::server::Reply;

/// Remembers how calls ended: outcome and code.
#[derive(Default)]
pub(crate) struct Calls(pub(crate) Mutex<Vec<(CallOutcome, i32)>>);

impl Observer for Calls {
    fn call_finished(&self, call: &CallEnd<'_>) {
        self.0.lock().unwrap().push((call.outcome, call.code));
    }
}

/// One webhook of a stage asked about a request.
pub(crate) async fn ask(
    stage: &str,
    more: &str,
    script: Script,
    request: AdmissionAttributes,
) -> (ChainOutcome, Vec<(CallOutcome, i32)>, World) {
    let world = World::new(vec![("a", script)]).await;
    let calls = Arc::new(Calls::default());
    let chain = world.chain(&[configuration(stage, "a", more)]).observer(calls.clone());
    let outcome = chain.run(request, &cluster(), &RequestOptions::default(), |_, _| Ok(())).await;
    let ended = calls.0.lock().unwrap().clone();
    (outcome, ended, world)
}

/// The error that the request fails with.
fn message(outcome: &ChainOutcome) -> Option<&str> {
    outcome.result.as_ref().err().map(|status| status.message.as_str())
}

const V1BETA1: &str = "admissionReviewVersions: [v1beta1]";
const PREFIX: &str = "Internal error occurred: failed calling webhook \"a.example.com\": ";

/// One row: stage, review version, the answer, and why it is unusable (none if it is fine).
#[tokio::test]
async fn answers_are_verified() {
    let v1 = |response: Value| json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    let beta = |response: Value| {
        json!({
            "apiVersion": "admission.k8s.io/v1beta1",
            "kind": "AdmissionReview",
            "response": response,
        })
    };
    // The text `[]`.
    let empty_patch = "W10=";
    let (mutating, validating) = ("Mutating", "Validating");
    let table: Vec<(&str, &str, Value, Option<&str>)> = vec![
        (mutating, "", json!({}), Some("webhook response was absent")),
        (validating, "", json!({}), Some("webhook response was absent")),
        (validating, "", json!(null), Some("webhook response was absent")),
        (mutating, V1BETA1, json!({}), Some("webhook response was absent")),
        (mutating, "", v1(json!({"uid": "UID", "allowed": true})), None),
        (validating, "", v1(json!({"uid": "UID", "allowed": true, "unknown": [1]})), None),
        (
            validating,
            "",
            v1(json!({"uid": "u2", "allowed": true})),
            Some(r#"expected response.uid="UID", got "u2""#),
        ),
        (
            validating,
            "",
            v1(json!({"uid": "u2", "allowed": false})),
            Some(r#"expected response.uid="UID", got "u2""#),
        ),
        (
            mutating,
            "",
            json!({"response": {"uid": "UID", "allowed": true}}),
            Some(
                "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, \
                 Kind=",
            ),
        ),
        (
            mutating,
            "",
            json!({"apiVersion": "admission.k8s.io/v1", "response": {"uid": "UID", "allowed": true}}),
            Some(
                "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got \
                 admission.k8s.io/v1, Kind=",
            ),
        ),
        (mutating, V1BETA1, json!({"response": {"allowed": true}}), None),
        (validating, V1BETA1, beta(json!({"uid": "other", "allowed": true})), None),
        (mutating, V1BETA1, json!({"response": {"allowed": true, "patch": empty_patch}}), None),
        (
            mutating,
            V1BETA1,
            json!({"response": {"allowed": true, "patch": empty_patch, "patchType": "other"}}),
            None,
        ),
        (
            validating,
            V1BETA1,
            json!({"response": {"allowed": true, "patch": empty_patch, "patchType": "other"}}),
            None,
        ),
        (
            mutating,
            "",
            v1(
                json!({"uid": "UID", "allowed": true, "patch": empty_patch, "patchType": "JSONPatch"}),
            ),
            None,
        ),
        // Bytes may also come as a list of numbers.
        (
            mutating,
            "",
            v1(json!({"uid": "UID", "allowed": true, "patch": [91, 93], "patchType": "JSONPatch"})),
            None,
        ),
        (
            mutating,
            "",
            v1(json!({"uid": "UID", "allowed": true, "patch": empty_patch})),
            Some("webhook returned response.patch but not response.patchType"),
        ),
        (
            mutating,
            "",
            v1(json!({"uid": "UID", "allowed": true, "patchType": "JSONPatch"})),
            Some("webhook returned response.patchType but not response.patch"),
        ),
        (
            mutating,
            "",
            v1(json!({"uid": "UID", "allowed": true, "patch": "", "patchType": ""})),
            Some("webhook returned response.patchType but not response.patch"),
        ),
        (
            mutating,
            "",
            v1(json!({"uid": "UID", "allowed": true, "patch": empty_patch, "patchType": ""})),
            Some(r#"webhook returned invalid response.patchType of """#),
        ),
        (
            validating,
            "",
            v1(
                json!({"uid": "UID", "allowed": true, "patch": empty_patch, "patchType": "JSONPatch"}),
            ),
            Some("validating webhook may not return response.patch"),
        ),
        (
            validating,
            "",
            v1(json!({"uid": "UID", "allowed": true, "patchType": "JSONPatch"})),
            Some("validating webhook may not return response.patchType"),
        ),
    ];
    for (stage, more, reply, expected) in table {
        let case = format!("{stage} {more} {reply}");
        let script: Script = Box::new(move |request, _| json_answer(request, &reply));
        let (outcome, ended, world) = ask(stage, more, script, create()).await;
        let uid = world.seen()[0].review["request"]["uid"].as_str().unwrap().to_owned();
        let expected = expected.map(|text| {
            format!("{PREFIX}received invalid webhook response: {}", text.replace("UID", &uid))
        });
        assert_eq!(message(&outcome), expected.as_deref(), "{case}");
        let end = match expected {
            None => (CallOutcome::Allowed, 200),
            Some(_) => (CallOutcome::FailedClosed, 503),
        };
        assert_eq!(ended, [end], "{case}");
    }
}

/// Answers that cannot be read (AR-51 to AR-56).
#[tokio::test]
async fn unreadable_answers_are_failed_calls() {
    let json = "application/json";
    let ok = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"UID","allowed":true}}"#;
    let beta = ok.replace("k8s.io/v1", "k8s.io/v1beta1");
    let other = ok.replace("AdmissionReview", "Other");
    let status =
        r#"{"apiVersion":"v1","kind":"Status","status":"Failure","message":"go away","code":418}"#;
    let twice = ok.replace(r#""allowed":true"#, r#""allowed":false,"allowed":true"#);
    let case = ok.replace("allowed", "Allowed");
    let table: Vec<(&str, &str, &str, i32, &str)> = vec![
        ("plain text is fine", "text/plain", ok, 200, ""),
        ("an empty type is fine", "", ok, 200, ""),
        ("parameters are fine", "application/json; charset=\"a;b\"; q=1;", ok, 200, ""),
        (
            "half a parameter",
            "application/json; charset",
            ok,
            500,
            "Internal error occurred: mime: invalid media parameter",
        ),
        ("half a type", "application/", ok, 500, "Internal error occurred: mime: "),
        ("the last of several keys counts", json, &twice, 200, ""),
        (
            "names are case-sensitive",
            json,
            &case,
            400,
            "admission webhook \"a.example.com\" denied the request without explanation",
        ),
        (
            "nothing",
            json,
            "",
            503,
            "0-length response with status code: 200 and content type: application/json",
        ),
        ("no JSON", json, "garbage", 503, "couldn't get version/kind; json parse error: "),
        ("a list", json, "[]", 503, "couldn't get version/kind; json parse error: "),
        ("a wrong type", json, r#"{"response":{"allowed":"yes"}}"#, 503, ""),
        (
            "bytes are numbers below 256",
            json,
            r#"{"response":{"patch":[91,256]}}"#,
            503,
            "json: cannot unmarshal number 256 into Go struct field AdmissionResponse.response.patch of \
             type uint8",
        ),
        ("no media type", "a b", ok, 500, "Internal error occurred: mime: "),
        (
            "the other version",
            json,
            &beta,
            503,
            "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (
            "another kind",
            json,
            &other,
            503,
            "no kind \"Other\" is registered for version \"admission.k8s.io/v1\" in scheme \
             \"k8s.io/apiserver/pkg/util/webhook/client.go:71\"",
        ),
        (
            "an API status",
            json,
            status,
            503,
            "converting (v1.Status) to (v1.AdmissionReview): unknown conversion",
        ),
    ];
    for (name, content_type, body, code, text) in table {
        let (content_type, body) = (content_type.to_owned(), body.to_owned());
        let script: Script = Box::new(move |request, _| {
            let body = body.replace("UID", &request.uid);
            Act::Reply(Reply::new(200, vec![("content-type", content_type.clone())], body))
        });
        let (outcome, ended, _) = ask("Validating", "", script, create()).await;
        assert_eq!(ended[0].1, code, "{name}");
        match (message(&outcome), code) {
            (None, 200) => {}
            (Some(found), 400) => assert_eq!(found, text, "{name}"),
            (Some(found), _) => {
                let start = format!("{PREFIX}failed to call webhook: {text}");
                assert!(found.starts_with(&start), "{name}: {found}");
            }
            (None, _) => panic!("{name}: allowed"),
        }
    }
}

/// Answers in YAML are read, or refused on request (AR-51).
#[tokio::test]
async fn answers_may_be_yaml() {
    let ok = "# fine\napiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse:\n  uid: UID\n  \
              allowed: yes\n  warnings: [careful]\n";
    let json = r#" {"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"UID","allowed":true}}"#;
    let no_json = "failed to call webhook: couldn't get version/kind; json parse error: ";
    let table = [
        (false, ok, Some(no_json)),
        (true, ok, None),
        (true, json, None),
        (true, "{apiVersion: admission.k8s.io/v1}", Some(no_json)),
        (true, "garbage", Some(no_json)),
        (true, "a: [", Some("failed to call webhook: yaml: line 1: ")),
        (true, "# nothing", Some("received invalid webhook response: webhook response was absent")),
    ];
    for (accept, body, expected) in table {
        let script: Script = Box::new(move |request, _| {
            let content_type = vec![("content-type", "application/yaml".to_owned())];
            Act::Reply(Reply::new(200, content_type, body.replace("UID", &request.uid)))
        });
        let world = World::new(vec![("a", script)]).await;
        let chain = world.chain(&[configuration("Validating", "a", "")]).yaml_answers(accept);
        let outcome =
            chain.run(create(), &cluster(), &RequestOptions::default(), |_, _| Ok(())).await;
        match (message(&outcome), expected) {
            (None, None) => {}
            (Some(found), Some(expected)) => {
                let start = format!("{PREFIX}{expected}");
                assert!(found.starts_with(&start), "{accept} {body}: {found}");
            }
            (found, _) => panic!("{accept} {body}: {found:?}"),
        }
        assert_eq!(!outcome.warnings.raw().is_empty(), accept && body == ok);
    }
}

/// The status of a denial (AR-71).
#[tokio::test]
async fn denials_carry_the_webhooks_status() {
    let table = [
        (json!(null), 400, "Failure", "", " without explanation"),
        (json!({}), 400, "Failure", "", " without explanation"),
        (json!({"message": "no"}), 400, "Failure", "", ": no"),
        (json!({"reason": "Forbidden"}), 400, "Failure", "Forbidden", ": Forbidden"),
        (json!({"message": "no", "reason": "Forbidden"}), 400, "Failure", "Forbidden", ": no"),
        (json!({"code": 403, "message": "Tuesday"}), 403, "Failure", "", ": Tuesday"),
        (json!({"code": 200}), 400, "Failure", "", " without explanation"),
        (json!({"code": 399}), 400, "Failure", "", " without explanation"),
        (json!({"code": 500}), 500, "Failure", "", " without explanation"),
        (json!({"code": 700}), 700, "Failure", "", " without explanation"),
        (json!({"status": "Success"}), 400, "Failure", "", " without explanation"),
        (json!({"status": "custom"}), 400, "custom", "", " without explanation"),
    ];
    for stage in ["Mutating", "Validating"] {
        for policy in ["Fail", "Ignore"] {
            for (sent, code, status, reason, suffix) in &table {
                let answer = json!({
                    "apiVersion": "admission.k8s.io/v1",
                    "kind": "AdmissionReview",
                    "response": {"uid": "UID", "allowed": false, "status": sent},
                });
                let script: Script = Box::new(move |request, _| json_answer(request, &answer));
                let more = format!("failurePolicy: {policy}");
                let (outcome, ended, _) = ask(stage, &more, script, create()).await;
                let found = outcome.result.unwrap_err();
                let expected =
                    format!("admission webhook \"a.example.com\" denied the request{suffix}");
                assert_eq!(found.message, expected, "{sent}");
                assert_eq!((found.code, &*found.status, &*found.reason), (*code, *status, *reason));
                assert_eq!(ended, [(CallOutcome::Rejected, *code)], "{sent}");
            }
        }
    }
}

/// Details are kept as they were sent, and an allowed request has no status (AR-70, AR-71).
#[tokio::test]
async fn details_of_a_denial_are_kept() {
    let response = |allowed: bool| {
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {"uid": "UID", "allowed": allowed, "status": {
                "code": 409,
                "details": {"name": "n", "causes": [{"field": "spec", "message": "m"}]},
            }},
        })
    };
    let (yes, no) = (response(true), response(false));
    let script: Script = Box::new(move |request, _| json_answer(request, &no));
    let (outcome, ..) = ask("Validating", "", script, create()).await;
    let details = outcome.result.unwrap_err().details.unwrap();
    assert_eq!((details.name.as_str(), details.causes[0].field.as_str()), ("n", "spec"));
    let script: Script = Box::new(move |request, _| json_answer(request, &yes));
    let (outcome, ..) = ask("Validating", "", script, create()).await;
    assert!(outcome.result.is_ok());
}

/// The error of a call that fails closed names the webhook, and repeats its text as the cause
/// (AR-73).
#[tokio::test]
async fn a_failed_call_is_an_internal_error() {
    let script: Script = Box::new(|_, _| Act::Reply(Reply::new(503, Vec::new(), "busy")));
    let (outcome, ..) = ask("Validating", "", script, create()).await;
    let reason = "failed calling webhook \"a.example.com\": failed to call webhook: the server is \
                  currently unable to handle the request";
    let status = outcome.result.unwrap_err();
    assert_eq!(status.message, format!("Internal error occurred: {reason}"));
    assert_eq!((status.code, status.reason.as_str()), (500, "InternalError"));
    assert_eq!(status.details.unwrap().causes[0].message, reason);
}

/// Warnings and annotations of an answer count whether it allows or denies (AR-80, AR-90 to AR-93).
#[tokio::test]
async fn answers_leave_warnings_and_annotations() {
    for allowed in [true, false] {
        let reply = json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {
                "uid": "UID",
                "allowed": allowed,
                "warnings": ["old field", "old field", "", "a\nb", "\"quoted\""],
                "auditAnnotations": {"why": "because", "not/good": "x", "-": "y"},
            },
        });
        let script: Script = Box::new(move |request, _| json_answer(request, &reply));
        let (outcome, ..) = ask("Validating", "", script, create()).await;
        assert_eq!(outcome.warnings.texts(), ["old field", "\"quoted\""]);
        assert_eq!(outcome.warnings.headers(), ["299 - \"old field\"", "299 - \"\\\"quoted\\\"\""]);
        let annotations: Vec<_> =
            outcome.annotations.iter().map(|(key, value)| (key, value.value.as_str())).collect();
        assert_eq!(annotations, [("a.example.com/why", "because")]);
        assert_eq!(outcome.annotations.refused().len(), 2);
    }
}

/// One that is refused by verification leaves nothing.
#[tokio::test]
async fn invalid_answers_leave_nothing() {
    let reply = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": "wrong", "allowed": true, "warnings": ["w"], "auditAnnotations": {"k": "v"}},
    });
    let script: Script = Box::new(move |request, _| json_answer(request, &reply));
    let (outcome, ..) = ask("Validating", "failurePolicy: Ignore", script, create()).await;
    assert!(outcome.result.is_ok());
    assert!(outcome.warnings.raw().is_empty());
    let keys: Vec<_> = outcome.annotations.iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["failed-open.validating.webhook.admission.k8s.io/round_0_index_0"]);
}
