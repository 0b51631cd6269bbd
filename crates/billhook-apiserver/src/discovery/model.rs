//! The groups, versions and resources that are served.

use billhook::{CrdVersion, Names, Scope};
use billhook_apimachinery::base64;
use billhook_apimachinery::compare_versions;
use sha2::{Digest as _, Sha256};

use crate::catalog::Catalog;

const VERBS: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
/// Those of a resource whose definition is being deleted.
const LAST_VERBS: [&str; 5] = ["delete", "deletecollection", "get", "list", "watch"];

/// The verbs of `status` and `scale`.
pub(super) const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

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
    pub(super) has_status: bool,
    pub(super) has_scale: bool,
    pub(super) verbs: &'static [&'static str],
    /// Tells versions apart in which objects are stored; `None` if that one is not served (DT-04).
    pub(super) storage_version_hash: Option<String>,
}

impl Group {
    /// The groups of a catalog, by name.
    pub(super) fn all(catalog: &Catalog) -> Vec<Self> {
        let mut groups: Vec<Group> = Vec::new();
        for resource in catalog.resources() {
            let definition = &resource.definition;
            let served = definition.versions().filter(CrdVersion::is_served);
            for version in served.filter(|_| definition.is_established()) {
                let resource = Resource::of(&version);
                let group = entry(
                    &mut groups,
                    |group| group.name == definition.group(),
                    || Group { name: definition.group().to_owned(), versions: Vec::new() },
                );
                let versions = &mut group.versions;
                let version = entry(
                    versions,
                    |known| known.name == version.name(),
                    || GroupVersion { name: version.name().to_owned(), resources: Vec::new() },
                );
                version.resources.push(resource);
            }
        }
        groups.sort_by(|left, right| left.name.cmp(&right.name));
        for group in &mut groups {
            group.versions.sort_by(|left, right| compare_versions(&right.name, &left.name));
            for version in &mut group.versions {
                version.resources.sort_by(|left, right| left.names.plural.cmp(&right.names.plural));
            }
        }
        groups
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
    fn of(version: &CrdVersion) -> Self {
        let definition = version.definition();
        let is_terminating = definition.is_terminating();
        let stored_in = definition.versions().find(|other| other.is_storage() && other.is_served());
        Resource {
            names: definition.names().clone(),
            is_namespaced: definition.scope() == Scope::Namespaced,
            has_status: version.has_status_subresource(),
            has_scale: version.has_scale_subresource(),
            verbs: if is_terminating { &LAST_VERBS } else { &VERBS },
            storage_version_hash: stored_in.map(|stored_in| {
                hash(&format!("{}/{}", stored_in.api_version(), definition.kind()))
            }),
        }
    }
}

fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    base64::encode(digest.first_chunk::<8>().map_or(&[][..], |start| start))
}

#[cfg(test)]
mod tests {
    /// DT-04 (measured).
    #[test]
    fn storage_versions_have_a_hash() {
        assert_eq!(super::hash("example.com/v1/Foo"), "4XyhoHMtUhg=");
    }
}
