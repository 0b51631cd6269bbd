//! The log of requests, for tests that ask what a client did.

mod record;
mod view;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

pub use self::record::RequestRecord;
pub(crate) use self::record::Started;
pub use self::view::RequestLog;

/// How many requests are remembered: the newest.
const REMEMBERED: usize = 100_000;

/// Is called for each request.
pub(crate) type Observe = dyn Fn(&RequestRecord) + Send + Sync;

/// The ways of the records of requests.
#[derive(Clone, Default)]
pub(crate) struct Log {
    /// The newest records, if they are remembered.
    kept: Option<Arc<Mutex<Kept>>>,
    observe: Option<Arc<Observe>>,
}

/// The records that are remembered, and how many there were.
#[derive(Default)]
struct Kept {
    records: VecDeque<Arc<RequestRecord>>,
    count: u64,
}

impl Kept {
    fn add(&mut self, record: &mut RequestRecord) {
        self.count = self.count.saturating_add(1);
        record.number = self.count;
        if self.records.len() >= REMEMBERED {
            self.records.pop_front();
        }
        self.records.push_back(Arc::new(record.clone()));
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

impl Log {
    /// The same, and records are remembered.
    pub(crate) fn keep(mut self) -> Self {
        self.kept = Some(Arc::default());
        self
    }

    /// The same, and a function is called for each.
    pub(crate) fn observe(mut self, observe: Arc<Observe>) -> Self {
        self.observe = Some(observe);
        self
    }

    /// Whether anything happens with records.
    pub(crate) fn is_on(&self) -> bool {
        self.kept.is_some() || self.observe.is_some()
    }

    pub(crate) fn add(&self, mut record: RequestRecord) {
        if let Some(kept) = &self.kept {
            kept.lock().unwrap_or_else(PoisonError::into_inner).add(&mut record);
        }
        if let Some(observe) = &self.observe {
            observe(&record);
        }
    }

    /// The records that are remembered, the oldest first.
    pub(crate) fn records(&self) -> RequestLog {
        let kept = self.kept.as_ref();
        let records = |kept: &Arc<Mutex<Kept>>| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).records.clone()
        };
        let kept = kept.map(records);
        RequestLog::new(kept.into_iter().flatten().collect())
    }
}
