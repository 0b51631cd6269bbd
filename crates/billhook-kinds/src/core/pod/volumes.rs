//! The volumes of a pod (BK-105).

use std::collections::BTreeSet;

use billhook_apimachinery::names::dns1123_label;
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{
    file_mode, forbid, member, member_text, name_of, no_backsteps, one_of_member, own_path,
    required,
};
use super::references::{self, FILES};
use super::remote_volumes;
use super::scope::Scope;
use crate::behavior::{Findings, WriteContext};
use crate::core::volume_claim;
use crate::rules::{invalid, named, quantity};
use crate::values::{integer, items, text, value_at};

/// The sources of volumes in the order in which they are looked at, with their names in errors.
const SOURCES: [(&str, &str); 30] = [
    ("emptyDir", "emptyDir"),
    ("hostPath", "hostPath"),
    ("gitRepo", "gitRepo"),
    ("gcePersistentDisk", "gcePersistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("secret", "secret"),
    ("nfs", "nfs"),
    ("iscsi", "iscsi"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("persistentVolumeClaim", "persistentVolumeClaim"),
    ("rbd", "rbd"),
    ("cinder", "cinder"),
    ("cephfs", "cephFS"),
    ("quobyte", "quobyte"),
    ("downwardAPI", "downwarAPI"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("configMap", "configMap"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("storageos", "storageos"),
    ("projected", "projected"),
    ("scaleIO", "scaleIO"),
    ("csi", "csi"),
    ("ephemeral", "ephemeral"),
    ("image", "image"),
];

const PATH_TYPES: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// Checks the volumes of a pod; those without errors are known to its containers.
pub(super) fn validate<'s>(
    found: &mut Findings,
    path: &FieldPath,
    spec: &'s Value,
    scope: &mut Scope<'s>,
    context: &WriteContext<'_>,
) {
    let volumes = items(spec, "/volumes");
    for (index, volume) in volumes.iter().enumerate() {
        let path = path.clone().index(index);
        let before = found.errors.len();
        sources(found, &path, volume, scope, context);
        if required(&mut found.errors, &path, volume, "name") {
            let at = path.clone().name("name");
            named(&mut found.errors, &at, name_of(volume), dns1123_label);
        }
        if scope.volumes.contains_key(name_of(volume)) {
            let at = path.clone().name("name");
            found.errors.push(FieldError::duplicate(at, name_of(volume)));
        }
        if found.errors.len() == before {
            scope.volumes.insert(name_of(volume), volume);
        }
    }
    made_claims(&mut found.errors, path, volumes, scope);
}

/// A claim that is made for a volume of the pod is not another volume's.
fn made_claims(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    volumes: &[Value],
    scope: &Scope<'_>,
) {
    let Some(pod) =
        scope.pod.map(|pod| text(pod, "/metadata/name")).filter(|name| !name.is_empty())
    else {
        return;
    };
    let made = volumes.iter().filter(|volume| member(volume, "ephemeral").is_some());
    let made: BTreeSet<String> = made.map(|volume| format!("{pod}-{}", name_of(volume))).collect();
    for (index, volume) in volumes.iter().enumerate() {
        let claim = text(volume, "/persistentVolumeClaim/claimName");
        if made.contains(claim) {
            let path = path.clone().index(index).name("persistentVolumeClaim").name("claimName");
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            invalid(errors, &path, claim, [detail]);
        }
    }
}

/// A volume has one source.
fn sources(
    found: &mut Findings,
    path: &FieldPath,
    volume: &Value,
    scope: &Scope<'_>,
    context: &WriteContext<'_>,
) {
    let mut is_first = true;
    for (name, shown) in SOURCES {
        let Some(source) = member(volume, name) else { continue };
        if !std::mem::take(&mut is_first) {
            let detail = "may not specify more than 1 volume type";
            forbid(&mut found.errors, path.clone().name(shown), detail);
            continue;
        }
        let at = path.clone().name(name);
        if name == "ephemeral" {
            ephemeral(found, path, volume, scope, context);
        } else if !local(&mut found.errors, &at, name, source, scope) {
            remote_volumes::validate(&mut found.errors, &at, name, source);
        }
    }
}

/// Checks a source that a node has by itself or from objects; returns whether it is one.
fn local(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    name: &str,
    source: &Value,
    scope: &Scope<'_>,
) -> bool {
    match name {
        "emptyDir" => {
            let limit = source.get("sizeLimit").and_then(quantity);
            if limit.is_some_and(|limit| limit.signum() < 0) {
                let detail = "SizeLimit field must be a valid resource quantity";
                forbid(errors, path.clone().name("sizeLimit"), detail);
            }
        }
        "hostPath" => {
            if required(errors, path, source, "path") {
                no_backsteps(errors, &path.clone().name("path"), text(source, "/path"));
                one_of_member(errors, path, source, "type", &PATH_TYPES);
            }
        }
        "secret" => {
            required(errors, path, source, "secretName");
            files(errors, path, source);
        }
        "configMap" => {
            required(errors, path, source, "name");
            files(errors, path, source);
        }
        "persistentVolumeClaim" => {
            required(errors, path, source, "claimName");
        }
        "downwardAPI" => {
            file_mode(errors, path, source, "defaultMode");
            for item in items(source, "/items") {
                field_file(errors, path, item, scope);
            }
        }
        "projected" => projected(errors, path, source, scope),
        "image" => {
            required(errors, path, source, "reference");
            let policies = ["Always", "IfNotPresent", "Never"];
            one_of_member(errors, path, source, "pullPolicy", &policies);
        }
        _ => return false,
    }
    true
}

/// Files that are made of keys of an object.
fn files(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    file_mode(errors, path, source, "defaultMode");
    keys(errors, path, source);
}

fn keys(errors: &mut Vec<FieldError>, path: &FieldPath, source: &Value) {
    for (index, item) in items(source, "/items").iter().enumerate() {
        let path = path.clone().name("items").index(index);
        required(errors, &path, item, "key");
        required(errors, &path, item, "path");
        own_path(errors, &path.clone().name("path"), text(item, "/path"));
        file_mode(errors, &path, item, "mode");
    }
}

/// A file with the value of a field or a resource of the pod.
fn field_file(errors: &mut Vec<FieldError>, path: &FieldPath, item: &Value, scope: &Scope<'_>) {
    let at = |name: &str| path.clone().name(name);
    required(errors, path, item, "path");
    own_path(errors, &at("path"), text(item, "/path"));
    let resource = member(item, "resourceFieldRef");
    match (member(item, "fieldRef"), resource) {
        (Some(field), resource) => {
            references::field(errors, &at("fieldRef"), field, &FILES, scope.kubernetes);
            if resource.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                invalid(errors, path, "resource", [detail]);
            }
        }
        (None, Some(resource)) => {
            references::resource(errors, &at("resourceFieldRef"), resource, true);
        }
        (None, None) => {
            let detail = "one of fieldRef and resourceFieldRef is required";
            errors.push(FieldError::required(path.clone(), detail));
        }
    }
    file_mode(errors, path, item, "mode");
}

/// A volume with files of several sources.
fn projected(errors: &mut Vec<FieldError>, path: &FieldPath, volume: &Value, scope: &Scope<'_>) {
    file_mode(errors, path, volume, "defaultMode");
    let mut paths = BTreeSet::new();
    for (index, source) in items(volume, "/sources").iter().enumerate() {
        let at = path.clone().name("sources").index(index);
        let mut count = 0;
        let mut repeats = |errors: &mut Vec<FieldError>, file: &str, value: &str| {
            if !file.is_empty() && !paths.insert(file.to_owned()) {
                invalid(errors, path, value, ["conflicting duplicate paths"]);
            }
        };
        for kind in ["secret", "configMap"] {
            let Some(object) = member(source, kind) else { continue };
            count += 1;
            let at = at.clone().name(kind);
            required(errors, &at, object, "name");
            keys(errors, &at, object);
            for item in items(object, "/items") {
                repeats(errors, text(item, "/path"), name_of(object));
            }
        }
        if let Some(fields) = member(source, "downwardAPI") {
            count += 1;
            for item in items(fields, "/items") {
                field_file(errors, &at.clone().name("downwardAPI"), item, scope);
                repeats(errors, text(item, "/path"), text(item, "/path"));
            }
        }
        if let Some(token) = member(source, "serviceAccountToken") {
            count += 1;
            self::token(errors, &at.clone().name("serviceAccountToken"), token);
            repeats(errors, text(token, "/path"), text(token, "/path"));
        }
        if count > 1 {
            forbid(errors, at, "may not specify more than 1 volume type per source");
        }
    }
}

fn token(errors: &mut Vec<FieldError>, path: &FieldPath, token: &Value) {
    let seconds = integer(token, "/expirationSeconds").unwrap_or_default();
    let at = path.clone().name("expirationSeconds");
    if seconds < 600 {
        invalid(errors, &at, seconds, ["may not specify a duration less than 10 minutes"]);
    } else if seconds > 1 << 32 {
        invalid(errors, &at, seconds, ["may not specify a duration larger than 2^32 seconds"]);
    }
    if required(errors, path, token, "path") {
        own_path(errors, &path.clone().name("path"), text(token, "/path"));
    }
}

/// A volume whose claim is made for the pod.
fn ephemeral(
    found: &mut Findings,
    path: &FieldPath,
    volume: &Value,
    scope: &Scope<'_>,
    context: &WriteContext<'_>,
) {
    let at = path.clone().name("ephemeral").name("volumeClaimTemplate");
    let Some(template) =
        value_at(volume, "/ephemeral/volumeClaimTemplate").filter(|it| !it.is_null())
    else {
        found.errors.push(FieldError::required(at, ""));
        return;
    };
    let labels = at.clone().name("metadata").name("labels");
    let known = value_at(template, "/metadata/labels");
    crate::rules::labels(&mut found.errors, &labels, known, scope.kubernetes);
    if let Some(spec) = member(template, "spec") {
        volume_claim::validate_spec(spec, &at.name("spec"), context, found);
    }
    let pod = scope.pod.and_then(|pod| pod.get("metadata"));
    if let Some(pod) = pod.and_then(|metadata| member_text(metadata, "name")) {
        let claim = format!("{pod}-{}", name_of(volume));
        for message in billhook_apimachinery::names::dns1123_subdomain(&claim) {
            let detail = format!("PVC name \"{claim}\": {message}");
            invalid(&mut found.errors, &path.clone().name("name"), name_of(volume), [detail]);
        }
    }
}

/// Tokens need an account.
pub(super) fn validate_tokens(errors: &mut Vec<FieldError>, path: &FieldPath, spec: &Value) {
    if member_text(spec, "serviceAccountName").is_some() {
        return;
    }
    for (index, volume) in items(spec, "/volumes").iter().enumerate() {
        for (number, source) in items(volume, "/projected/sources").iter().enumerate() {
            if member(source, "serviceAccountToken").is_some() {
                let path = path.clone().name("volumes").index(index).name("projected");
                let path = path.name("sources").index(number).name("serviceAccountToken");
                let detail = "must not be specified when serviceAccountName is not set";
                forbid(errors, path, detail);
            }
        }
    }
}
