//! Expressions in CEL: compiling and evaluating some that are typical of rules, and all rules of an
//! object: `cargo bench -p billhook-benches --bench expressions`.

use std::hint::black_box;

use billhook_cel::rules::{BUDGET, CALL_LIMIT, Rules};
use billhook_cel::schema::SchemaType;
use billhook_cel::{Environment, Type, Value};
use billhook_schema::JsonSchemaProps;
use billhook_validation::Validator;
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;

const EXPRESSIONS: [(&str, &str); 5] = [
    ("compare", "object.replicas <= object.maxReplicas"),
    ("presence", "!has(object.a) || has(object.b) && object.b != ''"),
    ("all", "object.ports.all(port, port.number > 0 && port.number < 65536)"),
    ("pattern", "object.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')"),
    ("quantity", "quantity(object.size).isLessThan(quantity('10Gi'))"),
];

fn single(criterion: &mut Criterion) {
    let ports: Vec<_> = (1..=20).map(|number| json!({"name": "p", "number": number})).collect();
    let object = json!({"replicas": 3, "maxReplicas": 5, "b": "x", "name": "some-name",
        "size": "20Mi", "ports": ports});
    let any = SchemaType::ANY;
    let environment = Environment::default().variable("object", Type::Dyn);
    for (name, expression) in EXPRESSIONS {
        let mut group = criterion.benchmark_group(format!("expression {name}"));
        group.bench_function("compile", |bencher| {
            bencher.iter(|| environment.compile(black_box(expression)).unwrap());
        });
        let program = environment.compile(expression).unwrap();
        group.bench_function("evaluate", |bencher| {
            bencher.iter(|| {
                let variables = [("object", Value::of(black_box(&object), &any).unwrap())];
                let evaluation = program.evaluate(&variables, CALL_LIMIT);
                assert!(matches!(evaluation.result, Ok(Value::Bool(true))));
            });
        });
        group.finish();
    }
}

/// A list of objects with rules, beside the value validation of the same.
fn rules(criterion: &mut Criterion) {
    let port = json!({"type": "object", "properties": {
        "name": {"type": "string", "maxLength": 63},
        "number": {"type": "integer", "minimum": 1},
    }, "x-kubernetes-validations": [
        {"rule": "self.number < 65536"}, {"rule": "!self.name.startsWith('x-')"},
    ]});
    let schema =
        json!({"type": "object", "properties": {"ports": {"type": "array", "items": port}}});
    let schema = JsonSchemaProps::from_value(&schema).unwrap();
    let validator = Validator::new(&schema);
    let rules = Rules::new(&schema, &validator).unwrap();
    let ports: Vec<_> = (1..=100).map(|number| json!({"name": "p", "number": number})).collect();
    let object = json!({"ports": ports});
    let mut group = criterion.benchmark_group("100 objects with two rules each");
    group.bench_function("rules", |bencher| {
        bencher.iter(|| assert!(rules.check(black_box(&object), None, BUDGET).errors.is_empty()));
    });
    group.bench_function("values", |bencher| {
        bencher.iter(|| assert!(validator.is_valid(black_box(&object))));
    });
    group.bench_function("compile", |bencher| {
        bencher.iter(|| Rules::new(black_box(&schema), &validator));
    });
    group.finish();
}

criterion_group!(benches, single, rules);
criterion_main!(benches);
