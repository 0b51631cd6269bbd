//! Reading, defaults, writing and validation of configurations (WCF-01 to WCF-84).

use billhook::webhook::{ConfigurationError, WebhookConfiguration};
use serde_json::{Value, json};

use crate::webhook::support::{configuration, old, read, texts};

/// The errors of a configuration with one webhook.
fn errors(fields: &Value) -> Vec<String> {
    texts(&read(&configuration(fields)).validate())
}

/// The errors of a webhook, without its path.
fn errors_at(prefix: &str, fields: &Value) -> Vec<String> {
    let prefix = format!("webhooks[0].{prefix}");
    let strip = |error: &String| error.strip_prefix(&prefix).unwrap_or(error).to_owned();
    errors(fields).iter().map(strip).collect()
}

fn mutating(mut configuration: Value) -> Value {
    configuration["kind"] = json!("MutatingWebhookConfiguration");
    configuration
}

/// WCF-10 to WCF-13.
#[test]
fn defaults() {
    let bare = json!({
        "clientConfig": {"service": {"namespace": "n", "name": "s"}},
        "rules": [{"operations": ["CREATE"]}],
        "sideEffects": null,
        "admissionReviewVersions": null,
    });
    let common = |failure, policy, seconds| {
        json!({
            "name": "hook.example.com",
            "clientConfig": {"service": {"namespace": "n", "name": "s", "port": 443}},
            "rules": [{"operations": ["CREATE"], "scope": "*"}],
            "failurePolicy": failure, "matchPolicy": policy, "timeoutSeconds": seconds,
            "namespaceSelector": {}, "objectSelector": {},
            "sideEffects": null, "admissionReviewVersions": null,
        })
    };
    let v1 = common("Fail", "Equivalent", 10);
    let mut v1beta1 = common("Ignore", "Exact", 30);
    v1beta1["sideEffects"] = json!("Unknown");
    v1beta1["admissionReviewVersions"] = json!(["v1beta1"]);
    for (written, expected) in [(configuration(&bare), v1), (old(configuration(&bare)), v1beta1)] {
        let document = read(&written).to_value();
        assert_eq!(document["webhooks"][0], expected);
        assert_eq!(document["apiVersion"], written["apiVersion"]);
        let document = read(&mutating(written)).to_value();
        assert_eq!(document["webhooks"][0]["reinvocationPolicy"], "Never");
    }
    // What is there stays, even if it is empty.
    let empty = json!({"failurePolicy": "", "timeoutSeconds": 0, "admissionReviewVersions": []});
    let webhook = &read(&configuration(&empty)).to_value()["webhooks"][0];
    assert_eq!(webhook["failurePolicy"], "");
    assert_eq!(webhook["timeoutSeconds"], 0);
    assert_eq!(webhook["admissionReviewVersions"], json!([]));
    let webhook = &read(&old(configuration(&empty))).to_value()["webhooks"][0];
    assert_eq!(webhook["admissionReviewVersions"], json!(["v1beta1"]));
}

/// WCF-02, WCF-05, WCF-08: nothing is lost on the way through the model, and order stays.
#[test]
fn documents_come_back() {
    let document = mutating(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "",
        "metadata": {"name": "c", "labels": {"a": "b"}},
        "webhooks": [{
            "name": "z.example.com",
            "clientConfig": {"url": "https://h/", "caBundle": "Zm9vYg=="},
            "rules": [{"operations": ["UPDATE", "CREATE"], "apiGroups": ["z", "a"],
                "apiVersions": ["v2", "v1"], "resources": ["z", "a"], "scope": "Cluster"}],
            "failurePolicy": "Ignore", "matchPolicy": "Exact", "timeoutSeconds": 3,
            "namespaceSelector": {"matchLabels": {"a": "b"}},
            "objectSelector": {"matchExpressions": [
                {"key": "z", "operator": "In", "values": ["z", "a"]}]},
            "sideEffects": "NoneOnDryRun", "admissionReviewVersions": ["v2", "v1"],
            "reinvocationPolicy": "IfNeeded",
            "matchConditions": [{"name": "z", "expression": "true"}],
        }],
    }));
    let configuration = read(&document);
    assert_eq!(*configuration.to_value(), document);
    assert_eq!(configuration.webhooks[0].client_config.ca_bundle, b"foob");
    let text = billhook::to_yaml(&document);
    assert_eq!(WebhookConfiguration::from_yaml(&text), Ok(configuration.clone()));
    let text = billhook::to_json(&document);
    assert_eq!(WebhookConfiguration::from_json(text.as_bytes()), Ok(configuration));
}

/// WCF-03, WCF-04: the fields that are not known.
#[test]
fn unknown_fields() {
    let fields = json!({
        "timeout": 1, "conversionPolicy": "Convert", "reinvocationPolicy": "Never",
        "clientConfig": {"url": "https://h/", "ca": "", "service": null},
        "rules": [{"operation": []}, null],
        "objectSelector": {"matchLabel": {}, "matchExpressions": [{"value": []}]},
        "matchConditions": [{"expr": ""}],
    });
    let mut document = configuration(&fields);
    document["spec"] = json!({});
    document["metadata"]["nam"] = json!("x");
    let (read, unknown) = WebhookConfiguration::from_value_reporting(&document).unwrap();
    assert_eq!(
        unknown,
        [
            "unknown field \"metadata.nam\"",
            "unknown field \"spec\"",
            "unknown field \"webhooks[0].clientConfig.ca\"",
            "unknown field \"webhooks[0].conversionPolicy\"",
            "unknown field \"webhooks[0].matchConditions[0].expr\"",
            "unknown field \"webhooks[0].objectSelector.matchExpressions[0].value\"",
            "unknown field \"webhooks[0].objectSelector.matchLabel\"",
            "unknown field \"webhooks[0].reinvocationPolicy\"",
            "unknown field \"webhooks[0].rules[0].operation\"",
            "unknown field \"webhooks[0].timeout\"",
        ]
    );
    assert_eq!(read, WebhookConfiguration::from_value(&document).unwrap());
    let (_, unknown) = WebhookConfiguration::from_value_reporting(&mutating(document)).unwrap();
    assert_eq!(unknown.len(), 9);
}

#[test]
fn documents_that_cannot_be_read() {
    for (fields, error) in [
        (
            json!({"timeoutSeconds": "10"}),
            "json: cannot unmarshal string into Go struct field ValidatingWebhook.webhooks.timeoutSeconds of type int32",
        ),
        (
            json!({"timeoutSeconds": 1.5}),
            "json: cannot unmarshal number 1.5 into Go struct field ValidatingWebhook.webhooks.timeoutSeconds of type int32",
        ),
        (
            json!({"timeoutSeconds": 3_000_000_000_i64}),
            "json: cannot unmarshal number 3000000000 into Go struct field ValidatingWebhook.webhooks.timeoutSeconds of type int32",
        ),
        (
            json!({"rules": [{"operations": "CREATE"}]}),
            "json: cannot unmarshal string into Go struct field RuleWithOperations.webhooks.rules.operations of type []v1.OperationType",
        ),
        (
            json!({"rules": [{"resources": [{}]}]}),
            "json: cannot unmarshal object into Go struct field RuleWithOperations.webhooks.rules.Rule.resources of type string",
        ),
        (
            json!({"clientConfig": []}),
            "json: cannot unmarshal array into Go struct field ValidatingWebhook.webhooks.clientConfig of type v1.WebhookClientConfig",
        ),
        (json!({"clientConfig": {"caBundle": "Zm9v!"}}), "illegal base64 data at input byte 4"),
    ] {
        let error_found = WebhookConfiguration::from_value(&configuration(&fields)).unwrap_err();
        assert_eq!(error_found.to_string(), error);
        assert!(matches!(error_found, ConfigurationError::Field(_)));
    }
    for (api_version, kind) in [
        ("admissionregistration.k8s.io/v2", "MutatingWebhookConfiguration"),
        ("v1", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"),
    ] {
        let value = json!({"apiVersion": api_version, "kind": kind});
        assert_eq!(WebhookConfiguration::kind_of(&value), None);
        let error = WebhookConfiguration::from_value(&value).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "not a webhook configuration of \
            admissionregistration.k8s.io/v1 or v1beta1: apiVersion `{api_version}`, kind `{kind}`"
            )
        );
    }
    let error = WebhookConfiguration::from_yaml("a: 1\n---\nb: 1\n").unwrap_err();
    assert_eq!(error, ConfigurationError::Count(2));
    assert!(WebhookConfiguration::from_yaml("a: [").is_err());
    let mut value = configuration(&json!({}));
    value["metadata"] = json!({"name": 1});
    assert!(WebhookConfiguration::from_value(&value).is_err());
}

/// WCF-27, WCF-28.
#[test]
fn metadata() {
    let errors = |metadata: Value| {
        let mut value = configuration(&json!({}));
        value["metadata"] = metadata;
        texts(&read(&value).validate())
    };
    let none: [&str; 0] = [];
    assert_eq!(errors(json!({"name": "a.b"})), none);
    assert_eq!(errors(json!({"generateName": "a-"})), none);
    let required = "metadata.name: Required value: name or generateName is required";
    assert_eq!(errors(Value::Null), [required]);
    let forbidden = "metadata.namespace: Forbidden: not allowed on this type";
    assert_eq!(errors(json!({"name": "a", "namespace": "n"})), [forbidden]);
    let invalid = errors(json!({"name": "A_b", "labels": {"-": ""}}));
    assert!(invalid[0].starts_with("metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123"));
    assert!(invalid[1].starts_with("metadata.labels: Invalid value: \"-\": name part must"));
}

/// WCF-30, WCF-31, WCF-25, WCF-26.
#[test]
fn names() {
    let mut value = configuration(&json!({}));
    let webhook = value["webhooks"][0].clone();
    let named = |name: &&str| {
        let mut webhook = webhook.clone();
        webhook["name"] = json!(name);
        webhook
    };
    value["webhooks"] =
        ["a.example.com", "example.com", "a.example.com"].iter().map(named).collect();
    let configuration = read(&value);
    let errors = configuration.validate();
    let expected = "ValidatingWebhookConfiguration.admissionregistration.k8s.io \"configuration\" \
        is invalid: [webhooks[1].name: Invalid value: \"example.com\": should be a domain with at \
        least three segments separated by dots, webhooks[2].name: Duplicate value: \
        \"a.example.com\"]";
    let status = configuration.refusal(&errors);
    assert_eq!((status.code, &*status.reason, &*status.message), (422, "Invalid", expected));
    let details = status.details.unwrap();
    assert_eq!((&*details.kind, &*details.name), (configuration.kind.name(), "configuration"));
    let cause = &details.causes[1];
    assert_eq!((&*cause.reason, &*cause.field), ("FieldValueDuplicate", "webhooks[2].name"));
    assert_eq!(cause.message, "Duplicate value: \"a.example.com\"");

    value["webhooks"] = ["", "", "A.b.c"].iter().map(named).collect();
    let errors = texts(&read(&value).validate());
    assert_eq!(
        errors[..2],
        ["webhooks[0].name: Required value", "webhooks[1].name: Required value"]
    );
    assert!(errors[2].starts_with("webhooks[2].name: Invalid value: \"A.b.c\": a lowercase RFC"));
    assert_eq!(errors.len(), 3);
}

/// The table under WCF-45.
#[test]
fn resources() {
    let alone = |list: &str| {
        format!(": Invalid value: {list}: if '*/*' is present, must not specify other resources")
    };
    let star = |list: &str| {
        format!(
            ": Invalid value: {list}: if '*' is present, must not specify other resources \
            without subresources"
        )
    };
    let overlap = |element: &str, wildcard: &str| {
        format!(
            "[1]: Invalid value: \"{element}\": if '{wildcard}' is present, must not specify \
            {element}"
        )
    };
    for (resources, expected) in [
        (json!(["pods", "pods/*"]), vec![]),
        (json!(["*/*", "a"]), vec![alone("[\"*/*\",\"a\"]")]),
        (
            json!(["*/*", "*/status"]),
            vec![overlap("*/status", "*/*"), alone("[\"*/*\",\"*/status\"]")],
        ),
        (
            json!(["*/*", "*/*"]),
            vec![overlap("*/*", "*/*"), overlap("*/*", "*/*"), alone("[\"*/*\",\"*/*\"]")],
        ),
        (json!(["a/*", "a/x"]), vec![overlap("a/x", "a/*")]),
        (json!(["a/x", "a/*"]), vec![]),
        (json!(["*/a", "x/a"]), vec![overlap("x/a", "*/a")]),
        (json!(["*", "a"]), vec![star("[\"*\",\"a\"]")]),
        (json!(["a", "*"]), vec![]),
        (json!(["*", "a/x"]), vec![]),
        (json!(["*", "a", "*"]), vec![]),
        (json!(["*/status", "pods"]), vec![]),
        (json!([]), vec![": Required value".to_owned()]),
        (json!(["", "a"]), vec!["[0]: Required value".to_owned()]),
    ] {
        let rule = json!({"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"],
            "resources": resources});
        let errors = errors_at("rules[0].resources", &json!({"rules": [rule]}));
        assert_eq!(errors, expected, "{resources}");
    }
}

/// WCF-33 to WCF-38, WCF-44, WCF-45.
#[test]
fn rules() {
    let rule = json!({"operations": ["*", "PATCH", "create"], "apiGroups": ["", "*"],
        "apiVersions": ["", "*"], "scope": "<all>"});
    assert_eq!(
        errors_at(
            "rules[1].",
            &json!({"rules": [{"operations": ["CREATE", "CREATE"],
        "apiGroups": [""], "apiVersions": ["v1"], "resources": ["a"]}, rule, {}]})
        ),
        [
            "operations: Invalid value: [\"*\",\"PATCH\",\"create\"]: if '*' is present, must not \
            specify other operations",
            "operations[1]: Unsupported value: \"PATCH\": supported values: \"*\", \"CONNECT\", \
            \"CREATE\", \"DELETE\", \"UPDATE\"",
            "operations[2]: Unsupported value: \"create\": supported values: \"*\", \"CONNECT\", \
            \"CREATE\", \"DELETE\", \"UPDATE\"",
            "apiGroups: Invalid value: [\"\",\"*\"]: if '*' is present, must not specify other API \
            groups",
            "apiVersions: Invalid value: [\"\",\"*\"]: if '*' is present, must not specify other API \
            versions",
            "apiVersions[0]: Required value",
            "resources: Required value",
            // Shown as JSON (WCF-22).
            "scope: Unsupported value: \"\\u003call\\u003e\": supported values: \"*\", \"Cluster\", \
            \"Namespaced\"",
            "webhooks[0].rules[2].operations: Required value",
            "webhooks[0].rules[2].apiGroups: Required value",
            "webhooks[0].rules[2].apiVersions: Required value",
            "webhooks[0].rules[2].resources: Required value",
        ]
    );
    assert!(errors(&json!({"rules": []})).is_empty());
}

/// WCF-46 to WCF-51, WCF-26.
#[test]
fn single_fields_in_order() {
    let fields = json!({
        "failurePolicy": "fail", "matchPolicy": "", "sideEffects": "Some", "timeoutSeconds": 31,
        "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]},
        "reinvocationPolicy": "Always", "clientConfig": {}, "matchConditions": [{"name": "a"}],
        "admissionReviewVersions": [],
    });
    let value = configuration(&fields);
    let errors = texts(&read(&mutating(value.clone())).validate());
    assert_eq!(
        errors,
        [
            "webhooks[0].failurePolicy: Unsupported value: \"fail\": supported values: \"Fail\", \
            \"Ignore\"",
            "webhooks[0].matchPolicy: Unsupported value: \"\": supported values: \"Equivalent\", \
            \"Exact\"",
            "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \
            \"NoneOnDryRun\"",
            "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and \
            30 seconds",
            "webhooks[0].namespaceSelector.matchExpressions[0].operator: Invalid value: \"Like\": not \
            a valid selector operator",
            "webhooks[0].reinvocationPolicy: Unsupported value: \"Always\": supported values: \
            \"IfNeeded\", \"Never\"",
            "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
            "webhooks[0].matchConditions[0].expression: Required value",
            "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
        ]
    );
    assert_eq!(texts(&read(&value).validate()).len(), errors.len() - 1);
    let required =
        "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun";
    assert_eq!(self::errors(&json!({"sideEffects": null})), [required]);
    for seconds in [1, 30] {
        assert!(self::errors(&json!({"timeoutSeconds": seconds})).is_empty());
    }
}

/// The tables under WCF-66 and WCF-71; WCF-60 to WCF-68.
#[test]
fn client_configs() {
    let form = "; desired format: https://host[/path]";
    let scheme = |found: &str| {
        format!("url: Invalid value: \"{found}\": 'https' is the only allowed URL scheme{form}")
    };
    let host = || format!("url: Invalid value: \"\": host must be specified{form}");
    let forbidden = |value: &str, what: &str| {
        format!("url: Invalid value: \"{value}\": {what} not permitted in the URL")
    };
    for (url, expected) in [
        ("", vec![scheme(""), host()]),
        ("http://h/p", vec![scheme("http")]),
        ("https:///fancy", vec![host()]),
        ("https://user:pw@h/", vec![forbidden("user:pw", "user information is")]),
        (
            "https://h/p?x=1#f",
            vec![forbidden("f", "fragments are"), forbidden("x=1", "query parameters are")],
        ),
        ("https://h:99999/p", vec![]),
        ("HTTPS://localhost?#", vec![]),
    ] {
        let errors = errors_at("clientConfig.", &json!({"clientConfig": {"url": url}}));
        assert_eq!(errors, expected, "{url}");
    }
    let errors = errors_at("clientConfig.", &json!({"clientConfig": {"url": "https://a b/"}}));
    assert!(errors[0].starts_with("url: Required value: url must be a valid URL: "), "{errors:?}");
    assert!(errors[0].ends_with(form) && errors.len() == 1);
    let both = json!({"clientConfig": {"url": "", "service": {}}});
    let expected = "webhooks[0].clientConfig: Required value: exactly one of url or service is \
        required";
    assert_eq!(self::errors(&both), [expected]);

    let empty = |index| format!("segment[{index}] may not be empty");
    let start = || "must start with a '/'".to_owned();
    for (path, expected) in [
        ("", vec![]),
        ("/", vec![]),
        ("/foo/bar/", vec![]),
        ("foo/", vec![start()]),
        ("foo", vec![start()]),
        ("x//y", vec![start(), empty(0), empty(1)]),
        ("//", vec![empty(0)]),
        ("/foo//bar/", vec![empty(1)]),
        ("/foo/bar//", vec![empty(2)]),
        ("/apis/foo.bar/v1alpha1/--bad", vec!["segment[3]: a lowercase RFC 1123".to_owned()]),
        ("/A/_", vec!["segment[0]: a lower".to_owned(), "segment[1]: a lower".to_owned()]),
        ("é/a", vec![start(), "segment[0]: a lowercase".to_owned()]),
    ] {
        let service = json!({"namespace": "n", "name": "s", "path": path});
        let errors = errors_at(
            &format!("clientConfig.service.path: Invalid value: \"{path}\": "),
            &json!({"clientConfig": {"service": service}}),
        );
        assert_eq!(errors.len(), expected.len(), "{path}: {errors:?}");
        for (error, expected) in errors.iter().zip(expected) {
            assert!(error.starts_with(&expected), "{path}: {error}");
        }
    }
    // The server exchanges the two places (WCF-67).
    let errors = errors_at(
        "clientConfig.service.",
        &json!({"clientConfig": {"service": {
        "name": "s", "port": 0}}}),
    );
    let port = "port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive";
    assert_eq!(errors, ["name: Required value", port]);
    let errors = errors_at(
        "clientConfig.service.",
        &json!({"clientConfig": {"service": {
        "namespace": "n", "port": 65536}}}),
    );
    assert_eq!(errors[0], "namespace: Required value");
}

/// WCF-73 to WCF-75.
#[test]
fn match_conditions() {
    let condition = |name: &str, expression: &str| json!({"name": name, "expression": expression});
    let conditions = json!([
        condition("a", " \n"),
        condition("", "true"),
        condition("a", "true"),
        condition("b/c", "true"),
        condition("-", "true")
    ]);
    let errors = errors_at("matchConditions", &json!({"matchConditions": conditions}));
    assert_eq!(
        errors[..3],
        [
            "[0].expression: Required value",
            "[1].name: Required value",
            "[2].name: Duplicate value: \"a\"",
        ]
    );
    assert!(errors[3].starts_with("[4].name: Invalid value: \"-\": name part must consist"));
    assert_eq!(errors.len(), 4);
    // An expression that compiles, but not to a program.
    let condition_of_constant = json!([condition("a", "int('x') == 1")]);
    let errors = errors_at("matchConditions", &json!({"matchConditions": condition_of_constant}));
    assert_eq!(
        errors,
        ["[0].expression: Internal error: program instantiation failed: type conversion error \
          from 'string' to 'int'"]
    );
    let many = |count: usize| -> Value {
        (0..count).map(|index| condition(&format!("c{index}"), "true")).collect()
    };
    assert!(self::errors(&json!({"matchConditions": many(64)})).is_empty());
    let errors = errors_at("matchConditions", &json!({"matchConditions": many(65)}));
    assert_eq!(errors, [": Too many: 65: must have at most 64 items"]);
}

/// WCF-80 to WCF-84.
#[test]
fn review_versions() {
    for (versions, expected) in [
        (json!(["v9", "v1"]), vec![]),
        (json!(["v1beta1"]), vec![]),
        (json!(["v1", "v1"]), vec!["[1]: Invalid value: \"v1\": duplicate version"]),
        (
            json!(["v2"]),
            vec![": Invalid value: [\"v2\"]: must include at least one of v1, v1beta1"],
        ),
        (json!(null), vec![": Required value: must specify one of v1, v1beta1"]),
    ] {
        let fields = json!({"admissionReviewVersions": versions});
        assert_eq!(errors_at("admissionReviewVersions", &fields), expected, "{versions}");
    }
    let fields = json!({"admissionReviewVersions": ["v1", "1v", "1v", ""]});
    let errors = errors_at("admissionReviewVersions", &fields);
    assert!(errors[0].starts_with("[1]: Invalid value: \"1v\": a DNS-1035 label must consist"));
    assert_eq!(errors[1], "[2]: Invalid value: \"1v\": duplicate version");
    assert!(errors[2].starts_with("[3]: Invalid value: \"\": a DNS-1035 label must consist"));
}
