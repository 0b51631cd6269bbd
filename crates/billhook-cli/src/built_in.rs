//! The built-in kinds, which need no definition among the inputs.

use std::sync::OnceLock;

use billhook::{CrdOptions, Dialect, KubernetesVersion};
use billhook_apimachinery::record::Record;
use billhook_kinds::Kind;

use crate::identity::Identity;

/// The built-in kinds of a server, with what is compiled of each when the first object asks for it.
#[derive(Debug)]
pub(crate) struct BuiltIn<T> {
    kubernetes: KubernetesVersion,
    /// The versions of a kind in the order in which servers prefer them.
    kinds: Vec<(&'static Kind, OnceLock<Option<T>>)>,
}

impl<T> BuiltIn<T> {
    /// The kinds of the server that definitions are compiled for; none in a dialect that no server
    /// speaks.
    pub(crate) fn new(options: &CrdOptions) -> Self {
        let is_served =
            |kind: &&'static Kind| kind.is_served(options.kubernetes) && kind.record().is_some();
        let all = Kind::all().iter().filter(|_| options.dialect == Dialect::default());
        let kinds = all.filter(is_served).map(|kind| (kind, OnceLock::new())).collect();
        BuiltIn { kubernetes: options.kubernetes, kinds }
    }

    fn of(&self, group: &str, kind: &str) -> Vec<&(&'static Kind, OnceLock<Option<T>>)> {
        self.kinds.iter().filter(|(known, _)| [known.group, known.kind] == [group, kind]).collect()
    }

    /// Finds the version of a kind, or another version if the kind does not have it, as it is compiled.
    pub(crate) fn find(
        &self,
        [group, version, kind]: [&str; 3],
        compile: fn(&'static Kind, KubernetesVersion) -> Option<T>,
    ) -> Option<&T> {
        let versions = self.of(group, kind);
        let named = versions.iter().find(|(kind, _)| kind.version == version);
        let (kind, compiled) = named.or(versions.first())?;
        compiled.get_or_init(|| compile(kind, self.kubernetes)).as_ref()
    }

    /// The versions of a kind.
    pub(crate) fn versions(&self, group: &str, kind: &str) -> Vec<String> {
        self.of(group, kind).into_iter().map(|(kind, _)| kind.version.to_owned()).collect()
    }

    /// The first server that has a kind which this one does not have yet.
    pub(crate) fn since(&self, group: &str, kind: &str) -> Option<KubernetesVersion> {
        let named = Kind::all().iter().filter(|it| [it.group, it.kind] == [group, kind]);
        named.map(|kind| kind.since).filter(|since| *since > self.kubernetes).min()
    }

    /// The groups and names of the kinds.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.kinds.iter().map(|(kind, _)| (kind.group, kind.kind))
    }

    /// Whether there is such a kind, and whether its objects have no namespace.
    pub(crate) fn is_cluster_scoped(&self, group: &str, kind: &str) -> Option<bool> {
        let versions = self.of(group, kind);
        let (kind, _) = versions.first()?;
        Some(!kind.is_namespaced)
    }
}

/// The fields of the built-in kind that an object is of.
pub(crate) fn record_of(identity: &Identity) -> Option<&'static Record> {
    let (api_version, name) = (identity.api_version.as_deref()?, identity.kind.as_deref()?);
    // The fields of a version that is not served any more are nearly those of its successor.
    let of_other = || Kind::all().iter().find(|it| [it.group, it.kind] == [identity.group(), name]);
    Kind::named(api_version, name).or_else(of_other)?.record()
}
