//! Claims, volumes and nodes (BK-430, BK-432, BK-483, BK-564).

use billhook_admission::PluginRequest;
use billhook_apimachinery::record::text;
use billhook_apimachinery::{Quantity, Status};
use serde_json::{Value, json};

use super::forbidden;
use crate::shared::Shared;

/// A new node is not ready.
pub(super) fn add_taint(_: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let is_it = |found: &Value| {
        ["key", "effect"].iter().all(|name| text(found, name) == text(&taint, name))
    };
    let spec = request.object_mut().and_then(Value::as_object_mut);
    let spec = spec.map(|node| node.entry("spec").or_insert_with(|| json!({})));
    if let Some(Value::Object(spec)) = spec
        && let Value::Array(taints) = spec.entry("taints").or_insert_with(|| json!([]))
        && !taints.iter().any(is_it)
    {
        taints.push(taint);
    }
    Ok(())
}

/// A claim stays as long as pods use it.
pub(super) fn protect_claim(_: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    add_finalizer(request, "kubernetes.io/pvc-protection");
    Ok(())
}

/// A volume stays as long as it is bound.
pub(super) fn protect_volume(_: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    add_finalizer(request, "kubernetes.io/pv-protection");
    Ok(())
}

/// A class stays as long as volumes use it.
pub(super) fn protect_attributes_class(
    _: &Shared,
    request: &mut PluginRequest<'_>,
) -> Result<(), Status> {
    add_finalizer(request, "kubernetes.io/vac-protection");
    Ok(())
}

fn add_finalizer(request: &mut PluginRequest<'_>, finalizer: &str) {
    let metadata = request.object_mut().and_then(|object| object.get_mut("metadata"));
    if let Some(Value::Object(metadata)) = metadata
        && let Value::Array(all) = metadata.entry("finalizers").or_insert_with(|| json!([]))
        && !all.iter().any(|known| known == finalizer)
    {
        all.push(finalizer.into());
    }
}

/// A claim grows only if it is bound, and if its class allows it.
pub(super) fn check_growth(server: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let attributes = request.attributes();
    let (Some(claim), Some(old)) = (request.object(), attributes.old_object.as_deref()) else {
        return Ok(());
    };
    let size = |claim: &Value| {
        let size = claim.pointer("/spec/resources/requests/storage").and_then(Value::as_str)?;
        size.parse::<Quantity>().ok()
    };
    if size(claim) <= size(old) {
        return Ok(());
    }
    if old.get("status").is_none_or(|status| text(status, "phase") != "Bound") {
        let why = "Only bound persistent volume claims can be expanded";
        return Err(forbidden(attributes, why));
    }
    let class = claim.get("spec").map_or("", |spec| text(spec, "storageClassName"));
    let class = server.read_object("storage.k8s.io", "storageclasses", class);
    if class.is_some_and(|class| class.get("allowVolumeExpansion") == Some(&Value::Bool(true))) {
        return Ok(());
    }
    let why = "only dynamically provisioned pvc can be resized and the storageclass that provisions \
               the pvc must support resize";
    Err(forbidden(attributes, why))
}
