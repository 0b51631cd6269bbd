//! The messages that expressions can make (CE-10).

use billhook_cel::{Environment, Type};

use crate::evaluate::{check, cost, evaluate};

/// A message is the value that it stands for.
#[test]
fn values() {
    check(&[
        ("google.protobuf.BoolValue{}", "false"),
        ("google.protobuf.BoolValue{value: true}", "true"),
        ("google.protobuf.BytesValue{value: b'a'} == b'a'", "true"),
        ("google.protobuf.DoubleValue{value: 1.5}", "1.5"),
        ("google.protobuf.FloatValue{value: 0.1}", "0.10000000149011612"),
        ("google.protobuf.Int32Value{value: -1}", "-1"),
        ("google.protobuf.Int64Value{}", "0"),
        ("google.protobuf.StringValue{value: 'a' + 'b'}", "ab"),
        ("google.protobuf.UInt32Value{value: 1u}", "1u"),
        (".google.protobuf.UInt64Value{}", "0u"),
        ("google.protobuf.Duration{seconds: 1, nanos: 5} == duration('1.000000005s')", "true"),
        ("google.protobuf.Timestamp{seconds: 1} == timestamp(1)", "true"),
        ("google.protobuf.Int64Value{?value: optional.none()}", "0"),
        ("google.protobuf.Int64Value{?value: optional.of(7)}", "7"),
        ("google.protobuf.Empty{} == google.protobuf.Empty{}", "true"),
    ]);
}

/// `Struct`, `ListValue` and `Value` have what JSON has.
#[test]
fn json() {
    check(&[
        ("google.protobuf.Value{}", "null"),
        ("google.protobuf.Value{null_value: google.protobuf.NullValue.NULL_VALUE}", "null"),
        ("google.protobuf.Value{number_value: 1.5}", "1.5"),
        ("google.protobuf.Value{string_value: ''}", ""),
        ("google.protobuf.Value{bool_value: false}", "false"),
        ("google.protobuf.Value{struct_value: {'a': 1}}", "{a: 1.0}"),
        (
            "google.protobuf.Value{list_value: [dyn(1), dyn(2u), dyn(b'ab'), dyn(null)]}",
            "[1.0, 2.0, YWI=, null]",
        ),
        ("google.protobuf.ListValue{}", "[]"),
        (
            "google.protobuf.ListValue{values: [dyn(duration('90s')), dyn(timestamp(0))]}",
            "[90s, 1970-01-01T00:00:00Z]",
        ),
        (
            "google.protobuf.ListValue{values: [9007199254740991, 9007199254740992]}",
            "[9007199254740991.0, 9007199254740992]",
        ),
        ("google.protobuf.Struct{}", "{}"),
        ("google.protobuf.Struct{fields: {'a': {'b': [true]}}}.a.b", "[true]"),
        ("google.protobuf.Struct{fields: {'a': 1}}.fields", "error: no such key: fields"),
        (
            "google.protobuf.Value{number_value: 1.5}.number_value",
            "error: no such key: number_value",
        ),
    ]);
}

/// Wrappers are what they wrap, or null.
#[test]
fn types() {
    for (expression, expected) in [
        ("google.protobuf.Int32Value{}", "wrapper(int)"),
        ("google.protobuf.Int32Value{} + 1", "int"),
        ("google.protobuf.Int32Value{} == null", "bool"),
        ("[google.protobuf.Int32Value{}, 1]", "list(wrapper(int))"),
        ("google.protobuf.Struct{}", "map(string, dyn)"),
        ("google.protobuf.ListValue{}", "list(dyn)"),
        ("google.protobuf.Value{}", "dyn"),
        ("google.protobuf.Any{}", "google.protobuf.Any"),
        // Like `dyn`, it is checked when it is there.
        ("google.protobuf.Any{} == 1", "bool"),
        ("google.protobuf.Any{}.value + 1", "int"),
        ("google.protobuf.Duration{}", "duration"),
    ] {
        let program = Environment::default().compile(expression);
        let found = program.map(|program| program.result_type().to_string());
        assert_eq!(found.as_deref(), Ok(expected), "{expression}");
    }
    let program = Environment::default().compile("type(google.protobuf.Int32Value{}) == int");
    assert_eq!(*program.unwrap().result_type(), Type::Bool);
}

#[test]
fn what_does_not_compile() {
    for (expression, expected) in [
        ("google.protobuf.Int64Value{val: 1} == 1", "1:31: undefined field 'val'"),
        (
            "google.protobuf.Int64Value{value: 'a'} == 1",
            "1:33: expected type of field 'value' is 'int' but provided type is 'string'",
        ),
        (
            "google.protobuf.UInt64Value{value: 1u}.value",
            "1:39: type 'wrapper(uint)' does not support field selection",
        ),
        (
            "google.protobuf.Missing{}",
            "1:24: undeclared reference to 'google.protobuf.Missing' (in container '')",
        ),
        (
            "google.protobuf.Int64Value{} + 'a'",
            "1:30: found no matching overload for '_+_' applied to '(wrapper(int), string)'",
        ),
        (
            "'%s'.format([google.protobuf.Any{}])",
            "1:33: error during formatting: string clause can only be used on strings, bools, bytes, \
             ints, doubles, maps, lists, types, durations, and timestamps, was given \
             google.protobuf.Any",
        ),
        ("type(1) == dyn", "1:12: undeclared reference to 'dyn' (in container '')"),
    ] {
        let found = evaluate(expression);
        let found = found.lines().next().unwrap_or_default();
        assert_eq!(found, format!("does not compile: ERROR: <input>:{expected}"), "{expression}");
    }
}

/// Most messages are not types of values; a constant must be able to select something.
#[test]
fn what_cannot_be_instantiated() {
    check(&[
        ("google.protobuf.Timestamp == type(timestamp(0))", "true"),
        (
            "google.protobuf.Int64Value == type(1)",
            "does not compile: reference to undefined type: google.protobuf.Int64Value",
        ),
        ("{null: 1}[null]", "does not compile: invalid qualifier type: types.Null"),
        ("{1: 1}[dyn(b'')]", "does not compile: invalid qualifier type: types.Bytes"),
        ("{true: 1}[true]", "1"),
    ]);
}

#[test]
fn what_fails() {
    check(&[
        (
            "google.protobuf.Int32Value{value: 2147483648}",
            "error: field type conversion error for google.protobuf.Int32Value.value value type: \
             integer overflow",
        ),
        (
            "google.protobuf.UInt32Value{value: 4294967296u}",
            "error: field type conversion error for google.protobuf.UInt32Value.value value type: \
             unsigned integer overflow",
        ),
        ("google.protobuf.Int64Value{value: 1 / 0}", "error: division by zero"),
    ]);
}

/// A message costs 40.
#[test]
fn costs() {
    for (expression, expected) in [
        ("google.protobuf.Int64Value{}", 40),
        ("google.protobuf.Int64Value{value: 1 + 1}", 41),
        ("google.protobuf.Struct{fields: {'a': 1}}.a", 42),
    ] {
        assert_eq!(cost(expression), expected, "{expression}");
    }
}
