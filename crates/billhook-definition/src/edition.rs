//! The facts about definitions that depend on the version of the server.

use billhook_apimachinery::PerVersion;

/// The facts of a version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edition {
    /// Where formats without effect are warned about (KV-63).
    pub(crate) format_warnings: FormatWarnings,
    /// Whether the error about a stored version that is gone says what it was (KV-71).
    pub(crate) explains_stored_versions: bool,
    /// Whether too many selectable fields are accepted if they were there before (KV-72).
    pub(crate) tolerates_selectable_fields: bool,
}

/// The types beside which a format without effect is warned about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormatWarnings {
    /// None.
    Never,
    /// `string`.
    OfStrings,
    /// All, and no type.
    Always,
}

const V1_32: Edition = Edition {
    format_warnings: FormatWarnings::Never,
    explains_stored_versions: false,
    tolerates_selectable_fields: false,
};

const V1_33: Edition = Edition { explains_stored_versions: true, ..V1_32 };

const V1_34: Edition = Edition { format_warnings: FormatWarnings::OfStrings, ..V1_33 };

const V1_35: Edition = Edition { tolerates_selectable_fields: true, ..V1_34 };

const V1_36: Edition = Edition { format_warnings: FormatWarnings::Always, ..V1_35 };

pub(crate) static EDITIONS: PerVersion<Edition> =
    PerVersion { v1_32: V1_32, v1_33: V1_33, v1_34: V1_34, v1_35: V1_35, v1_36: V1_36 };
