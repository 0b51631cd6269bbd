//! A backend in etcd, which other servers may share: billhook's and Kubernetes' own.

mod client;
mod compacted;
mod compactor;
mod definitions;
mod failure;
mod layout;
mod leases;
mod members;
mod messages;
mod options;
mod transactions;
mod values;
mod watcher;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use self::client::Client;
use self::compacted::Compacted;
use self::failure::{of_read, of_write};
use self::layout::{Layout, end_of_prefix};
use self::leases::Leases;
use self::messages::{CompactionRequest, Header, KeyValue, RangeRequest, WatchRequest};
pub use self::options::EtcdOptions;
use self::values::Values;
use self::watcher::{Coverage, Watcher, progress};
use crate::future::BoxFuture;
use crate::storage::{
    Advance, Backend, BackendError, Change, Collection, Commit, CommitError, Loaded, PastObjects,
    Range, Revision,
};

/// How many objects are loaded together (ES-90).
const PAGE: i64 = 10_000;
/// How many past changes are read for a watch; one that would need more is to begin anew.
const MAX_PAST: usize = 10_000;
/// How large a write is at most, as clients of etcd limit it (ES-60).
const MAX_WRITE: usize = 2 << 20;
/// How often the progress of the watch is asked for while a read waits for it (ES-44).
const PROGRESS: Duration = Duration::from_millis(100);
/// How long a question about the health of etcd may take (ES-70).
const HEALTH: Duration = Duration::from_secs(2);

/// Keeps objects in etcd, with the keys and values of kube-apiserver, so that several servers are one
/// API: a write is answered when its own server has seen it, and reads wait for what others have
/// written before (ES-65).
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use billhook_apiserver::Server;
/// use billhook_apiserver::etcd::{Etcd, EtcdOptions};
///
/// let etcd = Etcd::open(EtcdOptions::new(["http://127.0.0.1:2379"])).await?;
/// let server = Server::builder().backend(etcd).build().await?;
/// # Ok(()) }
/// ```
pub struct Etcd {
    client: Arc<Client>,
    layout: Layout,
    values: Values,
    leases: Leases,
    coverage: Coverage,
    watcher: tokio::sync::Mutex<Option<Watcher>>,
    /// Where the progress of the watch is asked for.
    requests: Mutex<Option<mpsc::Sender<WatchRequest>>>,
    /// The revision up to which the watch has returned everything.
    seen: watch::Sender<Revision>,
    compacted: Arc<Compacted>,
    /// The work that goes on as long as the backend is there.
    tasks: Vec<AbortHandle>,
}

impl fmt::Debug for Etcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etcd").field("prefix", &self.layout.prefix()).finish_non_exhaustive()
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl Etcd {
    /// Connects to an etcd. To be called in a runtime of tokio with time and I/O, which must last.
    ///
    /// # Errors
    ///
    /// If the options are unusable, or no member answers.
    pub async fn open(options: EtcdOptions) -> Result<Self, BackendError> {
        let (channel, members) = options.channels()?;
        let client = Arc::new(Client::new(channel, options.user.clone()));
        let coverage = members::coverage(members, options.user.as_ref()).await?;
        let (interval, compacted) = (options.compaction_interval, Arc::<Compacted>::default());
        let of_client = Arc::downgrade(&client);
        let follow = compacted::follow(of_client.clone(), Arc::downgrade(&compacted));
        let mut tasks = vec![tokio::spawn(follow).abort_handle()];
        if !interval.is_zero() {
            tasks.push(tokio::spawn(compactor::run(of_client, interval)).abort_handle());
        }
        Ok(Etcd {
            client,
            layout: Layout::new(&options.prefix),
            values: Values::new(),
            leases: Leases::new(options.event_ttl),
            coverage,
            watcher: tokio::sync::Mutex::default(),
            requests: Mutex::default(),
            seen: watch::channel(0).0,
            compacted,
            tasks,
        })
    }

    /// Asks once whether an etcd is there: some programs that others start in its place keep nothing.
    ///
    /// # Errors
    ///
    /// If the options are unusable, or no member answers in two seconds.
    pub async fn probe(options: &EtcdOptions) -> Result<(), BackendError> {
        let (channel, _) = options.channels()?;
        let client = Client::new(channel, options.user.clone());
        match tokio::time::timeout(HEALTH, client.status_at_once()).await {
            Ok(answer) => answer.map(drop).map_err(|status| of_read(&status, 0)),
            Err(_) => Err(silent()),
        }
    }

    /// All objects at one revision.
    async fn load_all(&self) -> Result<Loaded, BackendError> {
        let prefix = self.layout.prefix().as_bytes();
        let (revision, PastObjects { objects: mut changes, .. }) =
            self.pages(prefix.to_vec(), end_of_prefix(prefix), 0, usize::MAX).await?;
        changes.sort_by_key(|change| change.revision);
        Ok(Loaded { revision, compacted: revision, changes })
    }

    /// Reads objects at one revision, the newest one at 0, page by page. Returns the revision, too.
    async fn pages(
        &self,
        key: Vec<u8>,
        range_end: Vec<u8>,
        revision: Revision,
        limit: usize,
    ) -> Result<(Revision, PastObjects), BackendError> {
        let (mut request, mut past) = (RangeRequest::default(), PastObjects::default());
        (request.key, request.range_end, request.revision) = (key, range_end, to_i64(revision));
        loop {
            let rest = limit.saturating_sub(past.objects.len());
            request.limit = i64::try_from(rest).map_or(PAGE, |rest| rest.min(PAGE));
            let page = self.client.range(&request).await;
            let page = page.map_err(|status| of_read(&status, to_revision(request.revision)))?;
            if request.revision == 0 {
                request.revision = page.header.map_or(0, |header| header.revision);
            }
            past.objects.extend(page.kvs.iter().filter_map(|kv| self.object(kv)));
            let count = usize::try_from(page.count).unwrap_or_default();
            past.remaining = count.saturating_sub(page.kvs.len());
            match page.kvs.last().filter(|_| page.more && past.objects.len() < limit) {
                // The key after the last one.
                Some(last) => request.key = [&last.key[..], &[0]].concat(),
                None => return Ok((to_revision(request.revision), past)),
            }
        }
    }

    /// Reads a part of a collection as it was at a revision.
    async fn past(
        &self,
        collection: &Collection,
        range: Range<'_>,
        at: Revision,
    ) -> Result<PastObjects, BackendError> {
        let Range { prefix, after, limit, .. } = range;
        let first = self.layout.key(collection, prefix);
        let end = end_of_prefix(&first);
        let key = match after > prefix {
            true => [self.layout.key(collection, after), vec![0]].concat(),
            false => first,
        };
        if limit == Some(0) || key >= end {
            return Ok(PastObjects::default());
        }
        let (_, past) = self.pages(key, end, at, limit.unwrap_or(usize::MAX)).await?;
        Ok(past)
    }

    fn object(&self, kv: &KeyValue) -> Option<Change> {
        let (collection, key) = self.layout.object(&kv.key)?;
        Some(Change {
            revision: to_revision(kv.mod_revision),
            created: to_revision(kv.create_revision),
            key: key.to_owned(),
            text: Some(self.values.decode(&collection, &kv.value)),
            collection,
        })
    }

    async fn write(&self, commit: Commit) -> Result<Revision, CommitError> {
        let Commit { collection, key, expected, text } = commit;
        if (expected, &text) == (None, &None) {
            let revision = *self.seen.borrow();
            return Err(CommitError::Mismatch { revision });
        }
        let value = text.map(|text| self.value(&collection, &text)).transpose()?;
        let key = self.layout.key(&collection, &key);
        let lease = match (collection.parts(), &value) {
            (("", "events"), Some(_)) => {
                let lease = self.leases.get(&self.client).await;
                lease.map_err(|status| CommitError::Failed(status.message().to_owned()))?
            }
            _ => 0,
        };
        let expected = expected.map_or(0, to_i64);
        let transaction = transactions::write(key, expected, value, lease);
        let answer = self.client.transaction(&transaction).await;
        let answer = answer.map_err(|status| of_write(&status))?;
        let revision = revision_of(answer.header.as_ref());
        if answer.succeeded {
            return Ok(revision);
        }
        self.reach(revision).await;
        Err(CommitError::Mismatch { revision })
    }

    fn value(&self, collection: &Collection, text: &Bytes) -> Result<Bytes, CommitError> {
        let value = self.values.encode(collection, text).map_err(CommitError::Failed)?;
        if value.len() > MAX_WRITE {
            let why =
                format!("trying to send message larger than max ({} vs. {MAX_WRITE})", value.len());
            return Err(CommitError::TooLarge(why));
        }
        Ok(value)
    }

    /// Waits until the watch has returned everything up to a revision.
    async fn reach(&self, revision: Revision) {
        let mut seen = self.seen.subscribe();
        loop {
            let reached = seen.wait_for(|seen| *seen >= revision);
            if self.coverage == Coverage::AllKeys {
                drop(reached.await);
                return;
            }
            if *self.seen.borrow() < revision {
                let requests = self.requests().clone();
                if let Some(requests) = requests {
                    // Without room, enough is asked for already.
                    let _ = requests.try_send(progress());
                }
            }
            if tokio::time::timeout(PROGRESS, reached).await.is_ok() {
                return;
            }
        }
    }

    fn requests(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<WatchRequest>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for what happens after a revision, by the watch that is open or a new one.
    async fn advance(&self, after: Revision) -> Result<Advance, BackendError> {
        let mut open = self.watcher.lock().await;
        let mut watcher = match open.take().filter(|watcher| watcher.seen() == after) {
            Some(watcher) => watcher,
            None => {
                let prefix = self.layout.prefix();
                let watcher = Watcher::open(&self.client, prefix, self.coverage, after).await?;
                *self.requests() = Some(watcher.requests());
                watcher
            }
        };
        let advance = watcher.next(&self.layout, &self.values).await?;
        *open = Some(watcher);
        self.seen.send_replace(advance.revision);
        Ok(advance)
    }

    /// Reads the changes of a collection after a revision, up to another one, by a watch of its own.
    async fn between(
        &self,
        collection: &Collection,
        after: Revision,
        until: Revision,
    ) -> Result<Vec<Change>, BackendError> {
        let prefix = self.layout.prefix();
        let mut watcher = Watcher::open(&self.client, prefix, self.coverage, after).await?;
        let mut changes = Vec::new();
        while watcher.seen() < until {
            if self.coverage == Coverage::Prefix {
                // Without room, enough is asked for already.
                let _ = watcher.requests().try_send(progress());
            }
            let next = watcher.next(&self.layout, &self.values);
            let Ok(advance) = tokio::time::timeout(PROGRESS, next).await else { continue };
            let is_wanted = |it: &Change| it.collection == *collection && it.revision <= until;
            changes.extend(advance?.changes.into_iter().filter(is_wanted));
            if changes.len() > MAX_PAST {
                return Err(BackendError::Compacted(after));
            }
        }
        Ok(changes)
    }

    /// Asks for the newest revision, which every answer tells, and waits until it is seen.
    async fn ask_for_revision(&self) -> Result<Revision, BackendError> {
        let revision = self.ask_for_health().await?;
        self.reach(revision).await;
        Ok(revision)
    }

    /// Asks for the key that tells whether etcd is well, and need not be there (ES-70). A get of one key
    /// is what all servers of etcd's API do alike (ES-81). Returns the newest revision.
    async fn ask_for_health(&self) -> Result<Revision, BackendError> {
        let key = format!("{}health", self.layout.prefix()).into();
        let answer = self.client.range(&RangeRequest { key, ..RangeRequest::default() }).await;
        let answer = answer.map_err(|status| of_read(&status, 0))?;
        Ok(revision_of(answer.header.as_ref()))
    }
}

impl Backend for Etcd {
    fn name(&self) -> &'static str {
        "etcd"
    }

    fn retries(&self) -> u64 {
        self.client.retries()
    }

    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>> {
        Box::pin(async {
            let loaded = self.load_all().await?;
            self.seen.send_replace(loaded.revision);
            Ok(loaded)
        })
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Revision, CommitError>> {
        Box::pin(self.write(commit))
    }

    fn changes(&self, after: Revision) -> BoxFuture<'_, Result<Advance, BackendError>> {
        Box::pin(self.advance(after))
    }

    fn current_revision(&self) -> BoxFuture<'_, Result<Option<Revision>, BackendError>> {
        Box::pin(async { self.ask_for_revision().await.map(Some) })
    }

    fn compacted(&self) -> Revision {
        self.compacted.get()
    }

    fn list_at<'b>(
        &'b self,
        collection: &'b Collection,
        range: Range<'b>,
        at: Revision,
    ) -> BoxFuture<'b, Result<PastObjects, BackendError>> {
        Box::pin(self.past(collection, range, at))
    }

    fn changes_of<'b>(
        &'b self,
        collection: &'b Collection,
        after: Revision,
        until: Revision,
    ) -> BoxFuture<'b, Result<Vec<Change>, BackendError>> {
        Box::pin(self.between(collection, after, until))
    }

    fn check(&self) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async {
            let asked = tokio::time::timeout(HEALTH, self.ask_for_health()).await;
            asked.map_or_else(|_| Err(silent()), |answer| answer.map(drop))
        })
    }

    fn compact(&self, revision: Revision) -> BoxFuture<'_, Result<(), BackendError>> {
        Box::pin(async move {
            let request = CompactionRequest { revision: to_i64(revision) };
            match self.client.compact(&request).await {
                // Another one has compacted further.
                Err(status) if status.code() == tonic::Code::OutOfRange => Ok(()),
                compacted => compacted.map_err(|status| of_read(&status, revision)),
            }
        })
    }
}

/// The failure of an etcd that is asked whether it is well.
fn silent() -> BackendError {
    BackendError::Failed("etcd does not answer".to_owned())
}

/// The revision of the cluster when it answered.
fn revision_of(header: Option<&Header>) -> Revision {
    to_revision(header.map_or(0, |header| header.revision))
}

fn to_revision(revision: i64) -> Revision {
    Revision::try_from(revision).unwrap_or_default()
}

fn to_i64(revision: Revision) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}
