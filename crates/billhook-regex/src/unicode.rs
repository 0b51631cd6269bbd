//! The names that `\p{…}` knows, as Go looks them up: general categories, their
//! long names, scripts by their long names, and `Any`, `ASCII`, `Assigned`.
//! Letter case, spaces, underscores and hyphens do not count. The code points
//! come from `regex-syntax`.

use regex_syntax::hir::{Class, HirKind};

use crate::charset::{CharSet, MAX_RUNE};

/// The set with this name, which may not start with `^`.
pub(crate) fn lookup(name: &str) -> Option<CharSet> {
    let name = squeeze(name);
    match name.as_str() {
        "any" => return Some(CharSet::new(vec![(0, MAX_RUNE)])),
        "ascii" => return Some(CharSet::new(vec![(0, 0x7F)])),
        "assigned" => return category("cn").map(|set| set.negated()),
        _ => {}
    }
    if let Ok(at) = CATEGORY_NAMES.binary_search_by_key(&name.as_str(), |&(long, _)| long) {
        return category(CATEGORY_NAMES.get(at)?.1);
    }
    if CATEGORIES.binary_search(&name.as_str()).is_ok() {
        return category(&name);
    }
    if let Some((_, ranges)) = NEW_SCRIPTS.iter().find(|(script, _)| *script == name) {
        return Some(CharSet::new(ranges.to_vec()));
    }
    if SCRIPTS.binary_search(&name.as_str()).is_ok() {
        return query("sc", &name);
    }
    None
}

/// The name in the form that the tables below have.
pub(crate) fn squeeze(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase()).collect()
}

fn category(code: &str) -> Option<CharSet> {
    match code {
        // The engine's tables hold no surrogates.
        "cs" => Some(CharSet::surrogates()),
        "c" => {
            let mut ranges = query("gc", code)?.ranges().to_vec();
            ranges.extend_from_slice(CharSet::surrogates().ranges());
            Some(CharSet::new(ranges))
        }
        _ => query("gc", code),
    }
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

const CATEGORIES: [&str; 38] = [
    "c", "cc", "cf", "cn", "co", "cs", "l", "lc", "ll", "lm", "lo", "lt", "lu", "m", "mc", "me",
    "mn", "n", "nd", "nl", "no", "p", "pc", "pd", "pe", "pf", "pi", "po", "ps", "s", "sc", "sk",
    "sm", "so", "z", "zl", "zp", "zs",
];

const CATEGORY_NAMES: [(&str, &str); 42] = [
    ("casedletter", "lc"),
    ("closepunctuation", "pe"),
    ("cntrl", "cc"),
    ("combiningmark", "m"),
    ("connectorpunctuation", "pc"),
    ("control", "cc"),
    ("currencysymbol", "sc"),
    ("dashpunctuation", "pd"),
    ("decimalnumber", "nd"),
    ("digit", "nd"),
    ("enclosingmark", "me"),
    ("finalpunctuation", "pf"),
    ("format", "cf"),
    ("initialpunctuation", "pi"),
    ("letter", "l"),
    ("letternumber", "nl"),
    ("lineseparator", "zl"),
    ("lowercaseletter", "ll"),
    ("mark", "m"),
    ("mathsymbol", "sm"),
    ("modifierletter", "lm"),
    ("modifiersymbol", "sk"),
    ("nonspacingmark", "mn"),
    ("number", "n"),
    ("openpunctuation", "ps"),
    ("other", "c"),
    ("otherletter", "lo"),
    ("othernumber", "no"),
    ("otherpunctuation", "po"),
    ("othersymbol", "so"),
    ("paragraphseparator", "zp"),
    ("privateuse", "co"),
    ("punct", "p"),
    ("punctuation", "p"),
    ("separator", "z"),
    ("spaceseparator", "zs"),
    ("spacingmark", "mc"),
    ("surrogate", "cs"),
    ("symbol", "s"),
    ("titlecaseletter", "lt"),
    ("unassigned", "cn"),
    ("uppercaseletter", "lu"),
];

/// Scripts of Unicode 17, which Go has and the engine's tables do not yet.
const NEW_SCRIPTS: [(&str, &[(u32, u32)]); 4] = [
    ("beriaerfe", &[(0x16EA0, 0x16EB8), (0x16EBB, 0x16ED3)]),
    ("sidetic", &[(0x10940, 0x10959)]),
    ("taiyo", &[(0x1E6C0, 0x1E6DE), (0x1E6E0, 0x1E6F5), (0x1E6FE, 0x1E6FF)]),
    ("tolongsiki", &[(0x11DB0, 0x11DDB), (0x11DE0, 0x11DE9)]),
];

const SCRIPTS: [&str; 170] = [
    "adlam",
    "ahom",
    "anatolianhieroglyphs",
    "arabic",
    "armenian",
    "avestan",
    "balinese",
    "bamum",
    "bassavah",
    "batak",
    "bengali",
    "bhaiksuki",
    "bopomofo",
    "brahmi",
    "braille",
    "buginese",
    "buhid",
    "canadianaboriginal",
    "carian",
    "caucasianalbanian",
    "chakma",
    "cham",
    "cherokee",
    "chorasmian",
    "common",
    "coptic",
    "cuneiform",
    "cypriot",
    "cyprominoan",
    "cyrillic",
    "deseret",
    "devanagari",
    "divesakuru",
    "dogra",
    "duployan",
    "egyptianhieroglyphs",
    "elbasan",
    "elymaic",
    "ethiopic",
    "garay",
    "georgian",
    "glagolitic",
    "gothic",
    "grantha",
    "greek",
    "gujarati",
    "gunjalagondi",
    "gurmukhi",
    "gurungkhema",
    "han",
    "hangul",
    "hanifirohingya",
    "hanunoo",
    "hatran",
    "hebrew",
    "hiragana",
    "imperialaramaic",
    "inherited",
    "inscriptionalpahlavi",
    "inscriptionalparthian",
    "javanese",
    "kaithi",
    "kannada",
    "katakana",
    "kawi",
    "kayahli",
    "kharoshthi",
    "khitansmallscript",
    "khmer",
    "khojki",
    "khudawadi",
    "kiratrai",
    "lao",
    "latin",
    "lepcha",
    "limbu",
    "lineara",
    "linearb",
    "lisu",
    "lycian",
    "lydian",
    "mahajani",
    "makasar",
    "malayalam",
    "mandaic",
    "manichaean",
    "marchen",
    "masaramgondi",
    "medefaidrin",
    "meeteimayek",
    "mendekikakui",
    "meroiticcursive",
    "meroitichieroglyphs",
    "miao",
    "modi",
    "mongolian",
    "mro",
    "multani",
    "myanmar",
    "nabataean",
    "nagmundari",
    "nandinagari",
    "newa",
    "newtailue",
    "nko",
    "nushu",
    "nyiakengpuachuehmong",
    "ogham",
    "olchiki",
    "oldhungarian",
    "olditalic",
    "oldnortharabian",
    "oldpermic",
    "oldpersian",
    "oldsogdian",
    "oldsoutharabian",
    "oldturkic",
    "olduyghur",
    "olonal",
    "oriya",
    "osage",
    "osmanya",
    "pahawhhmong",
    "palmyrene",
    "paucinhau",
    "phagspa",
    "phoenician",
    "psalterpahlavi",
    "rejang",
    "runic",
    "samaritan",
    "saurashtra",
    "sharada",
    "shavian",
    "siddham",
    "signwriting",
    "sinhala",
    "sogdian",
    "sorasompeng",
    "soyombo",
    "sundanese",
    "sunuwar",
    "sylotinagri",
    "syriac",
    "tagalog",
    "tagbanwa",
    "taile",
    "taitham",
    "taiviet",
    "takri",
    "tamil",
    "tangsa",
    "tangut",
    "telugu",
    "thaana",
    "thai",
    "tibetan",
    "tifinagh",
    "tirhuta",
    "todhri",
    "toto",
    "tulutigalari",
    "ugaritic",
    "vai",
    "vithkuqi",
    "wancho",
    "warangciti",
    "yezidi",
    "yi",
    "zanabazarsquare",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_known_to_the_engine() {
        assert!(CATEGORIES.is_sorted());
        assert!(CATEGORY_NAMES.is_sorted());
        assert!(SCRIPTS.is_sorted());
        let long = CATEGORY_NAMES.iter().map(|(long, _)| *long);
        for name in CATEGORIES.into_iter().chain(long).chain(SCRIPTS) {
            let set = lookup(name).unwrap_or_else(|| panic!("no set for `{name}`"));
            assert!(!set.ranges().is_empty(), "`{name}` is empty");
        }
        for (short, long) in CATEGORY_NAMES.map(|(long, short)| (short, long)) {
            assert_eq!(lookup(short), lookup(long), "`{short}` and `{long}`");
        }
    }

    /// Every code point is in a script, or in a category whose members have none: no script is
    /// missing.
    #[test]
    fn scripts_are_complete() {
        let mut ranges = Vec::new();
        for name in SCRIPTS.into_iter().chain(["cn", "co", "cs"]) {
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
            let parts = CATEGORIES.iter().filter(|name| name.len() == 2 && name.starts_with(group));
            let parts = parts.flat_map(|name| lookup(name).unwrap().ranges().to_vec());
            assert_eq!(CharSet::new(parts.collect()), lookup(group).unwrap(), "`{group}`");
        }
    }

    #[test]
    fn names_are_matched_loosely() {
        for name in ["Old_Italic", "olditalic", "OLD ITALIC", "-old_italic-"] {
            assert!(lookup(name).is_some(), "`{name}`");
        }
        for name in ["", " ", "Ital", "isGreek", "Unknown", "Zzzz", "L&", "^L", "Alphabetic"] {
            assert!(lookup(name).is_none(), "`{name}`");
        }
    }
}
