//! Default classes of storage, ingresses and pods (BK-482, BK-564).

use billhook::DeepValue;
use billhook_admission::PluginRequest;
use billhook_apimachinery::Status;
use billhook_apimachinery::record::text;
use billhook_decode::ObjectView;
use serde_json::Value;

use super::forbidden;
use crate::shared::Shared;

const DEFAULT_STORAGE_CLASS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];
const DEFAULT_INGRESS_CLASS: [&str; 1] = ["ingressclass.kubernetes.io/is-default-class"];

/// Sets the default class of a claim that names none.
pub(super) fn set_storage_class(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let class = default_of(server, "storageclasses", &DEFAULT_STORAGE_CLASS);
    set_class(request, "storageClassName", "volume.beta.kubernetes.io/storage-class", class);
    Ok(())
}

/// Sets the default class of an ingress that names none.
pub(super) fn set_ingress_class(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let class = default_of(server, "ingressclasses", &DEFAULT_INGRESS_CLASS);
    set_class(request, "ingressClassName", "kubernetes.io/ingress.class", class);
    Ok(())
}

fn set_class(
    request: &mut PluginRequest<'_>,
    field: &str,
    annotation: &str,
    class: Option<DeepValue>,
) {
    let Some(name) = class.and_then(|class| class.pointer("/metadata/name").cloned()) else {
        return;
    };
    let has_class = request.object().is_none_or(|object| {
        let annotations = object.pointer("/metadata/annotations");
        object.get("spec").is_some_and(|spec| spec.get(field).is_some())
            || annotations.is_some_and(|all| all.get(annotation).is_some())
    });
    if !has_class
        && let Some(Value::Object(spec)) =
            request.object_mut().and_then(|object| object.get_mut("spec"))
    {
        spec.insert(field.to_owned(), name);
    }
}

/// The class that an annotation makes the default: of several the newest, then by name.
fn default_of(server: &Shared, resource: &str, annotations: &[&str]) -> Option<DeepValue> {
    let group = match resource {
        "storageclasses" => "storage.k8s.io",
        _ => "networking.k8s.io",
    };
    let mut classes = server.read_objects_if(group, resource, "", |class| {
        let all = class.at(["metadata", "annotations"]);
        let is_true = |name: &str| all?.get(name)?.as_str().map(|value| value == "true");
        annotations.iter().any(|annotation| is_true(annotation) == Some(true))
    });
    let metadata = |class: &DeepValue, name: &str| {
        class.get("metadata").map_or("", |metadata| text(metadata, name)).to_owned()
    };
    classes.sort_by(|a, b| {
        let created = |class| metadata(class, "creationTimestamp");
        created(b).cmp(&created(a)).then_with(|| metadata(a, "name").cmp(&metadata(b, "name")))
    });
    classes.into_iter().next()
}

/// Returns the priority classes that are the default of pods.
pub(super) fn default_priorities(server: &Shared) -> Vec<DeepValue> {
    let is_default = |class: ObjectView<'_>| class.get("globalDefault")?.as_bool();
    server.read_objects_if("scheduling.k8s.io", "priorityclasses", "", |class| {
        is_default(class) == Some(true)
    })
}

/// There is one default priority class at most.
pub(super) fn check_priority_class(
    server: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    let Some(class) = request.object() else { return Ok(()) };
    if class.get("globalDefault") != Some(&Value::Bool(true)) {
        return Ok(());
    }
    let name = |class: &Value| class.get("metadata").map_or("", |all| text(all, "name")).to_owned();
    let own = name(class);
    match default_priorities(server).iter().find(|other| name(other) != own) {
        Some(other) => {
            let why = format!(
                "PriorityClass {} is already marked as default. Only one default can exist",
                name(other)
            );
            Err(forbidden(request.attributes(), &why))
        }
        None => Ok(()),
    }
}
