//! Requests that a test wants to be approved are.

use std::fmt;

use serde_json::json;

use super::{ACCOUNT, is_decided};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CERTIFICATE_REQUESTS, Resource};
use crate::view::{Change, View};

/// Approves requests for certificates.
pub struct CertificateApproval {
    is_approved: Box<dyn Fn(&Object) -> bool + Send + Sync>,
}

impl fmt::Debug for CertificateApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateApproval").finish_non_exhaustive()
    }
}

impl CertificateApproval {
    /// Approves the requests that a function wants to be.
    pub fn of(is_approved: impl Fn(&Object) -> bool + Send + Sync + 'static) -> Self {
        CertificateApproval { is_approved: Box::new(is_approved) }
    }
}

impl Controller for CertificateApproval {
    fn name(&self) -> &'static str {
        "certificatesigningrequest-approving-controller"
    }

    fn account(&self) -> Account {
        Account::of_controller(ACCOUNT)
    }

    fn watches(&self) -> Vec<&'static Resource> {
        vec![&CERTIFICATE_REQUESTS]
    }

    fn concerns(&self, change: &Change, _: &View, keys: &mut Keys) {
        keys.add_changed(change, &CERTIFICATE_REQUESTS);
    }

    fn sync(&self, key: &str, view: &View, now: Timestamp) -> Plan {
        let request = view.get(&CERTIFICATE_REQUESTS, key);
        let Some(request) = request.filter(|it| !is_decided(it) && (self.is_approved)(it)) else {
            return Plan::nothing();
        };
        let now = now.to_rfc3339();
        let mut conditions = request.list("/status/conditions").to_vec();
        conditions.push(json!({
            "type": "Approved", "status": "True", "reason": "AutoApproved",
            "message": "Approved by the simulated cluster.",
            "lastUpdateTime": now, "lastTransitionTime": now,
        }));
        let mut changed = request.copy();
        set(&mut changed, &["status", "conditions"], conditions.into());
        let write = Request::update_in(&CERTIFICATE_REQUESTS, key, "approval", &changed);
        Plan::nothing().request(write)
    }
}
