//! The exchange itself: HTTP statuses, repetitions, limits and time
//! (CL-50 to CL-72, DI-50 to DI-54).

use super::world::cluster;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use billhook::webhook::WebhookConfiguration;
use billhook_admission::{
    AdmissionResponse, BoxFuture, CallerError, Chain, ChainOutcome, RequestOptions, WebhookAnswer,
    WebhookCall, WebhookCaller,
};
use hyper::body::Bytes;

use crate::chain::world::{Act, Script, World, allow, answer, configuration, create, reply};
use crate::server::Reply;

const JSON: (&str, &str) = ("content-type", "application/json");

pub(crate) fn chain_of(
    caller: impl WebhookCaller + 'static,
    configurations: &[WebhookConfiguration],
) -> Chain {
    Chain::new(caller).webhooks(configurations)
}

pub(crate) async fn run(chain: &Chain) -> ChainOutcome {
    chain.run(create(), &cluster(), &RequestOptions::default(), |_, _| Ok(())).await
}

/// Returns the message of a failed call after the name of the webhook; nothing if the request was
/// allowed.
pub(crate) fn reason(outcome: &ChainOutcome) -> Option<String> {
    let status = outcome.result.as_ref().err()?;
    let prefix = "Internal error occurred: failed calling webhook \"a.example.com\": ";
    Some(status.message.strip_prefix(prefix).unwrap_or(&status.message).to_owned())
}

async fn ask(more: &str, script: Script) -> (Option<String>, World) {
    let world = World::new(vec![("a", script)]).await;
    let chain = world.chain(&[configuration("Validating", "a", more)]);
    (reason(&run(&chain).await), world)
}

fn headers(list: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    list.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
}

#[tokio::test]
async fn statuses_have_texts() {
    const TEXT: (&str, &str) = ("content-type", "text/plain; charset=utf-8");
    let long = "x".repeat(3000);
    let status = r#"{"apiVersion":"v1","kind":"Status","status":"Failure","message":"from a status","code":422}"#;
    let success = r#"{"apiVersion":"v1","kind":"Status","status":"Success"}"#;
    let shown = format!(
        "an error on the server (\"{}\") has prevented the request from succeeding",
        "x".repeat(2048)
    );
    let table: Vec<(u16, (&'static str, &str), &str, &str)> = vec![
        (400, TEXT, "b", "the server rejected our request for an unknown reason"),
        (401, TEXT, "b", "the server has asked for the client to provide credentials"),
        (403, TEXT, " why not ", "why not"),
        (403, JSON, "{}", "unknown"),
        (404, TEXT, "b", "the server could not find the requested resource"),
        (405, TEXT, "b", "the server does not allow this method on the requested resource"),
        (406, TEXT, "only b", "only b"),
        (
            406,
            TEXT,
            "",
            "the server was unable to respond with a content type that the client supports",
        ),
        (
            406,
            JSON,
            "{}",
            "the server was unable to respond with a content type that the client supports",
        ),
        (409, TEXT, "b", "the server reported a conflict"),
        (415, TEXT, "not b", "not b"),
        (
            418,
            TEXT,
            "b",
            "the server responded with the status code 418 but did not return more information",
        ),
        (422, TEXT, "b", "the server rejected our request due to an error in our request"),
        (
            429,
            TEXT,
            "b",
            "the server has received too many requests and has asked us to try again later",
        ),
        (
            500,
            TEXT,
            "a \"b\"",
            r#"an error on the server ("a \"b\"") has prevented the request from succeeding"#,
        ),
        (
            500,
            JSON,
            "{}",
            r#"an error on the server ("unknown") has prevented the request from succeeding"#,
        ),
        (502, TEXT, &long, &shown),
        (503, TEXT, "b", "the server is currently unable to handle the request"),
        (
            504,
            TEXT,
            "b",
            "the server was unable to return a response in the time allotted, but may still be \
             processing the request",
        ),
        (400, JSON, status, "from a status"),
        (400, JSON, success, "the server rejected our request for an unknown reason"),
        (
            207,
            JSON,
            "{}",
            "the server responded with the status code 207 but did not return more information",
        ),
    ];
    for (code, content_type, body, expected) in table {
        let reply = Reply::new(code, headers(&[content_type]), body.to_owned());
        let (found, world) = ask("", Box::new(move |_, _| Act::Reply(reply.clone()))).await;
        let expected = format!("failed to call webhook: {expected}");
        assert_eq!(found.as_deref(), Some(&*expected), "{code} {body}");
        assert_eq!(world.calls("a"), 1, "{code}");
    }
    for code in [200, 201, 206] {
        let script: Script = Box::new(move |request, _| {
            let mut reply = reply(AdmissionResponse::allow(request));
            reply.status = code;
            Act::Reply(reply)
        });
        assert_eq!(ask("", script).await.0, None, "{code}");
    }
}

/// CL-62.
#[tokio::test]
async fn a_webhook_may_ask_for_a_repetition() {
    let later = |code, after: &'static str| {
        move || Act::Reply(Reply::new(code, headers(&[("retry-after", after)]), ""))
    };
    let (once, never_twice) = (later(429, "1"), later(503, "Wed, 21 Oct 2026 07:28:00 GMT"));
    let script: Script = Box::new(move |r, number| if number == 0 { once() } else { allow(r) });
    let (found, world) = ask("", script).await;
    assert_eq!(found, None);
    let seen = world.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].review, seen[1].review, "body and UID stay the same");

    let (found, world) = ask("", Box::new(move |_, _| never_twice())).await;
    assert_eq!(world.calls("a"), 1);
    assert!(found.unwrap().ends_with("the server is currently unable to handle the request"));

    let at_once = later(500, "0");
    let (found, world) = ask("", Box::new(move |_, _| at_once())).await;
    assert_eq!(world.calls("a"), 11, "at most ten repetitions");
    assert!(found.unwrap().contains("an error on the server (\"\")"));

    let for_ever = later(500, "1");
    let (found, world) = ask("timeoutSeconds: 3", Box::new(move |_, _| for_ever())).await;
    assert!((2..=4).contains(&world.calls("a")));
    let expected = "failed to call webhook: Post \"https://a.hooks.svc:443/a?timeout=3s\": context deadline exceeded";
    assert_eq!(found.as_deref(), Some(expected));

    let not_for_404 = later(404, "0");
    assert_eq!(ask("", Box::new(move |_, _| not_for_404())).await.1.calls("a"), 1);
}

/// CL-61: redirects are followed, or errors on request.
#[tokio::test]
async fn redirects() {
    let no_more = |code| {
        format!(
            "the server responded with the status code {code} but did not return more information"
        )
    };
    for (code, location, expected, calls) in [
        (307, "/b", None, 1),
        (308, "https://a.hooks.svc:443/b", None, 1),
        (308, "/a", Some("Post \"https://a.hooks.svc:443/a\": stopped after 10 redirects"), 11),
        (
            301,
            "https://localhost:1/x?y",
            Some(
                "Post \"https://localhost:1/x?y\": dial tcp localhost:1: connect: connection refused",
            ),
            1,
        ),
        (
            303,
            "http://localhost:1/",
            Some(
                "Post \"https://a.hooks.svc:443/a?timeout=5s\": the redirect to \"http://localhost:1/\" leaves HTTPS",
            ),
            1,
        ),
        (304, "/b", Some(no_more(304).as_str()), 1),
        (302, "", Some(no_more(302).as_str()), 1),
    ] {
        let header = [("location", location)];
        let list = if location.is_empty() { headers(&[]) } else { headers(&header) };
        let redirect = Reply::new(code, list, "");
        let a: Script = Box::new(move |_, _| Act::Reply(redirect.clone()));
        let b: Script = Box::new(|request, _| allow(request));
        let world = World::new(vec![("a", a), ("b", b)]).await;
        let configurations = world.configurations(&[configuration("Validating", "a", "")]);
        let found = reason(&run(&chain_of(world.caller(), &configurations)).await);
        let expected = expected.map(|expected| format!("failed to call webhook: {expected}"));
        assert_eq!(found, expected, "{code} {location}");
        assert_eq!(world.calls("a"), calls, "{code} {location}");
        let strict = chain_of(world.caller().follow_redirects(false), &configurations);
        let expected = format!("failed to call webhook: {}", no_more(code));
        assert_eq!(reason(&run(&strict).await), Some(expected), "{code} {location}");
    }
}

/// CL-58, CL-59.
#[tokio::test]
async fn answers_that_do_not_end_well() {
    let half: Script = Box::new(|request, _| {
        let mut reply = reply(AdmissionResponse::allow(request));
        reply.body = reply.body.slice(..20);
        reply.is_cut = true;
        Act::Reply(reply)
    });
    let found = ask("", half).await.0.unwrap();
    let start = "failed to call webhook: unexpected error when reading response body. Please retry. \
                 Original error: ";
    assert!(found.starts_with(start), "{found}");

    let huge: Script = Box::new(|_, _| {
        let body = Bytes::from(vec![b' '; 64 * 1024]);
        Act::Reply(Reply { times: 1600, ..Reply::json(body) })
    });
    let found = ask("", huge).await.0.unwrap();
    assert_eq!(found, "failed to call webhook: the response body is larger than 4194304 bytes");

    let within: Script = Box::new(|request, _| {
        let mut body = reply(AdmissionResponse::allow(request)).body.to_vec();
        body.resize(4 * 1024 * 1024, b' ');
        Act::Reply(Reply::json(body))
    });
    assert_eq!(ask("", within).await.0, None);
}

/// A compressed answer is read as it was before compression, and limited the same.
#[tokio::test]
async fn answers_may_be_compressed() {
    fn compressed(body: &[u8]) -> Reply {
        use std::io::Write as _;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(body).unwrap();
        let body = encoder.finish().unwrap();
        Reply::new(200, headers(&[JSON, ("content-encoding", "gzip")]), body)
    }
    let script: Script = Box::new(|request, _| {
        Act::Reply(compressed(&reply(AdmissionResponse::allow(request)).body))
    });
    let (found, world) = ask("", script).await;
    assert_eq!(found, None);
    let seen = &world.seen()[0];
    assert_eq!(seen.headers["accept-encoding"], "gzip");
    assert_eq!(seen.headers["accept"], "application/json, */*");
    assert_eq!(seen.headers["content-type"], "application/json");
    assert_eq!(seen.headers["host"], "a.hooks.svc:443");
    assert_eq!(seen.query, "timeout=5s");

    let bomb: Script = Box::new(|_, _| Act::Reply(compressed(&vec![b' '; 5 * 1024 * 1024])));
    let found = ask("", bomb).await.0.unwrap();
    assert_eq!(found, "failed to call webhook: the response body is larger than 4194304 bytes");
}

/// CL-59.
#[tokio::test]
async fn answers_may_have_many_headers() {
    let script: Script = Box::new(|request, _| {
        let mut reply = reply(AdmissionResponse::allow(request));
        reply.headers.extend(vec![("x-more".into(), "of the same".to_owned()); 15_000]);
        Act::Reply(reply)
    });
    assert_eq!(ask("timeoutSeconds: 30", script).await.0, None);
}

#[tokio::test]
async fn a_refused_connection_is_reported() {
    let world = World::new(vec![]).await;
    let address = world.server.address();
    let chain = world.chain(&[configuration("Validating", "a", "")]);
    let ignoring = world.chain(&[configuration("Validating", "a", "failurePolicy: Ignore")]);
    drop(world);
    // The server is gone when its task is.
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    let expected = format!(
        "failed to call webhook: Post \"https://a.hooks.svc:443/a?timeout=5s\": dial tcp {address}: \
         connect: connection refused"
    );
    assert_eq!(reason(&run(&chain).await).as_deref(), Some(&*expected));
    assert_eq!(reason(&run(&ignoring).await), None);
}

/// The table of DI-54, with a clock that the webhooks move: each call takes a second.
#[tokio::test]
async fn calls_share_the_time_of_the_request() {
    let start = Instant::now();
    let passed = Arc::new(Mutex::new(Duration::ZERO));
    let tick = || -> Script {
        let passed = Arc::clone(&passed);
        Box::new(move |request, _| {
            if request.uid.starts_with('m') {
                *passed.lock().unwrap() += Duration::from_secs(1);
            }
            allow(request)
        })
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    let world = World::new(names.iter().map(|name| (*name, tick())).collect()).await;
    let texts: Vec<String> = [("a", 20), ("b", 5), ("c", 20), ("d", 5), ("e", 10), ("f", 20)]
        .iter()
        .map(|(name, seconds)| {
            let kind = if "abc".contains(name) { "Mutating" } else { "Validating" };
            configuration(kind, name, &format!("timeoutSeconds: {seconds}"))
        })
        .collect();
    let (clock, number) = (Arc::clone(&passed), Mutex::new(0));
    let chain = world.chain(&texts).clock(move || start + *clock.lock().unwrap()).uids(move || {
        let mut number = number.lock().unwrap();
        *number += 1;
        format!("{}{number}", if *number <= 3 { 'm' } else { 'v' })
    });
    let options = RequestOptions::default().deadline(start + Duration::from_secs(10));
    let outcome = chain.run(create(), &cluster(), &options, |_, _| Ok(())).await;
    assert!(outcome.result.is_ok());
    let mut sent: Vec<_> =
        world.seen().into_iter().map(|seen| format!("{} {}", seen.path, seen.query)).collect();
    sent.sort();
    assert_eq!(
        sent,
        [
            "/a timeout=10s",
            "/b timeout=5s",
            "/c timeout=8s",
            "/d timeout=5s",
            "/e timeout=7s",
            "/f timeout=7s",
        ]
    );
}

/// An ignored failure does not help a mutating webhook when the time of the request is over; a
/// validating one it does (DI-52, DI-67).
#[tokio::test]
async fn the_deadline_of_the_request_ends_it() {
    for (stage, expected) in [("Mutating", Some(504)), ("Validating", None)] {
        let never: Script = Box::new(|_, _| Act::Never);
        let world = World::new(vec![("a", never), ("b", Box::new(|r, _| allow(r)))]).await;
        let texts =
            [configuration(stage, "a", "failurePolicy: Ignore"), configuration(stage, "b", "")];
        let deadline = Instant::now() + Duration::from_millis(2_900);
        let options = RequestOptions::default().deadline(deadline);
        let outcome = world.chain(&texts).run(create(), &cluster(), &options, |_, _| Ok(())).await;
        let status = outcome.result.err();
        assert_eq!(status.as_ref().map(|status| status.code), expected);
        if let Some(status) = status {
            let text = "Timeout: request did not complete within requested timeout";
            assert_eq!((status.message.as_str(), status.reason.as_str()), (text, "Timeout"));
        }
        assert_eq!(world.seen()[0].query, "timeout=3s");
        assert_eq!(world.calls("b"), usize::from(stage == "Validating"));
    }
}

/// A request whose time is over before validation calls no webhook (DI-63).
#[tokio::test]
async fn validation_does_not_begin_too_late() {
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let chain = world.chain(&[configuration("Validating", "a", "failurePolicy: Ignore")]);
    let options = RequestOptions::default().deadline(Instant::now());
    let outcome = chain.run(create(), &cluster(), &options, |_, _| Ok(())).await;
    assert_eq!(outcome.result.unwrap_err().code, 504);
    assert_eq!(world.calls("a"), 0);
}

/// Without any deadline the client's own limit is named (DI-51).
#[tokio::test]
async fn a_call_without_a_limit_names_the_clients_own() {
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let mut configurations = world.configurations(&[configuration("Validating", "a", "")]);
    configurations[0].webhooks[0].timeout_seconds = None;
    assert_eq!(reason(&run(&world.chain(&[]).webhooks(&configurations)).await), None);
    assert_eq!(world.seen()[0].query, "timeout=30s");
}

/// Two hundred webhooks at the same time: all are called, all answers are awaited, and the first
/// refusal in the order of webhooks can be asked for (DI-64, DI-66).
#[tokio::test]
async fn many_webhooks_at_once() {
    let script: Script = Box::new(|request, number| {
        let pause = Duration::from_millis(300);
        let response = match number % 50 {
            0 => AdmissionResponse::deny(request, "no"),
            _ => AdmissionResponse::allow(request),
        };
        Act::After(pause, reply(response))
    });
    let world = World::new(vec![("a", script)]).await;
    let mut configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let webhook = configurations[0].webhooks[0].clone();
    configurations[0].webhooks = (0..200)
        .map(|number| {
            let mut webhook = webhook.clone();
            webhook.name = format!("a{number:03}.example.com");
            webhook.timeout_seconds = Some(20);
            webhook
        })
        .collect();
    let chain = world.chain(&[]).webhooks(&configurations).results_in_hook_order(true);
    let outcome = run(&chain).await;
    assert_eq!(world.calls("a"), 200);
    assert_eq!(outcome.validating_errors.len(), 4);
    let messages: Vec<_> =
        outcome.validating_errors.iter().map(|status| status.message.clone()).collect();
    assert!(messages.is_sorted());
    assert_eq!(outcome.result.unwrap_err().message, messages[0]);
}

/// A panic while answering is one webhook's failure (DI-68). Here it is the caller's own.
#[tokio::test]
async fn a_panic_is_contained() {
    struct Panics;
    impl WebhookCaller for Panics {
        fn call<'a>(
            &'a self,
            _: WebhookCall<'a>,
        ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
            Box::pin(async { panic!("boom") })
        }
    }
    let world = World::new(vec![]).await;
    for (policy, expected) in [
        (
            "Fail",
            Some(
                "Internal error occurred: ValidatingAdmissionWebhook/a.example.com has panicked: boom",
            ),
        ),
        ("Ignore", None),
    ] {
        let text = configuration("Validating", "a", &format!("failurePolicy: {policy}"));
        let chain = chain_of(Panics, &world.configurations(&[text]));
        let outcome = run(&chain).await;
        let found = outcome.result.as_ref().err().map(|status| status.message.as_str());
        assert_eq!(found, expected);
    }
}

/// Connections are kept for the next call, also by webhooks with the same address (CL-70).
#[tokio::test]
async fn connections_are_used_again() {
    let world =
        World::new(vec![("a", Box::new(|request, _| answer(AdmissionResponse::allow(request))))])
            .await;
    let chain = world.chain(&[configuration("Validating", "a", "")]);
    for _ in 0..5 {
        assert_eq!(reason(&run(&chain).await), None);
    }
    assert_eq!(world.server.connections(), 1);
}
