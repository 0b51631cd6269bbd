//! Checks that many kinds have in common (BK-30). Each adds what is wrong with a value to a list of
//! errors.

use std::collections::BTreeSet;

use billhook_apimachinery::label_selector::LabelSelector;
use billhook_apimachinery::metadata::validate_labels;
use billhook_apimachinery::print::compact_json;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::{FieldValue as _, Type, go_syntax, show::show};
use billhook_apimachinery::value::at_mut;
use billhook_apimachinery::{FieldError, FieldPath, KubernetesVersion, Location, Quantity, names};
use serde_json::Value;

use crate::edition::EDITIONS;
use crate::values::{items, path, text};

pub(crate) const NOT_NEGATIVE: &str = "must be greater than or equal to 0";

/// The detail of an error about a field that must stay as it was.
pub(crate) const IMMUTABLE: &str = "field is immutable";

const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' \
    (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or \
    '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is \
    '[-._a-zA-Z0-9]+')";

/// The maximum number of items in all errors that show the same list; the server has no limit.
const MAX_REPEATED: usize = 16 * 1024;

/// Returns how many errors may show a list of some length.
pub(crate) fn repeats(length: usize) -> usize {
    (MAX_REPEATED / length.max(1)).max(1)
}

/// Adds an error for each message about a value.
pub(crate) fn invalid(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: impl Into<Value>,
    messages: impl IntoIterator<Item = impl AsRef<str>>,
) {
    let value = value.into();
    let messages = messages.into_iter();
    let found =
        messages.map(|message| FieldError::invalid(path.clone(), value.clone(), message.as_ref()));
    errors.extend(found);
}

/// A text that must be one of several.
pub(crate) fn one_of(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: &str,
    supported: &[&str],
) {
    if !supported.contains(&value) {
        let supported = supported.iter().copied();
        errors.push(FieldError::not_supported(path.clone(), value, supported));
    }
}

/// A number that must not be negative, if it is there.
pub(crate) fn not_negative(errors: &mut Vec<FieldError>, path: &FieldPath, value: Option<&Value>) {
    if let Some(number) = value.and_then(Value::as_i64).filter(|number| *number < 0) {
        errors.push(FieldError::invalid(path.clone(), number, NOT_NEGATIVE));
    }
}

/// Members of an object that must not be negative, if they are there.
pub(crate) fn members_not_negative(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    object: &Value,
    members: &[&str],
) {
    for name in members {
        not_negative(errors, &path.clone().name(name), object.get(name));
    }
}

/// A field that must stay as it was.
pub(crate) fn immutable(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: Option<&Value>,
    old: Option<&Value>,
) {
    let set = |value: Option<&Value>| value.filter(|value| !value.is_null()).cloned();
    let (value, old) = (set(value), set(old));
    if value != old {
        let value = value.unwrap_or_default();
        errors.push(FieldError::invalid(path.clone(), value, IMMUTABLE));
    }
}

/// A port number.
pub(crate) fn port(errors: &mut Vec<FieldError>, path: &FieldPath, port: i64) {
    if !(1..=65_535).contains(&port) {
        let detail = "must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(path.clone(), port, detail));
    }
}

/// Returns what is wrong with the name of a port.
pub(crate) fn port_name(name: &str) -> Vec<&'static str> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let rules = [
        (name.len() > 15, "must be no more than 15 characters"),
        (
            name.is_empty() || !name.chars().all(is_allowed),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
        ),
        (
            !name.contains(|c: char| c.is_ascii_lowercase()),
            "must contain at least one letter (a-z)",
        ),
        (name.contains("--"), "must not contain consecutive hyphens"),
        (name.starts_with('-') || name.ends_with('-'), "must not begin or end with a hyphen"),
    ];
    rules.into_iter().filter(|(is_broken, _)| *is_broken).map(|(_, detail)| detail).collect()
}

/// A port that is a number or a name.
pub(crate) fn port_or_name(errors: &mut Vec<FieldError>, path: &FieldPath, value: &Value) {
    match value {
        Value::String(name) => invalid(errors, path, name.as_str(), port_name(name)),
        number => port(errors, path, number.as_i64().unwrap_or_default()),
    }
}

/// A number that is not negative, or a percentage.
pub(crate) fn int_or_percent(errors: &mut Vec<FieldError>, path: &FieldPath, value: &Value) {
    match value {
        Value::String(text) if percent(text).is_none() => {
            errors.push(FieldError::invalid(path.clone(), text.as_str(), PERCENT));
        }
        value => not_negative(errors, path, Some(value)),
    }
}

/// A percentage that must not be greater than 100.
pub(crate) fn at_most_100_percent(errors: &mut Vec<FieldError>, path: &FieldPath, value: &Value) {
    if value.as_str().and_then(percent).is_some_and(|percent| percent > 100) {
        let detail = "must not be greater than 100%";
        errors.push(FieldError::invalid(path.clone(), value.clone(), detail));
    }
}

/// Returns the number of a percentage.
pub(crate) fn percent(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(i64::MAX))
}

/// Returns what is wrong with the key of a ConfigMap or a Secret.
pub(crate) fn config_key(key: &str) -> Vec<&'static str> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let mut messages = Vec::new();
    if key.len() > 253 {
        messages.push("must be no more than 253 characters");
    }
    if key.is_empty() || !key.chars().all(is_allowed) {
        messages.push(CONFIG_KEY);
    }
    match key {
        "." => messages.push("must not be '.'"),
        ".." => messages.push("must not be '..'"),
        _ if key.starts_with("..") => messages.push("must not start with '..'"),
        _ => {}
    }
    messages
}

/// The ID of a user or a group.
pub(crate) fn id(errors: &mut Vec<FieldError>, path: &FieldPath, value: Option<&Value>) {
    if let Some(id) = value.and_then(Value::as_i64)
        && !(0..=2_147_483_647).contains(&id)
    {
        let detail = "must be between 0 and 2147483647, inclusive";
        errors.push(FieldError::invalid(path.clone(), id, detail));
    }
}

/// A label selector, if it is there.
pub(crate) fn label_selector(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    selector: Option<&Value>,
    kubernetes: KubernetesVersion,
) {
    if let Some(selector) = selector.filter(|selector| !selector.is_null()) {
        errors.extend(LabelSelector::of(selector).validate_for(path, kubernetes, false));
    }
}

/// The labels at a place.
pub(crate) fn labels(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    labels: Option<&Value>,
    kubernetes: KubernetesVersion,
) {
    if let Some(Value::Object(labels)) = labels {
        errors.extend(validate_labels(labels, &Location::at(path), kubernetes.wording()));
    }
}

/// The amount of a resource, which must not be negative.
pub(crate) fn amount_not_negative(errors: &mut Vec<FieldError>, path: &FieldPath, amount: &Value) {
    if quantity(amount).is_some_and(|quantity| quantity.signum() < 0) {
        errors.push(FieldError::invalid(path.clone(), amount.clone(), NOT_NEGATIVE));
    }
}

/// Returns the amount of a resource.
pub(crate) fn quantity(amount: &Value) -> Option<Quantity> {
    amount.as_str()?.parse().ok()
}

/// Rounds the amounts in a list of resources, which are stored in thousandths, up (BK-25).
pub(crate) fn round_amounts(object: &mut Value, place: &str) {
    let Some(Value::Object(amounts)) = at_mut(object, place) else { return };
    for (_, amount) in amounts.iter_mut() {
        let Some(exact) = quantity(amount) else { continue };
        let rounded = exact.rounded_up(-3);
        if rounded != exact {
            *amount = rounded.to_string().into();
        }
    }
}

/// A text that must be a DNS label, a subdomain or the like.
pub(crate) fn named(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: &str,
    rule: fn(&str) -> Vec<String>,
) {
    invalid(errors, path, value, rule(value));
}

/// A qualified name, such as a label key.
pub(crate) fn qualified_name(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: &str,
    kubernetes: KubernetesVersion,
) {
    invalid(errors, path, value, names::qualified_name(value, kubernetes.wording()));
}

/// The name of a service, which older servers want to begin with a letter (BK-770).
pub(crate) fn service_name(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: &str,
    kubernetes: KubernetesVersion,
) {
    let is_relaxed = EDITIONS.of(kubernetes).relaxes_service_names;
    named(
        errors,
        path,
        value,
        if is_relaxed { names::dns1123_label } else { names::dns1035_label },
    );
}

/// A name that becomes part of a path.
pub(crate) fn path_segment(errors: &mut Vec<FieldError>, path: &FieldPath, value: &str) {
    invalid(errors, path, value, names::path_segment(value, false));
}

/// A text that must not be empty and must be able to become part of a path.
pub(crate) fn required_segment(errors: &mut Vec<FieldError>, path: &FieldPath, value: &str) {
    match value {
        "" => errors.push(FieldError::required(path.clone(), "")),
        value => path_segment(errors, path, value),
    }
}

/// The name of a host, which may begin with a wildcard.
pub(crate) fn host(errors: &mut Vec<FieldError>, path: &FieldPath, value: &str) {
    if value.contains('*') {
        named(errors, path, value, wildcard_subdomain);
    } else {
        named(errors, path, value, names::dns1123_subdomain);
    }
}

const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid \
    DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end \
    with an alphanumeric character (e.g. '*.example.com', regex used for validation is \
    '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn wildcard_subdomain(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if value.len() > 253 {
        messages.push("must be no more than 253 characters".to_owned());
    }
    let domain = value.strip_prefix("*.").map(names::dns1123_subdomain);
    let is_too_long = |message: &String| message.starts_with("must be no more");
    if domain.is_none_or(|messages| !messages.iter().all(is_too_long)) {
        messages.push(WILDCARD.to_owned());
    }
    messages
}

/// A part of an object that must stay as it was, which errors show with the names of its members in
/// Go (BK-791).
pub(crate) fn immutable_part(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: Option<&Value>,
    old: Option<&Value>,
    members: &[(&str, &str)],
) {
    let mut found = Vec::new();
    immutable(&mut found, path, value, old);
    let show = |error: FieldError| match value.filter(|value| value.is_object()) {
        Some(value) => error.show_value_as(in_go_names(value, members)),
        None => error,
    };
    errors.extend(found.into_iter().map(show));
}

/// Prints an object as JSON with the names that its members have in Go. Each is a text.
pub(crate) fn in_go_names(object: &Value, members: &[(&str, &str)]) -> String {
    let printed: Vec<String> = members
        .iter()
        .map(|(go, name)| {
            let value = object.get(name).map_or_else(|| "\"\"".to_owned(), compact_json);
            format!("\"{go}\":{value}")
        })
        .collect();
    format!("{{{}}}", printed.join(","))
}

/// A finalizer: one of the server's own, or a name with a domain (BK-12).
pub(crate) fn finalizer(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    value: &str,
    kubernetes: KubernetesVersion,
) {
    qualified_name(errors, path, value, kubernetes);
    let is_known = matches!(value, "kubernetes" | "orphan" | "foregroundDeletion");
    if !value.contains('/') && !is_known {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        errors.push(FieldError::invalid(path.clone(), value, detail));
    }
}

/// Returns an error about a value of a type in the server's internal form (BK-791). `package` is
/// the Go package of the type.
pub(crate) fn invalid_internal(
    path: FieldPath,
    value: Option<&Value>,
    (type_, package): (Type, &str),
    detail: &str,
) -> FieldError {
    let shown = show(value, type_);
    let value = value.cloned().unwrap_or_default();
    let in_go = go_syntax(&value, type_, package);
    FieldError::invalid(path, value, detail).show_value_as(shown).show_value_in_go_as(in_go)
}

/// Returns an error about an item of a list that must not repeat another one, in the server's
/// internal form (BK-791).
pub(crate) fn duplicate_internal(path: FieldPath, value: &Value, type_: Type) -> FieldError {
    FieldError::duplicate(path, value.clone()).show_value_as(show(Some(value), type_))
}

/// A text that must not be empty.
pub(crate) fn required(errors: &mut Vec<FieldError>, path: &FieldPath, value: &str) {
    if value.is_empty() {
        errors.push(FieldError::required(path.clone(), ""));
    }
}

/// Members of an object that must not be empty texts.
pub(crate) fn members_required(
    errors: &mut Vec<FieldError>,
    path: &FieldPath,
    object: &Value,
    members: &[&str],
) {
    for name in members {
        required(errors, &path.clone().name(name), text(object, name));
    }
}

/// A write to a status that says which version of the object it was made for.
pub(crate) fn version_required(errors: &mut Vec<FieldError>, object: &Value) {
    required(errors, &path(&["resourceVersion"]), text(object, "/metadata/resourceVersion"));
}

/// The name of a driver of storage.
pub(crate) fn driver_name(errors: &mut Vec<FieldError>, path: &FieldPath, name: &str) {
    const MAX: i64 = 63;
    required(errors, path, name);
    if i64::try_from(name.len()).unwrap_or(i64::MAX) > MAX {
        errors.push(FieldError::too_long(path.clone(), MAX));
    }
    if !name.is_empty() {
        invalid(errors, path, name, names::dns1123_subdomain(&names::lower_case(name)));
    }
}

/// The conditions of a status, which must have types of their own.
pub(crate) fn conditions(errors: &mut Vec<FieldError>, object: &Value) {
    let all = items(object, "/status/conditions");
    let mut seen = BTreeSet::new();
    for (index, condition) in all.iter().enumerate() {
        let at = path(&["status", "conditions"]).index(index).name("type");
        let type_ = text(condition, "/type");
        if !seen.insert(type_) {
            errors.push(FieldError::duplicate(at.clone(), type_));
        }
        required(errors, &at, type_);
    }
}

/// Warns of amounts of bytes that are not whole.
pub(crate) fn warn_of_fractions(
    found: &mut Vec<String>,
    at: &FieldPath,
    amounts: Option<&Value>,
    names: &[&str],
) {
    for name in names {
        let Some(amount) = amounts.and_then(|amounts| amounts.get(*name)) else { continue };
        if quantity(amount).is_some_and(|amount| !amount.is_integer()) {
            let (at, amount) = (at.clone().key(name), text(amount, ""));
            found.push(format!(
                "{at}: fractional byte value {} is invalid, must be an integer",
                quote(amount)
            ));
        }
    }
}
