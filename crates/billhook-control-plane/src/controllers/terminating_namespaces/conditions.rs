//! The conditions of a namespace that is being deleted (CP-22).

use std::collections::BTreeMap;

use serde_json::Value;

use super::remaining::Remaining;
use crate::clock::Timestamp;
use crate::conditions::set_condition;
use crate::document::list;

/// A namespace, and what remains in it.
pub(super) struct Known<'k> {
    pub(super) namespace: &'k Value,
    pub(super) remaining: &'k Remaining,
}

/// The type of a condition, the reason and the message of a problem if there is one, and those of its
/// absence.
type Aspect = (&'static str, Option<(&'static str, String)>, [&'static str; 2]);

/// Returns all conditions.
pub(super) fn conditions(known: &Known<'_>, now: Timestamp) -> Vec<Value> {
    let mut conditions = list(known.namespace, "/status/conditions").to_vec();
    let undiscovered = known.remaining.undiscovered();
    let [failures, objects, finalizers] = known.messages();
    let all: [Aspect; 5] = [
        (
            "NamespaceDeletionDiscoveryFailure",
            undiscovered.map(|message| ("DiscoveryFailed", message)),
            ["ResourcesDiscovered", "All resources successfully discovered"],
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            None,
            ["ParsedGroupVersions", "All legacy kube types successfully parsed"],
        ),
        (
            "NamespaceDeletionContentFailure",
            failures.map(|message| ("ContentDeletionFailed", message)),
            ["ContentDeleted", "All content successfully deleted, may be waiting on finalization"],
        ),
        (
            "NamespaceContentRemaining",
            objects.map(|message| ("SomeResourcesRemain", message)),
            ["ContentRemoved", "All content successfully removed"],
        ),
        (
            "NamespaceFinalizersRemaining",
            finalizers.map(|message| ("SomeFinalizersRemain", message)),
            ["ContentHasNoFinalizers", "All content-preserving finalizers finished"],
        ),
    ];
    for (kind, problem, [reason, message]) in all {
        let condition = match &problem {
            Some((reason, message)) => [kind, "True", reason, message],
            None => [kind, "False", reason, message],
        };
        set_condition(&mut conditions, condition, now);
    }
    conditions
}

impl Known<'_> {
    /// Returns what was not deleted, what remains, and which finalizers do; nothing where nothing does.
    fn messages(&self) -> [Option<String>; 3] {
        let failures = &self.remaining.failures;
        let failed = || {
            let mut sorted = failures.clone();
            sorted.sort();
            let (count, list) = (sorted.len(), sorted.join(", "));
            format!("Failed to delete all resource types, {count} remaining: {list}")
        };
        let counted = |counts: &BTreeMap<String, usize>, middle: &str| {
            let all = counts
                .iter()
                .map(|(name, count)| format!("{name} {middle} {count} resource instances"));
            all.collect::<Vec<_>>().join(", ")
        };
        let (objects, finalizers) = (&self.remaining.objects, &self.remaining.finalizers);
        [
            (!failures.is_empty()).then(failed),
            (!objects.is_empty())
                .then(|| format!("Some resources are remaining: {}", counted(objects, "has"))),
            (!finalizers.is_empty()).then(|| {
                format!(
                    "Some content in the namespace has finalizers remaining: {}",
                    counted(finalizers, "in")
                )
            }),
        ]
    }
}
