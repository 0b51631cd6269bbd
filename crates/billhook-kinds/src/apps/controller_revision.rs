//! ControllerRevisions (BK-307).

use billhook_apimachinery::FieldError;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::value::deep_eq;
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::values::{integer, items, path, text};
use crate::workloads::{NONE, part};
use crate::{cells, rules};

/// The rules of ControllerRevisions.
#[derive(Debug)]
pub(crate) struct ControllerRevision;

impl Behavior for ControllerRevision {
    fn validate(
        &self,
        revision: &Value,
        old: Option<&Value>,
        _: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let (errors, data) = (&mut found.errors, part(revision, "/data"));
        let at = path(&["data"]);
        match (data, old) {
            (Value::Object(_), None) => {}
            (Value::Null, None) => errors.push(FieldError::required(at, "data is mandatory")),
            (_, None) => {
                errors.push(FieldError::required(at, "data must be a valid JSON object"));
            }
            (_, Some(old)) if !deep_eq(data, part(old, "/data")) => {
                errors.push(FieldError::invalid(at, data.clone(), "field is immutable"));
            }
            _ => {}
        }
        rules::not_negative(errors, &path(&["revision"]), revision.get("revision"));
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        vec![
            cells::name(object),
            controller(object),
            integer(object, "/revision").unwrap_or_default().into(),
            cells::created(object, now),
        ]
    }
}

/// The cell of the owner that controls an object.
fn controller(object: &Value) -> Value {
    let mut owners = items(object, "/metadata/ownerReferences").iter();
    let Some(owner) = owners.find(|owner| owner.get("controller") == Some(&Value::Bool(true)))
    else {
        return NONE.into();
    };
    let kind = text(owner, "/kind").to_lowercase();
    let name = text(owner, "/name");
    match text(owner, "/apiVersion").split_once('/') {
        Some((group, _)) => format!("{kind}.{group}/{name}"),
        None => format!("{kind}/{name}"),
    }
    .into()
}
