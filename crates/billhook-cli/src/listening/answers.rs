//! The bodies of answers on their way out: clients that do not read keep no answer.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use billhook_apiserver::Body;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Bytes;

/// The most bytes that are handed over at once, so that the rest is kept, and counted, here.
const PIECE: usize = 16 << 10;
/// How long nothing of an answer may be taken while more of it is there.
const UNREAD_TIME: Duration = Duration::from_secs(30);

/// The answers that are being sent through one connection, and since when each was not asked for
/// more.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    since: BTreeMap<u64, Instant>,
}

impl Streams {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a client leaves an answer unread for too long.
    pub(super) async fn stalled(&self) {
        loop {
            tokio::time::sleep(UNREAD_TIME / 4).await;
            let waiting = self.waiting();
            if waiting.since.values().any(|since| since.elapsed() > UNREAD_TIME) {
                return;
            }
        }
    }
}

/// A stream of [`Streams`].
#[derive(Debug)]
struct Stream {
    all: Streams,
    number: u64,
}

impl Stream {
    fn new(all: &Streams) -> Self {
        let mut waiting = all.waiting();
        waiting.last += 1;
        Stream { all: all.clone(), number: waiting.last }
    }

    fn is_asked(&self) {
        self.all.waiting().since.remove(&self.number);
    }

    fn has_given(&self) {
        self.all.waiting().since.insert(self.number, Instant::now());
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.is_asked();
    }
}

/// The body of an answer.
pub(super) struct Answer {
    body: Body,
    /// The rest of a part of the body, which has not been handed over yet.
    rest: Bytes,
    stream: Option<Stream>,
}

impl Answer {
    /// The body of the only answer that a connection sends at a time.
    pub(super) fn new(body: Body) -> Self {
        Answer { body, rest: Bytes::new(), stream: None }
    }

    /// The body of one answer of several.
    pub(super) fn of_stream(self, streams: &Streams) -> Self {
        // Small answers are at hand, and soon gone: there is nothing to see to.
        let is_small = self.body.size_hint().upper().is_some_and(|size| size <= PIECE as u64);
        Answer { stream: (!is_small).then(|| Stream::new(streams)), ..self }
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.rest.is_empty() {
            let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
            let Some(Ok(data)) = frame.map(|frame| frame.map(Frame::into_data)) else {
                return Poll::Ready(None);
            };
            self.rest = data.unwrap_or_default();
        }
        let piece = self.rest.len().min(PIECE);
        Poll::Ready(Some(self.rest.split_to(piece)))
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(stream) = &self.stream else {
            return Pin::new(&mut self.body).poll_frame(context);
        };
        stream.is_asked();
        let piece = std::task::ready!(self.poll_piece(context));
        if let (Some(_), Some(stream)) = (&piece, &self.stream) {
            stream.has_given();
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        // A large answer only ends when it is asked for more: so its last piece is waited for, too.
        self.stream.is_none() && self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.rest.is_empty() {
            true => self.body.size_hint(),
            false => SizeHint::default(),
        }
    }
}
