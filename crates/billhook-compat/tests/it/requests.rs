//! The requests to a server of a version, and what it stores then.

use billhook::{
    CrdVersion, DecodeOptions, DeepValue, FieldManagement, FieldValidation, Time, ValidateOptions,
};
use serde_json::{Value, json};

/// The object after two managers have applied their configurations, to the status if that is apart.
pub(crate) fn applied(
    version: &CrdVersion,
    first: &Value,
    second: &Value,
    is_status: bool,
) -> Option<DeepValue> {
    let part = if is_status { "status" } else { "" };
    let apply = |name: &str, config: &Value, live: Option<&DeepValue>, part: &str| {
        apply(version, (name, part), config, live, true)
    };
    let mut created = first.clone();
    if is_status {
        created.as_object_mut()?.remove("status");
    }
    let created = apply("one", &created, None, "")?;
    let live = if is_status { apply("one", first, Some(&created), part)? } else { created };
    let mut merged = apply("two", second, Some(&live), part)?;
    merged["metadata"] = json!({});
    Some(merged)
}

/// The object after a manager has applied a configuration to it or to its part, always at the same
/// time.
pub(crate) fn apply(
    version: &CrdVersion,
    (manager, part): (&str, &str),
    configuration: &Value,
    live: Option<&DeepValue>,
    is_forced: bool,
) -> Option<DeepValue> {
    let now = Time::parse("2026-01-01T00:00:00Z").unwrap();
    let management = FieldManagement::new(version, manager, now).subresource(part);
    management.apply(configuration, live, is_forced).ok()
}

fn decoded(version: &CrdVersion, object: &Value, mode: FieldValidation) -> Option<DeepValue> {
    let options = DecodeOptions::default().field_validation(mode);
    let mut object =
        version.decode(billhook::to_json(object).as_bytes(), &options).ok()?.into_object();
    billhook::remove_server_fields(&mut object);
    Some(object)
}

pub(crate) fn read(version: &CrdVersion, stored: &Value) -> Option<DeepValue> {
    let mut object = DeepValue::from(stored.clone());
    version.decode_storage_value(&mut object, &DecodeOptions::default()).ok()?;
    Some(object)
}

fn validation() -> ValidateOptions {
    ValidateOptions::default().generic_checks(false)
}

/// The object that is stored after an object and, where that is apart, its status are written.
pub(crate) fn written(
    version: &CrdVersion,
    object: &Value,
    mode: FieldValidation,
) -> Option<DeepValue> {
    let mut created = decoded(version, object, mode)?;
    version.prepare_create(&mut created, "default");
    if !version.validate_create(&created, &validation()).errors().is_empty() {
        return None;
    }
    match version.has_status_subresource() && object.get("status").is_some() {
        true => updated(version, &created, object, true, mode),
        false => Some(created),
    }
}

/// The object that is stored after a stored one, or its status, is updated.
pub(crate) fn updated(
    version: &CrdVersion,
    stored: &Value,
    object: &Value,
    is_status: bool,
    mode: FieldValidation,
) -> Option<DeepValue> {
    let (mut stored, mut object) = (stored.clone(), decoded(version, object, mode)?);
    stored["metadata"]["resourceVersion"] = "1".into();
    object["metadata"]["resourceVersion"] = "1".into();
    if let Some(namespace) = stored["metadata"].get("namespace") {
        object["metadata"]["namespace"] = namespace.clone();
    }
    let validated = match is_status && version.has_status_subresource() {
        true => {
            version.prepare_status_update(&mut object, &stored);
            version.validate_status_update(&object, &stored, &validation())
        }
        false => {
            version.prepare_update(&mut object, &stored);
            version.validate_update(&object, &stored, &validation())
        }
    };
    object["metadata"].as_object_mut()?.remove("resourceVersion");
    validated.errors().is_empty().then_some(object)
}
