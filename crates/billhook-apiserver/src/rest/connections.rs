//! Logs of pods and connections to pods, nodes and services, as far as a server without nodes comes
//! (BK-114).

use billhook::webhook::AdmissionAttributes;
use billhook_admission::Warnings;
use billhook_apimachinery::print::quote;
use billhook_apimachinery::record::text;
use billhook_apimachinery::{GroupVersionKind, GroupVersionResource, Status};
use billhook_decode::read_json;
use http::StatusCode;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::context::Context;
use super::log_options::{self, LogOptions};
use super::logs::{Followed, Running, check_has_log};
use super::options::WriteOptions;
use super::watch::later;
use super::write::warn;
use crate::answer::Body;
use crate::failures::not_allowed;
use crate::permissions::question_of;
use crate::request::Verb;
use crate::response::{Response, plain};
use crate::write_path::object_key;

const NO_CONTAINERS: &str = "the containers of simulated nodes cannot be connected to";

/// Whether a request is for a subresource that a node has to answer.
pub(super) fn is_connection(context: &Context<'_>) -> bool {
    let subresource = context.path.subresource.as_str();
    match context.resource.kind.map_or("", |kind| kind.plural) {
        "pods" => takes_container(subresource) || matches!(subresource, "portforward" | "proxy"),
        "nodes" | "services" => subresource == "proxy",
        _ => false,
    }
}

fn takes_container(subresource: &str) -> bool {
    matches!(subresource, "attach" | "exec" | "log")
}

/// Answers in place of the node of a pod: its containers log what the simulation of the node says.
pub(super) async fn connect(context: &Context<'_>, verb: Verb) -> Result<Response, Status> {
    let subresource = context.path.subresource.as_str();
    let offered = context.resource.kind.and_then(|kind| kind.subresource(subresource));
    let offered = offered.filter(|offered| offered.verbs.contains(&verb.name()));
    let options = &offered.ok_or_else(not_allowed)?.body;
    check_upgrade(context)?;
    if subresource == "log" {
        return connected(context, context.request.query.text("container"));
    }
    let mut warnings = Warnings::default();
    let type_ = GroupVersionKind::new(options.group, options.version, options.kind);
    let object = options_of(context, &type_);
    let attributes =
        AdmissionAttributes::connect(type_, context.resource_name(), subresource, object);
    let write_options = WriteOptions {
        dry_run: context.request.query.get("dryRun").is_some(),
        ..WriteOptions::default()
    };
    let admitted =
        context.admit_unstored(attributes, &write_options, &mut warnings, |_| Ok(())).await;
    let connected = admitted.and_then(|options| connected(context, text(&options, "container")));
    let mut response = connected.unwrap_or_else(|status| context.failure(&status));
    warn(&mut response, &warnings);
    Ok(response)
}

/// Returns the options of a connection, which are in the query (AR-36).
fn options_of(context: &Context<'_>, type_: &GroupVersionKind) -> Value {
    let query = &context.request.query;
    let mut options = Map::new();
    options.insert("apiVersion".to_owned(), type_.api_version().into());
    options.insert("kind".to_owned(), type_.kind.as_str().into());
    let subresource = context.path.subresource.as_str();
    match subresource {
        "portforward" => {
            let ports = query.all("ports").filter_map(|port| port.parse::<i32>().ok());
            let ports: Vec<i32> = ports.collect();
            options.extend((!ports.is_empty()).then(|| ("ports".to_owned(), ports.into())));
        }
        "proxy" => {
            let begin = format!("/{}/proxy", context.path.name.as_deref().unwrap_or_default());
            let (_, path) = context.request.path().split_once(&*begin).unwrap_or_default();
            let path = path.trim_start_matches('/');
            options.extend((!path.is_empty()).then(|| ("path".to_owned(), path.into())));
        }
        _ => {
            let flags = ["stdin", "stdout", "stderr", "tty"];
            let set =
                flags.into_iter().filter(|flag| query.get(flag).is_some() && query.flag(flag));
            options.extend(set.map(|flag| (flag.to_owned(), true.into())));
            let container = query.text("container");
            let named = (!container.is_empty()).then(|| ("container".to_owned(), container.into()));
            options.extend(named);
            if subresource == "exec" {
                let command: Vec<&str> = query.all("command").collect();
                options.insert("command".to_owned(), command.into());
            }
        }
    }
    Value::Object(options)
}

/// Answers in place of the node, for a container if one is named.
fn connected(context: &Context<'_>, container: &str) -> Result<Response, Status> {
    let subresource = context.path.subresource.as_str();
    match context.resource.kind.map_or("", |kind| kind.plural) {
        "nodes" => return Err(refusal_of_node(context, context.name()?)),
        "services" => return Err(refusal_of_service(context, context.name()?)),
        _ => {}
    }
    let wanted = match subresource {
        "log" => log_options::read(context.name()?, &context.request.query)?,
        _ => LogOptions::default(),
    };
    let seen = context.storage().revision();
    let stored = context.stored()?;
    let pod = read_json(&stored.text);
    let pod = pod.map_err(|error| Status::internal_error(&error.to_string()))?;
    let (name, spec) = (context.name()?, pod.value().get("spec").unwrap_or(&Value::Null));
    if takes_container(subresource) {
        check_container(name, spec, container)?;
    }
    let node = text(spec, "nodeName");
    let is_log = subresource == "log";
    if node.is_empty() && is_log {
        return Ok(plain(StatusCode::NO_CONTENT, Body::default()));
    }
    if node.is_empty() {
        return Err(Status::bad_request(format!("pod {name} does not have a host assigned")));
    }
    if !is_log || context.server.read_object("", "nodes", node).is_none() {
        return Err(refusal_of_node(context, node));
    }
    let only = spec.get("containers").and_then(|containers| containers.get(0));
    let container = match container {
        "" => only.map_or("", |container| text(container, "name")),
        named => named,
    };
    let status = pod.value().get("status").unwrap_or(&Value::Null);
    let is_previous = context.request.query.flag("previous");
    check_has_log(name, status, container, is_previous)?;
    let settings = &context.server.settings;
    let log = settings.pod_logs.read(&stored, container, wanted.lines, wanted.bytes);
    let follows = context.request.query.flag("follow") && !is_previous;
    let body = match Running::find(status, container).filter(|_| follows) {
        None => Body::whole(log),
        Some(running) => {
            let pods = &context.resource.collection;
            // Those since the pod was written may be forgotten.
            let changes = context.storage().watch(pods, &stored.key, seen.max(stored.modified));
            let changes = changes.map_err(|why| Status::internal_error(&why.to_string()))?;
            let end = later(Instant::now(), settings.watch_time);
            let retired = context.cache.retired.subscribe();
            running.follow(log, container, &stored.key, Followed { changes, retired, end })
        }
    };
    Ok(plain(StatusCode::OK, body))
}

fn refusal_of_node(context: &Context<'_>, node: &str) -> Status {
    match context.server.read_object("", "nodes", node) {
        Some(_) => Status::failure(501, "NotImplemented", NO_CONTAINERS),
        None => Status::not_found(&GroupVersionResource::new("", "v1", "nodes"), node),
    }
}

/// A service is named with the scheme and the port to use, if they are not the only ones.
fn refusal_of_service(context: &Context<'_>, asked: &str) -> Status {
    let parts: Vec<&str> = asked.split(':').collect();
    let (["" | "http" | "https", name, _] | [name, _] | [name]) = *parts.as_slice() else {
        return Status::bad_request(format!("invalid service request {}", quote(asked)));
    };
    let key = object_key(context.path.namespace.as_deref().unwrap_or_default(), name);
    match context.server.read_object("", "services", &key) {
        Some(_) => {
            let why = format!("no endpoints available for service {}", quote(name));
            Status::failure(503, "ServiceUnavailable", why)
        }
        None => Status::not_found(&GroupVersionResource::new("", "v1", "services"), name),
    }
}

/// A connection over a WebSocket is a `GET`, but needs the permission to create.
fn check_upgrade(context: &Context<'_>) -> Result<(), Status> {
    let asks = context.server.settings.edition.upgrades_need_create
        && context.path.subresource != "proxy"
        && context.request.header("upgrade").eq_ignore_ascii_case("websocket");
    let permissions = &context.server.permissions;
    if !asks || !permissions.look_at_requests() {
        return Ok(());
    }
    let mut question = question_of(context.request);
    Verb::Create.name().clone_into(&mut question.verb);
    permissions.check(context.user, &question)
}

/// A pod with several containers needs the name of one.
fn check_container(pod: &str, spec: &Value, wanted: &str) -> Result<(), Status> {
    let names = |kind: &str| -> Vec<&str> {
        let containers = spec.get(kind).and_then(Value::as_array);
        containers.into_iter().flatten().map(|container| text(container, "name")).collect()
    };
    let (containers, initial) = (names("containers"), names("initContainers"));
    let is_known = |name: &str| {
        let ephemeral = names("ephemeralContainers");
        [&containers, &initial, &ephemeral].into_iter().any(|names| names.contains(&name))
    };
    if wanted.is_empty() && containers.len() <= 1 || is_known(wanted) {
        return Ok(());
    }
    if !wanted.is_empty() {
        let why = format!("container {wanted} is not valid for pod {pod}");
        return Err(Status::bad_request(why));
    }
    let mut why = format!(
        "a container name must be specified for pod {pod}, choose one of: [{}]",
        containers.join(" "),
    );
    if !initial.is_empty() {
        why += &format!(" or one of the init containers: [{}]", initial.join(" "));
    }
    Err(Status::bad_request(why))
}
