//! The headers that a chosen user adds to every call, and the files they come from
//! (CL-30 to CL-34).

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use billhook_admission::now;
use billhook_apimachinery::base64;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use super::tls::read_file;
use super::users::{Impersonate, Source, User};

/// How long the token of a file counts (CL-31).
const TOKEN_AGE: Duration = Duration::from_secs(60);

/// A client's knowledge of its user.
#[derive(Debug, Default)]
pub(super) struct Credentials {
    authorization: Option<String>,
    token_file: Option<TokenFile>,
    impersonate: Vec<(HeaderName, String)>,
    /// When what a program gave can no longer be used.
    expires: Option<String>,
    /// The files of the client certificate, and when they were last changed.
    watched: Vec<(PathBuf, Option<SystemTime>)>,
}

#[derive(Debug)]
struct TokenFile {
    path: PathBuf,
    read: Mutex<Option<(String, Instant)>>,
}

impl Credentials {
    /// The credentials of a user; none for an anonymous client. What a program gave has a time at
    /// which it expires.
    pub(super) fn new(user: Option<&User>, expires: Option<String>) -> Result<Self, String> {
        let Some(user) = user else { return Ok(Credentials::default()) };
        if let Some(why) = user.unusable {
            return Err(why.to_owned());
        }
        let has_token = user.token.is_some() || user.token_file.is_some();
        let has_basic = !user.username.is_empty() || !user.password.is_empty();
        if has_token && has_basic {
            return Err("username/password or bearer token may be set, but not both".to_owned());
        }
        let basic = || {
            let pair = format!("{}:{}", user.username, user.password);
            format!("Basic {}", base64::encode(pair.as_bytes()))
        };
        let bearer = user.token.as_ref().map(|token| format!("Bearer {token}"));
        let token_file =
            user.token_file.clone().map(|path| TokenFile { path, read: Mutex::default() });
        let files = [&user.certificate, &user.key].into_iter().flatten();
        let watched = files.filter_map(|source| match source {
            Source::File(path) => Some((path.clone(), changed(path))),
            Source::Data(_) => None,
        });
        Ok(Credentials {
            authorization: bearer.or_else(|| has_basic.then(basic)),
            token_file,
            impersonate: user.impersonate.as_ref().map(headers).transpose()?.unwrap_or_default(),
            expires,
            watched: watched.collect(),
        })
    }

    /// Whether nothing has expired and the files are still those that were read.
    pub(super) fn are_fresh(&self) -> bool {
        // Both are in UTC and in the same form, so that their order is that of the texts.
        let now = now().to_rfc3339();
        let is_past = |expires: &String| !expires.ends_with('Z') || *expires <= now;
        !self.expires.as_ref().is_some_and(is_past)
            && self.watched.iter().all(|(path, seen)| changed(path) == *seen)
    }

    /// The headers of a call.
    pub(super) fn headers(&self, user_agent: &str) -> Result<HeaderMap, String> {
        let mut headers = HeaderMap::new();
        let value = |text: &str| {
            HeaderValue::from_str(text)
                .map_err(|_| "credentials hold characters that no header may have".to_owned())
        };
        headers.insert(USER_AGENT, value(user_agent)?);
        let token = self.token_file.as_ref().map(TokenFile::token);
        let authorization = match (token, &self.authorization) {
            (Some(Ok(token)), _) => Some(format!("Bearer {token}")),
            // The token in the kubeconfig stands in for a file that cannot be read.
            (Some(Err(error)), None) => return Err(error),
            (_, authorization) => authorization.clone(),
        };
        if let Some(authorization) = authorization {
            let mut authorization = value(&authorization)?;
            authorization.set_sensitive(true);
            headers.insert(AUTHORIZATION, authorization);
        }
        for (name, text) in &self.impersonate {
            headers.append(name.clone(), value(text)?);
        }
        Ok(headers)
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

fn headers(who: &Impersonate) -> Result<Vec<(HeaderName, String)>, String> {
    let mut headers = vec![(HeaderName::from_static("impersonate-user"), who.user.clone())];
    if !who.uid.is_empty() {
        headers.push((HeaderName::from_static("impersonate-uid"), who.uid.clone()));
    }
    for group in &who.groups {
        headers.push((HeaderName::from_static("impersonate-group"), group.clone()));
    }
    for (key, values) in &who.extra {
        let name = format!("impersonate-extra-{}", escape(key));
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("\"{key}\" cannot be part of a header"))?;
        headers.extend(values.iter().map(|value| (name.clone(), value.clone())));
    }
    Ok(headers)
}

/// A key with everything that no header name may have percent-encoded.
fn escape(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

impl TokenFile {
    fn token(&self) -> Result<String, String> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((token, at)) = &*read
            && at.elapsed() < TOKEN_AGE
        {
            return Ok(token.clone());
        }
        let token = match (self.read(), &*read) {
            (Ok(token), _) => token,
            // Better the old one than none while the file is being replaced.
            (Err(_), Some((token, _))) => return Ok(token.clone()),
            (Err(error), None) => return Err(error),
        };
        *read = Some((token.clone(), Instant::now()));
        Ok(token)
    }

    fn read(&self) -> Result<String, String> {
        let text = read_file(&self.path)?;
        let token = String::from_utf8_lossy(&text).trim().to_owned();
        if token.is_empty() {
            return Err(format!("read empty token from file \"{}\"", self.path.display()));
        }
        Ok(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The token of a file that is gone is still the last one that was read (CL-31).
    #[test]
    fn a_token_outlives_its_file() {
        let path = std::env::temp_dir().join("billhook-no-such-directory/token");
        let long_ago = Instant::now().checked_sub(TOKEN_AGE).unwrap();
        let read = Mutex::new(Some(("old".to_owned(), long_ago)));
        let file = TokenFile { path: path.clone(), read };
        assert_eq!(file.token().as_deref(), Ok("old"));
        assert!(TokenFile { path, read: Mutex::default() }.token().is_err());
    }
}
