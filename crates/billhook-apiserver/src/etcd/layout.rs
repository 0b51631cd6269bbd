//! Where objects are in etcd (ES-01 to ES-05).

use std::collections::BTreeMap;

use billhook_apimachinery::split_api_version;
use billhook_kinds::Kind;

use crate::storage::Collection;

/// The keys of objects.
#[derive(Debug)]
pub(super) struct Layout {
    /// The beginning of all keys, with a slash at both ends.
    prefix: String,
    /// The collections of built-in kinds, by the parts of their keys.
    collections: BTreeMap<String, Collection>,
    parts: BTreeMap<Collection, String>,
}

impl Layout {
    pub(super) fn new(prefix: &str) -> Self {
        let prefix = format!("/{}/", prefix.trim_matches('/')).replace("//", "/");
        let kinds = Kind::all().iter().filter(|kind| kind.is_stored());
        let parts: BTreeMap<_, _> = kinds
            .map(|kind| {
                let (group, _) = split_api_version(kind.storage_version);
                (Collection::new(group, kind.plural), kind.storage_path())
            })
            .collect();
        let collections = parts.iter().map(|(name, part)| (part.clone(), name.clone())).collect();
        Layout { prefix, collections, parts }
    }

    /// The beginning of all keys.
    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the key of an object (ES-01).
    pub(super) fn key(&self, collection: &Collection, key: &str) -> Vec<u8> {
        let part = self.parts.get(collection).map_or(collection.as_str(), String::as_str);
        [&self.prefix, part, "/", key].concat().into_bytes()
    }

    /// Returns the object that a key is of; `None` if it is of none (ES-03).
    pub(super) fn object<'k>(&self, key: &'k [u8]) -> Option<(Collection, &'k str)> {
        let key = std::str::from_utf8(key).ok()?.strip_prefix(&self.prefix)?;
        let (first, after_first) = key.split_once('/')?;
        let two_parts = || {
            let (second, rest) = after_first.split_once('/')?;
            Some((first, second, rest))
        };
        let (collection, name) = if first.contains('.') {
            let (group, plural, rest) = two_parts()?;
            (Collection::new(group, plural), rest)
        } else if let Some(collection) = self.collections.get(first) {
            (collection.clone(), after_first)
        } else {
            let (first, second, rest) = two_parts()?;
            (self.collections.get(&format!("{first}/{second}"))?.clone(), rest)
        };
        Some((collection, name)).filter(|(_, name)| !name.is_empty())
    }
}

/// Returns the end of the range of keys that begin so (ES-05).
pub(super) fn end_of_prefix(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return end;
        }
    }
    // All keys.
    vec![0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ES-01, ES-02.
    #[test]
    fn keys_are_those_of_a_server() {
        let layout = Layout::new("/registry");
        for (group, plural, object, expected) in [
            ("", "pods", "default/web-0", "/registry/pods/default/web-0"),
            ("", "namespaces", "default", "/registry/namespaces/default"),
            ("", "nodes", "a", "/registry/minions/a"),
            ("", "services", "default/a", "/registry/services/specs/default/a"),
            ("", "endpoints", "default/a", "/registry/services/endpoints/default/a"),
            ("", "replicationcontrollers", "default/a", "/registry/controllers/default/a"),
            ("", "events", "default/a.17", "/registry/events/default/a.17"),
            ("apps", "deployments", "default/web", "/registry/deployments/default/web"),
            ("coordination.k8s.io", "leases", "kube-system/x", "/registry/leases/kube-system/x"),
            ("networking.k8s.io", "ingresses", "default/a", "/registry/ingress/default/a"),
            (
                "apiextensions.k8s.io",
                "customresourcedefinitions",
                "foos.example.com",
                "/registry/apiextensions.k8s.io/customresourcedefinitions/foos.example.com",
            ),
            ("example.com", "foos", "default/a", "/registry/example.com/foos/default/a"),
            ("example.com", "foos", "a", "/registry/example.com/foos/a"),
            ("events.example.com", "pods", "a", "/registry/events.example.com/pods/a"),
        ] {
            let collection = Collection::new(group, plural);
            assert_eq!(layout.key(&collection, object), expected.as_bytes());
            assert_eq!(layout.object(expected.as_bytes()), Some((collection, object)));
        }
    }

    /// No two kinds share a key, so that each is read back.
    #[test]
    fn parts_belong_to_one_collection() {
        let layout = Layout::new("/registry");
        assert_eq!(layout.parts.len(), layout.collections.len());
        for collection in layout.parts.keys() {
            let key = layout.key(collection, "a/b");
            assert_eq!(layout.object(&key), Some((collection.clone(), "a/b")));
        }
    }

    /// ES-03.
    #[test]
    fn other_keys_are_of_no_object() {
        let layout = Layout::new("registry/");
        for key in [
            "/registry/ranges/serviceips",
            "/registry/masterleases/10.0.0.1",
            "/registry/health",
            "/registry/pods/",
            "/registry/example.com/foos",
            "/other/pods/default/a",
            "compact_rev_key",
        ] {
            assert_eq!(layout.object(key.as_bytes()), None, "{key}");
        }
    }

    /// ES-01: the prefixes of tests have no slash at their beginning.
    #[test]
    fn prefixes_get_slashes() {
        for (prefix, expected) in
            [("/registry", "/registry/"), ("a1/registry", "/a1/registry/"), ("", "/")]
        {
            assert_eq!(Layout::new(prefix).prefix(), expected);
        }
        assert_eq!(end_of_prefix(b"/registry/"), b"/registry0");
        assert_eq!(end_of_prefix(&[1, 255]), [2]);
        assert_eq!(end_of_prefix(&[255]), [0]);
    }
}
