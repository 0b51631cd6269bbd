//! The requests that are under way.

use std::sync::Arc;

use tokio::sync::watch;

/// Counts the requests that come through a service. Clones count together.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity(Arc<watch::Sender<Work>>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    under_way: usize,
    begun: u64,
}

/// A request that is under way until this is dropped.
#[derive(Debug)]
pub(super) struct UnderWay(Activity);

impl Drop for UnderWay {
    fn drop(&mut self) {
        let Activity(work) = &self.0;
        work.send_modify(|work| work.under_way = work.under_way.saturating_sub(1));
    }
}

impl Activity {
    /// Says that a request is under way. A watch is until its answer begins.
    pub(super) fn begin(&self) -> UnderWay {
        self.0.send_modify(|work| {
            work.under_way = work.under_way.saturating_add(1);
            work.begun = work.begun.wrapping_add(1);
        });
        UnderWay(self.clone())
    }

    /// Waits until no request is under way. Returns how many there were.
    pub(super) async fn is_over(&self) -> u64 {
        let mut work = self.0.subscribe();
        // The sender is there as long as this is.
        let over = work.wait_for(|work| work.under_way == 0).await;
        over.map_or(0, |work| work.begun)
    }
}
