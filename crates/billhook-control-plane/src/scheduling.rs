//! Which pods may run on which nodes: selectors, affinity, taints.

use billhook_apimachinery::record::text;
use serde_json::Value;

use crate::document::list;
use crate::object::Object;

/// Returns whether the node selector and the required node affinity of a pod's spec admit a node.
pub(crate) fn selects(spec: &Value, node: &Object) -> bool {
    let wanted = spec.get("nodeSelector").and_then(Value::as_object).into_iter().flatten();
    let has_labels = wanted.into_iter().all(|(name, value)| node.labels().get(name) == Some(value));
    let required = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    has_labels && spec.pointer(required).is_none_or(|required| admits(required, node))
}

/// Returns whether a node selector, which is a list of terms, admits a node.
pub(crate) fn admits(selector: &Value, node: &Object) -> bool {
    list(selector, "/nodeSelectorTerms").iter().any(|term| is_met(term, node))
}

/// Returns the sum of the weights of the node affinity that a pod's spec prefers and a node meets. A term
/// without requirements is met by all nodes.
pub(crate) fn preference(spec: &Value, node: &Object) -> i64 {
    let preferred = "/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution";
    let terms = spec.pointer(preferred).and_then(Value::as_array).into_iter().flatten();
    let weight = |term: &Value| {
        let preference = term.get("preference")?;
        let is_empty = ["/matchExpressions", "/matchFields"]
            .iter()
            .all(|pointer| list(preference, pointer).is_empty());
        (is_empty || is_met(preference, node)).then_some(term.get("weight")?.as_i64()?)
    };
    terms.filter_map(weight).fold(0, i64::saturating_add)
}

/// A term without requirements admits no node.
fn is_met(term: &Value, node: &Object) -> bool {
    let (expressions, fields) = (list(term, "/matchExpressions"), list(term, "/matchFields"));
    let label = |name: &str| node.labels().get(name).and_then(Value::as_str);
    let field = |name: &str| (name == "metadata.name").then(|| node.name());
    !(expressions.is_empty() && fields.is_empty())
        && expressions.iter().all(|it| holds(it, label(text(it, "key"))))
        && fields.iter().all(|it| holds(it, field(text(it, "key"))))
}

/// Returns whether a requirement holds for a value.
fn holds(requirement: &Value, value: Option<&str>) -> bool {
    let values = list(requirement, "/values");
    let is_among = || value.is_some_and(|value| values.iter().any(|it| it.as_str() == Some(value)));
    let numbers = || {
        let wanted: i64 = values.first()?.as_str()?.parse().ok()?;
        Some((value?.parse::<i64>().ok()?, wanted))
    };
    match text(requirement, "operator") {
        "In" => is_among(),
        "NotIn" => !is_among(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => numbers().is_some_and(|(value, wanted)| value > wanted),
        "Lt" => numbers().is_some_and(|(value, wanted)| value < wanted),
        _ => false,
    }
}

/// Returns the first taint of a node with one of some effects that tolerations do not tolerate.
pub(crate) fn untolerated<'n>(
    node: &'n Object,
    effects: &[&str],
    tolerations: &[Value],
) -> Option<&'n Value> {
    all_untolerated(node, effects, tolerations).next()
}

/// Returns the taints of a node with some effects that tolerations do not tolerate.
pub(crate) fn all_untolerated<'n>(
    node: &'n Object,
    effects: &[&str],
    tolerations: &[Value],
) -> impl Iterator<Item = &'n Value> {
    node.list("/spec/taints").iter().filter(|taint| {
        effects.contains(&text(taint, "effect"))
            && !tolerations.iter().any(|toleration| tolerates(toleration, taint))
    })
}

/// Returns whether a toleration tolerates a taint.
pub(crate) fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let (effect, key) = (text(toleration, "effect"), text(toleration, "key"));
    let is_about = (effect.is_empty() || effect == text(taint, "effect"))
        && (key.is_empty() || key == text(taint, "key"));
    is_about
        && match text(toleration, "operator") {
            "Exists" => true,
            _ => text(toleration, "value") == text(taint, "value"),
        }
}
