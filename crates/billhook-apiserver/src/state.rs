//! The parts of a server.

use std::sync::{Arc, PoisonError, RwLock};

use billhook::Time;
use billhook_admission::ServerFields;
use billhook_apimachinery::UserInfo;

use crate::catalog::Catalog;
use crate::storage::MemoryStorage;

/// Everything that requests share.
pub(crate) struct Shared {
    pub(crate) storage: MemoryStorage,
    pub(crate) catalog: RwLock<Catalog>,
    /// The user whom webhooks see (RE-142).
    pub(crate) user: UserInfo,
    /// The source of UIDs, times and name suffixes, if it is not that of every write path.
    pub(crate) new_objects: Option<Arc<dyn Fn() -> ServerFields + Send + Sync>>,
    /// The clock of managed fields, if it is not that of every write path.
    pub(crate) clock: Option<Arc<dyn Fn() -> Time + Send + Sync>>,
}

impl Shared {
    pub(crate) fn catalog(&self) -> Catalog {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
