//! The bodies of answers. One that is not read holds little: a large list is printed while it is sent,
//! and what has to be printed before is counted.

use std::convert::Infallible;
use std::fmt;
use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use billhook_apimachinery::Status;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Frame;

use crate::budget::{Budget, Reservation, SMALL};

/// The memory that the state of a compression takes, about.
const ENCODER_BYTES: usize = 512 << 10;
/// How many parts are compressed before others get their turn.
const PARTS_AT_ONCE: usize = 64;

/// The body of an answer: at hand, made while it is sent, or a stream of events.
#[derive(Debug, Default)]
pub struct Body {
    content: Content,
    held: Reservation,
    end: Option<Instant>,
    /// Something that is dropped with the body, when that was sent, or its reader is gone.
    kept: Option<Box<dyn fmt::Debug + Send>>,
}

#[derive(Debug, Default)]
enum Content {
    #[default]
    Empty,
    Whole(Bytes),
    Parts(Box<dyn Parts>),
    Compressed(Box<Compressed>),
    Events(Box<dyn Lines>),
}

/// A body that is made part by part.
pub(crate) trait Parts: fmt::Debug + Send {
    /// Returns the next part, which is not empty; `None` after the last one.
    fn next_part(&mut self) -> Option<Bytes>;

    /// Returns how many bytes are still to come.
    fn remaining(&self) -> u64;
}

/// A body that is made line by line.
pub(crate) trait Lines: fmt::Debug + Send {
    /// Returns the next line, when there is one.
    fn poll_line(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Body::whole(text)
    }
}

impl From<Content> for Body {
    fn from(content: Content) -> Self {
        Body { content, ..Body::default() }
    }
}

impl Body {
    /// Returns when the server ends the body by itself, if it is that of a watch. What was not sent
    /// by then need not be sent any more.
    ///
    /// ```
    /// assert_eq!(billhook_apiserver::Body::from(String::new()).end(), None);
    /// ```
    pub fn end(&self) -> Option<Instant> {
        self.end
    }

    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Content::Whole(bytes.into()).into()
    }

    pub(crate) fn parts(parts: impl Parts + 'static) -> Self {
        Content::Parts(Box::new(parts)).into()
    }

    pub(crate) fn events(stream: impl Lines + 'static, end: Instant) -> Self {
        Body { end: Some(end), ..Content::Events(Box::new(stream)).into() }
    }

    /// Keeps something until the body ends.
    pub(crate) fn keep(&mut self, kept: Box<dyn fmt::Debug + Send>) {
        self.kept = Some(kept);
    }

    /// Returns the whole text, if it has an end and there is memory for it.
    pub(crate) fn gather(&mut self, budget: &Budget) -> Option<&Bytes> {
        if let Content::Parts(parts) = &mut self.content {
            let mut whole = Vec::new();
            self.held.cover(budget, usize::try_from(parts.remaining()).ok()?).ok()?;
            while let Some(part) = parts.next_part() {
                whole.extend_from_slice(&part);
            }
            self.content = Content::Whole(whole.into());
        }
        match &self.content {
            Content::Whole(text) => Some(text),
            _ => None,
        }
    }

    /// Counts the bytes that are held until they are sent.
    ///
    /// # Errors
    ///
    /// If other answers that are not read hold too many.
    pub(crate) fn hold(&mut self, budget: &Budget) -> Result<(), Status> {
        match &self.content {
            Content::Whole(bytes) => self.held.cover(budget, bytes.len()),
            _ => Ok(()),
        }
    }

    /// Returns the body compressed, if it is larger than some bytes and there is memory for it.
    pub(crate) fn compressed(&mut self, larger_than: usize, budget: &Budget) -> Option<Body> {
        match std::mem::take(&mut self.content) {
            Content::Whole(bytes) if bytes.len() > larger_than => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                let compressed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
                self.content = Content::Whole(bytes);
                compressed.ok().map(Body::whole)
            }
            Content::Parts(parts) if parts.remaining() > larger_than as u64 => {
                let Ok(held) = budget.reserve(ENCODER_BYTES) else {
                    self.content = Content::Parts(parts);
                    return None;
                };
                let encoder = GzEncoder::new(Vec::new(), Compression::fast());
                let compressed = Compressed { parts, encoder: Some(encoder) };
                Some(Body { held, ..Content::Compressed(Box::new(compressed)).into() })
            }
            content => {
                self.content = content;
                None
            }
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = match &mut self.content {
            Content::Empty => Poll::Ready(None),
            // What is counted stays here until it is sent.
            Content::Whole(bytes) if bytes.len() > SMALL => {
                Poll::Ready(Some(bytes.split_to(SMALL)))
            }
            Content::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.content = Content::Empty;
                Poll::Ready(Some(bytes))
            }
            Content::Parts(parts) => Poll::Ready(parts.next_part()),
            Content::Compressed(compressed) => compressed.poll_part(context),
            Content::Events(stream) => stream.poll_line(context),
        };
        part.map(|part| part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Empty => true,
            Content::Parts(parts) => parts.remaining() == 0,
            _ => false,
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match &self.content {
            Content::Empty => http_body::SizeHint::with_exact(0),
            Content::Whole(bytes) => http_body::SizeHint::with_exact(bytes.len() as u64),
            Content::Parts(parts) => http_body::SizeHint::with_exact(parts.remaining()),
            Content::Compressed(_) | Content::Events(_) => http_body::SizeHint::new(),
        }
    }
}

/// A body that is compressed while it is sent.
struct Compressed {
    parts: Box<dyn Parts>,
    /// `None` after the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl fmt::Debug for Compressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressed").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl Compressed {
    fn poll_part(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(encoder) = &mut self.encoder else { return Poll::Ready(None) };
        for _ in 0..PARTS_AT_ONCE {
            // Writing to memory does not fail.
            let is_written =
                self.parts.next_part().is_some_and(|it| encoder.write_all(&it).is_ok());
            if !is_written {
                let rest = self.encoder.take().and_then(|encoder| encoder.finish().ok());
                return Poll::Ready(rest.map(Bytes::from));
            }
            if encoder.get_ref().len() >= SMALL {
                return Poll::Ready(Some(std::mem::take(encoder.get_mut()).into()));
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
