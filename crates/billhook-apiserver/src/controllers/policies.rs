//! Admission policies: who may write them, and the check of their types (PO-18, PO-90).

use std::sync::Arc;

use billhook_admission::Chain;

use super::permissions::PolicyPermissions;
use crate::admission_configuration::{Configures, VALIDATING_POLICIES};
use crate::kinds::check_types;
use crate::resources::Resource;
use crate::shared::{Controller, Shared, Work, Written};
use crate::storage::Range;

/// Checks policies and their bindings.
#[derive(Debug)]
pub(super) struct Policies;

impl Controller for Policies {
    fn watches(&self, group: &str, plural: &str) -> bool {
        Configures::of(group, plural) == Some(Configures::Policies)
    }

    fn guard(&self, server: &Arc<Shared>, _: &Resource, chain: Chain) -> Chain {
        chain.plugin(PolicyPermissions(Arc::clone(server)))
    }

    fn after<'w>(&self, server: &'w Arc<Shared>, written: &Written<'w>) -> Option<Work<'w>> {
        let is_checked = server.settings.has_controllers;
        if !is_checked || written.resource.definition.name() != VALIDATING_POLICIES {
            return None;
        }
        let name = written.name()?;
        Some(Box::pin(check_types(server, name)))
    }

    fn resume<'w>(&self, server: &'w Arc<Shared>) -> Option<Work<'w>> {
        let resource = server.catalog().native(VALIDATING_POLICIES)?;
        let resumed = || -> Work<'w> {
            Box::pin(async move {
                for policy in server.storage.list(&resource.collection, Range::default()).objects {
                    check_types(server, &policy.key).await;
                }
            })
        };
        server.settings.has_controllers.then(resumed)
    }
}
