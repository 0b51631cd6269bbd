//! Webhook configurations and policies count from the write on that stores them.

use crate::admission_configuration::Configures;
use crate::shared::{Change, Controller, Shared};

/// Takes over what is stored of webhooks and policies.
#[derive(Debug)]
pub(super) struct Configuration;

impl Controller for Configuration {
    fn watches(&self, group: &str, plural: &str) -> bool {
        Configures::of(group, plural).is_some()
    }

    fn take_over(&self, server: &Shared, change: &Change<'_>) {
        let (group, plural) = change.collection.parts();
        if let Some(part) = Configures::of(group, plural) {
            server.configure(part);
        }
    }
}
