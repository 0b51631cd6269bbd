//! The ports of nodes that pods take.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::object::Object;

/// A port of a node that a container takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HostPort {
    number: u64,
    protocol: String,
    /// Empty for all addresses.
    address: String,
}

impl HostPort {
    fn parse(port: &Value) -> Option<Self> {
        let text = |name: &str| port.get(name).and_then(Value::as_str).unwrap_or_default();
        let address = text("hostIP");
        Some(HostPort {
            number: port.get("hostPort")?.as_u64().filter(|number| *number != 0)?,
            protocol: text("protocol").to_owned(),
            address: if address == "0.0.0.0" { String::new() } else { address.to_owned() },
        })
    }

    /// Returns the same port at all addresses, which is before those at one.
    pub(super) fn everywhere(&self) -> Self {
        HostPort { address: String::new(), ..self.clone() }
    }

    /// Returns whether both are the same port, at whatever addresses.
    pub(super) fn is_like(&self, other: &HostPort) -> bool {
        (self.number, &self.protocol) == (other.number, &other.protocol)
    }
}

/// Returns the ports of its node that a pod takes.
pub(super) fn host_ports(pod: &Object) -> BTreeSet<HostPort> {
    let sidecars = pod.list("/spec/initContainers").iter();
    let sidecars = sidecars.filter(|it| it.get("restartPolicy").is_some_and(|it| it == "Always"));
    let containers = pod.list("/spec/containers").iter().chain(sidecars);
    let ports = containers.filter_map(|it| it.get("ports")?.as_array()).flatten();
    ports.filter_map(HostPort::parse).collect()
}
