//! Evaluating policies where recorded answers do not reach (PO-11, PO-28, PO-41, PO-45 to PO-62, PO-86).

use std::borrow::Cow;

use billhook::webhook::{EquivalentResources, NamespaceError, NamespaceLabels, Namespaces};
use billhook::{DeepValue, Scope};
use billhook_apimachinery::label_selector::Selector;
use billhook_policy::{Cluster, ParamKind, PolicyContext, PolicySet, PolicyVerdict};
use serde_json::{Value, json};

use crate::support::{OneVersion, World, binding, create, mutating, mutating_binding, policy};

/// Returns the message after `denied request: `, if the request is denied.
fn denial(spec: Value, policies: &[billhook_policy::PolicyDocument]) -> Option<String> {
    let set = PolicySet::new(policies.iter().cloned());
    let status = World::new().validate(&set, spec).result.err()?;
    let (_, message) = status.message.split_once("denied request: ").unwrap();
    Some(message.to_owned())
}

fn one(more: Value) -> Vec<billhook_policy::PolicyDocument> {
    vec![policy("p", more), binding("b", "p", json!({}))]
}

/// PO-11: a repeated name can make a variable that refers to itself.
#[test]
fn a_circle_of_variables_is_an_error() {
    let more = json!({
        "variables": [{"name": "a", "expression": "1"},
            {"name": "b", "expression": "variables.a"},
            {"name": "a", "expression": "variables.b"}],
        "validations": [{"expression": "variables.a == 1"}],
    });
    let message = denial(json!({}), &one(more)).unwrap();
    assert!(message.contains("it refers to itself"), "{message}");
}

/// PO-47: a stored variable that does not compile fails what uses it.
#[test]
fn a_variable_that_does_not_compile() {
    let of = |expression: &str| {
        let variables = json!([{"name": "a", "expression": "zzz"}]);
        denial(
            json!({}),
            &one(json!({"variables": variables, "validations": [{"expression": expression}]})),
        )
    };
    assert_eq!(of("true"), None);
    let message = of("variables.a == 1").unwrap();
    let cause = "resulted in error: composited variable \"a\" fails to compile: compilation failed: \
                 ERROR: <input>:1:1: undeclared reference to 'zzz'";
    assert!(message.contains(cause), "{message}");
}

/// PO-27, PO-55: what only documents hold that no server has checked.
#[test]
fn unchecked_documents() {
    let without = json!({"matchConstraints": null, "validations": [{"expression": "true"}]});
    let denied = denial(json!({}), &one(without.clone())).unwrap();
    let text =
        "failed to configure policy: policy contained no match constraints, a required field";
    assert_eq!(denied, text);
    let mut unknown = without;
    unknown["failurePolicy"] = "Maybe".into();
    let denied = denial(json!({}), &one(unknown)).unwrap();
    assert_eq!(denied, "unrecognized failure policy: 'Maybe'");
}

/// PO-61, PO-62: a value is cut by bytes, and half a character is several that are unknown.
#[test]
fn long_annotations_are_cut_by_bytes() {
    let value = format!("'{}'.replace('a', '{}')", "a".repeat(2_500), "€€");
    let annotation = json!({"key": "k", "valueExpression": value});
    let set = PolicySet::new(one(json!({"auditAnnotations": [annotation]})));
    let outcome = World::new().validate(&set, json!({}));
    let (key, value) = &outcome.annotations[0];
    assert_eq!(key, "p/k");
    // 10,240 bytes are 3,413 characters and one byte of the next.
    assert_eq!(*value, "€".repeat(3_413) + "\u{FFFD}");
}

/// PO-48: variables take from the shared budget, and each has a limit of its own.
#[test]
fn costs() {
    let ten = "[1,2,3,4,5,6,7,8,9,10]";
    let loops = |levels: usize, inner: &str| {
        (0..levels).fold(inner.to_owned(), |inner, level| format!("{ten}.all(v{level}, {inner})"))
    };
    let dear = loops(6, "true");
    let message = denial(json!({}), &one(json!({"validations": [{"expression": dear}]})));
    let message = message.unwrap();
    assert!(message.ends_with("operation cancelled: actual cost limit exceeded"), "{message}");

    // A variable costs about 400,000, and there are 40 of them.
    let costly = loops(5, "true");
    let variables: Vec<Value> =
        (0..40).map(|index| json!({"name": format!("x{index}"), "expression": costly})).collect();
    let uses: Vec<String> = (0..40).map(|index| format!("variables.x{index}")).collect();
    let more = json!({"variables": variables, "validations": [{"expression": uses.join(" && ")}]});
    let message = denial(json!({}), &one(more)).unwrap();
    assert!(message.contains("running out of cost budget"), "{message}");
}

/// PO-47: a variable is evaluated once in a pass.
#[test]
fn variables_are_remembered() {
    let ten = "[1,2,3,4,5,6,7,8,9,10]";
    let costly =
        (0..5).fold("true".to_owned(), |inner, level| format!("{ten}.all(v{level}, {inner})"));
    let validations: Vec<Value> = (0..60).map(|_| json!({"expression": "variables.x"})).collect();
    let more = json!({"variables": [{"name": "x", "expression": costly}],
        "validations": validations});
    assert_eq!(denial(json!({}), &one(more)), None);
}

/// A cluster that cannot be asked.
struct Away;

impl Namespaces for Away {
    fn labels<'n>(&'n self, _: &str) -> Result<Option<Cow<'n, NamespaceLabels>>, NamespaceError> {
        Err(NamespaceError::new("the namespaces are away"))
    }
}

impl Cluster for Away {
    fn scope(&self, _: &ParamKind) -> Option<Scope> {
        None
    }

    fn object(&self, _: &ParamKind, _: &str, _: &str) -> Option<DeepValue> {
        None
    }

    fn objects(&self, _: &ParamKind, _: &str, _: &Selector) -> Vec<DeepValue> {
        Vec::new()
    }
}

/// PO-26, PO-28, PO-40: an error of matching follows `failurePolicy`, but only for requests that the
/// rules select.
#[test]
fn errors_of_matching() {
    let equivalents = EquivalentResources::new();
    let context = PolicyContext::new(&Away, &equivalents, &OneVersion);
    let denial = |failure_policy: &str, resource: &str| {
        let constraints = json!({"namespaceSelector": {"matchLabels": {"env": "prod"}},
            "resourceRules": [{"operations": ["CREATE"], "apiGroups": ["example.com"],
                "apiVersions": ["v1"], "resources": [resource]}]});
        let set = PolicySet::new(one(json!({"failurePolicy": failure_policy,
            "matchConstraints": constraints, "validations": [{"expression": "false"}]})));
        let result = set.validate(&create(json!({})), &context).result;
        result.err().map(|status| status.message)
    };
    let message = denial("Fail", "widgets").unwrap();
    assert!(message.contains("denied request: failed to configure policy: "), "{message}");
    assert!(message.ends_with("the namespaces are away"), "{message}");
    assert_eq!(denial("Ignore", "widgets"), None);
    assert_eq!(denial("Fail", "gadgets"), None);
}

/// PO-41
#[test]
fn a_missing_namespace_fails_the_request() {
    let more = json!({"failurePolicy": "Ignore", "validations": [{"expression": "true"}]});
    let set = PolicySet::new(one(more));
    let world = World::new();
    let request = create(json!({})).namespace("gone");
    let status = set.validate(&request, &world.context()).result.unwrap_err();
    assert_eq!((status.code, status.message.as_str()), (404, "namespaces \"gone\" not found"));
}

/// PO-30, PO-53: every parameter counts, the first denial is the message.
#[test]
fn parameters_by_selector() {
    let world = World::new()
        .limit("a", &json!({"of": "size"}), 5)
        .limit("b", &json!({"of": "size"}), 3)
        .limit("c", &json!({"of": "color"}), 1);
    let set = PolicySet::new([
        policy(
            "p",
            json!({"paramKind": {"apiVersion": "example.com/v1", "kind": "Limit"},
                "validations": [{"expression": "object.spec.size <= params.max",
                    "messageExpression": "'at most ' + string(params.max)"}]}),
        ),
        binding(
            "b",
            "p",
            json!({"paramRef": {"selector": {"matchLabels": {"of": "size"}},
                "parameterNotFoundAction": "Deny"}}),
        ),
    ]);
    let outcome = world.validate(&set, json!({"size": 4}));
    assert!(outcome.result.unwrap_err().message.ends_with("denied request: at most 3"));
    let told: Vec<_> =
        outcome.records.iter().map(|it| (it.parameter.as_str(), it.verdict.clone())).collect();
    assert_eq!(told[0], ("shop/a", PolicyVerdict::Admitted));
    assert!(matches!(told[1], ("shop/b", PolicyVerdict::Denied { .. })));
    assert_eq!(told.len(), 2);
    let message = world.validate(&set, json!({"size": 9})).result.unwrap_err().message;
    assert!(message.ends_with("denied request: at most 5"), "{message}");
}

/// PO-46: where only labels are known, they are what `namespaceObject` has.
#[test]
fn labels_of_the_namespace() {
    let more = |value: &str| {
        let expression = format!("namespaceObject.metadata.labels['env'] == '{value}'");
        json!({"validations": [{"expression": expression}]})
    };
    assert_eq!(denial(json!({}), &one(more("prod"))), None);
    assert!(denial(json!({}), &one(more("dev"))).is_some());
}

/// PO-46: what is zero is absent, except for a number that a server tells from none.
#[test]
fn fields_of_the_namespace() {
    let mut world = World::new();
    world.cluster.insert(json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "shop", "generation": 0, "deletionGracePeriodSeconds": 0}}));
    let expression = "namespaceObject.metadata.deletionGracePeriodSeconds == 0 && \
                      !has(namespaceObject.metadata.generation)";
    let set = one(json!({"validations": [{"expression": expression}]}));
    assert_eq!(world.validate(&PolicySet::new(set), json!({})).result, Ok(()));
}

/// PO-86: what succeeded stays.
#[test]
fn half_a_policy() {
    let apply = |expression: &str| {
        json!({"patchType": "ApplyConfiguration",
            "applyConfiguration": {"expression": expression}})
    };
    let mutations = [
        apply("Object{spec: Object.spec{a: 1}}"),
        apply("Object{spec: Object.spec{b: object.spec.nope}}"),
        apply("Object{spec: Object.spec{c: object.spec.a + 1}}"),
    ];
    let more = json!({"failurePolicy": "Ignore", "reinvocationPolicy": "Never",
        "mutations": mutations});
    let set = PolicySet::new([mutating("p", more), mutating_binding("b", "p", json!({}))]);
    let outcome = World::new().mutate(&set, json!({}));
    assert_eq!(outcome.result, Ok(()));
    assert_eq!(outcome.object.unwrap()["spec"], json!({"a": 1, "c": 2}));
    assert!(matches!(outcome.records[1].verdict, PolicyVerdict::ErrorIgnored(_)));
}

/// PO-50, PO-51, PO-54, PO-60: messages, their fallbacks, and what an audit records.
#[test]
fn messages() {
    for (validation, expected) in [
        (json!({"messageExpression": "' a '", "message": "m"}), "a"),
        (json!({"messageExpression": "'a\\nb'", "message": " m\n"}), "m"),
        (json!({"messageExpression": "object.spec.nope + 'x'", "message": "m"}), "m"),
        (json!({"messageExpression": format!("'{}'", "x".repeat(5_121)), "message": "m"}), "m"),
        (json!({"messageExpression": "' '"}), "failed expression: 1 > 2"),
        (json!({}), "failed expression: 1 > 2"),
    ] {
        let mut validation = validation;
        validation["expression"] = " 1 > 2 ".into();
        let message = denial(json!({}), &one(json!({"validations": [validation]})));
        assert_eq!(message.as_deref(), Some(expected), "{validation}");
    }
    let validations = json!([{"expression": "true"}, {"expression": "'<&>' == ''"}]);
    let set = PolicySet::new([
        policy("p", json!({"validations": validations})),
        binding("b", "p", json!({"validationActions": ["Audit", "Deny"]})),
    ]);
    let outcome = World::new().validate(&set, json!({}));
    let audit = r#"[{"message":"failed expression: '\u003c\u0026\u003e' == ''","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Audit","Deny"]}]"#;
    let key = "validation.policy.admission.k8s.io/validation_failure";
    assert_eq!(outcome.annotations, [(key.to_owned(), audit.to_owned())]);
    let status = outcome.result.unwrap_err();
    assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
    assert_eq!(
        status.message,
        "widgets.example.com \"w\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' \
         denied request: failed expression: '<&>' == ''"
    );
}

/// PO-50: messages that cost more than is left make errors even of validations that hold.
#[test]
fn messages_out_of_budget() {
    let ten = "[1,2,3,4,5,6,7,8,9,10]";
    let loops =
        (0..6).fold("true".to_owned(), |inner, level| format!("{ten}.all(v{level}, {inner})"));
    let validation = json!({"expression": "true", "messageExpression": format!("string({loops})")});
    let message = denial(json!({}), &one(json!({"validations": vec![validation; 11]})));
    let expected = "failed messageExpression: validation failed due to running out of cost budget, \
                    no further validation rules will be run";
    assert_eq!(message.as_deref(), Some(expected));
}

/// PO-45, PO-49: `authorizer` may be named in an annotation, but has no value there.
#[test]
fn an_authorizer_in_an_annotation() {
    let annotation = |expression: &str| {
        let variable = json!({"name": "may", "expression":
            "authorizer.group('').resource('pods').check('get').allowed() ? 'y' : 'n'"});
        let annotation = json!({"key": "k", "valueExpression": expression});
        let more = json!({"variables": [variable], "auditAnnotations": [annotation]});
        denial(json!({}), &one(more)).unwrap()
    };
    let direct = "authorizer.group('').resource('pods').check('get').reason()";
    assert_eq!(
        annotation(direct),
        format!("expression '{direct}' resulted in error: no such attribute(s): authorizer")
    );
    assert_eq!(
        annotation("variables.may"),
        "expression 'variables.may' resulted in error: composited variable \"may\" fails to \
         evaluate: no such attribute(s): authorizer"
    );
}
