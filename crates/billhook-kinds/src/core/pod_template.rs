//! Templates of pods in workloads, and PodTemplates (BK-115).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::{FieldPath, KubernetesVersion};
use serde_json::Value;

use super::pod::defaults;
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::values::{items, object_mut, text};

/// Sets the defaults of a template.
pub(crate) fn set_defaults(template: &mut Value, kubernetes: KubernetesVersion) {
    defaults::remove_old_annotations(template);
    if let Some(spec) = object_mut(template, "/spec") {
        defaults::of_spec(spec, kubernetes);
    }
}

/// Validates a template at a path.
pub(crate) fn validate(
    _template: &Value,
    _path: &FieldPath,
    _context: &WriteContext<'_>,
    _found: &mut Findings,
) {
}

/// Returns the cells of the names of a template's containers and of their images (BK-722).
pub(crate) fn container_cells(template: &Value) -> [Value; 2] {
    ["/name", "/image"].map(|member| {
        let containers = items(template, "/spec/containers").iter();
        containers.map(|container| text(container, member)).collect::<Vec<_>>().join(",").into()
    })
}

/// The rules of PodTemplates.
#[derive(Debug)]
pub(crate) struct PodTemplate;

impl Behavior for PodTemplate {
    fn set_defaults(&self, object: &mut Value, kubernetes: KubernetesVersion) {
        if let Some(template) = object_mut(object, "/template") {
            set_defaults(template, kubernetes);
        }
    }

    fn cells(&self, object: &Value, _: Time) -> Vec<Value> {
        let [names, images] = object.get("template").map(container_cells).unwrap_or_default();
        vec![cells::name(object), names, images, cells::labels(object, "/template/metadata/labels")]
    }
}
