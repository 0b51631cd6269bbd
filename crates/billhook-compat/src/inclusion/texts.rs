//! Lengths, patterns and formats of texts (VV-20 to VV-22, VV-70).

use billhook_regex::{Pattern, Steps, Texts};
use billhook_schema::JsonSchemaProps;
use billhook_validation::Format;
use serde_json::Value;

use super::attempt::Unmet;
use super::known::Known;
use super::{Kinds, Prover};
use crate::limits::MAX_TEXT_STEPS;

/// A search for a text, so that its result is found again.
pub(super) type Query = String;

/// The longest text that a witness holds.
const MAX_LENGTH: i64 = 100_000;

/// Texts that few formats have, and such that only the wider of two formats has.
const ODD: [&str; 11] = [
    "?",
    "",
    "a",
    "\u{e9}",
    "%zz",
    " ",
    "a.b",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "6ba7b810-9dad-31d1-80b4-00c04fd430c8",
    "3-16-148410-0",
    "978-3-16-148410-0",
];

/// Formats of which each text has another one, too.
const NARROWER: [(&str, &str); 8] = [
    ("uuid3", "uuid"),
    ("uuid4", "uuid"),
    ("uuid5", "uuid"),
    ("isbn10", "isbn"),
    ("isbn13", "isbn"),
    ("k8sshortname", "k8slongname"),
    ("date", "password"),
    ("datetime", "password"),
];

impl<'s> Prover<'s> {
    /// The texts that a value may be by its lengths and patterns; none if it takes too many
    /// searches to tell.
    pub(super) fn known_texts(&self, known: &Known<'s>) -> Option<Texts> {
        let left = self.text_searches.get().checked_sub(1)?;
        self.text_searches.set(left);
        let (min, max) = (known.at_least(|it| it.min_length), known.at_most(|it| it.max_length));
        let length = |count: i64| usize::try_from(count.max(0)).unwrap_or(usize::MAX);
        let mut texts = Texts::default().of_length(length(min), max.map(length));
        let mut patterns: Vec<&str> =
            known.holds.iter().map(|held| held.pattern.as_str()).collect();
        patterns.sort_unstable();
        patterns.dedup();
        for pattern in patterns.into_iter().filter(|pattern| !pattern.is_empty()) {
            texts = texts.matching(&self.pattern(pattern)?);
        }
        Some(texts)
    }

    /// The shortest of some texts; the outer none says that it is not known.
    pub(super) fn shortest(&self, texts: Option<Texts>) -> Option<Option<String>> {
        let texts = texts?;
        let query = format!("{texts:?}");
        if let Some(known) = self.texts.borrow().get(&query) {
            return known.clone();
        }
        let found = texts.shortest(&mut Steps::of(MAX_TEXT_STEPS)).ok();
        self.texts.borrow_mut().insert(query, found.clone());
        found
    }

    /// The demands of a schema on texts that do not follow from what is known.
    pub(super) fn unmet_texts(
        &self,
        known: &Known<'s>,
        target: &'s JsonSchemaProps,
        found: &mut Vec<Unmet>,
    ) {
        if !known.kinds.include(Kinds::STRING) {
            return;
        }
        // The only texts that there are.
        let entries = known.enumeration().map(|entries| {
            let texts = entries.filter_map(Value::as_str).map(str::to_owned);
            texts.collect::<Vec<String>>()
        });
        // A text is only equal to the same text.
        let entries = entries.as_deref();
        let count = |text: &str| text.chars().count() as i64;
        let mut add = |keyword: &'static str,
                       is_fine: &dyn Fn(&str) -> bool,
                       other: Vec<String>| {
            let wrong: Vec<Value> = match entries {
                Some(entries) => {
                    entries.iter().filter(|it| !is_fine(it)).map(|it| it.clone().into()).collect()
                }
                None => other.into_iter().map(Value::from).collect(),
            };
            if entries.is_none() || !wrong.is_empty() {
                found.push(Unmet::new(keyword, wrong));
            }
        };
        let formats = known.holds.iter().filter_map(|it| checked_format(it, self.bare.kubernetes));
        let mut formats = formats.filter_map(|format| Format::named(&format));
        let has_empty = formats.all(|format| format.matches(""));
        let least = known.at_least(|it| it.min_length).max(i64::from(!has_empty));
        if let Some(wanted) = target.min_length
            && least < wanted
            && let Some(other) = self.outside(known, |texts| {
                texts.of_length(0, usize::try_from(wanted.saturating_sub(1)).ok())
            })
        {
            add("minLength", &|text| count(text) >= wanted, other);
        }
        if let Some(wanted) = target.max_length
            && known.at_most(|it| it.max_length).is_none_or(|held| held > wanted)
            && let Some(mut other) = self.outside(known, |texts| {
                texts.of_length(usize::try_from(wanted.saturating_add(1)).unwrap_or(0), None)
            })
        {
            if (0..MAX_LENGTH).contains(&wanted) {
                let count = wanted as usize + 1;
                other.push("a".repeat(count));
                // Formats have other texts.
                other.push("a".repeat(count.next_multiple_of(4)));
                other.push(format!("https://example.com/{}", "a".repeat(count)));
            }
            add("maxLength", &|text| count(text) <= wanted, other);
        }
        if !target.pattern.is_empty()
            && !known.holds.iter().any(|held| held.pattern == target.pattern)
        {
            let pattern = self.pattern(&target.pattern);
            let other = match &pattern {
                Some(pattern) => self.outside(known, |texts| texts.not_matching(pattern)),
                None => Some(vec![String::new(), "a".to_owned()]),
            };
            let is_fine =
                |text: &str| pattern.as_ref().is_some_and(|it: &Pattern| it.is_match(text));
            if let Some(other) = other {
                add("pattern", &is_fine, other);
            }
        }
        if let Some(format) = checked_format(target, self.bare.kubernetes)
            && !known.holds.iter().any(|held| {
                checked_format(held, self.bare.kubernetes)
                    .is_some_and(|held| is_within(&held, &format))
            })
        {
            let known_format = Format::named(&format);
            let is_fine = |text: &str| known_format.is_some_and(|it| it.matches(text));
            let mut other: Vec<String> = known.holds.iter().filter_map(|it| sample(it)).collect();
            other.extend(ODD.map(str::to_owned));
            add("format", &is_fine, other);
        }
    }

    /// Texts that are known to be possible and that are outside of what is wanted; none if there is
    /// none: then what is wanted is proved.
    fn outside(
        &self,
        known: &Known<'s>,
        restrict: impl FnOnce(Texts) -> Texts,
    ) -> Option<Vec<String>> {
        match self.shortest(self.known_texts(known).map(restrict)) {
            Some(None) => None,
            Some(Some(text)) => Some(vec![text]),
            None => Some(Vec::new()),
        }
    }
}

/// A text that is written in a schema of a format.
fn sample(schema: &JsonSchemaProps) -> Option<String> {
    let document = serde_json::json!({"type": "string", "format": schema.format});
    billhook_generation::sample(&document).as_str().map(str::to_owned)
}

/// The format that is checked, without its hyphens.
pub(super) fn checked_format(
    schema: &JsonSchemaProps,
    kubernetes: billhook_apimachinery::KubernetesVersion,
) -> Option<String> {
    let type_ = if schema.int_or_string { "" } else { schema.type_.as_str() };
    if !matches!(type_, "" | "string") || !Format::has_effect(type_, &schema.format, kubernetes) {
        return None;
    }
    Some(schema.format.replace('-', ""))
}

/// Whether each text of a format is one of another format.
fn is_within(held: &str, wanted: &str) -> bool {
    held == wanted || NARROWER.contains(&(held, wanted)) || wanted == "password"
}
