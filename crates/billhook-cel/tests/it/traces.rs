//! How an expression came to its value.

use billhook_apimachinery::value::dismantle;
use billhook_cel::{
    Branch, Environment, Evaluation, ExpressionTrace, Program, TracedOutcome, Type, Value,
};
use serde_json::{Value as Json, json};

const LIMIT: u64 = 1_000_000;

/// Checks that tracing an expression changes neither what it gives nor what it costs (CE-35).
#[track_caller]
pub(crate) fn check_trace(
    expression: &str,
    program: &Program,
    variables: &[(&str, Value<'_>)],
    limit: u64,
    evaluation: &Evaluation<'_>,
) {
    let trace = program.trace(variables, limit);
    assert_eq!(trace.cost, evaluation.cost, "{trace}");
    match (&trace.outcome, &evaluation.result) {
        (TracedOutcome::Value { .. }, Ok(_)) => {}
        (TracedOutcome::Error(text), Err(error)) => assert_eq!(*text, error.to_string(), "{trace}"),
        (_, result) => panic!("{result:?}\n{trace}"),
    }
    check_spans(&trace, expression);
}

/// A part is in the text where it says, and no part costs more than the whole.
fn check_spans(trace: &ExpressionTrace, whole: &str) {
    assert_eq!(whole.get(trace.span.clone()), Some(&*trace.text), "{whole}");
    for part in trace.parts.iter().chain(trace.turns.iter().flat_map(|turn| &turn.parts)) {
        assert!(part.cost <= trace.cost, "{whole}: {}", part.text);
        check_spans(part, whole);
    }
}

fn trace(expression: &str, object: &Json) -> String {
    let environment = Environment::default().variable("object", Type::Dyn);
    let program = environment.compile(expression).unwrap_or_else(|error| panic!("{error}"));
    let variables = [("object", Value::any(object))];
    check_trace(expression, &program, &variables, LIMIT, &program.evaluate(&variables, LIMIT));
    program.trace(&variables, LIMIT).to_string()
}

/// The branches of an expression that were evaluated: the text, how often true, how often false.
fn counted(expression: &str, object: &Json) -> Vec<(String, u64, u64)> {
    let environment = Environment::default().variable("object", Type::Dyn);
    let program = environment.compile(expression).unwrap();
    let found = program.branches(&[("object", Value::any(object))], LIMIT);
    let known = billhook_cel::branches(expression).unwrap();
    assert_eq!(known.len(), found.len(), "{expression}");
    let text = |branch: Branch| {
        let text = expression.get(branch.span).unwrap().to_owned();
        (text, branch.truths, branch.falsehoods)
    };
    found.into_iter().map(text).collect()
}

#[test]
fn branches_are_counted() {
    let object = json!({"a": true, "b": false, "list": (0..2_000).collect::<Vec<_>>()});
    for (expression, expected) in [
        ("object.a", vec![]),
        ("object.list.all(x, x >= 0)", vec![]),
        ("object.a && object.b", vec![("object.a", 1, 0), ("object.b", 0, 1)]),
        ("object.a || object.b", vec![("object.a", 1, 0), ("object.b", 0, 0)]),
        (
            "object.a && object.b && object.a && true",
            vec![("object.a", 1, 0), ("object.b", 0, 1), ("object.a", 0, 0)],
        ),
        (
            "(object.b || object.a) ? 1 : object.nope",
            vec![("object.b", 0, 1), ("object.b || object.a", 1, 0), ("object.a", 1, 0)],
        ),
        ("object.nope || object.a", vec![("object.nope", 0, 0), ("object.a", 1, 0)]),
        ("'é' == '' || object.a", vec![("'é' == ''", 0, 1), ("object.a", 1, 0)]),
        // All turns of a loop count, not only those that a trace keeps.
        (
            "object.list.all(x, x < 500 || x >= 500 && x < 2000)",
            vec![
                ("x < 500", 500, 1_500),
                ("x >= 500", 1_500, 0),
                ("x >= 500 && x < 2000", 1_500, 0),
                ("x < 2000", 1_500, 0),
            ],
        ),
    ] {
        let expected: Vec<_> =
            expected.into_iter().map(|(text, yes, no)| (text.to_owned(), yes, no)).collect();
        assert_eq!(counted(expression, &object), expected, "{expression}");
    }
}

#[test]
fn parts_have_values_types_and_costs() {
    let object = json!({"spec": {"replicas": 3, "max": "5", "names": ["a", "b"], "i": 1}});
    let traces = [
        "object.spec.replicas <= int(object.spec.max) && has(object.spec.image)",
        "object.spec.replicas > 5 && object.spec.image.startsWith('x')",
        "(object.spec.replicas > 2 ? object.spec : object.other).names[object.spec.i] == 'b'",
        "object.spec.replicas > 2 ? object.spec.max : object.other",
        "object.spec.missing == 1 || true",
        "!has(object.spec.image) || object.spec.?image.orValue('') in ['a', 'b']",
        "{'a': object.spec.i, 'b': object.spec.names[0]}",
        "1 + 2 == 3",
        "'constant'",
    ]
    .map(|expression| trace(expression, &object));
    insta::assert_snapshot!(traces.join("\n\n"));
}

#[test]
fn macros_tell_their_turns() {
    let containers: Vec<Json> =
        (0..15).map(|i| json!({"name": format!("c{i}"), "image": format!("x/{i}")})).collect();
    let object = json!({"containers": containers, "labels": {"a": "1", "b": "2"}});
    let traces = [
        "object.containers.all(c, c.image.startsWith('x/') && c.name != 'c12')",
        "object.labels.exists(k, v, k == 'b' && v == '2')",
        "object.containers.filter(c, c.name == 'c3').map(c, c.image)",
        "object.labels.map(a, object.labels.map(b, a + b))",
        "object.?labels.optMap(it, it.a + 'x')",
        "[3, 1, 2].sortBy(x, -x)",
        "[].all(x, x > 1)",
    ]
    .map(|expression| trace(expression, &object));
    insta::assert_snapshot!(traces.join("\n\n"));
}

/// The work that a trace is and the room that it takes are bounded, whatever the values are.
#[test]
fn traces_are_bounded() {
    let numbers: Vec<u32> = (0..40).collect();
    let mut object = json!({"numbers": numbers, "text": "é".repeat(100_000)});
    object["deep"] = deep();
    let environment = Environment::default().variable("object", Type::Dyn);
    let nested =
        "object.numbers.all(a, object.numbers.all(b, object.numbers.all(c, a + b + c >= 0)))";
    let program = environment.compile(nested).unwrap();
    let variables = [("object", Value::any(&object))];
    let trace = program.trace(&variables, LIMIT / 10);
    assert!(parts(&trace) < 40_000, "{}", parts(&trace));
    for expression in ["object", "object.text", "object.deep", "[object.text, object.deep]"] {
        let trace = environment.compile(expression).unwrap().trace(&variables, LIMIT);
        assert!(trace.to_string().len() < 2_000, "{expression}");
    }
    let program = environment.compile("object.numbers.all(a, a < 30)").unwrap();
    let evaluation = program.evaluate(&variables, 50);
    check_trace("object.numbers.all(a, a < 30)", &program, &variables, 50, &evaluation);
    drop(evaluation);
    dismantle(object);
}

fn deep() -> Json {
    (0..5_000).fold(json!(1), |inner, _| Json::Array(vec![inner]))
}

fn parts(trace: &ExpressionTrace) -> usize {
    let turns = trace.turns.iter().flat_map(|turn| &turn.parts);
    1 + trace.parts.iter().chain(turns).map(parts).sum::<usize>()
}
