//! Memory that requests hold for as long as their clients like: bodies that come slowly, answers that
//! are read slowly. All of them together are bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use billhook_apimachinery::Status;

/// How many bytes each budget has.
const MAX_BYTES: usize = 256 << 20;
/// Memory of no more bytes than this is not counted: the number of connections bounds it.
pub(crate) const SMALL: usize = 64 << 10;

/// The budgets of a server and its forks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budgets {
    /// Of the bodies that requests have.
    pub(crate) bodies: Budget,
    /// Of lists while they are printed, before they are sent.
    pub(crate) printing: Budget,
    /// Of answers that are not read yet.
    pub(crate) answers: Budget,
}

/// The bytes that are held for one purpose. Clones are the same budget.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget(Arc<AtomicUsize>);

impl Budget {
    /// Reserves bytes.
    ///
    /// # Errors
    ///
    /// If others hold so many that these are too many.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Reservation, Status> {
        let mut reservation = Reservation::default();
        reservation.cover(self, bytes)?;
        Ok(reservation)
    }

    fn take(&self, bytes: usize) -> bool {
        let taken = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |held| {
            // The first one may be larger than the budget.
            let all = held.saturating_add(bytes);
            (held == 0 || all <= MAX_BYTES).then_some(all)
        });
        taken.is_ok()
    }
}

/// Bytes that are held until this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Reservation {
    bytes: usize,
    budget: Option<Budget>,
}

impl Reservation {
    /// Reserves what it lacks for so many bytes.
    ///
    /// # Errors
    ///
    /// If others hold so many that these are too many.
    pub(crate) fn cover(&mut self, budget: &Budget, bytes: usize) -> Result<(), Status> {
        if bytes <= SMALL || bytes <= self.bytes {
            return Ok(());
        }
        if !budget.take(bytes - self.bytes) {
            return Err(too_many_requests());
        }
        self.bytes = bytes;
        self.budget = Some(budget.clone());
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(Budget(held)) = &self.budget {
            held.fetch_sub(self.bytes, Ordering::AcqRel);
        }
    }
}

/// The failure of a request that others leave no memory for; clients try again.
fn too_many_requests() -> Status {
    let message = "Too many requests, please try again later.";
    let mut status = Status::failure(429, "TooManyRequests", message);
    status.details.get_or_insert_default().retry_after_seconds = 1;
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_bounded_and_given_back() {
        let budget = Budget::default();
        let all = budget.reserve(MAX_BYTES + 1).unwrap();
        assert_eq!(budget.reserve(SMALL + 1).unwrap_err().code, 429);
        budget.reserve(SMALL).unwrap();
        drop(all);
        let mut some = budget.reserve(MAX_BYTES / 2).unwrap();
        some.cover(&budget, MAX_BYTES).unwrap();
        assert_eq!(budget.reserve(SMALL + 1).unwrap_err().code, 429);
        drop(some);
        assert_eq!(budget.0.load(Ordering::Acquire), 0);
    }
}
