//! Futures of traits, and work that is finished on a thread without a runtime.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Does works side by side, begun in their order. Fails as soon as one of them fails.
pub(crate) async fn together<E>(mut works: Vec<BoxFuture<'_, Result<(), E>>>) -> Result<(), E> {
    poll_fn(|context| {
        let mut failed = None;
        works.retain_mut(|work| match work.as_mut().poll(context) {
            Poll::Pending => true,
            Poll::Ready(done) => {
                failed = failed.take().or(done.err());
                false
            }
        });
        match failed {
            Some(error) => Poll::Ready(Err(error)),
            None if works.is_empty() => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    })
    .await
}

/// Finishes work. Where the work waits, so does the thread: nothing is left undone.
pub(crate) fn finish<T>(work: impl Future<Output = T>) -> T {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    // The task of a runtime, in which this may be called, lets nothing of it have a turn meanwhile.
    let mut work = pin!(tokio::task::unconstrained(work));
    loop {
        if let Poll::Ready(output) = work.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}
