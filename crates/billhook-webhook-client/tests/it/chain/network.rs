//! How webhooks are reached: connectors and proxies, and what calls say of their trace
//! (CL-51, CL-52, OB-50).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use billhook::webhook::WebhookConfiguration;
use billhook_admission::BoxFuture;
use billhook_webhook_client::{ConnectError, Connection, Connector, Direct, Proxies, TraceContext};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::chain::client::{chain_of, reason, run};
use crate::chain::world::{World, allow, configuration};

/// A proxy that leads everything to one address, or answers with a status; it writes down what it
/// was asked.
struct Proxy {
    address: String,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    async fn start(answer: &'static str, to: String) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(client.read_u8().await.unwrap());
                }
                log.lock().unwrap().push(String::from_utf8(head).unwrap());
                client.write_all(format!("HTTP/1.1 {answer}\r\n\r\n").as_bytes()).await.unwrap();
                if answer.starts_with("200") {
                    let mut server = TcpStream::connect(&to).await.unwrap();
                    tokio::spawn(async move {
                        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                    });
                }
            }
        });
        Proxy { address, seen }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

async fn world() -> World {
    World::new(vec![("a", Box::new(|request, _| allow(request)))]).await
}

/// A webhook with a URL that only a proxy can reach.
fn by_url(world: &World, host: &str) -> Vec<WebhookConfiguration> {
    let mut configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let client_config = &mut configurations[0].webhooks[0].client_config;
    client_config.service = None;
    client_config.url = Some(format!("https://{host}/a"));
    configurations
}

#[tokio::test]
async fn urls_are_reached_through_a_proxy() {
    let world = world().await;
    let proxy =
        Proxy::start("200 Connection established", world.server.address().to_string()).await;
    let proxies = Proxies::new(&format!("http://user:secret@{}", proxy.address), "other.svc");
    let caller = world.caller().url_connector(proxies);
    let chain = chain_of(caller, &by_url(&world, "a.hooks.svc:8443"));
    for _ in 0..2 {
        assert_eq!(reason(&run(&chain).await), None);
    }
    assert_eq!(world.seen()[0].headers["host"], "a.hooks.svc:8443");
    assert!(!world.seen()[0].headers.contains_key("proxy-authorization"));
    let seen = proxy.seen();
    assert_eq!(seen.len(), 1, "the connection is kept");
    assert!(seen[0].starts_with("CONNECT a.hooks.svc:8443 HTTP/1.1\r\n"), "{}", seen[0]);
    assert!(seen[0].contains("\r\nhost: a.hooks.svc:8443\r\n"), "{}", seen[0]);
    assert!(seen[0].contains("\r\nproxy-authorization: Basic dXNlcjpzZWNyZXQ=\r\n"), "{}", seen[0]);

    // What the proxy leads to must still have the right certificate.
    let proxies = Proxies::new(&proxy.address, "");
    let caller = world.caller().url_connector(proxies);
    let found = reason(&run(&chain_of(caller, &by_url(&world, "elsewhere.org"))).await).unwrap();
    assert!(found.contains("tls: failed to verify certificate: x509: "), "{found}");
}

#[tokio::test]
async fn services_and_loopback_addresses_are_reached_directly() {
    let world = world().await;
    let proxy = Proxy::start("403 Forbidden", String::new()).await;
    let caller = || world.caller().url_connector(Proxies::new(&proxy.address, ""));
    let services = world.configurations(&[configuration("Validating", "a", "")]);
    assert_eq!(reason(&run(&chain_of(caller(), &services)).await), None);
    for host in ["localhost", "127.0.0.1"] {
        let host = format!("{host}:{}", world.server.address().port());
        assert_eq!(reason(&run(&chain_of(caller(), &by_url(&world, &host))).await), None);
    }
    assert_eq!(proxy.seen().len(), 0);
}

#[tokio::test]
async fn proxies_that_do_not_help() {
    let world = world().await;
    let refusing = Proxy::start("403 Forbidden", String::new()).await;
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
    for (proxy, expected) in [
        (refusing.address.clone(), "Forbidden".to_owned()),
        (
            format!("http://{gone}"),
            format!("proxyconnect tcp: dial tcp {gone}: connect: connection refused"),
        ),
        (
            "https://u:secret@proxy".to_owned(),
            "invalid proxy address \"https://proxy\": only proxies over HTTP are supported"
                .to_owned(),
        ),
    ] {
        let caller = world.caller().url_connector(Proxies::new(&proxy, ""));
        let found = reason(&run(&chain_of(caller, &by_url(&world, "a.hooks.svc"))).await);
        let expected = format!(
            "failed to call webhook: Post \"https://a.hooks.svc/a?timeout=5s\": {expected}"
        );
        assert_eq!(found.as_deref(), Some(&*expected), "{proxy}");
    }
    assert_eq!(world.calls("a"), 0);
}

/// The error names a proxy's fault, and a proxy that says nothing does not hold a call up beyond
/// its time.
#[tokio::test]
async fn proxies_that_misbehave() {
    let world = world().await;
    let garbage = Proxy::start("garbage", String::new()).await;
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = silent.local_addr().map(|address| (address.to_string(), silent)).unwrap();
    for (proxy, expected) in [
        (&garbage.address, "proxyconnect tcp: net/http: HTTP/1.x transport connection broken: "),
        (&silent.0, "context deadline exceeded"),
    ] {
        let mut configurations = by_url(&world, "a.hooks.svc");
        configurations[0].webhooks[0].timeout_seconds = Some(1);
        let caller = world.caller().url_connector(Proxies::new(proxy, ""));
        let found = reason(&run(&chain_of(caller, &configurations)).await).unwrap();
        let expected = format!(
            "failed to call webhook: Post \"https://a.hooks.svc/a?timeout=1s\": {expected}"
        );
        assert!(found.starts_with(&expected), "{found}");
    }
}

/// Each form has its own connector, which gets the address that would be dialled.
#[tokio::test]
async fn connectors_may_be_brought_along() {
    struct To {
        address: String,
        asked: Arc<Mutex<Vec<String>>>,
    }
    impl Connector for To {
        fn connect<'a>(
            &'a self,
            address: &'a str,
        ) -> BoxFuture<'a, Result<Box<dyn Connection>, ConnectError>> {
            self.asked.lock().unwrap().push(address.to_owned());
            Direct.connect(&self.address)
        }
    }
    let world = world().await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let to = || To { address: world.server.address().to_string(), asked: Arc::clone(&asked) };
    let caller = || {
        let resolver = |service: &str| format!("{service}.resolved:1");
        let resolver =
            billhook_webhook_client::StaticResolver::default().with("hooks", "a", &resolver("a"));
        world.caller().resolver(resolver).service_connector(to()).url_connector(to())
    };
    let services = world.configurations(&[configuration("Validating", "a", "")]);
    assert_eq!(reason(&run(&chain_of(caller(), &services)).await), None);
    assert_eq!(reason(&run(&chain_of(caller(), &by_url(&world, "a.hooks.svc"))).await), None);
    assert_eq!(*asked.lock().unwrap(), ["a.resolved:1", "a.hooks.svc:443"]);
}

#[tokio::test]
async fn calls_tell_their_trace() {
    let world = world().await;
    let configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let chain = |context: Option<TraceContext>| {
        chain_of(world.caller().trace_context(move || context.clone()), &configurations)
    };
    let context = |trace: u8, span: u8| TraceContext::new([trace; 16], [span; 8], false);
    let parent = "00-0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a-1b1b1b1b1b1b1b1b-00";
    for (context, traceparent, tracestate) in [
        (None, None, None),
        (Some(context(10, 27)), Some(parent), None),
        (Some(context(10, 27).state("a=1,b=2")), Some(parent), Some("a=1,b=2")),
        (Some(context(10, 27).state("no\nheader")), Some(parent), None),
        (Some(context(0, 27).state("a=1")), None, None),
        (Some(context(10, 0)), None, None),
    ] {
        assert_eq!(reason(&run(&chain(context)).await), None);
        let headers = world.seen().pop().unwrap().headers;
        assert_eq!(headers.get("traceparent").map(String::as_str), traceparent);
        assert_eq!(headers.get("tracestate").map(String::as_str), tracestate);
    }

    // It is asked for each call.
    let number = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&number);
    let caller = world.caller().trace_context(move || {
        let span = u8::try_from(counter.fetch_add(1, Ordering::Relaxed)).unwrap();
        Some(TraceContext::new([1; 16], [span + 1; 8], true))
    });
    let chain = chain_of(caller, &configurations);
    run(&chain).await;
    run(&chain).await;
    let parents: Vec<_> =
        world.seen().iter().rev().take(2).map(|seen| seen.headers["traceparent"].clone()).collect();
    assert!(parents[0].ends_with("-0202020202020202-01"), "{parents:?}");
    assert!(parents[1].ends_with("-0101010101010101-01"), "{parents:?}");
}
