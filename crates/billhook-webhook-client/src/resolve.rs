//! From the service of a webhook to the address that is dialled (CL-04).

use std::collections::BTreeMap;

use billhook_apimachinery::message_error;

/// A service and its port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct ServiceAddress {
    /// The namespace of the service.
    pub namespace: String,
    /// The name of the service.
    pub name: String,
    /// The port of the service.
    pub port: u16,
}

impl ServiceAddress {
    /// A service and its port.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>, port: u16) -> Self {
        ServiceAddress { namespace: namespace.into(), name: name.into(), port }
    }
}

message_error! {
    /// A service whose address is not known.
    pub struct ResolveError;
}

/// Knows the addresses of services. New methods will have defaults.
pub trait ServiceResolver: Send + Sync {
    /// Returns the `host:port` to dial for a service.
    fn resolve(&self, service: &ServiceAddress) -> Result<String, ResolveError>;
}

/// Leaves services to the domain name system, as inside a cluster.
#[derive(Clone, Copy, Debug, Default)]
pub struct DnsResolver;

impl ServiceResolver for DnsResolver {
    fn resolve(&self, service: &ServiceAddress) -> Result<String, ResolveError> {
        let ServiceAddress { namespace, name, port } = service;
        if namespace.is_empty() || name.is_empty() || *port == 0 {
            return Err("cannot resolve an empty service name or namespace or port".into());
        }
        Ok(format!("{name}.{namespace}.svc:{port}"))
    }
}

/// Knows some services by name, with any port, and leaves the others to [`DnsResolver`].
#[derive(Clone, Debug, Default)]
pub struct StaticResolver {
    addresses: BTreeMap<(String, String), String>,
}

impl StaticResolver {
    /// The resolver with the `host:port` of one more service.
    #[must_use]
    pub fn with(mut self, namespace: &str, name: &str, address: &str) -> Self {
        self.addresses.insert((namespace.to_owned(), name.to_owned()), address.to_owned());
        self
    }
}

impl ServiceResolver for StaticResolver {
    fn resolve(&self, service: &ServiceAddress) -> Result<String, ResolveError> {
        let key = (service.namespace.clone(), service.name.clone());
        match self.addresses.get(&key) {
            Some(address) => Ok(address.clone()),
            None => DnsResolver.resolve(service),
        }
    }
}
