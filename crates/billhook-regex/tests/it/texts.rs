//! The shortest text that some patterns match and others do not, against the engine.

use billhook_regex::{Pattern, Steps, Texts};
use proptest::prelude::*;

fn shortest(matching: &[&str], others: &[&str], lengths: (usize, Option<usize>)) -> Option<String> {
    let mut texts = Texts::default().of_length(lengths.0, lengths.1);
    for pattern in matching {
        texts = texts.matching(&Pattern::new(pattern).unwrap());
    }
    for pattern in others {
        texts = texts.not_matching(&Pattern::new(pattern).unwrap());
    }
    texts.shortest(&mut Steps::of(1 << 24)).unwrap()
}

#[test]
fn the_shortest_text() {
    let any = (0, None);
    for (matching, others, lengths, expected) in [
        (&["^a+$"][..], &["^a*$"][..], any, None),
        (&["^a*$"], &["^a+$"], any, Some("")),
        (&["^[a-z]([-a-z0-9]*[a-z0-9])?$"], &["^[a-z0-9]+$"], any, Some("a-a")),
        (&["a"], &["b", "^a$"], any, Some("aa")),
        (&["^a$", "^b$"], &[], any, None),
        (&[], &["^.{0,3}$"], any, Some("\n")),
        (&["^.*$"], &["^.{0,3}$"], any, Some("aaaa")),
        (&["^.*$"], &["^.{0,3}$"], (0, Some(3)), None),
        (&["^[a-z]*$"], &[], (5, None), Some("aaaaa")),
        (&["^[a-z]{4}$"], &[], (5, None), None),
        (&[r"\bfoo\b"], &["^foo$"], any, Some("foo-")),
        (&["(?i)^k$"], &["^[kK]$"], any, Some("\u{212a}")),
        (&["^\\d$"], &["^\\w$"], any, None),
        (&["(?m)^a$"], &["^a$"], any, Some("a\n")),
        (&["^é$"], &["^[a-z]$"], any, Some("é")),
    ] {
        let found = shortest(matching, others, lengths);
        assert_eq!(found.as_deref(), expected, "{matching:?} {others:?} {lengths:?}");
    }
}

#[test]
fn hostile_patterns_are_given_up() {
    let hard = "^(.*a.{200}|.*b.{201})$";
    let texts = Texts::default()
        .matching(&Pattern::new(hard).unwrap())
        .not_matching(&Pattern::new("^(.*b.{199}|.*a.{200})$").unwrap());
    assert!(texts.shortest(&mut Steps::of(1 << 20)).is_err());
}

const PIECES: [&str; 16] = [
    "a", "b", "[ab]", "[^a]", ".", "\\b", "^", "$", "(a|b)", "(?:ab)*", "a?", "b+", "a{2}", "\\w",
    "(?m)^", "-",
];

fn pattern() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..5)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    /// A text that is found is one of those looked for; where none is found, no random one is.
    #[test]
    fn agrees_with_the_engine(
        one in pattern(),
        other in pattern(),
        texts in prop::collection::vec("[ab\\-\n]{0,6}", 0..40),
    ) {
        let (one, other) = (Pattern::new(&one).unwrap(), Pattern::new(&other).unwrap());
        let wanted = Texts::default().matching(&one).not_matching(&other);
        let found = wanted.shortest(&mut Steps::of(1 << 24)).unwrap();
        match &found {
            Some(text) => prop_assert!(one.is_match(text) && !other.is_match(text), "{text:?}"),
            None => {
                for text in &texts {
                    prop_assert!(!one.is_match(text) || other.is_match(text), "{text:?}");
                }
            }
        }
        // None that is shorter is one.
        let length = found.map_or(0, |text| text.chars().count());
        for text in texts.iter().filter(|text| text.chars().count() < length) {
            prop_assert!(!one.is_match(text) || other.is_match(text), "{text:?}");
        }
    }
}
