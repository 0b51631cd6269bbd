//! Connections: who may have one, what they may ask for, and how they end.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Semaphore;
use tower_service::Service as _;

use super::hosts::Hosts;
use super::patience::{End, Patient};
use super::tls::Identity;

/// How long a client may take for a handshake, or for the headers of a request.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// How long a request may take until its answer begins (RE-22).
const REQUEST_TIME: Duration = Duration::from_secs(60);
/// How long a connection is kept from which no request with the token came.
const STRANGER_TIME: Duration = Duration::from_secs(10);
/// How many bytes the system keeps of what a client does not read, or the server has not read yet;
/// Linux takes twice as much.
const SOCKET_BUFFER: u32 = 128 << 10;
/// How many bytes the headers of a request have at most.
const MAX_HEADERS: usize = 64 << 10;
/// How long requests may go on when the server ends; watches do not end by themselves.
const GRACE: Duration = Duration::from_secs(1);

/// Listens on an address.
pub(super) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Connections have the buffers of the socket that they come from.
    socket.set_send_buffer_size(SOCKET_BUFFER)?;
    socket.set_recv_buffer_size(SOCKET_BUFFER)?;
    socket.bind(address)?;
    socket.listen(1024)
}

/// Who may make requests.
#[derive(Debug)]
pub(super) enum Admitted {
    /// Who has the token.
    Token(String),
    /// Programs of this machine, but not web pages.
    Hosts(Hosts),
}

/// A listening server.
pub(super) struct Listener {
    listener: TcpListener,
    identity: Option<Identity>,
    admitted: Arc<Admitted>,
    connections: Arc<Semaphore>,
}

impl Listener {
    pub(super) fn new(
        listener: TcpListener,
        identity: Option<Identity>,
        admitted: Admitted,
        max_connections: usize,
    ) -> Self {
        let connections = max_connections.clamp(1, Semaphore::MAX_PERMITS);
        let connections = Arc::new(Semaphore::new(connections));
        Listener { listener, identity, admitted: Arc::new(admitted), connections }
    }

    /// Serves until the end comes.
    pub(super) async fn run(self, server: Server, end: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
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
            let client = Client::new(server.clone(), &self.admitted);
            let acceptor = self.identity.as_ref().map(|identity| identity.acceptor.clone());
            tokio::spawn(async move {
                let _permit = permit;
                let _ = stream.set_nodelay(true);
                let stranger = client.stranger();
                let stream = Patient::new(stream, client.end.clone());
                let serve = async {
                    match acceptor {
                        None => connection(stream, client, watcher).await,
                        Some(acceptor) => {
                            let accepted = acceptor.accept(stream);
                            let handshake = tokio::time::timeout(HEADER_TIME, accepted);
                            if let Ok(Ok(stream)) = handshake.await {
                                connection(stream, client, watcher).await;
                            }
                        }
                    }
                };
                tokio::select! {
                    () = serve => {}
                    () = stranger => {}
                }
            });
        }
        drop(self.listener);
        let _ = tokio::time::timeout(GRACE, graceful.shutdown()).await;
    }
}

/// The client of a connection.
#[derive(Clone)]
struct Client {
    server: Server,
    admitted: Arc<Admitted>,
    /// Whether a request was admitted, or anybody's is.
    is_known: Arc<AtomicBool>,
    /// When the answer that is being sent ends.
    end: End,
}

impl Client {
    fn new(server: Server, admitted: &Arc<Admitted>) -> Self {
        let is_known = matches!(**admitted, Admitted::Hosts(_));
        Client {
            server,
            admitted: Arc::clone(admitted),
            is_known: Arc::new(AtomicBool::new(is_known)),
            end: End::default(),
        }
    }

    /// Waits until the client has had its time to show the token, if it did not.
    fn stranger(&self) -> impl Future<Output = ()> + use<> {
        let is_known = Arc::clone(&self.is_known);
        async move {
            if !is_known.load(Ordering::Relaxed) {
                tokio::time::sleep(STRANGER_TIME).await;
            }
            if is_known.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
        }
    }

    async fn answer(mut self, request: Request<Incoming>) -> Result<Response, Infallible> {
        let refusal = match &*self.admitted {
            Admitted::Token(token) if !has_token(token, &request) => {
                Some(Status::failure(401, "Unauthorized", "Unauthorized"))
            }
            Admitted::Token(_) => None,
            Admitted::Hosts(hosts) => hosts.refusal(&request),
        };
        if let Some(status) = refusal {
            self.end.set(None);
            let mut response = failure(&status);
            let close = http::HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
            return Ok(response);
        }
        self.is_known.store(true, Ordering::Relaxed);
        let answer = match tokio::time::timeout(REQUEST_TIME, self.server.call(request)).await {
            Ok(answer) => answer?,
            Err(_) => failure(&Status::timeout()),
        };
        self.end.set(answer.body().end());
        Ok(answer)
    }
}

/// Serves a connection until it ends; what goes wrong with it does not affect the others.
async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let service = service_fn(move |request| client.clone().answer(request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let _ = watcher.watch(connection).await;
}

/// Whether a request has the token; how long the answer takes says nothing about it.
fn has_token(token: &str, request: &Request<Incoming>) -> bool {
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
