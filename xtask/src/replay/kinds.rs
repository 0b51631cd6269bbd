//! The counts of recorded conversations about each built-in kind, for docs/kinds.md.

use std::collections::BTreeMap;

use billhook_kinds::Kind;
use serde_json::{Value, json};

use super::Verdict;
use super::http::Conversation;
use crate::readme::Measured;

/// The parts of a kind's behavior that conversations are about, and the words by which their subjects
/// tell; the last part is that of all others.
const PARTS: [(&str, &[&str]); 4] = [
    ("types", &["wrong types", "a protobuf body"]),
    ("defaults", &[": minimal", ": full"]),
    (
        "validation",
        &[": names", "metadata errors", "one field broken", "one field changed", "testdata"],
    ),
    ("behavior", &[""]),
];

/// How many conversations of each part of each kind passed, and how many there are.
#[derive(Default)]
pub(super) struct Kinds(BTreeMap<String, BTreeMap<&'static str, [usize; 2]>>);

impl Kinds {
    pub(super) fn add(&mut self, conversation: &Conversation, verdict: &Verdict) {
        let kind = conversation.paths().find_map(kind_of);
        let Some(kind) = kind.filter(|_| conversation.is_of_kinds()) else { return };
        let parts = self.0.entry(format!("{} {}", kind.api_version(), kind.kind)).or_default();
        let is_about = |words: &[&str]| words.iter().any(|word| conversation.about.contains(word));
        let part = PARTS.iter().find(|(_, words)| is_about(words)).map(|(part, _)| *part);
        for part in part.into_iter().chain(conversation.has_tables().then_some("tables")) {
            let [passed, all] = parts.entry(part).or_default();
            *passed += usize::from(matches!(verdict, Verdict::Passed));
            *all += 1;
        }
    }

    pub(super) fn measured(self) -> Measured {
        let entry = |counts: [usize; 2]| json!({"passed": counts[0], "all": counts[1]});
        let of_kind = |(kind, parts): (String, BTreeMap<&str, [usize; 2]>)| {
            let parts = parts.into_iter().map(|(part, counts)| (part.to_owned(), entry(counts)));
            (kind, Value::Object(parts.collect()))
        };
        self.0.into_iter().map(of_kind).collect()
    }
}

/// Returns the kind whose objects are at a path.
fn kind_of(path: &str) -> Option<&'static Kind> {
    let path = path.split('?').next().unwrap_or_default();
    let mut parts = path.trim_start_matches('/').split('/');
    let group = if parts.next()? == "api" { "" } else { parts.next()? };
    let version = parts.next()?;
    let mut plural = parts.next()?;
    let mut rest = parts.skip(1);
    if plural == "namespaces"
        && let Some(inside) = rest.next()
        && !matches!(inside, "finalize" | "status")
    {
        plural = inside;
    }
    let is_it = |it: &&Kind| it.group == group && it.version == version && it.plural == plural;
    Kind::all().iter().find(is_it)
}
