//! Concatenated lists, and the bounds of an evaluation besides its cost (CE-36).

use billhook_cel::limits::{self, Meter};
use billhook_cel::{Environment, EvaluationError, Program, Type, Value};
use proptest::prelude::*;

use crate::evaluate::{check, evaluate};

const LIMIT: u64 = 1_000_000;

/// An expression whose value is a list that doubles so often.
fn doubled(of: &str, times: usize) -> String {
    (0..times).fold(of.to_owned(), |list, _| format!("[{list}].map(x, x + x)[0]"))
}

fn compile(expression: &str) -> Program {
    let environment = Environment::default().variable("l", Type::Int.list());
    environment.variable("t", Type::String).compile(expression).unwrap()
}

#[track_caller]
fn stops_with(expression: &str, expected: &EvaluationError) {
    let program = compile(expression);
    let result = program.evaluate(&[], LIMIT).result;
    assert_eq!(result.as_ref().err(), Some(expected), "{expression:.80}");
}

#[test]
fn concatenation_shares_its_parts() {
    let list = doubled("[1, 2, 3, 4]", 30);
    check(&[
        (&format!("{list}.size()"), "4294967296"),
        (&format!("{list}[4294967293]"), "2"),
        (&format!("{list}[4294967296]"), "error: index out of bounds: 4294967296"),
        (&format!("{list}.exists(x, x == 4)"), "true"),
        (&format!("{list}.slice(2, 6)"), "[3, 4, 1, 2]"),
    ]);
    // Beyond what can be counted.
    stops_with(&format!("{}.size() > 0", doubled("[1]", 64)), &EvaluationError::MemoryLimit);
}

#[test]
fn what_costs_too_much_is_not_done() {
    let list = doubled("[1]", 40);
    for expression in [
        format!("{list} == {list}"),
        format!("2 in {list}"),
        format!("{list}.sum() > 0"),
        format!("{list}.sort() == []"),
        format!("sets.contains([1], {list})"),
        format!("{list}.all(x, true)"),
    ] {
        stops_with(&expression, &EvaluationError::CostLimit);
    }
}

#[test]
fn values_that_are_made_take_memory() {
    let text = "x".repeat(2 << 20);
    let numbers = serde_json::json!([1, 2, 3, 4]);
    let many: serde_json::Value = (0..1 + limits::MAX_BYTES / text.len() as u64).collect();
    let program = compile("l.all(n, '%s'.format([t]).size() > 0)");
    let evaluate = |list| {
        let variables = [("l", Value::any(list)), ("t", Value::String(text.clone().into()))];
        program.evaluate(&variables, LIMIT).result.map(drop)
    };
    assert_eq!(evaluate(&numbers), Ok(()));
    assert_eq!(evaluate(&many), Err(EvaluationError::MemoryLimit));
}

/// Lists of integers as an expression with any parentheses, and what they are together.
fn concatenation() -> impl Strategy<Value = (String, Vec<i64>)> {
    let leaf =
        proptest::collection::vec(0..4_i64, 0..4).prop_map(|list| (format!("{list:?}"), list));
    leaf.prop_recursive(5, 24, 2, |inner| {
        (inner.clone(), inner)
            .prop_map(|((left, a), (right, b))| (format!("({left} + {right})"), [a, b].concat()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A concatenated list is like one that was written so.
    #[test]
    fn concatenation_is_invisible((joined, flat) in concatenation(), index in 0..20_usize) {
        let written = format!("{flat:?}");
        for template in [
            "LIST", "LIST.size()", "LIST.map(x, x * 2)", "LIST.filter(x, x > 1)", "LIST.indexOf(2)",
            "LIST.lastIndexOf(2)", "LIST.reverse()", "LIST.sort()", "LIST.distinct()", "LIST.sum()", "2 in LIST",
            "LIST.exists_one(x, x == 3)", "[LIST, LIST].flatten()", "'%s'.format([LIST])", "LIST.isSorted()",
            "sets.contains(LIST, [1, 2])", "LIST.transformList(i, x, i + x)", "LIST.first().orValue(9)",
            "LIST.last().orValue(9)", "optional.ofNonZeroValue(LIST).hasValue()",
        ] {
            let of = |list: &str| evaluate(&template.replace("LIST", list));
            prop_assert_eq!(of(&joined), of(&written), "{}", template);
        }
        prop_assert_eq!(evaluate(&format!("{joined} == {written} && {written} == {joined}")), "true");
        prop_assert_eq!(evaluate(&format!("{joined}[{index}]")), evaluate(&format!("{written}[{index}]")));
        prop_assert_eq!(evaluate(&format!("{joined} == {written} + [7]")), "false");
    }
}

/// Small maps are searched, large ones have an index; both find the same.
#[test]
fn maps_of_any_size_find_their_keys() {
    for size in [1, 15, 16, 40] {
        let map = |key: &str| format!("lists.range({size}).transformMapEntry(i, x, {{{key}: x}})");
        let last = size - 1;
        check(&[
            (&format!("{}[{last}]", map("x")), &last.to_string()),
            // A number of another type is the same key.
            (&format!("dyn({})[{last}.0]", map("x")), &last.to_string()),
            (&format!("dyn({})[uint({last})]", map("x")), &last.to_string()),
            (&format!("{}['k{last}']", map("'k' + string(x)")), &last.to_string()),
            (&format!("{}.?k{last}.hasValue()", map("'k' + string(x)")), "true"),
            (&format!("{size} in {}", map("x")), "false"),
            (&format!("{} == {}", map("x"), map("x")), "true"),
        ]);
        let repeated =
            format!("lists.range({}).transformMapEntry(i, x, {{x % {size}: x}})", size + 1);
        check(&[(&repeated, "error: insert failed: key 0 already exists")]);
    }
}

/// Whether an expression is true, within bounds.
fn is_true(expression: &str, mut meter: Meter) -> Result<bool, EvaluationError> {
    let program = Environment::default().compile(expression).unwrap();
    let resolve = |_: &str, _: &mut Meter| Ok(Value::Null);
    let evaluation = program.evaluate_lazily(&[], &resolve, LIMIT, &mut meter);
    evaluation.result.map(|value| matches!(value, Value::Bool(true)))
}

/// An expression whose value has two equal elements, each of which has two, and so on.
fn branching(times: usize) -> String {
    (0..times).fold("[]".to_owned(), |list, _| format!("[{list}].map(x, [x, x])[0]"))
}

#[test]
fn what_costs_little_is_bounded_too() {
    let (tree, list) = (branching(12), doubled("['']", 12));
    for expression in [
        format!("{tree} == {tree}"),
        format!("{tree} in [{tree}]"),
        format!("[{tree}].indexOf({tree}) == 0"),
        format!("[{tree}, {tree}].distinct() == []"),
        format!("sets.contains([{tree}], [{tree}])"),
        format!("'%s'.format([{tree}]) == ''"),
        format!("{{'a': {tree}}} == {{'a': {tree}}}"),
        format!("optional.of({tree}) == optional.of({tree})"),
        format!("{list}.min() == ''"),
        format!("{list}.join() == ''"),
        format!("[{list}].flatten() == []"),
        format!("[{list}, {list}].map(x, x.reverse()) == []"),
        // The error is not one that `||` could decide without.
        format!("{tree} == {tree} || true"),
    ] {
        assert!(is_true(&expression, Meter::default()).is_ok(), "{expression:.60}");
        let stopped = is_true(&expression, Meter::new(u64::MAX, 1_000));
        assert_eq!(stopped, Err(EvaluationError::WorkLimit), "{expression:.60}");
    }
}

#[test]
fn what_is_made_is_bounded() {
    for (expression, bytes) in [
        ("[1, 2, 3].map(x, [x, x, x, x]).size() == 3", 500),
        ("[1, 2, 3].all(x, {'a': x}.size() == 1)", 300),
        ("'%s'.format([[1, 2, 3, 4, 5, 6, 7, 8]]).size() == 24", 20),
        ("'a,b,c,d,e,f,g'.split(',').size() == 7", 400),
        ("lists.range(20).size() == 20", 1_000),
        ("bytes('0123456789').size() == 10", 9),
        ("('01234' + '56789').size() == 10", 9),
    ] {
        assert_eq!(is_true(expression, Meter::default()), Ok(true), "{expression}");
        let stopped = is_true(expression, Meter::new(bytes, u64::MAX));
        assert_eq!(stopped, Err(EvaluationError::MemoryLimit), "{expression}");
    }
}
