//! The standard operators, functions and methods of CEL, optionals among them (CE-10).

use billhook_apimachinery::KubernetesVersion;

use super::declare::{Call, Cost, Overload, Work};
use super::{arithmetic, conversion, cost, moment, operators, optional, percent, work};
use crate::language::availability::Availability;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, Outcome, Value};

/// Collects overloads.
struct Table(Vec<Overload>);

impl Table {
    fn function(&mut self, name: &'static str, parameters: Vec<Type>, result: Type, call: Call) {
        self.add(name, false, parameters, result, call, Cost::Fixed(1));
    }

    fn method(&mut self, name: &'static str, parameters: Vec<Type>, result: Type, call: Call) {
        self.add(name, true, parameters, result, call, Cost::Fixed(1));
    }

    /// Sets what is counted before a call of the overload that was added last.
    fn works(&mut self, work: Work) {
        if let Some(overload) = self.0.last_mut() {
            overload.work = Some(work);
        }
    }

    fn add(
        &mut self,
        function: &'static str,
        is_method: bool,
        parameters: Vec<Type>,
        result: Type,
        call: Call,
        cost: Cost,
    ) {
        let overload = Overload::function(function, parameters, result, call).costs(cost);
        self.0.push(Overload { is_method, ..overload });
    }
}

/// Returns all overloads.
pub(super) fn overloads() -> Vec<Overload> {
    let mut table = Table(Vec::with_capacity(200));
    logic(&mut table);
    numbers(&mut table);
    comparison(&mut table);
    containers(&mut table);
    conversions(&mut table);
    texts(&mut table);
    time(&mut table);
    optionals(&mut table);
    table.0
}

fn a() -> Type {
    Type::Param("A")
}

fn b() -> Type {
    Type::Param("B")
}

fn map_of_params() -> Type {
    Type::Map(a().into(), b().into())
}

fn logic(table: &mut Table) {
    use Type::Bool;
    table.function("_?_:_", vec![Bool, a(), a()], a(), operators::not_called);
    table.function("_&&_", vec![Bool, Bool], Bool, operators::not_called);
    table.function("_||_", vec![Bool, Bool], Bool, operators::not_called);
    table.function("!_", vec![Bool], Bool, operators::not);
    table.function("@not_strictly_false", vec![Bool], Bool, operators::not_called);
}

fn numbers(table: &mut Table) {
    use Type::{Bytes, Double, Duration, Int, String, Timestamp, Uint};
    let traversal = Cost::Resolved(cost::both);
    table.add("_+_", false, vec![Bytes, Bytes], Bytes, arithmetic::add, traversal);
    table.function("_+_", vec![Double, Double], Double, arithmetic::add);
    table.function("_+_", vec![Duration, Duration], Duration, arithmetic::add);
    table.function("_+_", vec![Duration, Timestamp], Timestamp, arithmetic::add);
    table.function("_+_", vec![Timestamp, Duration], Timestamp, arithmetic::add);
    table.function("_+_", vec![Int, Int], Int, arithmetic::add);
    table.function("_+_", vec![a().list(), a().list()], a().list(), arithmetic::add);
    table.works(work::merge);
    table.add("_+_", false, vec![String, String], String, arithmetic::add, traversal);
    table.function("_+_", vec![Uint, Uint], Uint, arithmetic::add);
    table.function("_-_", vec![Double, Double], Double, arithmetic::subtract);
    table.function("_-_", vec![Duration, Duration], Duration, arithmetic::subtract);
    table.function("_-_", vec![Int, Int], Int, arithmetic::subtract);
    table.function("_-_", vec![Timestamp, Duration], Timestamp, arithmetic::subtract);
    table.function("_-_", vec![Timestamp, Timestamp], Duration, arithmetic::subtract);
    table.function("_-_", vec![Uint, Uint], Uint, arithmetic::subtract);
    for of in [Double, Int, Uint] {
        table.function("_*_", vec![of.clone(), of.clone()], of, arithmetic::multiply);
    }
    for of in [Double, Int, Uint] {
        table.function("_/_", vec![of.clone(), of.clone()], of, arithmetic::divide);
    }
    for of in [Int, Uint] {
        table.function("_%_", vec![of.clone(), of.clone()], of, arithmetic::remainder);
    }
    for of in [Double, Int] {
        table.function("-_", vec![of.clone()], of, arithmetic::negate);
    }
}

fn comparison(table: &mut Table) {
    use Type::{Bool, Bytes, Double, Duration, Int, String, Timestamp, Uint};
    let shorter = Cost::Resolved(cost::shorter);
    table.add("_==_", false, vec![a(), a()], Bool, operators::equals, shorter);
    table.works(work::once);
    table.add("_!=_", false, vec![a(), a()], Bool, operators::differs, shorter);
    table.works(work::once);
    for (name, call) in operators::RELATIONS {
        table.function(name, vec![Bool, Bool], Bool, call);
        for left in [Int, Uint, Double] {
            for right in [Int, Uint, Double] {
                table.function(name, vec![left.clone(), right], Bool, call);
            }
        }
        for of in [String, Bytes] {
            table.add(name, false, vec![of.clone(), of], Bool, call, shorter);
        }
        for of in [Timestamp, Duration] {
            table.function(name, vec![of.clone(), of], Bool, call);
        }
    }
}

fn containers(table: &mut Table) {
    use Type::{Bool, Bytes, Int, String};
    let length = Cost::Resolved(cost::length);
    table.add("@in", false, vec![a(), a().list()], Bool, operators::is_in, length);
    table.works(work::once);
    table.function("@in", vec![a(), map_of_params()], Bool, operators::is_in);
    for (name, of, by, result) in [
        ("_[_]", a().list(), Int, a()),
        ("_[_]", map_of_params(), a(), b()),
        ("_[_]", a().list().optional(), Int, a().optional()),
        ("_[_]", map_of_params().optional(), a(), b().optional()),
        ("_[?_]", a().list(), Int, a().optional()),
        ("_[?_]", a().list().optional(), Int, a().optional()),
        ("_[?_]", map_of_params(), a(), b().optional()),
        ("_[?_]", map_of_params().optional(), a(), b().optional()),
        ("_?._", Type::Dyn, String, a().optional()),
    ] {
        table.function(name, vec![of, by], result, operators::not_called);
    }
    for of in [Bytes, a().list(), map_of_params(), String] {
        table.function("size", vec![of.clone()], Int, operators::size);
        table.method("size", vec![of], Int, operators::size);
    }
}

fn conversions(table: &mut Table) {
    use Type::{Bool, Bytes, Double, Duration, Dyn, Int, String, Timestamp, Uint};
    let traversal = Cost::Resolved(cost::first);
    for from in [Bool, String] {
        table.function("bool", vec![from], Bool, conversion::to_bool);
    }
    table.function("bytes", vec![Bytes], Bytes, conversion::to_bytes);
    table.add("bytes", false, vec![String], Bytes, conversion::to_bytes, traversal);
    for from in [Double, Int, String, Uint] {
        table.function("double", vec![from], Double, conversion::to_double);
    }
    for from in [Duration, Int, String] {
        table.function("duration", vec![from], Duration, conversion::to_duration);
    }
    table.function("dyn", vec![a()], Dyn, conversion::to_dyn);
    for from in [Int, Double, Duration, String, Timestamp, Uint] {
        table.function("int", vec![from], Int, conversion::to_int);
    }
    for from in [String, Bool, Double, Duration, Int, Timestamp, Uint] {
        table.function("string", vec![from], String, conversion::to_string);
    }
    table.add("string", false, vec![Bytes], String, conversion::to_string, traversal);
    for from in [Timestamp, Int, String] {
        table.function("timestamp", vec![from], Timestamp, conversion::to_timestamp);
    }
    table.function("type", vec![a()], Type::Type(a().into()), conversion::type_of);
    for from in [Uint, Double, Int, String] {
        table.function("uint", vec![from], Uint, conversion::to_uint);
    }
}

/// Compares a text with another one.
fn two<'a>(arguments: &[Value<'a>], is: fn(&str, &str) -> bool) -> Outcome<'a> {
    match arguments {
        [Value::String(text), Value::String(other)] => {
            Ok(Value::Bool(is(text.as_str(), other.as_str())))
        }
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

fn texts(table: &mut Table) {
    use Type::{Bool, String};
    let first = Cost::Resolved(cost::first);
    let methods: [(_, Call, Cost); 4] = [
        ("contains", |of| two(of, |text, part| text.contains(part)), Cost::Resolved(cost::search)),
        ("startsWith", |of| two(of, |text, part| text.starts_with(part)), first),
        ("endsWith", |of| two(of, |text, part| text.ends_with(part)), first),
        ("matches", operators::not_called, Cost::Resolved(cost::pattern)),
    ];
    for (name, call, cost) in methods {
        table.add(name, true, vec![String, String], Bool, call, cost);
    }
    table.function("matches", vec![String, String], Bool, operators::not_called);
}

fn time(table: &mut Table) {
    use Type::{Duration, Int, String, Timestamp};
    let since = KubernetesVersion::V1_33;
    for (name, call) in moment::PARTS {
        table.method(name, vec![Timestamp], Int, call);
        let in_zone = || Overload::method(name, vec![Timestamp, String], Int, call);
        let old =
            in_zone().available(Availability::ReplacedSince(since)).on_error(percent::reformatted);
        table.0.extend([in_zone().available(Availability::Since(since)), old]);
    }
    for (name, call) in moment::PARTS.into_iter().skip(6) {
        table.method(name, vec![Duration], Int, call);
    }
}

fn optionals(table: &mut Table) {
    use Type::Bool;
    table.function("optional.of", vec![a()], a().optional(), optional::of);
    table.function("optional.ofNonZeroValue", vec![a()], a().optional(), optional::of_non_zero);
    table.function("optional.none", vec![], a().optional(), optional::none);
    table.method("hasValue", vec![a().optional()], Bool, optional::has_value);
    table.method("value", vec![a().optional()], a(), optional::value);
    table.method("or", vec![a().optional(), a().optional()], a().optional(), operators::not_called);
    table.method("orValue", vec![a().optional(), a()], a(), operators::not_called);
    let optionals = || vec![a().optional().list()];
    let unwrap = Overload::function("optional.unwrap", optionals(), a().list(), optional::unwrap);
    let unwrap_opt = Overload::method("unwrapOpt", optionals(), a().list(), optional::unwrap);
    let newer = [
        Overload::method("first", vec![a().list()], a().optional(), optional::first),
        Overload::method("last", vec![a().list()], a().optional(), optional::last),
        unwrap.works(work::once),
        unwrap_opt.works(work::once),
    ];
    let since = Availability::Since(KubernetesVersion::V1_33);
    table.0.extend(newer.map(|overload| overload.available(since)));
}
