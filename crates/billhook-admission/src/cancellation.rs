//! Requests that their client gives up (DI-13, OB-20, OB-38).

use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Tells a request that its client is gone. Calls that are under way end at once, and are recorded
/// as a server does: not as failures of the webhook. Clones belong together.
///
/// To give up a request without any record, its future may be dropped.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Inner>);

#[derive(Default)]
struct Inner {
    is_cancelled: AtomicBool,
    waiting: Mutex<Waiting>,
}

/// Who is to be woken.
#[derive(Default)]
struct Waiting {
    last: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Inner {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among those who wait, given up when it is dropped.
struct Place<'p> {
    inner: &'p Inner,
    number: u64,
}

impl<'p> Place<'p> {
    fn new(inner: &'p Inner) -> Self {
        let mut waiting = inner.waiting();
        waiting.last += 1;
        Place { inner, number: waiting.last }
    }

    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        self.inner.waiting().wakers.insert(self.number, context.waker().clone());
        // It may have happened before the waker was there.
        if self.inner.is_cancelled.load(Ordering::SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.inner.waiting().wakers.remove(&self.number);
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation").field(&self.is_cancelled()).finish()
    }
}

impl Cancellation {
    /// A request that goes on.
    pub fn new() -> Self {
        Self::default()
    }

    /// The client is gone.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::SeqCst);
        let wakers = std::mem::take(&mut self.0.waiting().wakers);
        wakers.into_values().for_each(Waker::wake);
    }

    /// Whether the client is gone.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::SeqCst)
    }

    /// The output of a future, unless the request is cancelled before.
    pub(crate) async fn unless_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        let place = Place::new(&self.0);
        let mut future = pin!(future);
        poll_fn(|context| match place.poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => future.as_mut().poll(context).map(Some),
        })
        .await
    }
}
