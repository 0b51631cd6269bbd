//! A server as it shows itself in its cluster.

use std::net::{IpAddr, SocketAddr};

use sha2::{Digest as _, Sha256};

/// A server as the objects of its cluster show it (BK-680): where it is reached, whose clients it trusts,
/// and that it is alive.
///
/// ```
/// use billhook_apiserver::{Presence, Server};
///
/// let presence = Presence::at("192.0.2.1:6443".parse()?);
/// let server = Server::builder().bootstrap().presence(presence).build();
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Presence {
    address: SocketAddr,
    host: Option<String>,
    client_authorities: Option<String>,
}

impl Presence {
    /// A server that is reached at an address: the Service `kubernetes` leads to its port, and has
    /// Endpoints and an EndpointSlice unless none can be made of the address (BK-206).
    pub fn at(address: SocketAddr) -> Self {
        Presence { address, host: None, client_authorities: None }
    }

    /// The server as a process of a host, which has a Lease. [`Server::renew`](crate::Server::renew)
    /// renews it.
    #[must_use]
    pub fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    /// The server with the certificates, in PEM, of the authorities of its clients, which other servers
    /// of the cluster read from the ConfigMap `extension-apiserver-authentication`.
    #[must_use]
    pub fn client_authorities(mut self, pem: &str) -> Self {
        self.client_authorities = Some(pem.to_owned());
        self
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as an endpoint, if it may be one.
    pub(crate) fn endpoint(&self) -> Option<IpAddr> {
        let ip = self.address.ip();
        let is_link_local = match ip {
            IpAddr::V4(ip) => ip.is_link_local(),
            IpAddr::V6(ip) => ip.is_unicast_link_local(),
        };
        let is_refused =
            ip.is_loopback() || ip.is_unspecified() || ip.is_multicast() || is_link_local;
        (!is_refused).then_some(ip)
    }

    pub(crate) fn authorities(&self) -> Option<&str> {
        self.client_authorities.as_deref()
    }

    /// The name of the host, and that of the server, which follows from it.
    pub(crate) fn identity(&self) -> Option<(&str, String)> {
        let host = self.host.as_deref()?;
        let hash: String =
            Sha256::digest(host).iter().take(13).map(|byte| format!("{byte:02x}")).collect();
        Some((host, format!("apiserver-{hash}")))
    }
}
