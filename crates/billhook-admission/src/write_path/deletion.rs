//! Deletions: their options, and objects that wait for their finalizers (RE-76, RE-111 to RE-114).

use billhook_apimachinery::metadata::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER, Time};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{FieldError, FieldPath, Status, record};
use serde_json::{Map, Value};

use crate::object_model::metadata_member;

record! {
    /// The options of a deletion (RE-20).
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct DeleteOptions = "DeleteOptions" {
        /// How many seconds the object has left. Custom resources have no graceful deletion: only
        /// webhooks see it.
        pub grace_period_seconds: Option<i64> = "gracePeriodSeconds" [1],
        /// Conditions that the stored object must meet.
        pub preconditions: Option<Box<Preconditions>> = "preconditions" [2],
        /// The older form of the propagation policies `Orphan` and `Background`.
        pub orphan_dependents: Option<bool> = "orphanDependents" [3],
        /// The fate of dependents: `Orphan`, `Background` or `Foreground`.
        pub propagation_policy: Option<String> = "propagationPolicy" [4] of "v1.DeletionPropagation",
        /// `All` for a dry run.
        pub dry_run: Vec<String> = "dryRun" [5],
    }

    /// The preconditions of a deletion.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Preconditions = "Preconditions" {
        /// Its UID; none if any will do.
        pub uid: Option<String> = "uid" [1] as "UID" of "types.UID",
        /// Its resource version; none if any will do.
        pub resource_version: Option<String> = "resourceVersion" [2],
    }
}

/// The fate of an object's dependents.
#[derive(Clone, Copy, PartialEq)]
enum Policy {
    Orphan,
    Foreground,
    Background,
}

impl DeleteOptions {
    /// Returns the errors in the options (RE-21).
    pub fn validate(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        if let Some(policy) = self.propagation_policy.as_deref() {
            let path = || FieldPath::default().name("propagationPolicy");
            if self.orphan_dependents.is_some() {
                let why = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(FieldError::invalid(path(), policy, why));
            }
            if !matches!(policy, "Foreground" | "Background" | "Orphan") {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported(path(), policy, known));
            }
        }
        if self.dry_run.iter().any(|directive| directive != "All") {
            let path = FieldPath::default().name("dryRun");
            errors.push(FieldError::not_supported(path, self.dry_run.clone(), ["All"]));
        }
        errors
    }

    pub(super) fn check(&self) -> Result<(), Status> {
        match self.validate().as_slice() {
            [] => Ok(()),
            errors => Err(Status::invalid("meta.k8s.io", "DeleteOptions", "", errors)),
        }
    }

    /// Whether the request decides the fate of dependents.
    pub(super) fn has_policy(&self) -> bool {
        self.orphan_dependents.is_some() || self.propagation_policy.is_some()
    }

    /// The options of a deletion that decides nothing about dependents.
    pub(super) fn without_policy(&self) -> Self {
        DeleteOptions { orphan_dependents: None, propagation_policy: None, ..self.clone() }
    }

    fn policy(&self) -> Option<Policy> {
        match (self.orphan_dependents, self.propagation_policy.as_deref()) {
            (Some(true), _) | (None, Some("Orphan")) => Some(Policy::Orphan),
            (Some(false), _) | (None, Some("Background")) => Some(Policy::Background),
            (None, Some("Foreground")) => Some(Policy::Foreground),
            _ => None,
        }
    }

    /// The finalizers of an object after its deletion was asked for (RE-114).
    pub(super) fn finalizers(&self, object: &Value) -> Vec<Value> {
        let mut finalizers = finalizers(object).to_vec();
        let Some(policy) = self.policy() else { return finalizers };
        let wanted = match policy {
            Policy::Orphan => ORPHAN_FINALIZER,
            Policy::Foreground => FOREGROUND_FINALIZER,
            Policy::Background => "",
        };
        let others = [ORPHAN_FINALIZER, FOREGROUND_FINALIZER];
        finalizers.retain(|found| *found == wanted || others.iter().all(|other| found != other));
        if !wanted.is_empty() && !finalizers.iter().any(|found| *found == wanted) {
            finalizers.push(wanted.into());
        }
        finalizers
    }

    /// The object that a deletion leaves until its finalizers are removed; none if nothing keeps it
    /// (RE-111).
    pub(super) fn marked(
        &self,
        object: &Value,
        now: &str,
        orphans_by_default: bool,
    ) -> Option<DeepValue> {
        let mut finalizers = self.finalizers(object);
        let says_nothing = self.policy().is_none()
            && [ORPHAN_FINALIZER, FOREGROUND_FINALIZER]
                .iter()
                .all(|it| !finalizers.contains(&Value::from(*it)));
        if orphans_by_default && says_nothing {
            finalizers.push(ORPHAN_FINALIZER.into());
        }
        if finalizers.is_empty() {
            return None;
        }
        let mut marked = DeepValue::from(deep_clone(object));
        let metadata = marked.get_mut("metadata").and_then(Value::as_object_mut)?;
        metadata.insert("finalizers".to_owned(), Value::Array(finalizers));
        mark(metadata, now);
        Some(marked)
    }
}

/// The deletion of an object that has some time left.
#[derive(Debug)]
pub(super) enum Graceful {
    /// The object stays as it is.
    Unchanged,
    /// The object waits for the end of its time, or for its finalizers.
    Stays(DeepValue),
    /// The object is marked, and removed at once.
    Ends(DeepValue),
}

impl DeleteOptions {
    /// Returns the outcome of a deletion that leaves the object so many seconds (BK-109).
    pub(super) fn graceful(&self, object: &Value, grace: i64, now: Time) -> Option<Graceful> {
        let finalizers = self.finalizers(object);
        let is_kept = !finalizers.is_empty();
        let mut marked = DeepValue::from(deep_clone(object));
        let metadata = marked.get_mut("metadata").and_then(Value::as_object_mut)?;
        let since = metadata.get("deletionTimestamp").and_then(Value::as_str);
        let (grace, end) = match since.and_then(|since| Time::parse(since).ok()) {
            None => {
                let generation = metadata.get("generation").and_then(Value::as_i64).unwrap_or(0);
                if generation > 0 {
                    metadata.insert("generation".to_owned(), generation.saturating_add(1).into());
                }
                (grace, now.plus_seconds(grace))
            }
            Some(end) => {
                let pending = metadata.get("deletionGracePeriodSeconds").and_then(Value::as_i64);
                let pending = pending.unwrap_or_default();
                let is_later = self.grace_period_seconds.is_none() || grace >= pending;
                if is_later && (pending > 0 || is_kept) {
                    return Some(Graceful::Unchanged);
                }
                match end.plus_seconds(grace - pending) {
                    end if end < now && grace > 0 => (1, now),
                    end => (grace, end.max(now)),
                }
            }
        };
        if is_kept {
            metadata.insert("finalizers".to_owned(), Value::Array(finalizers));
        }
        metadata.insert("deletionTimestamp".to_owned(), end.to_rfc3339().into());
        metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
        let ends = grace == 0 && !is_kept;
        Some(if ends { Graceful::Ends(marked) } else { Graceful::Stays(marked) })
    }
}

fn mark(metadata: &mut Map<String, Value>, now: &str) {
    let since = metadata.get("deletionTimestamp").and_then(Value::as_str);
    let is_over = since.is_some_and(|since| since <= now);
    if since.is_none() {
        // Objects without one get none (BK-11).
        let generation = metadata.get("generation").and_then(Value::as_i64).unwrap_or(0);
        if generation > 0 {
            metadata.insert("generation".to_owned(), generation.saturating_add(1).into());
        }
    }
    if !is_over {
        metadata.insert("deletionTimestamp".to_owned(), now.into());
    }
    // Those of definitions have none at first (LC-51).
    metadata.insert("deletionGracePeriodSeconds".to_owned(), 0.into());
}

fn finalizers(object: &Value) -> &[Value] {
    let found = metadata_member(object, "finalizers").and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

/// Whether an update removes the last finalizer of an object that is being deleted (RE-76).
pub(super) fn ends_deletion(old: &Value, new: &Value) -> bool {
    let grace = metadata_member(old, "deletionGracePeriodSeconds");
    metadata_member(old, "deletionTimestamp").is_some()
        && grace.is_none_or(|grace| *grace == 0)
        && finalizers(new).is_empty()
}
