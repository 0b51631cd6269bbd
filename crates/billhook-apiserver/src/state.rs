//! The parts of a server.

use std::sync::{Arc, PoisonError, RwLock};

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
    pub(crate) new_objects: Arc<dyn Fn() -> ServerFields + Send + Sync>,
    pub(crate) clock: Arc<dyn Fn() -> String + Send + Sync>,
}

impl Shared {
    pub(crate) fn catalog(&self) -> Catalog {
        self.catalog.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
