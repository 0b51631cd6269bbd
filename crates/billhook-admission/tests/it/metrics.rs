//! The metrics of admission: names, labels, buckets, and what counts as what (OB-02 to OB-19).

use std::sync::Arc;

use billhook::Status;
use billhook::webhook::{
    AdmissionAttributes, ConditionInput, ConditionResult, ConditionsError, MatchCondition,
    MatchConditions, NamespaceLabels, Operation,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_admission::metrics::AdmissionMetrics;
use billhook_admission::{
    AdmissionResponse, AdmissionReview, BoxFuture, CallFailure, CallerError, Chain,
    CustomResources, MemoryCluster, ObjectModel as _, Plugin, RequestOptions, ReviewVersion, Stage,
    WebhookAnswer, WebhookCall, WebhookCaller,
};
use billhook_policy::{PolicyDocument, PolicySet};
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};

use crate::conversion_reviews::{Webhook, but, definition, good, list, object, v2};

/// Answers as the name of the webhook says.
struct ByName;

impl WebhookCaller for ByName {
    fn call<'a>(
        &'a self,
        call: WebhookCall<'a>,
    ) -> BoxFuture<'a, Result<WebhookAnswer, CallerError>> {
        let request = call.review.request.as_ref().unwrap();
        let denial = |code| {
            let mut response = AdmissionResponse::deny(request, "no");
            response.status.as_mut().unwrap().code = code;
            Ok(response)
        };
        let patch = json!([{"op": "remove", "path": "/nothing"}]);
        let response = match call.hook {
            "deny.example.com" => denial(0),
            "deny-with-700.example.com" => denial(700),
            "patch.example.com" if request.object.is_some() => {
                let patch = json!([{"op": "add", "path": "/spec", "value": {}}]);
                Ok(AdmissionResponse::allow(request).patch(&patch))
            }
            "broken-patch.example.com" => Ok(AdmissionResponse::allow(request).patch(&patch)),
            "unreachable.example.com" | "unreachable-ignored.example.com" => {
                Err(CallerError::from(CallFailure::with_code("not found", 404)))
            }
            _ => Ok(AdmissionResponse::allow(request)),
        };
        let answer = response.map(|response| {
            WebhookAnswer::of_review(&AdmissionReview::of_response(ReviewVersion::V1, response))
        });
        Box::pin(std::future::ready(answer))
    }
}

/// Evaluates `T`, `F` and `E` to what they say.
struct Letters;

impl MatchConditions for Letters {
    fn evaluate(
        &self,
        conditions: &[MatchCondition],
        _: &ConditionInput<'_>,
    ) -> Result<Vec<ConditionResult>, ConditionsError> {
        let result = |condition: &MatchCondition| match condition.expression.as_str() {
            "T" => ConditionResult::True,
            "F" => ConditionResult::False,
            _ => ConditionResult::Error("no such key".to_owned()),
        };
        if conditions.iter().any(|condition| condition.expression == "budget") {
            return Err("out of budget".into());
        }
        Ok(conditions.iter().map(result).collect())
    }
}

struct Nothing;

impl Plugin for Nothing {
    fn name(&self) -> &str {
        "Nothing"
    }

    fn has_stage(&self, stage: Stage) -> bool {
        stage == Stage::Validating
    }

    fn validate(&self, _: &mut billhook_admission::PluginRequest<'_>) -> Result<(), Status> {
        Err(Status::failure(403, "Forbidden", "no"))
    }
}

fn conditions(expressions: &[&str], policy: &str) -> serde_json::Value {
    let condition =
        |(number, expression)| json!({"name": format!("c{number}"), "expression": expression});
    let conditions: Vec<_> = expressions.iter().enumerate().map(condition).collect();
    json!({"matchConditions": conditions, "failurePolicy": policy})
}

/// The metrics after one request to each webhook alone, without the durations' sums.
fn metrics() -> String {
    let mut registry = Registry::default();
    let metrics = Arc::new(AdmissionMetrics::new(&mut registry));
    let hooks = [
        ("Mutating", "allow", json!({})),
        ("Mutating", "deny", json!({})),
        ("Validating", "deny-with-700", json!({})),
        ("Mutating", "broken-patch", json!({})),
        ("Validating", "unreachable", json!({})),
        ("Validating", "unreachable-ignored", json!({"failurePolicy": "Ignore"})),
        ("Mutating", "excluded", conditions(&["F"], "Fail")),
        ("Validating", "excluded", conditions(&["E", "E", "F", "E"], "Fail")),
        ("Validating", "true", conditions(&["T", "T"], "Fail")),
        ("Validating", "failed", conditions(&["T", "E"], "Ignore")),
        ("Validating", "budget", conditions(&["budget"], "Ignore")),
    ];
    for (kind, name, more) in hooks {
        let configuration =
            crate::hook::configuration(kind, name, &format!("{name}.example.com"), &more);
        let cluster = MemoryCluster::new().with_namespace("default", NamespaceLabels::new());
        let chain = Chain::new(ByName)
            .webhooks(&[configuration])
            .conditions(Letters)
            .late_plugin(Nothing)
            .observer(metrics.clone());
        let request = AdmissionAttributes::create(
            GroupVersionKind::new("example.com", "v1", "Foo"),
            GroupVersionResource::new("example.com", "v1", "foos"),
            json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}}),
        );
        chain.run_blocking(request, &cluster, &RequestOptions::default(), |_, _| Ok(()));
    }
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.contains("_sum{")).collect();
    // The order of label sets is that of a hash map.
    lines.retain(|line| !line.starts_with("# EOF"));
    lines.sort_by_key(|line| line.trim_start_matches("# HELP ").trim_start_matches("# TYPE "));
    lines.join("\n")
}

#[test]
fn metrics_are_those_of_the_server() {
    let text = metrics();
    let count = |line: &str| {
        assert!(text.lines().any(|found| found == line), "{line}\nin\n{text}");
    };
    let prefix = "apiserver_admission";
    count(&format!(
        "{prefix}_webhook_rejection_count{{name=\"deny.example.com\",type=\"admit\",operation=\"CREATE\",error_type=\"no_error\",rejection_code=\"400\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_rejection_count{{name=\"deny-with-700.example.com\",type=\"validating\",operation=\"CREATE\",error_type=\"no_error\",rejection_code=\"600\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_rejection_count{{name=\"broken-patch.example.com\",type=\"admit\",operation=\"CREATE\",error_type=\"apiserver_internal_error\",rejection_code=\"0\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_rejection_count{{name=\"unreachable.example.com\",type=\"validating\",operation=\"CREATE\",error_type=\"calling_webhook_error\",rejection_code=\"404\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_fail_open_count{{name=\"unreachable-ignored.example.com\",type=\"validating\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_request_total{{name=\"allow.example.com\",type=\"admit\",operation=\"CREATE\",code=\"200\",rejected=\"false\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_request_total{{name=\"unreachable-ignored.example.com\",type=\"validating\",operation=\"CREATE\",code=\"404\",rejected=\"false\"}} 1"
    ));
    count(&format!(
        "{prefix}_webhook_request_total{{name=\"broken-patch.example.com\",type=\"admit\",operation=\"CREATE\",code=\"0\",rejected=\"true\"}} 1"
    ));
    for stage in ["admit", "validate"] {
        count(&format!(
            "{prefix}_match_condition_exclusions_total{{name=\"excluded.example.com\",kind=\"webhook\",type=\"{stage}\",operation=\"CREATE\"}} 1"
        ));
    }
    for (name, stage, errors, evaluations) in [
        ("excluded", "admit", 0, 1),
        ("excluded", "validating", 2, 1),
        ("true", "validating", 0, 0),
        ("failed", "validating", 1, 1),
        ("budget", "validating", 0, 1),
    ] {
        let labels = format!(
            "{{name=\"{name}.example.com\",kind=\"webhook\",type=\"{stage}\",operation=\"CREATE\"}}"
        );
        for (metric, expected) in [
            ("match_condition_evaluation_errors_total", errors),
            ("match_condition_evaluation_seconds_count", evaluations),
        ] {
            let start = format!("{prefix}_{metric}{labels} ");
            let found = text.lines().find_map(|line| line.strip_prefix(&start));
            assert_eq!(found.unwrap_or("0"), expected.to_string(), "{start}");
        }
    }
    count(&format!("# TYPE {prefix}_webhook_rejection_count counter"));
    count(&format!("# TYPE {prefix}_webhook_request_total counter"));
    let buckets = |metric: &str, labels: &str| -> Vec<String> {
        let start = format!("{prefix}_{metric}_bucket{{le=\"");
        let rest = text.lines().filter_map(|line| line.strip_prefix(&start));
        let mine = rest.filter(|line| line.contains(labels));
        mine.map(|line| line.split('"').next().unwrap().to_owned()).collect()
    };
    let mut found = buckets("webhook_admission_duration_seconds", "name=\"allow.example.com\"");
    found.sort_by(|a, b| {
        a.parse::<f64>().unwrap_or(f64::MAX).total_cmp(&b.parse().unwrap_or(f64::MAX))
    });
    assert_eq!(found, ["0.005", "0.025", "0.1", "0.5", "1.0", "2.5", "10.0", "25.0", "+Inf"]);
    let labels = "type=\"validate\",operation=\"CREATE\",rejected=\"true\"";
    assert_eq!(buckets("step_admission_duration_seconds", labels).len(), 7);
    let labels = format!("name=\"Nothing\",{labels}");
    assert_eq!(buckets("controller_admission_duration_seconds", &labels).len(), 7);
    // Two requests fail in the mutating stage and get no further; the webhooks of a stage are a
    // plugin too, and one that has nothing to do in a stage is not measured there (OB-11).
    for (name, stage, rejected, expected) in [
        ("MutatingAdmissionWebhook", "admit", true, 2),
        ("MutatingAdmissionWebhook", "admit", false, 9),
        ("ValidatingAdmissionWebhook", "validate", true, 2),
        ("ValidatingAdmissionWebhook", "validate", false, 7),
        ("Nothing", "validate", true, 7),
    ] {
        count(&format!(
            "{prefix}_controller_admission_duration_seconds_count{{name=\"{name}\",type=\"{stage}\",operation=\"CREATE\",rejected=\"{rejected}\"}} {expected}"
        ));
    }
    assert!(!text.contains("name=\"Nothing\",type=\"admit\""));
    for (rejected, expected) in [(true, 2), (false, 9)] {
        count(&format!(
            "{prefix}_step_admission_duration_seconds_count{{type=\"admit\",operation=\"CREATE\",rejected=\"{rejected}\"}} {expected}"
        ));
    }
}

/// Every metric with its kind, stability, labels in their order, and buckets (OB-01 to OB-16).
#[test]
fn names_labels_and_buckets() {
    let text = metrics();
    let calls = "0.005 0.025 0.1 0.5 1 2.5 10 25 +Inf";
    let steps = "0.005 0.025 0.1 0.5 1 2.5 +Inf";
    for (name, kind, stability, labels, buckets) in [
        (
            "webhook_admission_duration_seconds",
            "histogram",
            "STABLE",
            "name type operation rejected",
            calls,
        ),
        (
            "webhook_rejection_count",
            "counter",
            "ALPHA",
            "name type operation error_type rejection_code",
            "",
        ),
        ("webhook_fail_open_count", "counter", "ALPHA", "name type", ""),
        ("webhook_request_total", "counter", "ALPHA", "name type operation code rejected", ""),
        (
            "match_condition_evaluation_errors_total",
            "counter",
            "ALPHA",
            "name kind type operation",
            "",
        ),
        ("match_condition_exclusions_total", "counter", "ALPHA", "name kind type operation", ""),
        (
            "match_condition_evaluation_seconds",
            "histogram",
            "ALPHA",
            "name kind type operation",
            "0.001 0.005 0.01 0.025 0.1 0.2 0.25 +Inf",
        ),
        (
            "step_admission_duration_seconds",
            "histogram",
            "STABLE",
            "type operation rejected",
            steps,
        ),
        (
            "controller_admission_duration_seconds",
            "histogram",
            "STABLE",
            "name type operation rejected",
            steps,
        ),
    ] {
        let name = format!("apiserver_admission_{name}");
        assert!(text.contains(&format!("# TYPE {name} {kind}\n")), "{name}");
        assert!(text.contains(&format!("# HELP {name} [{stability}] ")), "{name}");
        let mut found = Vec::new();
        let suffixes: &[&str] = if kind == "counter" { &["{"] } else { &["_bucket{", "_count{"] };
        for line in text.lines() {
            let of_metric = |suffix: &&str| line.strip_prefix(&format!("{name}{suffix}"));
            let Some(rest) = suffixes.iter().find_map(of_metric) else { continue };
            let (set, _) = rest.split_once('}').unwrap();
            let pairs: Vec<_> = set.split(',').map(|pair| pair.split_once('=').unwrap()).collect();
            found.extend(pairs.iter().filter(|(key, _)| *key == "le").map(|(_, value)| *value));
            let keys: Vec<_> =
                pairs.iter().map(|(key, _)| *key).filter(|key| *key != "le").collect();
            assert_eq!(keys.join(" "), labels, "{name}");
        }
        let number = |text: &&str| text.trim_matches('"').parse::<f64>().unwrap();
        found.sort_by(|left, right| number(left).total_cmp(&number(right)));
        found.dedup();
        let found: Vec<String> = found.iter().map(|text| number(text).to_string()).collect();
        assert_eq!(found.join(" ").replace("inf", "+Inf"), buckets, "{name}");
    }
}

/// A repetition counts twice for each plugin, and once as a part of its stage (OB-09, OB-11); each
/// call counts (OB-17).
#[test]
fn repetitions_are_counted() {
    struct Both;
    impl Plugin for Both {
        fn name(&self) -> &str {
            "Both"
        }

        fn mutate(
            &self,
            request: &mut billhook_admission::PluginRequest<'_>,
        ) -> Result<(), Status> {
            let again = request.is_reinvocation();
            request.object_mut().unwrap()["again"] = again.into();
            Ok(())
        }

        fn handles(&self, operation: Operation) -> bool {
            operation == Operation::Create
        }
    }
    let mut registry = Registry::default();
    let metrics = Arc::new(AdmissionMetrics::new(&mut registry));
    let more = json!({"reinvocationPolicy": "IfNeeded"});
    let configuration = crate::hook::configuration("Mutating", "patch", "patch.example.com", &more);
    let chain =
        Chain::new(ByName).webhooks(&[configuration]).plugin(Both).observer(metrics.clone());
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}});
    let kind = GroupVersionKind::new("example.com", "v1", "Foo");
    let resource = GroupVersionResource::new("example.com", "v1", "foos");
    let create = AdmissionAttributes::create(kind.clone(), resource.clone(), object.clone());
    let delete = AdmissionAttributes::delete(kind, resource, object);
    for request in [create, delete] {
        let outcome = chain.run_blocking(
            request,
            &MemoryCluster::new(),
            &RequestOptions::default(),
            |_, _| Ok(()),
        );
        assert!(outcome.result.is_ok());
    }
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    for (metric, labels, expected) in [
        ("controller", "name=\"Both\",type=\"admit\",operation=\"CREATE\"", Some("2")),
        ("controller", "name=\"Both\",type=\"admit\",operation=\"DELETE\"", None),
        (
            "controller",
            "name=\"MutatingAdmissionWebhook\",type=\"admit\",operation=\"CREATE\"",
            Some("2"),
        ),
        ("step", "type=\"admit\",operation=\"CREATE\"", Some("1")),
        ("step", "type=\"validate\",operation=\"DELETE\"", Some("1")),
        ("webhook", "name=\"patch.example.com\",type=\"admit\",operation=\"CREATE\"", Some("2")),
    ] {
        let start = format!(
            "apiserver_admission_{metric}_admission_duration_seconds_count{{{labels},rejected=\"false\"}} "
        );
        let found = text.lines().find_map(|line| line.strip_prefix(&start));
        assert_eq!(found, expected, "{start}");
    }
}

fn policy(kind: &str, spec: serde_json::Value) -> PolicyDocument {
    let mut spec = spec;
    let rule = json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
        "resources": ["*"]});
    if !kind.ends_with("Binding") {
        spec["matchConstraints"] = json!({"resourceRules": [rule]});
    }
    PolicyDocument::from_value(&json!({"apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind, "metadata": {"name": if kind.ends_with("Binding") { "b" } else { "p" }},
        "spec": spec}))
    .unwrap()
}

/// The samples of policies after one request.
fn policy_samples(documents: Vec<PolicyDocument>) -> Vec<String> {
    let mut registry = Registry::default();
    let metrics = Arc::new(AdmissionMetrics::new(&mut registry));
    let chain = Chain::new(ByName).policies(PolicySet::new(documents)).observer(metrics);
    let request = AdmissionAttributes::create(
        GroupVersionKind::new("example.com", "v1", "Foo"),
        GroupVersionResource::new("example.com", "v1", "foos"),
        json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "x"}}),
    );
    chain.run_blocking(request, &MemoryCluster::new(), &RequestOptions::default(), |_, _| Ok(()));
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let is_of_policies = |line: &&str| {
        (line.contains("policy") || line.contains("match_condition"))
            && (line.contains("_total{") || line.contains("_count{"))
    };
    let mut lines: Vec<String> = text.lines().filter(is_of_policies).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// PO-95: what validations and mutations are counted as. Each count has a duration.
#[test]
fn checks_of_policies() {
    let validate = |spec: serde_json::Value, actions: serde_json::Value| {
        let binding = json!({"policyName": "p", "validationActions": actions});
        let documents = vec![
            policy("ValidatingAdmissionPolicy", spec),
            policy("ValidatingAdmissionPolicyBinding", binding),
        ];
        policy_samples(documents)
    };
    let sample = |stage: &str, labels: &str, count: usize| {
        let name = format!("apiserver_{stage}_admission_policy_check");
        let labels = format!("{{policy=\"p\",policy_binding=\"b\",{labels}}}");
        [
            format!("{name}_duration_seconds_count{labels} {count}"),
            format!("{name}_total{labels} {count}"),
        ]
    };
    let action = |error: &str, action: &str| {
        format!("error_type=\"{error}\",enforcement_action=\"{action}\"")
    };
    let mixed = json!({"validations": [{"expression": "true"}, {"expression": "false"},
        {"expression": "object.a == 1"}]});
    let found = validate(mixed.clone(), json!(["Warn", "Audit"]));
    let mut expected = Vec::new();
    expected.extend(sample("validating", &action("invalid_error", "audit"), 2));
    expected.extend(sample("validating", &action("invalid_error", "warn"), 2));
    expected.sort();
    assert_eq!(found, expected);
    let mut ignored = mixed;
    ignored["failurePolicy"] = "Ignore".into();
    ignored["validations"] = json!([{"expression": "object.a == 1"}, {"expression": "zzz"}]);
    let mut expected = Vec::new();
    expected.extend(sample("validating", &action("compile_error", "allow"), 1));
    expected.extend(sample("validating", &action("invalid_error", "allow"), 1));
    expected.sort();
    assert_eq!(validate(ignored, json!(["Deny"])), expected);
    let annotated = json!({"auditAnnotations": [{"key": "k", "valueExpression": "object.a"}]});
    let expected = sample("validating", &action("compile_error", "deny"), 1);
    assert_eq!(validate(annotated, json!(["Audit"])), expected);
    // Configuration errors are not counted.
    let unknown = json!({"validations": [{"expression": "false"}],
        "paramKind": {"apiVersion": "a.com/v1", "kind": "None"}});
    assert_eq!(validate(unknown, json!(["Deny"])), [""; 0]);

    let patch = |expression: &str| json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}});
    let mutations = [patch("[JSONPatch{op: 'test', path: '/a', value: 1}]"), patch("zzz")];
    let found = policy_samples(vec![
        policy(
            "MutatingAdmissionPolicy",
            json!({"mutations": mutations, "reinvocationPolicy": "Never"}),
        ),
        policy("MutatingAdmissionPolicyBinding", json!({"policyName": "p"})),
    ]);
    let mut expected = Vec::new();
    expected.extend(sample("mutating", "error_type=\"compile_error\"", 1));
    expected.extend(sample("mutating", "error_type=\"no_error\"", 1));
    expected.sort();
    assert_eq!(found, expected);
}

/// PO-96: the same type for both kinds of policies, and no exclusions.
#[test]
fn conditions_of_policies() {
    for (expressions, errors, evaluations) in [
        (vec!["true"], 0, 0),
        (vec!["false"], 0, 1),
        (vec!["object.a == 1", "object.b == 1", "false", "object.c == 1"], 2, 1),
    ] {
        let mut spec = conditions(&expressions, "Ignore");
        spec["validations"] = json!([{"expression": "true"}]);
        spec["mutations"] = json!([]);
        spec["reinvocationPolicy"] = "Never".into();
        let binding = json!({"policyName": "p", "validationActions": ["Deny"]});
        for stage in ["Validating", "Mutating"] {
            let found = policy_samples(vec![
                policy(&format!("{stage}AdmissionPolicy"), spec.clone()),
                policy(&format!("{stage}AdmissionPolicyBinding"), binding.clone()),
            ]);
            let labels = "name=\"p\",kind=\"policy\",type=\"validate\",operation=\"CREATE\"";
            let sample = |metric: &str, count: usize| {
                let name = format!("apiserver_admission_match_condition_{metric}");
                (count > 0).then(|| format!("{name}{{{labels}}} {count}"))
            };
            let errors = sample("evaluation_errors_total", errors);
            let evaluations = sample("evaluation_seconds_count", evaluations);
            let expected: Vec<String> = errors.into_iter().chain(evaluations).collect();
            assert_eq!(found, expected, "{stage} {expressions:?}");
        }
    }
}

/// CX-50, CX-51: conversions that do not need the webhook count, except those of objects that have
/// only a type.
#[tokio::test]
async fn conversions_are_counted() {
    type Answer = fn(&Value) -> String;
    let good: Answer = |review| good(review).to_string();
    let (v1, bare) = (object("v1", "x"), json!({"apiVersion": "example.com/v1", "kind": "Foo"}));
    let cases: [(&str, &Value, Answer); 9] = [
        ("v1", &v1, good),
        ("v1", &object("v2", "x"), good),
        ("v1", &bare, good),
        ("v9", &v1, good),
        ("v1", &list(&[object("v2", "x")]), good),
        ("v1", &v1, |_| "garbage".to_owned()),
        ("v1", &v1, |review| but(review, "/response/result", json!({"message": "no"}))),
        ("v1", &v1, |review| but(review, "/response/convertedObjects", json!([]))),
        ("v1", &v1, |review| but(review, "/response/convertedObjects/0/kind", json!("Bar"))),
    ];
    let mut registry = Registry::default();
    let metrics = Arc::new(AdmissionMetrics::new(&mut registry));
    for (version, subject, answer) in cases {
        let caller = Arc::new(Webhook { answer, seen: Arc::default() });
        let model = CustomResources::new(definition(&json!([version]))).caller(caller);
        let model = model.observer(metrics.clone());
        let _ = match subject.get("items") {
            Some(_) => model.convert_list(subject, &v2()).await,
            None => model.convert(subject, &v2()).await,
        };
    }
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let is_count = |line: &&str| {
        line.contains("conversion_webhook_request_total{") || line.contains("_seconds_count{")
    };
    let mut counts: Vec<&str> = text.lines().filter(is_count).collect();
    counts.sort_unstable();
    insta::assert_snapshot!(counts.join("\n"), @r#"
    apiserver_conversion_webhook_duration_seconds_count{result="failure",failure_type="conversion_webhook_call_failure"} 1
    apiserver_conversion_webhook_duration_seconds_count{result="failure",failure_type="conversion_webhook_invalid_converted_object_failure"} 1
    apiserver_conversion_webhook_duration_seconds_count{result="failure",failure_type="conversion_webhook_malformed_response_failure"} 1
    apiserver_conversion_webhook_duration_seconds_count{result="failure",failure_type="conversion_webhook_partial_response_failure"} 1
    apiserver_conversion_webhook_duration_seconds_count{result="success",failure_type=""} 3
    apiserver_conversion_webhook_request_total{result="failure",failure_type="conversion_webhook_call_failure"} 1
    apiserver_conversion_webhook_request_total{result="failure",failure_type="conversion_webhook_invalid_converted_object_failure"} 1
    apiserver_conversion_webhook_request_total{result="failure",failure_type="conversion_webhook_malformed_response_failure"} 1
    apiserver_conversion_webhook_request_total{result="failure",failure_type="conversion_webhook_partial_response_failure"} 1
    apiserver_conversion_webhook_request_total{result="success",failure_type=""} 3
    apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="foos.example.com",from_version="v1",to_version="v2",succeeded="false"} 5
    apiserver_crd_conversion_webhook_duration_seconds_count{crd_name="foos.example.com",from_version="v1",to_version="v2",succeeded="true"} 3
    "#);
    let buckets = |name: &str, labels: &str| -> Vec<&str> {
        let start = format!("{name}_bucket{{le=\"");
        let of_labels = text.lines().filter(|line| line.contains(labels));
        let bounds = of_labels.filter_map(|line| line.strip_prefix(&start)?.split('"').next());
        bounds.collect()
    };
    let of_definition =
        buckets("apiserver_crd_conversion_webhook_duration_seconds", "succeeded=\"true\"");
    assert_eq!((of_definition.len(), of_definition[0], of_definition[14]), (16, "0.001", "16.384"));
    let of_calls = buckets("apiserver_conversion_webhook_duration_seconds", "result=\"success\"");
    assert_eq!((of_calls.len(), of_calls[0], of_calls[14]), (16, "0.005", "60.0"));
}
