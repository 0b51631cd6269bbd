//! Admission policies and their bindings (PO-01 to PO-16).

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::record::{Record, RecordError};
use billhook_policy::{PolicyDocument, PolicyKind};
use serde_json::Value;

use crate::behavior::{Behavior, Findings, WriteContext};
use crate::selector_text::selector_text;
use crate::values::{items, path, text, value_at};
use crate::{cells, conditions};

/// The text of a cell where nothing is given.
const UNSET: &str = "<unset>";

/// The rules of policies and bindings.
#[derive(Debug)]
pub(crate) struct Policy;

impl Behavior for Policy {
    fn read(
        &self,
        object: &mut Value,
        _: &'static Record,
        _: KubernetesVersion,
    ) -> Result<Vec<String>, RecordError> {
        let read = PolicyDocument::from_value_reporting(object);
        let (document, unknown) = read.map_err(|error| RecordError::new(error.to_string()))?;
        let mut written = document.to_value();
        if let Value::Object(members) = object {
            for section in ["spec", "status"] {
                let section_of = written.get_mut(section).map(Value::take);
                section_of.map(|value| members.insert(section.to_owned(), value));
            }
        }
        Ok(unknown)
    }

    fn takes_metadata(&self) -> bool {
        false
    }

    fn has_plain_metadata(&self) -> bool {
        false
    }

    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        let Ok(document) = PolicyDocument::from_value(object) else { return };
        let old = old.and_then(|old| PolicyDocument::from_value(old).ok());
        if context.subresource == "status" {
            let conditions = items(object, "/status/conditions");
            let at = path(&["status", "conditions"]);
            conditions::validate(&mut found.errors, &at, conditions, context.kubernetes);
            return;
        }
        found.errors.extend(document.validate_for(context.kubernetes, old.as_ref()));
        found.warnings.extend(document.warnings_for(context.kubernetes));
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let (count, of) = (cells::count, |place| cells::at(object, place));
        let of_policy = |place| vec![count(object, place).into(), param_kind(object)];
        let of_binding = || vec![of("/spec/policyName"), param_ref(object)];
        let own = match PolicyDocument::kind_of(object) {
            Some(PolicyKind::Validating) => of_policy("/spec/validations"),
            Some(PolicyKind::Mutating) => of_policy("/spec/mutations"),
            _ => of_binding(),
        };
        [vec![cells::name(object)], own, vec![cells::created(object, now)]].concat()
    }
}

fn param_kind(policy: &Value) -> Value {
    let Some(kind) = value_at(policy, "/spec/paramKind") else { return UNSET.into() };
    format!("{}/{}", text(kind, "/apiVersion"), text(kind, "/kind")).into()
}

fn param_ref(binding: &Value) -> Value {
    let Some(reference) = value_at(binding, "/spec/paramRef") else { return UNSET.into() };
    match (text(reference, "/namespace"), text(reference, "/name")) {
        (_, "") => reference.get("selector").map_or_else(|| UNSET.to_owned(), selector_text),
        // The parameter may be one of the cluster.
        ("", name) => format!("*/{name}"),
        (namespace, name) => format!("{namespace}/{name}"),
    }
    .into()
}
