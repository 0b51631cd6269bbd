//! The logs of pods, which a server without nodes does not have itself (BK-114).

use std::fmt;
use std::sync::OnceLock;

use crate::storage::Object;

/// The source of the logs of pods; empty ones if there is none.
#[derive(Default)]
pub(crate) struct PodLogs(OnceLock<Box<ReadLog>>);

/// Returns what a container of a stored pod has logged.
type ReadLog = dyn Fn(&Object, &str) -> String + Send + Sync;

impl fmt::Debug for PodLogs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PodLogs")
    }
}

impl PodLogs {
    /// Names the source, once.
    pub(crate) fn read_by(&self, read: impl Fn(&Object, &str) -> String + Send + Sync + 'static) {
        self.0.get_or_init(|| Box::new(read));
    }

    /// Returns so many of the last lines of a log, and so many bytes of these at most.
    pub(crate) fn read(
        &self,
        pod: &Object,
        container: &str,
        lines: Option<usize>,
        bytes: Option<usize>,
    ) -> String {
        let Some(read) = self.0.get() else { return String::new() };
        let mut log = read(pod, container);
        let begin = lines.map_or(0, |lines| last_lines(&log, lines));
        log.drain(..begin);
        let mut end = bytes.map_or(log.len(), |bytes| bytes.min(log.len()));
        while !log.is_char_boundary(end) {
            end -= 1;
        }
        log.truncate(end);
        log
    }
}

/// Returns where so many of the last lines of a text begin.
fn last_lines(text: &str, lines: usize) -> usize {
    let whole = text.strip_suffix('\n').unwrap_or(text);
    match lines.checked_sub(1) {
        None => text.len(),
        Some(before) => whole.rmatch_indices('\n').nth(before).map_or(0, |(place, _)| place + 1),
    }
}
