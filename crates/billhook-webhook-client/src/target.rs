//! Where a call goes: the URL, the name in the certificate and what is dialled (CL-01 to CL-07).

use billhook::ClientConfig;
use billhook_apimachinery::net::{Url, UrlPart, escape, unescape};

use super::resolve::ServiceAddress;

/// The address of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// `host` or `host:port` as it stands in the URL and the `Host` header.
    pub(super) authority: String,
    /// The host without brackets: the name that the certificate must be valid for (CL-03, CL-06).
    pub(super) host: String,
    pub(super) port: u16,
    /// Cleaned and escaped, beginning with a slash (CL-07).
    pub(super) path: String,
    /// The service whose address is asked of the resolver; none for a URL.
    pub(super) service: Option<ServiceAddress>,
}

impl Target {
    /// The target of a webhook (CL-01).
    pub(super) fn new(hook: &str, config: &ClientConfig) -> Result<Self, String> {
        let failed = |reason: &str| format!("failed calling webhook \"{hook}\": {reason}");
        if let Some(service) = &config.service {
            let port = match service.port {
                None | Some(0) => 443,
                Some(port) => u16::try_from(port)
                    .map_err(|_| failed(&format!("port {port} is out of range")))?,
            };
            let host = format!("{}.{}.svc", service.name, service.namespace);
            return Ok(Target {
                authority: format!("{host}:{port}"),
                host,
                port,
                path: escape(
                    clean(service.path.as_deref().unwrap_or_default().as_bytes()),
                    UrlPart::Path,
                ),
                service: Some(ServiceAddress::new(&service.namespace, &service.name, port)),
            });
        }
        match &config.url {
            Some(url) => of_url(url).map_err(|error| failed(&format!("Unparsable URL: {error}"))),
            None => Err(failed("webhook configuration must have either service or URL")),
        }
    }

    /// The target of a URL with this `host` or `host:port`.
    pub(super) fn of_authority(authority: &str) -> Result<Self, String> {
        of_url(&format!("https://{authority}/"))
    }

    /// The URL of a call with its `timeout` parameter, in whole seconds (DI-51).
    pub(super) fn url(&self, seconds: u64) -> String {
        format!("https://{}{}?timeout={}", self.authority, self.path, duration(seconds))
    }

    /// Host and port, always with the port: what credentials are looked up by (CL-20).
    pub(super) fn user_key(&self) -> String {
        join(&self.host, self.port)
    }
}

/// A host without brackets and a port, as one text.
pub(super) fn join(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Seconds in duration notation: `10s`, `1m0s`, `1h0m0s`.
fn duration(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, minutes) => format!("{minutes}m{rest}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{rest}s"),
    }
}

fn of_url(url: &str) -> Result<Target, String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    if url.scheme != "https" {
        return Err(format!("the scheme is \"{}\", not \"https\"", url.scheme));
    }
    // User information is refused when the configuration is written.
    let (host, port) = host_and_port(&url.host, 443)?;
    let path = unescape(&url.escaped_path(), UrlPart::Path).map_err(|error| error.to_string())?;
    let path = clean(&path);
    Ok(Target {
        authority: url.host.clone(),
        host: host.to_owned(),
        port,
        path: escape(path, UrlPart::Path),
        service: None,
    })
}

/// The host without brackets, and the port.
pub(super) fn host_and_port(authority: &str, default_port: u16) -> Result<(&str, u16), String> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(ip) => {
            let (host, port) = ip.split_once(']').ok_or("missing ']' in host")?;
            (host, port)
        }
        None => authority
            .split_at_checked(authority.find(':').unwrap_or(authority.len()))
            .unwrap_or((authority, "")),
    };
    if host.is_empty() || !host.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!("invalid host \"{host}\""));
    }
    let invalid_port = || format!("invalid port \"{port}\" after host");
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => default_port,
        None => return Err(invalid_port()),
        Some("") => default_port,
        Some(digits) => digits.parse().map_err(|_| invalid_port())?,
    };
    Ok((host, port))
}

/// A path without empty and dot segments and without a slash at its end (CL-07).
fn clean(path: &[u8]) -> Vec<u8> {
    let mut segments: Vec<&[u8]> = Vec::new();
    for segment in path.split(|byte| *byte == b'/') {
        match segment {
            b"" | b"." => {}
            b".." => {
                segments.pop();
            }
            other => segments.push(other),
        }
    }
    let mut cleaned = vec![b'/'];
    cleaned.extend(segments.join(&b'/'));
    cleaned
}

#[cfg(test)]
mod tests {
    use billhook::ServiceReference;

    use super::*;

    fn service(path: Option<&str>, port: Option<i32>) -> ClientConfig {
        let service = ServiceReference {
            namespace: "ns1".to_owned(),
            name: "web".to_owned(),
            path: path.map(str::to_owned),
            port,
        };
        let mut config = ClientConfig::default();
        config.service = Some(service);
        config
    }

    fn url(url: &str) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.url = Some(url.to_owned());
        config
    }

    #[test]
    fn targets_are_requested_as_configured() {
        for (config, expected, key) in [
            (service(None, None), "https://web.ns1.svc:443/?timeout=10s", "web.ns1.svc:443"),
            (
                service(Some("/my-path"), Some(1234)),
                "https://web.ns1.svc:1234/my-path?timeout=10s",
                "web.ns1.svc:1234",
            ),
            (
                service(Some("/a/b/"), Some(0)),
                "https://web.ns1.svc:443/a/b?timeout=10s",
                "web.ns1.svc:443",
            ),
            (
                service(Some("/a%2f"), None),
                "https://web.ns1.svc:443/a%252f?timeout=10s",
                "web.ns1.svc:443",
            ),
            (url("https://h:9443/p"), "https://h:9443/p?timeout=10s", "h:9443"),
            (url("https://h"), "https://h/?timeout=10s", "h:443"),
            (url("HTTPS://h/a//b/./c/../d/"), "https://h/a/b/d?timeout=10s", "h:443"),
            (url("https://h/%7euser/%2e%2e/a%20b"), "https://h/a%20b?timeout=10s", "h:443"),
            (url("https://[::1]:8443/p?q#f"), "https://[::1]:8443/p?timeout=10s", "[::1]:8443"),
            (url("https://[::1]"), "https://[::1]/?timeout=10s", "[::1]:443"),
            (url("https://10.0.0.1:1/"), "https://10.0.0.1:1/?timeout=10s", "10.0.0.1:1"),
        ] {
            let target = Target::new("a.example.com", &config).unwrap();
            assert_eq!(target.url(10), expected);
            assert_eq!(target.user_key(), key);
        }
    }

    #[test]
    fn a_service_wins_over_a_url() {
        let mut both = service(None, None);
        both.url = Some("https://h".to_owned());
        assert_eq!(Target::new("a", &both).unwrap().host, "web.ns1.svc");
    }

    #[test]
    fn what_has_no_address_is_refused() {
        let neither = Target::new("a.example.com", &ClientConfig::default()).unwrap_err();
        assert_eq!(
            neither,
            "failed calling webhook \"a.example.com\": webhook configuration must have either \
             service or URL"
        );
        for bad in
            ["h/p", "http://h/p", "https://", "https://h:x/", "https://h/%zz", "https://[::1"]
        {
            let error = Target::new("a", &url(bad)).unwrap_err();
            assert!(error.starts_with("failed calling webhook \"a\": Unparsable URL: "), "{error}");
        }
    }

    #[test]
    fn durations_print_as_the_server_prints_them() {
        for (seconds, expected) in
            [(0, "0s"), (59, "59s"), (60, "1m0s"), (61, "1m1s"), (3600, "1h0m0s")]
        {
            assert_eq!(duration(seconds), expected);
        }
    }
}
