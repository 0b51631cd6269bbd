//! Rules as documents, for files.

use std::time::Duration;

use serde_json::Value;

use super::rule::Rule;

/// Why a document is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RuleError(String);

/// The members of a rule that say what happens.
const EFFECTS: [&str; 11] = [
    "areEvicted",
    "exit",
    "failLiveness",
    "failToPull",
    "getReady",
    "ignoreDeletion",
    "ignoreSigterm",
    "neverGetReady",
    "runOutOfMemory",
    "start",
    "stayPending",
];
/// The other members.
const OTHERS: [&str; 4] = ["pods", "container", "after", "times"];

impl Rule {
    /// Reads a rule: `pods` and `container` are patterns; one of the other members says what happens,
    /// with the value `true`, or the exit code for `exit`; `after` is a time such as `3s` or `500ms`.
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
        let error = |text: String| Err(RuleError(text));
        let Some(members) = value.as_object() else { return error("not an object".to_owned()) };
        let is_known = |name: &str| EFFECTS.contains(&name) || OTHERS.contains(&name);
        if let Some(name) = members.keys().find(|name| !is_known(name)) {
            return error(format!("unknown member {name:?}"));
        }
        let mut effects = members.keys().filter(|name| EFFECTS.contains(&name.as_str()));
        let (Some(effect), None) = (effects.next(), effects.next()) else {
            return error(format!("a rule has one of {}", EFFECTS.join(", ")));
        };
        let Some(pattern) = members.get("pods").and_then(Value::as_str) else {
            return error("pods is missing: a pattern of names".to_owned());
        };
        let container = members.get("container").map_or(Some("*"), Value::as_str);
        let Some(container) = container else {
            return error("container is a pattern of names".to_owned());
        };
        let (pods, given) = (Rule::pods(pattern).container(container), members.get(effect));
        let mut rule = match (effect.as_str(), given.and_then(Value::as_i64)) {
            ("exit", Some(code)) => pods.exits(code),
            ("exit", None) => return error("exit is an exit code".to_owned()),
            (name, _) if given != Some(&Value::Bool(true)) => {
                return error(format!("{name} is true or absent"));
            }
            ("areEvicted", _) => pods.are_evicted(),
            ("failLiveness", _) => pods.fail_liveness(),
            ("failToPull", _) => pods.fail_to_pull(),
            ("getReady", _) => pods.get_ready(),
            ("ignoreDeletion", _) => pods.ignore_deletion(),
            ("ignoreSigterm", _) => pods.ignore_sigterm(),
            ("neverGetReady", _) => pods.never_get_ready(),
            ("runOutOfMemory", _) => pods.run_out_of_memory(),
            ("start", _) => pods.start(),
            _ => pods.stay_pending(),
        };
        if let Some(after) = members.get("after") {
            let Some(after) = after.as_str().and_then(duration) else {
                return error("after is a time such as 3s or 500ms".to_owned());
            };
            rule = rule.after(after);
        }
        if let Some(times) = members.get("times") {
            let Some(times) = times.as_u64() else {
                return error("times is a whole number".to_owned());
            };
            rule = rule.times(times);
        }
        Ok(rule)
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
