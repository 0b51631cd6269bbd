//! Futures of traits.

use std::pin::Pin;
use std::task::{Context, Waker};

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Runs what never waits.
pub(crate) fn at_once(work: impl Future<Output = ()>) {
    let mut context = Context::from_waker(Waker::noop());
    let is_done = std::pin::pin!(work).poll(&mut context).is_ready();
    debug_assert!(is_done, "nothing is waited for here");
}
