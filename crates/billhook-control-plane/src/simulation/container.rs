//! The states of a container, and how one follows from the other (CP-112, CP-113).

use std::time::Duration;

use billhook_apimachinery::record::text;
use serde_json::{Map, Value, json};

use super::needs::Needs;
use super::restart::Restart;
use super::script::{ContainerScript, ExitWords};
use crate::clock::Timestamp;
use crate::document::set;
use crate::hash::number_of;
use crate::object::Object;

/// A container of a pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Container {
    pub(super) name: String,
    pub(super) image: String,
    pub(super) is_always_pulled: bool,
    pub(super) state: State,
    last: Option<Terminated>,
    restarts: u64,
    /// Whether it is started again.
    restart: Restart,
    /// How long it sleeps before it is asked to end.
    sleeps: Duration,
    /// The amounts that it may use, which its node gives it at once.
    resources: Value,
    pub(super) is_ready: bool,
    /// Whether its liveness probe has failed just now.
    pub(super) has_failed_liveness: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    Waiting { reason: String, message: String },
    Running { since: Timestamp },
    Terminated(Terminated),
}

/// The end of a container.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Terminated {
    pub(super) code: i64,
    pub(super) reason: String,
    message: String,
    signal: Option<i64>,
    started: Timestamp,
    finished: Timestamp,
}

/// The circumstances on which the next state of a container depends.
#[derive(Debug)]
pub(super) struct Surroundings<'s> {
    /// `<namespace>/<name>` and the UID of its pod, for messages.
    pub(super) pod: (&'s str, &'s str),
    /// When the pod has come to its node.
    pub(super) arrived: Timestamp,
    pub(super) now: Timestamp,
    /// The objects that are missing.
    pub(super) needs: &'s Needs,
}

/// The first delay of a restart, the last one, and the time after which they begin again.
const FIRST_DELAY: Duration = Duration::from_secs(10);
const LAST_DELAY: Duration = Duration::from_secs(300);
const RECOVERED: Duration = Duration::from_secs(600);
/// The beginning of the message of a container that waits for a restart.
const BACKOFF: &str = "back-off ";
/// The exit code of a container that ends when it is asked to, and of one that is killed.
pub(super) const STOPPED: i64 = 143;
pub(super) const KILLED: i64 = 137;

impl Container {
    /// Reads a container of a pod's spec, with its status if it has one.
    pub(super) fn read(
        spec: &Value,
        statuses: &[Value],
        restart: Restart,
        waits_for: &str,
    ) -> Self {
        let name = text(spec, "name");
        let status = statuses.iter().find(|status| text(status, "name") == name);
        let waiting = || State::Waiting { reason: waits_for.to_owned(), message: String::new() };
        let state = status.and_then(|status| State::parse(status.get("state")?));
        let last =
            status.and_then(|status| Terminated::parse(status.pointer("/lastState/terminated")?));
        let restarts = status.and_then(|status| status.get("restartCount")?.as_u64());
        let sleeps = spec.pointer("/lifecycle/preStop/sleep/seconds").and_then(Value::as_u64);
        Container {
            name: name.to_owned(),
            image: text(spec, "image").to_owned(),
            is_always_pulled: text(spec, "imagePullPolicy") == "Always",
            state: state.unwrap_or_else(waiting),
            last,
            restarts: restarts.unwrap_or_default(),
            restart,
            sleeps: Duration::from_secs(sleeps.unwrap_or_default()),
            resources: spec.get("resources").cloned().unwrap_or_else(|| json!({})),
            is_ready: status.is_some_and(|status| status.get("ready") == Some(&Value::Bool(true))),
            has_failed_liveness: false,
        }
    }

    /// Reads the ephemeral containers of a pod, which run once.
    pub(super) fn read_ephemeral(pod: &Object) -> Vec<Self> {
        let statuses = pod.list("/status/ephemeralContainerStatuses");
        let read = |spec| {
            let restart = Restart::read(spec, "Never", false);
            Container::read(spec, statuses, restart, "ContainerCreating")
        };
        pod.list("/spec/ephemeralContainers").iter().map(read).collect()
    }

    /// Goes one state further, if the time has come. Returns how long that still takes, if the state
    /// ends by itself.
    pub(super) fn advance(
        &mut self,
        script: &ContainerScript,
        around: &Surroundings<'_>,
    ) -> Option<Duration> {
        let now = around.now;
        match &self.state {
            State::Waiting { .. } if script.is_not_pulled => self.fail_to_pull(),
            State::Waiting { .. } => {
                let due = match &self.last {
                    Some(last) => last.finished.plus(self.backoff()),
                    None => around.arrived.plus(script.pulled_after).plus(script.starts_after),
                };
                self.is_always_pulled |= !script.pulled_after.is_zero();
                if due > now {
                    return Some(due.since(now));
                }
                if let Some(missing) = around.needs.containers.get(&self.name) {
                    return self.lack(missing.clone());
                }
                self.restarts += u64::from(self.last.is_some());
                self.run(script, now)
            }
            State::Running { since } => {
                let since = *since;
                let goes_on = script.exits_times.is_some_and(|times| self.restarts >= times);
                let exit = script.exit.filter(|_| !goes_on);
                let ends = exit.map(|exit| since.plus(exit.after));
                if let (Some(exit), Some(_)) = (exit, ends.filter(|ends| *ends <= now)) {
                    self.end(exit.code, exit.is_oom, now);
                    self.say(&script.exit_words);
                    return Some(Duration::ZERO);
                }
                let fails = script.fails_liveness_after.filter(|_| !goes_on);
                let fails = fails.map(|after| since.plus(after));
                if fails.is_some_and(|fails| fails <= now) {
                    self.has_failed_liveness = true;
                    self.end(KILLED, false, now);
                    return Some(Duration::ZERO);
                }
                let (is_ready, changes) = script.readiness(now.since(since));
                self.is_ready = is_ready;
                let due = ends.into_iter().chain(fails).min().map(|due| due.since(now));
                due.into_iter().chain(changes).min()
            }
            State::Terminated(ended) => {
                let ended = ended.clone();
                if self.restart.is_after(ended.code) {
                    self.start_again(ended, script, around)
                } else {
                    None
                }
            }
        }
    }

    fn run(&mut self, script: &ContainerScript, now: Timestamp) -> Option<Duration> {
        self.state = State::Running { since: now };
        self.is_ready = script.readiness(Duration::ZERO).0;
        Some(Duration::ZERO)
    }

    /// The first restart is at once, later ones wait.
    fn start_again(
        &mut self,
        ended: Terminated,
        script: &ContainerScript,
        around: &Surroundings<'_>,
    ) -> Option<Duration> {
        let delay = self.delay(&ended);
        self.last = Some(ended);
        if delay.is_zero() {
            if let Some(missing) = around.needs.containers.get(&self.name) {
                return self.lack(missing.clone());
            }
            self.restarts += 1;
            return self.run(script, around.now);
        }
        let (pod, uid) = around.pod;
        let pod = pod.split('/').rev().collect::<Vec<_>>().join("_");
        let (seconds, name) = (delay.as_secs(), &self.name);
        let message =
            format!("{BACKOFF}{seconds}s restarting failed container={name} pod={pod}({uid})");
        self.state = State::Waiting { reason: "CrashLoopBackOff".to_owned(), message };
        Some(delay)
    }

    /// How long it takes to restart after an end: twice as long as before the start that led to it.
    fn delay(&self, ended: &Terminated) -> Duration {
        let has_recovered = ended.finished.since(ended.started) >= RECOVERED;
        let Some(last) = self.last.as_ref().filter(|_| !has_recovered) else {
            return Duration::ZERO;
        };
        let waited = ended.started.since(last.finished);
        let mut delay = FIRST_DELAY;
        while delay <= waited && delay < LAST_DELAY {
            delay = delay.saturating_mul(2).min(LAST_DELAY);
        }
        delay
    }

    /// How long it waits in its state for a restart, as its message says.
    fn backoff(&self) -> Duration {
        let State::Waiting { message, .. } = &self.state else { return Duration::ZERO };
        let seconds = message.strip_prefix(BACKOFF).and_then(|rest| rest.split_once("s "));
        let seconds = seconds.and_then(|(seconds, _)| seconds.parse().ok());
        seconds.map_or(Duration::ZERO, Duration::from_secs)
    }

    fn fail_to_pull(&mut self) -> Option<Duration> {
        let (reason, message) = match &self.state {
            State::Waiting { reason, .. }
                if reason == "ErrImagePull" || reason == "ImagePullBackOff" =>
            {
                ("ImagePullBackOff", format!("Back-off pulling image \"{}\"", self.image))
            }
            _ => ("ErrImagePull", format!("failed to pull image \"{}\"", self.image)),
        };
        self.state = State::Waiting { reason: reason.to_owned(), message };
        None
    }

    /// Waits for what is missing.
    fn lack(&mut self, message: String) -> Option<Duration> {
        let reason = "CreateContainerConfigError".to_owned();
        self.state = State::Waiting { reason, message };
        None
    }

    /// Ends it, if it has not ended.
    pub(super) fn end(&mut self, code: i64, is_oom: bool, now: Timestamp) {
        let started = match &self.state {
            State::Running { since } => *since,
            State::Waiting { .. } => now,
            State::Terminated(_) => return,
        };
        let reason = match code {
            _ if is_oom => "OOMKilled",
            0 => "Completed",
            _ => "Error",
        };
        self.is_ready = false;
        let (reason, message, finished) = (reason.to_owned(), String::new(), now);
        let ended = Terminated { code, reason, message, signal: None, started, finished };
        self.state = State::Terminated(ended);
    }

    /// Says why it has ended.
    fn say(&mut self, words: &ExitWords) {
        let State::Terminated(ended) = &mut self.state else { return };
        if !words.reason.is_empty() {
            ended.reason.clone_from(&words.reason);
        }
        ended.message.clone_from(&words.message);
        ended.signal = words.signal;
    }

    /// Stops it because its pod is deleted, as soon as its hook and its script allow, from a time on and until
    /// it is killed. Returns how long it goes on.
    pub(super) fn stop(
        &mut self,
        script: &ContainerScript,
        (asked, killed): (Timestamp, Timestamp),
        now: Timestamp,
    ) -> Option<Duration> {
        let stops = asked.plus(self.sleeps).plus(script.stops_after);
        let is_killed = script.ignores_sigterm || (stops > asked && stops >= killed);
        let due = if is_killed { killed } else { stops };
        if self.is_running() && due > now {
            return Some(due.since(now));
        }
        self.end(if is_killed { KILLED } else { STOPPED }, false, now);
        None
    }

    /// Returns its exit code, if it has ended.
    pub(super) fn exit_code(&self) -> Option<i64> {
        match &self.state {
            State::Terminated(ended) => Some(ended.code),
            _ => None,
        }
    }

    /// Whether it is to start, or to start again.
    pub(super) fn may_start(&self) -> bool {
        self.is_waiting() || self.exit_code().is_some_and(|code| self.restart.is_after(code))
    }

    /// Whether it has ended for good.
    pub(super) fn has_ended(&self) -> bool {
        self.exit_code().is_some() && !self.may_start()
    }

    /// Whether it has failed, and is not started again.
    pub(super) fn has_failed(&self) -> bool {
        self.exit_code().is_some_and(|code| code != 0 && !self.restart.is_after(code))
    }

    pub(super) fn is_running(&self) -> bool {
        matches!(self.state, State::Running { .. })
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting { .. })
    }

    /// Whether it waits for its first start.
    pub(super) fn is_new(&self) -> bool {
        self.is_waiting() && self.last.is_none()
    }

    /// Prints its status.
    pub(super) fn status(&self, uid: &str) -> Value {
        let mut status = Map::new();
        let mut put = |name: &str, value: Value| drop(status.insert(name.to_owned(), value));
        put("name", self.name.as_str().into());
        put("image", self.image.as_str().into());
        put("imageID", if self.is_new() { "" } else { self.image.as_str() }.into());
        put("restartCount", self.restarts.into());
        put("ready", self.is_ready.into());
        put("started", self.is_running().into());
        put("state", self.state.value(|| self.id(uid, self.restarts)));
        // While it waits, the start that ended last is the newest one.
        let last_start = self.restarts.saturating_sub(u64::from(!self.is_waiting()));
        let last = self.last.as_ref();
        let last = last.map(|last| json!({"terminated": last.value(&self.id(uid, last_start))}));
        // What is stored has the member even where it is empty.
        put("lastState", last.unwrap_or_else(|| json!({})));
        if !self.is_new() {
            put("containerID", self.id(uid, self.restarts).into());
        }
        if self.is_running() {
            let requests = self.resources.get("requests").cloned();
            requests.into_iter().for_each(|requests| put("allocatedResources", requests));
            put("resources", self.resources.clone());
        }
        Value::Object(status)
    }

    /// Returns what a start of it is known by, in the pod with a UID.
    fn id(&self, uid: &str, start: u64) -> String {
        let start = number_of(&format!("{}/{start}", self.name));
        format!("sim://{}{start:08x}", uid.replace('-', ""))
    }
}

impl State {
    fn parse(state: &Value) -> Option<Self> {
        if let Some(waiting) = state.get("waiting") {
            let (reason, message) = (text(waiting, "reason"), text(waiting, "message"));
            return Some(State::Waiting { reason: reason.to_owned(), message: message.to_owned() });
        }
        if let Some(running) = state.get("running") {
            return Some(State::Running { since: time(running, "startedAt")? });
        }
        Terminated::parse(state.get("terminated")?).map(State::Terminated)
    }

    fn value(&self, id: impl FnOnce() -> String) -> Value {
        match self {
            State::Waiting { reason, message } if message.is_empty() => {
                json!({"waiting": {"reason": reason}})
            }
            State::Waiting { reason, message } => {
                json!({"waiting": {"reason": reason, "message": message}})
            }
            State::Running { since } => json!({"running": {"startedAt": since.to_rfc3339()}}),
            State::Terminated(ended) => json!({"terminated": ended.value(&id())}),
        }
    }
}

impl Terminated {
    fn parse(ended: &Value) -> Option<Self> {
        Some(Terminated {
            code: ended.get("exitCode")?.as_i64()?,
            reason: text(ended, "reason").to_owned(),
            message: text(ended, "message").to_owned(),
            signal: ended.get("signal").and_then(Value::as_i64),
            started: time(ended, "startedAt")?,
            finished: time(ended, "finishedAt")?,
        })
    }

    fn value(&self, id: &str) -> Value {
        let mut ended = json!({
            "exitCode": self.code, "reason": self.reason, "containerID": id,
            "startedAt": self.started.to_rfc3339(), "finishedAt": self.finished.to_rfc3339(),
        });
        if !self.message.is_empty() {
            set(&mut ended, &["message"], self.message.as_str().into());
        }
        if let Some(signal) = self.signal {
            set(&mut ended, &["signal"], signal.into());
        }
        ended
    }
}

fn time(value: &Value, name: &str) -> Option<Timestamp> {
    Timestamp::parse(text(value, name))
}
