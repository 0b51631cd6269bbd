//! The leases that events are deleted with (ES-55).

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;
use tonic::Status;

use super::client::Client;
use super::messages::LeaseGrantRequest;

/// How many objects share a lease.
const MAX_OBJECTS: u32 = 1000;
/// How much longer a lease lasts than its objects, at most.
const MAX_REUSE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Leases {
    ttl: Duration,
    newest: Mutex<Option<Lease>>,
}

#[derive(Debug)]
struct Lease {
    id: i64,
    end: Instant,
    objects: u32,
}

impl Leases {
    pub(super) fn new(ttl: Duration) -> Self {
        Leases { ttl, newest: Mutex::default() }
    }

    /// Returns a lease that lasts for as long as an object that is written now.
    pub(super) async fn get(&self, client: &Client) -> Result<i64, Status> {
        let mut newest = self.newest.lock().await;
        let now = Instant::now();
        if let Some(lease) = newest.as_mut().filter(|lease| lease.objects < MAX_OBJECTS)
            && lease.end >= now + self.ttl
        {
            lease.objects += 1;
            return Ok(lease.id);
        }
        let time = self.ttl + MAX_REUSE.min(self.ttl / 20);
        let ttl = i64::try_from(time.as_secs()).unwrap_or(i64::MAX).max(1);
        let id = client.grant(&LeaseGrantRequest { ttl }).await?.id;
        *newest = Some(Lease { id, end: now + time, objects: 1 });
        Ok(id)
    }
}
