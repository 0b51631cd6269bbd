//! The facts about expressions that depend on the version of the server. Which version has a function
//! or a macro is said where that is declared.

use billhook_apimachinery::{KubernetesVersion, PerVersion};

/// The first version with the newer texts about label keys and values, and the last with the older
/// ones, of which each has an overload of its own (KV-14).
pub(crate) const NEWER_LABEL_TEXTS: KubernetesVersion = KubernetesVersion::V1_35;
pub(crate) const OLDER_LABEL_TEXTS: KubernetesVersion = KubernetesVersion::V1_34;

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// Whether the error of a violated rule shows the written type instead of the value (KV-20).
    pub(crate) shows_types: bool,
    /// Whether there are libraries that new expressions may not use yet: those that came with this
    /// version (KV-30).
    pub(crate) has_new_libraries: bool,
    /// The name of the accumulator of macros (KV-31).
    pub(crate) accumulator: &'static str,
    /// Whether back quotes are read as those of a name, even if it is refused then (KV-32).
    pub(crate) reads_quoted_names: bool,
    /// Whether a field that is null counts as absent when objects are compared (KV-40).
    pub(crate) ignores_nulls: bool,
    /// Whether an error in the range of a macro with two variables is replaced (KV-42).
    pub(crate) hides_range_errors: bool,
    /// Whether an optional costs what its value does (KV-44).
    pub(crate) weighs_optionals: bool,
    /// Whether the estimate of costs follows sizes through the values that expressions make (KV-50).
    pub(crate) follows_sizes: bool,
    /// Whether `maxLength` limits an integer or string (KV-51).
    pub(crate) limits_int_or_string: bool,
}

const V1_32: Edition = Edition {
    shows_types: true,
    has_new_libraries: true,
    accumulator: "__result__",
    reads_quoted_names: false,
    ignores_nulls: false,
    hides_range_errors: true,
    weighs_optionals: false,
    follows_sizes: false,
    limits_int_or_string: false,
};

const V1_33: Edition = Edition {
    accumulator: "@result",
    reads_quoted_names: true,
    hides_range_errors: false,
    weighs_optionals: true,
    follows_sizes: true,
    ..V1_32
};

const V1_34: Edition = Edition { ignores_nulls: true, limits_int_or_string: true, ..V1_33 };

const V1_35: Edition = Edition { shows_types: false, has_new_libraries: false, ..V1_34 };

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_33, v1_34: V1_34, v1_35: V1_35, v1_36: V1_35 };
