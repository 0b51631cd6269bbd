//! FlowSchemas (BK-488).

use billhook_apimachinery::metadata::Time;
use billhook_apimachinery::names::dns1123_subdomain;
use billhook_apimachinery::record::Type;
use billhook_apimachinery::record::show::show;
use billhook_apimachinery::{FieldError, KubernetesVersion};
use serde_json::Value;

use super::{fixed, flow_rules};
use crate::behavior::{Behavior, Findings, WriteContext};
use crate::cells;
use crate::generated::flowcontrol_v1::{FLOW_DISTINGUISHER_METHOD, FLOW_SCHEMA_SPEC};
use crate::rules::{conditions, invalid};
use crate::values::{integer, items, path, text, value_at};

const PRECEDENCE: i64 = 1_000;

const MAX_PRECEDENCE: i64 = 10_000;

/// The rules of flow schemas.
#[derive(Debug)]
pub(crate) struct FlowSchema;

impl Behavior for FlowSchema {
    fn set_defaults(&self, schema: &mut Value, _: KubernetesVersion) {
        if integer(schema, "/spec/matchingPrecedence").unwrap_or_default() == 0
            && let Some(Value::Object(spec)) = schema.get_mut("spec")
        {
            spec.insert("matchingPrecedence".to_owned(), PRECEDENCE.into());
        }
    }

    fn takes_metadata(&self) -> bool {
        false
    }

    fn prepare(&self, schema: &mut Value, old: Option<&Value>, _: &WriteContext<'_>) {
        if let (None, Value::Object(members)) = (old, schema) {
            members.remove("status");
        }
    }

    fn validate(
        &self,
        schema: &Value,
        _: Option<&Value>,
        context: &WriteContext<'_>,
        found: &mut Findings,
    ) {
        if context.subresource == "status" {
            conditions(&mut found.errors, schema);
            return;
        }
        fixed::validate(&mut found.errors, schema, "flowschemas", || &FLOW_SCHEMA_SPEC, None);
        validate_spec(schema, &mut found.errors);
    }

    fn cells(&self, object: &Value, now: Time) -> Vec<Value> {
        let method = match text(object, "/spec/distinguisherMethod/type") {
            "" => "<none>",
            type_ => type_,
        };
        let conditions = items(object, "/status/conditions");
        let dangling = conditions.iter().find(|condition| text(condition, "/type") == "Dangling");
        let is_missing = dangling.map_or("?", |condition| text(condition, "/status"));
        vec![
            cells::name(object),
            cells::at(object, "/spec/priorityLevelConfiguration/name"),
            integer(object, "/spec/matchingPrecedence").unwrap_or_default().into(),
            method.into(),
            cells::created(object, now),
            is_missing.into(),
        ]
    }
}

fn validate_spec(schema: &Value, errors: &mut Vec<FieldError>) {
    let precedence = integer(schema, "/spec/matchingPrecedence").unwrap_or_default();
    let is_exempt = text(schema, "/metadata/name") == "exempt";
    for (is_broken, detail) in [
        (precedence <= 0, "must be a positive value"),
        (precedence > MAX_PRECEDENCE, "must not be greater than 10000"),
        (
            precedence == 1 && !is_exempt,
            "only the schema named 'exempt' may have matchingPrecedence 1",
        ),
    ] {
        if is_broken {
            let at = path(&["spec", "matchingPrecedence"]);
            errors.push(FieldError::invalid(at, precedence, detail));
        }
    }
    let methods = ["ByNamespace", "ByUser"];
    let method = value_at(schema, "/spec/distinguisherMethod");
    if let Some(method) = method.filter(|method| !methods.contains(&text(method, "/type"))) {
        let at = path(&["spec", "distinguisherMethod", "type"]);
        let shown = show(Some(method), Type::Record(|| &FLOW_DISTINGUISHER_METHOD));
        let error = FieldError::not_supported(at, method.clone(), methods);
        errors.push(error.show_value_as(shown));
    }
    let at = path(&["spec", "priorityLevelConfiguration", "name"]);
    match text(schema, "/spec/priorityLevelConfiguration/name") {
        "" => errors.push(FieldError::required(at, "must reference a priority level")),
        name => invalid(errors, &at, name, dns1123_subdomain(name)),
    }
    for (index, rule) in items(schema, "/spec/rules").iter().enumerate() {
        flow_rules::validate(rule, &path(&["spec", "rules"]).index(index), errors);
    }
}
