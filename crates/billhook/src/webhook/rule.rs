//! Rules ready to match (WM-30 to WM-39).

use std::fmt;

use billhook_apimachinery::GroupVersionResource;
use serde::Serialize;

use super::attributes::{AdmissionAttributes, Operation};
use super::configuration::{NamedRule, Rule};

/// The parts of a request that a rule looks at, in the order in which a trace tries them (WM-95).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Dimension {
    /// Whether the request is in a namespace.
    Scope,
    /// The operation of the request.
    Operation,
    /// The API group of the resource.
    Group,
    /// The version of the resource.
    Version,
    /// The resource and its subresource.
    Resource,
    /// The name of the object (PO-26).
    Name,
}

impl Dimension {
    /// The field of a rule that holds it.
    pub fn field(self) -> &'static str {
        match self {
            Dimension::Scope => "scope",
            Dimension::Operation => "operations",
            Dimension::Group => "apiGroups",
            Dimension::Version => "apiVersions",
            Dimension::Resource => "resources",
            Dimension::Name => "resourceNames",
        }
    }

    /// The rule of the specification about it.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Dimension::Scope => "WM-37",
            Dimension::Operation => "WM-32",
            Dimension::Group | Dimension::Version => "WM-33",
            Dimension::Resource => "WM-34",
            Dimension::Name => "PO-26",
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.field())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Any,
    Namespaced,
    Cluster,
    /// No such scope: nothing is in it.
    Unknown,
}

/// A list of names in which `*` stands for all.
#[derive(Clone, Debug)]
pub(super) enum Names {
    Any,
    Listed(Vec<String>),
}

impl Names {
    fn new(names: &[String]) -> Self {
        if names.iter().any(|name| name == "*") {
            Names::Any
        } else {
            let mut names = names.to_vec();
            names.sort();
            Names::Listed(names)
        }
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            Names::Any => true,
            Names::Listed(names) => {
                names.binary_search_by(|listed| listed.as_str().cmp(name)).is_ok()
            }
        }
    }
}

/// A name; none stands for all.
type Pattern = Option<String>;

/// A rule ready to match.
#[derive(Clone, Debug)]
pub(super) struct CompiledRule {
    scope: Scope,
    operations: Vec<Operation>,
    groups: Names,
    versions: Names,
    /// Resources and subresources.
    resources: Vec<(Pattern, Pattern)>,
    /// The names of objects; all if empty.
    names: Vec<String>,
    written: NamedRule,
}

impl CompiledRule {
    pub(super) fn new(rule: &Rule) -> Self {
        Self::named(&NamedRule::from(rule.clone()))
    }

    pub(super) fn named(named: &NamedRule) -> Self {
        let NamedRule { resource_names, rule } = named;
        let scope = match rule.scope.as_deref() {
            None | Some("*") => Scope::Any,
            Some("Namespaced") => Scope::Namespaced,
            Some("Cluster") => Scope::Cluster,
            Some(_) => Scope::Unknown,
        };
        let is_listed = |operation: &Operation| {
            rule.operations.iter().any(|listed| listed == "*" || listed == operation.name())
        };
        let pattern = |name: &str| (name != "*").then(|| name.to_owned());
        let resource = |element: &String| {
            let (resource, subresource) = element.split_once('/').unwrap_or((element, ""));
            (pattern(resource), pattern(subresource))
        };
        CompiledRule {
            scope,
            operations: Operation::ALL.into_iter().filter(is_listed).collect(),
            groups: Names::new(&rule.api_groups),
            versions: Names::new(&rule.api_versions),
            resources: rule.resources.iter().map(resource).collect(),
            names: resource_names.clone(),
            written: named.clone(),
        }
    }

    /// The rule as it was written.
    pub(super) fn written(&self) -> &NamedRule {
        &self.written
    }

    pub(super) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    pub(super) fn groups(&self) -> &Names {
        &self.groups
    }

    pub(super) fn resources(&self) -> &[(Pattern, Pattern)] {
        &self.resources
    }

    /// Returns the part that keeps the rule from matching a request for `resource`; none if it
    /// matches.
    pub(super) fn mismatch(
        &self,
        attributes: &AdmissionAttributes,
        resource: &GroupVersionResource,
    ) -> Option<Dimension> {
        let fits =
            |pattern: &Pattern, name: &str| pattern.as_ref().is_none_or(|pattern| pattern == name);
        let is_namespaced = !resource.is_namespaces() && !attributes.namespace.is_empty();
        let in_scope = match self.scope {
            Scope::Any => true,
            Scope::Namespaced => is_namespaced,
            Scope::Cluster => !is_namespaced,
            Scope::Unknown => false,
        };
        if !in_scope {
            Some(Dimension::Scope)
        } else if !self.operations.contains(&attributes.operation) {
            Some(Dimension::Operation)
        } else if !self.groups.contains(&resource.group) {
            Some(Dimension::Group)
        } else if !self.versions.contains(&resource.version) {
            Some(Dimension::Version)
        } else if !self.resources.iter().any(|(name, subresource)| {
            fits(name, &resource.resource) && fits(subresource, &attributes.subresource)
        }) {
            Some(Dimension::Resource)
        } else if !self.names.is_empty() && !self.names.contains(&attributes.name) {
            Some(Dimension::Name)
        } else {
            None
        }
    }
}
