//! The parts of the language that only policies have (PO-12, PO-45 to PO-47, PO-70, PO-76).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use billhook_cel::limits::Meter;
use billhook_cel::schema::SchemaType;
use billhook_cel::{Environment, EvaluationError, Map, ObjectType, Type, Value};

fn environment() -> Environment {
    Environment::default().variable("object", Type::Dyn).mutations()
}

/// PO-12, PO-70, PO-75: the types of what is made.
#[test]
fn types_of_objects() {
    for (expression, expected) in [
        ("Object{}", "Object"),
        ("Object{spec: Object.spec{a: 1, b: null}}", "Object"),
        ("Object{spec: Object.spec{a: 1}}.spec", "dyn"),
        ("Object.spec.a{?b: object.?b}", "Object.spec.a"),
        ("object.a ? Object{a: 1} : Object{}", "Object"),
        ("[JSONPatch{op: 'add', path: '/a', value: 1}]", "list(JSONPatch)"),
        ("object.a ? [JSONPatch{op: 'add'}] : []", "list(JSONPatch)"),
        ("[JSONPatch{value: Object.spec{a: [1]}}]", "list(JSONPatch)"),
        ("[]", "list(dyn)"),
        ("jsonpatch.escapeKey('a')", "string"),
    ] {
        let program = environment().compile(expression);
        let found = program.map(|program| program.result_type().to_string());
        assert_eq!(found.as_deref(), Ok(expected), "{expression}");
    }
    for (expression, problem) in [
        ("Foo{}", "1:4: undeclared reference to 'Foo' (in container '')"),
        ("Objects{}", "undeclared reference to 'Objects' (in container '')"),
        ("JSONPatch{op: 1}", "expected type of field 'op' is 'string' but provided type is 'int'"),
        ("JSONPatch{a: 'x'}", "expected type of field 'a' is '' but provided type is 'string'"),
    ] {
        let error = environment().compile(expression).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|text| text.contains(problem)), "{error:?}");
    }
}

/// PO-45: other expressions have none of it.
#[test]
fn only_for_mutations() {
    for expression in ["Object{}", "JSONPatch{}", "jsonpatch.escapeKey('a')"] {
        assert!(Environment::default().compile(expression).is_err(), "{expression}");
    }
}

/// PO-70: an object knows its type and the fields that were given.
#[test]
fn values_of_objects() {
    let program = environment().compile("Object{spec: Object.spec{?a: optional.none(), b: 2}}");
    let program = program.unwrap();
    let value = program.evaluate(&[], 1_000).result.unwrap();
    let Value::Map(object) = value else { panic!("{value:?}") };
    assert_eq!((object.type_name(), object.len()), (Some("Object"), 1));
    let Some(Ok(Value::Map(spec))) = object.field("spec") else { panic!("{object:?}") };
    assert_eq!((spec.type_name(), spec.len()), (Some("Object.spec"), 1));
    assert!(matches!(spec.field("b"), Some(Ok(Value::Int(2)))));

    for (expression, expected) in [
        ("Object{a: 1} == Object{a: 1}", true),
        ("Object{a: 1} == Object{a: 2}", false),
        ("dyn(Object.a{b: 1}) == dyn({'b': 1})", false),
        ("Object{a: Object.a{b: 1}}.a.b == 1", true),
        ("jsonpatch.escapeKey('a/b~c') == 'a~1b~0c'", true),
    ] {
        let program = environment().compile(expression).unwrap();
        let result = program.evaluate(&[], 1_000).result;
        assert!(matches!(result, Ok(Value::Bool(found)) if found == expected), "{expression}");
    }
}

/// PO-47: fields are evaluated when they are selected, and only then.
#[test]
fn deferred_values() {
    let fields = ["a", "b", "fails"].map(|name| (Arc::from(name), Type::Dyn));
    let of = ObjectType::new("kubernetes.variables", BTreeMap::from(fields));
    let environment = Environment::default().variable("variables", Type::Object(Arc::new(of)));
    assert!(environment.compile("variables.c").is_err());
    let any = SchemaType::ANY;
    let object = serde_json::json!({"x": [7]});
    for (expression, expected, asked) in [
        ("true || variables.fails", Ok(true), vec![]),
        ("variables.a == 1", Ok(true), vec!["a"]),
        ("variables.b.x[0] == 7 && has(variables.b.x)", Ok(true), vec!["b", "b"]),
        ("has(variables.a)", Ok(true), vec![]),
        ("variables.fails == 1", Err("it failed"), vec!["fails"]),
    ] {
        let log = RefCell::new(Vec::new());
        let resolve = |name: &str, _: &mut Meter| {
            log.borrow_mut().push(name.to_owned());
            match name {
                "a" => Ok(Value::Int(1)),
                "b" => Value::of(&object, &any),
                _ => Err(EvaluationError::new("it failed")),
            }
        };
        let program = environment.compile(expression).unwrap();
        let variables = [("variables", Value::deferred(["a", "b", "fails"]))];
        let result =
            program.evaluate_lazily(&variables, &resolve, 1_000, &mut Meter::default()).result;
        let result = result.map(|value| matches!(value, Value::Bool(true)));
        assert_eq!(result.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        assert_eq!(log.into_inner(), asked, "{expression}");
    }
    assert!(matches!(Value::deferred([]), Value::Map(Map::Values(entries)) if entries.is_empty()));
}
