//! Selectors of namespaces and objects, the order of the steps, and exempt kinds (WM-01 to WM-25,
//! WM-61).

use billhook::webhook::{
    AdmissionAttributes, CompiledWebhook, ConfigurationKind, DecisionReason, EquivalentResources,
    MatchContext, NamespaceLabels, Namespaces, Operation, WebhookConfiguration, WebhookSet,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use serde_json::{Value, json};

use crate::webhook::support::{
    all, configuration, decide, hook, labels, namespaces, outcome, plain_outcome, request,
};

fn labelled(text: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "a", "labels": labels(text)}})
}

fn in_namespaces(
    hook: &CompiledWebhook,
    request: &AdmissionAttributes,
    known: &dyn Namespaces,
) -> String {
    let registry = EquivalentResources::new();
    outcome(decide(hook, request, &MatchContext::new(known, &registry)).decision())
}

fn namespace(operation: Operation, object: &str, old_object: &str) -> AdmissionAttributes {
    let kind = GroupVersionKind::new("", "v1", "Namespace");
    let resource = GroupVersionResource::new("", "v1", "namespaces");
    let (object, old_object) = (labelled(object), labelled(old_object));
    match operation {
        Operation::Create => AdmissionAttributes::create(kind, resource, object),
        Operation::Update => AdmissionAttributes::update(kind, resource, object, old_object),
        _ => AdmissionAttributes::delete(kind, resource, old_object),
    }
}

const MISMATCH: &str = "NamespaceSelectorMismatch";

/// The table under WM-17, and WM-11 for other groups.
#[test]
fn namespace_selector() {
    let selector = json!({"matchExpressions": [
        {"key": "env", "operator": "In", "values": ["prod"]},
    ]});
    let hook = hook(&json!({"rules": all(), "namespaceSelector": selector}));
    let known = namespaces(&[("a", "env=prod"), ("b", "")]);
    use Operation::{Connect, Create, Delete, Update};
    for (request, expected) in [
        (request(Create, "/v1/pods", "a"), "called"),
        (request(Connect, "/v1/pods/exec", "a"), "called"),
        (request(Create, "/v1/pods", "b"), MISMATCH),
        (request(Create, "/v1/nodes", ""), "called"),
        (namespace(Create, "env=prod", ""), "called"),
        (namespace(Create, "env=dev", ""), MISMATCH),
        (namespace(Update, "env=dev", "env=prod"), MISMATCH),
        (namespace(Update, "env=prod", "env=dev"), "called"),
        (namespace(Delete, "", "env=dev"), "called"),
        (namespace(Update, "env=dev", "env=dev").subresource("status"), "called"),
        (namespace(Delete, "", "env=prod").name("b").namespace("b"), MISMATCH),
        (request(Create, "/v1/pods", "x"), "404 namespaces \"x\" not found"),
        (request(Delete, "/v1/namespaces", ""), "404 namespaces \"\" not found"),
        // Only the name of the resource counts.
        (request(Create, "example.com/v1/namespaces", ""), MISMATCH),
    ] {
        let shown = format!("{} {} {}", request.operation, request.resource, request.namespace);
        assert_eq!(in_namespaces(&hook, &request, &known), expected, "{shown}");
    }
}

/// WM-05, WM-06: errors of selectors count only if the rules select the request.
#[test]
fn errors_of_selectors_are_deferred() {
    let rules = json!([{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"],
        "resources": ["pods"]}]);
    let selecting = json!({"matchLabels": {"env": "prod"}});
    let broken = json!({"matchExpressions": [{"key": "env", "operator": "Like"}]});
    let known = namespaces(&[("a", "env=prod")]);
    let parse_error =
        "500 Internal error occurred: \"Like\" is not a valid label selector operator";
    let missing = "404 namespaces \"x\" not found";
    for (namespace_selector, object_selector, target, namespace, expected) in [
        (&selecting, &json!({}), "/v1/pods", "x", missing),
        (&selecting, &json!({}), "/v1/nodes", "x", "NoRuleMatched"),
        (&json!({}), &json!({}), "/v1/pods", "x", "called"),
        (&broken, &json!({}), "/v1/pods", "a", parse_error),
        (&broken, &json!({}), "/v1/nodes", "a", "NoRuleMatched"),
        // In no namespace the selector is not even parsed.
        (&broken, &json!({}), "/v1/pods", "", "called"),
        (&json!({}), &broken, "/v1/pods", "a", parse_error),
        (&json!({}), &broken, "/v1/nodes", "a", "NoRuleMatched"),
        // The first error is the one that counts; a mismatch ends the evaluation.
        (&selecting, &broken, "/v1/pods", "x", missing),
        (
            &selecting,
            &json!({"matchLabels": {"a": "b"}}),
            "/v1/pods",
            "x",
            "ObjectSelectorMismatch",
        ),
        (&broken, &json!({"matchLabels": {"a": "b"}}), "/v1/pods", "a", "ObjectSelectorMismatch"),
    ] {
        let hook = hook(&json!({"rules": rules, "namespaceSelector": namespace_selector,
            "objectSelector": object_selector, "failurePolicy": "Ignore"}));
        let request = request(Operation::Create, target, namespace);
        let shown = format!("{namespace_selector} {object_selector} {target} {namespace}");
        assert_eq!(in_namespaces(&hook, &request, &known), expected, "{shown}");
    }
}

/// WM-16: other errors than a missing namespace are wrapped.
#[test]
fn namespaces_that_cannot_be_looked_up() {
    let hook = hook(&json!({"rules": all(), "namespaceSelector": {"matchLabels": {"a": "b"}}}));
    let request = request(Operation::Create, "/v1/pods", "a");
    let broken = |_: &str| Err::<Option<NamespaceLabels>, _>("etcd is gone".into());
    let expected = "500 Internal error occurred: etcd is gone";
    assert_eq!(in_namespaces(&hook, &request, &broken), expected);
    let found = |_: &str| Ok(Some(labels("a=b")));
    assert_eq!(in_namespaces(&hook, &request, &found), "called");
}

/// The table under WM-25; WM-21 to WM-24.
#[test]
fn object_selector() {
    let positive =
        hook(&json!({"rules": all(), "objectSelector": {"matchLabels": {"foo": "bar"}}}));
    let negative = hook(&json!({"rules": all(), "objectSelector": {"matchExpressions": [
        {"key": "foo", "operator": "NotIn", "values": ["bar"]}]}}));
    let kind = || GroupVersionKind::new("", "v1", "Thing");
    let resource = || GroupVersionResource::new("", "v1", "things");
    let update = |new: &str, old: &str| {
        AdmissionAttributes::update(kind(), resource(), labelled(new), labelled(old))
    };
    let exec = json!({"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh"]});
    let rollback = json!({"apiVersion": "apps/v1beta1", "kind": "DeploymentRollback", "name": "a"});
    let custom = json!({"apiVersion": "example.com/v1", "kind": "PodExecOptions"});
    let create = |object: Value| AdmissionAttributes::create(kind(), resource(), object);
    for (request, expected) in [
        (create(labelled("foo=bar")), [true, false]),
        (create(labelled("")), [false, true]),
        (create(json!({"apiVersion": "v1", "kind": "Thing", "metadata": {}})), [false, true]),
        (update("", "foo=bar"), [true, true]),
        (update("foo=bar", ""), [true, true]),
        (update("foo=bar", "foo=bar"), [true, false]),
        (update("foo=baz", "a=b"), [false, true]),
        (AdmissionAttributes::delete(kind(), resource(), labelled("foo=bar")), [true, false]),
        (AdmissionAttributes::delete(kind(), resource(), labelled("")), [false, true]),
        (AdmissionAttributes::connect(kind(), resource(), "exec", exec), [false, false]),
        (create(rollback), [false, false]),
        (create(custom), [false, true]),
    ] {
        for (hook, expected) in [&positive, &negative].into_iter().zip(expected) {
            let expected = if expected { "called" } else { "ObjectSelectorMismatch" };
            assert_eq!(plain_outcome(hook, &request), expected, "{request:?}");
        }
    }
    // Everything is selected by an empty selector, also what has no labels.
    let request = AdmissionAttributes::connect(kind(), resource(), "exec", json!({}));
    assert_eq!(plain_outcome(&hook(&json!({"rules": all()})), &request), "called");
}

/// WM-25: both selectors must match.
#[test]
fn both_selectors() {
    let hook = hook(&json!({"rules": all(),
        "namespaceSelector": {"matchLabels": {"env": "prod"}},
        "objectSelector": {"matchLabels": {"foo": "bar"}}}));
    let known = namespaces(&[("a", "env=prod"), ("b", "")]);
    let kind = GroupVersionKind::new("", "v1", "Thing");
    let resource = GroupVersionResource::new("", "v1", "things");
    for (namespace, object, expected) in [
        ("a", "foo=bar", "called"),
        ("a", "", "ObjectSelectorMismatch"),
        ("b", "foo=bar", MISMATCH),
        ("b", "", MISMATCH),
    ] {
        let object = labelled(object);
        let request = AdmissionAttributes::create(kind.clone(), resource.clone(), object);
        let request = request.namespace(namespace);
        assert_eq!(in_namespaces(&hook, &request, &known), expected, "{namespace}");
    }
}

/// WM-61: without defaulting, a selector that is absent selects nothing but what WM-11 lets pass.
#[test]
fn null_selectors_select_nothing() {
    let mut configuration =
        WebhookConfiguration::from_value(&configuration(&json!({"rules": all()}))).unwrap();
    configuration.webhooks[0].namespace_selector = None;
    let set = WebhookSet::new(ConfigurationKind::Validating, [configuration.clone()]);
    let known = namespaces(&[("a", "")]);
    let decided = |set: &WebhookSet, namespace| {
        let request = request(Operation::Create, "/v1/things", namespace);
        in_namespaces(&set.hooks()[0], &request, &known)
    };
    assert_eq!(decided(&set, "a"), MISMATCH);
    assert_eq!(decided(&set, ""), "called");
    configuration.webhooks[0].object_selector = None;
    let set = WebhookSet::new(ConfigurationKind::Validating, [configuration]);
    assert_eq!(decided(&set, ""), "ObjectSelectorMismatch");
}

/// WM-03.
#[test]
fn exempt_kinds() {
    let configuration =
        WebhookConfiguration::from_value(&configuration(&json!({"rules": all()}))).unwrap();
    let set = WebhookSet::new(ConfigurationKind::Validating, [configuration]);
    let (known, registry) = (namespaces(&[]), EquivalentResources::new());
    let context = MatchContext::new(&known, &registry);
    let group = "admissionregistration.k8s.io";
    for (group, version, kind, exempt) in [
        (group, "v1", "ValidatingWebhookConfiguration", true),
        (group, "v1beta1", "MutatingWebhookConfiguration", true),
        (group, "v1", "ValidatingAdmissionPolicy", true),
        (group, "v1", "ValidatingAdmissionPolicyBinding", true),
        (group, "v1alpha1", "MutatingAdmissionPolicy", true),
        (group, "v9", "MutatingAdmissionPolicyBinding", true),
        (group, "v1", "Other", false),
        ("example.com", "v1", "ValidatingWebhookConfiguration", false),
        ("", "v1", "ValidatingAdmissionPolicy", false),
    ] {
        let resource = GroupVersionResource::new(group, version, "things");
        let kind = GroupVersionKind::new(group, version, kind);
        let request = AdmissionAttributes::create(kind, resource, json!({})).subresource("status");
        assert_eq!(request.is_exempt(), exempt);
        assert_eq!(set.matching(&request, &context).is_empty(), exempt);
        let decided = set.decide_all(&request, &context);
        assert_eq!(decided[0].reason(), exempt.then_some(DecisionReason::ExemptKind));
        let trace = set.explain(0, &request, &context).unwrap();
        assert_eq!(trace.decision(), &decided[0]);
    }
}

/// DI-05, DI-06: by the name of the configuration, then as written; names may repeat.
#[test]
fn order_and_keys() {
    let named = |kind: &str, name: &str, hooks: &[&str]| {
        let mut written = configuration(&json!({}));
        let webhook = written["webhooks"][0].clone();
        let named = |name: &&str| {
            let mut webhook = webhook.clone();
            webhook["name"] = json!(name);
            webhook
        };
        written["webhooks"] = hooks.iter().map(named).collect();
        written["kind"] = json!(kind);
        written["metadata"]["name"] = json!(name);
        WebhookConfiguration::from_value(&written).unwrap()
    };
    let validating = "ValidatingWebhookConfiguration";
    let configurations = [
        named(validating, "b", &["z.b.c", "a.b.c", "z.b.c"]),
        named("MutatingWebhookConfiguration", "aa", &["m.b.c"]),
        named(validating, "a-2", &["old.b.c"]),
        named(validating, "a", &["x.b.c"]),
        named(validating, "B", &["x.b.c"]),
        named(validating, "a-2", &["y.b.c"]),
    ];
    let set = WebhookSet::new(ConfigurationKind::Validating, configurations.clone());
    let keys: Vec<&str> = set.hooks().iter().map(CompiledWebhook::key).collect();
    assert_eq!(
        keys,
        ["B/x.b.c/0", "a/x.b.c/0", "a-2/y.b.c/0", "b/z.b.c/0", "b/a.b.c/0", "b/z.b.c/1",]
    );
    let set = WebhookSet::new(ConfigurationKind::Mutating, configurations);
    assert_eq!(set.hooks()[0].key(), "aa/m.b.c/0");
    assert_eq!((set.hooks()[0].name(), set.hooks()[0].configuration()), ("m.b.c", "aa"));
}
