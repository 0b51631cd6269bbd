//! The revision at which the servers of an etcd have compacted it (ES-50).

use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tonic::Status;

use super::client::Client;
use super::messages::{RangeRequest, WatchCreateRequest, WatchOperation, WatchRequest};
use super::transactions::COMPACTION_KEY;
use super::{revision_of, to_i64};
use crate::storage::Revision;

/// How long to wait before the key is looked for again, when it could not be followed.
const PAUSE: Duration = Duration::from_secs(1);

/// The revision that one of the servers has compacted at last, if known.
#[derive(Debug, Default)]
pub(super) struct Compacted(AtomicU64);

impl Compacted {
    pub(super) fn get(&self) -> Revision {
        self.0.load(Ordering::Relaxed)
    }

    fn take_over(&self, value: &[u8]) {
        let revision = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
        self.0.fetch_max(revision.unwrap_or_default(), Ordering::Relaxed);
    }
}

/// Follows the key in which the servers say so, as long as the client is there.
pub(super) async fn follow(client: Weak<Client>, compacted: Weak<Compacted>) {
    while let Some((client, compacted)) = client.upgrade().zip(compacted.upgrade()) {
        // Whatever has ended the watch, the key says more.
        let _ended: Result<(), Status> = watch(&client, &compacted).await;
        drop((client, compacted));
        tokio::time::sleep(PAUSE).await;
    }
}

/// Reads the key, then watches it until that ends.
async fn watch(client: &Client, compacted: &Compacted) -> Result<(), Status> {
    let key = COMPACTION_KEY.to_vec();
    let found = client.range(&RangeRequest { key: key.clone(), ..RangeRequest::default() }).await?;
    found.kvs.iter().for_each(|kv| compacted.take_over(&kv.value));
    let start_revision = to_i64(revision_of(found.header.as_ref()).saturating_add(1));
    let create = WatchCreateRequest { key, start_revision, ..WatchCreateRequest::default() };
    let first = WatchRequest { operation: Some(WatchOperation::Create(create)) };
    // The watch ends with the sender of its requests.
    let (_requests, mut responses) = client.watch(first).await?;
    while let Some(response) = responses.message().await?.filter(|response| !response.canceled) {
        let values = response.events.iter().filter_map(|event| event.kv.as_ref());
        values.for_each(|kv| compacted.take_over(&kv.value));
    }
    Ok(())
}
