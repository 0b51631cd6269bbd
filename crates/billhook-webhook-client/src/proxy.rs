//! Proxies between a client and its webhooks, and which hosts are reached without them (CL-52).

use std::fmt;
use std::net::IpAddr;

use billhook_admission::BoxFuture;
use billhook_apimachinery::base64;
use billhook_apimachinery::net::{UrlPart, unescape};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;

use super::connector::{ConnectError, Connection, Connector, dial};
use super::error::exchange_error;
use super::target::{host_and_port, join};

/// Connects through an HTTP proxy, except for some hosts.
///
/// Hosts that are named `localhost` or have a loopback address are never reached through a proxy.
/// A proxy must be spoken to in plain HTTP; what goes through it is encrypted anyhow.
///
/// ```
/// use billhook_webhook_client::{HttpsCaller, Proxies};
///
/// let proxies = Proxies::new("http://proxy.example.com:3128", ".example.com,10.0.0.0/8");
/// let caller = HttpsCaller::default().url_connector(proxies);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// The one for HTTPS, or why it is absent.
    proxy: Option<Result<Proxy, String>>,
    exceptions: Vec<Exception>,
}

#[derive(Clone)]
struct Proxy {
    /// `host:port`.
    address: String,
    authorization: Option<String>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A host that is reached without proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exception {
    host: Host,
    /// Any port if absent.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Any,
    /// An address and how many of its bits count.
    Network(IpAddr, u32),
    /// A domain and those below it.
    Domain(String),
    /// The domains below a domain, which begins with a dot.
    Below(String),
}

impl Proxies {
    /// A proxy, as `HTTPS_PROXY` names it (a URL, or `host:port`; empty for none), and the hosts
    /// that are reached without it, as `NO_PROXY` lists them: names, which stand for all names
    /// below them too, names with a dot or `*.` before them, which stand only for those, addresses
    /// and networks such as `10.0.0.0/8`, each with or without a port, and `*` for all.
    ///
    /// A proxy that cannot be used makes those connections fail that need it.
    pub fn new(https_proxy: &str, no_proxy: &str) -> Self {
        let proxy = (!https_proxy.is_empty()).then(|| Proxy::new(https_proxy));
        let entries = no_proxy.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        Proxies { proxy, exceptions: entries.map(Exception::new).collect() }
    }

    /// The proxy that the environment names in `HTTPS_PROXY` and `NO_PROXY`, or in the variables
    /// of these names in lower case.
    pub fn from_environment() -> Self {
        let variable = |name: &str| {
            let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
            value(name).or_else(|| value(&name.to_ascii_lowercase())).unwrap_or_default()
        };
        Self::new(&variable("HTTPS_PROXY"), &variable("NO_PROXY"))
    }

    /// The proxy for an address `host:port`; none if it is reached directly.
    fn proxy(&self, address: &str) -> Result<Option<&Proxy>, String> {
        let Some(proxy) = &self.proxy else { return Ok(None) };
        let (host, port) = host_and_port(address, 443)?;
        let host = host.to_ascii_lowercase();
        let ip: Option<IpAddr> = host.parse().ok();
        if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
            return Ok(None);
        }
        if self.exceptions.iter().any(|exception| exception.holds(&host, ip, port)) {
            return Ok(None);
        }
        proxy.as_ref().map(Some).map_err(Clone::clone)
    }
}

impl Connector for Proxies {
    fn connect<'a>(
        &'a self,
        address: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn Connection>, ConnectError>> {
        Box::pin(async move {
            match self.proxy(address)? {
                Some(proxy) => Ok(proxy.connect(address).await?),
                None => Ok(Box::new(dial(address).await?) as Box<dyn Connection>),
            }
        })
    }
}

impl Proxy {
    fn new(text: &str) -> Result<Self, String> {
        let invalid =
            |why: &str| format!("invalid proxy address \"{}\": {why}", without_user(text));
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(invalid("only proxies over HTTP are supported"));
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (user, authority) = match authority.rsplit_once('@') {
            Some((user, authority)) => (Some(user), authority),
            None => (None, authority),
        };
        let (host, port) = host_and_port(authority, 80).map_err(|error| invalid(&error))?;
        let authorization = user.map(|user| -> Result<_, String> {
            let user =
                unescape(user, UrlPart::UserInfo).map_err(|error| invalid(&error.to_string()))?;
            // A user without a password has an empty one.
            let separator: &[u8] = if user.contains(&b':') { b"" } else { b":" };
            Ok(format!("Basic {}", base64::encode(&[user.as_slice(), separator].concat())))
        });
        Ok(Proxy { address: join(host, port), authorization: authorization.transpose()? })
    }

    /// Asks the proxy for a connection to an address.
    async fn connect(&self, address: &str) -> Result<Box<dyn Connection>, String> {
        let failed = |error: String| format!("proxyconnect tcp: {error}");
        let stream = dial(&self.address).await.map_err(failed)?;
        let (mut requests, driver) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| failed(exchange_error(&error)))?;
        // It ends with the connection.
        tokio::spawn(async move {
            let _ = driver.with_upgrades().await;
        });
        let mut request = Request::builder()
            .method(Method::CONNECT)
            .uri(address)
            .header(HOST, address)
            .body(Full::<Bytes>::default())
            .map_err(|error| failed(error.to_string()))?;
        if let Some(authorization) = &self.authorization
            && let Ok(mut value) = HeaderValue::from_str(authorization)
        {
            value.set_sensitive(true);
            request.headers_mut().insert(PROXY_AUTHORIZATION, value);
        }
        let response = requests.send_request(request).await;
        let response = response.map_err(|error| failed(exchange_error(&error)))?;
        if !response.status().is_success() {
            let reason = response.status().canonical_reason();
            return Err(reason.unwrap_or("unknown status code").to_owned());
        }
        let upgraded = hyper::upgrade::on(response).await;
        let upgraded = upgraded.map_err(|error| failed(exchange_error(&error)))?;
        Ok(Box::new(TokioIo::new(upgraded)))
    }
}

/// A URL without its user, who may have a password.
fn without_user(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

impl Exception {
    fn new(entry: &str) -> Self {
        if entry == "*" {
            return Exception { host: Host::Any, port: None };
        }
        if let Some(network) = network(entry) {
            return Exception { host: network, port: None };
        }
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => (host, port.parse().ok()),
            _ => (entry, None),
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let host = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
        let host = match network(bare) {
            Some(network) => network,
            None if host.starts_with('.') => Host::Below(host.to_ascii_lowercase()),
            None => Host::Domain(host.to_ascii_lowercase()),
        };
        Exception { host, port }
    }

    /// Whether it is about a host in lower case.
    fn holds(&self, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
        let is_host = match &self.host {
            Host::Any => true,
            Host::Network(network, bits) => ip.is_some_and(|ip| is_in(ip, *network, *bits)),
            Host::Below(domain) => host.ends_with(domain.as_str()),
            Host::Domain(domain) => host
                .strip_suffix(domain.as_str())
                .is_some_and(|above| above.is_empty() || above.ends_with('.')),
        };
        is_host && self.port.is_none_or(|only| only == port)
    }
}

/// `10.0.0.1`, `10.0.0.0/8` or the like.
fn network(text: &str) -> Option<Host> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u32>().ok()?)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let all = if address.is_ipv4() { 32 } else { 128 };
    let bits = bits.unwrap_or(all);
    (bits <= all).then_some(Host::Network(address, bits))
}

fn is_in(ip: IpAddr, network: IpAddr, bits: u32) -> bool {
    let differs = match (ip, network) {
        (IpAddr::V4(ip), IpAddr::V4(network)) => (ip.to_bits() ^ network.to_bits()).leading_zeros(),
        (IpAddr::V6(ip), IpAddr::V6(network)) => (ip.to_bits() ^ network.to_bits()).leading_zeros(),
        _ => return false,
    };
    differs >= bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_hosts_are_reached_directly() {
        for (no_proxy, address, is_direct) in [
            ("", "a.example.com:443", false),
            ("", "Localhost:443", true),
            ("", "127.8.0.1:443", true),
            ("", "[::1]:443", true),
            ("*", "a.example.com:443", true),
            ("example.com", "example.com:443", true),
            ("example.com", "a.Example.com:443", true),
            ("EXAMPLE.com", "a.example.com:443", true),
            ("example.com", "notexample.com:443", false),
            (".example.com", "a.example.com:443", true),
            (".example.com", "example.com:443", false),
            ("*.example.com", "a.b.example.com:443", true),
            ("*.example.com", "example.com:443", false),
            ("example.com:8443", "example.com:8443", true),
            ("example.com:8443", "example.com:443", false),
            ("other.com, example.com ,", "example.com:443", true),
            ("10.0.0.1", "10.0.0.1:443", true),
            ("10.0.0.1:8443", "10.0.0.1:443", false),
            ("10.0.0.1:443", "10.0.0.1:443", true),
            ("10.0.0.0/8", "10.9.8.7:443", true),
            ("10.0.0.0/8", "11.0.0.1:443", false),
            ("0.0.0.0/0", "11.0.0.1:443", true),
            ("10.0.0.0/33", "10.0.0.1:443", false),
            ("10.0.0.0/8", "ten.example.com:443", false),
            ("fe80::/10", "[fe80::1]:443", true),
            ("[fe80::1]:8443", "[fe80::1]:8443", true),
            ("fe80::/10", "10.0.0.1:443", false),
        ] {
            let proxies = Proxies::new("http://proxy:3128", no_proxy);
            let found = proxies.proxy(address).unwrap().is_none();
            assert_eq!(found, is_direct, "{no_proxy} {address}");
        }
        assert!(Proxies::default().proxy("a.example.com:443").unwrap().is_none());
    }

    #[test]
    fn proxies_have_addresses() {
        for (text, address, authorization) in [
            ("http://proxy.example.com:3128/", "proxy.example.com:3128", None),
            ("HTTP://proxy", "proxy:80", None),
            ("proxy:3128", "proxy:3128", None),
            ("http://[::1]:1", "[::1]:1", None),
            ("http://u:p@proxy", "proxy:80", Some("Basic dTpw")),
            ("http://u%3a:p@proxy", "proxy:80", Some("Basic dTo6cA==")),
            ("u@proxy:1", "proxy:1", Some("Basic dTo=")),
        ] {
            let proxy = Proxy::new(text).unwrap();
            assert_eq!(
                (proxy.address.as_str(), proxy.authorization.as_deref()),
                (address, authorization)
            );
        }
        for (text, expected) in [
            (
                "socks5://u:secret@proxy",
                "invalid proxy address \"socks5://proxy\": only proxies over HTTP are supported",
            ),
            ("http://", "invalid proxy address \"http://\": invalid host \"\""),
            ("http://h:x", "invalid proxy address \"http://h:x\": invalid port \":x\" after host"),
        ] {
            let proxies = Proxies::new(text, "example.com");
            assert_eq!(proxies.proxy("x.org:443").unwrap_err(), expected);
            assert!(proxies.proxy("example.com:443").unwrap().is_none(), "it is not needed");
        }
        let shown = format!("{:?}", Proxies::new("http://u:secret@proxy", ""));
        assert!(!shown.contains("secret") && !shown.contains("Basic"), "{shown}");
    }
}
