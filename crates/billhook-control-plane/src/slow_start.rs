//! Creating many objects: first one, then twice as many each time, until one is refused (CP-41).

use crate::plan::Plan;
use crate::request::{Outcome, Request};

/// Makes requests in batches of 1, 2, 4, 8 …; the batch in which one fails is the last. `each` follows each
/// answer, `end` the last batch, with the number of those that succeeded, and the first failure if there is
/// one.
pub(crate) fn slow_start(
    requests: Vec<Request>,
    each: impl Fn(&Outcome) -> Plan + Send + 'static,
    end: impl FnOnce(usize, Option<Outcome>) -> Plan + Send + 'static,
) -> Plan {
    batch(requests, Sizes { batch: 1, done: 0 }, Box::new(each), Box::new(end))
}

type Each = Box<dyn Fn(&Outcome) -> Plan + Send>;
type End = Box<dyn FnOnce(usize, Option<Outcome>) -> Plan + Send>;

/// How many requests the next batch has, and how many have succeeded before it.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    batch: usize,
    done: usize,
}

fn batch(mut requests: Vec<Request>, sizes: Sizes, each: Each, end: End) -> Plan {
    if requests.is_empty() {
        return end(sizes.done, None);
    }
    let rest = requests.split_off(sizes.batch.min(requests.len()));
    Plan::nothing().then(requests, move |outcomes| {
        let told = outcomes.iter().map(&each).fold(Plan::nothing(), Plan::and);
        let succeeded = outcomes.iter().filter(|outcome| outcome.is_success()).count();
        let done = sizes.done.saturating_add(succeeded);
        let failed = outcomes.into_iter().find(|outcome| !outcome.is_success());
        told.and(match failed {
            Some(failed) => end(done, Some(failed)),
            None => batch(rest, Sizes { batch: sizes.batch.saturating_mul(2), done }, each, end),
        })
    })
}
