//! Editions of the language: the parts of it that servers of a version know (KV-30).

use billhook_apimachinery::KubernetesVersion;

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
pub(crate) struct Edition {
    pub(crate) kubernetes: KubernetesVersion,
    pub(crate) libraries: Libraries,
    /// Whether expressions may make what mutations need (PO-45).
    pub(crate) mutates: bool,
}

/// The editions that have a function or a macro.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Availability {
    /// All.
    #[default]
    Always,
    /// It belongs to a library that servers have since a version: new expressions may use it one
    /// version later.
    Library(KubernetesVersion),
    /// It came with the language itself, for all expressions at once.
    Since(KubernetesVersion),
    /// A later version has another one in its place.
    Until(KubernetesVersion),
    /// Those for mutations.
    Mutations,
}

impl Edition {
    /// Whether a server has libraries that new expressions may not use yet: those that came with
    /// its own version.
    pub(crate) fn libraries_differ(kubernetes: KubernetesVersion) -> bool {
        kubernetes <= KubernetesVersion::V1_34
    }

    /// The name of the accumulator of macros (KV-31).
    pub(crate) fn accumulator(self) -> &'static str {
        match self.kubernetes {
            KubernetesVersion::V1_32 => "__result__",
            _ => "@result",
        }
    }

    /// Whether back quotes are read as those of a name, even if it is refused then (KV-32).
    pub(crate) fn reads_quoted_names(self) -> bool {
        self.kubernetes >= KubernetesVersion::V1_33
    }

    /// Whether the estimate of costs follows sizes through the values that expressions make
    /// (KV-50).
    pub(crate) fn follows_sizes(self) -> bool {
        self.kubernetes >= KubernetesVersion::V1_33
    }

    /// Whether an optional costs what its value does (KV-44).
    pub(crate) fn weighs_optionals(self) -> bool {
        self.kubernetes >= KubernetesVersion::V1_33
    }

    /// Whether an error in the range of a macro with two variables is replaced (KV-42).
    pub(crate) fn hides_range_errors(self) -> bool {
        self.kubernetes <= KubernetesVersion::V1_32
    }

    pub(crate) fn has(self, part: Availability) -> bool {
        match (part, self.libraries) {
            (Availability::Always, _) => true,
            (Availability::Mutations, _) => self.mutates,
            (Availability::Library(version), Libraries::Compatible) => version < self.kubernetes,
            (Availability::Library(version), Libraries::Full)
            | (Availability::Since(version), _) => version <= self.kubernetes,
            (Availability::Until(version), _) => self.kubernetes <= version,
        }
    }
}
