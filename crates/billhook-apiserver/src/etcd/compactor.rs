//! The protocol by which one of the servers of an etcd compacts it (ES-50).

use std::sync::Weak;
use std::time::Duration;

use tonic::Status;

use super::client::Client;
use super::messages::CompactionRequest;
use super::transactions::turn;

/// The knowledge of a server about the compaction.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The version of the key.
    version: i64,
    /// The revision at the last turn.
    revision: i64,
}

/// Takes its turn at every interval, as long as the client is there.
pub(super) async fn run(client: Weak<Client>, interval: Duration) {
    let mut known = Known::default();
    loop {
        tokio::time::sleep(interval).await;
        let Some(client) = client.upgrade() else { return };
        // Who has failed tries again at the next turn.
        if let Ok(next) = take_turn(&client, known).await {
            known = next;
        }
    }
}

/// Compacts at the revision of the last turn, unless another server has done so since.
async fn take_turn(client: &Client, known: Known) -> Result<Known, Status> {
    let answer = client.transaction(&turn(known.version, known.revision)).await?;
    let revision = answer.header.map_or(0, |header| header.revision);
    if !answer.succeeded {
        let found = answer.responses.into_iter().filter_map(|response| response.range);
        let version = found.flat_map(|range| range.kvs).map(|kv| kv.version).next();
        return Ok(Known { version: version.unwrap_or_default(), revision });
    }
    let next = Known { version: known.version + 1, revision };
    if known.revision > 0 {
        client.compact(&CompactionRequest { revision: known.revision }).await?;
    }
    Ok(next)
}
