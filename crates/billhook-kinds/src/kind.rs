//! Built-in kinds, and how their objects are served.

use billhook::definition::DefinitionDocument;
use billhook::webhook::ConfigurationKind;
use billhook_apimachinery::record::{Record, Table, TypedRecord as _};
use billhook_apimachinery::{KubernetesVersion, split_api_version};
use billhook_policy::PolicyKind;

/// The groups whose keys in storage have the group, as those of custom resources.
const GROUPS_IN_KEYS: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// The description of columns with names.
pub(crate) const NAME: &str = "Name must be unique within a namespace. Is required when creating \
    resources, although some resources may allow a client to request the generation of an \
    appropriate name automatically. Name is primarily intended for creation idempotence and \
    configuration definition. Cannot be updated. More info: \
    https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

/// The description of columns with times of creation.
pub(crate) const CREATED: &str = "CreationTimestamp is a timestamp representing the server time \
    when this object was created. It is not guaranteed to be set in happens-before order across \
    separate operations. Clients may not set this value. It is represented in RFC3339 form and is \
    in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// A built-in kind in a version of its group, and how servers serve its objects.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Kind {
    /// The group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The name of the kind.
    pub kind: &'static str,
    /// The name of the resource.
    pub plural: &'static str,
    /// The name of one object in URLs of clients.
    pub singular: &'static str,
    /// Short names, such as `po`.
    pub short_names: &'static [&'static str],
    /// Categories, such as `all`.
    pub categories: &'static [&'static str],
    /// Whether its objects are in namespaces.
    pub is_namespaced: bool,
    /// The verbs, as discovery lists them; `create` alone for reviews.
    pub verbs: &'static [&'static str],
    /// The version of the API that its objects are stored in, such as `autoscaling/v2`.
    pub storage_version: &'static str,
    /// The first version of Kubernetes that serves it.
    pub since: KubernetesVersion,
    /// The rule of names.
    pub name_rule: NameRule,
    /// Whether an update of an object that does not exist creates it (BK-09).
    pub creates_on_update: bool,
    /// Whether an update may leave out the resource version that it was made for (BK-10).
    pub updates_unconditionally: bool,
    /// Whether dependents are orphaned unless the deletion says otherwise (BK-13).
    pub orphans_by_default: bool,
    /// Whether a deletion answers with the deleted object and not with a status (BK-14).
    pub returns_deleted: bool,
    /// When `metadata.generation` rises (BK-11).
    pub generation: Generation,
    /// The fields that field selectors may name.
    pub field_selectors: &'static [&'static str],
    /// The subresources, in the order of discovery.
    pub subresources: &'static [Subresource],
    /// The columns of tables; none if tables show the name and the time of creation.
    pub columns: &'static [ColumnHeading],
    /// The warning that comes with each answer, if the kind is deprecated (BK-16).
    pub deprecation: Option<Deprecation>,
    pub(crate) record: Option<Table>,
}

/// The deprecation of a kind.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Deprecation {
    /// The first version that warns.
    pub since: KubernetesVersion,
    /// The warning.
    pub warning: &'static str,
}

/// A part of an object that has a URL of its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Subresource {
    /// The name in URLs.
    pub name: &'static str,
    /// The first version of a server that has it.
    pub since: KubernetesVersion,
    /// The verbs, as discovery lists them.
    pub verbs: &'static [&'static str],
    /// The kind of the bodies that are sent to it.
    pub body: BodyKind,
}

/// The kind of a body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BodyKind {
    /// The group; empty for the core group.
    pub group: &'static str,
    /// The version.
    pub version: &'static str,
    /// The name of the kind.
    pub kind: &'static str,
    pub(crate) record: Option<Table>,
}

/// A column of tables.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ColumnHeading {
    /// The heading.
    pub name: &'static str,
    /// The type of the cells.
    pub type_: &'static str,
    /// The format of the cells; empty for none.
    pub format: &'static str,
    /// The description, as servers print it.
    pub description: &'static str,
    /// 0 for columns that are always shown.
    pub priority: i32,
}

/// The rule of an object's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameRule {
    /// A DNS subdomain.
    Subdomain,
    /// A DNS label.
    Label,
    /// The name of a service: a DNS label, which older servers want to begin with a letter.
    ServiceName,
    /// A segment of a path.
    PathSegment,
    /// An IP address in its canonical form, which the rules of the kind check (BK-462).
    Address,
}

/// When `metadata.generation` rises (BK-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Generation {
    /// Objects have none.
    None,
    /// 1 at first, and more with each change of anything outside metadata and status.
    Spec,
    /// As [`Generation::Spec`], and with each change of annotations.
    SpecOrAnnotations,
    /// As [`Generation::Spec`], but absent at first.
    SpecOnUpdate,
    /// 1 at first, and more with each change of the template.
    Template,
    /// 1 at first, and more with each change of labels or of anything outside metadata.
    LabelsOrContent,
    /// Always 1.
    Once,
}

impl Kind {
    /// Returns the group and the version as objects name them: `apps/v1`.
    pub fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Returns the fields of its objects.
    pub fn record(&self) -> Option<&'static Record> {
        if let Some(table) = self.record {
            return Some(table());
        }
        if self.kind == "CustomResourceDefinition" {
            return Some(DefinitionDocument::record());
        }
        let webhooks = ConfigurationKind::of(self.kind).map(ConfigurationKind::record);
        webhooks.or_else(|| PolicyKind::of(self.kind).map(PolicyKind::record))
    }

    /// Whether servers of a version have it.
    pub fn is_served(&self, kubernetes: KubernetesVersion) -> bool {
        self.since <= kubernetes
    }

    /// Returns the subresource of a name.
    pub fn subresource(&self, name: &str) -> Option<&'static Subresource> {
        self.subresources.iter().find(|subresource| subresource.name == name)
    }

    /// Returns the subresources that servers of a version have.
    pub fn subresources_of(
        &self,
        kubernetes: KubernetesVersion,
    ) -> impl Iterator<Item = &'static Subresource> {
        self.subresources.iter().filter(move |subresource| subresource.since <= kubernetes)
    }

    /// Returns the description of the column of names, and that of times of creation.
    pub fn common_descriptions() -> [&'static str; 2] {
        [NAME, CREATED]
    }

    /// Returns the part of the keys of its objects before their namespaces and names (ES-02).
    pub fn storage_path(&self) -> String {
        let (group, _) = split_api_version(self.storage_version);
        match self.plural {
            "endpoints" => "services/endpoints".to_owned(),
            "ingresses" => "ingress".to_owned(),
            "nodes" => "minions".to_owned(),
            "replicationcontrollers" => "controllers".to_owned(),
            "services" => "services/specs".to_owned(),
            plural if GROUPS_IN_KEYS.contains(&group) => [group, "/", plural].concat(),
            plural => plural.to_owned(),
        }
    }

    /// Whether clients can list its objects: reviews are only created.
    pub fn is_stored(&self) -> bool {
        self.verbs.contains(&"list")
    }
}

impl BodyKind {
    /// Returns the fields of such bodies.
    pub fn record(&self) -> Option<&'static Record> {
        self.record.map(|table| table())
    }
}
