//! Creating and deleting the pods of an owner, with an event about each (CP-41, CP-42).

use std::sync::Arc;

use serde_json::Value;

use crate::event::Event;
use crate::object::Object;
use crate::ownership::Owner;
use crate::plan::Plan;
use crate::request::{Outcome, Request};
use crate::resource::PODS;
use crate::slow_start::slow_start;

/// Makes the requests that create pods, by a slow start. `end` follows, with the number of pods, and the
/// first failure if there is one; a namespace that is being deleted is not one (CP-07).
pub(crate) fn create_pods(
    owner: &Owner<'_>,
    requests: Vec<Request>,
    end: impl FnOnce(usize, Option<Outcome>) -> Plan + Send + 'static,
) -> Plan {
    let tell = teller(owner, &CREATION);
    let each = move |outcome: &Outcome| tell(outcome, &outcome.name());
    slow_start(requests, each, |count, failed| {
        end(count, failed.filter(|outcome| !outcome.is_of_terminating_namespace()))
    })
}

/// Deletes pods. `end` follows, with those that are being deleted, and the first failure if there is one; a
/// pod that is gone already is not one.
pub(crate) fn delete_pods(
    owner: &Owner<'_>,
    pods: Vec<Arc<Object>>,
    end: impl FnOnce(Vec<Arc<Object>>, Option<Outcome>) -> Plan + Send + 'static,
) -> Plan {
    let delete = |pod: &Arc<Object>| Request::delete(&PODS, pod.key(), &Value::Null);
    let requests = pods.iter().map(delete).collect();
    let tell = teller(owner, &DELETION);
    Plan::nothing().then(requests, move |outcomes| {
        let mut events = Plan::nothing();
        let (mut deleted, mut failure) = (Vec::new(), None);
        for (outcome, pod) in outcomes.into_iter().zip(pods) {
            if outcome.code() != 404 {
                events = events.and(tell(&outcome, pod.name()));
            }
            match outcome.is_success() || outcome.code() == 404 {
                true => deleted.push(pod),
                false => failure = failure.or(Some(outcome)),
            }
        }
        events.and(end(deleted, failure))
    })
}

/// Fails as the first failure says, if there is one.
pub(crate) fn fail(failure: Option<Outcome>) -> Plan {
    failure.and_then(|failure| Plan::of_outcome(&failure)).unwrap_or_default()
}

/// The texts of events about pods.
struct Texts {
    success: &'static str,
    done: &'static str,
    failure: &'static str,
    doing: &'static str,
}

static CREATION: Texts = Texts {
    success: "SuccessfulCreate",
    done: "Created pod: ",
    failure: "FailedCreate",
    doing: "Error creating: ",
};

static DELETION: Texts = Texts {
    success: "SuccessfulDelete",
    done: "Deleted pod: ",
    failure: "FailedDelete",
    doing: "Error deleting: ",
};

/// Returns what records an event about an answer that concerns a pod.
fn teller(
    owner: &Owner<'_>,
    texts: &'static Texts,
) -> impl Fn(&Outcome, &str) -> Plan + Send + use<> {
    let (resource, object) = (owner.resource, Arc::clone(owner.object));
    move |outcome, pod| {
        let event = match outcome.failure() {
            None => Event::normal(resource, &object, texts.success, [texts.done, pod].concat()),
            Some(_) if outcome.is_of_terminating_namespace() => return Plan::nothing(),
            Some(status) => {
                let message = [texts.doing, &status.message].concat();
                Event::warning(resource, &object, texts.failure, message)
            }
        };
        Plan::nothing().event(event)
    }
}
