//! Waiting for everyone, as other programs ask for it.

use std::time::Duration;

use billhook_apimachinery::Status;
use serde_json::{Map, Value};

use super::api::HttpApi;
use super::clock;
use super::members::{check_members, duration};
use crate::runner::SettleError;

/// How long nothing happens, by the clock of the machine, until other programs are said to rest.
const QUIET: Duration = Duration::from_millis(100);
/// How long there is for it, and the longest time that may be asked for: before a client, or what is
/// between it and here, gives up.
const TIMEOUT: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_secs(50);

impl HttpApi {
    /// Answers when nothing is left to do.
    ///
    /// # Errors
    ///
    /// If the time is over before: the error says what never came to rest.
    pub(super) async fn settle(&self, members: &Map<String, Value>) -> Result<Value, Status> {
        check_members(members, &["quiet", "timeout"])?;
        let quiet = duration(members, "quiet")?.unwrap_or(QUIET);
        self.in_time(members, self.at_rest(quiet)).await?;
        Ok(clock::show(&self.plane).await)
    }

    /// Waits until no controller has work, no request is under way, and nothing has come from other
    /// programs for a while.
    pub(super) async fn at_rest(&self, quiet: Duration) -> Result<(), SettleError> {
        let mut seen = self.after_work().await?;
        loop {
            if !quiet.is_zero() {
                tokio::time::sleep(quiet).await;
            }
            let now = self.after_work().await?;
            if now == seen {
                return Ok(());
            }
            seen = now;
        }
    }

    /// Works, and returns how many requests and changes there were.
    async fn after_work(&self) -> Result<(u64, u64), SettleError> {
        let begun = self.activity.is_over().await;
        self.plane.settled().await?;
        Ok((begun, self.plane.change_count().await))
    }

    /// Does what has to be done in the time that members ask for.
    pub(super) async fn in_time(
        &self,
        members: &Map<String, Value>,
        work: impl Future<Output = Result<(), SettleError>> + Send,
    ) -> Result<(), Status> {
        let time = duration(members, "timeout")?.unwrap_or(TIMEOUT);
        if time > LONGEST {
            return Err(Status::bad_request(format!("timeout: at most {LONGEST:?}")));
        }
        let begun = self.plane.clock().now();
        let newest = self.plane.server().requests().iter().last().map_or(0, |last| last.number);
        match tokio::time::timeout(time, work).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Status::failure(504, "Timeout", error.to_string())),
            Err(_) => {
                let busiest = self.busiest(newest);
                let reached = self.plane.clock().now();
                let message = match self.plane.clock().is_virtual() && reached > begun {
                    true => format!(
                        "the clock has come to {} in {time:?}, which are over: advance it by what is \
                         left in requests of their own, or ask for a longer timeout; {busiest}",
                        reached.to_rfc3339()
                    ),
                    false => format!("not at rest after {time:?}: {busiest}"),
                };
                Err(Status::failure(504, "Timeout", message))
            }
        }
    }

    /// Says which request came most often after one.
    fn busiest(&self, newest: u64) -> String {
        let repeated = self.plane.server().requests().after_number(newest).repeated(0);
        match repeated.into_iter().max_by_key(|(_, count)| *count) {
            Some((request, 1)) => format!("{request} came"),
            Some((request, count)) => format!("{request} came {count} times"),
            None => "there is a request under way, or work that takes longer".to_owned(),
        }
    }
}
