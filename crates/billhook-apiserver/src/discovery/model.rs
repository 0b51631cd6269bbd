//! The groups, versions and resources that are served.

use billhook::{CrdVersion, Names, Scope};
use billhook_apimachinery::{KubernetesVersion, base64, compare_versions};
use billhook_kinds::Kind;
use sha2::{Digest as _, Sha256};

use crate::resources::{Catalog, Resource as Served, reviews};

/// The groups of the server itself in the order of their priority; those of definitions follow by
/// name (DT-02).
const OWN_GROUPS: [&str; 21] = [
    "",
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "resource.k8s.io",
];

/// The verbs of a resource whose definition is being deleted.
const LAST_VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];

/// The verbs of `status` and `scale`.
const SUBRESOURCE_VERBS: &[&str] = &["get", "patch", "update"];
const STATUS: Subresource = Subresource { name: "status", verbs: SUBRESOURCE_VERBS, kind: None };
const SCALE: Subresource = Subresource {
    name: "scale",
    verbs: SUBRESOURCE_VERBS,
    kind: Some(["autoscaling", "v1", "Scale"]),
};

/// A group, with its versions in the order of preference (DT-05).
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) versions: Vec<GroupVersion>,
}

#[derive(Debug)]
pub(super) struct GroupVersion {
    pub(super) name: String,
    /// Sorted by plural.
    pub(super) resources: Vec<Resource>,
}

/// A resource in a version.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) names: Names,
    pub(super) is_namespaced: bool,
    pub(super) subresources: Vec<Subresource>,
    pub(super) verbs: &'static [&'static str],
    /// Tells versions apart in which objects are stored; `None` if that one is not served (DT-04).
    pub(super) storage_version_hash: Option<String>,
}

/// A subresource.
#[derive(Debug)]
pub(super) struct Subresource {
    pub(super) name: &'static str,
    pub(super) verbs: &'static [&'static str],
    /// The group, the version and the name of the kind of its bodies; `None` for the objects
    /// themselves.
    pub(super) kind: Option<[&'static str; 3]>,
}

impl Group {
    /// The groups of a catalog, in the order of discovery.
    pub(super) fn all(catalog: &Catalog) -> Vec<Self> {
        let mut groups = Vec::new();
        for listed in catalog.resources() {
            if let Some(kind) = listed.built_in() {
                Self::add(
                    &mut groups,
                    kind.group,
                    kind.version,
                    Resource::of_kind(kind, catalog.kubernetes),
                );
                continue;
            }
            let Some(served) = listed.resource() else { continue };
            let definition = &served.definition;
            for version in definition.versions().filter(CrdVersion::is_served) {
                let resource = Resource::of(served, &version);
                Self::add(&mut groups, definition.group(), version.name(), resource);
            }
        }
        let is_pods = |kind: &Kind| [kind.group, kind.plural] == ["", "pods"];
        let has_pods = catalog.resources().any(|listed| listed.built_in().is_some_and(is_pods));
        let bindings = Kind::named("v1", "Binding").filter(|_| has_pods);
        for sent in reviews().chain(bindings) {
            Self::add(
                &mut groups,
                sent.group,
                sent.version,
                Resource::of_kind(sent, catalog.kubernetes),
            );
        }
        let place = |group: &Group| {
            let place = OWN_GROUPS.iter().position(|own| *own == group.name);
            place.unwrap_or(OWN_GROUPS.len())
        };
        groups.sort_by(|left, right| (place(left), &left.name).cmp(&(place(right), &right.name)));
        for group in &mut groups {
            group.versions.sort_by(|left, right| compare_versions(&right.name, &left.name));
            for version in &mut group.versions {
                version.resources.sort_by(|left, right| left.names.plural.cmp(&right.names.plural));
            }
        }
        groups
    }

    fn add(groups: &mut Vec<Self>, group: &str, version: &str, resource: Resource) {
        let group = entry(
            groups,
            |known| known.name == group,
            || Group { name: group.to_owned(), versions: Vec::new() },
        );
        let version = entry(
            &mut group.versions,
            |known| known.name == version,
            || GroupVersion { name: version.to_owned(), resources: Vec::new() },
        );
        version.resources.push(resource);
    }
}

/// The element that fits; a new one if none does.
fn entry<T>(all: &mut Vec<T>, fits: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let index = all.iter().position(fits).unwrap_or(all.len());
    if index == all.len() {
        all.push(new());
    }
    #[expect(clippy::indexing_slicing, reason = "the index was found or made above")]
    &mut all[index]
}

impl Resource {
    fn of(served: &Served, version: &CrdVersion) -> Self {
        let definition = &served.definition;
        let verbs = match definition.is_terminating() {
            true => &LAST_VERBS,
            false => served.style.verbs,
        };
        let stored_in = definition.versions().find(|other| other.is_storage() && other.is_served());
        Resource {
            names: definition.names().clone(),
            is_namespaced: definition.scope() == Scope::Namespaced,
            subresources: [
                version.has_status_subresource().then_some(STATUS),
                version.has_scale_subresource().then_some(SCALE),
            ]
            .into_iter()
            .flatten()
            .collect(),
            verbs,
            storage_version_hash: stored_in.map(|stored_in| {
                hash(&format!("{}/{}", stored_in.api_version(), definition.kind()))
            }),
        }
    }

    fn of_kind(kind: &'static Kind, kubernetes: KubernetesVersion) -> Self {
        let mut names = Names::default();
        let all = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        kind.plural.clone_into(&mut names.plural);
        kind.singular.clone_into(&mut names.singular);
        kind.kind.clone_into(&mut names.kind);
        names.short_names = all(kind.short_names);
        names.categories = all(kind.categories);
        let subresources = kind.subresources_of(kubernetes).map(|subresource| {
            let body = [subresource.body.group, subresource.body.version, subresource.body.kind];
            let is_own = body == [kind.group, kind.version, kind.kind];
            let (name, verbs) = (subresource.name, subresource.verbs);
            Subresource { name, verbs, kind: Some(body).filter(|_| !is_own) }
        });
        Resource {
            names,
            is_namespaced: kind.is_namespaced,
            subresources: subresources.collect(),
            verbs: kind.verbs,
            storage_version_hash: match kind.storage_version {
                "" => None,
                // What cannot be watched is found out, and not stored.
                _ if !kind.verbs.contains(&"watch") => None,
                // The core group has a slash before its version.
                "v1" => Some(hash(&format!("/v1/{}", kind.kind))),
                stored_in => Some(hash(&format!("{stored_in}/{}", kind.kind))),
            },
        }
    }
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    base64::encode(digest.first_chunk::<8>().map_or(&[][..], |start| start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DT-04, DT-06, BK-17 (measured).
    #[test]
    fn storage_versions_have_a_hash() {
        assert_eq!(hash("example.com/v1/Foo"), "4XyhoHMtUhg=");
        for (api_version, kind, expected) in [
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "jfWCUB31mvA="),
            ("v1", "Namespace", "Q3oi5N2YM8M="),
            ("events.k8s.io/v1", "Event", "r2yiGXH7wu8="),
            ("autoscaling/v2", "HorizontalPodAutoscaler", "qwQve8ut294="),
        ] {
            let kind_of = Kind::named(api_version, kind).unwrap();
            let resource = Resource::of_kind(kind_of, KubernetesVersion::default());
            assert_eq!(resource.storage_version_hash.as_deref(), Some(expected), "{kind}");
        }
    }
}
