//! Watches over WebSocket (WA-52).

use std::time::Duration;

use billhook_apiserver::{Body, Response};
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Version};
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

const PROTOCOL: HeaderValue = HeaderValue::from_static("websocket");
const VERSION: &str = "13";
/// How many bytes a message of a client has at most, of which none is looked at.
const MAX_MESSAGE: usize = 64 << 10;
const BUFFER: usize = 4 << 10;
/// How long a client may take to say that it knows of the end.
const CLOSE_TIME: Duration = Duration::from_secs(1);

/// The wish of a client to go on over WebSocket.
pub(super) struct Offer {
    upgrade: OnUpgrade,
    accept: HeaderValue,
}

impl Offer {
    /// Takes the offer of a request, if it has one.
    pub(super) fn of(request: &mut Request<Incoming>) -> Option<Self> {
        let headers = request.headers();
        let asks = request.method() == Method::GET
            && request.version() == Version::HTTP_11
            && has(headers, header::CONNECTION, "upgrade")
            && has(headers, header::UPGRADE, "websocket")
            && has(headers, header::SEC_WEBSOCKET_VERSION, VERSION);
        let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| asks)?;
        let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes())).ok()?;
        Some(Offer { upgrade: hyper::upgrade::on(request), accept })
    }

    /// Takes the body from the answer if it is that of a watch, to be sent after the answer.
    pub(super) fn accept(self, answer: &mut Response) -> Option<Events> {
        let is_text = match answer.headers().get(header::CONTENT_TYPE)?.to_str().ok()? {
            "application/json" => true,
            "application/vnd.kubernetes.protobuf;stream=watch" => false,
            _ => return None,
        };
        answer.body().end().filter(|_| answer.status() == StatusCode::OK)?;
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.remove(header::CONTENT_TYPE);
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(header::UPGRADE, PROTOCOL);
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, self.accept);
        let body = std::mem::take(answer.body_mut());
        Some(Events { upgrade: self.upgrade, body, is_text })
    }
}

/// Whether a word is among those of a header.
fn has(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let values = headers.get_all(name);
    let mut words =
        values.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    words.any(|found| found.trim().eq_ignore_ascii_case(word))
}

/// The events of a watch.
pub(super) struct Events {
    upgrade: OnUpgrade,
    body: Body,
    is_text: bool,
}

impl Events {
    /// Sends each as a message until the watch or the connection ends.
    pub(super) async fn send(mut self) {
        let Ok(upgraded) = self.upgrade.await else { return };
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER)
            .write_buffer_size(0)
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE));
        let upgraded = TokioIo::new(upgraded);
        let mut socket =
            WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config)).await;
        loop {
            tokio::select! {
                event = self.body.frame() => {
                    let Some(Ok(event)) = event else { break };
                    let message = message(event.into_data().unwrap_or_default(), self.is_text);
                    if socket.send(message).await.is_err() {
                        return;
                    }
                }
                // That it is read answers pings, and notices the end.
                received = socket.next() => if !matches!(received, Some(Ok(_))) {
                    return;
                },
            }
        }
        let close = async {
            let _ = socket.close(None).await;
            while let Some(Ok(_)) = socket.next().await {}
        };
        let _ = tokio::time::timeout(CLOSE_TIME, close).await;
    }
}

fn message(event: Bytes, is_text: bool) -> Message {
    match Utf8Bytes::try_from(event.clone()) {
        Ok(text) if is_text => Message::Text(text),
        _ => Message::Binary(event),
    }
}
