//! Where an etcd is, and how it is used.

use std::fmt;
use std::time::Duration;

use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use crate::storage::BackendError;

/// How long a connection may take to be made, how often it is proved, and how long the proof may take
/// (ES-71).
const CONNECT: Duration = Duration::from_secs(20);
const KEEP_ALIVE: Duration = Duration::from_secs(30);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Where an etcd is, and how it is used.
///
/// ```
/// use billhook_apiserver::etcd::EtcdOptions;
///
/// let options = EtcdOptions::new(["https://10.0.0.1:2379", "https://10.0.0.2:2379"])
///     .prefix("/tests/registry")
///     .user("billhook", "secret");
/// ```
#[derive(Clone)]
pub struct EtcdOptions {
    pub(super) servers: Vec<String>,
    pub(super) prefix: String,
    authority: Option<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) user: Option<(String, String)>,
    pub(super) event_ttl: Duration,
    pub(super) compaction_interval: Duration,
}

impl fmt::Debug for EtcdOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdOptions")
            .field("servers", &self.servers)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl EtcdOptions {
    /// Uses the members of a cluster, by their client URLs: without encryption if they begin with
    /// `http://`.
    pub fn new(servers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        EtcdOptions {
            servers: servers.into_iter().map(Into::into).collect(),
            prefix: "/registry".to_owned(),
            authority: None,
            identity: None,
            user: None,
            event_ttl: Duration::from_secs(3600),
            compaction_interval: Duration::from_secs(300),
        }
    }

    /// Keeps objects below a key, by default `/registry` (ES-01).
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Trusts the certificates of an authority, as PEM, in place of those that the machine trusts.
    #[must_use]
    pub fn authority(mut self, certificates: impl Into<Vec<u8>>) -> Self {
        self.authority = Some(certificates.into());
        self
    }

    /// Shows a certificate, with its key, both as PEM.
    #[must_use]
    pub fn identity(mut self, certificate: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.identity = Some((certificate.into(), key.into()));
        self
    }

    /// Makes requests as a user of etcd.
    #[must_use]
    pub fn user(mut self, name: impl Into<String>, password: impl Into<String>) -> Self {
        self.user = Some((name.into(), password.into()));
        self
    }

    /// Keeps events so long after their last change, by default an hour; etcd deletes them up to a
    /// minute later (ES-55).
    #[must_use]
    pub fn event_ttl(mut self, time: Duration) -> Self {
        self.event_ttl = time;
        self
    }

    /// Lets the servers of the etcd compact it so often, by default every five minutes; zero for not
    /// by this one (ES-50).
    #[must_use]
    pub fn compaction_interval(mut self, interval: Duration) -> Self {
        self.compaction_interval = interval;
        self
    }

    /// Returns a channel to all members together, and one to each.
    pub(super) fn channels(&self) -> Result<(Channel, Vec<Channel>), BackendError> {
        let endpoints: Result<Vec<_>, _> =
            self.servers.iter().map(|server| self.endpoint(server)).collect();
        let endpoints = endpoints?;
        let each: Vec<Channel> = endpoints.iter().map(Endpoint::connect_lazy).collect();
        let all = match each.as_slice() {
            [] => return Err(BackendError::Failed("no server of etcd is named".to_owned())),
            [only] => only.clone(),
            _ => Channel::balance_list(endpoints.into_iter()),
        };
        Ok((all, each))
    }

    fn endpoint(&self, server: &str) -> Result<Endpoint, BackendError> {
        let failed = |why: &dyn fmt::Display| BackendError::Failed(format!("{server}: {why}"));
        if !server.starts_with("http://") && !server.starts_with("https://") {
            return Err(failed(&"a URL begins with http:// or https://"));
        }
        let endpoint = Endpoint::from_shared(server.to_owned()).map_err(|error| failed(&error))?;
        let endpoint = endpoint
            .connect_timeout(CONNECT)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
            .keep_alive_while_idle(true);
        if server.starts_with("http://") {
            return Ok(endpoint);
        }
        let mut tls = match &self.authority {
            Some(certificates) => {
                ClientTlsConfig::new().ca_certificate(Certificate::from_pem(certificates))
            }
            None => ClientTlsConfig::new().with_native_roots(),
        };
        if let Some((certificate, key)) = &self.identity {
            tls = tls.identity(Identity::from_pem(certificate, key));
        }
        endpoint.tls_config(tls).map_err(|error| failed(&super::failure::with_sources(&error)))
    }
}
