//! The configuration that lets clients find the server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use billhook_apimachinery::base64;
use serde_json::{Value, json};

use crate::files::write_private;
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

/// Writes the configuration to a new file; only its owner can read it, for it has the token.
pub(super) fn write(
    file: &Path,
    url: &str,
    authority: Option<&str>,
    token: Option<&str>,
) -> Result<(), Box<Problem>> {
    let text = billhook::to_yaml(&document(url, authority, token));
    write_private(file, text.as_bytes()).map_err(|error| Problem::io(Place::path(file), &error))
}

fn document(url: &str, authority: Option<&str>, token: Option<&str>) -> Value {
    let mut cluster = json!({"server": url});
    if let (Some(authority), Some(cluster)) = (authority, cluster.as_object_mut()) {
        let authority = base64::encode(authority.as_bytes());
        cluster.insert("certificate-authority-data".to_owned(), authority.into());
    }
    let user = token.map_or_else(|| json!({}), |token| json!({"token": token}));
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "billhook", "cluster": cluster}],
        "users": [{"name": "billhook", "user": user}],
        "contexts": [{"name": "billhook", "context": {"cluster": "billhook", "user": "billhook"}}],
        "current-context": "billhook",
    })
}
