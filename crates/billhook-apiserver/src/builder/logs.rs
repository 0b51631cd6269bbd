//! The logs of a server.

use std::sync::Arc;

use super::ServerBuilder;
use crate::audit::{AuditEvent, AuditLog, AuditPolicy};
use crate::request_log::RequestRecord;

impl ServerBuilder {
    /// Writes an audit log: calls a function for each stage of the requests that a policy asks for.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::sync::{Arc, Mutex};
    ///
    /// use billhook_apiserver::{AuditLevel, AuditPolicy, Server};
    /// use tower_service::Service as _;
    ///
    /// let lines = Arc::new(Mutex::new(Vec::new()));
    /// let written = Arc::clone(&lines);
    /// let policy = AuditPolicy::everything(AuditLevel::Metadata);
    /// let mut server = Server::builder()
    ///     .audit(policy, move |event| written.lock().unwrap().push(event.to_string()))
    ///     .build();
    /// server.call(http::Request::get("/api/v1/pods").body(String::new())?).await?;
    /// let lines = lines.lock().unwrap();
    /// assert!(lines[0].contains(r#""stage":"RequestReceived""#));
    /// assert!(lines[1].contains(r#""stage":"ResponseComplete""#));
    /// assert!(lines[1].contains(r#""verb":"list""#));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn audit(
        mut self,
        policy: AuditPolicy,
        write: impl Fn(&AuditEvent) + Send + Sync + 'static,
    ) -> Self {
        self.audit = Some(Arc::new(AuditLog::new(policy, write)));
        self
    }

    /// Remembers requests and the codes of their answers, for [`Server::requests`](crate::Server::requests).
    #[must_use]
    pub fn log_requests(mut self) -> Self {
        self.log = self.log.keep();
        self
    }

    /// Calls a function for each request when its answer is there; for a watch, when it begins.
    ///
    /// ```
    /// use billhook_apiserver::Server;
    ///
    /// let builder = Server::builder().on_request(|record| println!("{record}"));
    /// ```
    #[must_use]
    pub fn on_request(mut self, observe: impl Fn(&RequestRecord) + Send + Sync + 'static) -> Self {
        self.log = self.log.observe(Arc::new(observe));
        self
    }
}
