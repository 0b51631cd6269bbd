//! The metrics of a backend.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::future::BoxFuture;
use crate::storage::{
    Advance, Backend, BackendError, Change, Collection, Commit, CommitError, Loaded, PastObjects,
    Range, Revision,
};

/// The buckets of the times of requests, in seconds: from a commit in memory to the deadline of a write.
const BUCKETS: [f64; 14] =
    [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    backend: &'static str,
    operation: &'static str,
    outcome: &'static str,
}

/// The state of a backend, as its requests have shown it.
#[derive(Debug)]
pub(super) struct BackendMetrics {
    request_seconds: Family<RequestLabels, Histogram, fn() -> Histogram>,
    retries: Counter,
    arrived: Gauge,
    lag: Gauge,
    /// The newest revision that the backend has reported.
    newest: AtomicU64,
    backend: OnceLock<Weak<dyn Backend>>,
}

impl BackendMetrics {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let metrics = BackendMetrics {
            request_seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            retries: Counter::default(),
            arrived: Gauge::default(),
            lag: Gauge::default(),
            newest: AtomicU64::new(0),
            backend: OnceLock::new(),
        };
        registry.register_with_unit(
            "billhook_backend_request_duration",
            "Time that requests to the backend took, by operation and outcome",
            Unit::Seconds,
            metrics.request_seconds.clone(),
        );
        registry.register(
            "billhook_backend_retries",
            "Requests to the backend that were made again after a failure",
            metrics.retries.clone(),
        );
        registry.register(
            "billhook_backend_revision",
            "Revision up to which the changes of the backend have arrived",
            metrics.arrived.clone(),
        );
        registry.register(
            "billhook_backend_revision_lag",
            "How far the newest revision that the backend has reported is ahead of that",
            metrics.lag.clone(),
        );
        metrics
    }

    /// Brings up to date what is not counted as it happens.
    pub(super) fn refresh(&self) {
        let newest = to_gauge(self.newest.load(Ordering::Relaxed));
        self.lag.set(newest.saturating_sub(self.arrived.get()).max(0));
        if let Some(backend) = self.backend.get().and_then(Weak::upgrade) {
            self.retries.inner().store(backend.retries(), Ordering::Relaxed);
        }
    }

    fn has_reported(&self, revision: Revision) {
        self.newest.fetch_max(revision, Ordering::Relaxed);
    }

    fn have_arrived(&self, revision: Revision) {
        self.has_reported(revision);
        self.arrived.inner().fetch_max(to_gauge(revision), Ordering::Relaxed);
    }
}

fn to_gauge(revision: Revision) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}

/// A backend whose requests are measured.
#[derive(Debug)]
pub(super) struct MeasuredBackend {
    backend: Arc<dyn Backend>,
    metrics: Arc<BackendMetrics>,
}

impl MeasuredBackend {
    pub(super) fn new(backend: Arc<dyn Backend>, metrics: Arc<BackendMetrics>) -> Self {
        metrics.backend.get_or_init(|| Arc::downgrade(&backend));
        MeasuredBackend { backend, metrics }
    }

    /// Measures a request until its answer is there.
    async fn measure<T, E: Failure>(
        &self,
        operation: &'static str,
        request: BoxFuture<'_, Result<T, E>>,
    ) -> Result<T, E> {
        let begin = Instant::now();
        let answer = request.await;
        let outcome = answer.as_ref().err().map_or("success", Failure::outcome);
        let labels = RequestLabels { backend: self.backend.name(), operation, outcome };
        self.metrics.request_seconds.get_or_create(&labels).observe(begin.elapsed().as_secs_f64());
        answer
    }
}

/// A failure, as a label.
trait Failure {
    fn outcome(&self) -> &'static str;
}

impl Failure for CommitError {
    fn outcome(&self) -> &'static str {
        match self {
            CommitError::Mismatch { .. } => "mismatch",
            CommitError::Failed(_) | CommitError::TooLarge(_) => "failure",
            CommitError::Unknown(_) => "unknown",
        }
    }
}

impl Failure for BackendError {
    fn outcome(&self) -> &'static str {
        match self {
            BackendError::Failed(_) => "failure",
            BackendError::Compacted(_) => "compacted",
        }
    }
}

impl Backend for MeasuredBackend {
    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>> {
        Box::pin(async {
            let loaded = self.measure("load", self.backend.load()).await?;
            self.metrics.have_arrived(loaded.revision);
            Ok(loaded)
        })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Revision, CommitError>> {
        Box::pin(async {
            let revision = self.measure("commit", self.backend.commit(commit)).await?;
            self.metrics.has_reported(revision);
            Ok(revision)
        })
    }

    // Its time says when others write, not how fast the backend is.
    fn changes(&self, after: Revision) -> BoxFuture<'_, Result<Advance, BackendError>> {
        Box::pin(async move {
            let advance = self.backend.changes(after).await?;
            self.metrics.have_arrived(advance.revision);
            Ok(advance)
        })
    }

    fn current_revision(&self) -> BoxFuture<'_, Result<Option<Revision>, BackendError>> {
        Box::pin(async {
            let revision =
                self.measure("current_revision", self.backend.current_revision()).await?;
            revision.inspect(|revision| self.metrics.has_reported(*revision));
            Ok(revision)
        })
    }

    fn compacted(&self) -> Revision {
        self.backend.compacted()
    }

    fn list_at<'b>(
        &'b self,
        collection: &'b Collection,
        range: Range<'b>,
        at: Revision,
    ) -> BoxFuture<'b, Result<PastObjects, BackendError>> {
        Box::pin(self.measure("list_at", self.backend.list_at(collection, range, at)))
    }

    fn changes_of<'b>(
        &'b self,
        collection: &'b Collection,
        after: Revision,
        until: Revision,
    ) -> BoxFuture<'b, Result<Vec<Change>, BackendError>> {
        Box::pin(self.measure("changes_of", self.backend.changes_of(collection, after, until)))
    }

    fn name(&self) -> &'static str {
        self.backend.name()
    }

    fn retries(&self) -> u64 {
        self.backend.retries()
    }

    fn check(&self) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(self.measure("check", self.backend.check()))
    }

    fn compact(&self, revision: Revision) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(self.measure("compact", self.backend.compact(revision)))
    }

    fn close(&self) -> BoxFuture<'_, Result<(), BackendError>> {
        self.backend.close()
    }
}
