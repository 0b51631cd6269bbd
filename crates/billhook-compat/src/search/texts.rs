//! Texts that the patterns of some rules match, and those of others do not.

use std::collections::BTreeSet;
use std::sync::Arc;

use billhook_regex::{Pattern, Patterns, Steps, Texts};
use serde_json::Value;

/// How many patterns are looked at on each side.
const MAX_PATTERNS: usize = 6;

/// The steps of all searches.
const MAX_STEPS: u64 = 1 << 19;

/// Texts for which the rules of a new definition may say something else than those of the old one,
/// whatever the rules do with their patterns.
pub(crate) fn texts_between<'v>(
    document: &Value,
    held: impl Iterator<Item = &'v Value>,
    wanted: impl Iterator<Item = &'v Value>,
) -> Vec<String> {
    let patterns = Patterns::default();
    let (held, mut wanted) = (literals(held), literals(wanted));
    wanted.retain(|text| !held.contains(text));
    let read = |texts: &BTreeSet<Arc<str>>| -> Vec<Pattern> {
        let read = texts.iter().filter_map(|text| patterns.get(text).ok());
        read.take(MAX_PATTERNS).collect()
    };
    let (held, wanted) = (read(&held), read(&wanted));
    let own = document.get("pattern").and_then(Value::as_str);
    let all = own.and_then(|own| patterns.get(own).ok()).into_iter();
    let all = all.fold(Texts::default().of_length(1, None), |texts, own| texts.matching(&own));
    let mut steps = Steps::of(MAX_STEPS);
    let mut found = Vec::new();
    for pattern in &wanted {
        let each = held.iter().map(|held| all.clone().matching(held));
        let every = held.iter().fold(all.clone(), |texts, held| texts.matching(held));
        for texts in [all.clone(), every].into_iter().chain(each) {
            for texts in [texts.clone().not_matching(pattern), texts.matching(pattern)] {
                found.extend(texts.shortest(&mut steps).ok().flatten());
            }
        }
    }
    found
}

/// The texts in rules.
fn literals<'v>(rules: impl Iterator<Item = &'v Value>) -> BTreeSet<Arc<str>> {
    let rules = rules.filter_map(|rule| rule.get("rule")?.as_str());
    rules.filter_map(|rule| billhook_cel::mentions(rule).ok()).flat_map(|it| it.texts).collect()
}
