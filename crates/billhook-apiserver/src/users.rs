//! The users of requests (RE-142), and what they may do.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use billhook::webhook::{AuthorizationDecision, AuthorizationRequest, UserAuthorizer};
use billhook_apimachinery::net::{UrlPart, unescape_text};
use billhook_apimachinery::{Status, UserInfo};
use http::HeaderMap;

use crate::request::Request;

const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";

/// The group of all users who have said who they are.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";

/// Decides what users may do: everything, unless the builder of the server said otherwise.
#[derive(Clone, Default)]
pub(crate) struct Authorizer(Option<Arc<Decide>>);

type Decide = dyn Fn(&UserInfo, &AuthorizationRequest) -> AuthorizationDecision + Send + Sync;

impl Authorizer {
    pub(crate) fn new(
        decide: impl Fn(&UserInfo, &AuthorizationRequest) -> AuthorizationDecision
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Authorizer(Some(Arc::new(decide)))
    }

    /// Whether it allows everything, whoever asks.
    pub(crate) fn allows_everything(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorizer")
    }
}

impl UserAuthorizer for Authorizer {
    fn authorize(&self, user: &UserInfo, request: &AuthorizationRequest) -> AuthorizationDecision {
        let Some(decide) = &self.0 else { return AuthorizationDecision::new(true) };
        match &request.service_account {
            Some(account) => decide(&service_account(&account.namespace, &account.name), request),
            None => decide(user, request),
        }
    }
}

fn service_account(namespace: &str, name: &str) -> UserInfo {
    let user = UserInfo::named(format!("system:serviceaccount:{namespace}:{name}"));
    let of_namespace = format!("system:serviceaccounts:{namespace}");
    user.group("system:serviceaccounts").group(of_namespace).group(AUTHENTICATED)
}

/// Adds the group that all users have who said who they are.
fn authenticated(user: UserInfo) -> UserInfo {
    let is_anonymous = user.username == "system:anonymous";
    if is_anonymous || user.groups.iter().any(|group| group == AUTHENTICATED) {
        return user;
    }
    user.group(AUTHENTICATED)
}

/// Returns the user of a request: the one whom it impersonates, or else the one who makes it, who is
/// the server's own user unless its extensions have another one.
///
/// # Errors
///
/// If the request is about another user, but does not name one that can be read: it is never made by
/// the server's own user instead.
pub(crate) fn user_of<'u>(
    request: &'u Request,
    own: &'u UserInfo,
) -> Result<Cow<'u, UserInfo>, Status> {
    let headers = &request.headers;
    let is_about_user = |name: &str| matches!(name, GROUP | UID) || name.starts_with(EXTRA);
    let Some(name) = texts(headers, USER)?.into_iter().next() else {
        return match headers.keys().find(|name| is_about_user(name.as_str())) {
            Some(header) => Err(Status::bad_request(format!(
                "the header {header} needs the header {USER}, which names the user to impersonate"
            ))),
            None => Ok(Cow::Borrowed(request.user.as_ref().unwrap_or(own))),
        };
    };
    let account = name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
    let mut user = match account {
        Some((namespace, name)) => service_account(namespace, name),
        None => UserInfo::named(&name),
    };
    let groups = texts(headers, GROUP)?;
    if !groups.is_empty() {
        user.groups = groups;
    }
    user = authenticated(user);
    user.uid = texts(headers, UID)?.into_iter().next().unwrap_or_default();
    for header in headers.keys() {
        let Some(key) = header.as_str().strip_prefix(EXTRA) else { continue };
        let key = unescape_text(key, UrlPart::Path).unwrap_or_else(|_| key.to_owned());
        user.extra.entry(key).or_default().extend(texts(headers, header.as_str())?);
    }
    Ok(Cow::Owned(user))
}

/// Returns the values of a header that are not empty. They are UTF-8, as those of a server.
fn texts(headers: &HeaderMap, name: &str) -> Result<Vec<String>, Status> {
    let values = headers.get_all(name).iter().filter(|value| !value.is_empty());
    let texts = values.map(|value| str::from_utf8(value.as_bytes()).map(str::to_owned));
    texts.collect::<Result<_, _>>().map_err(|_| {
        Status::bad_request(format!("the header {name} has a value that is not UTF-8"))
    })
}
