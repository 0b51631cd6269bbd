//! The options of a deletion, and what is left of an object (RE-110 to RE-115).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath, Status};
use billhook_decode::read_json;
use serde_json::{Map, Value};

use super::options::{dry_run, invalid};
use crate::request::Request;

/// The fate of the objects that depend on a deleted one (RE-114).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Propagation {
    Orphan,
    Foreground,
    Background,
}

/// The options of a deletion.
#[derive(Clone, Debug, Default)]
pub(super) struct Deletion {
    pub(super) dry_run: bool,
    propagation: Option<Propagation>,
    /// Whether `orphanDependents: false` was said (RE-115).
    pub(super) keeps_no_orphans: bool,
    pub(super) uid: String,
    pub(super) resource_version: String,
}

/// The rest of a deleted object.
pub(super) enum Doomed {
    Gone,
    Stays(DeepValue),
}

/// The finalizers that say what becomes of dependents.
const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

impl Deletion {
    /// Reads the options: the body, or the query if the body is empty (RE-110).
    pub(super) fn read(request: &Request) -> Result<Self, Status> {
        let mut errors = Vec::new();
        let deletion = if request.body.is_empty() {
            request.query.check()?;
            Self::of_query(request, &mut errors)
        } else {
            Self::of_body(&request.body, &mut errors)?
        };
        invalid("DeleteOptions", &errors)?;
        Ok(deletion)
    }

    fn of_query(request: &Request, errors: &mut Vec<FieldError>) -> Self {
        let query = &request.query;
        let orphans = query.get("orphanDependents").map(|_| query.flag("orphanDependents"));
        Deletion {
            dry_run: dry_run(query, errors),
            propagation: propagation(orphans, query.get("propagationPolicy"), errors),
            keeps_no_orphans: orphans == Some(false),
            uid: query.text("uid").to_owned(),
            resource_version: query.text("resourceVersion").to_owned(),
        }
    }

    fn of_body(body: &[u8], errors: &mut Vec<FieldError>) -> Result<Self, Status> {
        let options = read_json(body).map_err(|error| Status::bad_request(error.to_string()))?;
        let options = options.into_value();
        let text = |place: &str| options.pointer(place).and_then(Value::as_str);
        let dry_runs = options.get("dryRun").and_then(Value::as_array).cloned().unwrap_or_default();
        if dry_runs.iter().any(|value| value != "All") {
            let path = FieldPath::default().name("dryRun");
            errors.push(FieldError::not_supported(path, dry_runs.clone(), ["All"]));
        }
        let orphans = options.get("orphanDependents").and_then(Value::as_bool);
        Ok(Deletion {
            dry_run: !dry_runs.is_empty(),
            propagation: propagation(orphans, text("/propagationPolicy"), errors),
            keeps_no_orphans: orphans == Some(false),
            uid: text("/preconditions/uid").unwrap_or_default().to_owned(),
            resource_version: text("/preconditions/resourceVersion").unwrap_or_default().to_owned(),
        })
    }

    /// Takes what can go, and marks an object that must stay for its finalizers (RE-111, RE-114).
    pub(super) fn mark(&self, mut object: DeepValue, now: &str) -> Doomed {
        let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return Doomed::Gone };
        self.set_finalizers(metadata);
        if !metadata.contains_key("finalizers") {
            return Doomed::Gone;
        }
        if !is_marked(metadata, now) {
            metadata.insert("deletionTimestamp".to_owned(), now.into());
            let generation = metadata.get("generation").and_then(Value::as_i64).unwrap_or_default();
            metadata.insert("generation".to_owned(), (generation + 1).into());
        }
        metadata.insert("deletionGracePeriodSeconds".to_owned(), 0.into());
        Doomed::Stays(object)
    }

    fn set_finalizers(&self, metadata: &mut Map<String, Value>) {
        let mut finalizers = match metadata.remove("finalizers") {
            Some(Value::Array(finalizers)) => finalizers,
            _ => Vec::new(),
        };
        let added = match self.propagation {
            Some(Propagation::Orphan) => Some(ORPHAN),
            Some(Propagation::Foreground) => Some(FOREGROUND),
            Some(Propagation::Background) | None => None,
        };
        if self.propagation.is_some() {
            finalizers.retain(|kept| {
                !matches!(kept.as_str(), Some(ORPHAN | FOREGROUND)) || kept.as_str() == added
            });
        }
        if let Some(added) = added.filter(|added| !finalizers.iter().any(|kept| kept == added)) {
            finalizers.push(added.into());
        }
        if !finalizers.is_empty() {
            metadata.insert("finalizers".to_owned(), Value::Array(finalizers));
        }
    }
}

/// Whether an object is being deleted already, and not only in the future.
fn is_marked(metadata: &Map<String, Value>, now: &str) -> bool {
    let marked = metadata.get("deletionTimestamp").and_then(Value::as_str);
    let (Some(marked), Ok(now)) = (marked, Time::parse(now)) else { return marked.is_some() };
    Time::parse(marked).is_ok_and(|marked| marked.to_rfc3339() <= now.to_rfc3339())
}

fn propagation(
    orphans: Option<bool>,
    policy: Option<&str>,
    errors: &mut Vec<FieldError>,
) -> Option<Propagation> {
    let path = || FieldPath::default().name("propagationPolicy");
    if let (Some(_), Some(policy)) = (orphans, policy) {
        let detail = "orphanDependents and deletionPropagation cannot be both set";
        errors.push(FieldError::invalid(path(), policy, detail));
        return None;
    }
    match policy {
        Some("Orphan") => Some(Propagation::Orphan),
        Some("Foreground") => Some(Propagation::Foreground),
        Some("Background") => Some(Propagation::Background),
        Some(other) => {
            let supported = ["Foreground", "Background", "Orphan", "nil"];
            errors.push(FieldError::not_supported(path(), other, supported));
            None
        }
        None => orphans.map(|orphans| match orphans {
            true => Propagation::Orphan,
            false => Propagation::Background,
        }),
    }
}
