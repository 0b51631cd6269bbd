//! The parts of a server.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use billhook::Time;
use billhook_admission::{Chain, ServerFields, timestamp};
use billhook_apimachinery::UserInfo;

use crate::catalog::Catalog;
use crate::configured::webhook_configurations;
use crate::storage::{Collection, MemoryStorage, Storage as _};

/// Everything that requests share.
pub(crate) struct Shared {
    pub(crate) storage: MemoryStorage,
    pub(crate) catalog: RwLock<Catalog>,
    /// The user whom webhooks see (RE-142).
    pub(crate) user: UserInfo,
    /// The source of UIDs, times and name suffixes, if it is not that of every write path.
    pub(crate) new_objects: Option<Arc<dyn Fn() -> ServerFields + Send + Sync>>,
    /// The clock of managed fields and of ages.
    pub(crate) clock: Clock,
    /// The chain of the server's own writes: without webhooks, but with the way to them.
    pub(crate) chain: Chain,
    /// The chain of clients' writes: with the webhooks that are configured now.
    pub(crate) configured: RwLock<Chain>,
    /// Whether namespaces must exist (RE-141).
    pub(crate) has_namespaces: bool,
    /// Held by the one that does the server's own work.
    pub(crate) settling: tokio::sync::Mutex<()>,
}

/// Tells the time of day; the system does if nobody else.
#[derive(Clone, Default)]
pub(crate) struct Clock(pub(crate) Option<Arc<dyn Fn() -> Time + Send + Sync>>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl Clock {
    pub(crate) fn now(&self) -> Time {
        match &self.0 {
            Some(clock) => clock(),
            None => Time::parse(&timestamp()).unwrap_or_default(),
        }
    }
}

impl Shared {
    pub(crate) fn catalog(&self) -> Catalog {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes over a definition that was written.
    pub(crate) fn define(&self, collection: &Collection, name: &str) {
        let mut catalog = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        // What is stored by now counts, in whatever order writes come here.
        catalog.define(name, self.storage.get(collection, name).as_ref(), &self.chain);
    }

    pub(crate) fn configured(&self) -> Chain {
        self.configured.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes over the webhook configurations, of which one was written.
    pub(crate) fn configure(&self) {
        let mut configured = self.configured.write().unwrap_or_else(PoisonError::into_inner);
        // What is stored by now counts, in whatever order writes come here.
        let configurations = webhook_configurations(&self.storage);
        *configured = self.chain.clone().webhooks(&configurations);
    }

    /// The time that the server writes into objects.
    pub(crate) fn now(&self) -> Time {
        match &self.new_objects {
            Some(new) => Time::parse(&new().creation_timestamp).unwrap_or_default(),
            None => self.clock.now(),
        }
    }
}
