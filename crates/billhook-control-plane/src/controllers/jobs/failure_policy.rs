//! The consequences of the failure of a pod (CP-65).

use billhook_apimachinery::record::text;
use serde_json::Value;

use crate::document::list;
use crate::object::Object;

/// The consequence of a failure for the Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Count,
    /// It does not count.
    Ignore,
    FailIndex,
    /// The Job fails, with a message.
    FailJob(String),
}

/// Returns what the first rule that matches says; without one a failure counts.
pub(super) fn action_of(pod: &Object, job: &Object) -> Action {
    let rules = job.list("/spec/podFailurePolicy/rules").iter().enumerate();
    let mut matches = rules.filter_map(|(index, rule)| Some((index, rule, cause(pod, rule)?)));
    let Some((index, rule, cause)) = matches.next() else { return Action::Count };
    match text(rule, "action") {
        "Ignore" => Action::Ignore,
        "FailIndex" => Action::FailIndex,
        "FailJob" => Action::FailJob(format!("{cause} matching FailJob rule at index {index}")),
        _ => Action::Count,
    }
}

/// Returns why a rule matches, if it does.
fn cause(pod: &Object, rule: &Value) -> Option<String> {
    let place = pod.key();
    if let Some(wanted) = rule.get("onExitCodes") {
        let statuses = ["/status/containerStatuses", "/status/initContainerStatuses"];
        let mut statuses = statuses.into_iter().flat_map(|pointer| pod.list(pointer));
        let (name, code) = statuses.find_map(|status| matching_code(status, wanted))?;
        return Some(format!("Container {name} for pod {place} failed with exit code {code}"));
    }
    let mut patterns = list(rule, "/onPodConditions").iter();
    let pattern = patterns.find(|pattern| {
        let status =
            pod.condition(text(pattern, "type")).map(|condition| text(condition, "status"));
        status == Some(text(pattern, "status"))
    })?;
    Some(format!("Pod {place} has condition {}", text(pattern, "type")))
}

/// Returns the name and the exit code of a container that failed with one that is wanted.
fn matching_code<'s>(status: &'s Value, wanted: &Value) -> Option<(&'s str, i64)> {
    let name = text(status, "name");
    let code = status.pointer("/state/terminated/exitCode")?.as_i64().filter(|code| *code != 0)?;
    let container = text(wanted, "containerName");
    let is_listed = list(wanted, "/values").iter().any(|value| value.as_i64() == Some(code));
    let is_wanted = is_listed == (text(wanted, "operator") == "In");
    (is_wanted && (container.is_empty() || container == name)).then_some((name, code))
}
