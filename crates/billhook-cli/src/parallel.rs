//! Work on many things with all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Returns the results of work on items, in their order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    if threads < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        items.get(index).map(|item| (index, work(item)))
    };
    let mut results = Vec::with_capacity(items.len());
    thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads).map(|_| scope.spawn(|| std::iter::from_fn(take).collect())).collect();
        for worker in workers {
            let done: Vec<(usize, R)> =
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            results.extend(done);
        }
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
