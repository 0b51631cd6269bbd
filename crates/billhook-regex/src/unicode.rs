//! The names that `\p{…}` knows, as Go looks them up: general categories, their
//! long names, scripts by their long names, and `Any`, `ASCII`, `Assigned`.
//! Letter case, spaces, underscores and hyphens do not count. The code points
//! come from `regex-syntax`.

use regex_syntax::hir::{Class, HirKind};

use crate::charset::{CharSet, MAX_RUNE};

/// The set with this name, which may not start with `^`.
pub(crate) fn lookup(name: &str) -> Option<CharSet> {
    let name = squeeze(name);
    // The engine looks past other characters and a leading `is`; Go does not.
    if !name.bytes().all(|b| b.is_ascii_lowercase()) || name.starts_with("is") {
        return None;
    }
    match name.as_str() {
        "any" => Some(CharSet::new(vec![(0, MAX_RUNE)])),
        "assigned" => Some(query("gc", "cn")?.negated()),
        // The engine's tables hold no surrogates.
        "cs" | "surrogate" => Some(CharSet::surrogates()),
        "c" | "other" => {
            let mut ranges = query("gc", "c")?.ranges().to_vec();
            ranges.extend_from_slice(CharSet::surrogates().ranges());
            Some(CharSet::new(ranges))
        }
        _ => query("gc", &name).or_else(|| script(&name)),
    }
}

/// The name in the form in which names are compared.
pub(crate) fn squeeze(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}

/// The script with this long name. Short names, which Go does not know, have four letters.
fn script(name: &str) -> Option<CharSet> {
    if let Some((_, ranges)) = NEW_SCRIPTS.iter().find(|(script, _)| *script == name) {
        return Some(CharSet::new(ranges.to_vec()));
    }
    let is_long = name.len() != 4 || LONG_NAMES_OF_FOUR.contains(&name);
    if is_long { query("sc", name) } else { None }
}

fn query(property: &str, value: &str) -> Option<CharSet> {
    let hir = regex_syntax::parse(&format!(r"\p{{{property}={value}}}")).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.into()),
        HirKind::Literal(literal) => {
            let mut chars = std::str::from_utf8(&literal.0).ok()?.chars();
            let only = u32::from(chars.next()?);
            Some(CharSet::new(vec![(only, only)]))
        }
        _ => None,
    }
}

/// Scripts of Unicode 17, which Go has and the engine's tables do not yet.
const NEW_SCRIPTS: [(&str, &[(u32, u32)]); 4] = [
    ("beriaerfe", &[(0x16EA0, 0x16EB8), (0x16EBB, 0x16ED3)]),
    ("sidetic", &[(0x10940, 0x10959)]),
    ("taiyo", &[(0x1E6C0, 0x1E6DE), (0x1E6E0, 0x1E6F5), (0x1E6FE, 0x1E6FF)]),
    ("tolongsiki", &[(0x11DB0, 0x11DDB), (0x11DE0, 0x11DE9)]),
];

const LONG_NAMES_OF_FOUR: [&str; 9] =
    ["ahom", "cham", "kawi", "lisu", "miao", "modi", "newa", "thai", "toto"];

#[cfg(test)]
mod tests {
    use super::*;

    /// Categories, each by its short name and its long ones, and scripts.
    const NAMES: &str = include_str!("../tests/data/unicode_names.txt");

    #[test]
    fn categories_and_scripts_are_known() {
        for line in NAMES.lines() {
            let mut names = line.split_whitespace();
            let set = names.next().and_then(lookup);
            assert!(set.as_ref().is_some_and(|set| !set.ranges().is_empty()), "{line}");
            for other in names {
                assert_eq!(lookup(other), set, "`{other}` of {line}");
            }
        }
    }

    /// Every code point is in a script, or in a category whose members have none: no script is
    /// missing.
    #[test]
    fn scripts_are_complete() {
        let is_script = |name: &&str| query("gc", name).is_none();
        let scripts = NAMES.split_whitespace().filter(is_script);
        let mut ranges = Vec::new();
        for name in scripts.chain(["cn", "co", "cs"]) {
            ranges.extend_from_slice(lookup(name).unwrap().ranges());
        }
        assert_eq!(CharSet::new(ranges).ranges(), [(0, MAX_RUNE)]);
    }

    #[test]
    fn categories_are_complete_and_nest() {
        let whole = CharSet::new(
            ["c", "l", "m", "n", "p", "s", "z"]
                .iter()
                .flat_map(|name| lookup(name).unwrap().ranges().to_vec())
                .collect(),
        );
        assert_eq!(whole.ranges(), [(0, MAX_RUNE)]);
        for group in ["c", "l", "m", "n", "p", "s", "z"] {
            let parts = NAMES.split_whitespace();
            let parts = parts.filter(|name| name.len() == 2 && name.starts_with(group));
            let parts = parts.flat_map(|name| lookup(name).unwrap().ranges().to_vec());
            assert_eq!(CharSet::new(parts.collect()), lookup(group).unwrap(), "`{group}`");
        }
    }

    #[test]
    fn names_are_matched_loosely() {
        for name in ["Old_Italic", "olditalic", "OLD ITALIC", "-old_italic-"] {
            assert!(lookup(name).is_some(), "`{name}`");
        }
        let unknown = ["", " ", "Ital", "isGreek", "Gre\u{e9}ek", "Unknown", "Zzzz", "L&", "^L"];
        for name in unknown.into_iter().chain(["Alphabetic", "Katakana_Or_Hiragana"]) {
            assert!(lookup(name).is_none(), "`{name}`");
        }
    }
}
