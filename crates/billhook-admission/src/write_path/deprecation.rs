//! The warning about a deprecated version (RP-90).

use std::cmp::Ordering;

use billhook::CrdVersion;
use billhook_apimachinery::compare_versions;

/// Returns the warning that requests for a version get; `None` if it is not deprecated (RP-90).
pub fn deprecation_warning(version: &CrdVersion) -> Option<String> {
    let text = version.deprecation_warning()?;
    if !text.is_empty() {
        return Some(text.to_owned());
    }
    let definition = version.definition();
    let kind = definition.kind();
    let newer = definition
        .versions()
        .filter(|other| other.is_served() && other.deprecation_warning().is_none())
        .filter(|other| compare_versions(other.name(), version.name()) == Ordering::Greater)
        .max_by(|left, right| compare_versions(left.name(), right.name()));
    let advice = newer.map(|newer| format!("; use {} {kind}", newer.api_version()));
    Some(format!("{} {kind} is deprecated{}", version.api_version(), advice.unwrap_or_default()))
}
