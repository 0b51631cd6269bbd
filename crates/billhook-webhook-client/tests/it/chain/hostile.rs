//! Webhooks that mean no good: on the wire and in what they answer. The result is always that of
//! a failed call, or of a patch that cannot be applied, and never takes much memory.

use super::world::cluster;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use allocation_counter::measure;
use billhook_admission::{AdmissionRequest, AdmissionResponse, ChainOutcome, RequestOptions};
use billhook_webhook_client::HttpsCaller;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::chain::answers::ask;
use crate::chain::client::{chain_of, reason};
use crate::chain::world::{Act, Script, World, answer, configuration, create, reply};
use crate::server::{Authority, Reply, certificates};

/// Either a TLS connection or the bare one below it.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Talk = fn(Box<dyn Stream>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// A server that says what it wants, over TLS or without.
struct Raw {
    port: u16,
    authority: Authority,
    /// The connections end with it.
    _tasks: JoinSet<()>,
}

impl Raw {
    async fn start(over_tls: bool, talk: Talk) -> Raw {
        let (authority, config) = certificates(&["localhost"]).unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let acceptor = acceptor.clone();
                connections.spawn(async move {
                    if !over_tls {
                        return talk(Box::new(stream)).await;
                    }
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    read_request(&mut stream).await;
                    talk(Box::new(stream)).await;
                });
            }
        });
        Raw { port, authority, _tasks: tasks }
    }
}

/// Reads up to the end of the review, which is the only thing that ends in two braces.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) {
    let mut seen = Vec::new();
    let mut part = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut part).await {
        seen.extend_from_slice(&part[..length]);
        if seen.ends_with(b"}}") {
            return;
        }
    }
}

/// Sends a text, and keeps the connection open.
macro_rules! says {
    ($text:expr) => {
        |mut stream| {
            Box::pin(async move {
                let _ = stream.write_all($text.as_ref()).await;
                let _ = stream.flush().await;
                std::future::pending().await
            })
        }
    };
}

/// Sends a beginning and then the same for ever, with a pause in between.
macro_rules! repeats {
    ($start:expr, $part:expr, $pause:expr) => {
        |mut stream| {
            Box::pin(async move {
                let _ = stream.write_all($start.as_ref()).await;
                while stream.write_all($part.as_ref()).await.is_ok() {
                    let _ = stream.flush().await;
                    match $pause {
                        0 => tokio::task::yield_now().await,
                        millis => tokio::time::sleep(Duration::from_millis(millis)).await,
                    }
                }
            })
        }
    };
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
/// The memory that one of these webhooks may make us hold at a time.
const MAX_HELD: u64 = 16 * 1024 * 1024;

/// Runs a test in a runtime of its own and gives what it held in memory at most, the server's part
/// included.
fn held(test: impl Future<Output = ()>) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut test = Some(Box::pin(test));
    let info = measure(|| {
        if let Some(test) = test.take() {
            runtime.block_on(test);
        }
    });
    info.bytes_max
}

#[test]
fn talk_that_is_no_answer() {
    let post = "Post \"https://localhost:PORT/?timeout=3s\": ";
    let late = "context deadline exceeded";
    let body = "unexpected error when reading response body. Please retry. Original error: ";
    let any = "";
    // The answer, over TLS or without, and how the reason begins after `failed to call webhook`,
    // and how it ends.
    let table: Vec<(&str, bool, Talk, &str, &str)> = vec![
        ("nothing", true, says!(""), post, late),
        ("nothing, not even a handshake", false, says!(""), post, late),
        ("no TLS", false, says!("HTTP/1.1 400 Bad Request\r\n\r\nno TLS"), post, any),
        ("noise for TLS", false, says!([0xff; 9000]), post, any),
        ("endless noise for TLS", false, repeats!([22, 3, 3], [7; 4096], 0), post, any),
        ("a handshake without end", false, repeats!([22, 3, 3, 64, 0, 2], [0], 5), post, any),
        ("no HTTP", true, says!("hello\r\n\r\n"), post, any),
        ("headers without end", true, repeats!(OK, "x-more: of the same\r\n", 0), post, any),
        (
            "a header without end",
            true,
            repeats!("HTTP/1.1 200 OK\r\nx: ", [b'y'; 4096], 0),
            post,
            any,
        ),
        ("a status without end", true, repeats!("HTTP/1.1 200 ", [b'K'; 4096], 0), post, any),
        ("headers that trickle", true, repeats!(OK, "x", 20), post, late),
        ("it goes on for ever", true, repeats!("", "HTTP/1.1 100 Continue\r\n\r\n", 0), post, any),
        (
            "a body that trickles",
            true,
            repeats!(format!("{OK}content-length: 100000\r\n\r\n"), " ", 20),
            body,
            late,
        ),
        (
            "half a body",
            true,
            |mut stream| {
                Box::pin(async move {
                    let text = format!("{OK}content-length: 100\r\n\r\n{{");
                    let _ = stream.write_all(text.as_bytes()).await;
                    let _ = stream.shutdown().await;
                })
            },
            body,
            "unexpected EOF",
        ),
        (
            "half a header",
            true,
            |mut stream| {
                Box::pin(async move {
                    let _ = stream.write_all(OK.as_bytes()).await;
                    let _ = stream.shutdown().await;
                })
            },
            post,
            "EOF",
        ),
        (
            "a body that does not come",
            true,
            says!(format!("{OK}content-length: 100\r\n\r\n{{")),
            body,
            late,
        ),
        (
            "a length beyond measure",
            true,
            says!(format!("{OK}content-length: 99999999999999999999999\r\n\r\n{{")),
            post,
            any,
        ),
        (
            "the largest length",
            true,
            repeats!(format!("{OK}content-length: 18446744073709551613\r\n\r\n"), [b' '; 65536], 0),
            "the response body is larger than 4194304 bytes",
            any,
        ),
        (
            "two lengths",
            true,
            says!(format!("{OK}content-length: 2\r\ncontent-length: 3\r\n\r\n{{}}")),
            post,
            any,
        ),
        (
            "no chunks",
            true,
            says!(format!("{OK}transfer-encoding: chunked\r\n\r\nzz\r\nno chunk")),
            body,
            any,
        ),
        (
            "a chunk that is too long",
            true,
            says!(format!("{OK}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n")),
            body,
            any,
        ),
        (
            "chunks without end",
            true,
            repeats!(format!("{OK}transfer-encoding: chunked\r\n\r\n"), "1\r\n \r\n", 0),
            "",
            any,
        ),
        (
            "a remark without end",
            true,
            repeats!(format!("{OK}transfer-encoding: chunked\r\n\r\n1;"), [b'x'; 4096], 0),
            body,
            any,
        ),
        (
            "trailers without end",
            true,
            repeats!(format!("{OK}transfer-encoding: chunked\r\n\r\n0\r\n"), "x-more: x\r\n", 0),
            body,
            any,
        ),
        (
            "noise for gzip",
            true,
            says!(format!("{OK}content-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello")),
            body,
            any,
        ),
    ];
    // Most of them wait for the time to pass.
    std::thread::scope(|scope| {
        for (name, over_tls, talk, start, end) in table {
            scope.spawn(move || {
                let held = held(fails(name, over_tls, talk, start, end));
                assert!(held < MAX_HELD, "{name}: {held} bytes");
            });
        }
    });
}

/// A webhook that talks so cannot be asked, which is for the failure policy.
async fn fails(name: &str, over_tls: bool, talk: Talk, start: &str, end: &str) {
    let raw = Raw::start(over_tls, talk).await;
    let world = World::new(vec![]).await;
    for policy in ["Fail", "Ignore"] {
        let more = format!("timeoutSeconds: 3\nfailurePolicy: {policy}");
        let mut configurations = world.configurations(&[configuration("Validating", "a", &more)]);
        let config = &mut configurations[0].webhooks[0].client_config;
        config.service = None;
        config.url = Some(format!("https://localhost:{}", raw.port));
        config.ca_bundle = raw.authority.ca_bundle.clone().into_bytes();
        let chain = chain_of(HttpsCaller::default(), &configurations);
        let options = RequestOptions::default();
        let cluster = cluster();
        let outcome = chain.run(create(), &cluster, &options, |_, _| Ok(()));
        let outcome = tokio::time::timeout(Duration::from_secs(60), outcome).await;
        let found = reason(&outcome.expect(name));
        if policy == "Ignore" {
            assert_eq!(found, None, "{name}");
            continue;
        }
        let found = found.unwrap().replace(&raw.port.to_string(), "PORT");
        let start = format!("failed to call webhook: {start}");
        assert!(found.starts_with(&start), "{name}: {found}");
        assert!(found.ends_with(end), "{name}: {found}");
        assert!(found.len() < 1000, "{name}: {found}");
    }
}

/// Answers that are much larger than they should be (CL-59), plain and compressed.
#[test]
fn large_answers_are_not_held() {
    let gzip = |size: usize| {
        use std::io::Write as _;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        let part = vec![b' '; 1024 * 1024];
        for _ in 0..size / part.len() {
            encoder.write_all(&part).unwrap();
        }
        encoder.finish().unwrap()
    };
    let json = ("content-type", "application/json".to_owned());
    let compressed = |body: Vec<u8>| {
        let encoding = ("content-encoding", "gzip".to_owned());
        Reply::new(200, vec![json.clone(), encoding], body)
    };
    let bomb = gzip(64 * 1024 * 1024);
    let half = bomb[..bomb.len() / 2].to_vec();
    let plain = vec![b' '; 64 * 1024];
    for (name, reply) in [
        ("100 MB", Reply { times: 1600, ..Reply::json(plain.clone()) }),
        ("100 MB with an error", Reply { times: 1600, status: 500, ..Reply::json(plain) }),
        ("64 MB compressed", compressed(bomb)),
        ("half of it", compressed(half)),
    ] {
        let held = held(async move {
            let script: Script = Box::new(move |_, _| Act::Reply(reply.clone()));
            let (outcome, ..) = ask("Mutating", "", script, create()).await;
            assert_eq!(
                reason(&outcome).unwrap(),
                "failed to call webhook: the response body is larger than 4194304 bytes",
                "{name}"
            );
        });
        assert!(held < MAX_HELD, "{name}: {held} bytes");
    }
}

fn nested(levels: usize) -> String {
    format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
}

/// Reviews that are deep or odd: read on the stack of a test thread, 2 MiB.
#[tokio::test]
async fn odd_reviews() {
    let couldnt = "couldn't get version/kind; json parse error: ";
    let invalid = "json: cannot unmarshal ";
    let deep = nested(9_990);
    let too_deep = nested(10_001);
    let of = |response: &str| {
        format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{response}}}"#
        )
    };
    let with = |more: &str| of(&format!(r#"{{"uid":"UID","allowed":true,{more}}}"#));
    for (body, expected) in [
        (with(&format!(r#""unknown":{deep}"#)), None),
        (with("\"a\":1").replacen('{', &format!(r#"{{"request":{deep},"#), 1), None),
        (with(&format!(r#""status":{{"details":{{"unknown":{deep}}}}}"#)), None),
        (with(&format!(r#""status":{deep}"#)), Some(invalid)),
        (with(&format!(r#""warnings":{deep}"#)), Some(invalid)),
        (with(&format!(r#""warnings":[{deep}]"#)), Some(invalid)),
        (with(&format!(r#""auditAnnotations":{{"a":{deep}}}"#)), Some(invalid)),
        (with(&format!(r#""patch":{deep}"#)), Some(invalid)),
        (with(&format!(r#""unknown":{too_deep}"#)), Some(couldnt)),
        (deep.clone(), Some(couldnt)),
        ("[".repeat(1_000_000), Some("yaml: exceeded max depth of 10000")),
        (r#"{"a":"#.repeat(100_000), Some(couldnt)),
        ("\"".to_owned() + &"x".repeat(3_000_000), Some("yaml: found unexpected end of stream")),
        // A list is not an object, even if its items have the types of the fields.
        (of(r#"["UID",true]"#), Some(invalid)),
        (of(r#"["UID",true,null,"","",{},[]]"#), Some(invalid)),
        (of("true"), Some(invalid)),
        (r#"["admission.k8s.io/v1","AdmissionReview"]"#.to_owned(), Some(couldnt)),
        (with(r#""status":["Failure","m"]"#), Some(invalid)),
        (with(r#""status":{"details":["n"]}"#), Some(invalid)),
        (with(r#""status":{"details":{"causes":[["r"]]}}"#), Some(invalid)),
        (with(r#""status":{"details":{"causes":[null]}}"#), None),
        (with(r#""status":{"code":1e400}"#), Some(couldnt)),
        (with(r#""status":{"code":"403"}"#), Some(invalid)),
        (with(r#""patch":"%%%""#), Some("illegal base64 data at input byte 0")),
    ] {
        let shown: String = body.chars().take(200).collect();
        let script: Script =
            Box::new(move |request, _| Act::Reply(Reply::json(body.replace("UID", &request.uid))));
        let (outcome, ..) = ask("Validating", "", script, create()).await;
        match (reason(&outcome), expected) {
            (None, None) => {}
            (Some(found), Some(expected)) => {
                let start = format!("failed to call webhook: {expected}");
                assert!(found.starts_with(&start), "{shown}: {found}");
                assert!(found.len() < 1000, "{shown}: {found}");
            }
            (found, _) => panic!("{shown}: {found:?}"),
        }
    }
}

/// Asks a mutating webhook that answers with the text of a patch.
async fn patched(patch: String) -> ChainOutcome {
    let script: Script = Box::new(move |request: &AdmissionRequest, _| {
        let mut response = AdmissionResponse::allow(request);
        response.patch = patch.clone().into_bytes();
        response.patch_type = Some("JSONPatch".to_owned());
        answer(response)
    });
    ask("Mutating", "failurePolicy: Ignore", script, create()).await.0
}

/// Patches that want much: what cannot be applied refuses the request even under Ignore (DI-29),
/// and what can be applied is.
#[tokio::test]
async fn greedy_patches() {
    let add =
        |path: &str, value: &str| format!(r#"{{"op":"add","path":"{path}","value":{value}}}"#);
    let copy = |from: &str, to: &str| format!(r#"{{"op":"copy","from":"{from}","path":"{to}"}}"#);
    let list = |operations: Vec<String>| format!("[{}]", operations.join(","));
    // Doubles a text of a thousand characters fifty times over.
    let mut growing = vec![add("/spec/a", &format!("[\"{}\"]", "x".repeat(1000)))];
    growing.extend((0..50).map(|_| copy("/spec/a", "/spec/a/-")));
    // Doubles the depth until it would be ten million levels.
    let mut deepening = vec![add("/spec/a", &nested(5_000))];
    let mut levels = 5_000;
    for _ in 0..6 {
        deepening.push(copy("/spec/a", &format!("/spec/a{}", "/0".repeat(levels))));
        levels *= 2;
    }
    let repeated = |operation: &str, count: usize| list(vec![operation.to_owned(); count]);
    let first = vec![add("/spec/a/0", "1"); 70_000].join(",");
    let in_front = list(vec![add("/spec/a", "[]"), first]);
    let long = format!("/spec/{}", "a/".repeat(100_000));
    let prefix = "Internal error occurred: ";
    for (name, patch, expected) in [
        ("growing by copies", list(growing), Some("the copy operations of the patch create ")),
        ("deepening by copies", list(deepening), Some("exceeded max depth")),
        ("deep", list(vec![add("/spec/a", &nested(9_990))]), None),
        (
            "deeper than an object may be",
            list(vec![
                add("/spec/a", &nested(9_000)),
                add(&format!("/spec/a{}", "/0".repeat(9_000)), &nested(2_000)),
            ]),
            Some("exceeded max depth"),
        ),
        ("sixty thousand operations", repeated(&add("/spec/a", "1"), 60_000), None),
        ("as many that do nothing", repeated("{}", 600_000), Some("Unexpected kind: unknown")),
        (
            "always in front",
            in_front,
            Some(
                "error in add for path: '/spec/a/0': the patch moves more than 268435456 items of \
                 lists",
            ),
        ),
        (
            "a long way",
            list(vec![add(&long, "1")]),
            Some("add operation does not apply: doc is missing path: \"/spec/a/a/"),
        ),
        (
            "a number no object can have",
            list(vec![add("/spec/a", "1e999")]),
            Some("json: cannot unmarshal number 1e999 into Go value of type float64"),
        ),
    ] {
        let outcome = patched(patch).await;
        match (outcome.result, expected) {
            (Ok(request), None) => assert!(request.object.unwrap()["spec"]["a"] != Value::Null),
            (Err(status), Some(expected)) => {
                let start = format!("{prefix}{expected}");
                assert!(status.message.starts_with(&start), "{name}: {:.300}", status.message);
                assert_eq!(status.code, 500, "{name}");
            }
            (found, _) => panic!("{name}: {:.300}", format!("{:?}", found.err())),
        }
    }
    // Deeper than a server reads: not a patch at all, and thus for the failure policy.
    let outcome = patched(list(vec![add("/spec/a", &nested(10_000))])).await;
    assert!(outcome.result.is_ok());
}

/// A million operations are more than a body may hold; a caller that lets through many applies
/// them.
#[tokio::test]
async fn many_operations() {
    let test = r#"{"op":"test","path":"/spec/n","value":1}"#;
    for (operation, count, limit, expected) in [
        (
            "null",
            1_000_000,
            4 * 1024 * 1024,
            Some("failed to call webhook: the response body is larger than 4194304 bytes"),
        ),
        (test, 150_000, 64 * 1024 * 1024, None),
    ] {
        let patch = format!("[{}{operation}]", format!("{operation},").repeat(count - 1));
        let mut response = AdmissionResponse::allow(&AdmissionRequest::default());
        response.uid = "UID".to_owned();
        response.patch = patch.into_bytes();
        response.patch_type = Some("JSONPatch".to_owned());
        let body = String::from_utf8(reply(response).body.to_vec()).unwrap();
        // The UID stands before the patch, which might hold the same letters.
        let script: Script = Box::new(move |request: &AdmissionRequest, _| {
            Act::Reply(Reply::json(body.replacen("UID", &request.uid, 1)))
        });
        let world = World::new(vec![("a", script)]).await;
        let text = configuration("Mutating", "a", "timeoutSeconds: 30");
        let caller = world.caller().max_response(limit);
        let chain = chain_of(caller, &world.configurations(&[text]));
        let outcome =
            chain.run(create(), &cluster(), &RequestOptions::default(), |_, _| Ok(())).await;
        assert_eq!(reason(&outcome).as_deref(), expected);
        let key = "patch.webhook.admission.k8s.io/round_0_index_0";
        let noted = outcome.annotations.get(key).map(|found| found.value.matches("test").count());
        assert_eq!(noted, expected.is_none().then_some(count));
    }
}
