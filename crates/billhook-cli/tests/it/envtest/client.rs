//! A client of a server under test: TLS, a certificate or none, HTTP/1.1 or HTTP/2.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::certificates::Pair;

pub(crate) const HTTP1: &[u8] = b"http/1.1";
pub(crate) const HTTP2: &[u8] = b"h2";

/// An answer with its whole body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}

/// A client.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    authority: CertificateDer<'static>,
    pair: Option<Pair>,
    token: Option<String>,
    protocol: &'static [u8],
}

impl Client {
    /// One that trusts an authority, and says nothing about itself.
    pub(crate) fn anonymous(address: SocketAddr, authority: &str) -> Self {
        let authority = CertificateDer::from_pem_slice(authority.as_bytes()).unwrap();
        Client { address, authority, pair: None, token: None, protocol: HTTP2 }
    }

    pub(crate) fn with_pair(&self, pair: &Pair) -> Self {
        Client { pair: Some(pair.clone()), ..self.clone() }
    }

    pub(crate) fn with_token(&self, token: &str) -> Self {
        Client { token: Some(token.to_owned()), ..self.clone() }
    }

    pub(crate) fn with_protocol(&self, protocol: &'static [u8]) -> Self {
        Client { protocol, ..self.clone() }
    }

    pub(crate) async fn connect(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match &self.pair {
            None => config.with_no_client_auth(),
            Some(pair) => {
                let chain =
                    vec![CertificateDer::from_pem_slice(pair.certificate.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(pair.key.as_bytes()).unwrap();
                config.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols = vec![self.protocol.to_vec()];
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(self.protocol));
        Ok(stream)
    }

    /// Sends a request and returns the answer as it begins.
    pub(crate) async fn open(
        &self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<http::Response<Incoming>, Box<dyn std::error::Error>> {
        let stream = TokioIo::new(self.connect().await?);
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("https://localhost{path}"))
            .header("content-type", "application/json");
        if self.protocol == HTTP1 {
            request = request.uri(path).header("host", "localhost");
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned())))?;
        if self.protocol == HTTP1 {
            let (mut sender, connection) = http1::handshake(stream).await?;
            tokio::spawn(connection);
            return Ok(sender.send_request(request).await?);
        }
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        tokio::spawn(connection);
        Ok(sender.send_request(request).await?)
    }

    pub(crate) async fn try_send(
        &self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<Answer, Box<dyn std::error::Error>> {
        let (parts, body) = self.open(method, path, body).await?.into_parts();
        let text = String::from_utf8(body.collect().await?.to_bytes().to_vec())?;
        Ok(Answer { code: parts.status.as_u16(), headers: parts.headers, text })
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        self.try_send(method, path, body).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "").await
    }

    pub(crate) async fn post(&self, path: &str, object: &Value) -> Answer {
        self.send("POST", path, &object.to_string()).await
    }

    /// Asks again until an answer has status 200, as a harness does (ET-11).
    pub(crate) async fn poll(&self, path: &str) -> Answer {
        for _ in 0..200 {
            if let Ok(answer) = self.try_send("GET", path, "").await
                && answer.code == 200
            {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("timeout waiting for process to start");
    }
}
