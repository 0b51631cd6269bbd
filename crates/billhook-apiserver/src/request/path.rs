//! The path of a request: what it is about, and the verb (RE-01 to RE-03).

use billhook_apimachinery::net::{UrlPart, unescape_text};
use http::Method;

use super::query::{Query, is_true};

/// A path below `/apis/<group>/<version>/` that names objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) resource: String,
    /// `None` for all namespaces or none.
    pub(crate) namespace: Option<String>,
    /// The name of one object.
    pub(crate) name: Option<String>,
    pub(crate) subresource: String,
    /// Whether the path has the old form that makes every request a watch.
    pub(crate) is_watch: bool,
    /// Whether it has the old form that no resource offers any more.
    pub(crate) is_proxy: bool,
}

/// Returns the path of a URL without escapes; `None` if it names nothing (RE-01).
pub(crate) fn unescaped(path: &str) -> Option<String> {
    let names_something = path.starts_with('/') && !path.starts_with("//");
    unescape_text(path, UrlPart::Path).ok().filter(|_| names_something)
}

impl ResourcePath {
    /// Parses a path without escapes; `None` if it has another form (RE-01, RE-02).
    pub(crate) fn parse(path: &str) -> Option<Self> {
        let mut parts = path.trim_matches('/').split('/');
        let group = match parts.next()? {
            "api" => "",
            "apis" => parts.next()?,
            _ => return None,
        };
        let (group, version) = (group.to_owned(), parts.next()?.to_owned());
        let mut rest: Vec<&str> = parts.collect();
        let is_watch = rest.first() == Some(&"watch") && rest.len() > 1;
        let is_proxy = rest.first() == Some(&"proxy") && rest.len() > 1;
        if is_watch || is_proxy {
            rest.remove(0);
        }
        let (namespace, rest) = match rest.as_slice() {
            // A namespace itself has subresources.
            ["namespaces", _, "status" | "finalize", ..] => (None, rest.as_slice()),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => {
                (Some(*namespace).filter(|namespace| !namespace.is_empty()), rest)
            }
            rest => (None, rest),
        };
        let (resource, rest) = rest.split_first().filter(|(resource, _)| !resource.is_empty())?;
        let subresource = rest.get(1).filter(|_| !is_proxy).copied().unwrap_or_default();
        Some(ResourcePath {
            group,
            version,
            resource: (*resource).to_owned(),
            namespace: namespace.map(str::to_owned),
            name: rest.first().filter(|name| !name.is_empty()).map(|name| (*name).to_owned()),
            subresource: subresource.to_owned(),
            is_watch,
            is_proxy,
        })
    }

    /// The verb of a request for this path (RE-03).
    pub(crate) fn verb(&self, method: &Method, query: &Query) -> Verb {
        let is_collection = self.name.is_none();
        match *method {
            _ if self.is_proxy => Verb::Proxy,
            Method::GET | Method::HEAD if self.is_watch => Verb::Watch,
            Method::GET | Method::HEAD if !is_collection => Verb::Get,
            Method::GET | Method::HEAD if query.get("watch").is_some_and(is_true) => Verb::Watch,
            Method::GET | Method::HEAD => Verb::List,
            Method::POST => Verb::Create,
            Method::PUT => Verb::Update,
            Method::PATCH => Verb::Patch,
            Method::DELETE if is_collection => Verb::DeleteCollection,
            Method::DELETE => Verb::Delete,
            _ => Verb::Unknown,
        }
    }
}

/// The action of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    List,
    Watch,
    Create,
    Update,
    Patch,
    Delete,
    DeleteCollection,
    /// That of an old form of paths; never offered.
    Proxy,
    /// That of a method which no object has.
    Unknown,
}

impl Verb {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::List => "list",
            Verb::Watch => "watch",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
            Verb::DeleteCollection => "deletecollection",
            Verb::Proxy => "proxy",
            Verb::Unknown => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foos(namespace: Option<&str>, name: Option<&str>, subresource: &str) -> ResourcePath {
        ResourcePath {
            group: "example.com".to_owned(),
            version: "v1".to_owned(),
            resource: "foos".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
            subresource: subresource.to_owned(),
            is_watch: false,
            is_proxy: false,
        }
    }

    /// RE-01, RE-02.
    #[test]
    fn paths_are_split() {
        let watch = ResourcePath { is_watch: true, ..foos(Some("a"), None, "") };
        for (path, expected) in [
            ("foos/", Some(foos(None, None, ""))),
            ("namespaces/a/foos/b/status/more", Some(foos(Some("a"), Some("b"), "status"))),
            ("namespaces//foos", Some(foos(None, None, ""))),
            ("foos//a", Some(foos(None, None, "a"))),
            ("namespaces/a/foos/..%2f..", Some(foos(Some("a"), Some(".."), ".."))),
            ("watch/namespaces/a/foos", Some(watch)),
            ("/foos", None),
            ("", None),
        ] {
            let path = unescaped(&format!("/apis/example.com/v1/{path}")).unwrap();
            let found = ResourcePath::parse(&path);
            assert_eq!(found, expected, "{path}");
        }
        assert_eq!(unescaped("//apis/example.com/v1/foos"), None);
    }
}
