//! A small HTTPS server with certificates of its own, made when it starts. What it answers is a
//! function from request to reply; a reply may also be broken on purpose.

#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "tests use this file too, and each of its users leaves something out"
)]

use std::borrow::Cow;
use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A request as the handler sees it.
#[derive(Debug)]
pub(crate) struct Received {
    /// The path of the URL.
    pub(crate) path: String,
    /// The query of the URL.
    pub(crate) query: String,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Bytes,
    /// Whether the client showed a certificate.
    pub(crate) has_certificate: bool,
}

/// A reply.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: Vec<(Cow<'static, str>, String)>,
    /// The body.
    pub(crate) body: Bytes,
    /// How many times the body is sent.
    pub(crate) times: usize,
    /// Whether the connection is closed before the end of the body is sent.
    pub(crate) is_cut: bool,
}

impl Reply {
    /// A JSON document with status 200.
    pub(crate) fn json(body: impl Into<Bytes>) -> Self {
        Reply::new(200, vec![("content-type", "application/json".to_owned())], body)
    }

    /// A reply with a status, headers and a body.
    pub(crate) fn new(
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: impl Into<Bytes>,
    ) -> Self {
        let headers = headers.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Reply { status, headers, body: body.into(), times: 1, is_cut: false }
    }
}

/// The outcome of a request in a handler: a reply, or nothing, which closes the connection.
pub(crate) type Handled = Pin<Box<dyn Future<Output = Option<Reply>> + Send>>;

/// A server that runs until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    authority: Authority,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

/// The certificate authority of a server.
#[derive(Clone, Debug)]
pub(crate) struct Authority {
    /// The authority's certificate, in PEM: the `caBundle` of webhooks.
    pub(crate) ca_bundle: String,
    /// A certificate for clients and its key, in PEM.
    pub(crate) client: (String, String),
}

impl Server {
    /// Starts a server on an address, with a certificate for some names.
    pub(crate) async fn start<H>(address: &str, names: &[&str], handler: H) -> Result<Self>
    where
        H: Fn(Received) -> Handled + Send + Sync + 'static,
    {
        let (authority, config) = certificates(names)?;
        Self::serve(address, authority, config, handler).await
    }

    /// Starts a server on an address, with a certificate in PEM that is its own authority. Whether
    /// the key belongs to it is not checked.
    pub(crate) async fn with_certificate<H>(
        address: &str,
        certificate: &str,
        key: &str,
        handler: H,
    ) -> Result<Self>
    where
        H: Fn(Received) -> Handled + Send + Sync + 'static,
    {
        let provider = Arc::new(default_provider());
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes())?];
        let private = PrivateKeyDer::from_pem_slice(key.as_bytes())?;
        let private = provider.key_provider.load_private_key(private)?;
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(CertifiedKey::new(
                chain, private,
            ))));
        let client = (certificate.to_owned(), key.to_owned());
        let authority = Authority { ca_bundle: certificate.to_owned(), client };
        Self::serve(address, authority, config, handler).await
    }

    async fn serve<H>(
        address: &str,
        authority: Authority,
        config: ServerConfig,
        handler: H,
    ) -> Result<Self>
    where
        H: Fn(Received) -> Handled + Send + Sync + 'static,
    {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        let task = tokio::spawn(accept(listener, acceptor, counter, Arc::new(handler)));
        Ok(Server { address, authority, connections, task })
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections it has had.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Its certificates.
    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An authority of its own, and what a server with a certificate of it for some names needs.
pub(crate) fn certificates(names: &[&str]) -> Result<(Authority, ServerConfig)> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let sign = |names: Vec<String>| -> Result<_> {
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(names)?.signed_by(&key, &issuer)?;
        Ok((certificate.pem(), key.serialize_pem()))
    };
    let (certificate, key) = sign(names.iter().map(|name| (*name).to_owned()).collect())?;
    let client = sign(vec!["client.example.com".to_owned()])?;

    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(issuer.pem().as_bytes())?)?;
    let provider = Arc::new(default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .allow_unauthenticated()
        .build()?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate.as_bytes())?],
            PrivateKeyDer::from_pem_slice(key.as_bytes())?,
        )?;
    Ok((Authority { ca_bundle: issuer.pem(), client }, config))
}

async fn accept<H>(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    connections_so_far: Arc<AtomicUsize>,
    handler: Arc<H>,
) where
    H: Fn(Received) -> Handled + Send + Sync + 'static,
{
    // The connections end with the server.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections_so_far.fetch_add(1, Ordering::Relaxed);
        let (acceptor, handler) = (acceptor.clone(), handler.clone());
        connections.spawn(async move {
            // A client that gives up does not concern of the others.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let has_certificate = stream.get_ref().1.peer_certificates().is_some();
            let service = service_fn(|request| serve(request, has_certificate, &*handler));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn serve<H>(
    request: Request<Incoming>,
    has_certificate: bool,
    handler: &H,
) -> Result<Response<Sending>>
where
    H: Fn(Received) -> Handled,
{
    let (head, body) = request.into_parts();
    let received = Received {
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body: body.collect().await?.to_bytes(),
        has_certificate,
    };
    let reply = handler(received).await.ok_or("the connection is to be closed")?;
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(name.as_ref(), value);
    }
    let Reply { body, times, is_cut, .. } = reply;
    Ok(response.body(Sending { body, left: times, is_cut, is_flushed: false })?)
}

/// The body of a reply on its way.
struct Sending {
    body: Bytes,
    left: usize,
    is_cut: bool,
    is_flushed: bool,
}

impl Body for Sending {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, io::Error>>> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Poll::Ready(Some(Ok(Frame::data(self.body.clone()))))
            }
            None if self.is_cut && !self.is_flushed => {
                // What was sent so far leaves before the connection is closed.
                self.is_flushed = true;
                context.waker().wake_by_ref();
                Poll::Pending
            }
            None if self.is_cut => Poll::Ready(Some(Err(io::ErrorKind::ConnectionAborted.into()))),
            None => Poll::Ready(None),
        }
    }
}
