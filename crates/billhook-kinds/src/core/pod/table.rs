//! The cells of pods (BK-722).

use billhook_apimachinery::age;
use billhook_apimachinery::metadata::Time;
use serde_json::{Value, json};

use super::resources::is_sidecar;
use crate::cells;
use crate::values::{integer, items, text, value_at};

const NONE: &str = "<none>";

/// Returns the cells of a pod.
pub(super) fn cells(pod: &Value, now: Time) -> Vec<Value> {
    let seen = Seen::of(pod);
    vec![
        cells::name(pod),
        format!("{}/{}", seen.ready, seen.total).into(),
        seen.status.into(),
        restarts(seen.restarts, &seen.restarted, now).into(),
        cells::created(pod, now),
        or_none(first_ip(pod)),
        or_none(text(pod, "/spec/nodeName")),
        or_none(text(pod, "/status/nominatedNodeName")),
        readiness_gates(pod).into(),
    ]
}

fn first_ip(pod: &Value) -> &str {
    match text(pod, "/status/podIPs/0/ip") {
        "" => text(pod, "/status/podIP"),
        ip => ip,
    }
}

/// Returns the conditions of a pod's row: whether it has finished.
pub(super) fn conditions(pod: &Value) -> Vec<Value> {
    let phase = text(pod, "/status/phase");
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return Vec::new(),
    };
    let condition =
        json!({"type": "Completed", "status": "True", "reason": phase, "message": message});
    vec![condition]
}

fn or_none(text: &str) -> Value {
    if text.is_empty() { NONE.into() } else { text.into() }
}

fn restarts(count: i64, last: &str, now: Time) -> String {
    match Time::parse(last) {
        Ok(time) if count != 0 => format!("{count} ({} ago)", age(time, now)),
        _ => count.to_string(),
    }
}

/// How many of the conditions that a pod waits for are met.
fn readiness_gates(pod: &Value) -> String {
    let gates = items(pod, "/spec/readinessGates");
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let is_met = |gate: &&Value| is_true(pod, text(gate, "/conditionType"));
    format!("{}/{}", gates.iter().filter(is_met).count(), gates.len())
}

fn condition<'p>(pod: &'p Value, type_: &str) -> Option<&'p Value> {
    let mut conditions = items(pod, "/status/conditions").iter();
    conditions.find(|condition| text(condition, "/type") == type_)
}

fn is_true(pod: &Value, type_: &str) -> bool {
    condition(pod, type_).is_some_and(|condition| text(condition, "/status") == "True")
}

fn is_set(status: &Value, place: &str) -> bool {
    value_at(status, place).is_some_and(Value::is_object)
}

fn is_flag(status: &Value, place: &str) -> bool {
    value_at(status, place) == Some(&Value::Bool(true))
}

/// The state of a pod as a row shows it.
#[derive(Default)]
struct Seen {
    ready: usize,
    total: usize,
    status: String,
    restarts: i64,
    restarted: String,
}

impl Seen {
    fn of(pod: &Value) -> Self {
        let mut seen = Seen { status: text(pod, "/status/phase").to_owned(), ..Seen::default() };
        seen.total = items(pod, "/spec/containers").len();
        match text(pod, "/status/reason") {
            "" => {}
            reason => reason.clone_into(&mut seen.status),
        }
        let scheduled = condition(pod, "PodScheduled");
        if scheduled.is_some_and(|condition| text(condition, "/reason") == "SchedulingGated") {
            "SchedulingGated".clone_into(&mut seen.status);
        }
        let starts = seen.init_containers(pod);
        if !starts || is_true(pod, "Initialized") {
            seen.containers(pod);
        }
        seen.deletion(pod);
        seen
    }

    /// Counts what was restarted, and when that was last.
    fn restarted(&mut self, status: &Value) {
        self.restarts += integer(status, "/restartCount").unwrap_or_default();
        let ended = text(status, "/lastState/terminated/finishedAt");
        if ended > self.restarted.as_str() {
            ended.clone_into(&mut self.restarted);
        }
    }

    /// Looks at the containers that run before the others; returns whether one still does.
    fn init_containers(&mut self, pod: &Value) -> bool {
        let containers = items(pod, "/spec/initContainers");
        self.total += containers.iter().filter(|container| is_sidecar(container)).count();
        let (mut sidecar_restarts, mut sidecar_restarted) = (0, String::new());
        let mut starts = false;
        for (index, status) in items(pod, "/status/initContainerStatuses").iter().enumerate() {
            let name = text(status, "/name");
            let mut same = containers.iter().filter(|container| text(container, "/name") == name);
            let is_sidecar = same.next().is_some_and(is_sidecar);
            self.restarted(status);
            if is_sidecar {
                let mut own = Seen { restarted: sidecar_restarted.clone(), ..Seen::default() };
                own.restarted(status);
                sidecar_restarts += own.restarts;
                sidecar_restarted = own.restarted;
            }
            if starts || is_set(status, "/state/terminated") && exit_code(status) == 0 {
                continue;
            }
            if is_sidecar && is_flag(status, "/started") {
                self.ready += usize::from(is_flag(status, "/ready"));
                continue;
            }
            self.status = init_status(status, index, containers.len());
            starts = true;
        }
        if !starts || is_true(pod, "Initialized") {
            self.restarts = sidecar_restarts;
            self.restarted = sidecar_restarted;
        }
        starts
    }

    fn containers(&mut self, pod: &Value) {
        let (mut runs, mut failed) = (false, String::new());
        for status in items(pod, "/status/containerStatuses").iter().rev() {
            self.restarted(status);
            let waiting = text(status, "/state/waiting/reason");
            let ended = text(status, "/state/terminated/reason");
            if !waiting.is_empty() {
                waiting.clone_into(&mut self.status);
            } else if !ended.is_empty() {
                ended.clone_into(&mut self.status);
                if exit_code(status) != 0 {
                    ended.clone_into(&mut failed);
                }
            } else if is_set(status, "/state/terminated") {
                self.status = end(status);
                if exit_code(status) != 0 {
                    failed.clone_from(&self.status);
                }
            } else if is_flag(status, "/ready") && is_set(status, "/state/running") {
                runs = true;
                self.ready += 1;
            }
        }
        if self.status != "Completed" {
            return;
        }
        if runs && is_true(pod, "Ready") {
            "Running".clone_into(&mut self.status);
        } else if !failed.is_empty() {
            self.status = failed;
        } else if runs {
            "NotReady".clone_into(&mut self.status);
        }
    }

    fn deletion(&mut self, pod: &Value) {
        if text(pod, "/metadata/deletionTimestamp").is_empty() {
            return;
        }
        if text(pod, "/status/reason") == "NodeLost" {
            "Unknown".clone_into(&mut self.status);
        } else if !matches!(text(pod, "/status/phase"), "Succeeded" | "Failed") {
            "Terminating".clone_into(&mut self.status);
        }
    }
}

fn exit_code(status: &Value) -> i64 {
    integer(status, "/state/terminated/exitCode").unwrap_or_default()
}

/// How a container without a reason ended.
fn end(status: &Value) -> String {
    match integer(status, "/state/terminated/signal").unwrap_or_default() {
        0 => format!("ExitCode:{}", exit_code(status)),
        signal => format!("Signal:{signal}"),
    }
}

fn init_status(status: &Value, index: usize, count: usize) -> String {
    let waiting = text(status, "/state/waiting/reason");
    if is_set(status, "/state/terminated") {
        match text(status, "/state/terminated/reason") {
            "" => format!("Init:{}", end(status)),
            reason => format!("Init:{reason}"),
        }
    } else if !waiting.is_empty() && waiting != "PodInitializing" {
        format!("Init:{waiting}")
    } else {
        format!("Init:{index}/{count}")
    }
}
