//! The parts of the language that an expression may use on a server (KV-30).

use billhook_apimachinery::KubernetesVersion;

use crate::edition::{EDITIONS, Edition};

/// Which libraries an expression may use (CV-91, WCF-76).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Libraries {
    /// Those that the server of the minor version before knows too; new expressions are held to
    /// them.
    Compatible,
    /// All of them; stored expressions may use them, and whatever is evaluated does.
    #[default]
    Full,
}

/// The language as an expression may use it on a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Language {
    pub(crate) kubernetes: KubernetesVersion,
    pub(crate) libraries: Libraries,
    /// Whether expressions may make what mutations need (PO-45).
    pub(crate) mutates: bool,
}

/// Where there is a function or a macro.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Availability {
    /// In all versions.
    #[default]
    Always,
    /// It belongs to a library that servers have since a version: new expressions may use it one
    /// version later.
    Library { since: KubernetesVersion },
    /// It came with the language itself, for all expressions at once.
    Since(KubernetesVersion),
    /// There is another one in its place since a version.
    ReplacedSince(KubernetesVersion),
    /// In expressions that make what mutations need.
    Mutations,
}

impl Language {
    /// Returns the facts of the version.
    pub(crate) fn edition(self) -> &'static Edition {
        EDITIONS.of(self.kubernetes)
    }

    pub(crate) fn has(self, part: Availability) -> bool {
        match (part, self.libraries) {
            (Availability::Always, _) => true,
            (Availability::Mutations, _) => self.mutates,
            (Availability::Library { since }, Libraries::Compatible) => since < self.kubernetes,
            (Availability::Library { since }, Libraries::Full)
            | (Availability::Since(since), _) => since <= self.kubernetes,
            (Availability::ReplacedSince(since), _) => self.kubernetes < since,
        }
    }
}
