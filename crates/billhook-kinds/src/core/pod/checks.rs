//! Checks that the parts of a pod have in common.

use billhook_apimachinery::names::{dns1123_label, dns1123_subdomain};
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::ip::AddressRules;
use crate::rules::{invalid, named, one_of};
use crate::values::text;

const FILE_MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// A text member that must not be empty; returns whether it is there.
pub(super) fn required(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    object: &Value,
    name: &str,
) -> bool {
    let is_there = object.get(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    if !is_there {
        errors.push(FieldError::required(path.clone().name(name), ""));
    }
    is_there
}

/// A text member that must be one of several.
pub(super) fn one_of_required(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    object: &Value,
    name: &str,
    supported: &[&str],
) {
    if required(errors, path, object, name) {
        one_of_member(errors, path, object, name, supported);
    }
}

/// A text member that must be one of several, if it is there.
pub(super) fn one_of_member(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    object: &Value,
    name: &str,
    supported: &[&str],
) {
    if let Some(value) = object.get(name).and_then(Value::as_str) {
        one_of(errors, &path.clone().name(name), value, supported);
    }
}

/// A DNS label, if it is there.
pub(super) fn label_member(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    object: &Value,
    name: &str,
) {
    if let Some(value) = member_text(object, name) {
        named(errors, &path.clone().name(name), value, dns1123_label);
    }
}

/// A DNS subdomain, if it is there.
pub(super) fn subdomain_member(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    object: &Value,
    name: &str,
) {
    if let Some(value) = member_text(object, name) {
        named(errors, &path.clone().name(name), value, dns1123_subdomain);
    }
}

/// The text of a member, if it is not empty.
pub(super) fn member_text<'o>(object: &'o Value, name: &str) -> Option<&'o str> {
    object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A member that is there.
pub(super) fn member<'o>(object: &'o Value, name: &str) -> Option<&'o Value> {
    object.get(name).filter(|member| !member.is_null())
}

/// Whether a member is true.
pub(super) fn is_set(object: &Value, name: &str) -> bool {
    object.get(name) == Some(&Value::Bool(true))
}

/// A path of a file that does not leave its directory.
pub(super) fn descending_path(errors: &mut Vec<FieldError>, path: &FieldPath, file: &str) {
    if file.starts_with('/') {
        invalid(errors, path, file, ["must be a relative path"]);
    }
    no_backsteps(errors, path, file);
}

/// A path without `..`.
pub(super) fn no_backsteps(errors: &mut Vec<FieldError>, path: &FieldPath, file: &str) {
    if file.split('/').any(|part| part == "..") {
        invalid(errors, path, file, ["must not contain '..'"]);
    }
}

/// A path that does not leave its directory and is not one of those that servers use.
pub(super) fn own_path(errors: &mut Vec<FieldError>, path: &FieldPath, file: &str) {
    descending_path(errors, path, file);
    if file.starts_with("..") && !file.starts_with("../") {
        invalid(errors, path, file, ["must not start with '..'"]);
    }
}

/// The mode of a file, if it is there.
pub(super) fn file_mode(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    object: &Value,
    name: &str,
) {
    if let Some(mode) = object.get(name).and_then(Value::as_i64)
        && !(0..=0o777).contains(&mode)
    {
        errors.push(FieldError::invalid(path.clone().name(name), mode, FILE_MODE));
    }
}

/// An IP address.
pub(super) fn ip(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    address: &str,
    kubernetes: KubernetesVersion,
) {
    AddressRules::new(kubernetes, []).address(errors, path, address);
}

/// Adds an error for a value that must not be there.
pub(super) fn forbid(errors: &mut Vec<FieldError>, path: FieldPath, detail: &str) {
    errors.push(FieldError::forbidden(path, detail));
}

/// The name of an object.
pub(super) fn name_of(object: &Value) -> &str {
    text(object, "/name")
}

/// The path of an object as a whole.
pub(super) fn whole() -> FieldPath {
    FieldPath::default().key("")
}
