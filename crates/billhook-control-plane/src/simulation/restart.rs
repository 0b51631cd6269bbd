//! Which containers are started again when they have ended (CP-112).

use billhook_apimachinery::record::text;
use serde_json::Value;

/// The policy by which a container is started again, and its rules, which come first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Restart {
    policy: Policy,
    rules: Vec<Rule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Always,
    OnFailure,
    Never,
}

/// The exit codes after which a container is started again.
#[derive(Clone, Debug, PartialEq)]
struct Rule {
    codes: Vec<i64>,
    /// Whether it is after these codes, and not after all others.
    is_among: bool,
}

impl Policy {
    fn parse(text: &str) -> Self {
        match text {
            "Never" => Policy::Never,
            "OnFailure" => Policy::OnFailure,
            _ => Policy::Always,
        }
    }
}

impl Restart {
    /// Reads the policy of a container, which may leave it to that of its pod. An init container ends
    /// before others begin, unless it always runs.
    pub(super) fn read(container: &Value, of_pod: &str, is_init: bool) -> Self {
        let policy = match (text(container, "restartPolicy"), is_init) {
            ("", false) => Policy::parse(of_pod),
            ("", true) if of_pod == "Never" => Policy::Never,
            ("", true) => Policy::OnFailure,
            (own, _) => Policy::parse(own),
        };
        let rules = container.get("restartPolicyRules").and_then(Value::as_array);
        let rules = rules.into_iter().flatten().filter_map(Rule::read).collect();
        Restart { policy, rules }
    }

    /// Returns whether a container is started again that has ended with a code.
    pub(super) fn is_after(&self, code: i64) -> bool {
        let by_policy = match self.policy {
            Policy::Always => true,
            Policy::OnFailure => code != 0,
            Policy::Never => false,
        };
        by_policy || self.rules.iter().any(|rule| rule.codes.contains(&code) == rule.is_among)
    }
}

impl Rule {
    fn read(rule: &Value) -> Option<Self> {
        let codes = rule.get("exitCodes").filter(|_| text(rule, "action") == "Restart")?;
        let values = codes.get("values").and_then(Value::as_array).into_iter().flatten();
        let is_among = text(codes, "operator") == "In";
        Some(Rule { codes: values.filter_map(Value::as_i64).collect(), is_among })
    }
}
