//! The table of the objects that a cluster begins with (BK-680): what a server stores when it is
//! asked to create them, with places for UIDs and times.

use billhook_admission::ServerFields;
use billhook_apimachinery::metadata::Time;
use billhook_apiserver::Server;
use http::{Method, Request};
use http_body_util::BodyExt as _;
use serde_json::{Map, Value, json};
use tower_service::Service as _;

type Error = Box<dyn std::error::Error>;

/// The files of the data, in the order in which their objects are created.
pub(super) const RBAC: &str = "bootstrap-rbac.json";
pub(super) const FLOW_CONTROL: &str = "flow-control.json";
pub(super) const API_SERVICES: &str = "api-services.json";

const HEADING: &str = "\
//! The objects that a cluster begins with, made by `cargo xtask kinds`.

use crate::InitialObject;

/// The objects as they are stored.
pub(crate) static OBJECTS: &[InitialObject] = &[
";

/// The UID and the time of all objects while the table is made.
const UID: &str = "00000000-0000-4000-8000-000000000000";
const TIME: &str = "2001-02-03T04:05:06Z";

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
const FLOW_GROUP: &str = "flowcontrol.apiserver.k8s.io";
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";
const CONSUMER: &str = "api-priority-and-fairness-config-consumer-v1";

/// An object to create.
struct Initial {
    group: &'static str,
    plural: &'static str,
    namespace: String,
    manager: &'static str,
    object: Value,
    /// A status that is applied to it, with its manager.
    status: Option<(&'static str, Value)>,
}

/// Makes the table of the data that a function reads by its name.
pub(super) fn table(read: &dyn Fn(&str) -> Result<Value, Error>) -> Result<String, Error> {
    let objects = [
        rbac(&read(RBAC)?),
        flow_control(&read(FLOW_CONTROL)?),
        api_services(&read(API_SERVICES)?),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = Server::builder()
        .server_fields(|| ServerFields::new(UID, TIME, ""))
        .clock(|| Time::parse(TIME).unwrap_or_default())
        .without_controllers()
        .build();
    let mut text = HEADING.to_owned();
    for initial in objects.iter().flatten() {
        text.push_str(&runtime.block_on(initial.line(&server))?);
    }
    text.push_str("];\n");
    Ok(text)
}

impl Initial {
    fn new(group: &'static str, plural: &'static str, manager: &'static str) -> Self {
        let (namespace, object) = (String::new(), Value::Null);
        Initial { group, plural, namespace, manager, object, status: None }
    }

    /// Creates the object and returns its line of the table.
    async fn line(&self, server: &Server) -> Result<String, Error> {
        let Initial { group, plural, namespace, manager, object, .. } = self;
        let place = match namespace.as_str() {
            "" => String::new(),
            namespace => format!("namespaces/{namespace}/"),
        };
        let all = format!("/apis/{group}/v1/{place}{plural}");
        let create = format!("{all}?fieldManager={manager}");
        let mut stored = send(server, Method::POST, &create, "json", object).await?;
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        if let Some((manager, status)) = &self.status {
            let path = format!("{all}/{name}/status?fieldManager={manager}");
            stored = send(server, Method::PATCH, &path, "apply-patch+yaml", status).await?;
        }
        let key =
            if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") };
        let text =
            without_revision(stored.trim_end())?.replace(UID, "<uid>").replace(TIME, "<time>");
        Ok(format!(
            "    InitialObject {{\n        group: {group:?},\n        plural: {plural:?},\n        \
             key: {key:?},\n        text: r#\"{text}\"#,\n    }},\n"
        ))
    }
}

/// Sends a request and returns the text of the object in the answer.
async fn send(
    server: &Server,
    method: Method,
    path: &str,
    type_: &str,
    body: &Value,
) -> Result<String, Error> {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", format!("application/{type_}"));
    let Ok(answer) = server.clone().call(request.body(body.to_string())?).await;
    let status = answer.status();
    let text = answer.into_body().collect().await?.to_bytes();
    let text = String::from_utf8(text.to_vec())?;
    if status.is_success() { Ok(text) } else { Err(format!("{path}: {status} {text}").into()) }
}

/// An answer without the revision, which is not stored.
fn without_revision(text: &str) -> Result<String, Error> {
    let (before, rest) = text.split_once(r#""resourceVersion":""#).ok_or("no revision")?;
    let (_, after) = rest.split_once("\",").ok_or("nothing after the revision")?;
    Ok([before, after].concat())
}

/// The roles and bindings.
fn rbac(data: &Value) -> Vec<Initial> {
    let mut all = Vec::new();
    for (member, kind, plural) in [
        ("clusterRoles", "ClusterRole", "clusterroles"),
        ("clusterRoleBindings", "ClusterRoleBinding", "clusterrolebindings"),
        ("roles", "Role", "roles"),
        ("roleBindings", "RoleBinding", "rolebindings"),
    ] {
        for described in items(&data[member]) {
            let mut initial = Initial::new(RBAC_GROUP, plural, "kube-apiserver");
            initial.namespace = text(&described["namespace"]).to_owned();
            let mut labels = described["labels"].as_object().cloned().unwrap_or_default();
            labels.insert("kubernetes.io/bootstrapping".to_owned(), "rbac-defaults".into());
            initial.object = json!({
                "apiVersion": format!("{RBAC_GROUP}/v1"), "kind": kind,
                "metadata": {
                    "name": described["name"], "labels": labels,
                    "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
                },
            });
            let rest = if described.get("roleRef").is_some() { binding } else { role };
            if let Value::Object(members) = &mut initial.object {
                members.extend(rest(described));
            }
            all.push(initial);
        }
    }
    all
}

fn role(described: &Value) -> Map<String, Value> {
    let names = ["apiGroups", "resources", "verbs", "resourceNames", "nonResourceURLs"];
    let rule = |rule: &Value| -> Value {
        let parts = names.iter().zip(items(rule));
        parts.map(|(name, part)| ((*name).to_owned(), part.clone())).collect::<Map<_, _>>().into()
    };
    let rules: Vec<Value> = items(&described["rules"]).map(rule).collect();
    let mut members = Map::new();
    if !rules.is_empty() {
        members.insert("rules".to_owned(), rules.into());
    }
    if let Some(selectors) = described["aggregateLabels"].as_array() {
        let selectors: Vec<Value> =
            selectors.iter().map(|labels| json!({"matchLabels": labels})).collect();
        members.insert("aggregationRule".to_owned(), json!({"clusterRoleSelectors": selectors}));
    }
    members
}

/// A role is described as `kind/name`, a subject as `kind:name` or `kind:namespace/name`.
fn binding(described: &Value) -> Map<String, Value> {
    let (kind, name) = text(&described["roleRef"]).split_once('/').unwrap_or_default();
    let role = json!({"apiGroup": RBAC_GROUP, "kind": kind, "name": name});
    let subject = |subject: &Value| {
        let (kind, name) = text(subject).split_once(':').unwrap_or_default();
        match name.split_once('/').filter(|_| kind == "ServiceAccount") {
            Some((namespace, name)) => json!({"kind": kind, "namespace": namespace, "name": name}),
            None => json!({"kind": kind, "name": name}),
        }
    };
    let subjects: Vec<Value> = items(&described["subjects"]).map(subject).collect();
    Map::from_iter([("roleRef".to_owned(), role), ("subjects".to_owned(), subjects.into())])
}

/// The flow schemas and priority levels.
fn flow_control(data: &Value) -> Vec<Initial> {
    let initial = |described: &Value| {
        let is_schema = described["kind"] == "FlowSchema";
        let plural = if is_schema { "flowschemas" } else { "prioritylevelconfigurations" };
        let mut initial = Initial::new(FLOW_GROUP, plural, PRODUCER);
        let (api_version, kind) = (format!("{FLOW_GROUP}/v1"), &described["kind"]);
        initial.object = json!({
            "apiVersion": api_version, "kind": kind,
            "metadata": {
                "name": described["name"],
                "annotations": {"apf.kubernetes.io/autoupdate-spec": "true"},
            },
            "spec": described["spec"],
        });
        let level = text(&described["spec"]["priorityLevelConfiguration"]["name"]);
        let message = format!(
            "This FlowSchema references the PriorityLevelConfiguration object named {level:?} and \
             it exists"
        );
        let condition = json!({
            "type": "Dangling", "status": "False", "lastTransitionTime": TIME,
            "reason": "Found", "message": message,
        });
        let status = json!({
            "apiVersion": api_version, "kind": kind, "status": {"conditions": [condition]},
        });
        initial.status = is_schema.then_some((CONSUMER, status));
        initial
    };
    items(data).map(initial).collect()
}

/// The services of the API, each with its group, version and priorities.
fn api_services(data: &Value) -> Vec<Initial> {
    let group = "apiregistration.k8s.io";
    let initial = |described: &Value| {
        let mut initial = Initial::new(group, "apiservices", "kube-apiserver");
        let name = format!("{}.{}", text(&described[1]), text(&described[0]));
        initial.object = json!({
            "apiVersion": format!("{group}/v1"), "kind": "APIService",
            "metadata": {
                "name": name,
                "labels": {"kube-aggregator.kubernetes.io/automanaged": "onstart"},
            },
            "spec": {
                "group": described[0], "version": described[1],
                "groupPriorityMinimum": described[2], "versionPriority": described[3],
            },
        });
        initial
    };
    items(data).map(initial).collect()
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
