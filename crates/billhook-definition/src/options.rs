//! Which checks a definition goes through.

use billhook_apimachinery::{KubernetesVersion, Wording};
use billhook_cel::StoredExpressions;

use crate::edition::EDITIONS;
use crate::model::{Container, Model, VersionModel};
use crate::selectable;
use crate::types::SelectableField;

/// Which checks an update relaxes (CV-82, CV-86, CV-87).
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeOptions {
    /// The wording of errors.
    pub(crate) wording: &'static Wording,
    pub(crate) known_types: bool,
    pub(crate) atomic_sets: bool,
    pub(crate) map_keys: bool,
}

/// Which checks are done.
pub(crate) struct Options<'m> {
    pub(crate) kubernetes: KubernetesVersion,
    pub(crate) node: NodeOptions,
    /// CV-23.
    pub(crate) schemas: bool,
    /// CV-84: structural schemas are required even where nothing needs them.
    pub(crate) structural: bool,
    /// CV-85.
    pub(crate) unpruned_defaults: bool,
    /// CV-89.
    pub(crate) ca_bundle: bool,
    /// CV-107: at least one known review version.
    pub(crate) known_review_version: bool,
    /// CV-91.
    pub(crate) stored: StoredExpressions,
    /// The definition that is updated.
    pub(crate) old: Option<&'m Model<'m>>,
}

impl<'m> Options<'m> {
    pub(crate) fn create(kubernetes: KubernetesVersion) -> Self {
        Options {
            kubernetes,
            node: NodeOptions {
                wording: kubernetes.wording(),
                known_types: true,
                atomic_sets: true,
                map_keys: true,
            },
            schemas: true,
            structural: true,
            unpruned_defaults: false,
            ca_bundle: false,
            known_review_version: true,
            stored: StoredExpressions::default(),
            old: None,
        }
    }

    /// The wording of errors.
    pub(crate) fn wording(&self) -> &'static Wording {
        self.kubernetes.wording()
    }

    /// CV-91: whether all versions of a schema had it before.
    pub(crate) fn is_unchanged(&self, container: &Container<'_>) -> bool {
        let Some(old) = self.old else { return false };
        container.versions.iter().all(|name| {
            let before = old.versions.iter().find(|version| version.name() == *name);
            before.and_then(VersionModel::schema) == Some(container.schema)
        })
    }

    /// CV-88 and KV-72, for the hoisted fields or those of a version.
    pub(crate) fn limits_selectable_fields(
        &self,
        fields: &[SelectableField],
        version: Option<&str>,
    ) -> bool {
        let tolerates_old = EDITIONS.of(self.kubernetes).tolerates_selectable_fields;
        let Some(old) = self.old.filter(|_| tolerates_old) else { return true };
        let mut before = old.versions.iter();
        let before = match version {
            Some(name) => before.find(|version| version.name() == name),
            None => before.next().filter(|_| old.hoisted.selectable_fields),
        };
        let is_unchanged = before.is_some_and(|version| {
            let before = &version.read.selectable_fields;
            selectable::are_too_many(before) && before == fields
        });
        !is_unchanged
    }
}
