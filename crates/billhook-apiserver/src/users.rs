//! The users of requests (RE-142): those who make them, and those whom they impersonate.

use std::collections::BTreeMap;

use billhook::webhook::{AuthorizationRequest, ResourceTarget};
use billhook_apimachinery::net::{UrlPart, unescape_text};
use billhook_apimachinery::print::quote;
use billhook_apimachinery::{Status, UserInfo};
use http::HeaderMap;

const IMPERSONATE: &str = "impersonate-";
const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";

/// The user who did not say who it is.
const ANONYMOUS: &str = "system:anonymous";
/// The group of users who did not say who they are.
const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The beginning of the names of service accounts as users.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";
/// The group of reviews of users.
const AUTHENTICATION: &str = "authentication.k8s.io";

/// The group of all users who have said who they are.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";

/// Adds how a user proved who it is.
pub(crate) fn with_credential(mut user: UserInfo, credential: &str) -> UserInfo {
    let key = "authentication.kubernetes.io/credential-id".to_owned();
    user.extra.insert(key, vec![credential.to_owned()]);
    user
}

/// Adds the group that all users have who said who they are, or that of those who did not.
fn authenticated(user: UserInfo) -> UserInfo {
    let is_anonymous = user.username == ANONYMOUS;
    let has = |name: &str| user.groups.iter().any(|group| group == name);
    match (is_anonymous, has(AUTHENTICATED), has(UNAUTHENTICATED)) {
        (true, _, false) => user.group(UNAUTHENTICATED),
        (false, false, false) => user.group(AUTHENTICATED),
        _ => user,
    }
}

/// Returns whom a request impersonates, if it does.
///
/// # Errors
///
/// If the request is about another user, but does not name one that can be read: it is never made by
/// the one who sends it instead.
pub(crate) fn impersonated(headers: &HeaderMap) -> Result<Option<UserInfo>, Status> {
    if !headers.keys().any(|name| name.as_str().starts_with(IMPERSONATE)) {
        return Ok(None);
    }
    let groups = texts(headers, GROUP)?;
    let uid = texts(headers, UID)?.into_iter().next().unwrap_or_default();
    let mut extra = BTreeMap::<String, Vec<String>>::new();
    for header in headers.keys() {
        let Some(key) = header.as_str().strip_prefix(EXTRA) else { continue };
        let key = unescape_text(key, UrlPart::Path).unwrap_or_else(|_| key.to_owned());
        extra.entry(key).or_default().extend(texts(headers, header.as_str())?);
    }
    let Some(name) = texts(headers, USER)?.into_iter().next() else {
        if groups.is_empty() && uid.is_empty() && extra.is_empty() {
            return Ok(None);
        }
        return Err(Status::bad_request(format!(
            "requested &user.DefaultInfo{{Name:\"\", UID:{}, Groups:{}, Extra:{}}} without \
             impersonating a user name",
            quote(&uid),
            go_list(&groups),
            go_map(&extra),
        )));
    };
    let account = name.strip_prefix(SERVICE_ACCOUNT).and_then(|rest| rest.split_once(':'));
    let mut user = match account {
        Some((namespace, name)) => UserInfo::service_account(namespace, name),
        None => UserInfo::named(&name),
    };
    if !groups.is_empty() {
        user.groups = groups;
    }
    user = authenticated(user);
    (user.uid, user.extra) = (uid, extra);
    Ok(Some(user))
}

/// Returns what a user must be allowed who impersonates another one: the verb `impersonate` for the
/// name and for each group and value that the headers name.
pub(crate) fn questions_of_impersonation(
    headers: &HeaderMap,
) -> Result<Vec<AuthorizationRequest>, Status> {
    let mut targets = Vec::new();
    for name in texts(headers, USER)?.into_iter().take(1) {
        let account = name.strip_prefix(SERVICE_ACCOUNT).and_then(|rest| rest.split_once(':'));
        targets.push(match account {
            Some((namespace, account)) => {
                let mut target = named("", "serviceaccounts", account);
                namespace.clone_into(&mut target.namespace);
                target
            }
            None => named("", "users", &name),
        });
    }
    targets.extend(texts(headers, GROUP)?.iter().map(|group| named("", "groups", group)));
    targets
        .extend(texts(headers, UID)?.iter().take(1).map(|uid| named(AUTHENTICATION, "uids", uid)));
    for header in headers.keys() {
        let Some(key) = header.as_str().strip_prefix(EXTRA) else { continue };
        let key = unescape_text(key, UrlPart::Path).unwrap_or_else(|_| key.to_owned());
        targets.extend(texts(headers, header.as_str())?.iter().map(|value| {
            let mut target = named(AUTHENTICATION, "userextras", value);
            target.subresource.clone_from(&key);
            target
        }));
    }
    let question = |target| AuthorizationRequest::new("impersonate", target);
    Ok(targets.into_iter().map(question).collect())
}

fn named(group: &str, resource: &str, name: &str) -> ResourceTarget {
    let mut target = ResourceTarget::new(group, resource);
    name.clone_into(&mut target.name);
    target
}

fn go_list(texts: &[String]) -> String {
    if texts.is_empty() {
        return "[]string(nil)".to_owned();
    }
    let texts: Vec<String> = texts.iter().map(|text| quote(text)).collect();
    format!("[]string{{{}}}", texts.join(", "))
}

fn go_map(extra: &BTreeMap<String, Vec<String>>) -> String {
    if extra.is_empty() {
        return "map[string][]string(nil)".to_owned();
    }
    let entries: Vec<String> =
        extra.iter().map(|(key, values)| format!("{}:{}", quote(key), go_list(values))).collect();
    format!("map[string][]string{{{}}}", entries.join(", "))
}

/// Returns the values of a header that are not empty. They are UTF-8, as those of a server.
fn texts(headers: &HeaderMap, name: &str) -> Result<Vec<String>, Status> {
    let values = headers.get_all(name).iter().filter(|value| !value.is_empty());
    let texts = values.map(|value| str::from_utf8(value.as_bytes()).map(str::to_owned));
    texts.collect::<Result<_, _>>().map_err(|_| {
        Status::bad_request(format!("the header {name} has a value that is not UTF-8"))
    })
}
