//! Properties that hold for every pattern, and agreement with the `regex` crate
//! on the part of the syntax that means the same to both.

use billhook_regex::{ErrorKind, Pattern, check, limits};
use proptest::prelude::*;

/// Pieces that a random pattern is likelier to be interesting with.
const PIECES: [&str; 48] = [
    "(",
    ")",
    "(?:",
    "(?i)",
    "(?i:",
    "(?m)",
    "(?s-i:",
    "(?P<n>",
    "(?<",
    "(?",
    "[",
    "]",
    "[^",
    "[a-z]",
    "[:alpha:]",
    "[[:^word:]]",
    "[:",
    "-",
    "\\",
    "\\d",
    "\\W",
    "\\b",
    "\\B",
    "\\A",
    "\\z",
    "\\pL",
    "\\P{Greek}",
    "\\p{",
    "\\x41",
    "\\x{",
    "\\07",
    "\\Q",
    "\\E",
    "*",
    "+?",
    "??",
    "{2}",
    "{,3}",
    "{1000}",
    "{",
    "}",
    "|",
    "^",
    "$",
    ".",
    "a",
    "K",
    "é",
];

fn pattern_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => proptest::sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Patterns that mean the same to Go and to the `regex` crate on ASCII text
/// without vertical tabs, which only Rust counts as space.
fn common_pattern() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(vec![
        "a",
        "b",
        "k",
        "S",
        "0",
        "_",
        "-",
        " ",
        "\\n",
        "\\.",
        ".",
        "^",
        "$",
        "\\A",
        "\\z",
        "\\b",
        "\\B",
        "\\d",
        "\\D",
        "\\w",
        "\\W",
        "\\s",
        "\\S",
        "[ab]",
        "[^a]",
        "[a-z_-]",
        "[^\\w]",
        "[[:upper:]]",
        "[^[:digit:]]",
        "\\pL",
        "\\PN",
        "\\x61",
        "\\x{62}",
        "",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 3, |inner| {
        let repeat = proptest::sample::select(vec![
            "*", "+", "?", "*?", "+?", "??", "{0}", "{2}", "{1,}", "{0,3}", "{2,3}?",
        ]);
        let group = proptest::sample::select(vec![
            "(", "(?:", "(?i:", "(?m:", "(?s:", "(?-i:", "(?is-m:", "(?U:", "(?P<x>", "(?<x>",
        ]);
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a})(?:{b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
            (inner.clone(), repeat).prop_map(|(a, repeat)| format!("(?:{a}){repeat}")),
            (inner.clone(), group).prop_map(|(a, group)| format!("{group}{a})")),
            inner.prop_map(|a| format!("(?:(?i){a})")),
        ]
    })
    .prop_filter("Rust wants names to differ", |text| text.matches("<x>").count() < 2)
}

fn ascii_text() -> impl Strategy<Value = String> {
    "[abkKsS0_ .\n-]{0,8}"
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_parsed_without_panic(pattern in any::<String>(), text in any::<String>()) {
        if let Ok(pattern) = Pattern::new(&pattern) {
            let _ = pattern.is_match(&text);
        }
    }

    #[test]
    fn checking_and_compiling_agree(pattern in pattern_text(), text in any::<String>()) {
        let checked = check(&pattern);
        match Pattern::new(&pattern) {
            Ok(compiled) => {
                prop_assert_eq!(checked, Ok(()));
                prop_assert_eq!(compiled.as_str(), &pattern);
                let _ = compiled.is_match(&text);
            }
            Err(error) if error.kind() == ErrorKind::TooLargeToMatch => {
                prop_assert_eq!(checked, Ok(()));
            }
            Err(error) => {
                prop_assert!(pattern.contains(error.text()));
                prop_assert_eq!(checked, Err(error));
            }
        }
    }

    #[test]
    fn quoted_text_matches_itself(text in any::<String>()) {
        prop_assume!(!text.contains('\\'));
        let pattern = Pattern::new(&format!(r"^\Q{text}\E$")).unwrap();
        prop_assert!(pattern.is_match(&text));
        let longer = text + "x";
        prop_assert!(!pattern.is_match(&longer));
    }

    #[test]
    fn flags_for_the_rest_equal_flags_for_a_group(
        pattern in common_pattern(),
        text in ascii_text(),
    ) {
        let rest = Pattern::new(&format!("(?ims){pattern}")).unwrap();
        let group = Pattern::new(&format!("(?ims:{pattern})")).unwrap();
        prop_assert_eq!(rest.is_match(&text), group.is_match(&text));
    }

    #[test]
    fn agrees_with_the_regex_crate(
        pattern in common_pattern(),
        texts in proptest::collection::vec(ascii_text(), 1..8),
    ) {
        let ours = Pattern::new(&pattern).unwrap();
        let theirs = regex::Regex::new(&pattern).unwrap();
        for text in texts {
            prop_assert_eq!(ours.is_match(&text), theirs.is_match(&text), "on {:?}", text);
        }
    }
    #[test]
    fn finds_what_the_regex_crate_finds(
        pattern in common_pattern(),
        texts in proptest::collection::vec(ascii_text(), 1..8),
    ) {
        let ours = Pattern::new(&pattern).unwrap();
        let theirs = regex::Regex::new(&pattern).unwrap();
        for text in texts {
            let found: Vec<_> = ours.find_iter(&text).collect();
            let expected: Vec<_> = theirs.find_iter(&text).map(|found| found.as_str()).collect();
            prop_assert_eq!(found, expected, "on {:?}", text);
        }
    }

    /// Whether there is a match does not depend on what was matched before, nor on how it is found.
    #[test]
    fn matching_and_finding_agree(
        pattern in pattern_text(),
        texts in proptest::collection::vec("[ab_Kké \n]{0,12}", 1..12),
    ) {
        let Ok(pattern) = Pattern::new(&pattern) else { return Ok(()) };
        // So often that all that can follow is worked out on the way.
        let last = usize::from(limits::SETTLED_MATCHES) + texts.len();
        for text in texts.iter().cycle().take(last) {
            let is_match = pattern.is_match(text);
            let fresh = Pattern::new(pattern.as_str()).unwrap();
            prop_assert_eq!(is_match, fresh.is_match(text), "on {:?}", text);
            prop_assert_eq!(is_match, fresh.find_iter(text).next().is_some());
        }
    }
}
