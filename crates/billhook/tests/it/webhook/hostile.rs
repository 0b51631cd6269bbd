//! Input made to hurt: a result or a clear error, on a small stack, in bounded time and space.

use billhook::label_selector::{LabelSelector, Selector};
use billhook::webhook::{
    AdmissionAttributes, ConfigurationKind, EquivalentResources, MatchContext, Operation,
    WebhookConfiguration, WebhookSet, lint_together,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use billhook_apimachinery::value::DeepValue;
use serde_json::{Map, Value, json};

use crate::webhook::support::{all, configuration, hook, namespaces, plain_outcome, read, request};

fn on_small_stack(body: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(body).unwrap();
    thread.join().unwrap();
}

fn deep(levels: usize) -> DeepValue {
    let text = format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    billhook_decode::read_json(text.as_bytes()).unwrap().into_value()
}

#[test]
fn many_labels_and_values() {
    let labels: Map<String, Value> =
        (0..100_000).map(|index| (format!("key-{index}"), json!("value"))).collect();
    let some: Map<String, Value> = labels.clone().into_iter().take(5_000).collect();
    let values: Vec<String> = (0..20_000).map(|index| format!("v{index}")).collect();
    let expressions: Vec<Value> = (0..2_000)
        .map(|index| json!({"key": format!("key-{index}"), "operator": "NotIn", "values": ["x"]}))
        .chain([json!({"key": "key-7", "operator": "NotIn", "values": values})])
        .collect();
    let document = json!({"matchLabels": some, "matchExpressions": expressions});
    let selector = LabelSelector::from_value(&document).unwrap().parse().unwrap();
    assert!(selector.matches(&labels));
    let text = selector.to_string();
    assert_eq!(text.parse::<Selector>().unwrap(), selector);

    let hook = hook(&json!({"rules": all(), "objectSelector": document}));
    let object = json!({"metadata": {"name": "a", "labels": labels}});
    let attributes = AdmissionAttributes::create(
        GroupVersionKind::new("", "v1", "Thing"),
        GroupVersionResource::new("", "v1", "things"),
        object,
    );
    assert_eq!(plain_outcome(&hook, &attributes), "called");
    let other = attributes.clone().name("b").namespace("n");
    assert_eq!(plain_outcome(&hook, &other), "called");
}

#[test]
fn many_errors() {
    let values: Vec<String> = (0..20_000).map(|index| format!("-{index}")).collect();
    let document =
        json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": values}]});
    let selector = LabelSelector::from_value(&document).unwrap();
    let message = selector.parse().unwrap_err().to_string();
    assert_eq!(message.matches(": Invalid value: ").count(), 20_001);
    let configuration = read(&configuration(&json!({"objectSelector": document})));
    let errors = configuration.validate();
    assert_eq!(errors.len(), 20_001);
    assert!(configuration.refusal(&errors).message.len() > 20_000 * 100);
}

/// Advice that compares webhooks with each other.
#[test]
fn many_webhooks() {
    let hook = |index: usize| {
        let rule = json!({"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
            "resources": ["*", format!("things{index}")]});
        let other = json!({"operations": ["CREATE"], "apiGroups": [format!("g{index}")],
            "apiVersions": ["v1"], "resources": ["*/*"]});
        let fields = json!({"name": format!("h{index}.example.com"), "rules": [rule, other]});
        configuration(&fields)["webhooks"][0].take()
    };
    let mut written = configuration(&json!({}));
    written["kind"] = json!("MutatingWebhookConfiguration");
    written["webhooks"] = (0..2_000).map(hook).collect();
    let mutating = read(&written);
    written["kind"] = json!("ValidatingWebhookConfiguration");
    let lints = lint_together(&[mutating, read(&written)]);
    let codes: Vec<&str> = lints.iter().map(|lint| lint.code().code()).collect();
    assert_eq!(codes, ["timeouts-add-up"]);
}

#[test]
fn wide_configurations() {
    let many = |prefix: &str, count: usize| -> Vec<String> {
        (0..count).map(|index| format!("{prefix}{index}")).collect()
    };
    let rule = json!({
        "operations": many("o", 2_000), "apiGroups": many("g", 10_000),
        "apiVersions": many("v", 10_000), "resources": many("r/s", 10_000),
    });
    let rules: Vec<Value> = std::iter::repeat_n(rule, 5).collect();
    let conditions: Vec<Value> = many("c", 10_000)
        .into_iter()
        .map(|name| json!({"name": name, "expression": "true"}))
        .collect();
    let mut written = configuration(&json!({
        "rules": rules, "matchConditions": conditions, "admissionReviewVersions": many("v", 10_000),
    }));
    let webhook = written["webhooks"][0].clone();
    written["webhooks"] = Value::Array(std::iter::repeat_n(webhook, 3).collect());
    let configuration = read(&written);
    // An error for each operation, one for the number of conditions, two repeated names.
    assert_eq!(configuration.validate().len(), 3 * (5 * 2_000 + 1) + 2);
    let set = WebhookSet::new(ConfigurationKind::Validating, [configuration]);
    let (known, registry) = (namespaces(&[]), EquivalentResources::new());
    let context = MatchContext::new(&known, &registry);
    let request = request(Operation::Create, "g7/v7/r/s7", "n");
    assert!(set.matching(&request, &context).is_empty());
}

#[test]
fn deep_documents() {
    on_small_stack(|| {
        let mut written = DeepValue::from(configuration(&json!({})));
        written["webhooks"][0]["unknown"] = deep(9_000).into_inner();
        written["metadata"]["managedFields"] =
            Value::Array(vec![Value::Object(Map::from_iter([(
                "fieldsV1".to_owned(),
                deep(9_000).into_inner(),
            )]))]);
        let (read, unknown) = WebhookConfiguration::from_value_reporting(&written).unwrap();
        assert_eq!(unknown, ["unknown field \"webhooks[0].unknown\""]);
        let copy = read.clone();
        assert!(copy == read && !format!("{read:?}").is_empty());
        assert!(read.to_value()["metadata"]["managedFields"].is_array());
        assert!(!read.validate().is_empty());

        for place in ["clientConfig", "rules", "objectSelector", "name", "timeoutSeconds"] {
            let mut written = DeepValue::from(configuration(&json!({})));
            written["webhooks"][0][place] = Value::Array(vec![deep(9_000).into_inner()]);
            assert!(WebhookConfiguration::from_value(&written).is_ok() == (place == "rules"));
        }

        let hook = hook(&json!({"rules": all(), "objectSelector": {"matchLabels": {"a": "b"}}}));
        let mut object = DeepValue::from(json!({"metadata": {"name": "a"}}));
        object["spec"] = deep(9_000).into_inner();
        object["metadata"]["labels"] = deep(9_000).into_inner();
        let mut review = DeepValue::from(json!({"request": {"operation": "CREATE",
            "kind": {"version": "v1", "kind": "Thing"},
            "resource": {"version": "v1", "resource": "things"}}}));
        review["request"]["object"] = object.clone().into_inner();
        let request = AdmissionAttributes::from_review(&review).unwrap();
        assert_eq!(request.object, Some(object));
        assert_eq!(plain_outcome(&hook, &request), "ObjectSelectorMismatch");
    });
}

#[test]
fn values_of_any_kind_are_read_or_refused() {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5e300),
        json!("é\u{0}"),
        json!([null]),
        json!({"": null}),
    ];
    let places = [
        "",
        "/metadata",
        "/webhooks",
        "/webhooks/0",
        "/webhooks/0/name",
        "/webhooks/0/clientConfig",
        "/webhooks/0/clientConfig/url",
        "/webhooks/0/sideEffects",
        "/webhooks/0/admissionReviewVersions",
        "/webhooks/0/admissionReviewVersions/0",
    ];
    for value in &values {
        for place in places {
            let mut written = configuration(&json!({}));
            *written.pointer_mut(place).unwrap() = value.clone();
            if let Ok(configuration) = WebhookConfiguration::from_value(&written) {
                let _ = configuration.validate();
                let again = read(&configuration.to_value());
                assert_eq!(again, configuration);
                let _ = WebhookSet::new(ConfigurationKind::Validating, [again]);
            }
        }
    }
}
