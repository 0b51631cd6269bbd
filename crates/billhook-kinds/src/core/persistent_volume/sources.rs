//! The sources of volumes (BK-433).

use std::borrow::Cow;

use billhook_apimachinery::names::dns1123_label;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::{Value, json};

use crate::generated::core_v1::PERSISTENT_VOLUME_SPEC;
use crate::rules::{driver_name, invalid, members_required, one_of};
use crate::values::{integer, items, members, path, set_missing, text};

/// The kinds of sources, in the order in which the server looks at them, with the members that must
/// not be empty.
const SOURCES: [(&str, &[&str]); 22] = [
    ("hostPath", &["path"]),
    ("gcePersistentDisk", &["pdName"]),
    ("awsElasticBlockStore", &["volumeID"]),
    ("glusterfs", &["endpoints", "path"]),
    ("flocker", &[]),
    ("nfs", &["server", "path"]),
    ("rbd", &["image"]),
    ("quobyte", &["volume"]),
    ("cephfs", &[]),
    ("iscsi", &["targetPortal", "iqn"]),
    ("cinder", &["volumeID"]),
    ("fc", &[]),
    ("flexVolume", &["driver"]),
    ("azureFile", &["secretName", "shareName"]),
    ("vsphereVolume", &["volumePath"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("local", &["path"]),
    ("storageos", &["volumeName"]),
    ("csi", &[]),
];

const TYPES_OF_PATHS: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// Returns the sources of a spec alone.
pub(super) fn of(spec: &Value) -> Value {
    let all = SOURCES.iter();
    let own = all.filter_map(|(name, _)| Some(((*name).to_owned(), spec.get(name)?.clone())));
    Value::Object(own.collect())
}

/// Returns the sources of a spec in the server's internal form.
pub(super) fn shown(spec: &Value) -> String {
    let sources = PERSISTENT_VOLUME_SPEC.fields.iter().filter(|field| !field.embedded.is_empty());
    let sources = sources.map(|field| {
        let name = match field.name {
            "cephfs" => Cow::Borrowed("CephFS"),
            "storageos" => Cow::Borrowed("StorageOS"),
            _ => field.go_name(),
        };
        format!("\"{name}\":{}", show(spec.get(field.name), field.type_))
    });
    format!("{{{}}}", sources.collect::<Vec<_>>().join(","))
}

/// Sets the defaults of the sources of a spec.
pub(super) fn set_defaults(spec: &mut Value) {
    for (source, name, default) in [
        ("hostPath", "type", json!("")),
        ("iscsi", "iscsiInterface", json!("default")),
        ("rbd", "pool", json!("rbd")),
        ("rbd", "user", json!("admin")),
        ("rbd", "keyring", json!("/etc/ceph/keyring")),
        ("azureDisk", "cachingMode", json!("ReadWrite")),
        ("azureDisk", "kind", json!("Shared")),
        ("azureDisk", "fsType", json!("ext4")),
        ("azureDisk", "readOnly", json!(false)),
        ("scaleIO", "storageMode", json!("ThinProvisioned")),
        ("scaleIO", "fsType", json!("xfs")),
    ] {
        if let Some(source) = spec.get_mut(source).filter(|source| source.is_object()) {
            set_missing(source, name, default);
        }
    }
}

/// Validates the source of a spec.
pub(super) fn validate(spec: &Value, errors: &mut Vec<FieldError>) {
    let mut has_other = false;
    for (name, required) in SOURCES {
        let Some(source) = spec.get(name).filter(|source| source.is_object()) else { continue };
        // The server writes this name with another letter.
        let at = path(&["spec", if name == "cephfs" { "cephFS" } else { name }]);
        if has_other && name != "flexVolume" {
            let detail = "may not specify more than 1 volume type";
            errors.push(FieldError::forbidden(at, detail));
            continue;
        }
        has_other = true;
        members_required(errors, &at, source, required);
        validate_source(name, source, &at, errors);
        if name == "local" && spec.get("nodeAffinity").is_none() {
            let detail = "Local volume requires node affinity";
            errors.push(FieldError::required(path(&["spec", "nodeAffinity"]), detail));
        }
    }
    if !has_other {
        errors.push(FieldError::required(path(&["spec"]), "must specify a volume type"));
    }
}

fn validate_source(name: &str, source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let of = |name: &str| text(source, name);
    match name {
        "hostPath" | "local" => {
            let at = at.clone();
            if of("path").split('/').any(|part| part == "..") {
                let detail = "must not contain '..'";
                errors.push(FieldError::invalid(at.clone().name("path"), of("path"), detail));
            }
            if name == "hostPath" {
                one_of(errors, &at.name("type"), of("type"), &TYPES_OF_PATHS);
            }
        }
        "nfs" if !of("path").is_empty() && !of("path").starts_with('/') => {
            let at = at.clone().name("path");
            errors.push(FieldError::invalid(at, of("path"), "must be an absolute path"));
        }
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            if let Some(part) = integer(source, "/partition").filter(|n| !(0..=255).contains(n)) {
                let detail = "must be between 1 and 255, inclusive";
                errors.push(FieldError::invalid(at.clone().name("partition"), part, detail));
            }
        }
        "rbd" | "cephfs" if items(source, "/monitors").is_empty() => {
            errors.push(FieldError::required(at.clone().name("monitors"), ""));
        }
        "glusterfs" => {
            let namespace = source.get("endpointsNamespace").map(|_| of("endpointsNamespace"));
            if let Some(namespace) = namespace.filter(|name| !dns1123_label(name).is_empty()) {
                let detail = "if the endpointnamespace is set, it must be a valid namespace name";
                let at = at.clone().name("endpointsNamespace");
                errors.push(FieldError::invalid(at, namespace, detail));
            }
        }
        "fc" => validate_fibre_channel(source, at, errors),
        "flocker" => validate_flocker(source, at, errors),
        "iscsi" => validate_unit(source, at, errors),
        "flexVolume" => validate_options(source, at, errors),
        "cinder" | "storageos" => secret(source, at, "secretRef", errors),
        "csi" => validate_csi(source, at, errors),
        _ => {}
    }
}

fn validate_csi(source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    driver_name(errors, &at.clone().name("driver"), text(source, "/driver"));
    members_required(errors, at, source, &["volumeHandle"]);
    for name in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        secret(source, at, name, errors);
    }
}

/// A reference to a secret, if it is there.
fn secret(source: &Value, at: &FieldPath, name: &str, errors: &mut Vec<FieldError>) {
    if let Some(secret) = source.get(name) {
        members_required(errors, &at.clone().name(name), secret, &["name", "namespace"]);
    }
}

fn validate_fibre_channel(source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let has = |name: &str| !items(source, name).is_empty();
    let targets = at.clone().name("targetWWNs");
    match (has("targetWWNs"), has("wwids")) {
        (false, false) => {
            let detail = "must specify either targetWWNs or wwids, but not both";
            errors.push(FieldError::required(targets, detail));
        }
        (true, true) => {
            let detail = "targetWWNs and wwids can not be specified simultaneously";
            let value = source.get("targetWWNs").cloned().unwrap_or_default();
            errors.push(FieldError::invalid(targets, value, detail).of_strings());
        }
        (true, false) if integer(source, "/lun").is_none() => {
            let detail = "lun is required if targetWWNs is specified";
            errors.push(FieldError::required(at.clone().name("lun"), detail));
        }
        (true, false) => validate_unit(source, at, errors),
        (false, true) => {}
    }
}

fn validate_unit(source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    if let Some(unit) = integer(source, "/lun").filter(|unit| !(0..=255).contains(unit)) {
        let detail = "must be between 0 and 255, inclusive";
        errors.push(FieldError::invalid(at.clone().name("lun"), unit, detail));
    }
}

fn validate_flocker(source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    let (name, id) = (text(source, "/datasetName"), text(source, "/datasetUUID"));
    if name.is_empty() && id.is_empty() {
        let detail = "one of datasetName and datasetUUID is required";
        errors.push(FieldError::required(at.clone(), detail));
    }
    if !name.is_empty() && !id.is_empty() {
        let detail = "datasetName and datasetUUID can not be specified simultaneously";
        errors.push(FieldError::invalid(at.clone(), "resource", detail));
    }
    let message = name.contains('/').then_some("must not contain '/'");
    invalid(errors, &at.clone().name("datasetName"), name, message);
}

fn validate_options(source: &Value, at: &FieldPath, errors: &mut Vec<FieldError>) {
    for (name, _) in members(source, "/options") {
        let namespace = name.split_once('/').map_or("", |(namespace, _)| namespace);
        let is_reserved =
            |domain: &str| namespace == domain || namespace.ends_with(&format!(".{domain}"));
        if ["kubernetes.io", "k8s.io"].into_iter().any(is_reserved) {
            let at = at.clone().name("options").key(name);
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            errors.push(FieldError::invalid(at, name, detail));
        }
    }
}
