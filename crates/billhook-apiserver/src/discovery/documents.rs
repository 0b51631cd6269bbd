//! The documents of discovery, in the order of their kinds (DT-02 to DT-07, DT-21).

use billhook_apimachinery::print::escape_html;
use serde::Serialize;

use super::model::{Group, GroupVersion, Resource};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupDocument<'g> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'static str>,
    name: &'g str,
    versions: Vec<VersionName<'g>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred_version: Option<VersionName<'g>>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct VersionName<'g> {
    group_version: String,
    version: &'g str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupList<'g> {
    kind: &'static str,
    api_version: &'static str,
    groups: Vec<GroupDocument<'g>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceList<'g> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'static str>,
    group_version: String,
    resources: Vec<ResourceDocument<'g>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceDocument<'g> {
    name: String,
    singular_name: &'g str,
    namespaced: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'g str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'g str,
    kind: &'g str,
    verbs: &'g [&'g str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'g [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'g [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_version_hash: Option<&'g str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedGroup<'g> {
    metadata: Metadata<'g>,
    versions: Vec<AggregatedVersion<'g>>,
}

#[derive(Serialize)]
struct Metadata<'g> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'g str,
}

#[derive(Serialize)]
struct AggregatedVersion<'g> {
    version: &'g str,
    resources: Vec<AggregatedResource<'g>>,
    freshness: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedResource<'g> {
    resource: &'g str,
    response_kind: Kind<'g>,
    scope: &'static str,
    singular_resource: &'g str,
    verbs: &'g [&'g str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'g [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'g [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<AggregatedSubresource<'g>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AggregatedSubresource<'g> {
    subresource: &'static str,
    response_kind: Kind<'g>,
    verbs: &'g [&'g str],
}

#[derive(Serialize)]
struct Kind<'g> {
    group: &'g str,
    version: &'g str,
    kind: &'g str,
}

/// Prints the list of groups (DT-02).
pub(super) fn groups(groups: &[Group]) -> String {
    let groups = groups.iter().filter(|group| !group.name.is_empty()).map(GroupDocument::of);
    json(&GroupList { kind: "APIGroupList", api_version: "v1", groups: groups.collect() })
}

/// Prints a group (DT-03).
pub(super) fn group(group: &Group) -> String {
    let (kind, api_version) = (Some("APIGroup"), Some("v1"));
    json(&GroupDocument { kind, api_version, ..GroupDocument::of(group) })
}

/// Prints the resources of a version (DT-04, DT-07).
pub(super) fn resources(group: &Group, version: &GroupVersion) -> String {
    let resources = version.resources.iter();
    let resources = resources.flat_map(|it| ResourceDocument::all(&group.name, &version.name, it));
    json(&ResourceList {
        kind: "APIResourceList",
        api_version: Some("v1").filter(|_| !group.name.is_empty()),
        group_version: group_version(&group.name, &version.name),
        resources: resources.collect(),
    })
}

/// Prints the groups with everything in them, without kind and version (DT-21).
pub(super) fn aggregated_items<'g>(groups: impl Iterator<Item = &'g Group>) -> String {
    json(&groups.map(AggregatedGroup::of).collect::<Vec<_>>())
}

fn json(document: &impl Serialize) -> String {
    escape_html(&serde_json::to_string(document).unwrap_or_default())
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

impl<'g> GroupDocument<'g> {
    fn of(group: &'g Group) -> Self {
        let versions = group.versions.iter().map(|version| VersionName {
            group_version: group_version(&group.name, &version.name),
            version: &version.name,
        });
        let versions: Vec<_> = versions.collect();
        let preferred_version = versions.first().cloned();
        GroupDocument {
            kind: None,
            api_version: None,
            name: &group.name,
            versions,
            preferred_version,
        }
    }
}

impl<'g> ResourceDocument<'g> {
    /// The entries of a resource and its subresources.
    fn all(group: &str, version: &str, resource: &'g Resource) -> impl Iterator<Item = Self> {
        let Resource { names, is_namespaced: namespaced, .. } = resource;
        let main = ResourceDocument {
            name: names.plural.clone(),
            singular_name: &names.singular,
            namespaced: *namespaced,
            kind: &names.kind,
            verbs: resource.verbs,
            short_names: &names.short_names,
            categories: &names.categories,
            storage_version_hash: resource.storage_version_hash.as_deref(),
            ..ResourceDocument::default()
        };
        let subresources = resource.subresources.iter().map(|subresource| {
            let [kind_group, kind_version, kind] =
                subresource.kind.unwrap_or(["", "", names.kind.as_str()]);
            // Those of the document are left out.
            let is_other = [kind_group, kind_version] != [group, version];
            ResourceDocument {
                name: format!("{}/{}", names.plural, subresource.name),
                namespaced: *namespaced,
                group: if is_other { kind_group } else { "" },
                version: if is_other { kind_version } else { "" },
                kind,
                verbs: subresource.verbs,
                ..ResourceDocument::default()
            }
        });
        std::iter::once(main).chain(subresources.collect::<Vec<_>>())
    }
}

impl<'g> AggregatedGroup<'g> {
    fn of(group: &'g Group) -> Self {
        let versions = group.versions.iter().map(|version| {
            let resources = version.resources.iter();
            let resources = resources
                .map(|resource| AggregatedResource::of(&group.name, &version.name, resource));
            let resources = resources.collect();
            AggregatedVersion { version: &version.name, resources, freshness: "Current" }
        });
        AggregatedGroup { metadata: Metadata { name: &group.name }, versions: versions.collect() }
    }
}

impl<'g> AggregatedResource<'g> {
    fn of(group: &'g str, version: &'g str, resource: &'g Resource) -> Self {
        let names = &resource.names;
        let own = || Kind { group, version, kind: &names.kind };
        let subresources = resource.subresources.iter().map(|subresource| AggregatedSubresource {
            subresource: subresource.name,
            response_kind: subresource.kind.map_or_else(own, |[group, version, kind]| Kind {
                group,
                version,
                kind,
            }),
            verbs: subresource.verbs,
        });
        AggregatedResource {
            resource: &names.plural,
            response_kind: own(),
            scope: if resource.is_namespaced { "Namespaced" } else { "Cluster" },
            singular_resource: &names.singular,
            verbs: resource.verbs,
            short_names: &names.short_names,
            categories: &names.categories,
            subresources: subresources.collect(),
        }
    }
}
