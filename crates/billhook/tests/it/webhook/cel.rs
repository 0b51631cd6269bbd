//! Match conditions in CEL (WM-72 to WM-94).

use std::sync::Arc;

use billhook::webhook::{
    AdmissionAttributes, ApiResource, Authorizer, CelConditions, ConditionInput, ConditionResult,
    ConditionsError, Decision, EquivalentResources, ExpressionChecker, Libraries, MatchCondition,
    MatchConditions, MatchContext, Operation,
};
use billhook::{
    CustomResourceDefinition, GroupVersionKind, GroupVersionResource, KubernetesVersion, UserInfo,
};
use billhook_cel::{AuthorizationDecision, AuthorizationRequest, AuthorizationTarget};
use billhook_testing::definition_with;
use serde_json::{Value, json};

use crate::webhook::support::{all, decide, hook, namespaces, outcome, request};

fn conditions(expressions: &[&str]) -> Vec<MatchCondition> {
    let written =
        expressions.iter().map(|expression| json!({"name": "c", "expression": expression}));
    let written: Vec<_> = written.collect();
    hook(&json!({"rules": all(), "matchConditions": written})).webhook().match_conditions.clone()
}

fn evaluate(
    evaluator: &CelConditions,
    attributes: &AdmissionAttributes,
    expressions: &[&str],
) -> Result<Vec<ConditionResult>, ConditionsError> {
    let (namespaces, registry) = (namespaces(&[("n", "")]), EquivalentResources::new());
    let everything = hook(&json!({"rules": all()}));
    let decision = everything.decide(attributes, &MatchContext::new(&namespaces, &registry));
    let Decision::Called(matched) = decision else { panic!("{decision:?}") };
    let input = ConditionInput::new(attributes, &matched);
    evaluator.evaluate(&conditions(expressions), &input)
}

fn one(attributes: &AdmissionAttributes, expression: &str) -> ConditionResult {
    evaluate(&CelConditions::new(), attributes, &[expression]).unwrap().remove(0)
}

fn missing(name: &str) -> ConditionResult {
    ConditionResult::Error(format!("no such key: {name}"))
}

/// WM-73 to WM-77: the variables.
#[test]
fn variables() {
    let create = request(Operation::Create, "example.com/v1/things", "n").name("x");
    for expression in [
        "request.operation == 'CREATE' && !request.dryRun",
        "request.kind == request.requestKind && request.kind.kind == 'Thing'",
        "request.requestKind.version == 'v1' && request.resource == request.requestResource",
        "request.resource.resource == 'things' && request.namespace == 'n' && request.name == 'x'",
        "oldObject == null && namespaceObject == null && request.options.kind == 'CreateOptions'",
        "!has(request.subResource) && !has(request.requestSubResource)",
        "!has(request.userInfo.username) && !has(request.userInfo.groups)",
    ] {
        assert_eq!(one(&create, expression), ConditionResult::True, "{expression}");
    }
    assert_eq!(one(&create, "request.subResource == ''"), missing("subResource"));
    assert_eq!(one(&create, "'g' in request.userInfo.groups"), missing("groups"));
    assert_eq!(one(&create, "oldObject.kind == 'X'"), missing("kind"));
    let user = UserInfo::named("bob").group("g");
    let known = create.clone().user(user).dry_run(true);
    let expression = "request.userInfo.username == 'bob' && 'g' in request.userInfo.groups \
        && request.dryRun && !has(request.userInfo.extra)";
    assert_eq!(one(&known, expression), ConditionResult::True);
}

/// WM-76: the kind is the one that matched, the resource the one of the request.
#[test]
fn an_equivalent_resource() {
    let mut registry = EquivalentResources::new();
    for version in ["v1", "v2"] {
        let resource = GroupVersionResource::new("example.com", version, "things");
        registry.register(resource, "", GroupVersionKind::new("example.com", version, "Thing"));
    }
    let hook = hook(&json!({
        "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["v1"], "resources": ["*"]}],
        "matchConditions": [{"name": "c", "expression": "request.kind.version == 'v1' \
            && request.requestKind.version == 'v2' && request.resource.version == 'v2' \
            && object.apiVersion == 'example.com/v1'"}],
    }));
    let namespaces = namespaces(&[]);
    let conditions = CelConditions::new();
    let context = MatchContext::new(&namespaces, &registry).conditions(&conditions);
    let v2 = request(Operation::Create, "example.com/v2/things", "n");
    let Decision::NotEvaluated(matched) = hook.decide(&v2, &context) else { panic!() };
    let converted = json!({"apiVersion": "example.com/v1"});
    let input = ConditionInput::new(&v2, &matched).converted(Some(&converted), None);
    assert_eq!(outcome(&hook.decide_conditions(&conditions, &input)), "called");
}

/// WM-71, WM-77: without a conversion webhook the object in another version differs in
/// `apiVersion` only.
#[test]
fn an_equivalent_version_of_a_definition() {
    let decide = |conversion: &Value, expression: &str| {
        let mut document = definition_with(&json!({"type": "object"}), false).into_inner();
        let spec = document["spec"].as_object_mut().unwrap();
        let mut v2 = spec["versions"][0].clone();
        (v2["name"], v2["storage"]) = (json!("v2"), json!(false));
        spec["versions"].as_array_mut().unwrap().push(v2);
        spec.insert("conversion".to_owned(), conversion.clone());
        let definition = CustomResourceDefinition::from_value(&document).unwrap();
        let mut registry = EquivalentResources::new();
        registry.register_definition(&definition);
        let hook = hook(&json!({
            "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["v1"], "resources": ["*"]}],
            "matchConditions": [{"name": "c", "expression": expression}],
        }));
        let namespaces = namespaces(&[]);
        let conditions = CelConditions::new();
        let context = MatchContext::new(&namespaces, &registry).conditions(&conditions);
        let api = ApiResource::of_version(&definition.version("v2").unwrap());
        let object = json!({"apiVersion": api.kind.api_version(), "kind": api.kind.kind, "a": 1});
        hook.decide(&api.update(object.clone(), object), &context)
    };
    let none = json!({"strategy": "None"});
    let (object, old) =
        ("object.apiVersion.endsWith('/v1')", "oldObject.apiVersion.endsWith('/v1')");
    assert_eq!(outcome(&decide(&none, &format!("{object} && {old} && object.a == 1"))), "called");
    assert_eq!(outcome(&decide(&none, "object.a == 2")), "MatchConditionFalse");
    let webhook = json!({"strategy": "Webhook", "webhook": {
        "clientConfig": {"url": "https://example.com"}, "conversionReviewVersions": ["v1"],
    }});
    assert!(matches!(decide(&webhook, "object.a == 1"), Decision::NotEvaluated(_)));
}

/// WM-74, WM-81, WM-88, WCF-77: what does not compile.
#[test]
fn what_does_not_compile() {
    let create = request(Operation::Create, "example.com/v1/things", "n");
    for (expression, start) in [
        ("request.uid == ''", "compilation failed: ERROR: <input>:1:8: undefined field 'uid'"),
        (
            "params.x == 1",
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'params'",
        ),
        ("object.spec.paused", "must evaluate to bool but got dyn"),
        ("'x'", "must evaluate to bool but got string"),
    ] {
        let ConditionResult::CompilationError(error) = one(&create, expression) else {
            panic!("{expression}");
        };
        assert!(error.starts_with(start), "{error}");
    }
    // The others are evaluated all the same.
    let results = evaluate(&CelConditions::new(), &create, &["1", "false", "true"]).unwrap();
    assert_eq!(results[1..], [ConditionResult::False, ConditionResult::True]);
}

/// Says what it is asked.
#[derive(Debug)]
struct Clerk;

impl Authorizer for Clerk {
    fn authorize(&self, user: &UserInfo, request: &AuthorizationRequest) -> AuthorizationDecision {
        let what = match &request.target {
            AuthorizationTarget::Path(path) => path.clone(),
            AuthorizationTarget::Resource(it) => {
                [&it.group, &it.resource, &it.subresource, &it.namespace, &it.name]
                    .map(String::as_str)
                    .join("|")
            }
            _ => String::new(),
        };
        let who =
            request.service_account.as_ref().map(|it| format!("{}:{}", it.namespace, it.name));
        let who = who.unwrap_or_else(|| user.username.clone());
        let mut decision = AuthorizationDecision::new(request.verb == "get");
        decision.reason = format!("{who} {} {what}", request.verb);
        decision
    }
}

/// WM-91 to WM-93: what is asked.
#[test]
fn questions() {
    let attributes = request(Operation::Update, "example.com/v1/things", "n").name("x");
    let attributes = attributes.subresource("status").user(UserInfo::named("bob"));
    let evaluator = CelConditions::new().authorizer(Arc::new(Clerk));
    for (question, reason) in [
        ("authorizer.path('/healthz').check('get')", "bob get /healthz"),
        ("authorizer.group('').resource('pods').check('list')", "bob list |pods|||"),
        (
            "authorizer.group('apps').resource('deployments').subresource('scale')\
                .namespace('m').name('d').check('get')",
            "bob get apps|deployments|scale|m|d",
        ),
        ("authorizer.serviceAccount('m', 'robot').path('/x').check('get')", "m:robot get /x"),
        ("authorizer.requestResource.check('update')", "bob update example.com|things|status|n|x"),
    ] {
        let expression = format!("{question}.reason() == '{reason}'");
        let results = evaluate(&evaluator, &attributes, &[&expression]).unwrap();
        assert_eq!(results, [ConditionResult::True], "{question}");
    }
    let allowed = [
        "authorizer.path('/x').check('get').allowed()",
        "authorizer.path('/x').check('put').allowed()",
    ];
    let results = evaluate(&evaluator, &attributes, &allowed).unwrap();
    assert_eq!(results, [ConditionResult::True, ConditionResult::False]);
    let refused = [
        "authorizer.path(' ').check('get').allowed()",
        "authorizer.serviceAccount('m', '').path('/x').check('get').allowed()",
    ];
    let results = evaluate(&evaluator, &attributes, &refused).unwrap();
    assert_eq!(
        results,
        [
            ConditionResult::Error("path must not be empty".to_owned()),
            ConditionResult::Error("Invalid service account name".to_owned()),
        ]
    );
}

/// WM-90, and predictions without a cluster.
#[test]
fn without_an_authorizer() {
    let create = request(Operation::Create, "example.com/v1/things", "n");
    let asks = "authorizer.path('/x').check('get').allowed()";
    assert!(matches!(one(&create, asks), ConditionResult::Error(_)));
    let open = CelConditions::new().leave_authorization_open();
    let results = evaluate(&open, &create, &[asks, "true"]).unwrap();
    assert_eq!(results, [ConditionResult::Undecided, ConditionResult::True]);
    // Another condition that is false decides.
    let decide = |other: &str| {
        let hook = hook(&json!({"rules": all(), "matchConditions":
            [{"name": "a", "expression": asks}, {"name": "b", "expression": other}]}));
        let (namespaces, registry) = (namespaces(&[]), EquivalentResources::new());
        let context = MatchContext::new(&namespaces, &registry).conditions(&open);
        decide(&hook, &create, &context).decision().clone()
    };
    assert!(matches!(decide("true"), Decision::NotEvaluated(_)));
    assert_eq!(outcome(&decide("false")), "MatchConditionFalse");
}

/// WM-84, WM-94: limits of cost. A question costs 350,000.
#[test]
fn limits_of_cost() {
    let create = request(Operation::Create, "example.com/v1/things", "n");
    let evaluator = CelConditions::new().authorizer(Arc::new(Clerk));
    let ask = "authorizer.path('/x').check('get').allowed()";
    let twice = format!("{ask} && {ask}");
    let thrice = format!("{twice} && {ask}");
    let exceeded = "operation cancelled: actual cost limit exceeded".to_owned();
    assert_eq!(
        evaluate(&evaluator, &create, &[&twice, &thrice]).unwrap(),
        [ConditionResult::True, ConditionResult::Error(exceeded)]
    );
    assert_eq!(evaluate(&evaluator, &create, &[ask; 7]).unwrap().len(), 7);
    assert_eq!(
        evaluate(&evaluator, &create, &[ask; 8]).unwrap_err().to_string(),
        "validation failed due to running out of cost budget, no further validation rules will be \
            run"
    );
}

/// KV-30, WCF-76: a new condition may use what the version before has too; a stored one, and one
/// that is evaluated, all that the server has.
#[test]
fn libraries_come_with_versions() {
    let expression = "semver('1.2.3').major() == 1";
    let checks = |version, libraries| {
        CelConditions::new().kubernetes(version).check(expression, libraries).is_ok()
    };
    let (full, compatible) = (Libraries::Full, Libraries::Compatible);
    let versions = KubernetesVersion::ALL;
    assert_eq!(versions.map(|version| checks(version, full)), [false, true, true, true, true]);
    let new = versions.map(|version| checks(version, compatible));
    assert_eq!(new, [false, false, true, true, true]);

    let create = request(Operation::Create, "example.com/v1/things", "n");
    let results = |version| {
        let evaluator = CelConditions::new().kubernetes(version);
        evaluate(&evaluator, &create, &[expression]).unwrap().remove(0)
    };
    assert_eq!(results(KubernetesVersion::V1_33), ConditionResult::True);
    let before = results(KubernetesVersion::V1_32);
    assert!(matches!(before, ConditionResult::CompilationError(_)), "{before:?}");
}
