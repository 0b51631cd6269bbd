//! The tables of the server's own kinds, as users of kubectl know them.

use billhook::Time;
use serde_json::Value;

use super::age::age;
use super::{AGE, Columns, Content, TableColumn, member, name_column};

/// The text of a cell where nothing is given.
const UNSET: &str = "<unset>";

impl Columns {
    /// The columns of a kind of the server itself, by the name of its definition; `None` if it
    /// shows no more than others.
    pub(crate) fn of_own(definition: &str) -> Option<Self> {
        let columns = match definition {
            "customresourcedefinitions.apiextensions.k8s.io" => {
                return Some(Columns { no_rows: "null", ..Columns::named([created_at()]) });
            }
            "events." | "events.events.k8s.io" => return Some(Columns::new(of_events())),
            "namespaces." => vec![string("Status", |object, _| at(object, "/status/phase"))],
            "configmaps." => vec![string("Data", data)],
            "secrets." => {
                vec![string("Type", |object, _| at(object, "/type")), string("Data", data)]
            }
            "serviceaccounts." => vec![string("Secrets", |object, _| count(object, "/secrets"))],
            "leases.coordination.k8s.io" => {
                vec![string("Holder", |object, _| at(object, "/spec/holderIdentity"))]
            }
            "mutatingwebhookconfigurations.admissionregistration.k8s.io"
            | "validatingwebhookconfigurations.admissionregistration.k8s.io" => {
                vec![integer("Webhooks", |object, _| count(object, "/webhooks"))]
            }
            "validatingadmissionpolicies.admissionregistration.k8s.io" => vec![
                integer("Validations", |object, _| count(object, "/spec/validations")),
                string("ParamKind", param_kind),
            ],
            "mutatingadmissionpolicies.admissionregistration.k8s.io" => vec![
                integer("Mutations", |object, _| count(object, "/spec/mutations")),
                string("ParamKind", param_kind),
            ],
            "validatingadmissionpolicybindings.admissionregistration.k8s.io"
            | "mutatingadmissionpolicybindings.admissionregistration.k8s.io" => vec![
                string("PolicyName", |object, _| at(object, "/spec/policyName")),
                string("ParamRef", param_ref),
            ],
            _ => return None,
        };
        let created =
            |object: &Value, now| since(member(object, "/metadata/creationTimestamp"), now);
        let age = TableColumn::new("Age", "string", AGE, Content::Made(created));
        Some(Columns::named(columns.into_iter().chain([age])))
    }
}

fn string(name: &str, make: fn(&Value, Time) -> Value) -> TableColumn {
    TableColumn::new(name, "string", "", Content::Made(make))
}

fn integer(name: &str, make: fn(&Value, Time) -> Value) -> TableColumn {
    TableColumn::new(name, "integer", "", Content::Made(make))
}

/// A column that only wide tables have.
fn wide(column: TableColumn) -> TableColumn {
    TableColumn { priority: 1, ..column }
}

fn at(object: &Value, place: &str) -> Value {
    member(object, place).into()
}

/// How many members or items there are.
fn count(object: &Value, place: &str) -> Value {
    let count = match object.pointer(place) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(members)) => members.len(),
        _ => 0,
    };
    count.into()
}

/// How long ago a time was.
fn since(time: &str, now: Time) -> Value {
    let time = Time::parse(time).unwrap_or_default();
    age(time, now).into()
}

/// The time of a definition is shown as it is (DT-69).
fn created_at() -> TableColumn {
    let created = |object: &Value, _| {
        object.pointer("/metadata/creationTimestamp").cloned().unwrap_or_default()
    };
    TableColumn::new("Created At", "date", AGE, Content::Made(created))
}

fn data(object: &Value, _: Time) -> Value {
    let number = |place| count(object, place).as_u64().unwrap_or_default();
    (number("/data") + number("/binaryData")).into()
}

fn param_kind(policy: &Value, _: Time) -> Value {
    let Some(kind) = policy.pointer("/spec/paramKind") else { return UNSET.into() };
    format!("{}/{}", member(kind, "/apiVersion"), member(kind, "/kind")).into()
}

fn param_ref(binding: &Value, _: Time) -> Value {
    let Some(reference) = binding.pointer("/spec/paramRef") else { return UNSET.into() };
    match (member(reference, "/namespace"), member(reference, "/name")) {
        (_, "") => reference.get("selector").map_or_else(|| UNSET.to_owned(), selector),
        // The parameter may be one of the cluster.
        ("", name) => format!("*/{name}"),
        (namespace, name) => format!("{namespace}/{name}"),
    }
    .into()
}

/// A selector as a server logs it.
fn selector(selector: &Value) -> String {
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    let labels = labels.map(|(name, value)| format!("{name}: {},", member(value, "")));
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let expressions = expressions.into_iter().flatten().map(|expression| {
        let values = expression.get("values").and_then(Value::as_array);
        let values: Vec<_> = values.into_iter().flatten().map(|value| member(value, "")).collect();
        format!(
            "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
            member(expression, "/key"),
            member(expression, "/operator"),
            values.join(" "),
        )
    });
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{}}},MatchExpressions:\
         []LabelSelectorRequirement{{{}}},}}",
        labels.collect::<String>(),
        expressions.collect::<String>(),
    )
}

/// Events are told apart by when they were seen, not by their names. Some of their fields have two
/// names, one for each of their groups.
fn of_events() -> [TableColumn; 10] {
    [
        string("Last Seen", last_seen),
        string("Type", |event, _| at(event, "/type")),
        string("Reason", |event, _| at(event, "/reason")),
        string("Object", |event, _| subject(event)),
        wide(string("Subobject", |event, _| {
            either(event, ["/involvedObject/fieldPath", "/regarding/fieldPath"]).into()
        })),
        wide(string("Source", |event, _| source(event))),
        string("Message", |event, _| either(event, ["/message", "/note"]).trim().into()),
        wide(string("First Seen", first_seen)),
        wide(string("Count", |event, _| times(event))),
        wide(name_column()),
    ]
}

/// The first of several texts that is not empty.
fn either<'e, const N: usize>(event: &'e Value, places: [&str; N]) -> &'e str {
    let texts = places.map(|place| member(event, place));
    texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

fn first_seen(event: &Value, now: Time) -> Value {
    let time = either(event, ["/firstTimestamp", "/deprecatedFirstTimestamp", "/eventTime"]);
    since(time, now)
}

fn last_seen(event: &Value, now: Time) -> Value {
    if event.get("series").is_some() {
        return since(member(event, "/series/lastObservedTime"), now);
    }
    match either(event, ["/lastTimestamp", "/deprecatedLastTimestamp"]) {
        "" => first_seen(event, now),
        time => since(time, now),
    }
}

/// How often the event was seen; one of the newer form does not say so of the first time.
fn times(event: &Value) -> Value {
    let count = |place| event.pointer(place).and_then(Value::as_i64).filter(|count| *count != 0);
    let count = match event.get("series") {
        Some(_) => count("/series/count").unwrap_or_default(),
        None => count("/count").or_else(|| count("/deprecatedCount")).unwrap_or(1),
    };
    count.into()
}

fn subject(event: &Value) -> Value {
    let kind = either(event, ["/involvedObject/kind", "/regarding/kind"]).to_lowercase();
    match either(event, ["/involvedObject/name", "/regarding/name"]) {
        "" => kind.into(),
        name => format!("{kind}/{name}").into(),
    }
}

fn source(event: &Value) -> Value {
    let component = either(
        event,
        [
            "/source/component",
            "/deprecatedSource/component",
            "/reportingComponent",
            "/reportingController",
        ],
    );
    match either(event, ["/source/host", "/deprecatedSource/host", "/reportingInstance"]) {
        "" => component.into(),
        host => format!("{component}, {host}").into(),
    }
}
