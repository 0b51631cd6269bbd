//! The statuses that simulated nodes write (CP-111, CP-112).

use std::net::Ipv4Addr;

use serde_json::{Map, Value, json};

use super::script::{Script, Unready};
use crate::clock::Timestamp;
use crate::object::Object;

/// The address of a pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address(Ipv4Addr);

/// The address before that of the first pod.
const FIRST: u32 = u32::from_be_bytes([10, 244, 0, 0]);
/// How many addresses there are before they begin again.
const ADDRESSES: u32 = 12 << 16;

impl Address {
    /// Returns the address of the nth pod, from 0 on.
    pub(super) fn nth(number: u32) -> Self {
        Address(Ipv4Addr::from(FIRST + 1 + number % (ADDRESSES - 2)))
    }
}

/// The address of all nodes.
const HOST: &str = "10.0.0.1";

/// Returns the status of a pod whose containers run.
pub(super) fn running(pod: &Object, address: Address, script: &Script, now: Timestamp) -> Value {
    let time = now.to_rfc3339();
    let address = match pod.get("/spec/hostNetwork").as_bool() {
        Some(true) => HOST.to_owned(),
        _ => address.0.to_string(),
    };
    let mut conditions = vec![
        condition("PodReadyToStartContainers", "True", None, now),
        condition("Initialized", "True", None, now),
    ];
    conditions.extend(readiness_conditions(pod, script.unready.as_ref(), now));
    let state = json!({"running": {"startedAt": time}});
    json!({
        "phase": "Running", "startTime": time, "hostIP": HOST, "hostIPs": [{"ip": HOST}],
        "podIP": address, "podIPs": [{"ip": address}], "conditions": conditions,
        "containerStatuses": containers(pod, &state, true, script.unready.is_none()),
        "initContainerStatuses": init_containers(pod, now),
    })
}

/// Returns the part of the status that says whether a pod is ready.
pub(super) fn readiness(pod: &Object, script: &Script, now: Timestamp) -> Value {
    let is_ready = script.unready.is_none();
    let statuses = pod.list("/status/containerStatuses").iter().map(|status| {
        let mut status = status.clone();
        if let Some(members) = status.as_object_mut() {
            members.insert("ready".to_owned(), is_ready.into());
        }
        status
    });
    json!({
        "conditions": readiness_conditions(pod, script.unready.as_ref(), now),
        "containerStatuses": statuses.collect::<Vec<_>>(),
    })
}

/// Returns the status of a pod whose containers have ended with an exit code.
pub(super) fn exited(pod: &Object, code: i32, now: Timestamp) -> Value {
    let time = now.to_rfc3339();
    let (phase, reason, ended) = match code {
        0 => ("Succeeded", "PodCompleted", "Completed"),
        _ => ("Failed", "PodFailed", "Error"),
    };
    let started = pod.get("/status/startTime").as_str().unwrap_or(&time);
    let state = json!({"terminated": {
        "exitCode": code, "reason": ended, "startedAt": started, "finishedAt": time,
    }});
    let because = Unready { reason: reason.to_owned(), message: String::new() };
    let conditions = ["Ready", "ContainersReady"]
        .map(|kind| condition_since(pod, kind, "False", Some(&because), now));
    json!({
        "phase": phase, "conditions": conditions,
        "containerStatuses": containers(pod, &state, false, false),
    })
}

fn readiness_conditions(pod: &Object, unready: Option<&Unready>, now: Timestamp) -> [Value; 2] {
    let status = if unready.is_none() { "True" } else { "False" };
    let gates = unready.is_none().then(|| unmet_gate(pod)).flatten();
    let ready = match &gates {
        Some(gate) => condition_since(pod, "Ready", "False", Some(gate), now),
        None => condition_since(pod, "Ready", status, unready, now),
    };
    [ready, condition_since(pod, "ContainersReady", status, unready, now)]
}

/// Returns why a readiness gate keeps a pod from being ready, if one does.
fn unmet_gate(pod: &Object) -> Option<Unready> {
    let gates = pod.list("/spec/readinessGates").iter();
    let mut kinds = gates.filter_map(|gate| gate.get("conditionType")?.as_str());
    let gate = kinds.find(|kind| !pod.is_condition_true(kind))?;
    let status = pod.condition(gate).and_then(|condition| condition.get("status")?.as_str());
    let message = match status {
        None => format!("corresponding condition of pod readiness gate \"{gate}\" does not exist."),
        Some(status) => {
            format!("the status of pod readiness gate \"{gate}\" is not \"True\", but {status}")
        }
    };
    Some(Unready { reason: "ReadinessGatesNotReady".to_owned(), message })
}

/// A condition whose transition time stays if its status does.
fn condition_since(
    pod: &Object,
    kind: &str,
    status: &str,
    because: Option<&Unready>,
    now: Timestamp,
) -> Value {
    let known = pod.condition(kind).filter(|it| it.get("status").is_some_and(|it| it == status));
    let since = known.and_then(|known| known.get("lastTransitionTime")).cloned();
    let mut condition = condition(kind, status, because, now);
    if let (Some(since), Some(members)) = (since, condition.as_object_mut()) {
        members.insert("lastTransitionTime".to_owned(), since);
    }
    condition
}

fn condition(kind: &str, status: &str, because: Option<&Unready>, now: Timestamp) -> Value {
    // What is not said any more has to be taken away from what is stored.
    let said = |text: fn(&Unready) -> &String| {
        because
            .map(text)
            .filter(|text| !text.is_empty())
            .map_or(Value::Null, |it| it.clone().into())
    };
    json!({
        "type": kind, "status": status, "lastProbeTime": null,
        "lastTransitionTime": now.to_rfc3339(),
        "reason": said(|because| &because.reason), "message": said(|because| &because.message),
    })
}

/// Returns the statuses of the containers, all in the same state.
fn containers(pod: &Object, state: &Value, has_started: bool, is_ready: bool) -> Vec<Value> {
    let of_container = |container: &Value| {
        let mut status = container_status(pod, container, state);
        status.insert("ready".to_owned(), is_ready.into());
        status.insert("started".to_owned(), has_started.into());
        Value::Object(status)
    };
    pod.list("/spec/containers").iter().map(of_container).collect()
}

/// Returns the statuses of the init containers: all are done, but sidecars run.
fn init_containers(pod: &Object, now: Timestamp) -> Vec<Value> {
    let time = now.to_rfc3339();
    let of_container = |container: &Value| {
        let is_sidecar = container.get("restartPolicy").is_some_and(|it| it == "Always");
        let state = match is_sidecar {
            true => json!({"running": {"startedAt": time}}),
            false => json!({"terminated": {
                "exitCode": 0, "reason": "Completed", "startedAt": time, "finishedAt": time,
            }}),
        };
        let mut status = container_status(pod, container, &state);
        status.insert("ready".to_owned(), true.into());
        status.insert("started".to_owned(), is_sidecar.into());
        Value::Object(status)
    };
    pod.list("/spec/initContainers").iter().map(of_container).collect()
}

fn container_status(pod: &Object, container: &Value, state: &Value) -> Map<String, Value> {
    let text = |name: &str| container.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut status = Map::new();
    status.insert("name".to_owned(), text("name").into());
    status.insert("image".to_owned(), text("image").into());
    status.insert("imageID".to_owned(), text("image").into());
    let id = format!("sim://{}/{}", pod.uid(), text("name"));
    status.insert("containerID".to_owned(), id.into());
    status.insert("restartCount".to_owned(), 0.into());
    status.insert("state".to_owned(), state.clone());
    status
}
