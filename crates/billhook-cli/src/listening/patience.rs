//! How long clients may leave unread what is sent to them.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// How long nothing at all may be read of what is to be sent.
const UNREAD_TIME: Duration = Duration::from_secs(30);
/// How long the rest of a watch that has finished may stay unread.
const REST_TIME: Duration = Duration::from_secs(1);

/// When the answer ends by itself that a connection sends, if it is a watch.
#[derive(Clone, Debug, Default)]
pub(super) struct End(Arc<Mutex<Option<Instant>>>);

impl End {
    pub(super) fn set(&self, end: Option<std::time::Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = end.map(Instant::from_std);
    }

    fn get(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that fails when its client does not read for too long.
#[derive(Debug)]
pub(super) struct Patient {
    stream: TcpStream,
    end: End,
    /// Since when nothing was read.
    since: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl Patient {
    pub(super) fn new(stream: TcpStream, end: End) -> Self {
        Patient { stream, end, since: None, timer: Box::pin(sleep(UNREAD_TIME)) }
    }

    fn check<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.since = None;
            return written;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        let unread = later(since, UNREAD_TIME);
        let limit = match self.end.get() {
            Some(end) => unread.min(later(end.max(since), REST_TIME)),
            None => unread,
        };
        self.timer.as_mut().reset(limit);
        if self.timer.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        // The system would keep the unread rest for minutes.
        let _ = self.stream.set_zero_linger();
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

fn later(begin: Instant, duration: Duration) -> Instant {
    begin.checked_add(duration).unwrap_or(begin)
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.check(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
