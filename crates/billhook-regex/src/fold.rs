//! Sets without regard to letter case.

use std::sync::LazyLock;

use crate::charset::CharSet;
use crate::unicode;

/// All code points that have another letter case, and some that have none. The
/// engine folds a set by going through its members one by one, which takes long
/// for large sets; these are the only ones that it need look at.
static CASED: LazyLock<CharSet> = LazyLock::new(|| {
    let mut ranges = vec![(0x345, 0x345), (0x2160, 0x2188), (0x24B6, 0x24E9)];
    if let Some(letters) = unicode::lookup("LC") {
        ranges.extend_from_slice(letters.ranges());
    }
    CharSet::new(ranges)
});

/// Returns the set with everything that is equal to a member when case is ignored.
pub(crate) fn folded(set: &CharSet) -> CharSet {
    let mut class = set.intersection(&CASED).to_class();
    // Fails only when built without case tables, which the manifest asks for.
    if class.try_case_fold_simple().is_err() {
        return set.clone();
    }
    let mut ranges = CharSet::from(&class).ranges().to_vec();
    ranges.extend_from_slice(set.ranges());
    CharSet::new(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charset::MAX_RUNE;

    #[test]
    fn only_cased_code_points_fold() {
        let mut rest = CASED.negated().to_class();
        let before = rest.clone();
        rest.try_case_fold_simple().unwrap();
        assert_eq!(rest, before);
    }

    #[test]
    fn folding_adds_all_cases() {
        let fold = |c: char| folded(&CharSet::new(vec![(u32::from(c), u32::from(c))]));
        assert_eq!(fold('k').ranges(), [(0x4B, 0x4B), (0x6B, 0x6B), (0x212A, 0x212A)]);
        assert_eq!(fold('\u{345}'), fold('ι'));
        assert_eq!(fold('ⅷ'), fold('Ⅷ'));
        assert_eq!(fold('ⓐ'), fold('Ⓐ'));
        assert_eq!(fold('1').ranges(), [(0x31, 0x31)]);
        let all = CharSet::new(vec![(0, MAX_RUNE)]);
        assert_eq!(folded(&all), all);
    }
}
