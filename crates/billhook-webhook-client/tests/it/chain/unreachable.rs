//! Webhooks that cannot be asked, and requests that cannot be matched, in both stages and under
//! both failure policies: the rest of the table DI-70. Certificates are checked over TLS.

use super::world::cluster;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use billhook::webhook::{
    ConditionInput, ConditionResult, ConditionsError, EquivalentResources, MatchCondition,
    MatchConditions, Webhook,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_admission::{CallOutcome, ChainOutcome, MemoryCluster, RequestOptions};
use billhook_webhook_client::{
    DnsResolver, HttpsCaller, ServiceAddress, ServiceResolver, StaticResolver,
};

use crate::chain::answers::Calls;
use crate::chain::client::chain_of;
use crate::chain::world::{Act, Script, World, allow, configuration, create};
use crate::server::Server;

const STAGES: [(&str, &str); 2] = [("Mutating", "mutation"), ("Validating", "validating")];

/// The change of the webhook, and why it cannot be asked: the whole reason, or its beginning if
/// it ends in `…`.
struct Row {
    name: &'static str,
    change: Box<dyn Fn(&mut Webhook)>,
    reason: String,
    code: i32,
}

fn row(
    name: &'static str,
    code: i32,
    reason: impl Into<String>,
    change: impl Fn(&mut Webhook) + 'static,
) -> Row {
    Row { name, change: Box::new(change), reason: reason.into(), code }
}

/// A port without a listener.
async fn closed_port() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

fn by_url(url: String) -> impl Fn(&mut Webhook) {
    move |webhook| {
        webhook.client_config.service = None;
        webhook.client_config.url = Some(url.clone());
    }
}

#[tokio::test]
async fn webhooks_that_cannot_be_asked() {
    let script = || -> Script { Box::new(|request, _| allow(request)) };
    let world = World::new(vec![("a", script())]).await;
    let other = World::new(vec![]).await;
    let nameless =
        Server::start("127.0.0.1:0", &[], |_| Box::pin(std::future::pending())).await.unwrap();
    let closed = closed_port().await;
    let listening = world.server.address().port();
    let foreign = other.server.authority().ca_bundle.clone();
    let nameless_ca = nameless.authority().ca_bundle.clone();
    let nameless_port = nameless.address().port();
    let post = "failed to call webhook: Post \"https://";
    let client = "could not get REST client: ";
    let x509 = "tls: failed to verify certificate: x509: ";
    let rows = [
        row(
            "a refused connection",
            503,
            format!(
                "{post}127.0.0.1:{closed}/p?timeout=5s\": dial tcp 127.0.0.1:{closed}: connect: \
                 connection refused"
            ),
            by_url(format!("https://127.0.0.1:{closed}/p")),
        ),
        row(
            "a name that nobody knows",
            503,
            format!("{post}nowhere.invalid/?timeout=5s\": …"),
            by_url("https://nowhere.invalid".to_owned()),
        ),
        row(
            "an unknown authority",
            503,
            format!(
                "{post}a.hooks.svc:443/a?timeout=5s\": {x509}certificate signed by unknown authority"
            ),
            move |webhook| webhook.client_config.ca_bundle = foreign.clone().into_bytes(),
        ),
        row(
            "a certificate for other names",
            503,
            format!("{post}b.other.svc:443/a?timeout=5s\": {x509}certificate is valid for …"),
            |webhook| {
                let service = webhook.client_config.service.as_mut().unwrap();
                (service.name, service.namespace) = ("b".to_owned(), "other".to_owned());
            },
        ),
        row(
            "a certificate without names (CL-43)",
            503,
            format!("{post}localhost:{nameless_port}/?timeout=5s\": {x509}certificate is not …"),
            move |webhook| {
                by_url(format!("https://localhost:{nameless_port}"))(webhook);
                webhook.client_config.ca_bundle = nameless_ca.clone().into_bytes();
            },
        ),
        row(
            "a certificate bundle that is none",
            500,
            format!("{client}unable to load root certificates: unable to parse bytes as PEM block"),
            |webhook| webhook.client_config.ca_bundle = b"none".to_vec(),
        ),
        row(
            "an unparsable URL",
            500,
            format!("{client}failed calling webhook \"a.example.com\": Unparsable URL: …"),
            by_url("https://h:port/".to_owned()),
        ),
        row(
            "neither URL nor service (CL-01)",
            500,
            format!(
                "{client}failed calling webhook \"a.example.com\": webhook configuration must have \
                 either service or URL"
            ),
            |webhook| webhook.client_config.service = None,
        ),
        row(
            "no known version of the review",
            400,
            "could not create admission objects: webhook does not accept known AdmissionReview \
             versions (v1, v1beta1)",
            |webhook| webhook.admission_review_versions = None,
        ),
    ];
    let address = format!("127.0.0.1:{listening}");
    let prefix = "failed calling webhook \"a.example.com\": ";
    for row in &rows {
        for (stage, annotation) in STAGES {
            for policy in [Some("Ignore"), Some("Fail"), None] {
                let name = format!("{}, {stage}, {policy:?}", row.name);
                let mut configurations = world.configurations(&[configuration(stage, "a", "")]);
                let webhook = &mut configurations[0].webhooks[0];
                webhook.failure_policy = policy.map(str::to_owned);
                (row.change)(webhook);
                let resolver = StaticResolver::default().with("hooks", "a", &address);
                let resolver = resolver.with("other", "b", &address);
                let caller = HttpsCaller::default().resolver(resolver);
                let calls = Arc::new(Calls::default());
                let chain = chain_of(caller, &configurations).observer(calls.clone());
                let outcome = chain
                    .run(create(), &cluster(), &RequestOptions::default(), |_, _| Ok(()))
                    .await;
                let key =
                    format!("failed-open.{annotation}.webhook.admission.k8s.io/round_0_index_0");
                let failed_open = outcome.annotations.get(&key).is_some();
                let ended = calls.0.lock().unwrap().clone();
                if policy == Some("Ignore") {
                    assert!(outcome.result.is_ok(), "{name}: {outcome:?}");
                    assert!(failed_open, "{name}");
                    assert_eq!(ended, [(CallOutcome::FailedOpen, row.code)], "{name}");
                    continue;
                }
                let status = outcome.result.unwrap_err();
                assert_eq!((status.code, &*status.reason), (500, "InternalError"), "{name}");
                let cause = &status.details.as_ref().unwrap().causes[0].message;
                assert_eq!(status.message, format!("Internal error occurred: {cause}"), "{name}");
                let found = cause.strip_prefix(prefix).unwrap();
                match row.reason.strip_suffix('…') {
                    Some(start) => assert!(found.starts_with(start), "{name}: {found}"),
                    None => assert_eq!(found, row.reason, "{name}"),
                }
                assert!(!failed_open, "{name}");
                assert_eq!(ended, [(CallOutcome::FailedClosed, row.code)], "{name}");
            }
        }
    }
    assert_eq!(world.calls("a"), 0);
}

/// Default look-up of services, and what cannot be one (CL-04).
#[test]
fn services_have_names() {
    let address = |namespace: &str, name: &str, port| {
        DnsResolver.resolve(&ServiceAddress::new(namespace, name, port))
    };
    assert_eq!(address("ns", "web", 8443).as_deref(), Ok("web.ns.svc:8443"));
    for (namespace, name, port) in [("", "web", 443), ("ns", "", 443), ("ns", "web", 0)] {
        let error = address(namespace, name, port).unwrap_err().to_string();
        assert_eq!(error, "cannot resolve an empty service name or namespace or port");
    }
}

/// The expression is the result.
struct Canned;

impl MatchConditions for Canned {
    fn evaluate(
        &self,
        conditions: &[MatchCondition],
        input: &ConditionInput<'_>,
    ) -> Result<Vec<ConditionResult>, ConditionsError> {
        assert!(input.object.is_some());
        let result = |condition: &MatchCondition| match condition.expression.as_str() {
            "T" => ConditionResult::True,
            "F" => ConditionResult::False,
            other => ConditionResult::Error(format!("no such key: {other}")),
        };
        Ok(conditions.iter().map(result).collect())
    }
}

/// Errors of matching: what they come to under Fail and under Ignore; nothing if the webhook is
/// left out. In none of these cases is it called.
#[tokio::test]
async fn requests_that_cannot_be_matched() {
    type End = Option<(i32, &'static str, &'static str)>;
    let unknown: End = Some((
        500,
        "InternalError",
        "Internal error occurred: unable to convert to example.com/v9, Resource=foos: unknown kind",
    ));
    let missing: End = Some((404, "NotFound", "namespaces \"default\" not found"));
    let selector: End = Some((
        500,
        "InternalError",
        "Internal error occurred: \"Near\" is not a valid label selector operator",
    ));
    let table: Vec<(&str, &str, End, End)> = vec![
        (
            "a condition that fails",
            "matchConditions: [{name: c, expression: x}, {name: d, expression: T}]",
            Some((
                403,
                "Forbidden",
                "foos.example.com \"x\" is forbidden: expression 'x' resulted in error: no such \
                 key: x",
            )),
            None,
        ),
        (
            "a condition that is false",
            "matchConditions: [{name: c, expression: F}, {name: d, expression: x}]",
            None,
            None,
        ),
        (
            "an unparsable selector for objects",
            "objectSelector: {matchExpressions: [{key: a, operator: Near}]}",
            selector,
            selector,
        ),
        (
            "an unparsable selector for namespaces",
            "namespaceSelector: {matchExpressions: [{key: a, operator: Near}]}",
            selector,
            selector,
        ),
        ("a missing namespace", "namespaceSelector: {matchLabels: {a: b}}", missing, missing),
        (
            "an equivalent of an unknown kind",
            "rules: [{operations: ['*'], apiGroups: ['*'], apiVersions: [v9], resources: [foos]}]",
            unknown,
            unknown,
        ),
        (
            "a rule for something else beside a broken selector",
            "rules: [{operations: ['*'], apiGroups: [other], apiVersions: ['*'], resources: ['*']}]
            objectSelector: {matchExpressions: [{key: a, operator: Near}]}",
            None,
            None,
        ),
    ];
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let mut registry = EquivalentResources::new();
    for (version, kind) in [("v1", "Foo"), ("v9", "")] {
        let resource = GroupVersionResource::new("example.com", version, "foos");
        registry.register(resource, "", GroupVersionKind::new("example.com", version, kind));
    }
    for (name, more, fail, ignore) in table {
        for (stage, _) in STAGES {
            for (policy, expected) in [("Fail", fail), ("Ignore", ignore)] {
                let name = format!("{name}, {stage}, {policy}");
                let text = configuration(stage, "a", &format!("{more}\nfailurePolicy: {policy}"));
                let calls = Arc::new(Calls::default());
                let chain = world
                    .chain(&[text])
                    .equivalents(registry.clone())
                    .conditions(Canned)
                    .observer(calls.clone());
                let outcome = chain
                    .run(create(), &MemoryCluster::new(), &RequestOptions::default(), |_, _| Ok(()))
                    .await;
                let found = outcome.result.as_ref().err();
                let found = found.map(|s| (s.code, s.reason.as_str(), s.message.as_str()));
                assert_eq!(found, expected, "{name}");
                assert!(calls.0.lock().unwrap().is_empty(), "{name}");
                assert_eq!(outcome.annotations.iter().count(), 0, "{name}");
            }
        }
    }
    assert_eq!(world.calls("a"), 0);
}

/// The deadline of the request passes during a mutating call: with Fail it is that call's failure,
/// with Ignore the request's, and nothing else is called (DI-52, DI-70, the last row of the table
/// of DI-54).
#[tokio::test]
async fn the_deadline_passes_during_a_mutating_call() {
    for (policy, expected, text) in [
        (
            "Fail",
            500,
            "Internal error occurred: failed calling webhook \"a.example.com\": failed to call \
             webhook: Post \"https://a.hooks.svc:443/a?timeout=2s\": context deadline exceeded",
        ),
        ("Ignore", 504, "Timeout: request did not complete within requested timeout"),
    ] {
        let world = World::new(vec![
            ("a", Box::new(|_, _| Act::Never)),
            ("b", Box::new(|request, _| allow(request))),
            ("c", Box::new(|request, _| allow(request))),
        ])
        .await;
        let texts = [
            configuration("Mutating", "a", &format!("failurePolicy: {policy}")),
            configuration("Mutating", "b", ""),
            configuration("Validating", "c", ""),
        ];
        let began = Instant::now();
        let options = RequestOptions::default().deadline(began + Duration::from_millis(1_900));
        let outcome = world.chain(&texts).run(create(), &cluster(), &options, |_, _| Ok(())).await;
        let key = "failed-open.mutation.webhook.admission.k8s.io/round_0_index_0";
        assert_eq!(outcome.annotations.get(key).is_some(), policy == "Ignore");
        let key = "mutation.webhook.admission.k8s.io/round_0_index_0";
        let value = "{\"configuration\":\"a\",\"webhook\":\"a.example.com\",\"mutated\":false}";
        assert_eq!(outcome.annotations.get(key).unwrap().value, value);
        let status = outcome.result.unwrap_err();
        assert_eq!((status.code, status.message.as_str()), (expected, text));
        assert_eq!(["a", "b", "c"].map(|name| world.calls(name)), [1, 0, 0]);
    }
}

/// A request that is given up takes its calls with it.
#[tokio::test]
async fn a_request_may_be_given_up() {
    struct Guard(Option<tokio::sync::oneshot::Sender<()>>);
    impl Drop for Guard {
        fn drop(&mut self) {
            let _ = self.0.take().unwrap().send(());
        }
    }
    for (stage, _) in STAGES {
        let (asked, was_asked) = tokio::sync::oneshot::channel();
        let (gone, is_gone) = tokio::sync::oneshot::channel();
        let guard = Mutex::new(Some((asked, Guard(Some(gone)))));
        let server = Server::start("127.0.0.1:0", &["localhost"], move |_| {
            let (asked, guard) = guard.lock().unwrap().take().unwrap();
            Box::pin(async move {
                let _guard = guard;
                asked.send(()).unwrap();
                std::future::pending().await
            })
        })
        .await
        .unwrap();
        let world = World::new(vec![]).await;
        let mut configurations = world.configurations(&[configuration(stage, "a", "")]);
        let config = &mut configurations[0].webhooks[0].client_config;
        config.service = None;
        config.url = Some(format!("https://localhost:{}", server.address().port()));
        config.ca_bundle = server.authority().ca_bundle.clone().into_bytes();
        let chain = chain_of(HttpsCaller::default(), &configurations);
        let options = RequestOptions::default();
        let cluster = cluster();
        let request = chain.run(create(), &cluster, &options, |_, _| Ok(()));
        let outcome: Option<ChainOutcome> = tokio::select! {
            outcome = request => Some(outcome),
            _ = was_asked => None,
        };
        assert!(outcome.is_none());
        // The webhook's side ends when the connection does.
        is_gone.await.unwrap();
    }
}
