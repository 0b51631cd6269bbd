//! The clock, as other programs see and advance it.

use std::time::Duration;

use billhook_apimachinery::Status;
use serde_json::{Map, Value, json};

use super::api::HttpApi;
use super::members::{check_members, duration};
use crate::clock::Timestamp;
use crate::control_plane::ControlPlane;
use crate::runner::SettleError;

/// Says what time it is, and when a controller has work next.
pub(super) async fn show(plane: &ControlPlane) -> Value {
    let next = plane.next_timer().await;
    let mut shown = json!({
        "time": plane.clock().now().to_rfc3339_micros(),
        "virtual": plane.clock().is_virtual(),
    });
    if let (Value::Object(members), Some(next)) = (&mut shown, next) {
        members.insert("nextTimer".to_owned(), next.to_rfc3339_micros().into());
    }
    shown
}

impl HttpApi {
    /// Lets virtual time pass, from one timer to the next.
    ///
    /// # Errors
    ///
    /// If the time is that of the machine, or something does not come to rest. The clock then shows the
    /// time at which that was.
    pub(super) async fn advance(&self, members: &Map<String, Value>) -> Result<Value, Status> {
        check_members(members, &["duration", "toNextTimer", "quiet", "timeout"])?;
        if !self.plane.clock().is_virtual() {
            let message = "time passes by itself: the server runs on the clock of the machine";
            return Err(Status::failure(409, "Conflict", message));
        }
        let wanted = match (duration(members, "duration")?, members.get("toNextTimer")) {
            (Some(duration), None) => Some(duration),
            (None, Some(Value::Bool(true))) => None,
            _ => {
                return Err(Status::bad_request(
                    "either duration, or toNextTimer with the value true",
                ));
            }
        };
        let left = Timestamp::LAST.since(self.plane.clock().now());
        if wanted.is_some_and(|duration| duration > left) {
            let last = Timestamp::LAST.to_rfc3339();
            return Err(Status::bad_request(format!("duration: virtual time ends at {last}")));
        }
        let quiet = duration(members, "quiet")?.unwrap_or_default();
        self.in_time(members, self.pass(wanted, quiet)).await?;
        Ok(show(&self.plane).await)
    }

    /// Lets a time pass, or that up to the next timer. Other programs come to rest before each timer.
    async fn pass(&self, wanted: Option<Duration>, quiet: Duration) -> Result<(), SettleError> {
        let _only = self.advancing.lock().await;
        self.at_rest(quiet).await?;
        let now = self.plane.clock().now();
        let end = match wanted {
            Some(duration) => now.plus(duration).min(Timestamp::LAST),
            None => self.plane.next_timer().await.unwrap_or(now),
        };
        while self.plane.step(end).await? {
            self.at_rest(quiet).await?;
        }
        Ok(())
    }
}
