//! Requests that are approved: because a test wants it, or because their users may make them.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{ACCOUNT, is_decided};
use crate::account::Account;
use crate::clock::Timestamp;
use crate::controller::{Controller, Keys};
use crate::document::set;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::{CERTIFICATE_REQUESTS, Resource, SUBJECT_ACCESS_REVIEWS};
use crate::view::{Change, View};

/// Approves requests for certificates.
pub struct CertificateApproval {
    decide: Box<Decide>,
}

/// Returns the decision about a request; `None` to leave it alone.
type Decide = dyn Fn(&Object) -> Option<Decision> + Send + Sync;

/// A decision about a request.
enum Decision {
    Approve,
    /// It is approved if its user may create this subresource of requests.
    Review(&'static str),
}

/// The message of requests that a test wants to be approved.
const WANTED: &str = "Approved by the simulated cluster.";

impl fmt::Debug for CertificateApproval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateApproval").finish_non_exhaustive()
    }
}

impl CertificateApproval {
    /// Approves the requests that a function wants to be.
    pub fn of(is_approved: impl Fn(&Object) -> bool + Send + Sync + 'static) -> Self {
        let decide = move |request: &Object| is_approved(request).then_some(Decision::Approve);
        CertificateApproval { decide: Box::new(decide) }
    }

    /// Approves the requests for which a function names a subresource, such as `selfnodeclient` for those
    /// of kubelets for themselves, if an access review says that their users may create it.
    pub fn after_review(
        subresource: impl Fn(&Object) -> Option<&'static str> + Send + Sync + 'static,
    ) -> Self {
        let decide = move |request: &Object| subresource(request).map(Decision::Review);
        CertificateApproval { decide: Box::new(decide) }
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
        let request = view.get(&CERTIFICATE_REQUESTS, key).filter(|request| !is_decided(request));
        let Some(request) = request else { return Plan::nothing() };
        match (self.decide)(request) {
            Some(Decision::Approve) => approve(request, WANTED, now),
            Some(Decision::Review(subresource)) => review(request, subresource, now),
            None => Plan::nothing(),
        }
    }
}

fn approve(request: &Object, message: &str, now: Timestamp) -> Plan {
    let now = now.to_rfc3339();
    let mut conditions = request.list("/status/conditions").to_vec();
    conditions.push(json!({
        "type": "Approved", "status": "True", "reason": "AutoApproved", "message": message,
        "lastUpdateTime": now, "lastTransitionTime": now,
    }));
    let mut changed = request.copy();
    set(&mut changed, &["status", "conditions"], conditions.into());
    let write = Request::update_in(&CERTIFICATE_REQUESTS, request.key(), "approval", &changed);
    Plan::nothing().request(write)
}

/// Asks whether the user of a request may make it, and approves it if so.
fn review(request: &Arc<Object>, subresource: &'static str, now: Timestamp) -> Plan {
    let asked = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": SUBJECT_ACCESS_REVIEWS.kind,
        "spec": {
            "user": request.get("/spec/username"), "uid": request.get("/spec/uid"),
            "groups": request.get("/spec/groups"), "extra": request.get("/spec/extra"),
            "resourceAttributes": {
                "group": CERTIFICATE_REQUESTS.group, "resource": CERTIFICATE_REQUESTS.plural,
                "subresource": subresource, "verb": "create",
            },
        },
    });
    let ask = Request::create(&SUBJECT_ACCESS_REVIEWS, "", &asked);
    let request = Arc::clone(request);
    Plan::nothing().then(vec![ask], move |outcomes| {
        let Some(outcome) = outcomes.first() else { return Plan::nothing() };
        if let Some(failed) = Plan::of_outcome(outcome) {
            return failed;
        }
        if outcome.object().pointer("/status/allowed") != Some(&Value::Bool(true)) {
            let name = request.name();
            return Plan::failure(format!(
                "recognized csr {name:?} as {subresource} but subject access review was not approved"
            ));
        }
        let whose = if subresource == "selfnodeclient" { "self kubelet" } else { "kubelet" };
        let message =
            format!("Auto approving {whose} client certificate after SubjectAccessReview.");
        approve(&request, &message, now)
    })
}
