//! The statuses that simulated nodes write (CP-111, CP-116, CP-117).

use std::net::Ipv4Addr;

use billhook_apimachinery::record::text;
use serde_json::{Map, Value, json};

use super::container::Container;
use super::pod::{Ended, Phase, Pod};
use super::script::{Script, Unready};
use crate::clock::Timestamp;
use crate::document::set;
use crate::object::Object;

/// The address of all nodes.
pub(super) const HOST: &str = "10.0.0.1";
const EVICTED: &str = "The node was low on resource: memory. ";
const SHUT_DOWN: &str = "Pod was terminated in response to imminent node shutdown.";
const DEADLINE: &str = "Pod was active on the node longer than the specified deadline";

/// Returns the patch that brings the status of a pod up to its state; `None` if it is already.
pub(super) fn patch(
    pod: &Pod<'_>,
    script: &Script,
    address: impl FnOnce() -> Ipv4Addr,
    now: Timestamp,
) -> Option<Value> {
    let mut patch = Map::new();
    let (object, phase) = (pod.object, pod.phase());
    let mut put = |name: &str, value: Value| {
        if object.get("/status").get(name) != Some(&value) {
            patch.insert(name.to_owned(), value);
        }
    };
    put("phase", phase.name().into());
    put("observedGeneration", object.get("/metadata/generation").clone());
    let statuses = |containers: &mut dyn Iterator<Item = &Container>| -> Value {
        containers.map(|container| container.status(object.uid())).collect()
    };
    put("containerStatuses", statuses(&mut pod.containers.iter()));
    if !pod.init.is_empty() {
        let init = pod.init.iter().map(|init| &init.container);
        put("initContainerStatuses", statuses(&mut init.into_iter()));
    }
    if !pod.ephemeral.is_empty() {
        let mut ephemeral = statuses(&mut pod.ephemeral.iter());
        for status in ephemeral.as_array_mut().into_iter().flatten() {
            // They are not probed, and so are never said to have started.
            status.as_object_mut().and_then(|status| status.remove("started"));
        }
        put("ephemeralContainerStatuses", ephemeral);
    }
    if let Some((reason, message)) = pod.ended.and_then(told) {
        put("reason", reason.into());
        put("message", message.into());
    }
    let conditions = conditions(pod, phase, script, now);
    let changed: Vec<Value> = conditions.into_iter().filter(|it| differs(object, it)).collect();
    if !changed.is_empty() {
        patch.insert("conditions".to_owned(), changed.into());
    }
    if patch.is_empty() {
        return None;
    }
    if object.text("/status/startTime").is_empty() {
        patch.insert("startTime".to_owned(), now.to_rfc3339().into());
        patch.insert("hostIP".to_owned(), HOST.into());
        patch.insert("hostIPs".to_owned(), json!([{"ip": HOST}]));
    }
    let has_begun = !pod.containers.iter().all(Container::is_new)
        || pod.init.iter().any(|init| !init.container.is_new());
    if has_begun && object.text("/status/podIP").is_empty() {
        let address = match object.get("/spec/hostNetwork").as_bool() {
            Some(true) => HOST.to_owned(),
            _ => address().to_string(),
        };
        patch.insert("podIPs".to_owned(), json!([{"ip": address}]));
        patch.insert("podIP".to_owned(), address.into());
    }
    Some(Value::Object(patch))
}

/// Returns the reason and the message of a pod that was ended from outside.
fn told(ended: Ended) -> Option<(&'static str, &'static str)> {
    match ended {
        Ended::Stopped => None,
        Ended::Evicted => Some(("Evicted", EVICTED)),
        Ended::ShutDown => Some(("Terminated", SHUT_DOWN)),
        Ended::DeadlineExceeded => Some(("DeadlineExceeded", DEADLINE)),
    }
}

/// Returns the conditions that a node owns; those of others stay (CP-111).
fn conditions(pod: &Pod<'_>, phase: Phase, script: &Script, now: Timestamp) -> Vec<Value> {
    let because = |reason: &str, message: String| Unready { reason: reason.to_owned(), message };
    let uninitialized = pod.uninitialized();
    let initialized = match uninitialized.is_empty() || phase == Phase::Succeeded {
        true => None,
        false => Some(because("ContainersNotInitialized", listed("incomplete", &uninitialized))),
    };
    let unready = pod.unready();
    let unready = match phase {
        Phase::Succeeded => Some(because("PodCompleted", String::new())),
        Phase::Failed => Some(because("PodFailed", String::new())),
        _ if script.unready.is_some() => script.unready.clone(),
        _ if unready.is_empty() => None,
        _ => Some(because("ContainersNotReady", listed("unready", &unready))),
    };
    let ready = unready.clone().or_else(|| unmet_gate(pod.object));
    let has_sandbox = pod.init.iter().any(|init| !init.container.is_new())
        || !pod.containers.iter().all(Container::is_new);
    let sandbox = (!has_sandbox || phase.is_terminal()).then(Unready::default);
    let condition = |kind, because: Option<&Unready>| condition(pod.object, kind, because, now);
    let mut conditions = vec![
        condition("PodReadyToStartContainers", sandbox.as_ref()),
        condition("Initialized", initialized.as_ref()),
        condition("Ready", ready.as_ref()),
        condition("ContainersReady", unready.as_ref()),
    ];
    if phase == Phase::Succeeded
        && let [_, initialized, ..] = conditions.as_mut_slice()
    {
        set(initialized, &["reason"], "PodCompleted".into());
    }
    let disrupted = pod.ended.filter(|it| matches!(it, Ended::Evicted | Ended::ShutDown));
    if let Some((_, message)) = disrupted.and_then(told) {
        conditions.push(json!({
            "type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet",
            "message": message, "lastProbeTime": null, "lastTransitionTime": now.to_rfc3339(),
        }));
    }
    conditions
}

fn listed(what: &str, names: &[&str]) -> String {
    format!("containers with {what} status: [{}]", names.join(" "))
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

/// A condition that is true unless there is a reason why not. Its transition time stays if its status
/// does.
fn condition(pod: &Object, kind: &str, because: Option<&Unready>, now: Timestamp) -> Value {
    let status = if because.is_none() { "True" } else { "False" };
    let known = pod.condition(kind).filter(|it| it.get("status").is_some_and(|it| it == status));
    let since = known.and_then(|known| known.get("lastTransitionTime")).cloned();
    // What is not said any more has to be taken away from what is stored.
    let said = |text: fn(&Unready) -> &String| {
        because
            .map(text)
            .filter(|text| !text.is_empty())
            .map_or(Value::Null, |it| it.clone().into())
    };
    json!({
        "type": kind, "status": status, "lastProbeTime": null,
        "lastTransitionTime": since.unwrap_or_else(|| now.to_rfc3339().into()),
        "reason": said(|because| &because.reason), "message": said(|because| &because.message),
    })
}

/// Whether a condition differs from the one of its type that a pod has.
fn differs(pod: &Object, condition: &Value) -> bool {
    let kind = condition.get("type").and_then(Value::as_str).unwrap_or_default();
    let known = pod.condition(kind);
    let members = ["status", "reason", "message"];
    members.iter().any(|name| known.map_or("", |it| text(it, name)) != text(condition, name))
}
