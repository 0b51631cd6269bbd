//! How the cost of each way grows with its input: `cargo bench --bench growth` prints the best time
//! for n, 2n, 4n and 8n, and the exponent of the growth between the first and the last. Linear cost
//! has 1; what is above [`MOST`] is marked. `-- --count` prints millions of instructions instead,
//! which neither caches nor other work on the machine change; it needs valgrind.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use billhook::webhook::MatchContext;
use billhook::{
    CrdVersion, CustomResourceDefinition, DecodeOptions, Definition, ValidateOptions,
    read_manifests,
};
use billhook_benches::callgrind::{self, count_mark};
use billhook_benches::webhooks::{namespaces, requests, resources, webhooks};
use billhook_cel::{Environment, Type, Value as Cel};
use serde_json::{Value, json};

#[path = "growth/many.rs"]
mod many;

/// The greatest exponent that counts as linear.
const MOST: f64 = 1.1;

/// How often the input doubles.
const DOUBLINGS: usize = 3;

/// A measurement repeats until it has taken so long, and three times at least.
const ENOUGH: Duration = Duration::from_millis(300);

/// Tells the program that callgrind counts it.
const COUNTED: &str = "--counted";

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("--count") => print_counts().unwrap(),
        _ => measure(),
    }
}

fn measure() {
    println!("{:44} {:>9}       n      2n      4n      8n ms  exponent", "way", "n");
    text();
    reports();
    schemas();
    validation();
    expressions();
    many::rules();
    many::matching();
    others();
}

fn print_counts() -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let directory = std::env::temp_dir().join(format!("billhook-growth-{}", std::process::id()));
    std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let counted = callgrind::count(&program, &[COUNTED.as_ref()], &directory);
    std::fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
    let (names, counts) = counted?;
    println!("{:44} {:>9}       n      2n      4n      8n M    exponent", "way", "n");
    // Each run is between two marks; between runs there is something to skip.
    let counts: Vec<f64> = counts.into_iter().skip(1).step_by(2).collect();
    for (name, counts) in names.lines().skip(1).zip(counts.chunks(DOUBLINGS + 1)) {
        print_row(name, counts, 1e6);
    }
    Ok(())
}

/// Measures what `prepare` returns for each size.
fn grow<T>(name: &str, n: usize, prepare: impl Fn(usize) -> T, run: impl Fn(&T)) {
    let name = format!("{name:44} {n:>9}");
    let inputs = (0..=DOUBLINGS).map(|doubling| prepare(n << doubling));
    if std::env::args().any(|argument| argument == COUNTED) {
        println!("{name}");
        run(&prepare(n));
        for input in inputs {
            count_mark();
            run(&input);
            count_mark();
        }
    } else {
        let times: Vec<f64> = inputs.map(|input| best(|| run(&input))).collect();
        print_row(&name, &times, 1e-3);
    }
}

fn print_row(name: &str, costs: &[f64], unit: f64) {
    let mut line = format!("{name} ");
    for cost in costs {
        write!(line, "{:8.2}", cost / unit).unwrap();
    }
    let exponent = (costs[DOUBLINGS] / costs[0]).log2() / DOUBLINGS as f64;
    let mark = if exponent > MOST { "  not linear" } else { "" };
    println!("{line}  {exponent:8.2}{mark}");
}

fn best(run: impl Fn()) -> f64 {
    let (start, mut best, mut rounds) = (Instant::now(), f64::MAX, 0);
    while rounds < 3 || start.elapsed() < ENOUGH {
        let round = Instant::now();
        run();
        best = best.min(round.elapsed().as_secs_f64());
        rounds += 1;
    }
    best
}

fn definition(spec: &str) -> String {
    let around = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": "SPEC"}}},
            }],
        },
    });
    around.to_string().replace("\"SPEC\"", spec)
}

fn version(spec: &Value) -> CrdVersion {
    let crd =
        CustomResourceDefinition::from_json(definition(&spec.to_string()).as_bytes()).unwrap();
    crd.version("v1").unwrap().clone()
}

fn body(spec: &str) -> String {
    format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Thing","metadata":{{"name":"a","namespace":"b"}},"spec":{spec}}}"#
    )
}

fn list(item: &str, count: usize) -> String {
    format!("[{}]", vec![item; count].join(","))
}

/// A schema of a list.
fn of_items(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

fn open() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn decode(name: &str, n: usize, spec: &Value, make: impl Fn(usize) -> String, report: bool) {
    let version = version(spec);
    let options = DecodeOptions::default().report(report);
    grow(
        name,
        n,
        |n| body(&make(n)),
        |body| {
            black_box(version.decode(body.as_bytes(), &options).unwrap());
        },
    );
}

fn text() {
    let known = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let defaulted =
        json!({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}});
    let members = |n: usize| {
        let members: Vec<String> = (0..n).map(|index| format!(r#""k{index}":1"#)).collect();
        format!("{{{}}}", members.join(","))
    };
    let deep = |n: usize| r#"{"a":"#.repeat(n) + "1" + &"}".repeat(n);
    let twice = |n: usize| format!(r#"{{"b":{{{}"y":1}}}}"#, r#""x":1,"#.repeat(n));
    let twice_deep = |n: usize| {
        let inner = format!(r#"{{{}"y":1}}"#, r#""x":1,"#.repeat(n));
        format!(r#"{{"b":{}{inner}{}}}"#, r#"{"a":"#.repeat(900), "}".repeat(900))
    };
    decode("decode: known members", 20_000, &of_items(&known), |n| list(r#"{"a":"x"}"#, n), false);
    decode("decode: unknown members", 20_000, &of_items(&known), |n| list(r#"{"b":1}"#, n), false);
    decode("decode: defaults", 20_000, &of_items(&defaulted), |n| list("{}", n), false);
    decode("decode: members that are kept", 20_000, &open(), members, false);
    decode("decode: depth", 1_000, &open(), deep, false);
    decode("decode: duplicates", 10_000, &open(), twice, false);
    decode("decode: duplicates at depth 900", 10_000, &open(), twice_deep, false);
    let version = version(&of_items(&known));
    let yaml = |n: usize| {
        let head = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec:\n";
        head.to_owned() + &"- a: x\n".repeat(n)
    };
    grow("decode: YAML", 10_000, yaml, |body| {
        let options = DecodeOptions::default().format(billhook::BodyFormat::Yaml);
        black_box(version.decode(body.as_bytes(), &options).unwrap());
    });
    grow(
        "read: documents",
        2_000,
        |n| "---\na: 1\n".repeat(n),
        |text| {
            black_box(read_manifests(text.as_bytes()).unwrap());
        },
    );
}

fn reports() {
    let known = json!({"type": "object", "properties": {"a": {"type": "string", "default": "x"}}});
    let nested = (0..200).fold(
        json!({"type": "object"}),
        |inner, _| json!({"type": "object", "properties": {"a": inner}}),
    );
    let unknown = |n: usize| {
        let members: Vec<String> = (0..n).map(|index| format!(r#""x{index}":1"#)).collect();
        format!("{}{{{}}}{}", r#"{"a":"#.repeat(200), members.join(","), "}".repeat(200))
    };
    decode(
        "report: unknown members",
        10_000,
        &of_items(&known),
        |n| list(r#"{"a":"","b":1}"#, n),
        true,
    );
    decode("report: defaults", 10_000, &of_items(&known), |n| list("{}", n), true);
    decode("report: unknown members at depth 200", 2_000, &nested, unknown, true);
}

fn schemas() {
    let check = |name: &str, n: usize, make: &dyn Fn(usize) -> String| {
        grow(name, n, make, |text| {
            let manifest = read_manifests(text.as_bytes()).unwrap().remove(0);
            black_box(Definition::from_value(manifest.value()).unwrap().validate_create());
        });
    };
    let properties = |property: &dyn Fn(usize) -> Value, n: usize| {
        let members: serde_json::Map<_, _> =
            (0..n).map(|index| (format!("p{index}"), property(index))).collect();
        definition(&json!({"type": "object", "properties": members}).to_string())
    };
    check("check: properties", 2_000, &|n| properties(&|_| json!({"type": "string"}), n));
    check("check: defaults", 1_000, &|n| {
        properties(&|_| json!({"type": "string", "default": "x"}), n)
    });
    check("check: patterns", 500, &|n| {
        let pattern = |index| format!(r"^x{index}[\pL\pN]{{0,500}}$");
        properties(&|index| json!({"type": "string", "pattern": pattern(index)}), n)
    });
    check("check: rules", 100, &|n| {
        let rule = |index| json!([{"rule": format!("'a'.matches('x{index}|[a-z]{{0,500}}')")}]);
        properties(&|index| json!({"type": "string", "x-kubernetes-validations": rule(index)}), n)
    });
    check("check: depth", 50, &|n| {
        let open = r#"{"type":"object","properties":{"a":"#.repeat(n);
        definition(&(open + r#"{"type":"string"}"# + &"}}".repeat(n)))
    });
}

fn validate(name: &str, n: usize, spec: &Value, make: impl Fn(usize) -> Value) {
    let version = version(spec);
    let options = ValidateOptions::default();
    let object = |n| {
        let mut object: Value = serde_json::from_str(&body("null")).unwrap();
        object["spec"] = make(n);
        object
    };
    grow(name, n, object, |object| {
        black_box(version.validate_create(object, &options));
    });
    grow(&format!("{name}, update"), n, object, |object| {
        black_box(version.validate_update(object, object, &options));
    });
}

fn validation() {
    let text = |schema: Value| of_items(&schema);
    let words = |n: usize| (0..n).map(|index| json!(format!("word-{index}"))).collect::<Value>();
    let numbers = |n: usize| (0..n).map(Value::from).collect::<Value>();
    validate("validate: strings", 20_000, &text(json!({"type": "string", "maxLength": 20})), words);
    validate("validate: wrong types", 5_000, &text(json!({"type": "string"})), numbers);
    validate(
        "validate: patterns",
        20_000,
        &text(json!({"type": "string", "pattern": "^[a-z]+-[0-9]+$"})),
        words,
    );
    let long = json!({"type": "string", "pattern": r"^(?:[\pL\pN]|-){0,500}$"});
    validate("validate: large patterns", 5_000, &text(long), words);
    let set =
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    validate("validate: sets", 10_000, &set, words);
    let entry =
        json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "integer"}}});
    let map = json!({
        "type": "array", "items": entry,
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
    });
    let entries = |n: usize| (0..n).map(|index| json!({"k": index})).collect::<Value>();
    validate("validate: list maps", 5_000, &map, entries);
}

fn expressions() {
    let numbers = |n: usize| (0..n).map(Value::from).collect::<Value>();
    let words = |n: usize| (0..n).map(|index| json!(format!("word-{index}"))).collect::<Value>();
    let run = |name: &str, n: usize, expression: &str, make: &dyn Fn(usize) -> Value| {
        let environment = Environment::default().variable("l", Type::Dyn.list());
        let program = environment.compile(expression).unwrap();
        grow(name, n, make, |value| {
            let evaluation = program.evaluate(&[("l", Cel::any(value))], u64::MAX);
            assert!(evaluation.result.is_ok(), "{expression}: {:?}", evaluation.result);
        });
    };
    run("CEL: all", 10_000, "l.all(x, x >= 0)", &numbers);
    run("CEL: map and filter", 10_000, "l.map(x, x + 1).filter(x, x > 1).size() > 0", &numbers);
    run("CEL: concatenation", 10_000, "(l + l + l).all(x, x >= 0)", &numbers);
    run("CEL: elements of concatenations", 10_000, "[l + l].all(m, l.all(x, m[x] == x))", &numbers);
    run("CEL: equality", 10_000, "l + l == l + l", &numbers);
    run("CEL: sort", 500, "l.sort().size() > 0", &numbers);
    run("CEL: join and split", 10_000, "l.join(',').split(',').size() > 0", &words);
    run("CEL: pattern of a literal", 10_000, "l.all(x, x.matches('^[a-z]+-[0-9]+$'))", &words);
    run("CEL: patterns of values", 500, "l.all(x, 'word'.matches(x + '|[a-z]{0,100}'))", &words);
    run("CEL: map", 5_000, "l.transformMapEntry(i, x, {string(x): i}).size() > 0", &numbers);
    run(
        "CEL: entries of a map",
        1_000,
        "[l.transformMapEntry(i, x, {string(x): i})].all(m, l.all(x, m[string(x)] == x))",
        &numbers,
    );
}

fn others() {
    let (namespaces, registry) = (namespaces(), resources());
    let context = MatchContext::new(&namespaces, &registry);
    let (_, request) = requests().into_iter().next().unwrap();
    grow("match: webhooks", 500, webhooks, |set| {
        black_box(set.decide_all(&request, &context));
    });
}
