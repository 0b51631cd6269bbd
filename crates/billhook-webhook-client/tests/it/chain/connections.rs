//! Connections and what it takes to make them: their number, certificates, credentials that take
//! long, and repetitions that take longer (CL-40 to CL-45, CL-55, CL-62, CL-70).

use super::world::cluster;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use billhook_admission::{AdmissionResponse, RequestOptions, Stage};
use billhook_webhook_client::{HttpsCaller, Kubeconfig};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::chain::client::{chain_of, reason, run};
use crate::chain::world::{Act, Script, World, allow, configuration, create, reply};
use crate::server::Reply;

/// Certificates of another time are refused.
#[tokio::test]
async fn certificates_have_their_time() {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    for (from, to) in [(2001, 2002), (4001, 4002)] {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from_pem_slice(certificate.pem().as_bytes()).unwrap()],
                PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap(),
            )
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            assert!(acceptor.accept(stream).await.is_err());
        });
        let world = World::new(vec![]).await;
        let mut configurations = world.configurations(&[configuration("Validating", "a", "")]);
        let config = &mut configurations[0].webhooks[0].client_config;
        config.service = None;
        config.url = Some(format!("https://localhost:{port}"));
        config.ca_bundle = issuer.pem().into_bytes();
        let found = reason(&run(&chain_of(HttpsCaller::default(), &configurations)).await);
        let expected = format!(
            "failed to call webhook: Post \"https://localhost:{port}/?timeout=5s\": tls: failed to \
             verify certificate: x509: certificate has expired or is not yet valid"
        );
        assert_eq!(found, Some(expected));
        serving.await.unwrap();
    }
}

/// Other blocks beside the certificates of a bundle are ignored (CL-41).
#[tokio::test]
async fn bundles_may_hold_other_things() {
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let authority = world.server.authority().clone();
    let mut configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let bundle = format!("words\n{}\nmore words\n{}", authority.client.1, authority.ca_bundle);
    configurations[0].webhooks[0].client_config.ca_bundle = bundle.into_bytes();
    let chain = world.chain(&[]).webhooks(&configurations);
    assert_eq!(reason(&run(&chain).await), None);
}

/// A program that gives credentials has no more time than the call.
#[tokio::test]
async fn slow_credentials_end_with_the_call() {
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let text = "users: [{name: '*', user: {exec: {apiVersion: client.authentication.k8s.io/v1, \
                command: sleep, args: ['300']}}}]";
    let config = Kubeconfig::from_slice(text.as_bytes(), Path::new("/")).unwrap();
    for (more, in_request, expected) in [
        ("timeoutSeconds: 1", 60_000, Some("could not get REST client: context deadline exceeded")),
        ("timeoutSeconds: 30", 300, Some("could not get REST client: context deadline exceeded")),
        ("timeoutSeconds: 1\nfailurePolicy: Ignore", 60_000, None),
    ] {
        let configurations = world.configurations(&[configuration("Validating", "a", more)]);
        let caller = world.caller().credentials(Stage::Validating, config.clone());
        let chain = chain_of(caller, &configurations);
        let deadline = Instant::now() + Duration::from_millis(in_request);
        let options = RequestOptions::default().deadline(deadline);
        let cluster = cluster();
        let outcome = chain.run(create(), &cluster, &options, |_, _| Ok(()));
        let outcome = tokio::time::timeout(Duration::from_secs(25), outcome).await.unwrap();
        assert_eq!(reason(&outcome).as_deref(), expected);
    }
    assert_eq!(world.calls("a"), 0);
}

/// A connection that the webhook closes after an answer is not used again.
#[tokio::test]
async fn closed_connections_are_replaced() {
    let script: Script = Box::new(|request, _| {
        let mut reply = reply(AdmissionResponse::allow(request));
        reply.headers.push(("connection".into(), "close".to_owned()));
        Act::Reply(reply)
    });
    let world = World::new(vec![("a", script)]).await;
    let chain = world.chain(&[configuration("Validating", "a", "")]);
    for number in 1..=3 {
        assert_eq!(reason(&run(&chain).await), None);
        assert_eq!(world.server.connections(), number);
    }
}

/// Webhooks that differ in what their address is made of have clients of their own, two hundred
/// of them in a stage; the name of a webhook makes no difference, and stages share nothing (CL-70).
#[tokio::test]
async fn clients_are_kept_by_address() {
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let base = world.configurations(&[configuration("Validating", "a", "")]).remove(0);
    let caller = Arc::new(world.caller());
    let ask = async |name: &str, port: i32, stage: Stage| {
        let mut configuration = base.clone();
        if stage == Stage::Mutating {
            configuration.kind = billhook::webhook::ConfigurationKind::Mutating;
        }
        let webhook = &mut configuration.webhooks[0];
        webhook.name = format!("{name}.example.com");
        webhook.client_config.service.as_mut().unwrap().port = Some(port);
        let outcome = run(&chain_of(Arc::clone(&caller), &[configuration])).await;
        assert_eq!(reason(&outcome), None);
        world.server.connections()
    };
    assert_eq!(ask("a", 443, Stage::Validating).await, 1);
    assert_eq!(ask("b", 443, Stage::Validating).await, 1, "the name is no part of the address");
    assert_eq!(ask("a", 443, Stage::Mutating).await, 2, "stages have connections of their own");
    for port in 1..200 {
        ask("a", port, Stage::Validating).await;
    }
    assert_eq!(ask("a", 443, Stage::Validating).await, 201, "the 200th is kept");
    assert_eq!(ask("a", 200, Stage::Validating).await, 202);
    assert_eq!(ask("a", 443, Stage::Validating).await, 202, "it was used not long ago");
    assert_eq!(ask("a", 1, Stage::Validating).await, 203, "unlike the first of the others");
}

/// Only an API status of failure replaces the text for an HTTP status (CL-55), and a repetition
/// that is asked for too late does not happen (CL-62).
#[tokio::test]
async fn refusals() {
    let status = |status: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Status","status":"{status}","message":"said so","code":418}}"#
        )
    };
    let unknown = "the server rejected our request for an unknown reason";
    for (code, after, body, expected) in [
        (400, None, status("Failure"), "said so"),
        (400, None, status("Success"), unknown),
        (400, None, status("Odd"), unknown),
        (400, None, status(""), unknown),
        (400, None, status("Failure").replace("v1", "v2"), unknown),
        (429, Some("9223372036854775807"), String::new(), "context deadline exceeded"),
        (500, Some("99999999999999999999999"), status("Failure"), "said so"),
        (500, Some("1.5"), status("Failure"), "said so"),
        (301, Some("0"), String::new(), "status code 301 but did not return more information"),
        (403, None, "not JSON".to_owned(), "not JSON"),
        (403, None, "{}".to_owned(), ": unknown"),
    ] {
        let content_type = if body.ends_with("JSON") { "Text/Plain" } else { "application/json" };
        let mut headers = vec![("content-type", content_type.to_owned())];
        headers.extend(after.map(|after| ("retry-after", after.to_owned())));
        let refusal = Reply::new(code, headers, body);
        let script: Script = Box::new(move |_, _| Act::Reply(refusal.clone()));
        let world = World::new(vec![("a", script)]).await;
        let chain = world.chain(&[configuration("Validating", "a", "timeoutSeconds: 1")]);
        let found = reason(&run(&chain).await).unwrap();
        assert!(found.ends_with(expected), "{found}");
        assert_eq!(world.calls("a"), 1);
    }
}

/// The time that is left is sent even if it is more than a call may take (DI-50, DI-51).
#[tokio::test]
async fn the_time_of_the_request_is_sent() {
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    for (own, in_request, expected) in [
        (None, Some(90), "timeout=1m30s"),
        (None, Some(34), "timeout=34s"),
        (None, None, "timeout=30s"),
        (Some(7), None, "timeout=7s"),
        (Some(7), Some(90), "timeout=7s"),
        (Some(30), Some(12), "timeout=12s"),
    ] {
        let mut configurations = world.configurations(&[configuration("Validating", "a", "")]);
        configurations[0].webhooks[0].timeout_seconds = own;
        let now = Instant::now();
        let chain = world.chain(&[]).webhooks(&configurations).clock(move || now);
        let options = RequestOptions::default();
        let options = match in_request {
            Some(seconds) => options.deadline(now + Duration::from_secs(seconds)),
            None => options,
        };
        assert!(chain.run(create(), &cluster(), &options, |_, _| Ok(())).await.result.is_ok());
        assert_eq!(world.seen().pop().unwrap().query, expected);
    }
}

/// A client certificate that is replaced is read again, and connections are made with it (CL-31).
#[tokio::test]
async fn certificates_of_clients_may_be_replaced() {
    let directory = std::env::temp_dir().join(format!("billhook-certs-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let world = World::new(vec![("a", Box::new(|request, _| allow(request)))]).await;
    let (certificate, key) = world.server.authority().client.clone();
    std::fs::write(directory.join("tls.crt"), &certificate).unwrap();
    std::fs::write(directory.join("tls.key"), key).unwrap();
    let text = "users: [{name: '*', user: {client-certificate: tls.crt, client-key: tls.key}}]";
    let config = Kubeconfig::from_slice(text.as_bytes(), &directory).unwrap();
    let caller = world.caller().credentials(Stage::Validating, config);
    let configurations = world.configurations(&[configuration("Validating", "a", "")]);
    let chain = chain_of(caller, &configurations);
    for connections in [1, 1] {
        assert_eq!(reason(&run(&chain).await), None);
        assert_eq!(world.server.connections(), connections);
    }
    let file = std::fs::File::options().append(true).open(directory.join("tls.crt")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(reason(&run(&chain).await), None);
    assert_eq!(world.server.connections(), 2);
    // What cannot be read now is a failed call, and no obstacle once it can (CL-71).
    std::fs::write(directory.join("tls.crt"), "none").unwrap();
    let found = reason(&run(&chain).await).unwrap();
    assert!(found.starts_with("could not get REST client: "), "{found}");
    std::fs::write(directory.join("tls.crt"), certificate).unwrap();
    assert_eq!(reason(&run(&chain).await), None);
    std::fs::remove_dir_all(&directory).unwrap();
}
