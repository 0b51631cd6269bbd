//! The checks of a definition outside its schemas: group, scope, names, versions, subresources,
//! columns, stored versions (CV-12 to CV-33, CV-100 to CV-103).

use std::collections::BTreeSet;

use billhook_apimachinery::names::{dns1035_label, dns1123_subdomain, kind};
use billhook_apimachinery::print::{compact_json, is_printable, quote};
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::record::{FieldValue, TypedRecord};
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion};
use serde_json::Value;

use crate::edition::EDITIONS;
use crate::model::{Model, VersionModel, version_path};
use crate::options::Options;
use crate::shown::{invalid, repeats, with_rewritten};
use crate::types::{Column, Names, Subresources, Version};

type Errors = Vec<FieldError>;

/// `spec.name`.
pub(crate) fn spec(name: &str) -> FieldPath {
    FieldPath::default().name("spec").name(name)
}

/// CV-20.
pub(crate) fn group(group: &str, errors: &mut Errors) {
    let path = spec("group");
    let messages = dns1123_subdomain(group);
    if group.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !messages.is_empty() {
        errors.push(FieldError::invalid(path, group, &messages.join(",")));
    } else if !group.contains('.') {
        errors.push(FieldError::invalid(path, group, "should be a domain with at least one dot"));
    }
}

/// Checks a required text that must be in a list (CV-21, CV-105).
pub(crate) fn one_of(path: FieldPath, value: &str, supported: &[&str], errors: &mut Errors) {
    if value.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !supported.contains(&value) {
        errors.push(FieldError::not_supported(path, value, supported.iter().copied()));
    }
}

/// CV-30, without the parts that may be moved to the top.
pub(crate) fn version_name(index: usize, version: &VersionModel<'_>, errors: &mut Errors) {
    label(version_path(index).name("name"), version.name(), errors);
    let Some(warning) = version.read.deprecation_warning.as_deref() else { return };
    let path = version_path(index).name("deprecationWarning");
    // It is the value of a pointer, which is shown as JSON.
    let mut refuse = |detail: &str| {
        let error = FieldError::invalid(path.clone(), warning, detail)
            .show_value_as(compact_json(&warning.into()))
            .show_value_in_go_as(quote(warning));
        errors.push(error);
    };
    // CV-31.
    if !version.read.deprecated {
        return refuse("can only be set for deprecated versions");
    }
    if warning.len() > 256 {
        refuse("must be <= 256 characters long");
    }
    if warning.is_empty() {
        refuse("must not be an empty string");
    }
    if let Some((at, _)) = warning.char_indices().find(|(_, c)| !is_printable(*c)) {
        refuse(&format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
}

fn label(path: FieldPath, value: &str, errors: &mut Errors) {
    let messages = dns1035_label(value);
    if !messages.is_empty() {
        errors.push(FieldError::invalid(path, value, &messages.join(",")));
    }
}

/// CV-32. The defaults that have been `rewritten` are shown so.
pub(crate) fn all_versions(
    model: &Model<'_>,
    rewritten: &[(FieldPath, DeepValue)],
    errors: &mut Errors,
) {
    let names: BTreeSet<&str> = model.versions.iter().map(VersionModel::name).collect();
    let storage = model.versions.iter().filter(|version| version.read.storage).count();
    let mut refuse = |detail: &str| {
        let shown = show_versions(model, rewritten);
        errors.push(invalid(spec("versions"), shown, <Vec<Version>>::TYPE, detail));
    };
    if names.len() < model.versions.len() {
        refuse("must contain unique version names");
    }
    if storage != 1 {
        refuse("must have exactly one version marked as storage version");
    }
    // The name of the first version is that of an older field too.
    if let Some(first) = model.versions.first().filter(|first| !first.name().is_empty()) {
        label(spec("version"), first.name(), errors);
    }
}

/// Shows the versions in the internal form, without the parts that are moved to the top (CV-06).
fn show_versions(model: &Model<'_>, rewritten: &[(FieldPath, DeepValue)]) -> String {
    if model.written_versions.is_none() {
        return "null".to_owned();
    }
    let mut versions: Vec<String> = Vec::new();
    for (index, version) in model.versions.iter().enumerate() {
        let version = with_rewritten(version.written, &version_path(index), rewritten);
        let fields = Version::record().fields.iter().map(|field| {
            let part = version.get(field.name).filter(|_| !model.hoisted.has(field.name));
            format!("\"{}\":{}", field.go_name(), show(part, field.type_))
        });
        let fields: Vec<String> = fields.collect();
        versions.push(format!("{{{}}}", fields.join(",")));
    }
    format!("[{}]", versions.join(","))
}

/// CV-100.
pub(crate) fn required_names(names: &Names, errors: &mut Errors) {
    for (name, value) in [
        ("plural", &names.plural),
        ("singular", &names.singular),
        ("kind", &names.kind),
        ("listKind", &names.list_kind),
    ] {
        if value.is_empty() {
            errors.push(FieldError::required(spec("names").name(name), ""));
        }
    }
}

/// CV-101, for `spec.names` and `status.acceptedNames`.
pub(crate) fn names(names: &Names, path: &FieldPath, errors: &mut Errors) {
    for (name, value) in [("plural", &names.plural), ("singular", &names.singular)] {
        if !value.is_empty() {
            label(path.clone().name(name), value, errors);
        }
    }
    for (name, value) in [("kind", &names.kind), ("listKind", &names.list_kind)] {
        if let Some(detail) = kind(value).filter(|_| !value.is_empty()) {
            errors.push(FieldError::invalid(path.clone().name(name), value.as_str(), &detail));
        }
    }
    let short_names = path.clone().name("shortNames");
    for (index, name) in names.short_names.iter().enumerate() {
        label(short_names.clone().index(index), name, errors);
    }
    if !names.kind.is_empty() && names.kind == names.list_kind {
        let path = path.clone().name("listKind");
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(path, names.list_kind.as_str(), detail));
    }
    let categories = path.clone().name("categories");
    for (index, name) in names.categories.iter().enumerate() {
        label(categories.clone().index(index), name, errors);
    }
}

/// CV-102.
pub(crate) fn subresources(all: Option<&Subresources>, path: &FieldPath, errors: &mut Errors) {
    let Some(scale) = all.and_then(|all| all.scale.as_ref()) else { return };
    let path = path.clone().name("scale");
    for (name, value, under) in [
        ("specReplicasPath", &scale.spec_replicas_path, ".spec"),
        ("statusReplicasPath", &scale.status_replicas_path, ".status"),
    ] {
        let path = path.clone().name(name);
        if value.is_empty() {
            errors.push(FieldError::required(path, ""));
        } else if is_simple_path(&path, value, errors) && !is_under(value, under) {
            let detail = format!("should be a json path under {under}");
            errors.push(FieldError::invalid(path, value.as_str(), &detail));
        }
    }
    let path = path.name("labelSelectorPath");
    let value = scale.label_selector_path.as_deref().unwrap_or_default();
    if !value.is_empty()
        && is_simple_path(&path, value, errors)
        && !is_under(value, ".spec")
        && !is_under(value, ".status")
    {
        let detail = "should be a json path under either .spec or .status";
        errors.push(FieldError::invalid(path, value, detail));
    }
}

fn is_under(path: &str, field: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.starts_with('.'))
}

fn is_simple_path(path: &FieldPath, value: &str, errors: &mut Errors) -> bool {
    let is_simple = value.starts_with('.');
    if !is_simple {
        let detail = "must be a simple json path starting with .";
        errors.push(FieldError::invalid(path.clone(), value, detail));
    }
    is_simple
}

const COLUMN_TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: &[&str] =
    &["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

/// CV-103.
pub(crate) fn columns(columns: &[Column], path: &FieldPath, errors: &mut Errors) {
    for (index, column) in columns.iter().enumerate() {
        let path = |name: &str| path.clone().index(index).name(name);
        if column.name.is_empty() {
            errors.push(FieldError::required(path("name"), ""));
        }
        let one_of = |known: &[&str]| format!("must be one of {}", known.join(","));
        match column.type_.as_str() {
            "" => errors.push(FieldError::required(path("type"), &one_of(COLUMN_TYPES))),
            value if !COLUMN_TYPES.contains(&value) => {
                errors.push(FieldError::invalid(path("type"), value, &one_of(COLUMN_TYPES)));
            }
            _ => {}
        }
        let format = column.format.as_str();
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
            errors.push(FieldError::invalid(path("format"), format, &one_of(COLUMN_FORMATS)));
        }
        match column.json_path.as_str() {
            "" => errors.push(FieldError::required(path("JSONPath"), "")),
            value => {
                is_simple_path(&path("JSONPath"), value, errors);
            }
        }
    }
}

/// CV-12.
pub(crate) fn stored_versions(
    stored: &[&str],
    model: &Model<'_>,
    options: &Options<'_>,
    errors: &mut Errors,
) {
    let path = FieldPath::default().name("status").name("storedVersions");
    if stored.is_empty() {
        let detail = "must have at least one stored version";
        errors.push(FieldError::invalid(path, Value::Null, detail).of_strings());
        return;
    }
    let mut listed: BTreeSet<&str> = stored.iter().copied().collect();
    let mut left = repeats(stored.len());
    for version in &model.versions {
        // A listed name stands for the first version of that name.
        if !listed.remove(version.name()) && version.read.storage && left > 0 {
            left -= 1;
            let detail = format!("must have the storage version {}", version.name());
            errors.push(FieldError::invalid(path.clone(), stored.to_vec(), &detail).of_strings());
        }
    }
    let present: BTreeSet<&str> = model.versions.iter().map(VersionModel::name).collect();
    for (index, name) in stored.iter().enumerate() {
        if !present.contains(name) {
            let detail = missing_version(name, options.kubernetes);
            errors.push(FieldError::invalid(path.clone().index(index), *name, &detail));
        }
    }
}

/// KV-71.
fn missing_version(name: &str, kubernetes: KubernetesVersion) -> String {
    if !EDITIONS.of(kubernetes).explains_stored_versions {
        return "must appear in spec.versions".to_owned();
    }
    format!(
        "missing from spec.versions; {name} was previously a storage version, and must remain in \
         spec.versions until a storage migration ensures no data remains persisted in {name} and \
         removes {name} from status.storedVersions"
    )
}
