//! Own work of the server that is to be done again: a webhook or a policy has refused a part of it, or the
//! client was gone whose request it belonged to (CP-02, CP-13).

use std::sync::{Mutex, PoisonError};

use billhook::Time;

/// How many seconds refused work is left alone, unless policies or webhooks change before.
const PAUSE: i64 = 10;

/// Whether own work is undone.
#[derive(Debug, Default)]
pub(crate) struct Undone {
    /// When it was last found to be undone.
    since: Mutex<Option<Time>>,
}

impl Undone {
    /// Says that something is undone.
    pub(crate) fn leave(&self, now: Time) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }

    /// Takes up what is undone, if it is time for it. `is_new` says that it may not be refused any more.
    pub(crate) fn take_up(&self, now: Time, is_new: bool) -> bool {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = since.is_some_and(|since| is_new || since.plus_seconds(PAUSE) <= now);
        is_due && since.take().is_some()
    }
}

/// Own work under way, which is undone unless it comes to its end.
pub(crate) struct UnderWay<'u> {
    undone: &'u Undone,
    began: Time,
    is_at_end: bool,
}

impl<'u> UnderWay<'u> {
    pub(crate) fn begin(undone: &'u Undone, now: Time) -> Self {
        UnderWay { undone, began: now, is_at_end: false }
    }

    pub(crate) fn end(mut self) {
        self.is_at_end = true;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.is_at_end {
            self.undone.leave(self.began);
        }
    }
}
