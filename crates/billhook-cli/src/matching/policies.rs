//! The admission policies that a request goes to, and why it does not go to the others.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use billhook::webhook::{AdmissionAttributes, EquivalentResources};
use billhook::{CustomResourceDefinition, GroupVersionKind};
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_findings::{Finding, Severity};
use billhook_policy::{
    ConditionExplanation, MemoryCluster, ObjectModelError, PolicyApplication, PolicyContext,
    PolicyExplanation, PolicyKind, PolicySet, RequestObjects, UnknownObjects,
};
use serde_json::Value;

use super::subject::{Subject, steps};
use crate::crds::Crds;
use crate::findings::About;
use crate::json::Fields;
use crate::report::visible;
use crate::traces;

/// Policies and what they are matched with.
pub(super) struct Matcher<'m> {
    pub(super) policies: &'m PolicySet,
    pub(super) world: &'m MemoryCluster,
    pub(super) registry: &'m EquivalentResources,
    pub(super) crds: Option<&'m Crds>,
}

impl Matcher<'_> {
    pub(super) fn explain(&self, request: &AdmissionAttributes) -> Vec<PolicyExplanation> {
        let context = PolicyContext::new(self.world, self.registry, &UnknownObjects);
        let mut kinds = self.policies.mutating_kinds(request, &context);
        kinds.extend(self.policies.validating_kinds(request, &context));
        let converted = kinds.into_iter().map(|kind| {
            let converted = self.converted(request, &kind);
            (kind, converted)
        });
        let converted = converted.collect();
        self.policies.explain(request, &context.converted(&converted))
    }

    /// Returns the objects of a request in another version, which differ in `apiVersion` only.
    fn converted(
        &self,
        request: &AdmissionAttributes,
        to: &GroupVersionKind,
    ) -> Result<RequestObjects, ObjectModelError> {
        let is_it = |definition: &&CustomResourceDefinition| {
            definition.group() == to.group && definition.kind() == to.kind
        };
        let definition = self.crds.into_iter().flat_map(Crds::definitions).find(is_it);
        let needs_webhook =
            definition.is_none_or(CustomResourceDefinition::is_converted_by_webhook);
        let mut objects = RequestObjects::of(request);
        let both = [&mut objects.object, &mut objects.old_object];
        for object in both.into_iter().flatten() {
            if needs_webhook {
                return Err(format!("a webhook would have to convert the object to {to}").into());
            }
            let mut converted = DeepValue::from(deep_clone(object));
            if let Value::Object(members) = &mut *converted {
                members.insert("apiVersion".to_owned(), to.api_version().into());
            }
            *object = converted;
        }
        Ok(objects)
    }
}

/// Whether there is a policy of a name, or a binding by the names of both.
pub(super) fn has(policies: &PolicySet, name: &str) -> bool {
    policies.names().any(|(policy, binding)| {
        name == policy || name.split_once('/').is_some_and(|it| it == (policy, binding))
    })
}

/// Returns the reason that a server refuses the request, if it cannot be decided whether a policy
/// applies.
pub(super) fn refusal(found: &PolicyExplanation) -> Option<&str> {
    match &found.application {
        PolicyApplication::Fails(text) => Some(text),
        _ => None,
    }
}

/// Returns the policies that refuse a request or fail before they are evaluated.
pub(super) fn findings(subject: &Subject, explained: &[PolicyExplanation]) -> Vec<Finding> {
    let about = About::new(&subject.place, &subject.identity);
    let found = explained.iter().filter_map(|it| {
        let (severity, text) = match &it.application {
            PolicyApplication::Fails(text) => (Severity::Error, text),
            PolicyApplication::ErrorIgnored(text) => (Severity::Warning, text),
            _ => return None,
        };
        let rule = if it.conditions.is_empty() { "PO-40" } else { "PO-42" };
        Some(about.whole(severity, rule, &format!("policy `{}`: {text}", name(it))))
    });
    found.collect()
}

/// `policy/binding with parameter namespace/name`, without the parts that are absent.
fn name(found: &PolicyExplanation) -> String {
    let mut name = found.policy.clone();
    if let Some(binding) = &found.binding {
        let _ = write!(name, "/{binding}");
    }
    if !found.parameter.is_empty() {
        let _ = write!(name, " with {}", found.parameter);
    }
    visible(&name)
}

/// The color and the word of a policy, and the word for programs.
fn words(application: &PolicyApplication) -> (AnsiColor, &'static str, &'static str) {
    match application {
        PolicyApplication::Applies(_) => (AnsiColor::Green, "applies", "applies"),
        PolicyApplication::DoesNotApply(_) => (AnsiColor::Yellow, "does not apply", "doesNotApply"),
        PolicyApplication::ErrorIgnored(_) => (AnsiColor::Yellow, "error ignored", "errorIgnored"),
        PolicyApplication::Undecided => (AnsiColor::Cyan, "undecided", "undecided"),
        _ => (AnsiColor::Red, "refused", "refused"),
    }
}

fn word(application: &PolicyApplication) -> (Style, &'static str) {
    let (color, word, _) = words(application);
    (color.on_default(), word)
}

/// Adds a line for each policy and binding.
pub(super) fn table(text: &mut String, found: &[PolicyExplanation]) {
    for (kind, heading) in [
        (PolicyKind::Mutating, "mutating policies"),
        (PolicyKind::Validating, "validating policies"),
    ] {
        let of_kind = || found.iter().filter(|found| found.kind == kind);
        if of_kind().next().is_none() {
            continue;
        }
        let _ = writeln!(text, "\n{heading}:");
        let width = of_kind().map(|found| name(found).chars().count()).max().unwrap_or(0);
        for found in of_kind() {
            let (style, word) = word(&found.application);
            let why = found.summary().unwrap_or_else(|| match &found.application {
                PolicyApplication::Applies(matched) => format!("with {}", matched.kind),
                _ => String::new(),
            });
            let (name, why) = (name(found), visible(&why));
            let line = format!("  {style}{word:14}{style:#}  {name:width$}  {why}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
}

/// Whether an explanation is about a policy of a name, or about a binding by the names of both.
pub(super) fn is_named(found: &PolicyExplanation, name: &str) -> bool {
    let binding = found.binding.as_deref().unwrap_or_default();
    found.policy == name || name.split_once('/').is_some_and(|it| it == (&*found.policy, binding))
}

/// Adds every step for policies and bindings.
pub(super) fn explain(text: &mut String, found: &[PolicyExplanation]) {
    for found in found {
        let (style, word) = word(&found.application);
        let _ = writeln!(text, "\n{style}{word}{style:#}: {}", name(found));
        for line in found.to_string().lines() {
            let _ = writeln!(text, "  {}", visible(line));
        }
    }
}

/// Returns an explanation for programs.
pub(super) fn to_value(found: &PolicyExplanation) -> Value {
    let mut fields = Fields::default();
    fields.text("policyKind", Some(found.kind.name().to_owned()));
    fields.text("policy", Some(found.policy.clone()));
    fields.text("binding", found.binding.clone());
    fields.text("parameter", Some(found.parameter.clone()).filter(|it| !it.is_empty()));
    let (_, _, word) = words(&found.application);
    fields.text("decision", Some(word.to_owned()));
    if let PolicyApplication::DoesNotApply(mismatch) = &found.application {
        fields.text("reason", Some(mismatch.code().to_owned()));
    }
    if let PolicyApplication::Applies(matched) = &found.application {
        fields.value("matched", serde_json::to_value(matched).unwrap_or_default());
    }
    fields.text("summary", found.summary());
    for (name, trace) in
        [("matchConstraints", &found.constraints), ("matchResources", &found.resources)]
    {
        if let Some(trace) = trace {
            fields.value(name, steps(trace));
        }
    }
    if !found.conditions.is_empty() {
        fields.value("matchConditions", found.conditions.iter().map(condition_value).collect());
    }
    fields.into_value()
}

fn condition_value(condition: &ConditionExplanation) -> Value {
    let mut fields = Fields::default();
    fields.text("name", Some(condition.name.clone()));
    let verdict = serde_json::to_value(&condition.verdict).unwrap_or_default();
    fields.value("verdict", verdict);
    if let Some(trace) = condition.trace.as_ref().filter(|_| condition.verdict.is_some()) {
        fields.value("trace", traces::to_value(trace));
    }
    fields.into_value()
}
