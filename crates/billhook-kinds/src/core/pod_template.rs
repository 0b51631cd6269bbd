//! Templates of pods in workloads, and PodTemplates (BK-115).

use billhook_apimachinery::metadata::{Time, validate_annotations};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, Location};
use serde_json::Value;

use super::pod::warnings::warnings;
use super::pod::{annotations, defaults, spec};
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::values::{items, object_mut, path, text, value_at};
use crate::workloads::warn_of_changes;
use crate::{cells, rules};

/// Sets the defaults of a template.
pub(crate) fn set_defaults(template: &mut Value, kubernetes: KubernetesVersion) {
    defaults::remove_old_annotations(template);
    if let Some(spec) = object_mut(template, "/spec") {
        defaults::of_spec(spec, kubernetes);
    }
}

/// Validates a template at a path.
pub(crate) fn validate(
    template: &Value,
    path: &FieldPath,
    context: &WriteContext<'_>,
    found: &mut Findings,
) {
    let errors = &mut found.errors;
    // Servers leave `metadata` out of the paths of these errors.
    let labels = value_at(template, "/metadata/labels");
    rules::labels(errors, &path.clone().name("labels"), labels, context.kubernetes);
    let annotations_path = path.clone().name("annotations");
    if let Some(Value::Object(known)) = value_at(template, "/metadata/annotations") {
        let at = &annotations_path;
        let wording = context.kubernetes.wording();
        errors.extend(validate_annotations(known, &Location::at(at), wording));
    }
    annotations::validate(errors, &annotations_path, template);
    let Some(own) = template.get("spec") else { return };
    let at = path.clone().name("spec");
    spec::validate(found, &at, own, None, context);
    if !items(own, "/ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        let path = at.clone().name("ephemeralContainers");
        found.errors.push(FieldError::forbidden(path, detail));
    }
    if found.errors.is_empty() {
        found.warnings.extend(warnings(path, template, context.kubernetes));
    }
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

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if let Some(template) = object.get("template") {
            validate(template, &path(&["template"]), context, found);
            warn_of_changes(found, 0, "/template", object, old);
        }
    }

    fn cells(&self, object: &Value, _: Time) -> Vec<Value> {
        let [names, images] = object.get("template").map(container_cells).unwrap_or_default();
        vec![cells::name(object), names, images, cells::labels(object, "/template/metadata/labels")]
    }
}
