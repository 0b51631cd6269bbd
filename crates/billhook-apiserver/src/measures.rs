//! The seam between a server and its metrics, which not every server has.

use std::fmt;
use std::sync::Arc;

use billhook_admission::Observer;

use crate::storage::Backend;

/// Measures what a server does.
pub(crate) trait Measures: fmt::Debug + Send + Sync {
    /// Returns what observes admission.
    fn observer(&self) -> Arc<dyn Observer>;

    /// Returns a backend that is measured.
    fn measured(&self, backend: Arc<dyn Backend>) -> Arc<dyn Backend>;

    /// Prints the metrics in the text format of Prometheus.
    fn text(&self) -> String;
}
