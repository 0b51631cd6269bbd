//! The records of calls that end because the client went away, and of match conditions that
//! make a request fail (OB-05, OB-20, OB-55).

use std::sync::Arc;
use std::task::{Context, Waker};

use billhook::webhook::{
    AdmissionAttributes, ConditionInput, ConditionResult, ConditionsError, MatchCondition,
    MatchConditions, NamespaceLabels,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_admission::metrics::AdmissionMetrics;
use billhook_admission::{
    BoxFuture, CallerError, Cancellation, Chain, MemoryCluster, RequestOptions, WebhookAnswer,
    WebhookCall, WebhookCaller,
};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};

use crate::log::Log;

/// Cancels the request when it is asked, and never answers.
struct GoesAway(Cancellation);

impl WebhookCaller for GoesAway {
    fn call<'a>(&'a self, _: WebhookCall<'a>) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        self.0.cancel();
        Box::pin(std::future::pending())
    }
}

/// Cannot be evaluated.
struct Broken;

impl MatchConditions for Broken {
    fn evaluate(
        &self,
        conditions: &[MatchCondition],
        _: &ConditionInput<'_>,
    ) -> Result<Vec<ConditionResult>, ConditionsError> {
        Ok(conditions.iter().map(|_| ConditionResult::Error("no such key".to_owned())).collect())
    }
}

/// Runs a create past one webhook; gives what was logged, and the metrics.
fn records(kind: &str, more: &Value) -> (String, String) {
    let mut registry = Registry::default();
    let cancellation = Cancellation::new();
    let cluster = MemoryCluster::new().with_namespace("default", NamespaceLabels::new());
    let chain = Chain::new(GoesAway(cancellation.clone()))
        .webhooks(&[crate::hook::configuration(kind, "c", "a.example.com", more)])
        .conditions(Broken)
        .observer(Arc::new(AdmissionMetrics::new(&mut registry)));
    let request = AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Foo"),
        GroupVersionResource::new("example.com", "v1", "foos"),
        json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}}),
    );
    let options = RequestOptions::default().cancellation(&cancellation);
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        let mut run = Box::pin(chain.run(request, &cluster, &options, |_, _| Ok(())));
        let mut polls = 0;
        while run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            polls += 1;
            assert!(polls < 3, "the cancellation wakes the request");
        }
    });
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    (log.lines(), text)
}

/// OB-20: the call is counted, but not as a failure of the webhook.
#[test]
fn cancelled_calls_are_no_failures() {
    for (kind, label) in [("Mutating", "admit"), ("Validating", "validating")] {
        for (policy, rejected) in [("Fail", "true"), ("Ignore", "false")] {
            let (log, metrics) = records(kind, &json!({"failurePolicy": policy}));
            let labels = format!(
                "{{name=\"a.example.com\",type=\"{label}\",operation=\"CREATE\",code=\"503\",\
                 rejected=\"{rejected}\"}} 1"
            );
            let counted = format!("apiserver_admission_webhook_request_total{labels}");
            assert!(metrics.lines().any(|line| line == counted), "{counted}\nin\n{metrics}");
            let duration = "apiserver_admission_webhook_admission_duration_seconds_count{";
            assert!(metrics.contains(duration));
            for metric in ["webhook_rejection_count{", "webhook_fail_open_count{"] {
                assert!(!metrics.contains(metric), "{metrics}");
            }
            let events: Vec<&str> = log.lines().filter(|line| !line.starts_with("span ")).collect();
            let [event] = events.as_slice() else { panic!("{events:?}") };
            assert!(event.starts_with("WARN The client went away"), "{event}");
            assert!(event.contains("webhook=\"a.example.com\" configuration=\"c\""), "{event}");
        }
    }
}

/// OB-55.
#[test]
fn conditions_that_fail_closed_are_logged() {
    let conditions = |policy: &str| {
        json!({"failurePolicy": policy,
            "matchConditions": [{"name": "c", "expression": "object.x"}]})
    };
    for kind in ["Mutating", "Validating"] {
        let (log, _) = records(kind, &conditions("Fail"));
        assert!(log.starts_with("WARN Match conditions cannot be evaluated"), "{log}");
        assert!(log.contains("expression 'object.x' resulted in error: no such key"), "{log}");
        assert_eq!(records(kind, &conditions("Ignore")).0, "");
    }
}
