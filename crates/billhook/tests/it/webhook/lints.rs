//! Advice about configurations (WCF-L1 to WCF-L11 and others).

use std::collections::BTreeSet;

use billhook::webhook::{
    Lint, LintCode, LintSeverity, ValidationOptions, WebhookConfiguration, lint_together,
};
use serde_json::{Value, json};

use crate::webhook::support::{configuration, old, read};

/// A webhook that nothing is to be said about.
fn blameless() -> Value {
    configuration(&json!({
        "rules": [rule("v1", "pods/status")],
        "admissionReviewVersions": ["v1", "v1beta1"],
    }))
}

fn rule(version: &str, resource: &str) -> Value {
    json!({"operations": ["UPDATE"], "apiGroups": [""], "apiVersions": [version],
        "resources": [resource]})
}

fn with(fields: &Value) -> Value {
    let mut value = blameless();
    for (name, field) in fields.as_object().unwrap() {
        value["webhooks"][0][name] = field.clone();
    }
    value
}

fn mutating(mut value: Value) -> Value {
    value["kind"] = json!("MutatingWebhookConfiguration");
    value
}

fn shown(lints: &[Lint]) -> Vec<String> {
    lints.iter().map(|lint| lint.to_string().replace("webhooks[0].", "")).collect()
}

#[test]
fn single_configurations() {
    let no: Vec<&str> = Vec::new();
    let selecting = json!({"matchLabels": {"a": "b"}});
    let condition = |expression: &str| json!([{"name": "c", "expression": expression}]);
    let on_resource = "matchConditions: condition `c` looks at `request.resource` \
        [condition-on-resource, WCF-L10]";
    let url = |url: &str| json!({"clientConfig": {"url": url}});
    let local = |host: &str| {
        format!(
            "clientConfig.url: `{host}` means something else to every API server, or nothing \
            [local-url, WCF-L8]"
        )
    };
    let bundle = |text: &str| json!({"clientConfig": {"url": "https://h/", "caBundle": text}});
    let exempt = json!([{"operations": ["*"], "apiGroups": ["admissionregistration.k8s.io"],
        "apiVersions": ["*"], "resources": ["validatingadmissionpolicies/status", "others"]}]);
    for (value, expected) in [
        (blameless(), vec![]),
        (
            with(&json!({"objectSelector": selecting})),
            vec![
                "objectSelector: objects choose by their labels whether they are checked \
                [object-selector-opt-out, WCF-L1]"
                    .to_owned(),
            ],
        ),
        (mutating(with(&json!({"objectSelector": selecting}))), vec![]),
        (
            with(&json!({"matchPolicy": "Exact"})),
            vec![
            "rules[0].apiVersions: only `v1` match, no other version does [exact-match-policy, \
                WCF-L2]".to_owned(),
        ],
        ),
        (with(&json!({"matchPolicy": "Exact", "rules": [rule("*", "pods/status")]})), vec![]),
        (
            with(&json!({"rules": [rule("v1beta2", "pods/status")]})),
            vec![
            "rules[0].apiVersions: `v1beta2` may be served no longer some day [unstable-version, \
                WCF-L2]".to_owned(),
        ],
        ),
        (
            with(&json!({"timeoutSeconds": 11})),
            vec!["timeoutSeconds: a call may take 11 seconds [long-timeout, WCF-L4]".to_owned()],
        ),
        (
            mutating(with(&json!({"reinvocationPolicy": "IfNeeded"}))),
            vec![
                "reinvocationPolicy: the webhook may be called again for the same request \
                [reinvocation, WCF-L6]"
                    .to_owned(),
            ],
        ),
        (
            with(&json!({"sideEffects": "NoneOnDryRun"})),
            vec!["sideEffects: the webhook has side effects [side-effects, WCF-L7]".to_owned()],
        ),
        (with(&url("https://LOCALHOST:8443/")), vec![local("LOCALHOST")]),
        (with(&url("https://127.8.0.1/")), vec![local("127.8.0.1")]),
        (with(&url("https://[::1]:443/")), vec![local("::1")]),
        (with(&url("https://hook.ns.svc:443/")), vec![local("hook.ns.svc")]),
        (with(&url("https://hook.svc.example.com/localhost")), vec![]),
        (
            with(&json!({"matchConditions": condition("request.resource.group != 'a'")})),
            vec![on_resource.to_owned()],
        ),
        (
            with(&json!({"matchConditions": condition("request.resource == x")})),
            vec![on_resource.to_owned()],
        ),
        (
            with(&json!({"matchConditions": condition("x.request.resource + request.resourceX")})),
            vec![],
        ),
        (
            with(&json!({"matchPolicy": "Exact", "rules": [rule("*", "pods/status")],
            "matchConditions": condition("request.resource.group != 'a'")})),
            vec![],
        ),
        (
            with(&json!({"admissionReviewVersions": ["v1"]})),
            vec![
            "admissionReviewVersions: `v1` is the only version [single-review-version, WCF-L11]"
                .to_owned(),
        ],
        ),
        (
            with(&json!({"rules": [rule("v1", "things/*")]})),
            vec![
            "rules[0].resources[0]: `things/*` matches `things` too [subresource-wildcard, WM-35]"
                .to_owned(),
        ],
        ),
        (
            with(&json!({"rules": exempt})),
            vec![
            "rules[0].resources[0]: no webhook is called for `validatingadmissionpolicies/status` \
                [exempt-kind, WCF-96]".to_owned(),
        ],
        ),
        (
            with(&json!({"rules": []})),
            vec!["rules: there are no rules [no-rules, WCF-32]".to_owned()],
        ),
        (
            with(&bundle("Zm9v")),
            vec![
                "clientConfig.caBundle: there is no certificate in it [ca-bundle, WCF-72]"
                    .to_owned(),
            ],
        ),
        (
            with(&bundle("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==")),
            vec![
                "clientConfig.caBundle: there is no certificate in it [ca-bundle, WCF-72]"
                    .to_owned(),
            ],
        ),
        (with(&bundle(include_str!("../../../../../fixtures/ca-bundle.b64").trim_end())), vec![]),
    ] {
        assert_eq!(shown(&read(&value).lints()), expected, "{value}");
    }
    let mut reserved = blameless();
    reserved["metadata"]["name"] = json!("a.static.k8s.io");
    let expected = "metadata.name: this name is reserved [reserved-name, WCF-97]";
    assert_eq!(shown(&read(&reserved).lints()), [expected]);
    assert_eq!(shown(&read(&blameless()).lints()), no);
}

/// WCF-L3: only where the selector certainly selects the namespace.
#[test]
fn namespaces_that_the_webhook_needs() {
    let name = |operator: &str, values: &[&str]| json!({"key": "kubernetes.io/metadata.name", "operator": operator, "values": values});
    let other = json!({"key": "runlevel", "operator": "NotIn", "values": ["0"]});
    let select = |expressions: &[Value]| json!({"matchExpressions": expressions});
    let (own, system) = ("own-namespace", "kube-system");
    let all = json!([{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
        "resources": ["*"]}]);
    let service = json!({"service": {"namespace": "hooks", "name": "s"}});
    for (selector, fields, expected) in [
        (json!({}), json!({}), vec![own, system]),
        (json!({}), json!({"failurePolicy": "Ignore"}), vec![]),
        (
            json!({}),
            json!({"matchConditions": [{"name": "c", "expression": "request.name != ''"}]}),
            vec![own, system],
        ),
        (
            json!({}),
            json!({"matchConditions":
            [{"name": "c", "expression": "request.namespace != 'a'"}]}),
            vec![],
        ),
        (json!({}), json!({"clientConfig": {"url": "https://h/"}}), vec![system]),
        (json!({}), json!({"rules": [rule("v1", "leases")]}), vec![]),
        (json!({}), json!({"rules": [rule("v1", "pods")]}), vec![own, system]),
        (json!({}), json!({"rules": [rule("v2", "pods")]}), vec![]),
        (select(&[name("NotIn", &["hooks"])]), json!({}), vec![system]),
        (select(&[name("NotIn", &["hooks", "kube-system"])]), json!({}), vec![]),
        (select(&[name("In", &["hooks"])]), json!({}), vec![own]),
        (select(std::slice::from_ref(&other)), json!({}), vec![]),
        (select(&[name("Exists", &[]), other]), json!({}), vec![]),
        (select(&[name("Exists", &[])]), json!({}), vec![own, system]),
    ] {
        let mut written = json!({"clientConfig": service, "rules": all,
            "namespaceSelector": selector});
        for (name, value) in fields.as_object().unwrap() {
            written[name] = value.clone();
        }
        let lints = read(&with(&written)).lints();
        let codes: Vec<&str> = lints.iter().map(|lint| lint.code().code()).collect();
        assert_eq!(codes, expected, "{written}");
    }
    let lints = read(&with(&json!({"clientConfig": service, "rules": all}))).lints();
    assert_eq!(
        lints[0].message(),
        "`pods` in its own namespace `hooks` need the webhook's consent"
    );
}

/// WCF-L5, WCF-L9, DI-54.
#[test]
fn several_configurations() {
    let named = |kind: &str, name: &str, hooks: &[(&str, i32)]| -> WebhookConfiguration {
        let mut value = blameless();
        let webhook = value["webhooks"][0].clone();
        let hook = |(name, seconds): &(&str, i32)| {
            let mut webhook = webhook.clone();
            webhook["name"] = json!(name);
            webhook["timeoutSeconds"] = json!(seconds);
            webhook
        };
        value["webhooks"] = hooks.iter().map(hook).collect();
        value["kind"] = json!(kind);
        value["metadata"]["name"] = json!(name);
        read(&value)
    };
    let (mutating, validating) = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration");
    let lints = |configurations: &[WebhookConfiguration]| -> Vec<String> {
        let lints = lint_together(configurations);
        lints.iter().map(|lint| format!("{}: {lint}", lint.configuration())).collect()
    };
    let counterpart = named(validating, "v", &[("v.b.c", 10)]);
    let alone = "m: webhooks[0]: no validating webhook is for the same requests \
        [no-validating-counterpart, WCF-L5]";
    assert_eq!(lints(&[named(mutating, "m", &[("m.b.c", 10)])]), [alone]);
    let both = [named(mutating, "m", &[("m.b.c", 10)]), counterpart.clone()];
    assert!(lints(&both).is_empty());

    let repeated = [
        named(validating, "a", &[("x.b.c", 10), ("x.b.c", 10)]),
        named(validating, "b", &[("y.b.c", 10), ("x.b.c", 10)]),
    ];
    let expected = "b: webhooks[1].name: `x.b.c` is in `a` too [repeated-name, WCF-L9]";
    assert_eq!(lints(&repeated), [expected]);

    let slow = |seconds| {
        [
            named(mutating, "a", &[("a.b.c", 15)]),
            named(mutating, "b", &[("b.b.c", 10), ("c.b.c", seconds)]),
            counterpart.clone(),
        ]
    };
    assert!(lints(&slow(9)).is_empty());
    let expected = "b: webhooks[1].timeoutSeconds: the 3 webhooks for `UPDATE v1 pods/status` up to this \
        one may take 35 seconds [timeouts-add-up, DI-54]";
    assert_eq!(lints(&slow(10)), [expected]);
}

#[test]
fn codes_are_distinct_and_helpful() {
    let codes: BTreeSet<&str> = LintCode::ALL.iter().map(|code| code.code()).collect();
    assert_eq!(codes.len(), LintCode::ALL.len());
    let rules: BTreeSet<&str> = LintCode::ALL.iter().map(|code| code.rule()).collect();
    for number in 1..=11 {
        assert!(rules.contains(format!("WCF-L{number}").as_str()), "{number}");
    }
    for code in LintCode::ALL {
        assert!(code.help().len() > 20 && !code.help().ends_with('.'), "{code}");
    }
    assert!(LintSeverity::Note < LintSeverity::Warning);
}

/// A document in one go.
#[test]
fn checks() {
    let options = ValidationOptions::default();
    let mut value = old(with(&json!({
        "matchConditions": [{"name": "a", "expression": "true"}, {"name": "b", "expression": ""}],
        "extra": 1,
    })));
    value["webhooks"][0]["timeoutSeconds"] = json!(0);
    let (check, unknown) = WebhookConfiguration::check_document(&value, &options).unwrap();
    assert_eq!(unknown, ["unknown field \"webhooks[0].extra\""]);
    assert!(check.warnings[0].contains("v1beta1 is not served"));
    assert_eq!(check.errors.len(), 2);
    assert_eq!(check.lints[0].code(), LintCode::ExactMatchPolicy);
    assert_eq!(check.lints[0].severity(), LintSeverity::Warning);
    assert_eq!(check, read(&value).check(&options));
    assert!(WebhookConfiguration::check_document(&json!({}), &options).is_err());
}
