//! Asking an authorizer (CE-10).

use std::sync::{Arc, Mutex};

use billhook_apimachinery::UserInfo;
use billhook_cel::{
    AuthorizationDecision, AuthorizationRequest, AuthorizationTarget, Authorizer, Environment,
    ResourceTarget, Type, Value,
};

use crate::evaluate::evaluate_in;

/// Allows `get`, fails at `fail`, and keeps what it was asked.
#[derive(Debug, Default)]
struct AllowsGet(Mutex<Vec<AuthorizationRequest>>);

impl Authorizer for AllowsGet {
    fn authorize(&self, user: &UserInfo, request: &AuthorizationRequest) -> AuthorizationDecision {
        assert_eq!(user.username, "jane");
        self.0.lock().unwrap().push(request.clone());
        let mut decision = AuthorizationDecision::new(request.verb == "get");
        decision.reason = format!("may {}", request.verb);
        decision.error = (request.verb == "fail").then(|| "no answer".to_owned());
        decision
    }
}

fn environment() -> Environment {
    Environment::default()
        .variable("authorizer", Type::authorizer())
        .variable("authorizer.requestResource", Type::resource_check())
}

/// Returns the result of an expression and the checks it asked for.
fn ask(expression: &str) -> (String, Vec<AuthorizationRequest>) {
    let authorizer = Arc::new(AllowsGet::default());
    let resource = ResourceTarget::new("example.com", "foos");
    let user = Arc::new(UserInfo::named("jane"));
    let check = Value::resource_check(authorizer.clone(), user.clone(), resource);
    let variables = [
        ("authorizer", Value::authorizer(authorizer.clone(), user)),
        ("authorizer.requestResource", check),
    ];
    let answer = evaluate_in(&environment(), &variables, expression);
    let mut asked = authorizer.0.lock().unwrap().clone();
    let asked_by_trace = asked.split_off(asked.len() / 2);
    assert_eq!(asked, asked_by_trace, "{expression}");
    (answer, asked)
}

/// CE-10: what the methods give.
#[test]
fn answers() {
    for (expression, expected) in [
        ("authorizer.path('/healthz').check('get').allowed()", "true"),
        ("authorizer.path('/healthz').check('list').allowed()", "false"),
        ("authorizer.path('/healthz').check('list').reason()", "may list"),
        ("authorizer.path('/healthz').check('list').errored()", "false"),
        ("authorizer.path('/healthz').check('list').error()", ""),
        ("authorizer.path('/healthz').check('fail').errored()", "true"),
        ("authorizer.path('/healthz').check('fail').error()", "no answer"),
        ("authorizer.requestResource.check('get').allowed()", "true"),
        ("authorizer.path(' ')", "error: path must not be empty"),
        ("authorizer.group('').resource('')", "error: resource must not be empty"),
        ("authorizer.serviceAccount('ns', 'A')", "error: Invalid service account name"),
        ("authorizer.serviceAccount('a.b', 'sa')", "error: Invalid service account namespace"),
        ("authorizer == authorizer", "true"),
        ("authorizer.path('/a') == authorizer.path('/b')", "false"),
        ("type(authorizer.path('/a')) == kubernetes.authorization.PathCheck", "true"),
    ] {
        assert_eq!(ask(expression).0, expected, "{expression}");
    }
}

/// CE-10: what reaches the authorizer.
#[test]
fn questions() {
    let (_, asked) =
        ask("authorizer.serviceAccount('ns', 'sa').group('apps').resource('deployments')
            .subresource('scale').namespace('default').name('x').fieldSelector('a=b')
            .labelSelector('c in (d)').check('get').allowed()");
    let [request] = asked.as_slice() else { panic!("{asked:?}") };
    let account = request.service_account.as_ref().unwrap();
    assert_eq!((account.namespace.as_str(), account.name.as_str()), ("ns", "sa"));
    assert_eq!(request.verb, "get");
    let AuthorizationTarget::Resource(target) = &request.target else { panic!("{request:?}") };
    let mut expected = ResourceTarget::new("apps", "deployments");
    for (part, value) in [
        (&mut expected.subresource, "scale"),
        (&mut expected.namespace, "default"),
        (&mut expected.name, "x"),
        (&mut expected.field_selector, "a=b"),
        (&mut expected.label_selector, "c in (d)"),
    ] {
        value.clone_into(part);
    }
    assert_eq!(*target, expected);

    let (_, asked) = ask("authorizer.path('/healthz').check('get').allowed()");
    assert_eq!(asked[0].target, AuthorizationTarget::Path("/healthz".to_owned()));
    assert_eq!(asked[0].service_account, None);
}

/// CE-35: no expression can ask more than twice.
#[test]
fn asking_is_expensive() {
    let check = "authorizer.requestResource.check('get').allowed()";
    assert_eq!(ask(&format!("{check} && {check}")).0, "true");
    let (answer, asked) = ask(&format!("{check} && {check} && {check}"));
    assert_eq!(answer, "error: operation cancelled: actual cost limit exceeded");
    assert_eq!(asked.len(), 3);
}

/// CE-10: each step has a type of its own.
#[test]
fn steps_have_an_order() {
    for expression in [
        "authorizer.check('get')",
        "authorizer.group('apps').check('get')",
        "authorizer.resource('pods')",
        "authorizer.path('/').name('x')",
        "authorizer.requestResource.serviceAccount('a', 'b')",
    ] {
        let answer = ask(expression).0;
        assert!(answer.contains("found no matching overload"), "{expression}: {answer}");
    }
}
