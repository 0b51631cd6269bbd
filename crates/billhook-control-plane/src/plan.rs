//! Plans of controllers: requests and events in order, and when to look again.

use std::fmt;
use std::time::Duration;

use crate::event::Event;
use crate::request::{Outcome, Request};

/// The work that a controller plans for a key. It is done in order; what depends on an answer is
/// planned when that is known.
///
/// A request that fails ends the plan, and the key is worked on again after a backoff (CP-02), unless
/// its failure is expected or dealt with ([`Plan::try_request`], [`Plan::then`]).
#[derive(Debug, Default)]
pub struct Plan {
    pub(crate) steps: Vec<Step>,
    /// When to look again though nothing changes.
    pub(crate) again: Option<Duration>,
}

pub(crate) enum Step {
    /// Makes requests, all of them whatever the answers are, and goes on with what follows from these.
    Requests(Vec<Request>, Next),
    /// Records an event, which may be lost.
    Event(Event),
    /// Carries out all plans, then fails if one has.
    All(Vec<Plan>),
    /// Ends the plan as a failure.
    Fail(String),
}

type Next = Box<dyn FnOnce(Vec<Outcome>) -> Plan + Send>;

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Requests(requests, _) => f.debug_list().entries(requests).finish(),
            Step::Event(event) => event.fmt(f),
            Step::All(plans) => plans.fmt(f),
            Step::Fail(why) => write!(f, "Fail({why})"),
        }
    }
}

impl Plan {
    /// Does nothing.
    pub fn nothing() -> Self {
        Plan::default()
    }

    /// Returns whether it has no steps.
    pub(crate) fn is_nothing(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns whether it has no steps, and no time at which to look again.
    fn is_idle(&self) -> bool {
        self.is_nothing() && self.again.is_none()
    }

    /// Fails: nothing more is done, and the key is worked on again after a backoff.
    pub fn failure(why: impl Into<String>) -> Self {
        Plan { steps: vec![Step::Fail(why.into())], again: None }
    }

    /// Makes a request.
    #[must_use]
    pub fn request(self, request: Request) -> Self {
        self.try_request(request, &[])
    }

    /// Makes a request that may fail with one of some status codes.
    #[must_use]
    pub fn try_request(self, request: Request, expected: &[u16]) -> Self {
        let expected = expected.to_vec();
        self.then(vec![request], move |outcomes| {
            let failures = outcomes.iter().filter(|outcome| !expected.contains(&outcome.code()));
            failures.filter_map(Plan::of_outcome).next().unwrap_or_default()
        })
    }

    /// Makes requests, all of them whatever the answers are, then what follows from the answers.
    #[must_use]
    pub fn then(
        mut self,
        requests: Vec<Request>,
        next: impl FnOnce(Vec<Outcome>) -> Plan + Send + 'static,
    ) -> Self {
        self.steps.push(Step::Requests(requests, Box::new(next)));
        self
    }

    /// Carries out plans, each even if others fail; fails if one of them does.
    pub(crate) fn all(plans: Vec<Plan>) -> Self {
        let plans: Vec<Plan> = plans.into_iter().filter(|plan| !plan.is_idle()).collect();
        match plans.is_empty() {
            true => Plan::nothing(),
            false => Plan { steps: vec![Step::All(plans)], again: None },
        }
    }

    /// Records an event.
    #[must_use]
    pub fn event(mut self, event: Event) -> Self {
        self.steps.push(Step::Event(event));
        self
    }

    /// Goes on with another plan.
    #[must_use]
    pub fn and(mut self, next: Plan) -> Self {
        self.steps.extend(next.steps);
        self.again = self.again.into_iter().chain(next.again).min();
        self
    }

    /// Looks again after a time, even if nothing changes.
    #[must_use]
    pub fn again_after(mut self, duration: Duration) -> Self {
        self.again = Some(self.again.map_or(duration, |again| again.min(duration)));
        self
    }

    /// Returns the plan that fails as a request did; `None` if it did not fail, or only because the
    /// namespace is being deleted (CP-07).
    pub fn of_outcome(outcome: &Outcome) -> Option<Self> {
        let status = outcome.failure()?;
        (!outcome.is_of_terminating_namespace()).then(|| Plan::failure(status.message))
    }
}
