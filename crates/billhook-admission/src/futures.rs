//! Futures without a runtime: waiting for one on the thread itself, and polling several on one task
//! (DI-64, DI-68).

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use billhook_policy::BoxFuture;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on the thread itself, for callers without an executor.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}

/// Futures that run at the same time; a panic ends only its own.
pub(crate) struct Running<'f, T> {
    tasks: Vec<Task<'f, T>>,
    parent: Arc<Mutex<Option<Waker>>>,
}

struct Task<'f, T> {
    /// None once it has ended.
    future: Option<BoxFuture<'f, T>>,
    alarm: Arc<Alarm>,
}

/// Remembers that a future wants to be polled, and wakes the task they all run on.
struct Alarm {
    is_set: AtomicBool,
    parent: Arc<Mutex<Option<Waker>>>,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_set.store(true, Ordering::Release);
        let parent = self.parent.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = parent {
            waker.wake();
        }
    }
}

impl<'f, T> Running<'f, T> {
    pub(crate) fn new(futures: impl IntoIterator<Item = BoxFuture<'f, T>>) -> Self {
        let parent = Arc::new(Mutex::new(None));
        let task = |future| Task {
            future: Some(future),
            alarm: Arc::new(Alarm { is_set: AtomicBool::new(true), parent: Arc::clone(&parent) }),
        };
        Running { tasks: futures.into_iter().map(task).collect(), parent }
    }

    /// The next one that ends: its position, and its output or the text of its panic. None when
    /// all have ended.
    pub(crate) async fn next(&mut self) -> Option<(usize, Result<T, String>)> {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Option<(usize, Result<T, String>)>> {
        let waker = Some(context.waker().clone());
        *self.parent.lock().unwrap_or_else(PoisonError::into_inner) = waker;
        let mut is_running = false;
        for (position, task) in self.tasks.iter_mut().enumerate() {
            let Some(future) = &mut task.future else { continue };
            is_running = true;
            if !task.alarm.is_set.swap(false, Ordering::AcqRel) {
                continue;
            }
            let waker = Waker::from(Arc::clone(&task.alarm));
            let mut own = Context::from_waker(&waker);
            let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut own)));
            let output = match polled {
                Ok(Poll::Pending) => continue,
                Ok(Poll::Ready(output)) => Ok(output),
                Err(panic) => Err(panic_text(&*panic)),
            };
            task.future = None;
            return Poll::Ready(Some((position, output)));
        }
        if is_running { Poll::Pending } else { Poll::Ready(None) }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("unknown").to_owned()
}
