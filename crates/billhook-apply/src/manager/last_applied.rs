//! The annotation in which client-side apply keeps its last configuration (SA-85, SA-86).

use billhook_apimachinery::print::plain_json;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::value::deep_clone;
use billhook_decode::read_json;
use serde_json::{Map, Value};

use super::FieldManager;
use crate::field_set::FieldSet;
use crate::type_check::Duplicates;
use crate::typed_value::TypedValue;

/// The annotation.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The only manager that it means something to.
const KUBECTL: &str = "kubectl";
/// The size of all annotations, from which on this one is deleted.
const MAX_ANNOTATIONS: usize = 256 * 1024;

impl FieldManager<'_> {
    /// Whether the annotation means something to the manager.
    fn is_kubectl(&self) -> bool {
        self.manager == KUBECTL
    }

    /// Returns the fields of the manager's own client-side applies that still have the values of
    /// then (SA-85).
    pub(super) fn fields_of_last_applied(&self, live: TypedValue<'_>) -> Option<FieldSet> {
        self.is_kubectl().then_some(())?;
        let text = annotations(live.value())?.get(LAST_APPLIED)?.as_str()?;
        let configuration = read_json(text.as_bytes()).ok()?.into_value();
        let text = |name: &str| configuration.get(name).and_then(Value::as_str);
        text("kind").filter(|kind| !kind.is_empty())?;
        text("apiVersion").filter(|api_version| *api_version == self.api_version)?;
        let schema = self.schema().ok()?;
        let applied = schema.check(&configuration, Duplicates::Refused).ok()?;
        let live = schema.check(live.value(), Duplicates::Refused).ok()?;
        let since = applied.compare(live);
        let changed = since.modified.union(&since.added).union(&since.removed);
        Some(applied.field_set().difference(&changed))
    }

    /// Sets the annotation of an applied object to the configuration, if the object has the
    /// annotation and the manager is `kubectl` (SA-86).
    pub fn update_last_applied(&self, object: &mut DeepValue, configuration: &Value) {
        if !self.is_kubectl() || !is_set(object) {
            return;
        }
        let mut configuration = DeepValue::from(deep_clone(configuration));
        if let Some(annotations) = annotations_mut(&mut configuration) {
            annotations.remove(LAST_APPLIED);
        }
        let Some(annotations) = annotations_mut(object) else { return };
        let text = compact(&configuration);
        annotations.insert(LAST_APPLIED.to_owned(), Value::from(text));
        let size =
            |(name, value): (&String, &Value)| name.len() + value.as_str().map_or(0, str::len);
        if annotations.iter().map(size).sum::<usize>() > MAX_ANNOTATIONS {
            annotations.remove(LAST_APPLIED);
        }
    }
}

/// Whether an object has the annotation.
fn is_set(object: &Value) -> bool {
    let text = annotations(object).and_then(|all| all.get(LAST_APPLIED)?.as_str());
    text.is_some_and(|text| !text.is_empty())
}

fn compact(configuration: &Value) -> String {
    let mut text = plain_json(configuration);
    text.push('\n');
    text
}

fn annotations(object: &Value) -> Option<&Map<String, Value>> {
    object.pointer("/metadata/annotations")?.as_object()
}

fn annotations_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.pointer_mut("/metadata/annotations")?.as_object_mut()
}
