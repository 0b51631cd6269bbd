//! Volumes of storage systems (BK-105).

use billhook_apimachinery::names::{dns1123_subdomain, lower_case};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{descending_path, member, member_text, one_of_member, required};
use crate::rules::{invalid, named, one_of};
use crate::values::{integer, items, members, text};

/// Members that sources need.
const REQUIRED: [(&str, &[&str]); 14] = [
    ("gitRepo", &["repository"]),
    ("gcePersistentDisk", &["pdName"]),
    ("awsElasticBlockStore", &["volumeID"]),
    ("nfs", &["server", "path"]),
    ("glusterfs", &["endpoints", "path"]),
    ("cinder", &["volumeID"]),
    ("flexVolume", &["driver"]),
    ("azureFile", &["secretName", "shareName"]),
    ("vsphereVolume", &["volumePath"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("storageos", &["volumeName"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
];

/// Checks the source of a volume.
pub(super) fn validate(errors: &mut Vec<FieldError>, path: &FieldPath, kind: &str, source: &Value) {
    let needed = REQUIRED.iter().find(|(name, _)| *name == kind).map(|(_, needed)| *needed);
    for name in needed.unwrap_or_default() {
        required(errors, path, source, name);
    }
    match kind {
        "gitRepo" => {
            descending_path(errors, &path.clone().name("directory"), text(source, "/directory"));
        }
        "gcePersistentDisk" | "awsElasticBlockStore" => partition(errors, path, source),
        "nfs" => {
            if let Some(place) = member_text(source, "path").filter(|path| !path.starts_with('/')) {
                invalid(errors, &path.clone().name("path"), place, ["must be an absolute path"]);
            }
        }
        "cinder" | "storageos" => secret_name(errors, path, source, "secretRef"),
        "flexVolume" => reserved_options(errors, path, source),
        "azureDisk" => azure_disk(errors, path, source),
        "csi" => csi(errors, path, source),
        "iscsi" => iscsi(errors, path, source),
        "fc" => fibre_channel(errors, path, source),
        "flocker" => flocker(errors, path, source),
        "rbd" | "cephfs" => {
            if items(source, "/monitors").is_empty() {
                errors.push(FieldError::required(path.clone().name("monitors"), ""));
            }
            if kind == "rbd" {
                required(errors, path, source, "image");
            }
        }
        "quobyte" => quobyte(errors, path, source),
        _ => {}
    }
}

fn partition(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    let number = integer(source, "/partition").unwrap_or_default();
    if !(0..=255).contains(&number) {
        let detail = "must be between 1 and 255, inclusive";
        invalid(errors, &path.clone().name("partition"), number, [detail]);
    }
}

fn secret_name(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value, name: &str) {
    if let Some(secret) = member(source, name) {
        required(errors, &path.clone().name(name), secret, "name");
    }
}

fn reserved_options(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    for (key, _) in members(source, "/options") {
        let domain = key.split('/').next().unwrap_or_default().to_ascii_lowercase();
        let is_reserved =
            |reserved: &str| domain == reserved || domain.ends_with(&format!(".{reserved}"));
        if is_reserved("kubernetes.io") || is_reserved("k8s.io") {
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            invalid(errors, &path.clone().name("options").key(key), key, [detail]);
        }
    }
}

fn azure_disk(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    one_of_member(errors, path, source, "cachingMode", &["None", "ReadOnly", "ReadWrite"]);
    one_of_member(errors, path, source, "kind", &["Dedicated", "Managed", "Shared"]);
    let (kind, uri) = (text(source, "/kind"), text(source, "/diskURI"));
    let at = path.clone().name("diskURI");
    let of_group = uri.starts_with("/subscriptions/");
    if kind == "Managed" && !of_group {
        let supported = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/\
                         microsoft.compute/disks/{disk-id}";
        one_of(errors, &at, uri, &[supported]);
    } else if matches!(kind, "Dedicated" | "Shared") && !uri.starts_with("https://") {
        let supported =
            "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
        one_of(errors, &at, uri, &[supported]);
    }
}

fn csi(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    if required(errors, path, source, "driver") {
        let (driver, at) = (text(source, "/driver"), path.clone().name("driver"));
        if driver.len() > 63 {
            errors.push(FieldError::too_long(at.clone(), 63));
        }
        invalid(errors, &at, driver, dns1123_subdomain(&lower_case(driver)));
    }
    if let Some(secret) = member(source, "nodePublishSecretRef") {
        let path = path.clone().name("nodePublishSecretRef");
        if required(errors, &path, secret, "name") {
            named(errors, &path.name("name"), text(secret, "/name"), dns1123_subdomain);
        }
    }
}

fn iscsi(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    required(errors, path, source, "targetPortal");
    if required(errors, path, source, "iqn") {
        qualified_initiator(errors, &path.clone().name("iqn"), text(source, "/iqn"));
    }
    unit(errors, path, source);
    let needs_secret = ["chapAuthDiscovery", "chapAuthSession"];
    let needs_secret = needs_secret.iter().any(|name| source.get(name) == Some(&Value::Bool(true)));
    if needs_secret && member(source, "secretRef").is_none() {
        errors.push(FieldError::required(path.clone().name("secretRef"), ""));
    }
    if let Some(name) = member(source, "initiatorName").and_then(Value::as_str) {
        qualified_initiator(errors, &path.clone().name("initiatorname"), name);
    }
}

fn qualified_initiator(errors: &mut Vec<FieldError>, path: &FieldPath, name: &str) {
    if !["iqn", "eui", "naa"].iter().any(|prefix| name.starts_with(prefix)) {
        invalid(errors, path, name, ["must be valid format starting with iqn, eui, or naa"]);
    }
}

fn unit(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    let number = integer(source, "/lun").unwrap_or_default();
    if !(0..=255).contains(&number) {
        let detail = "must be between 0 and 255, inclusive";
        invalid(errors, &path.clone().name("lun"), number, [detail]);
    }
}

fn fibre_channel(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    let targets = items(source, "/targetWWNs");
    let at = path.clone().name("targetWWNs");
    match (targets.is_empty(), items(source, "/wwids").is_empty()) {
        (true, true) => {
            let detail = "must specify either targetWWNs or wwids, but not both";
            errors.push(FieldError::required(at, detail));
        }
        (false, false) => {
            let detail = "targetWWNs and wwids can not be specified simultaneously";
            invalid(errors, &at, targets, [detail]);
        }
        (false, true) if member(source, "lun").is_none() => {
            let detail = "lun is required if targetWWNs is specified";
            errors.push(FieldError::required(path.clone().name("lun"), detail));
        }
        (false, true) => unit(errors, path, source),
        (true, false) => {}
    }
}

fn flocker(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    match (member_text(source, "datasetName"), member_text(source, "datasetUUID")) {
        (None, None) => {
            let detail = "one of datasetName and datasetUUID is required";
            errors.push(FieldError::required(path.clone(), detail));
        }
        (Some(_), Some(_)) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            invalid(errors, path, "resource", [detail]);
        }
        (Some(name), None) if name.contains('/') => {
            invalid(errors, &path.clone().name("datasetName"), name, ["must not contain '/'"]);
        }
        _ => {}
    }
}

fn quobyte(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    let detail = "must be a host:port pair or multiple pairs separated by commas";
    let registry = text(source, "/registry");
    let at = path.clone().name("registry");
    let is_pair = |pair: &str| pair.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty());
    if registry.is_empty() {
        errors.push(FieldError::required(at, detail));
    } else if !registry.split(',').all(is_pair) {
        invalid(errors, &at, registry, [detail]);
    }
    if text(source, "/tenant").len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.push(FieldError::required(path.clone().name("tenant"), detail));
    }
    required(errors, path, source, "volume");
}
