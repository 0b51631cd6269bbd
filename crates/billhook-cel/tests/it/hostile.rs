//! Expressions from strangers: whatever they are, compiling them ends, without a panic and on a
//! small stack.

use billhook_cel::{Environment, ObjectType, Type};
use proptest::prelude::*;

/// Pieces that random expressions are made of.
const PIECES: [&str; 71] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    ",",
    "-",
    "!",
    "?",
    ":",
    "+",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    " in ",
    ".?",
    "[?",
    "{?",
    "=",
    "&",
    "`a`",
    " ",
    "\n",
    "//",
    "1",
    "2u",
    ".5",
    "1e5",
    "0x",
    "0xFu",
    "9223372036854775808",
    "'a'",
    "\"",
    "'",
    "'''",
    "r'\\'",
    "b'\\xff'",
    "'\\u00e9'",
    "'\\777'",
    "é",
    "x",
    "y",
    "true",
    "null",
    "int",
    "for",
    "has(x.y)",
    "has(",
    ".all(x,",
    ".exists(x, y,",
    ".map(x,",
    ".filter(y,",
    ".transformMap(x, y,",
    ".optMap(x,",
    ".sortBy(x,",
    ".size()",
    "size(",
    ".orValue(",
    "optional.none()",
    "dyn(",
    "Foo{a:",
];

fn environment() -> Environment {
    Environment::default().variable("x", Type::Int.list()).variable("y", Type::Dyn)
}

/// The error, from the stack a thread has by default.
fn compile(expression: String) -> Result<(), String> {
    std::thread::Builder::new()
        .stack_size(2 * 1024 * 1024)
        .spawn(move || {
            let compiled = environment().compile(&expression);
            compiled.map(drop).map_err(|error| error.to_string())
        })
        .unwrap()
        .join()
        .unwrap()
}

fn nested(open: &str, inner: &str, close: &str, levels: usize) -> String {
    open.repeat(levels) + inner + &close.repeat(levels)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text_is_an_answer(text in "\\PC{0,60}") {
        let _ = environment().compile(&text);
    }

    #[test]
    fn any_tokens_are_an_answer(pieces in proptest::collection::vec(0..PIECES.len(), 0..25)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        if let Err(error) = environment().compile(&text) {
            prop_assert!(error.to_string().starts_with("ERROR: <input>:"));
        }
    }

    /// An expression between parentheses means the same as without.
    #[test]
    fn parentheses_change_nothing(pieces in proptest::collection::vec(34..PIECES.len(), 0..6)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        if let Ok(program) = environment().compile(&text) {
            let inner = environment().compile(&format!("(\n{text}\n)")).unwrap();
            prop_assert_eq!(program.result_type(), inner.result_type());
        }
    }
}

#[test]
fn nesting_is_limited() {
    let nesting = "ERROR: <input>:-1:0: expression recursion limit exceeded: 250";
    let operations = "ERROR: <input>:-1:0: max recursion depth exceeded";
    for (open, inner, close, most, error) in [
        ("(", "1", ")", 249, nesting),
        ("[", "1", "]", 249, nesting),
        ("dyn(", "1", ")", 249, nesting),
        ("1 + (", "1", ")", 124, nesting),
        ("true ? 1 : ", "1", "", 249, nesting),
        ("", "y", ".a", 250, operations),
        ("", "y", "[0]", 250, operations),
        ("", "[1]", ".filter(x, true)", 250, operations),
        ("", "1", " + 1", 250, operations),
        ("", "true", " == true", 250, operations),
        ("(", "1", " * 1 % 2)", 125, operations),
    ] {
        let shown = format!("{open}{inner}{close}");
        assert_eq!(compile(nested(open, inner, close, most)), Ok(()), "{shown}");
        assert_eq!(compile(nested(open, inner, close, most + 1)), Err(error.into()), "{shown}");
        // What is nested very deep may be stopped earlier.
        compile(nested(open, inner, close, 9_000)).unwrap_err();
    }
}

#[test]
fn chains_of_logic_are_not_nesting() {
    assert_eq!(compile(nested("", "true", " && true", 9_000)), Ok(()));
    assert_eq!(compile(nested("!", "true", "", 9_000)), Ok(()));
    assert_eq!(compile(nested("-", "1", "", 9_000)), Ok(()));
}

#[test]
fn the_deepest_expressions_fit_the_stack() {
    for (open, close) in [
        ("true ? 1 : [0].map(a, false || true && !false ? [", "] : [])"),
        ("y.filter(a, a || a && !", ")"),
        ("y.transformList(a, b, a || b && -1 - 1 * 1 < ", ", 1)"),
    ] {
        for levels in [60, 80, 120] {
            // Whether it is too deep does not matter.
            let _ = compile(nested(open, "true", close, levels));
        }
    }
}

#[test]
fn length_is_limited() {
    assert_eq!(compile(nested("", "'", "", 1) + &"é".repeat(99_998) + "'"), Ok(()));
    assert_eq!(
        compile("'".to_owned() + &"é".repeat(99_999) + "'"),
        Err("ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit \
             100000"
            .into())
    );
}

#[test]
fn what_grows_exponentially_is_refused() {
    let repeated = compile(nested("", "optional.of(1)", ".optMap(a, a)", 60)).unwrap_err();
    assert!(repeated.contains("expression node limit exceeded"), "{repeated}");
    let doubled = compile(nested("", "[1]", ".map(a, {a: a})", 60)).unwrap_err();
    assert!(doubled.contains("too complex"), "{doubled}");
}

#[test]
fn many_errors_are_not_all_printed() {
    let error = compile("z + ".repeat(200) + "z").unwrap_err();
    assert_eq!(error.matches("undeclared reference to 'z'").count(), 100);
    assert!(error.ends_with("\n101 more errors were truncated"), "{error}");
}

/// Types are as deep as the schemas they come from.
#[test]
fn deep_types_fit_the_stack() {
    let check = || {
        let deep = (0..10_000).fold(Type::Int, |of, _| of.list());
        let environment = Environment::default().variable("x", deep);
        let elements =
            ["x == x", "[x, x] == [x]", "x[0].map(y, y) == x[0]", "x.sum() > 0", "[x, 1]"];
        let nested = (0..10_000).fold(Type::Int, |of, level| {
            let fields = [("a".into(), of)].into();
            Type::Object(ObjectType::new(format!("self{level}"), fields).into())
        });
        let environment = environment.variable("o", nested);
        environment.compile("o.a.a.a == o.a.a.a").unwrap();
        elements.map(|text| environment.compile(text).is_ok())
    };
    let stack = std::thread::Builder::new().stack_size(2 * 1024 * 1024);
    let compiled = stack.spawn(check).unwrap().join().unwrap();
    assert_eq!(compiled, [true, true, true, false, false]);
}
