//! The progress of a run on a terminal.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use crate::report;
use crate::summary::{count, number};

/// How often progress is shown, for the first time after as long.
const INTERVAL: Duration = Duration::from_millis(200);

/// How many of the files are done, as standard error shows it if that is a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    files: usize,
    done: usize,
    /// When it was shown; `None` if it is not to be shown at all.
    last: Option<Instant>,
}

impl Progress {
    pub(crate) fn new(files: usize, quiet: bool) -> Self {
        let shows = !quiet && files > 1 && io::stderr().is_terminal();
        Progress { files, done: 0, last: shows.then(Instant::now) }
    }

    /// Counts a file.
    pub(crate) fn step(&mut self) {
        self.done += 1;
        let Some(last) = &mut self.last else { return };
        if last.elapsed() >= INTERVAL {
            *last = Instant::now();
            report::progress(&format!("{} of {}", number(self.done), count(self.files, "file")));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        report::clear_progress();
    }
}
