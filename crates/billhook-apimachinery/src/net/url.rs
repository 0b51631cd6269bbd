//! Parsing of URLs and of the URIs of requests.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use super::address::Address;
use super::escape::{EscapeError, UrlPart, escape, is_escaped, unescape_text, unescaped};
use crate::message_error;
use crate::print::quote;

message_error! {
    /// A text that is not a URL; prints the server's text.
    pub struct UrlError;
}

impl From<EscapeError> for UrlError {
    fn from(error: EscapeError) -> Self {
        UrlError::new(error.to_string())
    }
}

/// A URL in its parts. It prints as the server puts it together again.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Url {
    /// The scheme in lower case; empty if absent.
    pub scheme: String,
    /// The part after a scheme without a slash.
    opaque: String,
    /// The part before `@`, normalized.
    pub user: Option<String>,
    /// The host and the port; empty if absent.
    pub host: String,
    /// The path without escapes.
    path: String,
    /// The path as written, if that is not how it would be escaped.
    raw_path: Option<String>,
    /// Whether an empty query was written.
    force_query: bool,
    /// The query as written, without the question mark.
    pub query: String,
    /// The fragment without escapes.
    pub fragment: String,
    raw_fragment: Option<String>,
    omits_host: bool,
}

/// The parts of a text that is a URL, besides the fragment.
#[derive(Default)]
struct Parts<'t> {
    scheme: &'t str,
    opaque: &'t str,
    user: Option<String>,
    host: Cow<'t, str>,
    path: Cow<'t, str>,
    written_path: &'t str,
    force_query: bool,
    query: &'t str,
    omits_host: bool,
}

impl From<Parts<'_>> for Url {
    fn from(parts: Parts<'_>) -> Self {
        let is_default = escape(&*parts.path, UrlPart::Path) == parts.written_path;
        Url {
            scheme: parts.scheme.to_ascii_lowercase(),
            opaque: parts.opaque.to_owned(),
            user: parts.user,
            host: parts.host.into_owned(),
            path: parts.path.into_owned(),
            raw_path: (!is_default).then(|| parts.written_path.to_owned()),
            force_query: parts.force_query,
            query: parts.query.to_owned(),
            omits_host: parts.omits_host,
            ..Url::default()
        }
    }
}

fn parse(text: &str, is_request: bool) -> Result<Parts<'_>, UrlError> {
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return Err("net/url: invalid control character in URL".into());
    }
    if text.is_empty() && is_request {
        return Err("empty url".into());
    }
    if text == "*" {
        return Ok(Parts { path: text.into(), written_path: text, ..Parts::default() });
    }
    let (scheme, mut rest) = split_scheme(text)?;
    let mut url = Parts { scheme, ..Parts::default() };
    match rest.strip_suffix('?') {
        Some(without) if !without.contains('?') => (url.force_query, rest) = (true, without),
        _ => (rest, url.query) = rest.split_once('?').unwrap_or((rest, "")),
    }
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            url.opaque = rest;
            return Ok(url);
        }
        if is_request {
            return Err("invalid URI for request".into());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".into());
        }
    }
    let has_authority = !url.scheme.is_empty() || !is_request && !rest.starts_with("///");
    match rest.strip_prefix("//").filter(|_| has_authority) {
        Some(behind) => {
            let end = behind.find('/').unwrap_or(behind.len());
            let (authority, path) = behind.split_at_checked(end).unwrap_or((behind, ""));
            (url.user, url.host) = parse_authority(url.scheme, authority)?;
            rest = path;
        }
        None => url.omits_host = !url.scheme.is_empty() && rest.starts_with('/'),
    }
    (url.path, url.written_path) = (unescaped(rest, UrlPart::Path)?, rest);
    Ok(url)
}

/// Returns the scheme, if there is one, and the rest.
fn split_scheme(text: &str) -> Result<(&str, &str), UrlError> {
    for (position, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if position > 0 => {}
            b':' if position == 0 => return Err("missing protocol scheme".into()),
            b':' => return Ok(text.split_once(':').unwrap_or(("", text))),
            _ => break,
        }
    }
    Ok(("", text))
}

fn parse_authority<'t>(
    scheme: &str,
    text: &'t str,
) -> Result<(Option<String>, Cow<'t, str>), UrlError> {
    let Some((user, host)) = text.rsplit_once('@') else {
        return Ok((None, parse_host(scheme, text)?));
    };
    let host = parse_host(scheme, host)?;
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(is_valid) {
        return Err("net/url: invalid userinfo".into());
    }
    let normal =
        |text| unescape_text(text, UrlPart::UserInfo).map(|text| escape(&text, UrlPart::UserInfo));
    let user = match user.split_once(':') {
        Some((name, password)) => format!("{}:{}", normal(name)?, normal(password)?),
        None => normal(user)?,
    };
    Ok((Some(user), host))
}

fn parse_host<'t>(scheme: &str, host: &'t str) -> Result<Cow<'t, str>, UrlError> {
    let check_port = |port: &str| {
        if is_optional_port(port) {
            Ok(())
        } else {
            Err(UrlError::new(format!("invalid port {} after host", quote(port))))
        }
    };
    match host.rfind('[') {
        Some(0) => {
            let (literal, port) = host
                .strip_prefix('[')
                .and_then(|literal| literal.rsplit_once(']'))
                .ok_or("missing ']' in host")?;
            check_port(port)?;
            return Ok(format!("[{}]{port}", parse_literal(literal)?).into());
        }
        Some(_) => return Err("invalid IP-literal".into()),
        None => {}
    }
    // Lists of hosts with ports are known of databases.
    let of_databases = ["postgres", "postgresql", "mongodb", "mongodb+srv"];
    let takes_lists = of_databases.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let colon = if takes_lists { host.rfind(':') } else { host.find(':') };
    if let Some(port) = colon.and_then(|colon| host.get(colon..)) {
        check_port(port)?;
    }
    Ok(unescaped(host, UrlPart::Host)?)
}

/// Reads an IPv6 address in brackets, perhaps with a zone after an escaped percent sign.
fn parse_literal(text: &str) -> Result<String, UrlError> {
    let literal = match text.find("%25").and_then(|at| text.split_at_checked(at)) {
        Some((address, zone)) => {
            unescape_text(address, UrlPart::Host)? + &unescape_text(zone, UrlPart::Zone)?
        }
        None => unescape_text(text, UrlPart::Host)?,
    };
    match Address::parse(&literal).map(|address| address.ip) {
        Ok(IpAddr::V6(_)) => Ok(literal),
        Ok(IpAddr::V4(_)) => Err("invalid IP-literal".into()),
        Err(error) => Err(format!("invalid host: {error}").into()),
    }
}

/// Nothing, or a colon and digits.
fn is_optional_port(text: &str) -> bool {
    match text.strip_prefix(':') {
        Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()),
        None => text.is_empty(),
    }
}

impl Url {
    /// Parses a URL, which may be relative and have a fragment.
    ///
    /// # Errors
    ///
    /// If the text is not one.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let failed = |url, error: UrlError| UrlError::new(format!("parse {}: {error}", quote(url)));
        let (url, fragment) = text.split_once('#').unwrap_or((text, ""));
        let mut parsed = Url::from(parse(url, false).map_err(|error| failed(url, error))?);
        let unescaped = unescape_text(fragment, UrlPart::Fragment);
        parsed.fragment = unescaped.map_err(|error| failed(text, error.into()))?;
        let is_default = escape(&parsed.fragment, UrlPart::Fragment) == fragment;
        parsed.raw_fragment = (!is_default).then(|| fragment.to_owned());
        Ok(parsed)
    }

    /// Parses the URI of a request: an absolute URL or path without a fragment.
    ///
    /// # Errors
    ///
    /// If the text is not one.
    pub fn parse_request_uri(text: &str) -> Result<Self, UrlError> {
        let parsed = parse(text, true).map(Url::from);
        parsed.map_err(|error| UrlError::new(format!("parse {}: {error}", quote(text))))
    }

    /// Returns whether a text is the URI of a request; mostly takes no memory for that.
    pub fn is_request_uri(text: &str) -> bool {
        parse(text, true).is_ok()
    }

    /// Returns the host without brackets, and the port, which may be empty.
    pub fn host_and_port(&self) -> (&str, &str) {
        let (host, port) = match self.host.rfind(':').and_then(|at| self.host.split_at_checked(at))
        {
            Some((host, port)) if is_optional_port(port) => {
                (host, port.strip_prefix(':').unwrap_or_default())
            }
            _ => (self.host.as_str(), ""),
        };
        let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        (literal.unwrap_or(host), port)
    }

    /// Returns the path as it was written if that is a valid form of it.
    pub fn escaped_path(&self) -> String {
        match &self.raw_path {
            Some(raw) if is_escaped(raw, UrlPart::Path) => raw.clone(),
            _ if self.path == "*" => "*".to_owned(),
            _ => escape(&self.path, UrlPart::Path),
        }
    }

    fn escaped_fragment(&self) -> String {
        match &self.raw_fragment {
            Some(raw) if is_escaped(raw, UrlPart::Fragment) => raw.clone(),
            _ => escape(&self.fragment, UrlPart::Fragment),
        }
    }
}

/// URLs are equal if they print alike.
impl PartialEq for Url {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

/// The URL put together again.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            let path = self.escaped_path();
            let has_host = !self.host.is_empty() || self.user.is_some();
            if has_host || !self.scheme.is_empty() && !self.omits_host {
                if has_host || !path.is_empty() {
                    f.write_str("//")?;
                }
                if let Some(user) = &self.user {
                    write!(f, "{user}@")?;
                }
                f.write_str(&escape(&self.host, UrlPart::Host))?;
            }
            f.write_str(&path)?;
        } else {
            f.write_str(&self.opaque)?;
        }
        if self.force_query || !self.query.is_empty() {
            write!(f, "?{}", self.query)?;
        }
        if !self.fragment.is_empty() {
            write!(f, "#{}", self.escaped_fragment())?;
        }
        Ok(())
    }
}
