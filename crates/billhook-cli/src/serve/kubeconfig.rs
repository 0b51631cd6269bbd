//! The configuration that lets clients find the server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use billhook_apimachinery::base64;
use serde_json::{Map, Value, json};

use crate::files::write_private;
use crate::listening::Issued;
use crate::problem::{Place, Problem};

/// The URL that clients of this machine use.
pub(super) fn url(address: SocketAddr, is_secure: bool) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    let scheme = if is_secure { "https" } else { "http" };
    format!("{scheme}://{}", SocketAddr::new(ip, address.port()))
}

/// The credentials with which a client and the server trust each other.
pub(super) struct Credentials<'c> {
    /// The certificate of the authority that signed the server's, as PEM.
    pub(super) authority: Option<&'c str>,
    pub(super) client: Option<&'c Issued>,
    pub(super) token: Option<&'c str>,
}

/// Writes the configuration to a new file; only its owner can read it, for it has the credentials.
pub(super) fn write(
    file: &Path,
    url: &str,
    credentials: &Credentials<'_>,
) -> Result<(), Box<Problem>> {
    let text = billhook::to_yaml(&document(url, credentials));
    write_private(file, text.as_bytes()).map_err(|error| Problem::io(Place::path(file), &error))
}

fn document(url: &str, credentials: &Credentials<'_>) -> Value {
    let encoded = |pem: &str| Value::from(base64::encode(pem.as_bytes()));
    let mut cluster = Map::new();
    cluster.insert("server".to_owned(), url.into());
    if let Some(authority) = credentials.authority {
        cluster.insert("certificate-authority-data".to_owned(), encoded(authority));
    }
    let mut user = Map::new();
    if let Some(Issued { certificate, key }) = credentials.client {
        user.insert("client-certificate-data".to_owned(), encoded(certificate));
        user.insert("client-key-data".to_owned(), encoded(key));
    }
    if let Some(token) = credentials.token {
        user.insert("token".to_owned(), token.into());
    }
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "billhook", "cluster": cluster}],
        "users": [{"name": "billhook", "user": user}],
        "contexts": [{"name": "billhook", "context": {"cluster": "billhook", "user": "billhook"}}],
        "current-context": "billhook",
    })
}
