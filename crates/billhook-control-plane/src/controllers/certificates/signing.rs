//! Requests that were approved get the certificates that a test signs.

use std::fmt;

use billhook_apimachinery::base64::encode;
use serde_json::json;

use super::ACCOUNT;
use super::checks::{CLIENT, KUBELET_CLIENT, KUBELET_SERVING, LEGACY, check};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CERTIFICATE_REQUESTS, Resource};
use crate::view::{Change, View};

/// The signers whose requests a cluster signs itself.
const SIGNERS: [&str; 4] = [CLIENT, KUBELET_CLIENT, KUBELET_SERVING, LEGACY];

/// Returns the certificate of a request, or why there is none.
type Sign = dyn Fn(&Object) -> Result<String, String> + Send + Sync;

/// Signs approved requests for certificates of the signers of a cluster.
pub struct CertificateSigning {
    sign: Box<Sign>,
}

impl fmt::Debug for CertificateSigning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateSigning").finish_non_exhaustive()
    }
}

impl CertificateSigning {
    /// Signs by a function, which returns the certificate of a request in PEM, or why there is none. It is
    /// asked for those requests that their signers do not refuse.
    pub fn by(sign: impl Fn(&Object) -> Result<String, String> + Send + Sync + 'static) -> Self {
        CertificateSigning { sign: Box::new(sign) }
    }
}

impl Controller for CertificateSigning {
    fn name(&self) -> &'static str {
        "certificatesigningrequest-signing-controller"
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
        let request =
            view.get(&CERTIFICATE_REQUESTS, key).filter(|request| is_to_be_signed(request));
        let Some(request) = request else { return Plan::nothing() };
        let mut changed = request.copy();
        match check(request).and_then(|()| (self.sign)(request)) {
            Ok(pem) => {
                set(&mut changed, &["status", "certificate"], encode(pem.as_bytes()).into());
            }
            Err(why) => {
                let now = now.to_rfc3339();
                let mut conditions = request.list("/status/conditions").to_vec();
                conditions.push(json!({
                    "type": "Failed", "status": "True", "reason": "SignerValidationFailure",
                    "message": why, "lastUpdateTime": now, "lastTransitionTime": now,
                }));
                set(&mut changed, &["status", "conditions"], conditions.into());
            }
        }
        let write = Request::update_in(&CERTIFICATE_REQUESTS, key, "status", &changed);
        Plan::nothing().request(write)
    }
}

fn is_to_be_signed(request: &Object) -> bool {
    SIGNERS.contains(&request.text("/spec/signerName"))
        && request.is_condition_true("Approved")
        && request.condition("Failed").is_none()
        && request.text("/status/certificate").is_empty()
}
