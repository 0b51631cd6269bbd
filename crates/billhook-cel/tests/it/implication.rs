//! Rules that follow from others.

use billhook_cel::{Environment, Program, Type, Value, implies, implies_with_types};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

#[test]
fn rules_follow_from_others() {
    for (premises, conclusion, expected) in [
        (&["self.a"][..], "self.a || self.b", true),
        (&["self.a || self.b"], "self.a", false),
        (&["self.a || self.b", "!self.a"], "self.b", true),
        (&["self.a ? self.b : self.c", "self.a"], "self.b", true),
        (&["has(self.a) ? self.a > 3 : true"], "!has(self.a) || self.a > 2", true),
        (&["!has(self.a) || self.a > 3"], "has(self.a) ? self.a >= 3 : true", true),
        (&["!has(self.a) || self.a > 3"], "self.a >= 3", false),
        // What is read is present.
        (&["self.a.b > 3"], "has(self.a) && has(self.a.b)", true),
        (&["!has(self.a.b)"], "has(self.a)", true),
        (&["self.a == 1 || self.b == 1"], "has(self.a)", false),
        (&["self.a == 1 || self.a == 2"], "self.a in [2, 3, 1]", true),
        (&["self.a in ['x', 'y']", "self.a != 'x'"], "self.a == 'y'", true),
        (&["self.a == 'xy'"], "self.a.startsWith('x') && self.a.matches('^..$')", true),
        (&["self.a == 'xy'"], "self.a.contains('z')", false),
        (&["self.a.startsWith('xy')"], "self.a.startsWith('x')", true),
        (&["self.a.startsWith('x')"], "self.a.startsWith('xy')", false),
        (&["self.a.matches('^[a-c]+$')"], "!self.a.contains('.')", true),
        (&["self.a.matches('^[a-c]+$')"], "self.a.matches('^[a-d]+$')", true),
        (&["self.a.matches('^[a-c]+$')"], "self.a.matches('^[ab]+$')", false),
        // Sizes are whole numbers, none of which is negative.
        (&["size(self.a) > 0"], "self.a.size() >= 1", true),
        (&["size(self.a) != 0"], "self.a.size() > 0", true),
        (&["self.a != 0", "self.a >= 0"], "self.a >= 1", false),
        (&["self.a > 0", "type(self.a) == int"], "self.a >= 1", true),
        (&["self.a > 0 && self.a < 3", "type(self.a) == int"], "self.a == 1 || self.a == 2", true),
        (&["self.a > 0 && self.a < 3"], "self.a == 1 || self.a == 2", false),
        (&["!(self.a > 3)"], "self.a <= 3", true),
        (&["!(self.a / self.b > 3.0)"], "self.a / self.b <= 3.0", false),
        // Sums with an integer in them are of integers.
        (&["self.a + 1 <= 10"], "self.a <= 9", true),
        (&["self.a + 1 <= 10"], "self.a < 9", false),
        (&["self.a + 1 <= 10"], "self.a + 2 <= 11", true),
        (&["1 + self.a <= 10"], "self.a - 1 <= 8", false),
        (&["self.a + 1 <= 10", "self.a >= 0"], "self.a - 1 <= 8", true),
        (&["self.a + 1 > 10"], "self.a >= 10", true),
        (&["self.a - 1 < 3"], "type(self.a) == int && self.a <= 3", true),
        (&["size(self.a) + size(self.b) <= 16"], "size(self.a) <= 16 && size(self.b) < 17", true),
        (&["size(self.a) + size(self.b) <= 16"], "size(self.b) + size(self.a) <= 32", true),
        (&["size(self.a) + size(self.b) + 1 <= 16"], "size(self.a) <= 15", true),
        (&["size(self.a) + size(self.b) >= 16"], "size(self.a) >= 1", false),
        (&["size(self.a) <= 3", "size(self.b) <= 4"], "size(self.a) + size(self.b) <= 7", true),
        (&["size(self.a) <= 3", "size(self.b) <= 4"], "size(self.a) + size(self.b) <= 6", false),
        (&["size(self.a) + size(self.b) <= 16"], "size(self.a) + size(self.b) + 4 <= 20", true),
        (&["size(self.a) + size(self.b) <= 16"], "size(self.a) + size(self.b) + 4 <= 19", false),
        (&["self.a + self.b <= 16"], "self.a + self.b + 4 <= 20", false),
        (&["size(self.a) + self.b <= 16"], "size(self.a) <= 16", false),
        (&["size(self.a) + self.b <= 16"], "self.b <= 16", true),
        (&["self.a + self.b <= 10", "self.b >= 0"], "self.a <= 10", false),
        (&["self.a <= 9"], "self.a + 1 <= 10", false),
        (&["self.a <= 9", "type(self.a) == int"], "self.a + 1 <= 10", true),
        (&["self.a >= 9", "type(self.a) == int"], "self.a + 1 >= 10", false),
        (&["self.a + 9223372036854775807 <= 5"], "self.a <= -9223372036854775802", true),
        // Two expressions.
        (&["self.a <= self.b"], "self.b >= self.a", true),
        (&["!(self.a > self.b)"], "self.b >= self.a", true),
        (&["self == oldSelf"], "self >= oldSelf", true),
        (&["(self.a != self.b) in [true]"], "self.a <= self.b", false),
        (&["self.a == oldSelf.a"], "has(self.a) && has(oldSelf.a)", true),
        (&["self.a >= oldSelf.a"], "self.a == oldSelf.a", false),
        // Elements.
        (&["self.l.all(x, x > 3)"], "self.l.all(item, item > 2)", true),
        (&["self.l.all(x, x > 3)"], "self.l.all(x, x > 4)", false),
        (&["self.l.all(x, x > 3)", "self.l.all(y, y < 9)"], "self.l.all(z, 3 < z && z < 9)", true),
        (&["self.l.all(x, x > 3)"], "self.m.all(x, x > 3)", false),
        (&["self.l.exists(x, x > 3)"], "self.l.exists(x, x > 2)", true),
        (&["self.l.exists(x, x > 3)"], "self.l.all(x, x > 3)", false),
        (&["self.l.all(x, x > 3)"], "self.l.exists(x, x > 3)", false),
        (
            &["self.l.exists(x, x > 3)", "self.l.all(x, x < 9)"],
            "self.l.exists(x, x > 3 && x < 9)",
            true,
        ),
        (&["!self.l.exists(x, x > 3)"], "self.l.all(x, !(x > 3))", true),
        (&["self.l.all(x, x.m.all(y, y > 3))"], "self.l.all(y, y.m.all(x, x > 2))", true),
        (&["self.l.all(x, x.m.all(y, x.a == 1))"], "self.l.all(x, x.m.all(y, y.a == 1))", false),
        (&["self.l.all(x, self.l.all(y, x > y))"], "self.l.all(y, self.l.all(x, y > x))", true),
        (&["self.l.all(x, self.l.all(y, x > y))"], "self.l.all(y, self.l.all(x, x > y))", false),
        (&["self.l.all(y, y)"], "self.l.all(x, self.l.all(y, x))", false),
        (&["self.l.all(x, x == x)"], "self.l.all(self, !has(self.a) || has(self.a))", false),
        // Some of several.
        (&["has(self.a) != has(self.b)"], "has(self.a) || has(self.b)", true),
        (&["has(self.a) != has(self.b)"], "!(has(self.a) && has(self.b))", true),
        (
            &["has(self.a) != has(self.b)"],
            "[has(self.a), has(self.b)].filter(x, x).size() == 1",
            true,
        ),
        (
            &["[has(self.a), has(self.b)].exists_one(x, x)", "!has(self.c)"],
            "[has(self.a), has(self.b), has(self.c)].filter(x, x).size() == 1",
            true,
        ),
        (
            &["(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1"],
            "!has(self.a) || !has(self.b)",
            true,
        ),
        (&["[has(self.a), has(self.b)].exists_one(x, x)"], "has(self.a)", false),
        // Elements that are counted.
        (
            &["self.l.all(x, self.l.exists_one(y, x.a == y.a))"],
            "self.l.all(e, size(self.l.filter(o, o.a == e.a)) == 1)",
            true,
        ),
        (&["self.l.exists_one(x, x > 3)"], "self.l.filter(x, x > 3).size() <= 1", true),
        (&["self.l.filter(x, x > 3).size() <= 1"], "self.l.exists_one(x, x > 3)", false),
        (&["!self.l.exists_one(x, x > 3)"], "self.l.filter(x, x > 3).size() != 1", true),
        (&["self.l.all(x, x < 3)"], "self.l.filter(x, x > 3).size() <= 1", true),
        (&["self.l.all(x, x < 3)"], "self.l.filter(x, x > 2).size() == 0", false),
        (&["self.l.all(x, x < 3)"], "!self.l.exists_one(x, x > 3)", true),
        (&["self.l.all(x, x < 3)"], "self.l.filter(x, x > 3).size() >= 1", false),
        (&["self.l.all(x, x < 3)"], "self.l.filter(x, x > 1).size() <= 1", false),
        (&["self.l.all(x, x < 3)"], "self.m.filter(x, x > 3).size() <= 1", false),
        (&["self.l.all(x, x < 3)"], "self.l.map(x, x > 3, x / 0).size() <= 1", false),
        (&["self.l.exists(x, x > 3)"], "size(self.l) > 0", true),
        (&["self.l.all(x, x > 3)"], "size(self.l) > 0", false),
        // In another order.
        (&["self.a + self.b <= 10"], "self.b + self.a <= 10", true),
        (&["self.a + self.b == self.c"], "self.b + self.a == self.c", false),
        (&["self.a + self.b + self.c <= 10"], "self.c + self.b + self.a <= 10", false),
        (
            &["size(self.a) + size(self.b) + size(self.c) <= 10"],
            "size(self.c) + size(self.a) + size(self.b) <= 10",
            true,
        ),
        (&["self.a * 2 <= self.b"], "2 * self.a <= self.b", true),
        (&["self.a < self.b"], "self.a <= self.b", true),
        (&["self.a <= self.b"], "self.a < self.b", false),
        // Durations.
        (
            &["!(duration(self) < duration('2s') || duration(self) > duration('1h'))"],
            "duration(self) >= duration('1s') && duration(self) <= duration('60m')",
            true,
        ),
        (
            &["duration(self.a) > duration('1s')"],
            "duration('1000000001ns') <= duration(self.a)",
            true,
        ),
        (&["duration(self.a) >= duration('1s')"], "duration(self.a) > duration('1s')", false),
        (&["duration(self.a) == duration('1s')"], "duration(self.a) != duration('2s')", true),
        (&["self.a < 5"], "self.a < duration('1s')", false),
        (&[], "duration(self.a) < duration('1s') || duration(self.a) >= duration('1s')", false),
        // Choices inside of comparisons.
        (&["(has(self.a) ? self.a : 1) >= self.b"], "!has(self.a) || self.a >= self.b", true),
        (&["(has(self.a) ? self.a : '') == 'x'"], "has(self.a) && self.a == 'x'", true),
        (&["!has(self.a) || self.a == 'x'"], "(has(self.a) ? self.a : 'x') == 'x'", true),
        (&["!has(self.a) || self.a == 'x'"], "(has(self.a) ? self.a : 'y') == 'x'", false),
        (&["!has(self.a) || self.a == 'x'"], "self.?a.orValue('x') == 'x'", true),
        (&["self.?a.orValue('') == 'x'"], "has(self.a)", true),
        (&["self.?a.orValue('x') == 'x'"], "has(self.a)", false),
        // Sizes of texts.
        (&["self.a != ''", "type(self.a) == string"], "self.a.size() > 0", true),
        (&["self.a != ''"], "self.a.size() > 0", false),
        (&["self.a.size() > 0"], "self.a != ''", true),
        (&["self.a in ['x', 'yz']"], "self.a.size() <= 2", true),
        (&["self.a in ['x', 'yz']"], "self.a.size() <= 1", false),
        // Errors are not true.
        (&[], "self.a == self.a", false),
        (&["has(self.a)"], "self.a == self.a", false),
        (&["self.a || !self.a"], "type(self.a) == bool", true),
        (&["self.a == 'x'"], "self.a ==", false),
        (&["self.a =="], "self.a == 'x'", false),
    ] {
        assert_eq!(implies(premises, conclusion), expected, "{premises:?} {conclusion}");
    }
}

#[test]
fn rules_that_are_always_true() {
    for (rule, expected) in [
        ("true", true),
        ("1 == 1 || true", true),
        ("!(has(self.a) && !has(self.a))", true),
        ("!has(self.a) || has(self.a) && true", true),
        ("has(self.a) || self.a == 'x'", false),
        // It fails where the field is absent.
        ("self.a == 'x' || self.a != 'x'", false),
        ("!has(self.a) || self.a == 'x' || self.a != 'x'", true),
        ("has(self.a)", false),
        ("false", false),
        ("has(self.a", false),
    ] {
        assert_eq!(implies(&[], rule), expected, "{rule}");
    }
}

#[test]
fn rules_that_exclude_each_other() {
    for (rules, expected) in [
        (&["false"][..], true),
        (&["has(self.a) && !has(self.a)"], true),
        (&["self.a < 3", "self.a > 5"], true),
        (&["self.a < 3", "self.a >= 3"], true),
        (&["self.a <= 3", "self.a >= 3"], false),
        (&["self.a <= 3", "3 < self.a"], true),
        (&["self.a < 3", "self.b > 5"], false),
        (&["self in ['a', 'b']", "self == 'c'"], true),
        (&["self in ['a', 'b']", "self != 'a'"], false),
        (&["self in ['a', 'b']", "self != 'a' && self != 'b'"], true),
        (&["self == 'a'", "!(self in ['a', 'b'])"], true),
        (&["self.matches('^a')", "self.matches('^b')"], true),
        (&["has(self.a) || has(self.b)", "!has(self.a)", "!has(self.b)"], true),
        (&["has(self.a) || has(self.b)", "!has(self.a)"], false),
        (&["self.a < 3 || self.a > 5"], false),
        (&["self.a < 3 || self.a > 5", "self.a == 4"], true),
    ] {
        assert_eq!(implies(rules, "false"), expected, "{rules:?}");
    }
}

fn path() -> BoxedStrategy<String> {
    prop_oneof![
        4 => prop::sample::select(&["self.a", "self.b"][..]),
        1 => prop::sample::select(&["oldSelf.a", "self.o", "self.o.a"][..]),
    ]
    .prop_map(str::to_owned)
    .boxed()
}

/// A condition of an expression.
fn condition(of: impl Strategy<Value = String> + Clone + 'static) -> BoxedStrategy<String> {
    let operator = prop::sample::select(&["<", "<=", ">", ">=", "==", "!="][..]);
    let constant = prop::sample::select(&["0", "1", "2", "'x'", "'xy'", "true"][..]);
    let texts = prop::sample::select(
        &["startsWith('x')", "contains('y')", "matches('^x?$')", "matches('^[xy]*$')"][..],
    );
    let size = 0..3_i32;
    prop_oneof![
        3 => (of.clone(), operator.clone(), constant.clone())
            .prop_map(|(of, operator, constant)| format!("{of} {operator} {constant}")),
        1 => (of.clone(), operator.clone(), constant.clone())
            .prop_map(|(of, operator, constant)| format!("{constant} {operator} {of}")),
        1 => (of.clone(), constant.clone(), constant)
            .prop_map(|(of, one, other)| format!("{of} in [{one}, {other}]")),
        1 => (of.clone(), texts).prop_map(|(of, text)| format!("{of}.{text}")),
        1 => (of.clone(), operator.clone(), size.clone())
            .prop_map(|(of, operator, size)| format!("size({of}) {operator} {size}")),
        1 => (of.clone(), operator.clone(), size.clone(), -2..3_i32)
            .prop_map(|(of, operator, size, more)| format!("{of} + {more} {operator} {size}")),
        1 => (of.clone(), operator.clone(), size.clone())
            .prop_map(|(of, operator, size)| format!("size({of}) + size(self.b) {operator} {size}")),
        1 => (of.clone(), operator, size)
            .prop_map(|(of, operator, size)| format!("self.a + {of} - 1 {operator} {size}")),
        1 => of.clone().prop_map(|of| format!("type({of}) == int")),
        1 => more(of.clone()),
        1 => of,
    ]
    .boxed()
}

/// Sums and products in any order, choices, and durations.
fn more(of: impl Strategy<Value = String> + Clone + 'static) -> BoxedStrategy<String> {
    let operator = prop::sample::select(&["<", "<=", ">", ">=", "==", "!="][..]);
    let constant = prop::sample::select(&["0", "1", "2", "'x'", "true"][..]);
    let forms = prop::sample::select(
        &[
            "OF + self.b OP 2",
            "self.b + OF OP 2",
            "OF * 2 OP 2",
            "2 * OF OP CONSTANT",
            "(self.b == 1 ? OF : CONSTANT) OP 1",
            "CONSTANT OP (has(self.a) ? self.a : OF)",
            "self.?a.orValue(CONSTANT) OP OF",
            "self.?b.orValue(1) OP CONSTANT",
            "duration(OF) OP duration('1m')",
            "duration('2h') OP duration(OF)",
            "duration(OF) OP duration(self.b)",
        ][..],
    );
    (forms, of, operator, constant)
        .prop_map(|(form, of, operator, constant)| {
            form.replace("CONSTANT", constant).replace("OF", &of).replace("OP", operator)
        })
        .boxed()
}

fn rule() -> impl Strategy<Value = String> {
    let presence = path().prop_map(|path| format!("has({path})"));
    let pair = (path(), prop::sample::select(&["<", "<=", ">", "==", "!="][..]), path())
        .prop_map(|(one, operator, other)| format!("{one} {operator} {other}"));
    let leaf = prop_oneof![3 => presence, 6 => condition(path()), 1 => pair];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let of_element = |name: &'static str| {
            let element = prop_oneof![3 => Just(name.to_owned()), 1 => Just(format!("{name}.a"))];
            let tested = condition(element);
            prop_oneof![3 => tested.clone(), 1 => (tested.clone(), tested).prop_map(|(a, b)| format!("{a} && {b}"))]
        };
        let quantifier = prop::sample::select(&["all", "exists"][..]);
        prop_oneof![
            2 => inner.clone().prop_map(|one| format!("!({one})")),
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) && ({b})")),
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) || ({b})")),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("({a}) ? ({b}) : ({c})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) == ({b})")),
            1 => (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("[!({a}), !({b})].filter(x, x).size() == 1")),
            1 => (inner.clone(), inner)
                .prop_map(|(a, b)| format!("(!({a}) ? 1 : 0) + (!({b}) ? 1 : 0) < 2")),
            2 => (quantifier.clone(), of_element("x"))
                .prop_map(|(quantifier, body)| format!("self.l.{quantifier}(x, {body})")),
            2 => (quantifier, of_element("y"))
                .prop_map(|(quantifier, body)| format!("self.l.{quantifier}(y, {body})")),
        ]
    })
}

/// Objects with all kinds of values where rules look.
fn objects() -> Vec<Json> {
    let values = [
        Json::Null,
        json!(0),
        json!(1),
        json!(2),
        json!(1.5),
        json!("x"),
        json!("xy"),
        json!("1m"),
        json!("3h"),
        json!(true),
        json!(false),
    ];
    let lists =
        [json!([]), json!([1]), json!([1, "x"]), json!([{"a": 1}, {"a": "x"}]), json!([2, 2, 0])];
    let mut objects = Vec::new();
    for (index, a) in values.iter().enumerate() {
        for (other, b) in values.iter().enumerate() {
            let mut object = json!({"a": a, "b": b});
            let members = object.as_object_mut().unwrap();
            members.retain(|_, value| !value.is_null());
            if (index + other) % 2 == 0 {
                let list = lists[(index * 2 + other) % lists.len()].clone();
                members.insert("l".into(), list);
            }
            if (index + other) % 3 == 0 {
                let inner = if other % 2 == 0 { json!({"a": a}) } else { json!({}) };
                members.insert("o".into(), inner);
            }
            objects.push(object);
        }
    }
    objects
}

fn compiled(rule: &str) -> Option<Program> {
    let environment =
        Environment::default().variable("self", Type::Dyn).variable("oldSelf", Type::Dyn);
    environment.compile(rule).ok()
}

fn is_true(program: &Program, object: &Json, old: &Json) -> bool {
    let variables = [("self", Value::any(object)), ("oldSelf", Value::any(old))];
    matches!(program.evaluate(&variables, 1_000_000).result, Ok(Value::Bool(true)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Proved rules are true for all values, those of other types included.
    #[test]
    fn proofs_hold(premises in prop::collection::vec(rule(), 0..3), conclusion in rule()) {
        let texts: Vec<&str> = premises.iter().map(String::as_str).collect();
        if !implies(&texts, &conclusion) {
            return Ok(());
        }
        let programs: Option<Vec<Program>> = premises.iter().map(|rule| compiled(rule)).collect();
        let (Some(programs), Some(wanted)) = (programs, compiled(&conclusion)) else { return Ok(()) };
        let objects = objects();
        for (index, object) in objects.iter().enumerate() {
            let old = &objects[(index * 7 + 3) % objects.len()];
            if programs.iter().all(|program| is_true(program, object, old)) {
                prop_assert!(is_true(&wanted, object, old), "{texts:?} {conclusion}: {object} {old}");
            }
        }
    }

    /// The same where an integer is known to be one, and to have bounds.
    #[test]
    fn proofs_about_integers_hold(
        premises in prop::collection::vec(rule(), 0..2), conclusion in rule(),
    ) {
        let texts: Vec<&str> = premises.iter().map(String::as_str).collect();
        let types = ["type(self.a) == int", "self.a >= 1", "type(self.b) == int"];
        if !implies_with_types(&texts, &types, &conclusion) {
            return Ok(());
        }
        let programs: Option<Vec<Program>> = premises.iter().map(|rule| compiled(rule)).collect();
        let (Some(programs), Some(wanted)) = (programs, compiled(&conclusion)) else { return Ok(()) };
        let has_types = |object: &&Json| {
            let is_integer = |name: &str| object.get(name).is_none_or(Json::is_i64);
            is_integer("a") && is_integer("b") && object.get("a") != Some(&json!(0))
        };
        for object in objects().iter().filter(has_types) {
            if programs.iter().all(|program| is_true(program, object, object)) {
                prop_assert!(is_true(&wanted, object, object), "{texts:?} {conclusion}: {object}");
            }
        }
    }

    /// A rule follows from itself, and from itself with another one.
    #[test]
    fn rules_follow_from_themselves(rule in rule(), other in rule()) {
        prop_assert!(implies(&[&rule], &rule), "{rule}");
        let both = format!("({other}) && ({rule})");
        prop_assert!(implies(&[&both], &rule), "{both}");
    }
}
