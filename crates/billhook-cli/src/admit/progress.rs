//! A line that says which webhooks are awaited, for those who wait at a terminal.

use std::future::Future;
use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use billhook_admission::{CallEnd, CallStart, Observer};

use crate::report;

/// How long a webhook may take before progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The webhooks that have been asked and not answered.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    asked: Mutex<Vec<(String, Instant)>>,
}

impl Observer for Waiting {
    fn call_started(&self, call: &CallStart<'_>) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push((call.hook.to_owned(), Instant::now()));
    }

    fn call_finished(&self, end: &CallEnd<'_>) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(position) = asked.iter().position(|(hook, _)| hook == end.call.hook) {
            asked.remove(position);
        }
    }
}

impl Waiting {
    /// Waits for a future, and shows what it waits for.
    pub(crate) async fn watch<F: Future>(&self, future: F) -> F::Output {
        let mut future = std::pin::pin!(future);
        let is_terminal = io::stderr().is_terminal();
        let mut is_shown = false;
        loop {
            let patience = tokio::time::timeout(PATIENCE, future.as_mut());
            if let Ok(output) = patience.await {
                if is_shown {
                    report::progress("");
                }
                return output;
            }
            if let Some(line) = self.line().filter(|_| is_terminal) {
                report::progress(&line);
                is_shown = true;
            }
        }
    }

    fn line(&self) -> Option<String> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, since) = asked.first()?;
        let more = match asked.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        Some(format!("waiting for {first}{more}, {} s", since.elapsed().as_secs()))
    }
}
