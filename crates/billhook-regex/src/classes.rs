//! The named sets that a pattern can use: Perl's `\d \s \w`, the POSIX classes
//! and `\p{…}`; each is worked out once per pattern.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::charset::CharSet;
use crate::fold::folded;
use crate::unicode;

/// A named set as it was written: which one, and whether it was negated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NamedClass {
    /// Letters without a prefix are Perl's; a colon marks POSIX names and a `p`
    /// with a colon Unicode's, so that the three cannot be mixed up.
    key: String,
    negated: bool,
}

impl NamedClass {
    /// Returns the class of `\d`, `\D` and so on, if the letter after the backslash names one.
    pub(crate) fn perl(letter: u8) -> Option<Self> {
        let key = match letter.to_ascii_lowercase() {
            b'd' => "d",
            b's' => "s",
            b'w' => "w",
            _ => return None,
        };
        Some(Self { key: key.to_owned(), negated: letter.is_ascii_uppercase() })
    }

    /// Returns the class that is named between `[:` and `:]`.
    pub(crate) fn posix(name: &str) -> Option<Self> {
        let (name, negated) = split_negation(name);
        ascii_ranges(&format!(":{name}"))?;
        Some(Self { key: format!(":{name}"), negated })
    }

    /// The name in `\p{…}`, or in `\P{…}` when `negated`.
    pub(crate) fn unicode(name: &str, negated: bool) -> Self {
        let (name, inner) = split_negation(name);
        Self { key: format!("p:{}", unicode::squeeze(name)), negated: negated != inner }
    }
}

fn split_negation(name: &str) -> (&str, bool) {
    match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    }
}

/// The sets of one pattern.
#[derive(Default)]
pub(crate) struct ClassCache {
    sets: BTreeMap<(NamedClass, bool), Arc<CharSet>>,
}

impl ClassCache {
    /// Returns the set, or `None` if no set has that name. A negated set is negated after folding:
    /// `(?i)\W` holds no letter that folds to a word character.
    pub(crate) fn get(&mut self, class: &NamedClass, fold: bool) -> Option<Arc<CharSet>> {
        let key = (class.clone(), fold);
        if let Some(set) = self.sets.get(&key) {
            return Some(Arc::clone(set));
        }
        let mut set = match ascii_ranges(&class.key) {
            Some(ranges) => CharSet::new(ranges.to_vec()),
            None => unicode::lookup(class.key.strip_prefix("p:")?)?,
        };
        if fold {
            set = folded(&set);
        }
        if class.negated {
            set = set.negated();
        }
        let set = Arc::new(set);
        self.sets.insert(key, Arc::clone(&set));
        Some(set)
    }
}

fn ascii_ranges(key: &str) -> Option<&'static [(u32, u32)]> {
    Some(match key {
        "d" | ":digit" => &[(0x30, 0x39)],
        // Perl's set lacks the vertical tab that POSIX has.
        "s" => &[(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)],
        "w" | ":word" => &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
        ":alnum" => &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
        ":alpha" => &[(0x41, 0x5A), (0x61, 0x7A)],
        ":ascii" => &[(0x00, 0x7F)],
        ":blank" => &[(0x09, 0x09), (0x20, 0x20)],
        ":cntrl" => &[(0x00, 0x1F), (0x7F, 0x7F)],
        ":graph" => &[(0x21, 0x7E)],
        ":lower" => &[(0x61, 0x7A)],
        ":print" => &[(0x20, 0x7E)],
        ":punct" => &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
        ":space" => &[(0x09, 0x0D), (0x20, 0x20)],
        ":upper" => &[(0x41, 0x5A)],
        ":xdigit" => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(class: &NamedClass, fold: bool, c: char) -> bool {
        let set = ClassCache::default().get(class, fold).unwrap();
        set.ranges().iter().any(|&(lo, hi)| lo <= u32::from(c) && u32::from(c) <= hi)
    }

    #[test]
    fn perl_classes_are_ascii_until_folded() {
        let word = NamedClass::perl(b'w').unwrap();
        let other = NamedClass::perl(b'W').unwrap();
        for kelvin_or_long_s in ['\u{212A}', '\u{17F}'] {
            assert!(!holds(&word, false, kelvin_or_long_s));
            assert!(holds(&word, true, kelvin_or_long_s));
            assert!(holds(&other, false, kelvin_or_long_s));
            assert!(!holds(&other, true, kelvin_or_long_s));
        }
    }

    #[test]
    fn names_of_one_kind_are_not_taken_for_another() {
        assert!(NamedClass::posix("w").is_none());
        assert!(NamedClass::posix("^^alpha").is_none());
        assert!(NamedClass::posix("Alpha").is_none());
        let mut cache = ClassCache::default();
        for name in ["w", "d", ":word", "p:greek", "alnum", ""] {
            assert!(cache.get(&NamedClass::unicode(name, false), false).is_none(), "`{name}`");
        }
    }

    #[test]
    fn two_negations_cancel_out() {
        let mut cache = ClassCache::default();
        let plain = cache.get(&NamedClass::unicode("Greek", false), false);
        let twice = cache.get(&NamedClass::unicode("^Greek", true), false);
        assert_eq!(plain, twice);
    }
}
