//! The names and literals of rules, which searches look at first.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use billhook_apimachinery::value::sorted;
use billhook_cel::Mentions;
use billhook_schema::SchemaView;
use serde_json::Value;

use crate::pattern;

/// The largest size that is made because a rule mentions it.
const MAX_SIZE: i64 = 20;

/// The names and literals of the rules of a schema: what a search had better look at.
#[derive(Clone, Debug, Default)]
pub struct Hints(Arc<Hinted>);

#[derive(Clone, Debug, Default)]
struct Hinted {
    mentions: Mentions,
    /// The texts that are tried because of those that are mentioned, once they are asked for.
    texts: OnceLock<Vec<String>>,
}

impl Hints {
    /// Returns the hints of rules; one that cannot be read has none.
    pub fn of<'v>(rules: impl IntoIterator<Item = &'v Value>) -> Self {
        let mut all = Mentions::default();
        for rule in rules {
            let found =
                billhook_cel::mentions(SchemaView::new(rule).text("rule")).unwrap_or_default();
            all.names.extend(found.names);
            all.texts.extend(found.texts);
            all.integers.extend(found.integers);
        }
        Hints::from(all)
    }

    fn from(mentions: Mentions) -> Self {
        Hints(Arc::new(Hinted { mentions, texts: OnceLock::new() }))
    }

    /// Returns the same with more texts.
    #[must_use]
    pub fn with_texts(self, texts: impl IntoIterator<Item = String>) -> Self {
        let mut mentions = self.0.mentions.clone();
        mentions.texts.extend(texts.into_iter().map(Into::into));
        Hints::from(mentions)
    }

    /// Returns the same with more names.
    pub(crate) fn with_names<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut mentions = self.0.mentions.clone();
        mentions.names.extend(names.into_iter().map(Into::into));
        Hints::from(mentions)
    }

    /// Returns which of the members that are mentioned a value has, or its elements have.
    pub(crate) fn outline(&self, value: Option<&Value>) -> String {
        const MAX_ITEMS: usize = 3;
        match value {
            Some(Value::Object(members)) => {
                let names = sorted(members).into_iter().map(|(name, _)| name.as_str());
                names.filter(|name| self.mention(name)).collect::<Vec<_>>().join(",")
            }
            Some(Value::Array(items)) => {
                let items = items.iter().take(MAX_ITEMS).map(|item| self.outline(Some(item)));
                items.collect::<Vec<_>>().join(";")
            }
            _ => String::new(),
        }
    }

    pub(crate) fn mention(&self, name: &str) -> bool {
        self.0.mentions.names.contains(name) || self.0.mentions.texts.contains(name)
    }

    pub(crate) fn has_literal(&self, value: &Value) -> bool {
        value.as_str().is_some_and(|text| self.0.mentions.texts.contains(text))
            || value.as_i64().is_some_and(|it| self.0.mentions.integers.contains(&it))
    }

    /// Returns the sizes that are one too small, just right or one too large.
    pub fn sizes(&self) -> BTreeSet<usize> {
        let around = self.0.mentions.integers.iter().filter(|size| (0..=MAX_SIZE).contains(*size));
        let around = around.flat_map(|size| [size - 1, *size, size + 1]);
        around.filter_map(|size| usize::try_from(size).ok()).collect()
    }

    /// Returns the integers around those that are mentioned.
    pub(crate) fn integers(&self) -> impl Iterator<Item = i64> {
        let hinted = self.0.mentions.integers.iter();
        hinted.flat_map(|it| [it.saturating_sub(1), *it, it.saturating_add(1)])
    }

    /// Returns the texts that are mentioned, which may be names of members.
    pub(crate) fn names_of_members(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.mentions.texts.iter()
    }

    /// Returns the texts around those that are mentioned, and such as match these.
    pub(crate) fn texts(&self) -> &[String] {
        self.0.texts.get_or_init(|| {
            let around = |text: &Arc<str>| {
                // It may be a pattern.
                let matching = pattern::sample(text).into_iter();
                [text.to_string(), format!("{text}a"), format!("a{text}"), format!("a{text}b")]
                    .into_iter()
                    .chain(matching)
            };
            let sizes = self.sizes().into_iter().map(|size| "a".repeat(size));
            self.0.mentions.texts.iter().flat_map(around).chain(sizes).collect()
        })
    }
}
