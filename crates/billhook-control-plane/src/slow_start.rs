//! Creating many objects: first one, then twice as many each time, until one is refused (CP-41).

use crate::plan::Plan;
use crate::request::{Outcome, Request};

/// Makes requests in batches of 1, 2, 4, 8 …; the batch in which one fails is the last. `each` follows each
/// answer, `end` the last batch, with the first failure if there is one.
pub(crate) fn slow_start(
    requests: Vec<Request>,
    each: impl Fn(&Outcome) -> Plan + Send + 'static,
    end: impl FnOnce(Option<Outcome>) -> Plan + Send + 'static,
) -> Plan {
    batch(requests, 1, Box::new(each), Box::new(end))
}

type Each = Box<dyn Fn(&Outcome) -> Plan + Send>;
type End = Box<dyn FnOnce(Option<Outcome>) -> Plan + Send>;

fn batch(mut requests: Vec<Request>, size: usize, each: Each, end: End) -> Plan {
    if requests.is_empty() {
        return end(None);
    }
    let rest = requests.split_off(size.min(requests.len()));
    Plan::nothing().then(requests, move |outcomes| {
        let done = outcomes.iter().map(&each).fold(Plan::nothing(), Plan::and);
        let failed = outcomes.into_iter().find(|outcome| !outcome.is_success());
        done.and(match failed {
            Some(failed) => end(Some(failed)),
            None => batch(rest, size.saturating_mul(2), each, end),
        })
    })
}
