//! A request and its answer, in short.

use std::fmt::{self, Write as _};

use billhook::{Time, UserInfo};
use billhook_apimachinery::print::is_printable;

use crate::request::Request;
use crate::response::{Response, message_of};

/// A request and its answer. Prints as a line:
/// `2026-01-01T00:00:00Z shop-controller system:admin update deployments.apps/status shop/web 200`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestRecord {
    /// Its number among those that the server remembers, from 1; 0 if it remembers none.
    pub number: u64,
    /// When it came, by the clock of the server.
    pub time: Time,
    /// The name of the user, or of the one who is impersonated.
    pub user: String,
    /// The name of the client: the manager of the fields that its writes set.
    pub client: String,
    /// The verb of a request for objects: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`
    /// or `deletecollection`. For others the method in lower case.
    pub verb: String,
    /// The group of the resource; empty for the core group and for other paths.
    pub group: String,
    /// The version of the resource.
    pub version: String,
    /// The resource, such as `deployments`; empty for paths that are not those of objects.
    pub resource: String,
    /// The subresource, such as `status`.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name of the object in the path.
    pub name: String,
    /// The path.
    pub path: String,
    /// Whether nothing was to be stored.
    pub dry_run: bool,
    /// The code of the answer.
    pub code: u16,
    /// The message of the answer if it was refused: which rule, policy, webhook or role did so.
    pub message: String,
    /// Whether the store was the same before and after it. An update or a patch that was accepted and
    /// left it so was needless.
    pub changed_nothing: bool,
}

impl RequestRecord {
    /// Whether it was to write.
    pub fn is_write(&self) -> bool {
        const WRITES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];
        WRITES.contains(&self.verb.as_str()) && !self.resource.is_empty()
    }

    /// Whether it was accepted.
    pub fn is_accepted(&self) -> bool {
        self.code < 400
    }

    /// Whether it was an update or a patch that was accepted and changed nothing.
    pub fn is_needless(&self) -> bool {
        let rewrites =
            matches!(self.verb.as_str(), "update" | "patch") && !self.resource.is_empty();
        rewrites && self.is_accepted() && !self.dry_run && self.changed_nothing
    }

    /// The object or the path that it was for, as it is printed.
    fn target(&self) -> String {
        if self.resource.is_empty() {
            return self.path.clone();
        }
        let dot = if self.group.is_empty() { "" } else { "." };
        let slash = if self.subresource.is_empty() { "" } else { "/" };
        let RequestRecord { resource, group, subresource, .. } = self;
        let object = match (self.namespace.as_str(), self.name.as_str()) {
            ("", "") => String::new(),
            ("", name) => format!(" {name}"),
            (namespace, "") => format!(" in {namespace}"),
            (namespace, name) => format!(" {namespace}/{name}"),
        };
        format!("{resource}{dot}{group}{slash}{subresource}{object}")
    }
}

/// A line, in which what clients have chosen cannot begin another one, nor be obeyed by a terminal.
impl fmt::Display for RequestRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RequestRecord { time, client, user, verb, code, .. } = self;
        let time = time.to_rfc3339();
        for c in format!("{time} {client} {user} {verb} {} {code}", self.target()).chars() {
            match is_printable(c) {
                true => f.write_char(c)?,
                false => write!(f, "{}", c.escape_unicode())?,
            }
        }
        match () {
            () if self.dry_run => f.write_str(" (dry run)"),
            () if self.is_needless() => f.write_str(" (changed nothing)"),
            () => Ok(()),
        }
    }
}

/// A request whose answer is not there yet.
pub(crate) struct Started {
    record: RequestRecord,
    revision: u64,
}

impl Started {
    /// A request that comes at a time, and the revision of the store then.
    pub(crate) fn new(request: &Request, time: Time, revision: u64) -> Self {
        let path = request.objects.clone().unwrap_or_default();
        let verb = match request.verb() {
            Some(verb) => verb.name().to_owned(),
            None => request.method.as_str().to_lowercase(),
        };
        let record = RequestRecord {
            number: 0,
            time,
            user: String::new(),
            client: request.field_manager(),
            verb,
            group: path.group,
            version: path.version,
            resource: path.resource,
            subresource: path.subresource,
            namespace: path.namespace.unwrap_or_default(),
            name: path.name.unwrap_or_default(),
            path: request.path().to_owned(),
            dry_run: request.query.get("dryRun").is_some(),
            code: 0,
            message: String::new(),
            changed_nothing: false,
        };
        Started { record, revision }
    }

    /// The record, when the answer is there.
    pub(crate) fn end(self, user: &UserInfo, revision: u64, answer: &Response) -> RequestRecord {
        let (user, changed_nothing) = (user.username.clone(), revision == self.revision);
        let (code, message) = (answer.status().as_u16(), message_of(answer).to_owned());
        RequestRecord { user, code, message, changed_nothing, ..self.record }
    }
}
