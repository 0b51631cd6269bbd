//! Deep and long values in the hands of the libraries, on a small stack.

use std::thread::Builder;

use billhook_apimachinery::value::dismantle;
use billhook_cel::{Environment, Type, Value};
use serde_json::{Value as Json, json};

use crate::evaluate::evaluate_in;

const STACK: usize = 2 << 20;
const DEPTH: usize = 10_000;

/// Returns the result of an expression for `x`.
fn with(json: Json, expression: &'static str) -> String {
    let work = move || {
        let environment = Environment::default().variable("x", Type::Dyn);
        let answer = evaluate_in(&environment, &[("x", Value::any(&json))], expression);
        dismantle(json);
        answer
    };
    Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap()
}

fn deep_list() -> Json {
    (0..DEPTH).fold(json!(1), |inner, _| Json::Array(vec![inner]))
}

fn deep_map() -> Json {
    (0..DEPTH)
        .fold(json!(1), |inner, _| Json::Object([("a".to_owned(), inner)].into_iter().collect()))
}

/// No recursion overflows the stack.
#[test]
fn deep_values() {
    for (expression, expected) in [
        ("'%s'.format([x]).size()", (2 * DEPTH + 1).to_string()),
        ("x.flatten(100000)", "[1]".to_owned()),
        ("[x, x].distinct().size()", "1".to_owned()),
        ("sets.equivalent([x], [x])", "true".to_owned()),
        ("[x].indexOf(x)", "0".to_owned()),
    ] {
        assert_eq!(with(deep_list(), expression), expected, "{expression}");
    }
    let shown = with(deep_map(), "'%s'.format([x]).size()");
    assert_eq!(shown, (6 * DEPTH + 1).to_string());
    assert_eq!(with(deep_map(), "[x, x].indexOf(x)"), "0");
}

/// A call that would take more memory or time than the limit of cost allows is not begun (CE-35).
#[test]
fn long_values() {
    let limit = "error: operation cancelled: actual cost limit exceeded";
    let long = || Json::from("a".repeat(1 << 20));
    let many = || Json::from((0..5_000).collect::<Vec<_>>());
    assert_eq!(with(long(), "x.replace('', x)"), limit);
    assert_eq!(with(long(), "x.split('').join(x)"), limit);
    assert_eq!(with(many(), "x.distinct()"), limit);
    assert_eq!(with(many(), "sets.contains(x, x)"), limit);
    assert_eq!(with(json!(1), "lists.range(1000000000)"), limit);
    assert_eq!(with(json!(1), "'%.999999f'.format([1.5])"), limit);
    assert_eq!(
        with(json!(1), "quantity('1e2147483647').add(1)"),
        "error: quantities of too different magnitude"
    );
    assert_eq!(with(json!(1), "quantity('1e-2147483647').compareTo(quantity('1n'))"), "0");
    let digits = Json::from("9".repeat(1 << 20));
    assert_eq!(with(digits, "quantity(x).sub(1).isLessThan(quantity(x))"), "true");
    // A map is made in place: the time for it does not grow with the square of its size.
    let many = Json::from((0..50_000).collect::<Vec<_>>());
    assert_eq!(with(many, "x.transformMap(i, v, v).size()"), "50000");
}
