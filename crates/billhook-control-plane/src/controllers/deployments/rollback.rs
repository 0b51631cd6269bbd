//! The annotation that asks for an earlier revision (CP-38).

use serde_json::Value;

use super::new_set::OWN;
use super::sets::{ROLLBACK, Sets, revision_of, template_of};
use crate::document::{remove, set};
use crate::event::Event;
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::DEPLOYMENTS;

/// Returns the revision that is asked for; 0 for the previous one.
pub(super) fn wanted(deployment: &Object) -> Option<i64> {
    deployment.annotation(ROLLBACK)?.parse().ok()
}

/// Takes the template of a revision into the Deployment, and the annotation away.
pub(super) fn to(deployment: &Object, sets: &Sets, revision: i64) -> Plan {
    let revision = match revision {
        0 => previous(sets),
        revision => Some(revision),
    };
    let mut document = deployment.copy();
    let found = revision.and_then(|it| sets.all().find(|set| revision_of(set) == it));
    let event = match (revision, found) {
        (None, _) => {
            let message = "Unable to find last revision.".to_owned();
            Event::warning(&DEPLOYMENTS, deployment, "DeploymentRollbackRevisionNotFound", message)
        }
        (Some(_), None) => {
            let message = "Unable to find the revision to rollback to.".to_owned();
            Event::warning(&DEPLOYMENTS, deployment, "DeploymentRollbackRevisionNotFound", message)
        }
        (Some(_), Some(set)) if template_of(set) == *deployment.get("/spec/template") => {
            let message = format!(
                "The rollback revision contains the same template as current deployment \"{}\"",
                deployment.name()
            );
            let reason = "DeploymentRollbackTemplateUnchanged";
            Event::warning(&DEPLOYMENTS, deployment, reason, message)
        }
        (Some(revision), Some(found)) => {
            take_over(&mut document, deployment, found);
            let name = deployment.name();
            let message = format!("Rolled back deployment \"{name}\" to revision {revision}");
            Event::normal(&DEPLOYMENTS, deployment, "DeploymentRollback", message)
        }
    };
    remove(&mut document, &["metadata", "annotations", ROLLBACK]);
    let write = Request::update(&DEPLOYMENTS, deployment.key(), &document);
    Plan::nothing().event(event).request(write)
}

/// Returns the second largest revision.
fn previous(sets: &Sets) -> Option<i64> {
    let mut revisions: Vec<i64> = sets.all().map(|set| revision_of(set)).collect();
    revisions.sort_unstable();
    revisions.pop();
    revisions.pop()
}

/// Takes the template and the annotations of a set into a Deployment.
fn take_over(document: &mut Value, deployment: &Object, found: &Object) {
    set(document, &["spec", "template"], template_of(found));
    let is_own = |name: &str| OWN.contains(&name);
    let kept = deployment.annotations().iter().filter(|(name, _)| is_own(name));
    let taken = found.annotations().iter().filter(|(name, _)| !is_own(name));
    let all = kept.chain(taken).map(|(name, value)| (name.clone(), value.clone()));
    set(document, &["metadata", "annotations"], Value::Object(all.collect()));
}
