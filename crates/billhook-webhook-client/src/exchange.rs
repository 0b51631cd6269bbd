//! One call over HTTP: the request, its repetitions, and what the response means
//! (CL-50, CL-55 to CL-62).

use std::io::Read as _;
use std::time::Duration;

use billhook_admission::{CallFailure, WebhookAnswer};
use billhook_apimachinery::Status;
use billhook_apimachinery::print::quote;
use billhook_decode::read_json;
use flate2::read::MultiGzDecoder;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName,
    RETRY_AFTER, USER_AGENT,
};
use hyper::{Request, StatusCode};
use tokio::time::{Instant, sleep, timeout_at};

use super::connect::{Exchange, Pool};
use super::error::exchange_error;
use super::redirect::{Elsewhere, Hop, MAX_REDIRECTS};

/// The longest that a call may take, even if the webhook allows more (DI-50).
pub(super) const MAX_CALL: Duration = Duration::from_secs(30);
/// How often one call may be repeated because the webhook asks for it (CL-62).
const MAX_REPETITIONS: usize = 10;
/// How much of the body of a refusal is shown (CL-56).
const MAX_SHOWN: usize = 2048;

/// The state that all calls of a webhook share.
pub(super) struct Endpoint<'e> {
    /// The name of the webhook.
    pub(super) hook: &'e str,
    pub(super) pool: &'e Pool,
    /// The headers that only the webhook itself gets.
    pub(super) headers: HeaderMap,
    pub(super) max_response: usize,
    /// The way to other servers that the webhook redirects to; none if it may not (CL-61).
    pub(super) elsewhere: Option<&'e Elsewhere>,
}

/// A response that was read.
struct Response {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// How the exchange failed on the way.
enum Failure {
    /// Before there was a response: the URL, which is put before the cause (CL-57), and the cause.
    Post(String, String),
    /// Everything else, complete as it is.
    Complete(CallFailure),
}

impl Endpoint<'_> {
    /// Posts a body within the time there is, and reads the answer.
    pub(super) async fn post(
        &self,
        body: Vec<u8>,
        time: Option<Duration>,
    ) -> Result<WebhookAnswer, CallFailure> {
        let limit = time.unwrap_or(MAX_CALL).min(MAX_CALL);
        let is_own_limit = time.is_none_or(|time| time > MAX_CALL);
        let url = self.pool.target().url(seconds_up(time.unwrap_or(MAX_CALL)));
        let now = Instant::now();
        let deadline = Deadline { at: now.checked_add(limit).unwrap_or(now), is_own_limit };
        self.exchange(Bytes::from(body), &url, deadline).await.map_err(|failure| match failure {
            Failure::Post(url, cause) => CallFailure::new(format!("Post {}: {cause}", quote(&url))),
            Failure::Complete(failure) => failure,
        })
    }

    async fn exchange(
        &self,
        body: Bytes,
        url: &str,
        deadline: Deadline,
    ) -> Result<WebhookAnswer, Failure> {
        let mut repetitions = 0;
        loop {
            let Response { status, headers, body } =
                self.follow(body.clone(), url, deadline).await?;
            match wait_before_repetition(status, &headers) {
                Some(wait) if repetitions < MAX_REPETITIONS => {
                    repetitions += 1;
                    timeout_at(deadline.at, sleep(wait))
                        .await
                        .map_err(|_| Failure::Post(url.to_owned(), deadline.text()))?;
                }
                _ => return interpret(status, &headers, body).map_err(Failure::Complete),
            }
        }
    }

    /// Sends a request, and again to where the webhook redirects to (CL-61).
    async fn follow(
        &self,
        body: Bytes,
        url: &str,
        deadline: Deadline,
    ) -> Result<Response, Failure> {
        let mut hop = Hop::new(url, body);
        for _ in 0..=MAX_REDIRECTS {
            let failed = |cause| Failure::Post(hop.url.clone(), cause);
            let response = self.send(&hop, deadline).await?;
            let next = self.elsewhere.and_then(|_| hop.next(response.status, &response.headers));
            match next.transpose().map_err(failed)? {
                None => return Ok(response),
                Some(next) => hop = next,
            }
        }
        let cause = format!("stopped after {MAX_REDIRECTS} redirects");
        Err(Failure::Post(hop.url, cause))
    }

    async fn send(&self, hop: &Hop, deadline: Deadline) -> Result<Response, Failure> {
        let failed = |cause| Failure::Post(hop.url.clone(), cause);
        let is_own = hop.authority() == self.pool.target().authority;
        let other = match self.elsewhere.filter(|_| !is_own) {
            Some(elsewhere) => Some(elsewhere.pool(hop.authority()).map_err(failed)?),
            None => None,
        };
        let pool = other.as_ref().unwrap_or(self.pool);
        let request = self.request(hop, is_own).map_err(failed)?;
        let Exchange { response, connection } = timeout_at(deadline.at, pool.send(request))
            .await
            .map_err(|_| failed(deadline.text()))?
            .map_err(failed)?;
        let (head, incoming) = response.into_parts();
        log_warnings(self.hook, &head.headers);
        let body = timeout_at(deadline.at, self.read(&head.headers, incoming))
            .await
            .unwrap_or_else(|_| Err(ReadFailure::Broken(deadline.text())));
        let body = body.map_err(|failure| Failure::Complete(failure.into()))?;
        pool.put(connection);
        Ok(Response { status: head.status, headers: head.headers, body })
    }

    fn request(&self, hop: &Hop, is_own: bool) -> Result<Request<Full<Bytes>>, String> {
        let mut request = Request::builder()
            .method(hop.method.clone())
            .uri(hop.path())
            .header(HOST, hop.authority())
            .header(ACCEPT, "application/json, */*")
            .header(ACCEPT_ENCODING, "gzip")
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(hop.body.clone()))
            .map_err(|error| error.to_string())?;
        // Credentials are for the webhook alone (CL-34).
        let for_others = |name: &HeaderName| *name == USER_AGENT;
        let headers = self.headers.iter().filter(|(name, _)| is_own || for_others(name));
        request.headers_mut().extend(headers.map(|(name, value)| (name.clone(), value.clone())));
        Ok(request)
    }

    /// Reads a body up to the limit (CL-59).
    async fn read(&self, headers: &HeaderMap, mut body: Incoming) -> Result<Vec<u8>, ReadFailure> {
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| {
                let cause = exchange_error(&error);
                let is_end = cause == "EOF";
                ReadFailure::Broken(if is_end { "unexpected EOF".to_owned() } else { cause })
            })?;
            if let Ok(data) = frame.into_data() {
                if bytes.len() + data.len() > self.max_response {
                    return Err(ReadFailure::TooLarge(self.max_response));
                }
                bytes.extend_from_slice(&data);
            }
        }
        let is_gzip = headers
            .get(CONTENT_ENCODING)
            .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"gzip"));
        if !is_gzip {
            return Ok(bytes);
        }
        let mut plain = Vec::new();
        let limit = self.max_response as u64 + 1;
        MultiGzDecoder::new(bytes.as_slice())
            .take(limit)
            .read_to_end(&mut plain)
            .map_err(|error| ReadFailure::Broken(error.to_string()))?;
        if plain.len() > self.max_response {
            return Err(ReadFailure::TooLarge(self.max_response));
        }
        Ok(plain)
    }
}

/// CL-60.
#[cfg(feature = "tracing")]
fn log_warnings(hook: &str, headers: &HeaderMap) {
    for text in super::warning::texts(headers) {
        tracing::warn!(webhook = hook, warning = text, "A webhook sent a warning in a header");
    }
}

#[cfg(not(feature = "tracing"))]
fn log_warnings(_: &str, _: &HeaderMap) {}

#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    /// Whether it is the client's own limit that ends the call.
    is_own_limit: bool,
}

impl Deadline {
    fn text(self) -> String {
        let note = " (Client.Timeout exceeded while awaiting headers)";
        format!("context deadline exceeded{}", if self.is_own_limit { note } else { "" })
    }
}

/// Why a body could not be read (CL-58, CL-59).
enum ReadFailure {
    Broken(String),
    TooLarge(usize),
}

impl From<ReadFailure> for CallFailure {
    fn from(failure: ReadFailure) -> Self {
        CallFailure::new(match failure {
            ReadFailure::Broken(error) => format!(
                "unexpected error when reading response body. Please retry. Original error: {error}"
            ),
            ReadFailure::TooLarge(limit) => {
                format!("the response body is larger than {limit} bytes")
            }
        })
    }
}

/// Whole seconds, rounded up (DI-51).
fn seconds_up(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// How long the webhook asks to wait before the call is repeated (CL-62).
fn wait_before_repetition(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() {
        return None;
    }
    let seconds: i64 = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// Interprets a response (CL-55).
fn interpret(
    status: StatusCode,
    headers: &HeaderMap,
    body: Vec<u8>,
) -> Result<WebhookAnswer, CallFailure> {
    let content_type = headers
        .get(CONTENT_TYPE)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let code = status.as_u16();
    if (200..=206).contains(&code) {
        let mut answer = WebhookAnswer::new("", body);
        answer.status = code;
        answer.content_type = content_type;
        return Ok(answer);
    }
    if let Ok(document) = read_json(&body)
        && let Some(status) = Status::of_failure(document.value())
        && status.status == "Failure"
    {
        return Err(CallFailure::of_status(&status));
    }
    let is_text = content_type
        .is_none_or(|name| name.is_empty() || name.to_ascii_lowercase().starts_with("text/"));
    let shown = body.get(..MAX_SHOWN).unwrap_or(&body);
    let text = String::from_utf8_lossy(shown);
    let text = if is_text { text.trim() } else { "unknown" };
    Err(CallFailure::with_code(refusal(code, text), i32::from(code)))
}

/// The text for an HTTP status (CL-55).
fn refusal(code: u16, body: &str) -> String {
    let fixed = match code {
        400 => "the server rejected our request for an unknown reason",
        401 => "the server has asked for the client to provide credentials",
        403 | 415 => body,
        404 => "the server could not find the requested resource",
        405 => "the server does not allow this method on the requested resource",
        406 if body.is_empty() || body == "unknown" => {
            "the server was unable to respond with a content type that the client supports"
        }
        406 => body,
        409 => "the server reported a conflict",
        422 => "the server rejected our request due to an error in our request",
        429 => "the server has received too many requests and has asked us to try again later",
        503 => "the server is currently unable to handle the request",
        504 => {
            "the server was unable to return a response in the time allotted, but may still be \
             processing the request"
        }
        500.. => {
            let body = quote(body);
            return format!(
                "an error on the server ({body}) has prevented the request from succeeding"
            );
        }
        _ => {
            return format!(
                "the server responded with the status code {code} but did not return more \
                 information"
            );
        }
    };
    fixed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time that is left is sent in whole seconds, rounded up (DI-51), and a call that the
    /// client itself ends says so (CL-57).
    #[test]
    fn time_is_told() {
        for (millis, expected) in [(0, 0), (1, 1), (999, 1), (1_000, 1), (1_001, 2), (10_000, 10)] {
            assert_eq!(seconds_up(Duration::from_millis(millis)), expected);
        }
        let text = |is_own_limit| Deadline { at: Instant::now(), is_own_limit }.text();
        assert_eq!(text(false), "context deadline exceeded");
        assert!(text(true).starts_with("context deadline exceeded ("));
    }
}
