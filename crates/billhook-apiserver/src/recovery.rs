//! Work that follows from writes, done again where the backend has failed, a policy or a webhook has refused a
//! part of it, or the client was gone whose request it belonged to.

use std::panic::resume_unwind;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;

use crate::shared::{Change, Shared};
use crate::storage::{Collection, Object, Observer};

/// How long to wait before the work is tried again, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

impl Observer for Shared {
    fn changed(&self, collection: &Collection, key: &str, before: Option<&Object>) {
        self.take_over(&Change { collection, key, before });
    }

    fn write_failed(self: Arc<Self>) {
        self.recover_later();
    }
}

/// Says that work is being done again, until it is not: it may be done or end with its runtime.
struct Recovering(Weak<Shared>);

impl Drop for Recovering {
    fn drop(&mut self) {
        if let Some(server) = self.0.upgrade() {
            server.is_recovering.store(false, Ordering::Release);
        }
    }
}

/// Does what writes may have left undone, until no write of it fails any more.
async fn recover(server: Weak<Shared>, mut recovering: Recovering) {
    let mut pause = PAUSES.0;
    loop {
        tokio::time::sleep(pause).await;
        pause = PAUSES.1.min(pause * 2);
        let Some(server) = server.upgrade() else { return };
        let failures = server.storage.failures();
        server.is_undone.store(false, Ordering::Release);
        server.resume().await;
        let is_done =
            || server.storage.failures() == failures && !server.is_undone.load(Ordering::Acquire);
        if is_done() {
            drop(recovering);
            // Something may have failed just now, and found this running.
            if is_done() || server.is_recovering.swap(true, Ordering::AcqRel) {
                return;
            }
            recovering = Recovering(Arc::downgrade(&server));
        }
    }
}

/// Own work under way, which counts as undone until it finishes.
pub(crate) struct UnderWay<'s> {
    server: &'s Arc<Shared>,
    is_at_end: bool,
}

impl<'s> UnderWay<'s> {
    pub(crate) fn begin(server: &'s Arc<Shared>) -> Self {
        UnderWay { server, is_at_end: false }
    }

    pub(crate) fn end(mut self) {
        self.is_at_end = true;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.is_at_end {
            self.server.leave_undone();
        }
    }
}

impl Shared {
    /// Says that own work was refused or cut short. It is done again as soon as policies or webhooks
    /// change, and from time to time (CP-02).
    pub(crate) fn leave_undone(self: &Arc<Self>) {
        self.is_undone.store(true, Ordering::Release);
        self.recover_later();
    }

    /// Has work done again until it fails no more, in the runtime of the backend or in that of the request.
    fn recover_later(self: &Arc<Self>) {
        let runtime = self.storage.runtime().cloned().or_else(|| Handle::try_current().ok());
        let Some(runtime) = runtime else { return };
        if !self.is_recovering.swap(true, Ordering::AcqRel) {
            let server = Arc::downgrade(self);
            let recovering = Recovering(server.clone());
            self.background.spawn(&runtime, recover(server, recovering));
        }
    }

    /// Does the work of a request. Where it may wait for a backend, it finishes even if the
    /// client goes away or its time is over: a write and what follows from it stay together.
    pub(crate) async fn to_its_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let Some(runtime) = self.storage.runtime() else { return work.await };
        match runtime.spawn(work).await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(output) => output,
            Err(Ok(panic)) => resume_unwind(panic),
            // The runtime ends, and this with it.
            Err(Err(_)) => std::future::pending().await,
        }
    }
}
