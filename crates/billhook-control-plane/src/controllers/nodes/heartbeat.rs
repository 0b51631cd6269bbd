//! When a kubelet was heard of last.

use billhook_apimachinery::record::text;
use serde_json::Value;

use crate::clock::Timestamp;
use crate::namespaces::NODE_LEASES;
use crate::object::Object;
use crate::resource::LEASES;
use crate::view::View;

/// The manager of the fields that controllers write.
const CONTROLLERS: &str = "kube-controller-manager";

/// Returns when the lease or the status of a node was written last by its kubelet.
pub(super) fn last_heartbeat(node: &Object, view: &View) -> Option<Timestamp> {
    let lease = view.get(&LEASES, &format!("{NODE_LEASES}/{}", node.name()));
    let renewed = lease.and_then(|lease| lease.time("/spec/renewTime"));
    let conditions = node.list("/status/conditions").iter();
    let beats = conditions.filter_map(|condition| time(condition, "lastHeartbeatTime"));
    let writes = node.writes().managed_fields.into_iter();
    let own = writes.filter(|it| it.subresource == "status" && it.manager != CONTROLLERS);
    beats.chain(own.filter_map(|it| it.time())).chain(renewed).max()
}

fn time(value: &Value, name: &str) -> Option<Timestamp> {
    Timestamp::parse(text(value, name))
}
