//! Connections to one webhook, kept for the next call (CL-45, CL-70).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::connector::Connector;
use super::error::{exchange_error, handshake_error};
use super::resolve::ServiceResolver;
use super::target::{Target, join};

const DIAL_TIMEOUT: Duration = Duration::from_secs(30);
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
const MAX_IDLE: usize = 25;
/// The most bytes of the head of a response, and the most headers (CL-59).
const MAX_HEAD: usize = 1 << 20;
const MAX_HEADERS: usize = 20_000;

type Body = Full<Bytes>;

/// The ways to webhooks.
#[derive(Clone)]
pub(super) struct Network {
    pub(super) resolver: Arc<dyn ServiceResolver>,
    pub(super) service_connector: Arc<dyn Connector>,
    pub(super) url_connector: Arc<dyn Connector>,
}

/// The connections to one target.
pub(super) struct Pool {
    target: Target,
    network: Network,
    tls: TlsConnector,
    server_name: ServerName<'static>,
    /// The ones that wait for the next call, the one that waits longest first.
    idle: Mutex<VecDeque<(SendRequest<Body>, Instant)>>,
}

/// An answer, and the connection it came by, which can be used again once the body is read.
pub(super) struct Exchange {
    pub(super) response: hyper::Response<Incoming>,
    pub(super) connection: SendRequest<Body>,
}

impl Pool {
    pub(super) fn new(
        target: Target,
        network: Network,
        tls: Arc<ClientConfig>,
    ) -> Result<Self, String> {
        let server_name = ServerName::try_from(target.host.clone())
            .map_err(|_| format!("invalid server name \"{}\"", target.host))?;
        let idle = Mutex::new(VecDeque::new());
        Ok(Pool { target, network, tls: TlsConnector::from(tls), server_name, idle })
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Sends a request, by a connection that waits for one if possible. If the webhook closed
    /// that before anything was sent, by another.
    pub(super) async fn send(&self, mut request: Request<Body>) -> Result<Exchange, String> {
        while let Some(mut connection) = self.take() {
            if connection.ready().await.is_err() {
                continue;
            }
            match connection.try_send_request(request).await {
                Ok(response) => return Ok(Exchange { response, connection }),
                Err(mut refused) => match refused.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(exchange_error(refused.error())),
                },
            }
        }
        let mut connection = self.connect().await?;
        let response = connection.send_request(request).await;
        let response = response.map_err(|error| exchange_error(&error))?;
        Ok(Exchange { response, connection })
    }

    /// Keeps a connection for the next call.
    pub(super) fn put(&self, connection: SendRequest<Body>) {
        if connection.is_closed() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(connection, since)| {
            !connection.is_closed() && since.elapsed() < IDLE_TIMEOUT
        });
        if idle.len() < MAX_IDLE {
            idle.push_back((connection, Instant::now()));
        }
    }

    fn take(&self) -> Option<SendRequest<Body>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((connection, since)) = idle.pop_back() {
            if !connection.is_closed() && since.elapsed() < IDLE_TIMEOUT {
                return Some(connection);
            }
        }
        None
    }

    async fn connect(&self) -> Result<SendRequest<Body>, String> {
        let network = &self.network;
        let (address, connector) = match &self.target.service {
            Some(service) => (
                network.resolver.resolve(service).map_err(|error| error.to_string())?,
                &network.service_connector,
            ),
            None => (join(&self.target.host, self.target.port), &network.url_connector),
        };
        let stream = timeout(DIAL_TIMEOUT, connector.connect(&address))
            .await
            .map_err(|_| format!("dial tcp {address}: i/o timeout"))?
            .map_err(|error| error.to_string())?;
        let handshake = self.tls.connect(self.server_name.clone(), stream);
        let stream = timeout(HANDSHAKE_TIMEOUT, handshake)
            .await
            .map_err(|_| "net/http: TLS handshake timeout".to_owned())?
            .map_err(|error| handshake_error(&error))?;
        let (connection, driver) = http1::Builder::new()
            .max_buf_size(MAX_HEAD)
            .max_headers(MAX_HEADERS)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| exchange_error(&error))?;
        // It ends when the sending half is dropped or the webhook closes the connection; what
        // goes wrong is reported to the caller that waits for an answer.
        tokio::spawn(async move {
            let _ = driver.await;
        });
        Ok(connection)
    }
}
