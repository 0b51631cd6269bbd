//! The results of match conditions, and what they come to (WM-70 to WM-83).

use billhook::webhook::{
    AdmissionAttributes, ConditionInput, ConditionResult, ConditionsError, Decision,
    EquivalentResources, MatchCondition, MatchConditions, MatchContext, Operation, Trace,
};
use billhook::{GroupVersionKind, GroupVersionResource};
use serde_json::json;

use crate::webhook::support::{all, decide, hook, namespaces, outcome, request};

/// The expressions are results: `T`, `F`, `C` for one that does not compile, `B` for an exhausted
/// budget, anything else for an error.
struct Canned;

impl MatchConditions for Canned {
    fn evaluate(
        &self,
        conditions: &[MatchCondition],
        _: &ConditionInput<'_>,
    ) -> Result<Vec<ConditionResult>, ConditionsError> {
        if conditions.iter().any(|condition| condition.expression == "B") {
            return Err("out of budget".into());
        }
        let result = |condition: &MatchCondition| match condition.expression.as_str() {
            "T" => ConditionResult::True,
            "F" => ConditionResult::False,
            "C" => ConditionResult::CompilationError("no".to_owned()),
            other => ConditionResult::Error(format!("bad {other}")),
        };
        Ok(conditions.iter().map(result).collect())
    }
}

fn trace(policy: &str, expressions: &[&str], request: &AdmissionAttributes) -> Trace {
    let condition = |(index, expression): (usize, &&str)| json!({"name": format!("c{index}"), "expression": expression});
    let conditions: Vec<_> = expressions.iter().enumerate().map(condition).collect();
    let fields = json!({"rules": all(), "failurePolicy": policy, "matchConditions": conditions});
    let (namespaces, registry) = (namespaces(&[]), EquivalentResources::new());
    let context = MatchContext::new(&namespaces, &registry).conditions(&Canned);
    decide(&hook(&fields), request, &context)
}

/// The table under WM-83; WM-72, WM-80, WM-81, WM-82.
#[test]
fn results() {
    let error =
        |expression: &str| format!("expression '{expression}' resulted in error: bad {expression}");
    let refused = |errors: String| format!("403 things.example.com \"a\" is forbidden: {errors}");
    let (skipped, ignored) = ("MatchConditionFalse".to_owned(), "MatchConditionErrorIgnored");
    for (expressions, fail, ignore) in [
        (vec![], "called".to_owned(), "called"),
        (vec!["T", "T"], "called".to_owned(), "called"),
        (vec!["T", "F"], skipped.clone(), "MatchConditionFalse"),
        (vec!["F", "e"], skipped.clone(), "MatchConditionFalse"),
        (vec!["e", "F"], skipped.clone(), "MatchConditionFalse"),
        (vec!["T", "e"], refused(error("e")), ignored),
        (vec!["e", "T"], refused(error("e")), ignored),
        (vec!["e", "f"], refused(format!("[{}, {}]", error("e"), error("f"))), ignored),
        (vec!["e", "e"], refused(error("e")), ignored),
        (vec!["C"], refused("compilation error: no".to_owned()), ignored),
        (vec!["F", "B"], refused("out of budget".to_owned()), ignored),
    ] {
        let request = request(Operation::Create, "example.com/v1/things", "n");
        for (policy, expected) in [("Fail", fail.as_str()), ("Ignore", ignore)] {
            let trace = trace(policy, &expressions, &request);
            assert_eq!(outcome(trace.decision()), expected, "{policy} {expressions:?}");
        }
    }
}

/// WM-80: a request without a name, a resource of the core group.
#[test]
fn refusals_name_the_request() {
    let request = request(Operation::Create, "/v1/pods", "n").name("");
    let trace = trace("Fail", &["e"], &request);
    let expected = "403 pods is forbidden: expression 'e' resulted in error: bad e";
    assert_eq!(outcome(trace.decision()), expected);
}

/// WM-95: the trace has the result of each condition.
#[test]
fn results_are_traced() {
    let request = request(Operation::Create, "/v1/pods", "n");
    let trace = trace("Ignore", &["T", "F", "e"], &request);
    let expected = "matchConditions: `c0` true, `c1` false, \
        `c2` expression 'e' resulted in error: bad e (WM-72)";
    assert_eq!(trace.steps().last().unwrap().to_string(), expected);
}

/// Nobody guesses: without an evaluator, and where objects must be converted first, the decision
/// is left open.
#[test]
fn conditions_that_nobody_evaluates() {
    let mut registry = EquivalentResources::new();
    for version in ["v1", "v2"] {
        let resource = GroupVersionResource::new("example.com", version, "things");
        registry.register(resource, "", GroupVersionKind::new("example.com", version, "Thing"));
    }
    let hook = hook(&json!({
        "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["v1"], "resources": ["*"]}],
        "matchConditions": [{"name": "c", "expression": "F"}],
    }));
    let namespaces = namespaces(&[]);
    let plain = MatchContext::new(&namespaces, &registry);
    let evaluating = plain.conditions(&Canned);
    let v1 = request(Operation::Create, "example.com/v1/things", "n");
    let v2 = request(Operation::Create, "example.com/v2/things", "n");
    assert!(matches!(hook.decide(&v1, &plain), Decision::NotEvaluated(_)));
    assert_eq!(outcome(&hook.decide(&v1, &evaluating)), "MatchConditionFalse");
    let Decision::NotEvaluated(matched) = hook.decide(&v2, &evaluating) else { panic!() };
    assert_eq!(matched.kind.to_string(), "example.com/v1 Thing");
    let converted = json!({"apiVersion": "example.com/v1"});
    let input = ConditionInput::new(&v2, &matched).converted(Some(&converted), None);
    assert_eq!(outcome(&hook.decide_conditions(&Canned, &input)), "MatchConditionFalse");
}
