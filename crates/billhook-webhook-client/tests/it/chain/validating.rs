//! The validating stage: who is called, in which order results count, and what a failure of one
//! webhook among several means (DI-60 to DI-69).

use super::world::cluster;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use billhook_admission::{
    AdmissionRequest, AdmissionResponse, CallEnd, CallOutcome, CallStart, Chain, ChainOutcome,
    Converter, CustomResources, Observer, RequestOptions,
};
use serde_json::{Value, json};

use crate::chain::answers::Calls;
use crate::chain::reviews::{definition, request_v2, rule, versions};
use crate::chain::world::{Act, Script, World, allow, answer, configuration, create, reply};
use crate::server::Reply;

async fn run(chain: &Chain) -> ChainOutcome {
    chain.run(create(), &cluster(), &RequestOptions::default(), |_, _| Ok(())).await
}

/// Denies, the first time at once, so that a connection is open, and then after a while.
fn denying(after: u64) -> Script {
    Box::new(move |request, number| {
        let response = AdmissionResponse::deny(request, "no").warning(format!("after {after} ms"));
        let pause = if number == 0 { 0 } else { after };
        Act::After(Duration::from_millis(pause), reply(response))
    })
}

fn messages(outcome: &ChainOutcome) -> Vec<&str> {
    outcome.validating_errors.iter().map(|status| status.message.as_str()).collect()
}

/// The error that arrives first is the request's; all others are waited for and listed. On
/// request everything is in the order of the webhooks instead (DI-64, DI-66, AR-86).
#[tokio::test]
async fn the_first_error_in_time_counts() {
    let denied =
        |name: &str| format!("admission webhook \"{name}.example.com\" denied the request: no");
    let scripts = || vec![("a", denying(400)), ("b", denying(0)), ("c", denying(200))];
    let texts = ["c", "a", "b"].map(|name| configuration("Validating", name, ""));
    let options = RequestOptions::default().trace(true);
    for (in_order, expected) in [(false, ["b", "c", "a"]), (true, ["a", "b", "c"])] {
        let world = World::new(scripts()).await;
        let chain = world.chain(&texts).results_in_hook_order(in_order);
        chain.run(create(), &cluster(), &options, |_, _| Ok(())).await;
        let outcome = chain.run(create(), &cluster(), &options, |_, _| Ok(())).await;
        assert_eq!(messages(&outcome), expected.map(denied));
        assert_eq!(outcome.result.as_ref().unwrap_err().message, denied(expected[0]));
        let times = expected.map(|name| match name {
            "a" => "after 400 ms",
            "b" => "after 0 ms",
            _ => "after 200 ms",
        });
        assert_eq!(outcome.warnings.texts(), times);
        let steps =
            outcome.steps.iter().filter(|step| format!("{:?}", step.action).contains("hook"));
        let steps: Vec<String> = steps.map(|step| format!("{:?}", step.action)).collect();
        for (step, name) in steps.iter().zip(expected) {
            assert!(step.contains(&format!("{name}.example.com")), "{step}");
        }
    }
}

/// Calls run at the same time, and an observer sees each end when it ends.
#[tokio::test]
async fn calls_run_at_the_same_time() {
    #[derive(Default)]
    struct Watch(Mutex<Vec<String>>);
    impl Observer for Watch {
        fn call_started(&self, call: &CallStart<'_>) {
            self.0.lock().unwrap().push(format!("start {}", call.hook));
        }
        fn call_finished(&self, end: &CallEnd<'_>) {
            self.0.lock().unwrap().push(format!("end {}", end.call.hook));
        }
    }
    let world = World::new(vec![("a", denying(300)), ("b", denying(0))]).await;
    let watch = Arc::new(Watch::default());
    let texts = ["a", "b"].map(|name| configuration("Validating", name, ""));
    let chain = world.chain(&texts).observer(watch.clone()).results_in_hook_order(true);
    run(&chain).await;
    watch.0.lock().unwrap().clear();
    run(&chain).await;
    let seen = watch.0.lock().unwrap().clone();
    let hooks = ["start a", "start b", "end b", "end a"];
    assert_eq!(seen, hooks.map(|text| format!("{text}.example.com")));
}

/// A denial, a failure, a refused dry run and an ignored failure side by side: each stays what it
/// is, and all webhooks but that with side effects are asked (DI-22, DI-64, DI-67).
#[tokio::test]
async fn different_errors_stand_side_by_side() {
    let broken: fn() -> Script = || Box::new(|_, _| Act::Reply(Reply::new(503, Vec::new(), "")));
    let world = World::new(vec![
        ("a", denying(0)),
        ("b", broken()),
        ("c", Box::new(|request, _| allow(request))),
        ("d", broken()),
        ("e", Box::new(|request, _| allow(request))),
    ])
    .await;
    let texts = [
        configuration("Validating", "a", ""),
        configuration("Validating", "b", ""),
        configuration("Validating", "c", "sideEffects: Some\nfailurePolicy: Ignore"),
        configuration("Validating", "d", "failurePolicy: Ignore"),
        configuration("Validating", "e", ""),
    ];
    let chain = world.chain(&texts).results_in_hook_order(true);
    let outcome = chain
        .run(create().dry_run(true), &cluster(), &RequestOptions::default(), |_, _| Ok(()))
        .await;
    assert_eq!(
        messages(&outcome),
        [
            "admission webhook \"a.example.com\" denied the request: no",
            "Internal error occurred: failed calling webhook \"b.example.com\": failed to call \
             webhook: the server is currently unable to handle the request",
            "admission webhook \"c.example.com\" does not support dry run",
        ]
    );
    let codes: Vec<_> = outcome.validating_errors.iter().map(|status| status.code).collect();
    assert_eq!(codes, [400, 500, 400]);
    let calls = ["a", "b", "c", "d", "e"].map(|name| world.calls(name));
    assert_eq!(calls, [1, 1, 0, 1, 1]);
    let annotations: Vec<_> = outcome.annotations.iter().map(|(key, _)| key).collect();
    assert_eq!(annotations, ["failed-open.validating.webhook.admission.k8s.io/round_0_index_3"]);
}

/// The index of an annotation counts the webhooks that match (DI-69, OB-36), with a trace and
/// without.
#[tokio::test]
async fn the_index_counts_those_that_match() {
    for trace in [false, true] {
        let world = World::new(vec![
            ("b", Box::new(|request, _| allow(request))),
            ("d", Box::new(|_, _| Act::Close)),
        ])
        .await;
        let texts = [
            configuration("Validating", "a", "rules: []"),
            configuration("Validating", "b", ""),
            configuration("Validating", "c", "objectSelector: {matchLabels: {no: 'no'}}"),
            configuration("Validating", "d", "failurePolicy: Ignore"),
        ];
        let options = RequestOptions::default().trace(trace);
        let outcome = world.chain(&texts).run(create(), &cluster(), &options, |_, _| Ok(())).await;
        assert!(outcome.result.is_ok());
        let annotations: Vec<_> = outcome
            .annotations
            .iter()
            .map(|(key, annotation)| (key, annotation.value.as_str()))
            .collect();
        let key = "failed-open.validating.webhook.admission.k8s.io/round_0_index_1";
        assert_eq!(annotations, [(key, "d.example.com")]);
    }
}

/// Without a webhook that matches nothing is refused, not even when the time is over; with one
/// the request is over before any call (DI-61, DI-63).
#[tokio::test]
async fn without_a_match_the_deadline_does_not_count() {
    let world = World::new(vec![("b", Box::new(|request, _| allow(request)))]).await;
    let options = RequestOptions::default().deadline(Instant::now());
    for (more, expected) in [("rules: []", None), ("failurePolicy: Ignore", Some(504))] {
        let texts = [configuration("Validating", "a", more)];
        let outcome = world.chain(&texts).run(create(), &cluster(), &options, |_, _| Ok(())).await;
        assert_eq!(outcome.result.err().map(|status| status.code), expected, "{more}");
    }
}

/// Each kind is converted to once, however many webhooks want it, and all before the first call
/// (DI-60, DI-62).
#[tokio::test]
async fn kinds_are_converted_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let converter: Arc<dyn Converter> = Arc::new(move |object: &Value, to: &str| {
        counter.fetch_add(1, Ordering::Relaxed);
        let mut object = object.clone();
        object["apiVersion"] = to.into();
        Ok(object)
    });
    let script = || -> Script { Box::new(|request, _| allow(request)) };
    let world = World::new(vec![("a", script()), ("b", script()), ("c", script())]).await;
    let texts = [
        configuration("Validating", "a", &rule("v1")),
        configuration("Validating", "b", &rule("v1")),
        configuration("Validating", "c", &rule("v2")),
    ];
    let chain = world
        .chain(&texts)
        .equivalents(versions())
        .model(CustomResources::new(definition()).converter(converter));
    let mut request = request_v2();
    request.old_object = request.object.clone();
    request.operation = billhook::webhook::Operation::Update;
    let outcome = chain.run(request, &cluster(), &RequestOptions::default(), |_, _| Ok(())).await;
    assert!(outcome.result.is_ok());
    assert_eq!(count.load(Ordering::Relaxed), 2, "the new object and the old one");
    for seen in world.seen() {
        let request = &seen.review["request"];
        let expected = if seen.path == "/c" { "example.com/v2" } else { "example.com/v1" };
        assert_eq!(request["object"]["apiVersion"], expected);
        assert_eq!(request["oldObject"]["apiVersion"], expected);
    }
}

/// A patch of a validating webhook changes nothing, not even in the version of the review that
/// tolerates it (AR-65, DI-65).
#[tokio::test]
async fn nothing_is_changed() {
    let script: Script = Box::new(|request: &AdmissionRequest, _| {
        let patch = json!([{"op": "add", "path": "/spec/x", "value": 1}]);
        answer(AdmissionResponse::allow(request).patch(&patch))
    });
    let world = World::new(vec![("a", script)]).await;
    let more = "admissionReviewVersions: [v1beta1]";
    let beta = world.chain(&[configuration("Validating", "a", more)]);
    // The answer is a v1 one, which the decoder does not take for a v1beta1 one (AR-54).
    let error = run(&beta).await.result.unwrap_err().message;
    assert!(
        error.ends_with(
            "failed to call webhook: converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): \
         unknown conversion"
        ),
        "{error}"
    );

    let script: Script = Box::new(|request, _| {
        let patch = json!([{"op": "add", "path": "/spec/x", "value": 1}]);
        let response = AdmissionResponse::allow(request).patch(&patch);
        let mut review = serde_json::to_value(&response).unwrap();
        review["uid"] = "another".into();
        Act::Reply(Reply::json(json!({"response": review}).to_string()))
    });
    let world = World::new(vec![("a", script)]).await;
    let outcome = run(&world.chain(&[configuration("Validating", "a", more)])).await;
    let object = outcome.result.unwrap().object.unwrap();
    assert_eq!(object["spec"], json!({"n": 1}));
    assert_eq!(outcome.annotations.iter().count(), 0);
}

/// A contained crash counts like a failed call (DI-68, OB-21, OB-34).
#[tokio::test]
async fn a_crash_fails_open() {
    use billhook_admission::{BoxFuture, CallerError, WebhookAnswer, WebhookCall, WebhookCaller};

    struct Crashes;
    impl WebhookCaller for Crashes {
        fn call<'a>(
            &'a self,
            _: WebhookCall<'a>,
        ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
            Box::pin(async { panic!("{}", "boom".to_owned()) })
        }
    }
    let world = World::new(vec![]).await;
    let ends = Arc::new(Calls::default());
    let text = configuration("Validating", "a", "failurePolicy: Ignore");
    let chain = crate::chain::client::chain_of(Crashes, &world.configurations(&[text]));
    let outcome = run(&chain.observer(ends.clone())).await;
    assert!(outcome.result.is_ok());
    assert_eq!(*ends.0.lock().unwrap(), [(CallOutcome::FailedOpen, 500)]);
    let key = "failed-open.validating.webhook.admission.k8s.io/round_0_index_0";
    assert_eq!(outcome.annotations.get(key).unwrap().value, "a.example.com");
}

/// Two hundred webhooks of which none answers: all are given up at their deadline, at the same
/// time.
#[tokio::test]
async fn many_webhooks_that_never_answer() {
    let world = World::new(vec![("a", Box::new(|_, _| Act::Never))]).await;
    let mut configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let webhook = configurations[0].webhooks.remove(0);
    for number in 0..200 {
        let mut webhook = webhook.clone();
        webhook.name = format!("a{number:03}.example.com");
        webhook.timeout_seconds = Some(1);
        webhook.failure_policy = Some(if number == 150 { "Fail" } else { "Ignore" }.to_owned());
        configurations[0].webhooks.push(webhook);
    }
    let chain = world.chain(&[]).webhooks(&configurations);
    let outcome = tokio::time::timeout(Duration::from_secs(60), run(&chain)).await.unwrap();
    assert_eq!(outcome.annotations.iter().count(), 199);
    assert_eq!(
        messages(&outcome),
        ["Internal error occurred: failed calling webhook \"a150.example.com\": failed to call \
             webhook: Post \"https://a.hooks.svc:443/a?timeout=1s\": context deadline exceeded"]
    );
}
