//! The watch that all changes come by (ES-40 to ES-44).

use tokio::sync::mpsc;
use tonic::{Status, Streaming};

use super::client::Client;
use super::failure::of_read;
use super::layout::{Layout, end_of_prefix};
use super::messages::{
    Empty, Event, WatchCreateRequest, WatchOperation, WatchRequest, WatchResponse,
};
use super::values::Values;
use super::{revision_of, to_i64, to_revision};
use crate::storage::{Advance, BackendError, Change, Revision};

/// How a watch learns of the revisions in which nothing of the prefix has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// It watches the prefix, and asks for the progress of the watch.
    Prefix,
    /// It watches all keys: older servers tell progress before the changes that belong to it (ES-44).
    AllKeys,
}

#[derive(Debug)]
pub(super) struct Watcher {
    coverage: Coverage,
    /// The revision up to which everything was returned.
    seen: Revision,
    requests: mpsc::Sender<WatchRequest>,
    responses: Streaming<WatchResponse>,
}

impl Watcher {
    /// Begins to watch after a revision.
    pub(super) async fn open(
        client: &Client,
        prefix: &str,
        coverage: Coverage,
        after: Revision,
    ) -> Result<Self, BackendError> {
        let (key, range_end) = match coverage {
            Coverage::Prefix => (prefix.as_bytes().to_vec(), end_of_prefix(prefix.as_bytes())),
            Coverage::AllKeys => (vec![0], vec![0]),
        };
        let start_revision = to_i64(after.saturating_add(1));
        let create = WatchCreateRequest { key, range_end, start_revision, progress_notify: true };
        let first = WatchRequest { operation: Some(WatchOperation::Create(create)) };
        let opened = client.watch(first).await;
        let (requests, responses) = opened.map_err(|status| of_read(&status, after))?;
        Ok(Watcher { coverage, seen: after, requests, responses })
    }

    pub(super) fn seen(&self) -> Revision {
        self.seen
    }

    /// Returns where progress can be asked for.
    pub(super) fn requests(&self) -> mpsc::Sender<WatchRequest> {
        self.requests.clone()
    }

    /// Waits for the next changes, or for progress without any.
    pub(super) async fn next(
        &mut self,
        layout: &Layout,
        values: &Values,
    ) -> Result<Advance, BackendError> {
        loop {
            let received = self.responses.message().await;
            let closed = || Status::unavailable("etcd has ended the watch");
            let received = received.and_then(|response| response.ok_or_else(closed));
            let response = received.map_err(|status| of_read(&status, self.seen))?;
            if response.canceled {
                return Err(self.canceled(response));
            }
            let is_progress = response.events.is_empty() && !response.created;
            let revision = match response.events.last().and_then(|event| event.kv.as_ref()) {
                Some(last) => to_revision(last.mod_revision),
                None if is_progress && self.coverage == Coverage::Prefix => {
                    revision_of(response.header.as_ref())
                }
                None => continue,
            };
            if revision <= self.seen {
                continue;
            }
            self.seen = revision;
            let events = response.events.into_iter();
            let changes = events.filter_map(|event| change(event, layout, values)).collect();
            return Ok(Advance { revision, changes });
        }
    }

    fn canceled(&self, response: WatchResponse) -> BackendError {
        match (response.compact_revision, response.cancel_reason) {
            (1.., _) => BackendError::Compacted(self.seen),
            (_, reason) if reason.is_empty() => {
                BackendError::Failed("etcd has ended the watch".to_owned())
            }
            (_, reason) => BackendError::Failed(reason),
        }
    }
}

/// The request to tell the progress of a watch.
pub(super) fn progress() -> WatchRequest {
    WatchRequest { operation: Some(WatchOperation::Progress(Empty {})) }
}

/// Returns the change of an object that an event is about, if it is about one.
fn change(event: Event, layout: &Layout, values: &Values) -> Option<Change> {
    let is_deletion = event.type_ == 1;
    let kv = event.kv?;
    let (collection, key) = layout.object(&kv.key)?;
    Some(Change {
        revision: to_revision(kv.mod_revision),
        created: to_revision(kv.create_revision),
        key: key.to_owned(),
        text: (!is_deletion).then(|| values.decode(&collection, &kv.value)),
        collection,
    })
}
