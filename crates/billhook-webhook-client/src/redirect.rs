//! Redirects of webhooks to other addresses (CL-61).

use std::sync::Arc;

use billhook_apimachinery::print::quote;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, LOCATION};
use hyper::{Method, StatusCode};
use tokio_rustls::rustls::ClientConfig;

use super::connect::{Network, Pool};
use super::target::Target;

/// How many redirects of one call are followed.
pub(super) const MAX_REDIRECTS: usize = 10;

/// The way to servers that are not the webhook itself: they get no credentials.
pub(super) struct Elsewhere {
    pub(super) network: Network,
    /// The trust of the webhook, without its client certificate.
    pub(super) tls: Arc<ClientConfig>,
}

impl Elsewhere {
    /// The connections to `host` or `host:port`.
    pub(super) fn pool(&self, authority: &str) -> Result<Pool, String> {
        Pool::new(Target::of_authority(authority)?, self.network.clone(), Arc::clone(&self.tls))
    }
}

/// One request of a call.
pub(super) struct Hop {
    pub(super) url: String,
    pub(super) method: Method,
    pub(super) body: Bytes,
}

impl Hop {
    /// The first request of a call.
    pub(super) fn new(url: &str, body: Bytes) -> Self {
        Hop { url: url.to_owned(), method: Method::POST, body }
    }

    fn parts(&self) -> (&str, &str) {
        let rest = self.url.split_once("://").map_or(self.url.as_str(), |(_, rest)| rest);
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        rest.split_at_checked(end).unwrap_or((rest, ""))
    }

    /// `host` or `host:port`.
    pub(super) fn authority(&self) -> &str {
        self.parts().0
    }

    /// Path and query.
    pub(super) fn path(&self) -> String {
        match self.parts().1 {
            path if path.starts_with('/') => path.to_owned(),
            query => format!("/{query}"),
        }
    }

    /// The request that a response asks for in place of this one, if it asks for any.
    pub(super) fn next(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Option<Result<Self, String>> {
        let keeps_method = matches!(status.as_u16(), 307 | 308);
        if !keeps_method && !matches!(status.as_u16(), 301..=303) {
            return None;
        }
        let location = headers.get(LOCATION)?;
        let location = String::from_utf8_lossy(location.as_bytes());
        let url = match self.resolve(&location) {
            Ok(url) => url,
            Err(error) => return Some(Err(error)),
        };
        Some(Ok(match keeps_method {
            true => Hop { url, method: self.method.clone(), body: self.body.clone() },
            false => Hop { url, method: Method::GET, body: Bytes::new() },
        }))
    }

    /// The URL that a location means here.
    fn resolve(&self, location: &str) -> Result<String, String> {
        let location = location.split('#').next().unwrap_or_default();
        let lower = location.to_ascii_lowercase();
        if lower.starts_with("https://") {
            return Ok(location.to_owned());
        }
        let scheme = location.split(['/', '?']).next().unwrap_or_default();
        if scheme.contains(':') {
            return Err(format!("the redirect to {} leaves HTTPS", quote(location)));
        }
        if location.starts_with("//") {
            return Ok(format!("https:{location}"));
        }
        let (authority, path) = (self.authority(), self.path());
        let path = path.split('?').next().unwrap_or_default();
        Ok(match location.chars().next() {
            None => self.url.clone(),
            Some('/') => format!("https://{authority}{location}"),
            Some('?') => format!("https://{authority}{path}{location}"),
            Some(_) => {
                let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
                format!("https://{authority}{directory}/{location}")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_relative_to_the_request() {
        let hop = Hop::new("https://a:8443/x/y?timeout=10s", Bytes::new());
        for (location, expected) in [
            ("https://b/z?q#f", "https://b/z?q"),
            ("//b:1/z", "https://b:1/z"),
            ("/z", "https://a:8443/z"),
            ("z", "https://a:8443/x/z"),
            ("?q", "https://a:8443/x/y?q"),
            ("", "https://a:8443/x/y?timeout=10s"),
        ] {
            assert_eq!(hop.resolve(location).unwrap(), expected);
        }
        let headers = HeaderMap::from_iter([(LOCATION, "/z".parse().unwrap())]);
        for (code, expected) in [
            (301, Some(Method::GET)),
            (303, Some(Method::GET)),
            (307, Some(Method::POST)),
            (304, None),
        ] {
            let next = hop.next(StatusCode::from_u16(code).unwrap(), &headers);
            assert_eq!(next.map(|next| next.unwrap().method), expected, "{code}");
        }
        let refused = hop.resolve("http://b/").unwrap_err();
        assert_eq!(refused, "the redirect to \"http://b/\" leaves HTTPS");
    }
}
