//! Two definitions, version by version.

use billhook::{CrdError, CrdOptions, CustomResourceDefinition, KubernetesVersion};
use billhook_apimachinery::value::deep_eq;
use serde_json::Value;

use crate::answer::{Comparison, Question};
use crate::definition;
use crate::inclusion::Bare;
use crate::pairs;
use crate::version::{Pair, Side};
use crate::{merging, preserved, readers, stored, writers};

/// Options of a comparison.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CompareOptions {
    /// The version of the server; the newest by default.
    pub(crate) kubernetes: KubernetesVersion,
}

impl CompareOptions {
    /// Returns the options for a server of another version.
    #[must_use]
    pub fn kubernetes(mut self, kubernetes: KubernetesVersion) -> Self {
        self.kubernetes = kubernetes;
        self
    }
}

/// Compares a definition with the one that is to replace it (CC-01).
///
/// ```
/// use billhook_compat::{Question, Verdict, compare};
/// use serde_json::json;
///
/// let definition = |mode: serde_json::Value| json!({
///     "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
///     "metadata": {"name": "backups.example.com"},
///     "spec": {
///         "group": "example.com", "scope": "Namespaced",
///         "names": {"plural": "backups", "singular": "backup", "kind": "Backup", "listKind": "BackupList"},
///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
///             "type": "object", "properties": {"spec": {"type": "object", "properties": {"mode": mode}}},
///         }}}],
///     },
/// });
/// let old = definition(json!({"type": "string", "enum": ["full", "fast"]}));
/// let new = definition(json!({"type": "string", "enum": ["full"]}));
///
/// let comparison = compare(&old, &new)?;
/// let worst = comparison.answers.iter().find(|answer| answer.verdict == Verdict::Breaks).unwrap();
/// assert_eq!((worst.question, worst.path.to_string().as_str()), (Question::Writers, "spec.mode"));
/// assert_eq!(worst.witness.as_ref().unwrap()["spec"], json!({"mode": "fast"}));
/// assert_eq!(compare(&new, &new)?.verdict(), Verdict::Safe);
/// # Ok::<(), billhook::CrdError>(())
/// ```
///
/// # Errors
///
/// If one of the two is not a definition, or its schemas cannot be served.
pub fn compare(old: &Value, new: &Value) -> Result<Comparison, CrdError> {
    compare_with(old, new, &CompareOptions::default())
}

/// [`compare`] with options.
///
/// # Errors
///
/// As for [`compare`].
pub fn compare_with(
    old: &Value,
    new: &Value,
    options: &CompareOptions,
) -> Result<Comparison, CrdError> {
    let crd_options = CrdOptions::default().kubernetes(options.kubernetes);
    let read = |value: &Value| CustomResourceDefinition::with_options(value, &crd_options);
    let (old_crd, new_crd) = (read(old)?, read(new)?);
    let (old_sides, new_sides) = (Side::all(&old_crd, old)?, Side::all(&new_crd, new)?);
    let mut comparison = Comparison::default();
    let answers = &mut comparison.answers;
    let bare = Bare::new(options.kubernetes);
    for old_side in &old_sides {
        let name = old_side.version.name();
        let Some(new_side) = new_sides.iter().find(|side| side.version.name() == name) else {
            continue;
        };
        let pair = Pair::new(old_side, new_side, &bare);
        let is_served = old_side.version.is_served() && new_side.version.is_served();
        let is_stored = old_side.is_stored();
        let mut asked = Vec::new();
        if is_served {
            asked.extend([Question::Writers, Question::Readers, Question::Appliers]);
        }
        if is_stored {
            asked.push(Question::Stored);
        }
        asked.sort_unstable();
        if pair.is_same() {
            answers
                .extend(asked.into_iter().map(|question| pair.safe(question, "nothing changed")));
            continue;
        }
        if let Some(reason) = pair.unreadable() {
            let of = |question| preserved::answers(&pair, question, &reason);
            answers.extend(asked.into_iter().flat_map(of));
            continue;
        }
        for question in asked {
            answers.extend(match question {
                Question::Writers => writers::answers(&pair),
                Question::Stored => stored::answers(&pair),
                Question::Readers => readers::answers(&pair),
                _ => merging::answers(&pair),
            });
        }
    }
    answers.extend(pairs::answers(&old_sides, &new_sides, &bare));
    let is_same = deep_eq(old, new);
    answers.extend(definition::answers(
        old,
        new,
        (&old_crd, &new_crd),
        is_same,
        options.kubernetes,
    ));
    Ok(comparison)
}
