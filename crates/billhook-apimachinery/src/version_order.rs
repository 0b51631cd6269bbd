//! Which of several versions of a group is preferred.

use std::cmp::{Ordering, Reverse};

/// Compares versions of a group; the preferred one is the greatest: `v2` before `v1`, that before
/// `v1beta2`, that before `v1alpha1`, and all of these before other names, which are in alphabetical
/// order.
pub fn compare_versions(left: &str, right: &str) -> Ordering {
    priority(left).cmp(&priority(right))
}

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
