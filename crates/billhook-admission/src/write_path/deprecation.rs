//! The warning about a deprecated version (RP-90).

use std::cmp::Reverse;

use billhook::CrdVersion;

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
        .filter(|other| priority(other.name()) > priority(version.name()))
        .max_by(|left, right| priority(left.name()).cmp(&priority(right.name())));
    let advice = newer.map(|newer| format!("; use {} {kind}", newer.api_version()));
    Some(format!("{} {kind} is deprecated{}", version.api_version(), advice.unwrap_or_default()))
}

/// Which of several versions is preferred: `v2` to `v1`, that to `v1beta2`, that to `v1alpha1`,
/// and any of these to other names, which are in alphabetical order.
fn priority(name: &str) -> (Option<(u8, u64, u64)>, Reverse<&str>) {
    (known_form(name), Reverse(name))
}

/// Stability, number, and number of the preview of a name such as `v1beta2`.
fn known_form(name: &str) -> Option<(u8, u64, u64)> {
    let rest = name.strip_prefix('v')?;
    let number = |digits: &str| {
        let is_plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_plain.then(|| digits.parse().ok()).flatten()
    };
    for (stability, word) in [(1, "beta"), (0, "alpha")] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((stability, number(major)?, number(minor)?));
        }
    }
    Some((2, number(rest)?, 0))
}

#[cfg(test)]
mod tests {
    use super::priority;

    #[test]
    fn versions_have_an_order() {
        let sorted = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v12alpha1",
            "v11alpha2",
            "foo1",
            "foo10",
            "v01",
        ];
        assert!(sorted.is_sorted_by(|left, right| priority(left) > priority(right)));
    }
}
