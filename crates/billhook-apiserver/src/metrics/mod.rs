//! The metrics of a server, for Prometheus.

mod backend;

use std::fmt;
use std::sync::Arc;

use billhook_admission::Observer;
use billhook_admission::metrics::AdmissionMetrics;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use self::backend::{BackendMetrics, MeasuredBackend};
use crate::builder::ServerBuilder;
use crate::measures::Measures;
use crate::storage::Backend;

/// The metrics of admission and of the backend.
struct Metrics {
    registry: Registry,
    admission: Arc<AdmissionMetrics>,
    backend: Arc<BackendMetrics>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    fn new() -> Self {
        let mut registry = Registry::default();
        let admission = Arc::new(AdmissionMetrics::new(&mut registry));
        let backend = Arc::new(BackendMetrics::new(&mut registry));
        Metrics { registry, admission, backend }
    }
}

impl Measures for Metrics {
    fn observer(&self) -> Arc<dyn Observer> {
        Arc::<AdmissionMetrics>::clone(&self.admission)
    }

    fn measured(&self, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
        Arc::new(MeasuredBackend::new(backend, Arc::clone(&self.backend)))
    }

    fn text(&self) -> String {
        self.backend.refresh();
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        in_order(&text)
    }
}

/// Returns the text with the series of each metric in the order of their labels, whatever order they
/// are kept in.
fn in_order(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut series: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.starts_with('#') {
            write_sorted(&mut out, &mut series);
            out.push_str(line);
            out.push('\n');
        } else {
            series.push(line);
        }
    }
    write_sorted(&mut out, &mut series);
    out
}

/// Writes series by their labels; the lines of a histogram stay in their order.
fn write_sorted(out: &mut String, series: &mut Vec<&str>) {
    series.sort_by_key(|line| labels(line));
    for line in series.drain(..) {
        out.push_str(line);
        out.push('\n');
    }
}

/// The labels of a line, without the bound of a bucket, which comes first.
fn labels(line: &str) -> &str {
    let labels = line.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}'));
    let labels = labels.map(|(labels, _)| labels).unwrap_or_default();
    match labels.strip_prefix("le=\"").and_then(|rest| rest.split_once('"')) {
        Some((_, rest)) => rest.strip_prefix(',').unwrap_or(rest),
        None => labels,
    }
}

impl ServerBuilder {
    /// Serves metrics at `/metrics` in the text format of Prometheus: those of webhooks, policies,
    /// admission plugins and conversions with the names of kube-apiserver, and those of the backend, if
    /// there is one: `billhook_backend_request_duration_seconds`, `billhook_backend_retries_total`,
    /// `billhook_backend_revision` and `billhook_backend_revision_lag`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use billhook_apiserver::Server;
    /// use tower_service::Service as _;
    ///
    /// let mut server = Server::builder().metrics().build();
    /// let request = http::Request::get("/metrics").body(String::new())?;
    /// assert_eq!(server.call(request).await?.status(), 200);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn metrics(self) -> Self {
        self.measures(Arc::new(Metrics::new()))
    }
}
