//! Old sets that are kept (CP-32).

use std::sync::Arc;

use serde_json::Value;

use super::sets::{revision_of, size_of};
use crate::object::Object;
use crate::plan::Plan;
use crate::request::Request;
use crate::resource::REPLICA_SETS;

/// Deletes the old sets beyond the limit, those of the lowest revisions first.
pub(super) fn clean_up(deployment: &Object, old: &[Arc<Object>]) -> Plan {
    let limit = deployment.int("/spec/revisionHistoryLimit").unwrap_or(i64::MAX);
    let mut kept: Vec<_> = old.iter().filter(|set| !set.is_deleting()).collect();
    let surplus = kept.len().saturating_sub(usize::try_from(limit).unwrap_or_default());
    kept.sort_by_key(|set| revision_of(set));
    let deleted = kept.into_iter().take(surplus).filter(|set| is_done(set));
    let delete = |set: &Arc<Object>| Request::delete(&REPLICA_SETS, set.key(), &Value::Null);
    deleted.fold(Plan::nothing(), |plan, set| plan.try_request(delete(set), &[404]))
}

fn is_done(set: &Object) -> bool {
    size_of(set) == 0
        && set.int("/status/replicas").unwrap_or_default() == 0
        && set.int("/metadata/generation") <= set.int("/status/observedGeneration")
}
