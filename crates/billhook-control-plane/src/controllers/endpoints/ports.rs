//! The ports of the endpoints of a service on a pod.

use billhook_apimachinery::record::text;
use serde_json::{Map, Value};

use crate::object::Object;

/// A port of endpoints.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) protocol: String,
    /// `None` for all ports.
    pub(super) number: Option<i64>,
    pub(super) app_protocol: Option<String>,
}

impl Port {
    /// Reads a port of an Endpoints or of an EndpointSlice.
    pub(super) fn parse(port: &Value) -> Self {
        Port {
            name: text(port, "name").to_owned(),
            protocol: text(port, "protocol").to_owned(),
            number: port.get("port").and_then(Value::as_i64),
            app_protocol: port.get("appProtocol").and_then(Value::as_str).map(str::to_owned),
        }
    }

    /// Returns the port as one of an EndpointSlice.
    pub(super) fn of_slice(&self) -> Value {
        let mut port = self.without_name();
        port.insert("name".to_owned(), self.name.clone().into());
        port.into()
    }

    /// Returns the port as one of an Endpoints.
    pub(super) fn of_subset(&self) -> Value {
        let mut port = self.without_name();
        if !self.name.is_empty() {
            port.insert("name".to_owned(), self.name.clone().into());
        }
        port.into()
    }

    fn without_name(&self) -> Map<String, Value> {
        let mut port = Map::new();
        port.insert("protocol".to_owned(), self.protocol.clone().into());
        if let Some(number) = self.number {
            port.insert("port".to_owned(), number.into());
        }
        if let Some(protocol) = &self.app_protocol {
            port.insert("appProtocol".to_owned(), protocol.clone().into());
        }
        port
    }
}

/// Returns the ports of a service that a pod has: a target by name is that of a container.
pub(super) fn ports_on(service: &Object, pod: &Object) -> Vec<Port> {
    let ports = service.list("/spec/ports").iter().map(|written| {
        let port = Port::parse(written);
        let target = match written.get("targetPort") {
            Some(Value::String(name)) => named_port(pod, name, &port.protocol)?,
            target => target.and_then(Value::as_i64).filter(|it| *it != 0).or(port.number)?,
        };
        Some(Port { number: Some(target), ..port })
    });
    ports.flatten().collect()
}

fn named_port(pod: &Object, name: &str, protocol: &str) -> Option<i64> {
    let sidecars = pod.list("/spec/initContainers").iter();
    let sidecars = sidecars.filter(|it| text(it, "restartPolicy") == "Always");
    let containers = pod.list("/spec/containers").iter().chain(sidecars);
    let ports = containers.filter_map(|it| it.get("ports")?.as_array()).flatten();
    let is_meant = |port: &&Value| text(port, "name") == name && text(port, "protocol") == protocol;
    ports.into_iter().find(is_meant)?.get("containerPort")?.as_i64()
}
