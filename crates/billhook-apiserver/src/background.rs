//! Work that goes on after a request is answered.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use billhook_apimachinery::Status;
use tokio::runtime::Handle;

/// The background work of a server. If it breaks off, the server is not what its answers say: it
/// answers nothing any more, instead of leaving clients to wait for what never comes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Background {
    failure: Arc<OnceLock<String>>,
}

impl Background {
    /// Does work in the background of a runtime.
    pub(crate) fn spawn(&self, runtime: &Handle, work: impl Future<Output = ()> + Send + 'static) {
        let task = runtime.spawn(work);
        let failure = Arc::clone(&self.failure);
        // A runtime that ends cancels its tasks, and the server with them.
        runtime.spawn(async move {
            if let Err(error) = task.await
                && let Ok(panic) = error.try_into_panic()
            {
                failure.get_or_init(|| panic_text(&*panic).to_owned());
            }
        });
    }

    /// Fails if some of the work has broken off.
    pub(crate) fn check(&self) -> Result<(), Status> {
        match self.failure.get() {
            Some(why) => {
                Err(Status::internal_error(&format!("the server's background work failed: {why}")))
            }
            None => Ok(()),
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown")
}
