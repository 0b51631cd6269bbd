//! The limits of a server: the time of requests, and what it refuses or does not have.

use std::time::Duration;

use billhook_apimachinery::split_api_version;
use billhook_kinds::SecurityDefaults;

use super::ServerBuilder;
use crate::own::is_needed;

impl ServerBuilder {
    /// Sets how long a request other than a watch may take, 60 seconds by default (RE-22).
    #[must_use]
    pub fn request_time(mut self, time: Duration) -> Self {
        self.request_time = time;
        self
    }

    /// Sets how long a watch lasts that names no time, 30 minutes by default (WA-07).
    #[must_use]
    pub fn watch_time(mut self, time: Duration) -> Self {
        self.watch_time = time;
        self
    }

    /// Refuses privileged containers, as a server does that does not allow them (ET-61).
    #[must_use]
    pub fn refuse_privileged(mut self) -> Self {
        self.refuses_privileged = true;
        self
    }

    /// Sets the levels of security of namespaces that ask for none, and who is exempt (BK-567).
    #[must_use]
    pub fn pod_security(mut self, defaults: SecurityDefaults) -> Self {
        self.pod_security = defaults;
        self
    }

    /// Whether a server can do without a version of a group: it needs some itself, such as `v1`.
    pub fn can_do_without(api_version: &str) -> bool {
        !is_needed(split_api_version(api_version).0)
    }

    /// Does not serve a version of a group, such as `policy/v1`, if the server can do without (ET-61).
    ///
    /// ```
    /// let server = billhook_apiserver::Server::builder().without_api_version("policy/v1").build();
    /// ```
    #[must_use]
    pub fn without_api_version(mut self, api_version: &str) -> Self {
        if ServerBuilder::can_do_without(api_version) {
            self.disabled_versions.push(api_version.to_owned());
        }
        self
    }
}
