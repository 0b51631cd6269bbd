//! The limits of warnings (AR-80 to AR-86) and the rules of audit annotations (OB-30).

use billhook_admission::{AuditAnnotations, AuditLevel, Warnings};
use proptest::prelude::*;

/// A text of some characters that no other number has.
fn text(number: usize, length: usize) -> String {
    format!("{number:-<length$}")
}

#[test]
fn warnings_fit_the_budget() {
    // The lengths of the texts that are added, and of those that are sent.
    let table: Vec<(&str, Vec<usize>, Vec<usize>)> = vec![
        ("a few", vec![100, 200], vec![100, 200]),
        ("the budget exactly", vec![2048, 2048], vec![2048, 2048]),
        ("one more character", vec![2048, 2049], vec![256, 256]),
        ("one long text", vec![5000], vec![256]),
        ("twenty of 250", vec![250; 20], vec![250; 17]),
        ("short ones behind a cut", vec![5000, 10, 300], vec![256, 10, 256]),
        ("until the budget of cut texts is used up", vec![5000; 20], vec![256; 16]),
    ];
    for (name, added, sent) in table {
        let mut warnings = Warnings::default();
        let texts: Vec<String> =
            added.iter().enumerate().map(|(number, length)| text(number, *length)).collect();
        texts.iter().for_each(|text| warnings.add(text));
        let lengths: Vec<usize> = warnings.texts().iter().map(String::len).collect();
        assert_eq!(lengths, sent, "{name}");
        for (text, full) in warnings.texts().iter().zip(&texts) {
            assert!(full.starts_with(text), "{name}");
        }
        assert_eq!(warnings.raw(), texts, "{name}");
        assert_eq!(warnings.is_cut(), added != sent && !sent.contains(&2048), "{name}");
    }
}

#[test]
fn warnings_are_counted_in_characters() {
    let mut warnings = Warnings::default();
    warnings.add(&"ä".repeat(4096));
    assert!(!warnings.is_cut());
    warnings.add("b");
    assert_eq!(warnings.texts(), ["ä".repeat(256), "b".to_owned()]);
}

#[test]
fn texts_that_no_header_can_carry_are_dropped() {
    let mut warnings = Warnings::default();
    for text in ["", "a\tb", "a\nb", "a\u{7f}", "fine", "a\nb", "fine"] {
        warnings.add(text);
    }
    assert_eq!(warnings.texts(), ["fine"]);
}

#[test]
fn annotations_keep_their_first_value() {
    let mut annotations = AuditAnnotations::default();
    annotations.add("a.example.com/k", "one", AuditLevel::Metadata);
    annotations.add("a.example.com/k", "one", AuditLevel::Metadata);
    annotations.add("a.example.com/k", "two", AuditLevel::Metadata);
    let bad = ["k", "a/b/c", "/k", "a.example.com/", "a.example.com/-", "UPPER/k"];
    for key in bad {
        annotations.add(key, "x", AuditLevel::Metadata);
    }
    annotations.add(&format!("a.example.com/{}", "k".repeat(63)), "x", AuditLevel::Request);
    annotations.add(&format!("a.example.com/{}", "k".repeat(64)), "x", AuditLevel::Request);
    let keys: Vec<_> = annotations.iter().map(|(key, _)| key.len()).collect();
    assert_eq!(keys, [15, 14 + 63]);
    assert_eq!(annotations.get("a.example.com/k").unwrap().value, "one");
    assert_eq!(annotations.refused().len(), 1 + bad.len() + 1);
    assert_eq!(
        annotations.refused()[0],
        "admission annotations are not allowd to be overwritten, key:\"a.example.com/k\", old \
         value: one, new value: two"
    );
    assert_eq!(
        annotations.refused()[1],
        "annotation key has invalid format, the right format is a DNS subdomain prefix and '/' \
         and key name. (e.g. 'podsecuritypolicy.admission.k8s.io/admit-policy')"
    );
}

proptest! {
    /// No text is sent twice, none is longer than it was, and cut texts have at most 256
    /// characters.
    #[test]
    fn warnings_stay_within_bounds(
        texts in prop::collection::vec(("[a-z]{1,3}", 1..1500_usize), 0..40),
    ) {
        let mut warnings = Warnings::default();
        for (start, length) in &texts {
            warnings.add(&start.repeat(*length));
        }
        let sent = warnings.texts();
        prop_assert!(sent.len() <= warnings.raw().len());
        let total: usize = sent.iter().map(String::len).sum();
        if warnings.is_cut() {
            prop_assert!(sent.iter().all(|text| text.len() <= 256));
        } else {
            prop_assert!(total <= 4096);
            prop_assert_eq!(sent, warnings.raw());
        }
    }
}
