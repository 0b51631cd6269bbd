//! The environment of containers (BK-104).

use std::collections::BTreeMap;

use billhook_apimachinery::names::{dns1123_label, dns1123_subdomain};
use billhook_apimachinery::{FieldError, FieldPath};
use serde_json::Value;

use super::checks::{member, member_text, own_path, required};
use super::edition::EDITIONS;
use super::references::{self, VARIABLES};
use super::scope::Scope;
use crate::rules::{config_key, invalid, named};
use crate::values::{items, text, value_at};

const NAME: &str = "a valid environment variable name must consist only of printable ASCII characters other than '='";

const SEVERAL: &str = "may not have more than one field specified at a time";

/// The variables of a container, and what it takes others from.
pub(super) fn validate(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    container: &Value,
    scope: &Scope<'_>,
) {
    for (index, variable) in items(container, "/env").iter().enumerate() {
        let path = path.clone().name("env").index(index);
        if required(errors, &path, variable, "name") {
            name(errors, &path.clone().name("name"), text(variable, "/name"));
        }
        if let Some(source) = member(variable, "valueFrom") {
            value(errors, &path.name("valueFrom"), variable, source, scope);
        }
    }
    let path = path.clone().name("envFrom");
    for (index, source) in items(container, "/envFrom").iter().enumerate() {
        all(errors, &path, &path.clone().index(index), source);
    }
}

fn name(errors: &mut Vec<FieldError>, path: &FieldPath, name: &str) {
    if !name.chars().all(|c| matches!(c, ' '..='~') && c != '=') {
        invalid(errors, path, name, [NAME]);
    }
}

/// Where the value of a variable comes from.
fn value(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    variable: &Value,
    source: &Value,
    scope: &Scope<'_>,
) {
    let at = |name: &str| path.clone().name(name);
    let mut count = 0;
    if let Some(reference) = member(source, "fieldRef") {
        count += 1;
        references::field(errors, &at("fieldRef"), reference, &VARIABLES, scope.kubernetes);
    }
    if let Some(reference) = member(source, "resourceFieldRef") {
        count += 1;
        references::resource(errors, &at("resourceFieldRef"), reference, false);
    }
    for name in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(reference) = member(source, name) {
            count += 1;
            object_key(errors, &at(name), reference);
        }
    }
    if let Some(reference) = member(source, "fileKeyRef") {
        count += 1;
        file_key(errors, &at("fileKeyRef"), reference);
    }
    let has_value = member_text(variable, "value").is_some();
    let detail = match count {
        0 if !EDITIONS.of(scope.kubernetes).reads_variables_from_files => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or \
             `secretKeyRef`"
        }
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, \
             `secretKeyRef` or `fileKeyRef`"
        }
        _ if has_value => "may not be specified when `value` is not empty",
        1 => return,
        _ => SEVERAL,
    };
    invalid(errors, path, "", [detail]);
}

fn object_key(errors: &mut Vec<FieldError>, path: &FieldPath, reference: &Value) {
    named(errors, &path.clone().name("name"), text(reference, "/name"), dns1123_subdomain);
    if required(errors, path, reference, "key") {
        let key = text(reference, "/key");
        invalid(errors, &path.clone().name("key"), key, config_key(key));
    }
}

fn file_key(errors: &mut Vec<FieldError>, path: &FieldPath, reference: &Value) {
    if required(errors, path, reference, "key") {
        name(errors, &path.clone().name("key"), text(reference, "/key"));
    }
    if required(errors, path, reference, "volumeName") {
        let volume = text(reference, "/volumeName");
        named(errors, &path.clone().name("volumeName"), volume, dns1123_label);
    }
    if required(errors, path, reference, "path") {
        own_path(errors, &path.clone().name("path"), text(reference, "/path"));
    }
}

/// An object whose keys become variables. Errors about the source are at the list.
fn all(errors: &mut Vec<FieldError>, list: &FieldPath, path: &FieldPath, source: &Value) {
    if let Some(prefix) = member_text(source, "prefix") {
        name(errors, &path.clone().name("prefix"), prefix);
    }
    let mut count = 0;
    for kind in ["configMapRef", "secretRef"] {
        let Some(reference) = member(source, kind) else { continue };
        count += 1;
        let path = path.clone().name(kind);
        if required(errors, &path, reference, "name") {
            let name = text(reference, "/name");
            named(errors, &path.name("name"), name, dns1123_subdomain);
        }
    }
    match count {
        0 => invalid(errors, list, "", ["must specify one of: `configMapRef` or `secretRef`"]),
        1 => {}
        _ => invalid(errors, list, "", [SEVERAL]),
    }
}

/// Variables that are read from files need a volume for them.
pub(super) fn validate_file_volumes(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    container: &Value,
    volumes: &BTreeMap<&str, &Value>,
) {
    for (index, variable) in items(container, "/env").iter().enumerate() {
        let name = text(variable, "/valueFrom/fileKeyRef/volumeName");
        if value_at(variable, "/valueFrom/fileKeyRef").is_none_or(Value::is_null) {
            continue;
        }
        let path = path.clone().name("env").index(index);
        let path = path.name("valueFrom").name("fileKeyRef").name("volumeName");
        match volumes.get(name) {
            None => errors.push(FieldError::not_found(path, name)),
            Some(volume) if member(volume, "emptyDir").is_none() => {
                invalid(errors, &path, name, ["referenced volume must be of type emptyDir"]);
            }
            Some(_) => {}
        }
    }
}
