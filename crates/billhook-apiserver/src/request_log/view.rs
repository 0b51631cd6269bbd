//! The requests that a test asks for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::record::RequestRecord;

/// Requests in their order, as [`Server::requests`](crate::Server::requests) returns them. Prints a
/// line for each.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use billhook_apiserver::Server;
/// use tower_service::Service as _;
///
/// let mut server = Server::builder().log_requests().build();
/// let pods = "/api/v1/namespaces/default/pods";
/// let request = http::Request::get(pods).header("user-agent", "shop-controller/v1");
/// server.call(request.body(String::new())?).await?;
///
/// let requests = server.requests().by("shop-controller");
/// assert_eq!(requests.of("pods").len(), 1);
/// assert!(requests.writes().is_empty(), "{requests}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct RequestLog(Vec<Arc<RequestRecord>>);

impl RequestLog {
    pub(super) fn new(records: Vec<Arc<RequestRecord>>) -> Self {
        RequestLog(records)
    }

    fn only(&self, is_wanted: impl Fn(&RequestRecord) -> bool) -> Self {
        RequestLog(self.0.iter().filter(|record| is_wanted(record)).cloned().collect())
    }

    /// Returns the requests of a client or a user of this name.
    #[must_use]
    pub fn by(&self, name: &str) -> Self {
        self.only(|record| record.client == name || record.user == name)
    }

    /// Returns the requests for a resource, such as `pods` or `deployments.apps`, its subresources
    /// included; or for a subresource, such as `pods/status`.
    #[must_use]
    pub fn of(&self, resource: &str) -> Self {
        let (resource, subresource) = match resource.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource)),
            None => (resource, None),
        };
        let (resource, group) = match resource.split_once('.') {
            Some((resource, group)) => (resource, Some(group)),
            None => (resource, None),
        };
        self.only(|record| {
            record.resource == resource
                && group.is_none_or(|group| record.group == group)
                && subresource.is_none_or(|subresource| record.subresource == subresource)
        })
    }

    /// Returns the requests for an object, by its namespace and its name; the namespace of an object
    /// without one is empty.
    #[must_use]
    pub fn for_object(&self, namespace: &str, name: &str) -> Self {
        self.only(|record| record.namespace == namespace && record.name == name)
    }

    /// Returns the requests with a verb, such as `patch`.
    #[must_use]
    pub fn with_verb(&self, verb: &str) -> Self {
        self.only(|record| record.verb == verb)
    }

    /// Returns the requests that were to write.
    #[must_use]
    pub fn writes(&self) -> Self {
        self.only(RequestRecord::is_write)
    }

    /// Returns the requests that were refused.
    #[must_use]
    pub fn refused(&self) -> Self {
        self.only(|record| !record.is_accepted())
    }

    /// Returns the updates and patches that were accepted and changed nothing. Where others write at
    /// the same time, some may be missing.
    #[must_use]
    pub fn needless(&self) -> Self {
        self.only(RequestRecord::is_needless)
    }

    /// Returns the requests after the first so many: those since a test counted them.
    #[must_use]
    pub fn after(&self, count: usize) -> Self {
        RequestLog(self.0.iter().skip(count).cloned().collect())
    }

    /// Returns the requests with larger numbers: those since one that was seen.
    #[must_use]
    pub fn after_number(&self, number: u64) -> Self {
        self.only(|record| record.number > number)
    }

    /// Returns the objects and verbs that more requests of one client were for than a bound, with
    /// their number: what a controller does that never comes to rest.
    pub fn repeated(&self, bound: usize) -> Vec<(String, usize)> {
        let mut counts = BTreeMap::<String, usize>::new();
        for record in &self.0 {
            let RequestRecord { client, verb, path, .. } = &**record;
            *counts.entry(format!("{client} {verb} {path}")).or_default() += 1;
        }
        counts.into_iter().filter(|(_, count)| *count > bound).collect()
    }

    /// Returns the number of requests.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the requests, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &RequestRecord> {
        self.0.iter().map(|record| &**record)
    }
}

impl fmt::Display for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|record| writeln!(f, "{record}"))
    }
}
