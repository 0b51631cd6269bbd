//! The logs of containers, as far as the status of their pod says whether they have one, and for how long
//! they are followed (BK-114).

use std::fmt;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};

use billhook_apimachinery::Status;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::text;
use billhook_decode::read_json;
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::answer::{Body, Lines};
use crate::future::BoxFuture;
use crate::storage::Watch;

/// Fails if a container has not started, or not started again where the log before that is wanted. A pod
/// whose status does not name the container has an empty log.
pub(super) fn check_has_log(
    pod: &str,
    status: &Value,
    container: &str,
    is_previous: bool,
) -> Result<(), Status> {
    let Some(found) = status_of(status, container) else { return Ok(()) };
    if found.pointer("/lastState/terminated").is_some() {
        return Ok(());
    }
    let (container, pod) = (quote(container), quote(pod));
    if is_previous {
        let why = format!("previous terminated container {container} in pod {pod} not found");
        return Err(Status::bad_request(why));
    }
    let Some(waiting) = found.pointer("/state/waiting") else { return Ok(()) };
    let reason = match text(waiting, "reason") {
        "ErrImagePull" | "ImagePullBackOff" => "trying and failing to pull image",
        reason => reason,
    };
    let why = format!("container {container} in pod {pod} is waiting to start: {reason}");
    Err(Status::bad_request(why))
}

/// Returns what the status of a pod says of a container.
fn status_of<'s>(status: &'s Value, container: &str) -> Option<&'s Value> {
    let lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
    let lists = lists.into_iter().filter_map(|list| status.get(list)?.as_array());
    lists.flatten().find(|found| text(found, "name") == container)
}

/// A running container: how often it has been started again.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Running(i64);

impl Running {
    /// Finds a container in the status of its pod; `None` if it does not run.
    pub(super) fn find(status: &Value, container: &str) -> Option<Self> {
        if matches!(text(status, "phase"), "Succeeded" | "Failed") {
            return None;
        }
        let Some(found) = status_of(status, container) else { return Some(Running(0)) };
        let restarts = found.get("restartCount").and_then(Value::as_i64).unwrap_or_default();
        found.pointer("/state/running").map(|_| Running(restarts))
    }

    /// Returns a log that lasts until the container ends or its pod is gone, as long as it is followed.
    pub(super) fn follow(
        self,
        log: String,
        container: &str,
        key: &Arc<str>,
        followed: Followed,
    ) -> Body {
        let Followed { mut changes, mut retired, end } = followed;
        let (container, key) = (container.to_owned(), Arc::clone(key));
        let runs = move |pod: &[u8]| {
            let pod = read_json(pod).ok();
            let status = pod.as_ref().and_then(|pod| pod.value().get("status"));
            Running::find(status.unwrap_or(&Value::Null), &container) == Some(self)
        };
        let ended = async move {
            loop {
                let change = tokio::select! {
                    biased;
                    change = timeout_at(end, changes.next()) => change,
                    _ = retired.wait_for(|is_retired| *is_retired) => return,
                };
                let Ok(Ok(change)) = change else { return };
                let is_meant = change.key() == &*key;
                if is_meant && !change.after.is_some_and(|pod| runs(&pod.text)) {
                    return;
                }
            }
        };
        let log = Some(Bytes::from(log)).filter(|log| !log.is_empty());
        Body::events(FollowedLog { log, ended: Box::pin(ended) }, end.into_std())
    }
}

/// How a log is followed.
pub(super) struct Followed {
    /// The changes of pods whose key begins with that of this one, since its status was read.
    pub(super) changes: Watch,
    /// Says when watches of pods end.
    pub(super) retired: watch::Receiver<bool>,
    pub(super) end: Instant,
}

/// The log of a container that runs.
struct FollowedLog {
    /// Its text up to now, until it is sent.
    log: Option<Bytes>,
    ended: BoxFuture<'static, ()>,
}

impl fmt::Debug for FollowedLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FollowedLog")
    }
}

impl Lines for FollowedLog {
    fn poll_line(&mut self, context: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        if let Some(log) = self.log.take() {
            return Poll::Ready(Some(log));
        }
        ready!(self.ended.as_mut().poll(context));
        Poll::Ready(None)
    }
}
