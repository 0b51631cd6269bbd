//! The lists and watches of a server's resources: from when on they are answered, until when, and what
//! the watches of a resource share.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use billhook::CrdVersion;
use billhook_apimachinery::Status;
use tokio::sync::watch;
use tokio::time::Instant;

use super::resource::Resource;
use crate::event_cache::EventCache;

/// How long a server needs to fill a cache.
const CACHE_TIME: Duration = Duration::from_millis(60);

/// A resource in a server. Forks of the server have the same resource.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) resource: Arc<Resource>,
    pub(crate) cache: Arc<WatchCache>,
}

/// The lists and watches of a server's resources that were requested, by the names of their
/// definitions.
#[derive(Debug, Default)]
pub(crate) struct WatchCaches(Mutex<Requested>);

#[derive(Debug, Default)]
struct Requested {
    caches: BTreeMap<String, Arc<WatchCache>>,
    /// Whether watches end as soon as they begin.
    has_ended: bool,
}

/// The state of the lists and watches of a resource in a server.
#[derive(Debug, Default)]
pub(crate) struct WatchCache {
    /// Says when watches end: the definition has become another one, or is gone, or the server ends.
    pub(crate) retired: watch::Sender<bool>,
    /// Made when the objects are first listed or watched since it is served as it is.
    filling: OnceLock<Filling>,
    /// The objects of the newest changes, as watches see them.
    pub(crate) events: EventCache,
}

/// The state of the memory that a server answers lists and watches from.
#[derive(Clone, Debug)]
struct Filling {
    began: Instant,
    /// Why it is never filled.
    failure: Option<String>,
}

impl WatchCaches {
    fn requested(&self) -> MutexGuard<'_, Requested> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lists and watches of a resource; it must not be defined at the same time.
    pub(crate) fn of(&self, resource: &Resource) -> Arc<WatchCache> {
        // The versions of a kind of the server itself are resources of their own.
        let name = resource.definition.name();
        let name = &*match resource.kind {
            Some(kind) => Cow::Owned(format!("{name}/{}", kind.version)),
            None => Cow::Borrowed(name),
        };
        let mut requested = self.requested();
        if let Some(cache) = requested.caches.get(name) {
            return Arc::clone(cache);
        }
        let retired = watch::Sender::new(requested.has_ended);
        let cache = Arc::new(WatchCache { retired, ..WatchCache::default() });
        requested.caches.insert(name.to_owned(), Arc::clone(&cache));
        cache
    }

    /// Ends the watches of a resource that has become another one, or is gone.
    pub(crate) fn retire(&self, name: &str) {
        if let Some(cache) = self.requested().caches.remove(name) {
            cache.retired.send_replace(true);
        }
    }

    /// Ends all watches, and those that begin from now on.
    pub(crate) fn end(&self) {
        let mut requested = self.requested();
        requested.has_ended = true;
        for cache in requested.caches.values() {
            cache.retired.send_replace(true);
        }
    }

    /// Copies them for another server: what is filled stays so, and watches are those of one server.
    pub(crate) fn fork(&self) -> Self {
        let requested = self.requested();
        let filled = requested.caches.iter().filter(|(_, cache)| cache.filling.get().is_some());
        let copies = filled.map(|(name, cache)| {
            let copy = WatchCache { filling: cache.filling.clone(), ..WatchCache::default() };
            (name.clone(), Arc::new(copy))
        });
        WatchCaches(Mutex::new(Requested { caches: copies.collect(), has_ended: false }))
    }
}

impl WatchCache {
    /// Fails while a server fills the cache that lists and watches are answered from, if it takes
    /// its time for it; it begins at the first of them (RE-140). It is never filled if an object is
    /// stored in a version that is gone, unless a webhook may do better next time (LC-43).
    pub(crate) fn check_filled(
        &self,
        resource: &Resource,
        version: &CrdVersion,
        takes_time: bool,
        find_lost: impl FnOnce() -> Option<String>,
    ) -> Result<(), Status> {
        let filling =
            self.filling.get_or_init(|| Filling { began: Instant::now(), failure: find_lost() });
        if let Some(failure) = &filling.failure {
            let (api_version, kind) = (version.api_version(), resource.definition.kind());
            return Err(reinitializing(&format!(
                ": failed to list {api_version}, Kind={kind}: {failure}"
            )));
        }
        if takes_time && resource.established.is_some() && filling.began.elapsed() < CACHE_TIME {
            return Err(reinitializing(""));
        }
        Ok(())
    }
}

/// The failure of a list or a watch whose cache is not filled (RE-140).
fn reinitializing(why: &str) -> Status {
    let message = format!("storage is (re)initializing{why}");
    let mut status = Status::failure(429, "TooManyRequests", message);
    status.details.get_or_insert_default().retry_after_seconds = 1;
    status
}
