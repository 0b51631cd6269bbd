//! The results of expressions and their costs (CE-02 to CE-07, CE-33, CE-35).

use billhook_apimachinery::KubernetesVersion;
use billhook_cel::schema::SchemaType;
use billhook_cel::{Environment, EvaluationError, List, Map, Value};
use billhook_schema::JsonSchemaProps;
use serde_json::{Value as Json, json};

use crate::traces::check_trace;

const LIMIT: u64 = 1_000_000;

/// A value as an expression for it.
fn show(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Uint(uint) => format!("{uint}u"),
        Value::Double(double) => format!("{double:?}"),
        Value::String(text) => format!("'{}'", text.as_str()),
        Value::Bytes(bytes) => format!("b{bytes:?}"),
        Value::Duration(nanoseconds) => format!("{nanoseconds}ns"),
        Value::Timestamp(time) => format!("{}.{:09}", time.seconds, time.nanos),
        Value::List(list) => show_list(list),
        Value::Map(map) => show_map(map),
        Value::Optional(None) => "none".to_owned(),
        Value::Optional(Some(value)) => format!("some({})", show(value)),
        Value::Type(name) => name.to_string(),
        other => format!("{other:?}"),
    }
}

fn show_list(list: &List<'_>) -> String {
    let shown: Vec<String> = list.iter().map(|value| show(&value.unwrap())).collect();
    format!("[{}]", shown.join(", "))
}

fn show_map(map: &Map<'_>) -> String {
    let entries = map.entries().into_iter();
    let shown: Vec<String> =
        entries.map(|(key, value)| format!("{}: {}", show(&key), show(&value.unwrap()))).collect();
    format!("{{{}}}", shown.join(", "))
}

/// The result, or `error: ` and its text, and the cost.
fn evaluate(expression: &str, schema: &SchemaType, object: &Json) -> (String, u64) {
    let environment = Environment::default().variable("self", schema.to_type());
    let program = environment.compile(expression).unwrap_or_else(|error| panic!("{error}"));
    let value = Value::of(object, schema).unwrap();
    let variables = [("self", value)];
    let evaluation = program.evaluate(&variables, LIMIT);
    check_trace(expression, &program, &variables, LIMIT, &evaluation);
    let result = match &evaluation.result {
        Ok(value) => show(value),
        Err(error) => format!("error: {error}"),
    };
    (result, evaluation.cost)
}

/// The result of an expression without variables.
fn constant(expression: &str) -> String {
    evaluate(expression, &SchemaType::ANY, &Json::Null).0
}

fn check_constants(cases: &[(&str, &str)]) {
    for (expression, expected) in cases {
        assert_eq!(constant(expression), *expected, "{expression}");
    }
}

fn schema_type(schema: &Json) -> SchemaType {
    let schema = JsonSchemaProps::from_value(schema).unwrap();
    SchemaType::of(&schema, true, KubernetesVersion::default()).unwrap()
}

/// CE-10: arithmetic is checked.
#[test]
fn overflow_is_an_error() {
    check_constants(&[
        ("9223372036854775807 + 1", "error: integer overflow"),
        ("-9223372036854775808 - 1", "error: integer overflow"),
        ("-(-9223372036854775808)", "error: integer overflow"),
        ("-9223372036854775808 / -1", "error: integer overflow"),
        ("-9223372036854775808 % -1", "error: integer overflow"),
        ("4611686018427387904 * 2", "error: integer overflow"),
        ("1u - 2u", "error: unsigned integer overflow"),
        ("18446744073709551615u + 1u", "error: unsigned integer overflow"),
        ("1 / 0", "error: division by zero"),
        ("1u % 0u", "error: modulus by zero"),
        ("1.0 / 0.0", "inf"),
        ("-7 / 2", "-3"),
        ("-7 % 3", "-1"),
        ("duration('2540400h') + duration('2540400h')", "error: integer overflow"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s')", "error: timestamp overflow"),
        (
            "timestamp('1970-01-01T00:00:01.5Z') - timestamp('1970-01-01T00:00:00.75Z')",
            "750000000ns",
        ),
        ("timestamp('2024-02-29T00:00:00Z') + duration('-1ns')", "1709164799.999999999"),
    ]);
}

/// CE-10: numbers of different types compare by value.
#[test]
fn numbers_compare_across_types() {
    check_constants(&[
        ("dyn(1) == 1u && dyn(1u) == 1.0 && dyn(1.0) == 1", "true"),
        ("dyn(-1) == 18446744073709551615u", "false"),
        ("1 < 1.5 && 2u > 1.5 && -1 < 0u", "true"),
        ("double('NaN') == double('NaN')", "false"),
        ("double('NaN') < 1", "error: NaN values cannot be ordered"),
        ("1 in [1.0, 2.0].map(x, dyn(x))", "true"),
        ("{1: 'a'}[dyn(1u)]", "'a'"),
        ("{dyn(1): 'int', dyn(1u): 'uint'}[1u]", "'uint'"),
        ("dyn('a') == 1", "false"),
        ("dyn(null) == 1", "false"),
        ("false < true && b'a' < b'b' && 'é' > 'z'", "true"),
    ]);
}

/// CE-10: texts that are no floats.
#[test]
fn unreadable_floats() {
    let texts = [
        "", "1__0", "_1", "1_", "1e", "0x1", "0xp1", "1.5p3", "+-1", "0x1p1024", "+nan", "1e_2",
        "0x1p", "0x1p+-1", "1 ",
    ];
    for text in texts {
        let found = crate::evaluate::evaluate(&format!("['{text}'].map(x, double(x))"));
        assert_eq!(found, "error: type conversion error from 'string' to 'double'", "{text}");
    }
}

/// CE-10: conversions, and their errors.
#[test]
fn conversions() {
    check_constants(&[
        ("int(1.9)", "1"),
        ("int(-1.9)", "-1"),
        ("dyn([9223372036854775808.0]).map(x, int(x))", "error: integer overflow"),
        ("[-1].map(x, uint(x))", "error: unsigned integer overflow"),
        ("['x'].map(x, int(x))", "error: type conversion error from 'string' to 'int'"),
        ("['+1'].map(x, uint(x))", "error: type conversion error from 'string' to 'uint'"),
        ("['1e400'].map(x, double(x))", "error: type conversion error from 'string' to 'double'"),
        ("double('-Inf')", "-inf"),
        ("double('infinity')", "inf"),
        ("double('1_000.5')", "1000.5"),
        ("double('0x1p4')", "16.0"),
        ("double('-0X.8P+1')", "-1.0"),
        ("double('0x_1_2.3_4_5p+1_2')", "74565.0"),
        ("double('0x1p-1074') == 5e-324", "true"),
        ("double('0x1p-1075') == 0.0", "true"),
        ("double('0x1.8p-1075') == 5e-324", "true"),
        // To the even one.
        ("double('0x1.fffffffffffff8p0')", "2.0"),
        ("double('0x1.00000000000008p0')", "1.0"),
        ("double('0x1.000000000000080001p0') > 1.0", "true"),
        ("['yes'].map(x, bool(x))", "error: type conversion error from 'string' to 'bool'"),
        ("bool('T')", "true"),
        ("string(1e6) + string(0.5) + string(1.0)", "'1e+060.51'"),
        ("string(double('-Inf'))", "'-Inf'"),
        ("string(b'\\xc3\\xa9')", "'é'"),
        ("[b'\\xff'].map(x, string(x))", "error: invalid UTF-8 in bytes, cannot convert to string"),
        ("string(duration('1h30m0.5s'))", "'5400.5s'"),
        ("string(timestamp('2024-02-29T12:00:00.120+02:00'))", "'2024-02-29T12:00:00.12+02:00'"),
        ("int(timestamp('1969-12-31T23:59:59Z'))", "-1"),
        ("timestamp(60) == timestamp('1970-01-01T00:01:00Z')", "true"),
        ("type(1) == int && type([]) == list && type(type(1)) == type", "true"),
        ("size('é€😀') + size(b'é') + [1, 2].size() + {'a': 1}.size()", "8"),
    ]);
}

/// CE-10: the calendar, in UTC unless a zone is given.
#[test]
fn parts_of_times() {
    let new_year = "timestamp('2024-12-31T23:30:15.250Z')";
    for (call, expected) in [
        ("getFullYear()", "2024"),
        ("getFullYear('+01:00')", "2025"),
        ("getMonth()", "11"),
        ("getDate()", "31"),
        ("getDayOfMonth()", "30"),
        ("getDayOfYear()", "365"),
        ("getDayOfYear('Europe/Berlin')", "0"),
        ("getDayOfWeek()", "2"),
        ("getHours('America/New_York')", "18"),
        ("getHours('-03:30')", "20"),
        ("getMinutes('-03:30')", "0"),
        ("getSeconds()", "15"),
        ("getMilliseconds()", "250"),
        ("getHours('Mars/Olympus')", "error: unknown time zone Mars/Olympus"),
    ] {
        assert_eq!(constant(&format!("{new_year}.{call}")), expected, "{call}");
    }
    check_constants(&[
        // Summer, and years after the last change that the zone lists.
        ("timestamp('2024-07-01T00:00:00Z').getHours('Europe/Berlin')", "2"),
        ("timestamp('2090-07-01T00:00:00Z').getHours('Europe/Berlin')", "2"),
        ("timestamp('2090-01-01T00:00:00Z').getHours('Australia/Sydney')", "11"),
        ("timestamp('2090-07-01T00:00:00Z').getHours('Australia/Sydney')", "10"),
        ("timestamp('2090-07-01T00:00:00Z').getHours('Asia/Tokyo')", "9"),
        ("timestamp('2024-03-10T06:59:59Z').getHours('America/New_York')", "1"),
        ("timestamp('2024-03-10T07:00:00Z').getHours('America/New_York')", "3"),
        ("timestamp('2091-03-11T06:59:59Z').getHours('America/New_York')", "1"),
        ("timestamp('2091-03-11T07:00:00Z').getHours('America/New_York')", "3"),
        ("duration('90m').getHours() + duration('-90s').getMinutes()", "0"),
        ("duration('1.5s').getMilliseconds()", "1500"),
    ]);
}

/// CE-10: `&&`, `||`, `?:` and the macros absorb errors that don't decide.
#[test]
fn errors_are_absorbed() {
    check_constants(&[
        ("1 / 0 == 1 || true", "true"),
        ("1 / 0 == 1 && false", "false"),
        ("1 / 0 == 1 || false", "error: division by zero"),
        ("1 / 0 == 1 || 1 % 0 == 1", "error: division by zero"),
        ("true ? 1 : 1 / 0", "1"),
        ("1 / 0 == 1 ? 1 : 2", "error: division by zero"),
        ("[0, 1].exists(x, 1 / x == 1)", "true"),
        ("[0, 1].all(x, 1 / x == 2)", "false"),
        ("[0, 2].exists(x, 1 / x == 1)", "error: division by zero"),
        ("[1, 0].exists_one(x, 1 / x == 1)", "error: division by zero"),
        ("[1, 2].map(x, x * 2)", "[2, 4]"),
        ("[1, 2, 3].filter(x, x != 2)", "[1, 3]"),
        ("{'a': 1, 'b': 2}.transformList(k, v, v > 1, k)", "['b']"),
        ("[[1, 2], [3]].map(l, l.map(x, x + 1))", "[[2, 3], [4]]"),
        ("dyn(1).map(x, x)", "error: got 'types.Int', expected iterable type"),
        ("size(dyn(1)) == 1", "error: no such overload: size"),
        ("dyn(null).size() == 1", "error: no such overload: size"),
        ("size(dyn(duration('1s'))) == 1", "error: no such overload"),
        ("dyn(1) + 'a'", "error: no such overload"),
        ("dyn(1).startsWith('a')", "error: no such overload"),
        ("dyn(1) == 1 || dyn('a')", "true"),
        ("false || dyn('a')", "error: no such overload"),
    ]);
}

/// CE-10: elements, entries and values that may be missing.
#[test]
fn selection() {
    check_constants(&[
        ("[1, 2][1]", "2"),
        ("[1, 2][2]", "error: index out of bounds: 2"),
        ("[1, 2][-1]", "error: index out of bounds: -1"),
        ("[1, 2][dyn(1.0)]", "2"),
        ("[1, 2][dyn('a')]", "error: unsupported index type 'string' in list"),
        ("{'a': 1}.b", "error: no such key: b"),
        ("{'a': 1}['b']", "error: no such key: b"),
        ("dyn(1).a", "error: no such key: a"),
        ("has({'a': 1}.a) && !has({'a': 1}.b)", "true"),
        ("{'a': {'b': 1}}.?a.b", "some(1)"),
        ("{'a': {'b': 1}}.?x.b", "none"),
        ("{'a': {'b': 1}}.?a.c", "none"),
        ("[1][?0].orValue(5) + [1][?1].orValue(5)", "6"),
        ("optional.none().or(optional.of(2)).value()", "2"),
        ("optional.of(1).or(optional.of(1 / 0)).value()", "1"),
        ("optional.none().value()", "error: optional.none() dereference"),
        ("optional.ofNonZeroValue(0).hasValue()", "false"),
        ("optional.of(2).optMap(x, x * 2)", "some(4)"),
        ("[?optional.none(), ?optional.of(1), 2]", "[1, 2]"),
        ("{?'a': optional.none(), ?'b': optional.of(1)}", "{'b': 1}"),
        ("{'a': 1, 'a': 2}", "{'a': 2}"),
        ("[optional.of(1), optional.none()].unwrapOpt()", "[1]"),
        ("[1, 2].first().value() + [1, 2].last().value()", "3"),
        ("[].first()", "none"),
        ("optional.of(1) == optional.of(1) && optional.none() != optional.of(1)", "true"),
    ]);
}

fn widgets() -> SchemaType {
    let text = json!({"type": "string"});
    schema_type(&json!({"type": "object", "properties": {
        "s": text,
        "i": {"type": "integer"},
        "d": {"type": "number"},
        "b": {"type": "boolean"},
        "n": {"type": "string", "nullable": true},
        "l": {"type": "array", "items": text},
        "ls": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
        "lm": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": text, "v": {"type": "integer"}}},
        },
        "m": {"type": "object", "additionalProperties": text},
        "o": {"type": "object", "properties": {"a": text, "x-y": {"type": "integer"}, "in": text}},
        "by": {"type": "string", "format": "byte"},
        "dt": {"type": "string", "format": "date"},
        "ts": {"type": "string", "format": "date-time"},
        "du": {"type": "string", "format": "duration"},
        "ios": {"x-kubernetes-int-or-string": true},
    }}))
}

fn widget() -> Json {
    json!({
        "s": "abc", "i": 5, "d": 2, "b": true, "n": null, "l": ["x", "y"], "ls": ["a", "b"],
        "lm": [{"k": "n1", "v": 1}, {"k": "n2", "v": 2}], "m": {"k": "v"},
        "o": {"a": "q", "x-y": 1, "in": "v"}, "by": "aGVsbG8=", "dt": "2024-02-29",
        "ts": "2024-02-29T12:00:00Z", "du": "1h", "ios": "50%",
    })
}

/// CE-04, CE-07: parts of objects are what their schema says.
#[test]
fn parts_of_objects() {
    let (schema, object) = (widgets(), widget());
    for (expression, expected) in [
        ("self.d", "2.0"),
        ("has(self.n)", "false"),
        ("self.n", "error: no such key: n"),
        ("self.o.x__dash__y", "1"),
        ("self.o.__in__", "'v'"),
        ("self.by == b'hello'", "true"),
        ("self.dt", "1709164800.000000000"),
        ("self.ts - self.dt == duration('12h')", "true"),
        ("self.du", "3600000000000ns"),
        ("self.ios == '50%' && self.ios != 50", "true"),
        // A set, and a map by keys, are equal in any order and added without repeating members.
        ("self.ls == ['b', 'a']", "true"),
        ("['b', 'a'] == self.ls", "false"),
        ("self.l == ['y', 'x']", "false"),
        ("self.ls + ['b', 'c']", "['a', 'b', 'c']"),
        ("self.ls + ['c'] == ['c', 'b', 'a']", "true"),
        ("self.l + ['y']", "['x', 'y', 'y']"),
        ("self.lm + self.lm == self.lm", "true"),
        ("self.lm.filter(x, x.v == 2) + self.lm == self.lm", "false"),
        ("self == self && self.o == self.o", "true"),
        ("self.m == {'k': 'v'} && {'k': 'v'} == self.m", "true"),
        ("self.m.k + self.m['k']", "'vv'"),
        ("self.m.all(k, v, k + v == 'kv')", "true"),
    ] {
        assert_eq!(evaluate(expression, &schema, &object).0, expected, "{expression}");
    }
}

/// CE-06: a value that does not fit its schema fails where it is read.
#[test]
fn values_of_another_type() {
    let schema = widgets();
    for (object, expression, expected) in [
        (json!({"i": 1.0}), "self.i == 1", "invalid data, expected int, got float64"),
        (json!({"s": 1}), "self.s == ''", "invalid data, expected string, got int64"),
        (json!({"b": "x"}), "self.b", "invalid data, expected bool, got string"),
        (
            json!({"ios": 1.5}),
            "self.ios == 1.5",
            "invalid data, expected XIntOrString value to be either a string or integer",
        ),
        (json!({"l": ["a", 1]}), "self.l[1] == ''", "invalid data, expected string, got int64"),
    ] {
        let expected = format!("error: {expected}");
        assert_eq!(evaluate(expression, &schema, &object).0, expected, "{expression}");
    }
    let object = json!({"l": ["a", 1], "i": 1.0});
    assert_eq!(evaluate("self.l[0] == 'a'", &schema, &object).0, "true");
}

/// CE-35: what evaluation costs.
#[test]
fn costs() {
    let (schema, object) = (widgets(), widget());
    for (expression, expected) in [
        // Constants, also those that conversions make, are free; variables and fields are not.
        ("true", 0),
        ("bool('true')", 0),
        ("[1, 2] == [1, 2]", 1),
        ("string(true) == 'true'", 1),
        ("self.b", 2),
        ("has(self.s)", 1),
        ("has(self.m.k)", 2),
        ("self.m[self.s] == 'v'", 5),
        ("self.m['k'] == 'v'", 4),
        ("{'a': 1}.a == 1", 3),
        // Only what is evaluated.
        ("self.b || self.i / 0 == 1", 2),
        ("self.i / 0 == 1 || self.b", 6),
        ("self.b ? self.i == 5 : self.i == 6", 5),
        // A selected part is not read as a variable again.
        ("(self.b ? self.s : self.s) == 'abc'", 4),
        ("self.m.?k.orValue('none') == 'v'", 4),
        ("self.m[?'zz'].hasValue()", 3),
        // By size.
        ("self.s in ['abc', 'x']", 2),
        ("'x' in self.l", 4),
        ("'k' in self.m", 3),
        ("self.s.matches('^[a-z]+$')", 4),
        ("self.s.contains('b')", 3),
        ("self.s != ''", 2),
        ("self.l.all(x, x.size() == 1)", 15),
        ("self.l.exists_one(x, x == 'x')", 10),
        ("self.l.map(x, x + '!').exists(y, y == 'x!')", 41),
        ("self.l.filter(x, x != 'x').size() == 1", 22),
        ("self.l.all(x, self.l.all(y, self.l.all(z, x + y + z != '')))", 103),
        ("[?self.?s].size() == 1", 14),
        ("{?'a': self.?s}.size() == 1", 34),
        ("optional.of(5).optMap(x, x + 1).value() == 6", 9),
    ] {
        assert_eq!(evaluate(expression, &schema, &object).1, expected, "{expression}");
    }
    // With what fails.
    let empty = json!({});
    for (expression, expected) in [
        ("self.s == 'abc'", 3),
        ("self.s != self.n", 5),
        ("self.s.matches('^[a-z]+$')", 2),
        ("self.b ? self.i == 5 : self.i == 6", 2),
        ("self.l.all(x, x.size() == 1)", 2),
        ("self.l[0] == 'x'", 3),
        ("'x' in self.l", 3),
    ] {
        assert_eq!(evaluate(expression, &schema, &empty).1, expected, "{expression}");
    }
}

/// CE-35: the limit ends the evaluation, whatever would absorb an error.
#[test]
fn the_limit_is_not_absorbed() {
    let environment = Environment::default();
    let expression = "[1, 2, 3].all(x, [1, 2, 3].all(y, x + y > 0)) || true";
    let program = environment.compile(expression).unwrap();
    let whole = program.evaluate(&[], LIMIT);
    assert!(matches!(whole.result, Ok(Value::Bool(true))));
    for limit in 0..whole.cost {
        let evaluation = program.evaluate(&[], limit);
        assert_eq!(evaluation.result.unwrap_err(), EvaluationError::CostLimit);
        assert!(evaluation.cost > limit);
    }
    assert!(program.evaluate(&[], whole.cost).result.is_ok());
}

/// CE-20: conversions of constants are tried when an expression is compiled.
#[test]
fn constants_that_cannot_be_converted() {
    let error = Environment::default().compile("int('x') == 1").err().unwrap();
    assert!(error.is_instantiation());
    assert_eq!(error.to_string(), "type conversion error from 'string' to 'int'");
    assert!(!Environment::default().compile("1 +").err().unwrap().is_instantiation());
}

/// CE-02, CE-40: what an optional old value holds is read as JSON without a schema.
#[test]
fn optional_old_values_have_no_schema() {
    let (schema, object) = (widgets(), widget());
    let environment = Environment::default()
        .variable("self", schema.to_type())
        .variable("oldSelf", schema.to_type().optional());
    let old = Value::Optional(Some(Value::of(&object, &schema).unwrap().into()));
    let variables = [("self", Value::of(&object, &schema).unwrap()), ("oldSelf", old)];
    for (expression, expected) in [
        ("oldSelf.orValue(self) == self", false),
        ("oldSelf.value().m == self.m && self.l == oldSelf.value().l", true),
        ("oldSelf.value().ts == self.ts", false),
        ("type(oldSelf.value().ts) == string", true),
        ("oldSelf.i.value() == self.i && oldSelf.?i.orValue(0) == 5", true),
    ] {
        let program = environment.compile(expression).unwrap();
        let result = program.evaluate(&variables, LIMIT).result;
        assert_eq!(show(&result.unwrap()), expected.to_string(), "{expression}");
    }
}
