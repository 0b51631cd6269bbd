//! One connection, over HTTP/1.1 or HTTP/2.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use billhook_apimachinery::Status;
use http::{HeaderValue, Request, Version, header};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use super::Closing;
use super::answers::{Answer, Streams};
use super::authority::HTTP2;
use super::certificates::ClientAuthorities;
use super::gate::{Gate, Peer};
use super::patience::{End, Patient};
use super::websocket::{Events, Offer};
use crate::front::Front;

/// How long a client may take for a handshake, or for the headers of a request.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// How much longer than a request may take its body and its answer may take together.
const BODY_TIME: Duration = Duration::from_secs(1);
/// How long a connection is kept from which no request with the token came.
const STRANGER_TIME: Duration = Duration::from_secs(10);
/// How many bytes the headers of a request have at most.
const MAX_HEADERS: u32 = 64 << 10;
/// How many requests of a connection are answered at the same time; watches are among them.
const MAX_STREAMS: u32 = 250;
/// How many requests may be taken back before they are begun; one more ends the connection.
const MAX_RESET: usize = 20;
/// How many bytes of one request, and of all of a connection, may come before they are read.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// The settings of all connections of a listener.
pub(super) struct Settings {
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) clients: Option<Arc<ClientAuthorities>>,
    pub(super) gate: Box<dyn Gate>,
    /// How long a request may take until its answer begins (RE-22).
    pub(super) request_time: Duration,
}

/// The client of a connection.
#[derive(Clone)]
pub(super) struct Client {
    front: Front,
    address: IpAddr,
    settings: Arc<Settings>,
    /// Whether a request was admitted.
    is_known: Arc<AtomicBool>,
    /// When the answer that is being sent ends, if there is but one at a time.
    end: End,
    /// The answers that are being sent, if there may be several.
    streams: Streams,
    /// The events that take the place of further answers.
    events: Arc<Mutex<Option<Events>>>,
}

impl Client {
    pub(super) fn new(front: Front, address: IpAddr, settings: &Arc<Settings>) -> Self {
        Client {
            front,
            address,
            settings: Arc::clone(settings),
            is_known: Arc::default(),
            end: End::default(),
            streams: Streams::default(),
            events: Arc::default(),
        }
    }

    /// Waits until the client has had its time to make a request that is admitted, if it did not.
    async fn stranger(&self, time: Duration) {
        tokio::time::sleep(time).await;
        if self.is_known.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }

    fn events(&self) -> MutexGuard<'_, Option<Events>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(
        mut self,
        mut request: Request<Incoming>,
        peer: Arc<Peer>,
    ) -> Result<http::Response<Answer>, Infallible> {
        let version = request.version();
        match self.settings.gate.admit(&request, &peer) {
            Err(status) => {
                self.end.set(None);
                let mut response = self.front.server().refuse(request.into_parts().0, &status);
                if self.settings.gate.turns_strangers_away() && version != Version::HTTP_2 {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(header::CONNECTION, close);
                }
                return Ok(response.map(Answer::new));
            }
            Ok(Some(user)) => drop(request.extensions_mut().insert(user)),
            Ok(None) => {}
        }
        request.extensions_mut().insert(self.address);
        self.is_known.store(true, Ordering::Relaxed);
        let offer = Offer::of(&mut request);
        // Of the time that a request may take the server says itself that it is over.
        let time = self.settings.request_time.saturating_add(BODY_TIME);
        let mut answer = match tokio::time::timeout(time, self.front.answer(request)).await {
            Ok(answer) => answer,
            Err(_) => {
                self.front.server().refuse(Request::new(()).into_parts().0, &Status::timeout())
            }
        };
        self.end.set(answer.body().end().filter(|_| version != Version::HTTP_2));
        if let Some(events) = offer.and_then(|offer| offer.accept(&mut answer)) {
            *self.events() = Some(events);
        }
        Ok(answer.map(|body| {
            let body = Answer::new(body);
            if version == Version::HTTP_2 { body.of_stream(&self.streams) } else { body }
        }))
    }
}

/// Serves a connection until it ends; what goes wrong with it does not affect the others.
pub(super) async fn serve(stream: TcpStream, client: Client, closing: Closing) {
    let _ = stream.set_nodelay(true);
    let settings = Arc::clone(&client.settings);
    let time = match settings.gate.turns_strangers_away() {
        true => STRANGER_TIME,
        false => HEADER_TIME,
    };
    let stream = Patient::new(stream, client.end.clone());
    let stranger = client.clone();
    let serve = async {
        let Some(acceptor) = &settings.tls else {
            return http1(stream, client, Peer::Unknown, closing).await;
        };
        let handshake = tokio::time::timeout(HEADER_TIME, acceptor.accept(stream)).await;
        let Ok(Ok(stream)) = handshake else { return };
        let (_, session) = stream.get_ref();
        let peer = match (&settings.clients, session.peer_certificates()) {
            (Some(clients), Some(chain)) => clients.identify(chain),
            _ => Peer::Unknown,
        };
        match session.alpn_protocol() {
            Some(HTTP2) => http2(stream, client, peer, closing).await,
            _ => http1(stream, client, peer, closing).await,
        }
    };
    tokio::select! {
        () = serve => {}
        () = stranger.stranger(time) => {}
    }
}

async fn http1(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    peer: Peer,
    mut closing: Closing,
) {
    let peer = Arc::new(peer);
    let asked = client.clone();
    let service = service_fn(move |request| asked.clone().answer(request, Arc::clone(&peer)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(MAX_HEADERS as usize)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let end = |connection: Pin<&mut _>| http1::UpgradeableConnection::graceful_shutdown(connection);
    serve_until(pin!(connection), &mut closing, end).await;
    let events = client.events().take();
    if let Some(events) = events {
        events.send().await;
    }
}

async fn http2(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    peer: Peer,
    mut closing: Closing,
) {
    let peer = Arc::new(peer);
    let streams = client.streams.clone();
    let service = service_fn(move |request| client.clone().answer(request, Arc::clone(&peer)));
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_header_list_size(MAX_HEADERS)
        .max_concurrent_streams(MAX_STREAMS)
        .max_pending_accept_reset_streams(MAX_RESET)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .keep_alive_interval(HEADER_TIME)
        .serve_connection(TokioIo::new(stream), service);
    let connection = pin!(connection);
    let end = |connection: Pin<&mut _>| http2::Connection::graceful_shutdown(connection);
    tokio::select! {
        () = serve_until(connection, &mut closing, end) => {}
        () = streams.stalled() => {}
    }
}

/// Serves a connection until it ends; once the server ends, until it has answered what was asked.
async fn serve_until<C: Future>(
    mut connection: Pin<&mut C>,
    closing: &mut Closing,
    end: impl FnOnce(Pin<&mut C>),
) {
    tokio::select! {
        _ = connection.as_mut() => return,
        () = closing.begins() => end(connection.as_mut()),
    }
    let _ = connection.await;
}
