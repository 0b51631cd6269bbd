//! Which expressions compile, to which types, and what is said of the others (CE-04, CE-10,
//! CE-20).

use std::fmt::Write;
use std::sync::Arc;

use billhook_cel::{Environment, ObjectType, Type};

/// `self` is an object with a field of most types.
fn environment() -> Environment {
    let inner = object("self.o", [("n", Type::Int), ("namespace", Type::String)]);
    let this = object(
        "self",
        [
            ("b", Type::Bool),
            ("i", Type::Int),
            ("d", Type::Double),
            ("s", Type::String),
            ("by", Type::Bytes),
            ("ts", Type::Timestamp),
            ("du", Type::Duration),
            ("l", Type::String.list()),
            ("li", Type::Int.list()),
            ("m", Type::String.map()),
            ("lo", inner.clone().list()),
            ("o", inner),
            ("__return__", Type::Uint),
            ("any", Type::Dyn),
        ],
    );
    Environment::default()
        .variable("oldSelf", this.clone().optional())
        .variable("self", this)
        .variable("qualified.name", Type::Uint)
}

fn object<const N: usize>(name: &str, fields: [(&str, Type); N]) -> Type {
    let fields = fields.into_iter().map(|(name, of)| (name.into(), of)).collect();
    Type::Object(Arc::new(ObjectType::new(name, fields)))
}

/// The type, or the text of the error.
fn outcome(expression: &str) -> Result<String, String> {
    match environment().compile(expression) {
        Ok(program) => Ok(program.result_type().to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks a table of types and the expressions that have them.
fn check(table: &[(&str, &[&str])]) {
    let mut wrong = String::new();
    for (expected, expressions) in table {
        for expression in *expressions {
            let found = outcome(expression);
            if found.as_deref() != Ok(expected) {
                writeln!(wrong, "{expression}\n  {expected}: {found:?}").unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Shows what is wrong with expressions.
fn errors(expressions: &[&str]) -> String {
    expressions.iter().fold(String::new(), |shown, expression| {
        let error = outcome(expression).expect_err(expression);
        shown + expression + "\n  " + &error.replace('\n', "\n  ") + "\n\n"
    })
}

macro_rules! assert_errors {
    ($($expression:expr),+ $(,)?) => {
        insta::with_settings!({omit_expression => true}, {
            insta::assert_snapshot!(errors(&[$($expression),+]));
        });
    };
}

/// CE-10: literals.
#[test]
fn literals_have_types() {
    check(&[
        ("null", &["null"]),
        ("bool", &["true", "false"]),
        ("int", &["0", "0x1F", "-0x8000000000000000", "-9223372036854775808", "- 1", "007"]),
        ("uint", &["1u", "0xffU", "18446744073709551615u"]),
        ("double", &["1.5", ".5", "1e3", "1.5E-3", "-2.0"]),
        (
            "string",
            &[
                "''",
                r#""a'b""#,
                r"'\a\b\f\n\r\t\v\\\?\`\'\x41\X41\101\u00e9\U0001F600'",
                "'''a\n'b'' '''",
                "\"\"\"a\"\"\"",
                r"r'\d'",
                r##"R"""\""""##,
            ],
        ),
        ("bytes", &["b'a'", r#"B"\xff\377""#, r"br'\d'", "bR'''\n'''"]),
        ("list(int)", &["[1, 2]", "[1, 2,]", "[?self.?i, 2]"]),
        ("list(dyn)", &["[]", "[,]"]),
        ("map(dyn, dyn)", &["{}", "{,}"]),
        ("map(string, int)", &["{'a': 1,}", "{?'a': self.?i}"]),
        ("list(list(int))", &["[[], [1]]"]),
        ("map(string, list(int))", &["{'a': [], 'b': [1]}"]),
    ]);
}

/// CE-10: operators and precedence.
#[test]
fn operators_have_types() {
    check(&[
        (
            "bool",
            &[
                "1 + 2 * 3 == 7 && !false || self.b ? self.i in [1] : 'a' in self.m",
                "self.b || self.b && self.b || !self.b // comment",
                "self.i < 5.5 && self.d >= 1u && self.i != 3",
                "self.s < 'a' && b'a' < self.by && self.ts > self.ts && self.du <= self.du",
                "self.any == 1 && self.any > 'a' && self.any in self.any",
                "self.o == null && self.ts == null && oldSelf != null",
                "!!self.b",
                "self.i - -1 == - -1",
            ],
        ),
        (
            "int",
            &[
                "self.any + 1",
                "self.i % 2",
                "-self.i",
                "--1",
                "self.b ? 1 : 2",
                "(((1)))",
                "self.li[0]",
            ],
        ),
        ("timestamp", &["self.ts + self.du", "self.b ? self.ts : null"]),
        ("duration", &["self.ts - self.ts", "self.du + self.du"]),
        ("list(string)", &["self.l + ['a']", "self.l + []", "[] + self.l"]),
        (
            "dyn",
            &[
                "self.any + self.du",
                "self.any.b.c[0]",
                "self.any * self.any",
                "self.b ? dyn(1) : 'a'",
            ],
        ),
    ]);
}

/// CE-04: what can be selected, and names of variables and types.
#[test]
fn names_and_fields_have_types() {
    check(&[
        ("string", &["self.s", ".self.s", "self.m.key", "self.m['key']", "self.o.namespace"]),
        ("uint", &["qualified.name", "self.return", "self.__return__"]),
        ("optional_type(uint)", &["self.?return"]),
        ("bool", &["has(self.s)", "has(self.m.x)", "has(self.any.x.y)", "has(oldSelf.o.n)"]),
        ("type(int)", &["int", "type(self.i)"]),
        ("type(type(int))", &["type(int)"]),
        (
            "bool",
            &[
                "type(self.any) == int",
                "type(self.l) == list",
                "type(self.ts) == google.protobuf.Timestamp",
                "type(null) == null_type",
                "type(optional.none()) == optional_type",
            ],
        ),
    ]);
}

/// CE-10: optionals.
#[test]
fn optionals_have_types() {
    check(&[
        (
            "optional_type(int)",
            &[
                "self.?i",
                "self.?o.?n",
                "self.?o.n",
                "oldSelf.i",
                "self.li[?0]",
                "oldSelf.li[0]",
                "self.lo[?0].n",
                "optional.of(1)",
                "self.?i.or(optional.none())",
                "self.?s.optMap(x, x.size())",
                "self.?s.optFlatMap(x, optional.of(x.size()))",
                "optional.none().optMap(x, 1)",
            ],
        ),
        ("optional_type(string)", &["self.m.?a", "self.m[?'a']", "oldSelf.m['a']"]),
        ("optional_type(dyn)", &["self.any.?a", "optional.none()", "oldSelf.any.b"]),
        ("int", &["self.?i.orValue(1)", "self.?i.value()"]),
        ("bool", &["oldSelf.hasValue()", "oldSelf.optMap(x, x.i < self.i).orValue(true)"]),
    ]);
}

/// CE-10: macros with one and with two variables.
#[test]
fn macros_have_types() {
    check(&[
        (
            "bool",
            &[
                "self.li.all(x, x > 0)",
                "self.li.exists(x, x > 0) && self.li.exists_one(x, x > 0)",
                "self.li.existsOne(x, x > 0)",
                "self.m.all(k, k == self.m[k])",
                "self.m.all(k, v, k == v) && self.li.exists(i, x, i == x)",
                "self.m.exists_one(k, v, k == v) && self.m.existsOne(k, v, k == v)",
                "self.any.all(x, x.a == 1)",
                "self.li.all(self, self > 0) && self.b",
            ],
        ),
        ("list(int)", &["self.li.map(x, x + 1)", "self.li.filter(x, x > 1)", "[1].map(x, x)"]),
        ("list(string)", &["self.li.map(x, x > 1, string(x))", "self.m.map(k, k)"]),
        ("list(dyn)", &["[].map(x, x)", "self.any.filter(x, x == 1)"]),
        ("list(int)", &["self.m.transformList(k, v, v.size())", "self.l.transformList(i, x, i)"]),
        ("list(string)", &["self.l.transformList(i, x, i > 0, x)"]),
        (
            "map(string, int)",
            &[
                "self.m.transformMap(k, v, v.size())",
                "self.m.transformMap(k, v, k == v, v.size())",
                "self.m.transformMapEntry(k, v, {v: k.size()})",
                "self.l.transformMapEntry(i, x, i > 1, {x: i})",
            ],
        ),
        ("map(int, string)", &["self.l.transformMap(i, x, x)"]),
        ("list(string)", &["self.l.sortBy(x, x.size())", "self.m.map(k, k).sortBy(x, x)"]),
        ("list(list(string))", &["self.li.map(x, self.l.map(y, y + string(x)))"]),
    ]);
}

/// CE-10, CE-20: syntax.
#[test]
fn syntax_errors_are_reported() {
    assert_errors!(
        "",
        "self.s +",
        "f(",
        "f(1,)",
        "[1, 2",
        "{'a' 1}",
        "1 2",
        "self.in",
        "!has(self.in) || self.in == 'a'",
        "!has(self.true) || self.true == 'a'",
        "self.?true.orValue('') == 'a'",
        "self.`s`",
        "a = b",
        "'abc",
        "'a\nb'",
        r"'\d'",
        "9223372036854775808",
        "1e999",
        "18446744073709551616u",
        r"'\ud800'",
        r"b'\u0041'",
        "self.i ==\n\tlet",
        "'é' + while",
    );
}

/// CE-10: macros.
#[test]
fn misused_macros_are_reported() {
    assert_errors!(
        "has(self)",
        "has(self.l[0])",
        "self.l.all(1, true)",
        "self.l.all(x.y, true)",
        "self.l.map(1, x)",
        "self.l.all(x, x, true)",
        "self.i.all(x, true)",
        "self.l.all(x, x)",
        "self.l.filter(x, 1)",
        "self.?i.optMap(1, 2)",
        "cel.bind(x, self.s, x == 'abc')",
        "self.l.all(x)",
        "{'a': 1}.sortBy(x, x)",
    );
}

/// CE-04, CE-10, CE-20: types.
#[test]
fn type_errors_are_reported() {
    assert_errors!(
        "missing == 1",
        "self.missing == 1 && self.o.missing",
        "has(self.missing)",
        "self.s.missing",
        "self.s == 1",
        "self.i == 5.0",
        "self.s == null",
        "self.l == null",
        "self.i + 'a'",
        "self.s.size(1)",
        "self.s.foo()",
        "contains(self.s, 'a')",
        "math.greatest(1, 2) == 2",
        "self.i && self.s",
        "self.b ? 1 : 'a'",
        "self.s == oldSelf.s",
        "self.l.all(x, oldSelf.l.exists(y, x == y))",
        "[?1]",
        "Missing{a: 1}",
        "int{a: 1}",
        "self{}",
    );
}

/// CE-10: literals are checked when there is nothing else wrong.
#[test]
fn wrong_literals_are_reported() {
    assert_errors!(
        "[1, 'a'] == [1, 'a']",
        "self.i in [1, 2u, 'a']",
        "{'a': 1, 2: 'b'} == {}",
        "[[1], ['a']] == []",
        "self.s.matches('[')",
        "timestamp('tomorrow') > self.ts && duration('1') > self.du",
    );
}

/// CE-10: templates are checked too.
#[test]
fn wrong_templates_are_reported() {
    check(&[(
        "string",
        &[
            "'%s %d %.3f %e %b %x %X %o %%'.format([self.l, 1, 1.5, 'NaN', true, b'a', 'a', 1u])",
            "'%s %s'.format([{'a': [null]}, type(1)])",
            "'%d %f'.format([self.any, self.any])",
            "'%d'.format(self.li)",
            "self.s.format([1])",
        ],
    )]);
    assert_errors!(
        "'%d'.format([self.s])",
        "'%d %s'.format([1])",
        "'%d'.format([1, 2])",
        "'%f'.format([1])",
        "'%s'.format([[1, self.o]])",
        "'%s'.format([{'a': self.?i}])",
        "'%z'.format([1])",
        "'100%'.format([])",
    );
}
