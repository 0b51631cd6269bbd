//! A control plane: a server, and the controllers that run on it.

use std::sync::Arc;
use std::time::Duration;

use billhook_apiserver::Server;
use tokio::sync::Mutex;

use crate::clock::{Clock, Timestamp};
use crate::controller::Controller;
use crate::resource::{NODES, PODS};
use crate::runner::{Runner, SettleError};
use crate::simulation::{Leases, Rule, Simulation};

/// The controllers of a server, with its simulated scheduler and nodes. Clones are the same.
///
/// Nothing happens by itself but in [`ControlPlane::run`]: [`ControlPlane::settled`] works until there is
/// nothing left to do, and [`ControlPlane::advance`] lets virtual time pass.
#[derive(Clone, Debug)]
pub struct ControlPlane {
    server: Server,
    clock: Clock,
    simulation: Simulation,
    runner: Arc<Mutex<Runner>>,
}

impl ControlPlane {
    /// Runs controllers on a server, whose clock is theirs, too.
    pub(crate) fn new(
        server: Server,
        clock: Clock,
        controllers: Vec<Arc<dyn Controller>>,
        simulation: Simulation,
    ) -> Self {
        let runner = Runner::new(&server, clock.clone(), controllers);
        ControlPlane { server, clock, simulation, runner: Arc::new(Mutex::new(runner)) }
    }

    /// Returns the server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Says what happens to pods from now on; see [`Rule`]. Where rules differ, the last one counts.
    pub async fn simulate(&self, rule: Rule) {
        self.simulation.add(rule);
        self.runner.lock().await.look_again(&PODS);
    }

    /// Takes all rules back.
    pub async fn simulate_nothing(&self) {
        self.simulation.clear();
        self.runner.lock().await.look_again(&PODS);
    }

    /// Works until no controller has work at this time. A future that is dropped loses nothing.
    ///
    /// # Errors
    ///
    /// If that never happens: the error names the controller and the key.
    pub async fn settled(&self) -> Result<(), SettleError> {
        self.runner.lock().await.run().await.map(drop)
    }

    /// Lets virtual time pass, from one timer to the next, and works at each.
    ///
    /// # Errors
    ///
    /// As [`ControlPlane::settled`].
    pub async fn advance(&self, duration: Duration) -> Result<(), SettleError> {
        let end = self.clock.now().plus(duration).min(Timestamp::LAST);
        while self.step(end).await? {}
        Ok(())
    }

    /// Works, then advances the clock to the next timer, or to the end if that is before it. Returns
    /// whether there was any time left.
    pub(crate) async fn step(&self, end: Timestamp) -> Result<bool, SettleError> {
        let mut runner = self.runner.lock().await;
        runner.run().await?;
        let now = self.clock.now();
        let next = runner.next_timer().filter(|next| *next <= end).unwrap_or(end);
        let is_over = next <= now && now >= end;
        if is_over {
            runner.look_again_by(Leases::NAME, &NODES);
            runner.run().await?;
        }
        self.clock.advance(next.since(now));
        Ok(!is_over)
    }

    /// Returns how many changes the controllers have seen.
    pub(crate) async fn change_count(&self) -> u64 {
        self.runner.lock().await.change_count()
    }

    /// Works until nothing changes any more for a time, as a client waits that looks on; virtual time
    /// passes meanwhile, `at_most` so long.
    ///
    /// # Errors
    ///
    /// As [`ControlPlane::settled`].
    pub async fn quiet_for(&self, quiet: Duration, at_most: Duration) -> Result<(), SettleError> {
        let mut runner = self.runner.lock().await;
        let mut last = self.clock.now();
        let latest = last.plus(at_most).min(Timestamp::LAST);
        loop {
            let count = runner.change_count();
            runner.run().await?;
            let now = self.clock.now();
            if runner.change_count() != count {
                last = now;
            }
            let end = last.plus(quiet).min(latest);
            let next = runner.next_timer().filter(|next| *next <= end).unwrap_or(end);
            if next <= now && now >= end {
                return Ok(());
            }
            self.clock.advance(next.since(now));
        }
    }

    /// Returns the time at which there is work again, if nothing changes before; `None` if absent.
    pub async fn next_timer(&self) -> Option<Timestamp> {
        self.runner.lock().await.next_timer()
    }

    /// Works whenever something changes or a time comes, as long as the server is there.
    ///
    /// # Errors
    ///
    /// As [`ControlPlane::settled`]; when the server is gone.
    pub async fn run(&self) -> Result<(), SettleError> {
        loop {
            let mut runner = self.runner.lock().await;
            runner.run().await?;
            let next = runner.next_timer().filter(|_| !self.clock.is_virtual());
            let mut changes = runner.changes();
            drop(runner);
            match next {
                Some(next) => {
                    let wait = next.since(self.clock.now());
                    tokio::select! {
                        changed = changes.changed() => changed?,
                        () = tokio::time::sleep(wait) => {}
                    }
                }
                None => changes.changed().await?,
            }
        }
    }
}
