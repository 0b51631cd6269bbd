//! Whatever the expression and the values are, evaluating ends, without a panic and on a small
//! stack.

use std::{iter, thread};

use billhook_apimachinery::value::dismantle;
use billhook_cel::{Environment, EvaluationError, Type, Value};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::traces::check_trace;

const LIMIT: u64 = 1_000_000;

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_values_are_compared() {
    on_small_stack(|| {
        let object = |inner| Json::Object(iter::once(("a".to_owned(), inner)).collect());
        let deep = || (0..10_000).fold(json!(1), |inner, _| Json::Array(vec![object(inner)]));
        let (left, right) = (deep(), deep());
        let environment = Environment::default().variable("x", Type::Dyn).variable("y", Type::Dyn);
        let program = environment.compile("x == y && x in [y] && {x: 1}[y] == 1").unwrap();
        let variables = [("x", Value::any(&left)), ("y", Value::any(&right))];
        let evaluation = program.evaluate(&variables, LIMIT);
        assert!(matches!(evaluation.result, Ok(Value::Bool(true))), "{:?}", evaluation.cost);
        dismantle(left);
        dismantle(right);
    });
}

#[test]
fn deep_expressions_are_evaluated() {
    on_small_stack(|| {
        let nested = |open: &str, inner: &str, close: &str, depth: usize| {
            format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
        };
        let expressions = [
            nested("[", "1", "]", 200),
            nested("!(", "true", ")", 200),
            nested("[1].all(x, ", "true", ")", 40),
            nested("[1].map(x, ", "x", ")", 40),
            nested("optional.of(1).optMap(x, ", "x", ")", 12),
            nested("false ? 1 : ", "2", "", 100),
            vec!["1"; 150].join(" + "),
            vec!["true"; 5_000].join(" && "),
        ];
        let environment = Environment::default();
        for expression in expressions {
            let program = environment.compile(&expression);
            let program = program.unwrap_or_else(|error| panic!("{expression}: {error}"));
            assert!(program.evaluate(&[], LIMIT).result.is_ok(), "{expression}");
        }
    });
}

/// Accumulating takes time in proportion to what is accumulated.
#[test]
fn long_lists_are_accumulated() {
    let numbers: Vec<u32> = (0..60_000).collect();
    let object = json!(numbers);
    let program = Environment::default()
        .variable("x", Type::Dyn)
        .compile("x.map(i, i + 1).size() + x.filter(i, i >= 0).size()")
        .unwrap();
    let evaluation = program.evaluate(&[("x", Value::any(&object))], u64::MAX);
    assert!(matches!(evaluation.result, Ok(Value::Int(120_000))));
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        prop::sample::select(vec![i64::MIN, -1, 0, 1, 2, i64::MAX]).prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        prop::sample::select(vec!["", "a", "é", "1h", "2024-02-29T12:00:00Z", "["])
            .prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::hash_map("[ab]", inner, 0..3)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// Every operator and function of one or two operands.
const OPERATIONS: [&str; 59] = [
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x % y",
    "-x",
    "!x",
    "x == y",
    "x != y",
    "x < y",
    "x <= y",
    "x > y",
    "x >= y",
    "x && y",
    "x || y",
    "x in y",
    "x in [y]",
    "x[y]",
    "x[?y]",
    "x.a",
    "x.?a",
    "has(x.a)",
    "x ? y : x",
    "size(x)",
    "x.size()",
    "bool(x)",
    "bytes(x)",
    "double(x)",
    "duration(x)",
    "int(x)",
    "string(x)",
    "timestamp(x)",
    "uint(x)",
    "type(x) == type(y)",
    "x.contains(y)",
    "x.startsWith(y)",
    "x.endsWith(y)",
    "x.matches(y)",
    "matches(x, y)",
    "duration(x) + duration(y)",
    "duration(x) - duration(y)",
    "timestamp(x) + duration(y)",
    "timestamp(x) - duration(y)",
    "timestamp(x) - timestamp(y)",
    "timestamp(x).getDayOfYear(y)",
    "duration(x).getHours()",
    "uint(x) * uint(y)",
    "double(x) / double(y)",
    "bytes(x) + bytes(y)",
    "[x] + [y]",
    "{x: y}[x]",
    "optional.ofNonZeroValue(x).orValue(y)",
    "x.map(i, i)",
    "x.all(i, i == y)",
    "x.exists(i, v, v == y)",
    "x.filter(i, true)",
    "x.exists_one(i, i == y)",
    "[x, y].first()",
    "string(uint(x)) + string(double(y))",
];

proptest! {
    /// No value makes an operator panic, and what it gives does not depend on the limit.
    #[test]
    fn no_value_panics(x in any_json(), y in any_json(), operation in 0..OPERATIONS.len()) {
        let environment = Environment::default().variable("x", Type::Dyn).variable("y", Type::Dyn);
        let program = environment.compile(OPERATIONS[operation]).unwrap();
        let variables = [("x", Value::any(&x)), ("y", Value::any(&y))];
        let evaluation = program.evaluate(&variables, LIMIT);
        check_trace(OPERATIONS[operation], &program, &variables, LIMIT, &evaluation);
        let again = program.evaluate(&variables, evaluation.cost);
        prop_assert_eq!(format!("{:?}", evaluation.result), format!("{:?}", again.result));
        if evaluation.cost > 0 {
            let stopped = program.evaluate(&variables, evaluation.cost - 1).result;
            prop_assert!(matches!(stopped, Err(EvaluationError::CostLimit)));
        }
    }

    /// Equality is symmetric, and equal values are found by a look-up.
    #[test]
    fn equality_is_an_equivalence(x in any_json(), y in any_json()) {
        let environment = Environment::default().variable("x", Type::Dyn).variable("y", Type::Dyn);
        let variables = [("x", Value::any(&x)), ("y", Value::any(&y))];
        let holds = |expression: &str| {
            let program = environment.compile(expression).unwrap();
            matches!(program.evaluate(&variables, LIMIT).result, Ok(Value::Bool(true)))
        };
        prop_assert!(holds("x == x"));
        prop_assert_eq!(holds("x == y"), holds("y == x"));
        prop_assert_eq!(holds("x == y"), holds("{x: 1}.exists(k, k == y)"));
        prop_assert_eq!(holds("x == y"), !holds("x != y"));
    }

    /// Reading back what is written.
    #[test]
    fn conversions_round_trip(int in any::<i64>(), double in any::<f64>(), seconds in -62_135_596_800_i64..253_402_300_800) {
        let environment = Environment::default()
            .variable("i", Type::Int)
            .variable("d", Type::Double);
        let expression = "int(string(i)) == i && double(string(d)) == d";
        let program = environment.compile(expression).unwrap();
        let variables = [("i", Value::Int(int)), ("d", Value::Double(double))];
        let result = program.evaluate(&variables, LIMIT).result;
        prop_assert!(matches!(result, Ok(Value::Bool(true))), "{:?}", result);
        let program = environment.compile("int(timestamp(string(timestamp(i)))) == i").unwrap();
        let result = program.evaluate(&[("i", Value::Int(seconds))], LIMIT).result;
        prop_assert!(matches!(result, Ok(Value::Bool(true))), "{:?}", result);
    }
}
