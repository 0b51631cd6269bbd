//! Whatever a webhook answers has a result.

use billhook::webhook::AdmissionAttributes;
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_admission::{
    BoxFuture, CallerError, Chain, MemoryCluster, RequestOptions, WebhookAnswer, WebhookCall,
    WebhookCaller,
};
use billhook_testing::small_values as values;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::laws::hooks::{CompiledWebhook, Deed, configuration, object};

/// Answers every request in the same way.
struct Parrot(Vec<u8>);

impl WebhookCaller for Parrot {
    fn call<'a>(&'a self, _: WebhookCall<'a>) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let answer = WebhookAnswer::new("application/json", self.0.clone());
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// Reviews that are right except for some members.
fn answers() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "/apiVersion",
        "/kind",
        "/request",
        "/response",
        "/response/uid",
        "/response/allowed",
        "/response/status",
        "/response/status/code",
        "/response/status/message",
        "/response/status/details",
        "/response/status/details/causes",
        "/response/patch",
        "/response/patchType",
        "/response/auditAnnotations",
        "/response/auditAnnotations/k",
        "/response/warnings",
        "/response/warnings/0",
        "/response/unknown",
    ]);
    let value = prop_oneof![
        2 => values(),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(json!("JSONPatch")),
        // `[{"op":"add","path":"/spec/x"}]` and `[{}]`.
        1 => Just(json!("W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMveCJ9XQ==")),
        1 => Just(json!("W3t9XQ==")),
    ];
    let changes = prop::collection::vec((name, prop::option::of(value)), 0..4);
    (any::<bool>(), any::<bool>(), changes).prop_map(|(allowed, patches, changes)| {
        let mut answer = json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "response": {
                "uid": "u",
                "allowed": allowed,
                "status": {"code": 403, "message": "no", "details": {"causes": [{"field": "f"}]}},
                "warnings": ["w"],
                "auditAnnotations": {"k": "v"},
            },
        });
        if patches {
            answer["response"]["patch"] = "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMveCJ9XQ==".into();
            answer["response"]["patchType"] = "JSONPatch".into();
        }
        for (pointer, value) in changes {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            match (answer.pointer_mut(parent), value) {
                (Some(Value::Object(members)), Some(value)) => {
                    members.insert(name.to_owned(), value);
                }
                (Some(Value::Object(members)), None) => {
                    members.remove(name);
                }
                (Some(Value::Array(items)), Some(value)) => items.push(value),
                _ => {}
            }
        }
        answer
    })
}

proptest! {
    /// Whatever a webhook says, the request gets a result, and one that the failure policy does not
    /// excuse is a refusal by the webhook, a patch that does not apply, or a failed call.
    #[test]
    fn any_answer_has_a_result(answer in answers(), cut in prop::option::of(0..300_usize)) {
        let mut text = answer.to_string().into_bytes();
        text.truncate(cut.unwrap_or(text.len()));
        for kind in ["Mutating", "Validating"] {
            let [ignoring, failing] = [true, false].map(|ignores| {
                let hook =
                    CompiledWebhook { deed: Deed::Nothing, matches: true, ignores, if_needed: false };
                let configuration = configuration(kind, 0, "h.example.com", &hook);
                let chain = Chain::new(Parrot(text.clone()))
                    .webhooks(&[configuration])
                    .uids(|| "u".to_owned());
                let request = AdmissionAttributes::create(
                    GroupVersionKind::new("example.com", "v1", "Foo"),
                    GroupVersionResource::new("example.com", "v1", "foos"),
                    object(&json!({"a": 1})),
                );
                chain.run_blocking(request, &MemoryCluster::new(), &RequestOptions::default(), |_, _| Ok(())).result
            });
            match (ignoring, failing) {
                (Ok(ignoring), Ok(failing)) => prop_assert_eq!(ignoring, failing),
                (Ok(ignoring), Err(status)) => {
                    let text = "Internal error occurred: failed calling webhook \"h.example.com\": ";
                    prop_assert!(status.message.starts_with(text));
                    prop_assert_eq!(status.code, 500);
                    prop_assert_eq!(ignoring.object.unwrap().into_inner(), object(&json!({"a": 1})));
                }
                (Err(ignoring), Err(failing)) => {
                    let text = "admission webhook \"h.example.com\" denied the request";
                    let is_engine = ignoring.code == 500 && kind == "Mutating";
                    prop_assert!(ignoring.message.starts_with(text) || is_engine);
                    prop_assert!(ignoring.code >= 400);
                    prop_assert_eq!(ignoring, failing);
                }
                (Err(status), Ok(_)) => prop_assert!(false, "{} only if ignored", status),
            }
        }
    }
}
