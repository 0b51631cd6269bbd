//! Rules as documents, for files and for annotations of pods.

use std::time::Duration;

use billhook_yaml::read_document;
use serde_json::{Map, Value};

use super::rule::{Pods, Rule, RuleError};

/// The members of a rule that say what happens.
const EFFECTS: [&str; 19] = [
    "areEvicted",
    "arePulled",
    "areShutDown",
    "areUnschedulable",
    "exit",
    "failLiveness",
    "failToPull",
    "getReady",
    "ignoreDeletion",
    "ignoreSigterm",
    "keepRunning",
    "log",
    "loseReadiness",
    "neverGetReady",
    "regainReadiness",
    "runOutOfMemory",
    "start",
    "stayPending",
    "stop",
];
/// The members that say which pods and containers a rule is about.
const SUBJECTS: [&str; 4] = ["pods", "labels", "container", "image"];
/// The other members.
const OTHERS: [&str; 5] = ["after", "times", "reason", "message", "signal"];

impl Rule {
    /// Reads a rule: `pods`, `container` and `image` are patterns, `labels` is a selector; one of the other
    /// members says what happens, with the value `true`, the exit code for `exit`, or the text for `log`;
    /// `after` is a time such as `3s` or `500ms`.
    ///
    /// ```
    /// use billhook_control_plane::simulation::Rule;
    /// use serde_json::json;
    ///
    /// let written = json!({"pods": "web-*", "container": "app", "exit": 1, "after": "3s", "times": 2});
    /// let rule = Rule::pods("web-*").container("app").exits(1);
    /// let rule = rule.after(std::time::Duration::from_secs(3)).times(2);
    /// assert_eq!(Rule::from_value(&written).unwrap(), rule);
    /// ```
    ///
    /// # Errors
    ///
    /// If a member is missing, unknown or wrong, or it does not have just one effect.
    pub fn from_value(value: &Value) -> Result<Self, RuleError> {
        let members = members_of(value)?;
        if ["pods", "labels", "image"].iter().all(|name| !members.contains_key(*name)) {
            return error("pods is missing: a pattern of names");
        }
        Rule::of_members(members)
    }

    /// Reads the rules of an annotation of a pod: a rule or a list of rules in YAML, which are about the
    /// containers of the pod.
    pub(super) fn of_annotation(text: &str) -> Result<Vec<Self>, RuleError> {
        let document = read_document(text.as_bytes());
        let document = document.map_err(|error| RuleError(error.to_string()))?;
        let read = |value: &Value| {
            let members = members_of(value)?;
            match ["pods", "labels"].iter().find(|name| members.contains_key(**name)) {
                Some(name) => error(&format!("{name} is the pod with the annotation")),
                None => Rule::of_members(members),
            }
        };
        match document.value() {
            Value::Array(rules) => rules.iter().map(read).collect(),
            rule => read(rule).map(|rule| vec![rule]),
        }
    }

    fn of_members(members: &Map<String, Value>) -> Result<Self, RuleError> {
        let is_known = |name: &str| {
            EFFECTS.contains(&name) || SUBJECTS.contains(&name) || OTHERS.contains(&name)
        };
        if let Some(name) = members.keys().find(|name| !is_known(name)) {
            return error(&format!("unknown member {name:?}"));
        }
        let mut effects = EFFECTS.iter().filter_map(|name| members.get_key_value(*name));
        let (effect, given) = match (effects.next(), effects.next()) {
            (Some(effect), None) => effect,
            (Some((one, _)), Some((other, _))) => {
                return error(&format!("{one} and {other} need a rule each"));
            }
            (None, _) => return error(&format!("a rule has one of {}", EFFECTS.join(", "))),
        };
        let mut rule = of_effect(pods(members)?, effect, given)?;
        if let Some(after) = members.get("after") {
            let Some(after) = after.as_str().and_then(duration) else {
                return error("after is a time such as 3s or 500ms");
            };
            rule = rule.after(after);
        }
        if let Some(times) = members.get("times") {
            let Some(times) = times.as_u64() else { return error("times is a whole number") };
            rule = rule.times(times);
        }
        let (reason, message) = (text(members, "reason")?, text(members, "message")?);
        let signal = members.get("signal");
        if signal.is_some_and(|signal| !signal.is_i64()) {
            return error("signal is a whole number");
        }
        let signal = signal.and_then(Value::as_i64);
        let has_words = reason.is_some() || message.is_some() || signal.is_some();
        match effect.as_str() {
            "exit" | "runOutOfMemory" => {
                let (reason, message) = (reason.unwrap_or_default(), message.unwrap_or_default());
                Ok(rule.words(reason, message, signal))
            }
            _ if has_words => error("reason, message and signal belong to exit"),
            _ => Ok(rule),
        }
    }
}

/// Reads which pods and containers a rule is about.
fn pods(members: &Map<String, Value>) -> Result<Pods, RuleError> {
    let pattern = |name| match text(members, name) {
        Ok(pattern) => Ok(pattern.unwrap_or("*")),
        Err(_) => error(&format!("{name} is a pattern of names")),
    };
    let pods = Rule::pods(pattern("pods")?).container(pattern("container")?);
    let pods = pods.image(pattern("image")?);
    match text(members, "labels")? {
        Some(labels) => pods.labels(labels),
        None => Ok(pods),
    }
}

fn of_effect(pods: Pods, effect: &str, given: &Value) -> Result<Rule, RuleError> {
    Ok(match (effect, given) {
        ("exit", Value::Number(code)) if code.is_i64() => {
            pods.exits(code.as_i64().unwrap_or_default())
        }
        ("exit", _) => return error("exit is an exit code"),
        ("log", Value::String(text)) => pods.log(text),
        ("log", _) => return error("log is a text"),
        (name, given) if *given != Value::Bool(true) => {
            return error(&format!("{name} is true or absent"));
        }
        ("areEvicted", _) => pods.are_evicted(),
        ("arePulled", _) => pods.are_pulled(),
        ("areShutDown", _) => pods.are_shut_down(),
        ("areUnschedulable", _) => pods.are_unschedulable(),
        ("failLiveness", _) => pods.fail_liveness(),
        ("failToPull", _) => pods.fail_to_pull(),
        ("getReady", _) => pods.get_ready(),
        ("ignoreDeletion", _) => pods.ignore_deletion(),
        ("ignoreSigterm", _) => pods.ignore_sigterm(),
        ("keepRunning", _) => pods.keep_running(),
        ("loseReadiness", _) => pods.lose_readiness(),
        ("neverGetReady", _) => pods.never_get_ready(),
        ("regainReadiness", _) => pods.regain_readiness(),
        ("runOutOfMemory", _) => pods.run_out_of_memory(),
        ("start", _) => pods.start(),
        ("stop", _) => pods.stop(),
        _ => pods.stay_pending(),
    })
}

fn error<T>(text: &str) -> Result<T, RuleError> {
    Err(RuleError(text.to_owned()))
}

fn members_of(value: &Value) -> Result<&Map<String, Value>, RuleError> {
    value.as_object().map_or_else(|| error("not an object"), Ok)
}

/// Returns a member that is a text, if it is there.
fn text<'m>(members: &'m Map<String, Value>, name: &str) -> Result<Option<&'m str>, RuleError> {
    match members.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => error(&format!("{name} is a text")),
    }
}

/// Reads a time: a whole number and a unit.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let seconds = |factor: u64| Some(Duration::from_secs(number.checked_mul(factor)?));
    match text.strip_prefix(digits)? {
        "ms" => Some(Duration::from_millis(number)),
        "s" => seconds(1),
        "m" => seconds(60),
        "h" => seconds(3600),
        _ => None,
    }
}
