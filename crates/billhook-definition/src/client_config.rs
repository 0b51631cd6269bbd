//! The address of a webhook, for conversion or admission (WCF-60, CV-105).

/// The address of a webhook: a URL or a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The URL.
    pub url: Option<String>,
    /// The service in the cluster.
    pub service: Option<ServiceReference>,
    /// The certificates that the server's one is checked against, in PEM (WCF-05).
    pub ca_bundle: Vec<u8>,
}

/// A service in the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceReference {
    /// The namespace of the service.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The path of the URL.
    pub path: Option<String>,
    /// The port, 443 by default.
    pub port: Option<i32>,
}
