//! The hosts that a server without a token answers for. A browser of this machine reaches it as well,
//! with requests of any web page; they say where they come from, and that is checked.

use std::net::IpAddr;

use billhook_apimachinery::Status;
use http::uri::Authority;
use http::{HeaderMap, Method, Request, Uri, header};

/// Says whether a request comes from the same site as the server, in browsers.
const SITE: &str = "sec-fetch-site";

/// The names that requests may use for the server.
#[derive(Debug)]
pub(super) struct Hosts {
    own: IpAddr,
    others: Vec<String>,
}

impl Hosts {
    /// Allows this machine, an address and other names.
    pub(super) fn new(own: IpAddr, others: &[String]) -> Self {
        Hosts { own, others: others.to_vec() }
    }

    /// Returns why a request is refused.
    pub(super) fn refusal<B>(&self, request: &Request<B>) -> Option<Status> {
        let headers = request.headers();
        let host =
            |text: &[u8]| Authority::try_from(text).is_ok_and(|host| self.allow(host.host()));
        let mut hosts = headers.get_all(header::HOST).iter().map(|value| value.as_bytes());
        let of_path = request.uri().authority().map(|host| host.as_str().as_bytes());
        if hosts.any(|text| !host(text)) || of_path.is_some_and(|text| !host(text)) {
            return Some(forbidden(
                "the host of the request is not allowed; allow it with --allow-host",
            ));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter().map(|value| value.as_bytes());
        let is_from_elsewhere = match headers.contains_key(header::ORIGIN) {
            true => origins.any(|text| !self.is_origin(text)),
            false => has(headers, SITE, b"cross-site"),
        };
        if is_from_elsewhere {
            return Some(forbidden(
                "requests of web pages are not allowed; allow the host of the page with --allow-host",
            ));
        }
        // Browsers send these without asking first.
        let is_of_browser = headers.contains_key(header::ORIGIN) || headers.contains_key(SITE);
        let is_untyped = !headers.contains_key(header::CONTENT_TYPE);
        if is_of_browser && is_untyped && request.method() == Method::POST {
            let message = "requests of browsers need a Content-Type";
            return Some(Status::failure(415, "UnsupportedMediaType", message));
        }
        None
    }

    fn is_origin(&self, text: &[u8]) -> bool {
        Uri::try_from(text).is_ok_and(|origin| {
            origin.scheme().is_some() && origin.host().is_some_and(|host| self.allow(host))
        })
    }

    fn allow(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host);
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_own = match bare.parse::<IpAddr>() {
            Ok(ip) => ip.to_canonical().is_loopback() || ip == self.own,
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        };
        is_own || self.others.iter().any(|other| bare.eq_ignore_ascii_case(other))
    }
}

fn has(headers: &HeaderMap, name: &str, value: &[u8]) -> bool {
    headers.get_all(name).iter().any(|found| found.as_bytes() == value)
}

fn forbidden(message: &str) -> Status {
    Status::failure(403, "Forbidden", message)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn code(method: &str, uri: &str, headers: &[(&str, &str)]) -> i32 {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let hosts = Hosts::new(Ipv4Addr::new(127, 0, 0, 9).into(), &["kube.test".to_owned()]);
        hosts.refusal(&request.body(()).unwrap()).map_or(200, |status| status.code)
    }

    #[test]
    fn names_of_this_machine_are_allowed() {
        for host in [
            "localhost",
            "LOCALHOST:8001",
            "localhost.",
            "127.0.0.1",
            "127.0.0.9:1",
            "[::1]:8001",
            "[::ffff:127.0.0.1]",
            "kube.test:80",
        ] {
            assert_eq!(code("GET", "/", &[("host", host)]), 200, "{host}");
            let origin = format!("http://{host}");
            assert_eq!(code("GET", "/", &[("host", host), ("origin", &origin)]), 200, "{host}");
        }
        assert_eq!(code("GET", "/", &[]), 200);
        let other_path = ("sec-fetch-site", "same-origin");
        let json = ("content-type", "application/json");
        assert_eq!(code("POST", "/", &[("host", "localhost"), other_path, json]), 200);
        assert_eq!(code("POST", "/", &[("host", "localhost")]), 200);
    }

    #[test]
    fn web_pages_are_refused() {
        for host in
            ["evil.example", "localhost.evil.example", "0.0.0.0:8001", "10.0.0.1", "", "a b"]
        {
            assert_eq!(code("GET", "/", &[("host", host)]), 403, "{host}");
        }
        assert_eq!(code("GET", "/", &[("host", "localhost"), ("host", "evil.example")]), 403);
        assert_eq!(code("GET", "http://evil.example/api", &[("host", "localhost")]), 403);
        for origin in ["http://evil.example", "null", "https://127.0.0.1.evil.example:8001", ""] {
            let headers = [("host", "localhost"), ("origin", origin)];
            assert_eq!(code("GET", "/", &headers), 403, "{origin}");
        }
        let elsewhere = ("sec-fetch-site", "cross-site");
        assert_eq!(code("GET", "/", &[("host", "localhost"), elsewhere]), 403);
        for headers in [("origin", "http://localhost:3000"), ("sec-fetch-site", "same-origin")] {
            assert_eq!(code("POST", "/", &[("host", "localhost"), headers]), 415);
        }
    }
}
