//! The metrics of admission: names, labels, buckets, and what counts as what (OB-02 to OB-19).

#![cfg(feature = "metrics")]
#![allow(
    clippy::allow_attributes,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests may fail the test"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use billhook::admission::metrics::AdmissionMetrics;
use billhook::admission::{
    AdmissionResponse, AdmissionReview, BoxFuture, CallFailure, CallerError, Chain, Plugin,
    RequestOptions, ReviewVersion, Status, WebhookAnswer, WebhookCall, WebhookCaller,
};
use billhook::webhook::{
    AdmissionAttributes, ConditionInput, ConditionResult, GroupVersionKind, GroupVersionResource,
    MatchCondition, MatchConditions, NamespaceLabels, WebhookConfiguration,
};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::json;

/// Answers as the name of the webhook says.
struct ByName;

impl WebhookCaller for ByName {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let request = call.review.request.as_ref().unwrap();
        let denial = |code| {
            let mut response = AdmissionResponse::deny(request, "no");
            response.status.as_mut().unwrap().code = code;
            Ok(response)
        };
        let patch = json!([{"op": "remove", "path": "/nothing"}]);
        let response = match call.hook {
            "deny.example.com" => denial(0),
            "deny-with-700.example.com" => denial(700),
            "broken-patch.example.com" => Ok(AdmissionResponse::allow(request).patch(&patch)),
            "unreachable.example.com" | "unreachable-ignored.example.com" => {
                Err(CallerError::from(CallFailure::with_code("not found", 404)))
            }
            _ => Ok(AdmissionResponse::allow(request)),
        };
        let answer = response.map(|response| {
            WebhookAnswer::of_review(&AdmissionReview::of_response(ReviewVersion::V1, response))
        });
        Box::pin(std::future::ready(answer))
    }
}

struct AllFalse;

impl MatchConditions for AllFalse {
    fn evaluate(
        &self,
        conditions: &[MatchCondition],
        _: &ConditionInput<'_>,
    ) -> Result<Vec<ConditionResult>, String> {
        Ok(vec![ConditionResult::False; conditions.len()])
    }
}

struct Nothing;

impl Plugin for Nothing {
    fn name(&self) -> &str {
        "Nothing"
    }

    fn validate(&self, _: &mut billhook::admission::PluginRequest<'_>) -> Result<(), Status> {
        Err(Status::failure(403, "Forbidden", "no"))
    }
}

/// The metrics behind one request to each webhook alone, without the durations' sums.
fn metrics() -> String {
    let mut registry = Registry::default();
    let metrics = Arc::new(AdmissionMetrics::new(&mut registry));
    let hooks = [
        ("Mutating", "allow", json!({})),
        ("Mutating", "deny", json!({})),
        ("Validating", "deny-with-700", json!({})),
        ("Mutating", "broken-patch", json!({})),
        ("Validating", "unreachable", json!({})),
        ("Validating", "unreachable-ignored", json!({"failurePolicy": "Ignore"})),
        ("Mutating", "excluded", json!({"matchConditions": [{"name": "c", "expression": "x"}]})),
        ("Validating", "excluded", json!({"matchConditions": [{"name": "c", "expression": "x"}]})),
    ];
    for (kind, name, more) in hooks {
        let mut webhook = json!({
            "name": format!("{name}.example.com"),
            "clientConfig": {"url": "https://unused"},
            "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
                "resources": ["*"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        });
        webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let configuration = WebhookConfiguration::from_value(&json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": format!("{kind}WebhookConfiguration"),
            "metadata": {"name": name},
            "webhooks": [webhook],
        }))
        .unwrap();
        let namespaces = BTreeMap::from([("default".to_owned(), NamespaceLabels::new())]);
        let chain = Chain::new(ByName)
            .webhooks(&[configuration])
            .namespaces(namespaces)
            .conditions(AllFalse)
            .late_plugin(Nothing)
            .observer(metrics.clone());
        let request = AdmissionAttributes::create(
            GroupVersionKind::new("example.com", "v1", "Foo"),
            GroupVersionResource::new("example.com", "v1", "foos"),
            json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}}),
        );
        let options = RequestOptions::default();
        let mut run = Box::pin(chain.run(request, &options, |_, _| Ok(())));
        let Poll::Ready(_) = run.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("nothing waits");
        };
    }
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.contains("_sum{")).collect();
    // The order of label sets is that of a hash map.
    lines.retain(|line| !line.starts_with("# EOF"));
    lines.sort_by_key(|line| line.trim_start_matches("# HELP ").trim_start_matches("# TYPE "));
    lines.join("\n")
}

#[test]
fn metrics_are_those_of_the_server() {
    let text = metrics();
    let count = |line: &str| {
        assert!(text.lines().any(|found| found == line), "{line}\nin\n{text}");
    };
    let prefix = "apiserver_admission";
    count(&format!(
        "{prefix}_webhook_rejection_count{{name=\"deny.example.com\",type=\"admit\",operation=\"CREATE\",error_type=\"no_error\",rejection_code=\"400\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_rejection_count{{name=\"deny-with-700.example.com\",type=\"validating\",operation=\"CREATE\",error_type=\"no_error\",rejection_code=\"600\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_rejection_count{{name=\"broken-patch.example.com\",type=\"admit\",operation=\"CREATE\",error_type=\"apiserver_internal_error\",rejection_code=\"0\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_rejection_count{{name=\"unreachable.example.com\",type=\"validating\",operation=\"CREATE\",error_type=\"calling_webhook_error\",rejection_code=\"404\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_fail_open_count{{name=\"unreachable-ignored.example.com\",type=\"validating\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_request_total{{name=\"allow.example.com\",type=\"admit\",operation=\"CREATE\",code=\"200\",rejected=\"false\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_request_total{{name=\"unreachable-ignored.example.com\",type=\"validating\",operation=\"CREATE\",code=\"404\",rejected=\"false\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_request_total{{name=\"broken-patch.example.com\",type=\"admit\",operation=\"CREATE\",code=\"0\",rejected=\"true\"}} 1"
    ));
    for stage in ["admit", "validate"] {
        count(&format!(
            "{prefix}_match_condition_exclusions_total{{name=\"excluded.example.com\",kind=\"webhook\",type=\"{stage}\",operation=\"CREATE\"}} 1"
        ));
    }
    count(&format!("# TYPE {prefix}_webhook_rejection_count counter"));
    count(&format!("# TYPE {prefix}_webhook_request_total counter"));
    let buckets = |metric: &str, labels: &str| -> Vec<String> {
        let start = format!("{prefix}_{metric}_bucket{{le=\"");
        let rest = text.lines().filter_map(|line| line.strip_prefix(&start));
        let mine = rest.filter(|line| line.contains(labels));
        mine.map(|line| line.split('"').next().unwrap().to_owned()).collect()
    };
    let mut found = buckets("webhook_admission_duration_seconds", "name=\"allow.example.com\"");
    found.sort_by(|a, b| {
        a.parse::<f64>().unwrap_or(f64::MAX).total_cmp(&b.parse().unwrap_or(f64::MAX))
    });
    assert_eq!(found, ["0.005", "0.025", "0.1", "0.5", "1.0", "2.5", "10.0", "25.0", "+Inf"]);
    for metric in ["step_admission_duration_seconds", "controller_admission_duration_seconds"] {
        assert_eq!(
            buckets(metric, "type=\"validate\",operation=\"CREATE\",rejected=\"true\"").len(),
            7
        );
    }
    // Plugins run behind a mutating stage that was not refused.
    count(&format!(
        "{prefix}_controller_admission_duration_seconds_count{{name=\"Nothing\",type=\"admit\",operation=\"CREATE\",rejected=\"false\"}} 6"
    ));
    count(&format!(
        "{prefix}_step_admission_duration_seconds_count{{type=\"admit\",operation=\"CREATE\",rejected=\"true\"}} 2"
    ));
}
