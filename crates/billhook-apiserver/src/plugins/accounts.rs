//! The accounts of pods: programs in them are known to the server by a token (BK-565).

use billhook_admission::PluginRequest;
use billhook_apimachinery::Status;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::text;
use serde_json::{Value, json};

use super::forbidden;
use super::pods::spec_of;
use crate::shared::Shared;
use crate::write_path::object_key;

/// The account of pods that name none.
const DEFAULT: &str = "default";
/// The beginning of the names of volumes with tokens, and where containers find them.
const VOLUME: &str = "kube-api-access-";
const PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Sets the account of a pod, the secrets by which this pulls images, and a volume with its token.
pub(super) fn set_account(server: &Shared, request: &mut PluginRequest<'_>) -> Result<(), Status> {
    let attributes = request.attributes();
    let namespace = attributes.namespace.clone();
    let pod = request.object().unwrap_or(&Value::Null);
    if pod.pointer("/metadata/annotations/kubernetes.io~1config.mirror").is_some() {
        return Ok(());
    }
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let name = match text(spec, "serviceAccountName") {
        "" => DEFAULT.to_owned(),
        name => name.to_owned(),
    };
    let account = server.read_object("", "serviceaccounts", &object_key(&namespace, &name));
    // The account of a new namespace is about to be created, which a server waits for.
    if account.is_none() && name != DEFAULT {
        let why = format!(
            "error looking up service account {namespace}/{name}: serviceaccount {} not found",
            quote(&name)
        );
        return Err(forbidden(attributes, &why));
    }
    let account = account.as_deref().unwrap_or(&Value::Null);
    let wants = |holder: &Value| holder.get("automountServiceAccountToken")?.as_bool();
    let is_mounted = wants(spec).or_else(|| wants(account)).unwrap_or(true);
    let secrets =
        account.get("imagePullSecrets").filter(|_| spec.get("imagePullSecrets").is_none());
    let secrets = secrets.cloned();
    let Some(spec) = spec_of(request) else { return Ok(()) };
    spec.insert("serviceAccountName".to_owned(), name.as_str().into());
    spec.insert("serviceAccount".to_owned(), name.into());
    if let Some(secrets) = secrets {
        spec.insert("imagePullSecrets".to_owned(), secrets);
    }
    if !is_mounted {
        return Ok(());
    }
    let volumes = spec.get("volumes").and_then(Value::as_array).into_iter().flatten();
    let known = volumes.map(|volume| text(volume, "name")).find(|name| name.starts_with(VOLUME));
    let is_known = known.is_some();
    let volume = known.map_or_else(|| new_volume(server), str::to_owned);
    let mut is_needed = false;
    for list in ["initContainers", "containers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            let mounts = container.entry("volumeMounts").or_insert_with(|| json!([]));
            let Some(mounts) = mounts.as_array_mut() else { continue };
            if !mounts.iter().any(|mount| text(mount, "mountPath") == PATH) {
                mounts.push(json!({"name": volume, "readOnly": true, "mountPath": PATH}));
                is_needed = true;
            }
        }
    }
    if is_needed
        && !is_known
        && let Some(volumes) = spec.entry("volumes").or_insert_with(|| json!([])).as_array_mut()
    {
        volumes.push(json!({"name": volume, "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {
                "name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}],
            }},
            {"downwardAPI": {"items": [{
                "path": "namespace",
                "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
            }]}},
        ]}}));
    }
    Ok(())
}

/// The name of a new volume, which ends as generated names do.
fn new_volume(server: &Shared) -> String {
    format!("{VOLUME}{}", server.settings.server_fields().name_suffix)
}
