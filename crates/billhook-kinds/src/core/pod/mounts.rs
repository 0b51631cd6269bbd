//! Mounts and devices: the volumes that containers see (BK-104).

use std::collections::BTreeSet;

use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{descending_path, forbid, is_set, member, member_text, name_of, required};
use super::scope::Scope;
use crate::rules::{invalid, one_of};
use crate::values::{items, text, value_at};

/// The mounts and the devices of a container.
pub(super) fn validate(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    container: &Value,
    scope: &Scope<'_>,
) {
    let is_privileged =
        value_at(container, "/securityContext/privileged") == Some(&Value::Bool(true));
    let (mounts, devices) = (items(container, "/volumeMounts"), items(container, "/volumeDevices"));
    let list = path.clone().name("volumeMounts");
    let (mut of_mounts, of_devices) = (Taken::default(), Taken::by(devices, "devicePath"));
    for (index, mount) in mounts.iter().enumerate() {
        let at = list.clone().index(index);
        mounted(errors, &at, mount, &of_mounts, &of_devices, scope);
        of_mounts.add(mount, "mountPath");
        descending_path(errors, &list.clone().name("subPath"), text(mount, "/subPath"));
        if let Some(expression) = member_text(mount, "subPathExpr") {
            if member_text(mount, "subPath").is_some() {
                let detail = "subPathExpr and subPath are mutually exclusive";
                invalid(errors, &at.name("subPathExpr"), expression, [detail]);
            }
            descending_path(errors, &list.clone().name("subPathExpr"), expression);
        }
        propagation(errors, &list, mount, is_privileged);
        read_only(errors, &list.clone().name("recursiveReadOnly"), mount);
    }
    let list = path.clone().name("volumeDevices");
    let mut earlier = Taken::default();
    for (index, device) in devices.iter().enumerate() {
        self::device(errors, &list.clone().index(index), device, &earlier, &of_mounts, scope);
        earlier.add(device, "devicePath");
    }
}

/// The names and the paths of mounts or of devices.
#[derive(Default)]
struct Taken<'v> {
    names: BTreeSet<&'v str>,
    paths: BTreeSet<&'v str>,
}

impl<'v> Taken<'v> {
    fn by(list: &'v [Value], path: &str) -> Self {
        let mut taken = Taken::default();
        list.iter().for_each(|item| taken.add(item, path));
        taken
    }

    fn add(&mut self, item: &'v Value, path: &str) {
        self.names.extend(item.get("name").and_then(Value::as_str));
        self.paths.extend(item.get(path).and_then(Value::as_str));
    }
}

fn mounted(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    mount: &Value,
    earlier: &Taken<'_>,
    devices: &Taken<'_>,
    scope: &Scope<'_>,
) {
    let at = |name: &str| path.clone().name(name);
    let (name, place) = (name_of(mount), text(mount, "/mountPath"));
    required(errors, path, mount, "name");
    if !scope.volumes.contains_key(name) {
        errors.push(FieldError::not_found(at("name"), name));
    }
    required(errors, path, mount, "mountPath");
    if earlier.paths.contains(place) {
        invalid(errors, &at("mountPath"), place, ["must be unique"]);
    }
    if devices.names.contains(name) {
        invalid(errors, &at("name"), name, ["must not already exist in volumeDevices"]);
    }
    if devices.paths.contains(place) {
        let detail = "must not already exist as a path in volumeDevices";
        invalid(errors, &at("mountPath"), place, [detail]);
    }
}

fn propagation(errors: &mut Vec<FieldError>, list: &FieldPath, mount: &Value, is_privileged: bool) {
    let Some(propagation) = member_text(mount, "mountPropagation") else { return };
    let path = list.clone().name("mountPropagation");
    if propagation == "Bidirectional" && !is_privileged {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        forbid(errors, path, detail);
    } else {
        one_of(errors, &path, propagation, &["Bidirectional", "HostToContainer", "None"]);
    }
}

fn read_only(errors: &mut Vec<FieldError>, path: &FieldPath, mount: &Value) {
    let Some(mode) = member(mount, "recursiveReadOnly").and_then(Value::as_str) else { return };
    if !matches!(mode, "Enabled" | "IfPossible") {
        one_of(errors, path, mode, &["Disabled", "Enabled", "IfPossible"]);
        return;
    }
    if !is_set(mount, "readOnly") {
        forbid(errors, path.clone(), "may only be specified when readOnly is true");
    }
    if !matches!(text(mount, "/mountPropagation"), "" | "None") {
        let detail = "may only be specified when mountPropagation is None or not specified";
        forbid(errors, path.clone(), detail);
    }
}

fn device(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    device: &Value,
    earlier: &Taken<'_>,
    mounts: &Taken<'_>,
    scope: &Scope<'_>,
) {
    let at = |name: &str| path.clone().name(name);
    let (name, place) = (name_of(device), text(device, "/devicePath"));
    required(errors, path, device, "name");
    if earlier.names.contains(name) {
        invalid(errors, &at("name"), name, ["must be unique"]);
    }
    match scope.volumes.get(name) {
        None => errors.push(FieldError::not_found(at("name"), name)),
        Some(volume) => {
            let sources = ["persistentVolumeClaim", "ephemeral"];
            if sources.iter().all(|source| member(volume, source).is_none()) {
                let detail = "can only use volume source type of PersistentVolumeClaim or \
                              Ephemeral for block mode";
                invalid(errors, &at("name"), name, [detail]);
            }
        }
    }
    required(errors, path, device, "devicePath");
    if earlier.paths.contains(place) {
        invalid(errors, &at("devicePath"), place, ["must be unique"]);
    }
    if place.split('/').any(|part| part == "..") {
        invalid(errors, &at("devicePath"), place, ["can not contain backsteps ('..')"]);
    } else if mounts.names.contains(name) {
        invalid(errors, &at("name"), name, ["must not already exist in volumeMounts"]);
    }
    if mounts.paths.contains(place) {
        let detail = "must not already exist as a path in volumeMounts";
        invalid(errors, &at("devicePath"), place, [detail]);
    }
}
