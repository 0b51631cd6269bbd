//! A bound of work.

/// The work that matching may still take. A step is an instruction that is looked at, or eight bytes of
/// text for which what follows is known already.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    left: u64,
}

/// Matching takes more steps than were left. None are left from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfSteps {}

impl std::fmt::Display for OutOfSteps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("matching takes too many steps")
    }
}

impl std::error::Error for OutOfSteps {}

impl Steps {
    /// No bound.
    pub const UNBOUNDED: Steps = Steps { left: u64::MAX };

    /// Allows a number of steps.
    #[must_use]
    pub fn of(steps: u64) -> Steps {
        Steps { left: steps }
    }

    /// Returns the number of steps that are left.
    #[must_use]
    pub fn left(self) -> u64 {
        self.left
    }

    #[inline]
    pub(crate) fn take(&mut self, steps: usize) -> Result<(), OutOfSteps> {
        match self.left.checked_sub(steps as u64) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(OutOfSteps {})
            }
        }
    }
}
