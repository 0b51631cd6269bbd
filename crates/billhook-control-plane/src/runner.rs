//! Runs controllers, one key after the other, in an order that is the same in every run (CP-06).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use billhook_apimachinery::UserInfo;
use billhook_apiserver::Server;
use billhook_apiserver::storage::{Changes, RevisionError};
use tokio::task::coop::consume_budget;

use crate::client::Client;
use crate::clock::{Clock, Timestamp};
use crate::controller::{Controller, Key, Keys};
use crate::event::Event;
use crate::plan::{Plan, Step};
use crate::queue::{Item, Queue};
use crate::recorder::Recorder;
use crate::request::{Outcome, Request};
use crate::resource::Resource;
use crate::view::{Change, View};

/// How often a key may be worked on at one time before it is said not to come to rest.
const MAX_SYNCS: u32 = 5_000;

/// Why the control plane does not come to rest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettleError {
    /// A key was worked on again and again.
    #[error("{controller} never comes to rest about {key}")]
    Restless {
        /// The name of the controller.
        controller: &'static str,
        /// The key.
        key: String,
    },
    /// The server is gone.
    #[error("the server cannot be followed: {0}")]
    Server(#[from] RevisionError),
}

/// A controller, and what the runner has to know of it.
#[derive(Debug)]
struct Registered {
    controller: Arc<dyn Controller>,
    client: Client,
    watches: Vec<&'static Resource>,
}

/// The controller that works on a key, by its place.
#[derive(Debug)]
struct Worker {
    index: usize,
    /// Who makes the requests; `None` for the user of the controller's account.
    user: Option<UserInfo>,
}

#[derive(Debug)]
pub(crate) struct Runner {
    clock: Clock,
    controllers: Vec<Registered>,
    changes: Changes,
    change_count: u64,
    view: View,
    queue: Queue,
    /// The key that is worked on; there is one at the beginning of a run if the last one was dropped.
    current: Option<Item>,
    recorder: Recorder,
}

impl Runner {
    pub(crate) fn new(
        server: &Server,
        clock: Clock,
        controllers: Vec<Arc<dyn Controller>>,
    ) -> Self {
        let registered = |controller: Arc<dyn Controller>| {
            let client = Client::new(server.clone(), controller.account());
            Registered { watches: controller.watches(), controller, client }
        };
        Runner {
            changes: server.changes(),
            clock,
            controllers: controllers.into_iter().map(registered).collect(),
            change_count: 0,
            view: View::default(),
            queue: Queue::default(),
            current: None,
            recorder: Recorder::default(),
        }
    }

    /// Returns how many changes there were.
    pub(crate) fn change_count(&self) -> u64 {
        self.change_count
    }

    /// Returns what waits for changes.
    pub(crate) fn changes(&self) -> Changes {
        self.changes.clone()
    }

    /// Returns the time at which there is work again, if nothing changes before and time goes on so long.
    pub(crate) fn next_timer(&self) -> Option<Timestamp> {
        self.queue.next_timer().filter(|next| *next <= Timestamp::LAST)
    }

    /// Works until there is nothing left to do at this time. Returns whether there was anything.
    pub(crate) async fn run(&mut self) -> Result<bool, SettleError> {
        let mut syncs = BTreeMap::<Item, u32>::new();
        self.follow()?;
        self.current.take().into_iter().for_each(|item| self.queue.add(item));
        self.queue.wake(self.clock.now());
        while let Some(item) = self.queue.pop() {
            self.current = Some(item.clone());
            let count = syncs.entry(item.clone()).or_default();
            *count = count.saturating_add(1);
            if *count > MAX_SYNCS {
                let controller = self.controllers.get(item.0);
                let controller = controller.map_or("", |it| it.controller.name());
                return Err(SettleError::Restless { controller, key: item.1.to_string() });
            }
            self.work(item).await?;
            self.current = None;
            // Whoever waits can give up here: a server in memory answers without waiting.
            consume_budget().await;
            self.queue.wake(self.clock.now());
        }
        Ok(!syncs.is_empty())
    }

    /// Takes over the changes of the server.
    fn follow(&mut self) -> Result<(), SettleError> {
        let batch = self.changes.read()?;
        for change in self.view.take_over(batch) {
            self.change_count = self.change_count.saturating_add(1);
            self.dispatch(&change);
        }
        Ok(())
    }

    /// Adds the keys that the objects of a resource concern, though these have not changed.
    pub(crate) fn look_again(&mut self, resource: &Resource) {
        for change in self.unchanged(resource) {
            self.dispatch(&change);
        }
    }

    /// Adds the keys of a controller that the objects of a resource concern, though these have not
    /// changed.
    pub(crate) fn look_again_by(&mut self, controller: &str, resource: &Resource) {
        let named = self.controllers.iter().position(|it| it.controller.name() == controller);
        let Some(index) = named else { return };
        for change in self.unchanged(resource) {
            self.dispatch_to(index, &change);
        }
    }

    fn unchanged(&self, resource: &Resource) -> Vec<Change> {
        let objects = self.view.all(resource).cloned();
        objects.map(|object| Change::of_nothing(resource, object)).collect()
    }

    /// Adds the keys that a change concerns.
    fn dispatch(&mut self, change: &Change) {
        for index in 0..self.controllers.len() {
            self.dispatch_to(index, change);
        }
    }

    /// Adds the keys of a controller that a change concerns.
    fn dispatch_to(&mut self, index: usize, change: &Change) {
        let Some(registered) = self.controllers.get(index) else { return };
        let is_watched = registered.controller.watches_all()
            || registered.watches.iter().any(|resource| change.is_of(resource));
        if !is_watched {
            return;
        }
        let mut keys = Keys::default();
        registered.controller.concerns(change, &self.view, &mut keys);
        let (Keys { now: keys, later }, now) = (keys, self.clock.now());
        keys.into_iter().for_each(|key| self.queue.add((index, key)));
        for (key, delay) in later {
            self.queue.add_at((index, key), now.plus(delay));
        }
    }

    /// Works on a key.
    async fn work(&mut self, item: Item) -> Result<(), SettleError> {
        let (index, key) = &item;
        let Some(registered) = self.controllers.get(*index) else { return Ok(()) };
        let controller = Arc::clone(&registered.controller);
        let plan = controller.sync(key, &self.view, self.clock.now());
        let worker = Worker { index: *index, user: controller.user(key, &self.view) };
        let done = self.execute(&worker, key, plan).await;
        let now = self.clock.now();
        match done {
            Ok(again) => {
                self.queue.succeed(&item);
                if let Some(again) = again {
                    self.queue.set_timer(item, now.plus(again));
                }
            }
            Err(_) => self.queue.fail(item, &*controller, now),
        }
        self.follow()
    }

    /// Does what a plan says. Returns when to look again; fails as the plan does.
    async fn execute(
        &mut self,
        worker: &Worker,
        key: &Key,
        plan: Plan,
    ) -> Result<Option<Duration>, String> {
        let mut again = plan.again;
        let mut steps: Vec<Step> = plan.steps;
        steps.reverse();
        while let Some(step) = steps.pop() {
            match step {
                Step::Requests(requests, next) => {
                    let mut outcomes = Vec::with_capacity(requests.len());
                    for request in requests {
                        outcomes.push(self.send(worker, request).await);
                    }
                    let next = next(outcomes);
                    again = again.into_iter().chain(next.again).min();
                    steps.extend(next.steps.into_iter().rev());
                }
                Step::Event(event) => self.report(worker, &event).await,
                Step::All(plans) => {
                    let mut failure = None;
                    for plan in plans {
                        match Box::pin(self.execute(worker, key, plan)).await {
                            Ok(next) => again = again.into_iter().chain(next).min(),
                            Err(why) => failure = failure.or(Some(why)),
                        }
                    }
                    steps.extend(failure.map(Step::Fail));
                }
                Step::Fail(why) => return Err(format!("{key}: {why}")),
            }
        }
        Ok(again)
    }

    /// Writes an event, which may be lost (CP-03). One that is not there any more is written anew.
    async fn report(&mut self, worker: &Worker, event: &Event) {
        let source = self.controllers.get(worker.index);
        let source = source.map_or("", |it| it.controller.event_source());
        for _ in 0..2 {
            let recorded = self.recorder.record(event, source, self.clock.now());
            let Some((identity, request)) = recorded else { return };
            let outcome = self.send(worker, request).await;
            if outcome.is_success() {
                return;
            }
            self.recorder.lose(&identity);
            if outcome.code() != 404 {
                return;
            }
        }
    }

    /// Makes a request of a controller.
    async fn send(&self, worker: &Worker, request: Request) -> Outcome {
        let Some(Registered { client, .. }) = self.controllers.get(worker.index) else {
            return Outcome::default();
        };
        consume_budget().await;
        match &worker.user {
            Some(user) => client.send_as(user, request).await,
            None => client.send(request).await,
        }
    }
}
