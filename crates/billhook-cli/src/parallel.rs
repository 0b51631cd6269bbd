//! Work on many things with several threads, whose results come in the order of the things.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The largest number of threads.
const MAX_THREADS: usize = 256;

/// How many results may wait for their turn.
const MAX_WAITING: usize = 1024;

/// How much the results that wait for their turn may weigh together.
const MAX_WEIGHT: usize = 16 << 20;

/// Returns the number of threads for this machine.
pub(crate) fn all_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the results of work on items with all cores, in their order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut results = Vec::with_capacity(items.len());
    let Ok(()) = in_order(
        items,
        all_cores(),
        work,
        |_| 0,
        |result| {
            results.push(result);
            Ok::<(), Infallible>(())
        },
    );
    results
}

/// Works on items with several threads, and hands the results to `emit` on this thread, in the
/// order of the items. Work stops when `emit` fails. The results that wait for their turn weigh
/// little together: no more is begun while they weigh too much.
pub(crate) fn in_order<T: Sync, R: Send, E>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    weigh: impl Fn(&R) -> usize + Sync,
    mut emit: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(items.len()).min(MAX_THREADS);
    if threads < 2 {
        return items.iter().map(work).try_for_each(emit);
    }
    let queue = Queue { len: items.len(), state: Mutex::default(), change: Condvar::new() };
    let worker = || {
        let _end = End(&queue);
        while let Some((index, item)) = queue.take().and_then(|at| Some((at, items.get(at)?))) {
            let result = work(item);
            let weight = weigh(&result);
            queue.put(index, result, weight);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let emitted = {
            let _stop = Stop(&queue);
            std::iter::from_fn(|| queue.next(threads)).try_for_each(&mut emit)
        };
        for worker in workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        emitted
    })
}

/// The items that are taken and the results that wait.
struct Queue<R> {
    /// How many items there are.
    len: usize,
    state: Mutex<State<R>>,
    change: Condvar,
}

struct State<R> {
    /// The item that is taken next.
    next: usize,
    /// How many results have been handed on.
    emitted: usize,
    /// Results that wait, with their weights.
    waiting: BTreeMap<usize, (R, usize)>,
    weight: usize,
    /// How many threads have ended.
    ended: usize,
    is_stopped: bool,
}

impl<R> Default for State<R> {
    fn default() -> Self {
        let waiting = BTreeMap::new();
        State { next: 0, emitted: 0, waiting, weight: 0, ended: 0, is_stopped: false }
    }
}

impl<R> Queue<R> {
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes all threads that wait for it.
    fn change(&self, change: impl FnOnce(&mut State<R>)) {
        change(&mut self.lock());
        self.change.notify_all();
    }

    /// Waits until there is room for another result; returns the item to work on.
    fn take(&self) -> Option<usize> {
        let is_full =
            |state: &State<R>| state.weight > MAX_WEIGHT || state.waiting.len() > MAX_WAITING;
        let mut state = self.lock();
        while is_full(&state) && !state.is_stopped {
            state = self.change.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let index = state.next;
        state.next += 1;
        (index < self.len && !state.is_stopped).then_some(index)
    }

    fn put(&self, index: usize, result: R, weight: usize) {
        self.change(|state| {
            state.waiting.insert(index, (result, weight));
            state.weight += weight;
        });
    }

    /// Waits for the result whose turn it is.
    fn next(&self, threads: usize) -> Option<R> {
        let mut state = self.lock();
        loop {
            let turn = state.emitted;
            if let Some((result, weight)) = state.waiting.remove(&turn) {
                state.emitted += 1;
                state.weight -= weight;
                self.change.notify_all();
                return Some(result);
            }
            // A thread that panics leaves no result.
            if turn >= self.len || state.ended == threads {
                return None;
            }
            state = self.change.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Tells that a thread has ended, even by a panic.
struct End<'q, R>(&'q Queue<R>);

impl<R> Drop for End<'_, R> {
    fn drop(&mut self) {
        let is_stopped = thread::panicking();
        self.0.change(|state| {
            state.ended += 1;
            state.is_stopped |= is_stopped;
        });
    }
}

/// Stops all threads when no more results are wanted.
struct Stop<'q, R>(&'q Queue<R>);

impl<R> Drop for Stop<'_, R> {
    fn drop(&mut self) {
        self.0.change(|state| state.is_stopped = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squares(threads: usize, items: &[u64]) -> Vec<u64> {
        let mut squares = Vec::new();
        let Ok(()) = in_order(
            items,
            threads,
            |item| item * item,
            |_| 1 << 20,
            |square| {
                squares.push(square);
                Ok::<(), Infallible>(())
            },
        );
        squares
    }

    #[test]
    fn results_come_in_order() {
        for count in [0, 1, 2, 3000] {
            let items: Vec<u64> = (0..count).collect();
            let expected: Vec<u64> = items.iter().map(|item| item * item).collect();
            for threads in [0, 1, 2, 7, 1000] {
                assert_eq!(squares(threads, &items), expected, "{threads} threads");
            }
            assert_eq!(map(&items, |item| item * item), expected);
        }
    }

    #[test]
    fn work_stops_when_results_are_not_wanted() {
        let items: Vec<usize> = (0..100_000).collect();
        let begun = std::sync::atomic::AtomicUsize::new(0);
        let work = |item: &usize| {
            begun.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            *item
        };
        let emit = |item| if item == 10 { Err("enough") } else { Ok(()) };
        assert_eq!(in_order(&items, 4, work, |_| MAX_WEIGHT, emit), Err("enough"));
        assert!(begun.into_inner() < 100);
    }

    #[test]
    #[should_panic(expected = "item 5")]
    fn panics_are_passed_on() {
        let items: Vec<usize> = (0..100).collect();
        map(&items, |item| assert!(*item != 5, "item {item}"));
    }
}
