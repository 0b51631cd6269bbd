//! Parsing a URL as the server does: generously, so that few texts are not a URL at all (WCF-61 to
//! WCF-66).

/// The parts of a URL that matter here.
#[derive(Debug, PartialEq, Eq)]
pub struct Url {
    /// In lower case.
    pub scheme: String,
    /// Name and password, as written.
    pub user: Option<String>,
    /// Host and port.
    pub host: String,
    /// The query as written, without the question mark.
    pub query: String,
    /// Without escapes.
    pub fragment: String,
}

/// Punctuation that a host may contain unescaped.
const HOST_MARKS: &[u8] = b"-_.~!$&'()*+,;=:[]<>\"";
/// Punctuation that name and password may contain.
const USER_MARKS: &[u8] = b"-._:~!$&'()*+,;=%@";

impl Url {
    /// Parses a URL.
    ///
    /// # Errors
    ///
    /// Returns the server's text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        let fragment = unescape(fragment)?;
        if text.bytes().any(|byte| byte.is_ascii_control()) {
            return Err("invalid control character in URL".to_owned());
        }
        let (scheme, rest) = split_scheme(text)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut url = Url {
            scheme: scheme.to_ascii_lowercase(),
            user: None,
            host: String::new(),
            query: query.to_owned(),
            fragment,
        };
        if !rest.starts_with('/') {
            let first = rest.split('/').next().unwrap_or_default();
            return match scheme {
                "" if first.contains(':') => {
                    Err("first path segment in URL cannot contain colon".to_owned())
                }
                "" => unescape(rest).map(|_| url),
                _ => Ok(url),
            };
        }
        let has_authority = !scheme.is_empty() || !rest.starts_with("///");
        let authority = rest.strip_prefix("//").filter(|_| has_authority);
        let path = match authority {
            None => rest,
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
                let (user, host) = match authority.rsplit_once('@') {
                    None => (None, authority),
                    Some((user, host)) => (Some(user), host),
                };
                check_host(host)?;
                user.map_or(Ok(()), check_user)?;
                url.host = host.to_owned();
                url.user = user.map(str::to_owned);
                path
            }
        };
        unescape(path)?;
        Ok(url)
    }
}

/// Returns the scheme, which is empty if there is none, and the text after its colon.
fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let end = text.bytes().take_while(is_inside).count();
    let starts_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    match text.split_at_checked(end) {
        Some(("", rest)) if rest.starts_with(':') => Err("missing protocol scheme".to_owned()),
        Some((scheme, rest)) if starts_well && rest.starts_with(':') => {
            Ok((scheme, rest.strip_prefix(':').unwrap_or(rest)))
        }
        _ => Ok(("", text)),
    }
}

fn check_user(user: &str) -> Result<(), String> {
    if !user.bytes().all(|byte| byte.is_ascii_alphanumeric() || USER_MARKS.contains(&byte)) {
        return Err("invalid user information".to_owned());
    }
    unescape(user).map(|_| ())
}

fn check_host(host: &str) -> Result<(), String> {
    let port = if host.starts_with('[') {
        match host.rsplit_once(']') {
            Some((_, port)) => port,
            None => return Err("missing ']' in host".to_owned()),
        }
    } else {
        host.rfind(':').and_then(|colon| host.get(colon..)).unwrap_or_default()
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) || (digits == port && !port.is_empty()) {
        return Err(format!("invalid port `{port}` after host"));
    }
    let mut bytes = host.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            // Only non-ASCII characters may be escaped, and the mark before the zone of an address.
            let (high, low) = (bytes.next().and_then(digit), bytes.next().and_then(digit));
            let escaped = high.zip(low).map(|(high, low)| high << 4 | low);
            let is_zone = host.starts_with('[') && escaped == Some(b'%');
            if escaped.is_none_or(|escaped| escaped.is_ascii() && !is_zone) {
                return Err("invalid URL escape in host".to_owned());
            }
        } else if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !HOST_MARKS.contains(&byte) {
            return Err(format!("invalid character `{}` in host name", char::from(byte)));
        }
    }
    Ok(())
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Returns the text without escapes; an invalid escape is an error.
fn unescape(text: &str) -> Result<String, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        match (bytes.next().and_then(digit), bytes.next().and_then(digit)) {
            (Some(high), Some(low)) => out.push(high << 4 | low),
            _ => return Err("invalid URL escape".to_owned()),
        }
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match Url::parse(text) {
            Ok(url) => format!(
                "{}|{}|{}|{}|{}",
                url.scheme,
                url.user.as_deref().unwrap_or("-"),
                url.host,
                url.query,
                url.fragment
            ),
            Err(_) => "error".to_owned(),
        }
    }

    /// WCF-61 to WCF-66.
    #[test]
    fn parts() {
        for (text, expected) in [
            ("", "|-|||"),
            ("HTTPS://Host:9443/a/b", "https|-|Host:9443||"),
            ("https:///fancy", "https|-|||"),
            ("https://user:p%20w@h/", "https|user:p%20w|h||"),
            ("https://@h", "https||h||"),
            ("https://h/p?x=1?y#f%41#", "https|-|h|x=1?y|fA#"),
            ("https://h/?#", "https|-|h||"),
            ("https://[::1]:443/", "https|-|[::1]:443||"),
            ("https://[fe80::1%25en0]/", "https|-|[fe80::1%25en0]||"),
            ("https://h:/p", "https|-|h:||"),
            ("https://h:99999/p", "https|-|h:99999||"),
            ("https://é/", "https|-|é||"),
            ("https:opaque", "https|-|||"),
            ("//h/p", "|-|h||"),
            ("///h/p", "|-|||"),
            ("h/p", "|-|||"),
            ("1https://h", "error"),
            ("://h", "error"),
            ("h:8080", "h|-|||"),
            ("1.2.3.4:80", "error"),
            ("https://h:port/", "error"),
            ("https://[::1/", "error"),
            ("https://[::1]x/", "error"),
            ("https://a b/", "error"),
            ("https://h%41/", "error"),
            ("https://h/%zz", "error"),
            ("https://h/#%z", "error"),
            ("https://u<@h/", "error"),
            ("https://h/\n", "error"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
