//! Connections: who may have one, what they may ask for, and how they end.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use billhook_apimachinery::Status;
use billhook_apiserver::{Body, Response, Server};
use http::{Request, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_service::Service as _;

use super::tls::Identity;

/// How long a client may take for a handshake, or for the headers of a request.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// How long a request may take until its answer begins (RE-22).
const REQUEST_TIME: Duration = Duration::from_secs(60);
/// How many bytes the headers of a request have at most.
const MAX_HEADERS: usize = 64 << 10;
/// How long requests may go on when the server ends; watches do not end by themselves.
const GRACE: Duration = Duration::from_secs(1);

/// A listening server.
pub(super) struct Listener {
    listener: TcpListener,
    identity: Option<Identity>,
    token: Option<String>,
    connections: Arc<Semaphore>,
}

impl Listener {
    pub(super) fn new(
        listener: TcpListener,
        identity: Option<Identity>,
        token: Option<String>,
        max_connections: usize,
    ) -> Self {
        let connections = max_connections.clamp(1, Semaphore::MAX_PERMITS);
        Listener { listener, identity, token, connections: Arc::new(Semaphore::new(connections)) }
    }

    /// Serves until the end comes.
    pub(super) async fn run(self, server: Server, end: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let token: Option<Arc<str>> = self.token.as_deref().map(Arc::from);
        tokio::pin!(end);
        loop {
            let accept = async {
                // Others wait in the queue of the system.
                let permit = Arc::clone(&self.connections).acquire_owned().await;
                (self.listener.accept().await, permit)
            };
            let (accepted, permit) = tokio::select! {
                () = &mut end => break,
                accepted = accept => accepted,
            };
            let Ok((stream, _)) = accepted else {
                // There are no more file descriptors, for the time being.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let watcher = graceful.watcher();
            let (server, token) = (server.clone(), token.clone());
            let acceptor = self.identity.as_ref().map(|identity| identity.acceptor.clone());
            tokio::spawn(async move {
                let _permit = permit;
                let _ = stream.set_nodelay(true);
                match acceptor {
                    None => connection(stream, server, token, watcher).await,
                    Some(acceptor) => {
                        let handshake = tokio::time::timeout(HEADER_TIME, acceptor.accept(stream));
                        if let Ok(Ok(stream)) = handshake.await {
                            connection(stream, server, token, watcher).await;
                        }
                    }
                }
            });
        }
        drop(self.listener);
        let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
    }
}

/// Serves a connection until it ends; what goes wrong with it concerns nobody else.
async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    server: Server,
    token: Option<Arc<str>>,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let service = service_fn(move |request| answer(server.clone(), token.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let _ = watcher.watch(connection).await;
}

async fn answer(
    mut server: Server,
    token: Option<Arc<str>>,
    request: Request<Incoming>,
) -> Result<Response, Infallible> {
    if !is_allowed(token.as_deref(), &request) {
        return Ok(failure(&Status::failure(401, "Unauthorized", "Unauthorized")));
    }
    match tokio::time::timeout(REQUEST_TIME, server.call(request)).await {
        Ok(answer) => answer,
        Err(_) => Ok(failure(&Status::timeout())),
    }
}

/// Whether a request has the token; how long the answer takes says nothing about it.
fn is_allowed(token: Option<&str>, request: &Request<Incoming>) -> bool {
    let Some(token) = token else { return true };
    let header = request.headers().get(header::AUTHORIZATION);
    let header = header.map_or(&[][..], |header| header.as_bytes());
    let Some((scheme, given)) = header.split_at_checked("Bearer ".len()) else { return false };
    let differences = given.iter().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    scheme.eq_ignore_ascii_case(b"Bearer ") && given.len() == token.len() && differences == 0
}

fn failure(status: &Status) -> Response {
    let code = u16::try_from(status.code).ok().and_then(|code| StatusCode::from_u16(code).ok());
    let mut response =
        http::Response::new(Body::from(billhook::to_json(&status.to_value()) + "\n"));
    *response.status_mut() = code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Returns what waits for a signal that ends programs. From now on none ends this one by itself.
#[cfg(unix)]
pub(super) fn signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub(super) fn signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
