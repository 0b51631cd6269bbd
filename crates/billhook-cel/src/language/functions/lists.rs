//! Lists: the functions that Kubernetes and the third version of the lists extension add to CEL
//! (CE-10).

use std::cmp::Ordering;

use billhook_apimachinery::KubernetesVersion;

use super::declare::{Call, Cost, Overload, Result, argument, int};
use super::price::NEW_LIST;
use super::{arithmetic, cost, work};
use crate::language::availability::Availability;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, List, Value, compare, equal};

/// More elements than the limit of cost for one evaluation lets a list have (CE-35).
const MAX_ELEMENTS: u64 = 1_000_000;

/// Where there is the extension.
const EXTENSION: Availability = Availability::Library { since: KubernetesVersion::V1_34 };

/// The most elements that a function copies: four times as many as any cost allows that counts
/// them.
const MAX_COPIED: usize = 4 * MAX_ELEMENTS as usize;

pub(super) fn library() -> Vec<Overload> {
    let mut overloads = Vec::new();
    kubernetes(&mut overloads);
    extension(&mut overloads);
    overloads
}

fn comparable() -> [Type; 8] {
    use Type::{Bool, Bytes, Double, Duration, Int, String, Timestamp, Uint};
    [Int, Uint, Double, Bool, Duration, Timestamp, String, Bytes]
}

fn a() -> Type {
    Type::Param("A")
}

fn kubernetes(overloads: &mut Vec<Overload>) {
    use Type::{Bool, Double, Duration, Int, Uint};
    let parts = Cost::Of(cost::parts);
    let mut add = |name: &'static str, parameters: Vec<Type>, result: Type, call: Call| {
        let overload = Overload::method(name, parameters, result, call);
        overloads.push(overload.costs(parts).works(work::once));
    };
    for of in comparable() {
        let list = of.clone().list();
        add("isSorted", vec![list.clone()], Bool, is_sorted);
        add("min", vec![list.clone()], of.clone(), |arguments| {
            extreme(arguments, "min", Ordering::Less)
        });
        add("max", vec![list], of, |arguments| extreme(arguments, "max", Ordering::Greater));
    }
    let sums: [(Type, Call); 4] = [
        (Int, |arguments| sum(arguments, Value::Int(0))),
        (Uint, |arguments| sum(arguments, Value::Uint(0))),
        (Double, |arguments| sum(arguments, Value::Double(0.0))),
        (Duration, |arguments| sum(arguments, Value::Duration(0))),
    ];
    for (of, call) in sums {
        add("sum", vec![of.clone().list()], of, call);
    }
    add("indexOf", vec![a().list(), a()], Int, |arguments| {
        index_of(arguments, |found| found.first().copied())
    });
    add("lastIndexOf", vec![a().list(), a()], Int, |arguments| {
        index_of(arguments, |found| found.last().copied())
    });
}

fn extension(overloads: &mut Vec<Overload>) {
    use Type::{Dyn, Int};
    let result = Cost::Resolved(|_, result| NEW_LIST + cost::size(result));
    let pairs = Cost::OfLists(|arguments, _| pairs_cost(arguments.first()));
    let mut add = |name, parameters: Vec<Type>, result: Type, call: Call, cost: Cost| {
        let work = if matches!(cost, Cost::OfLists(_)) { work::pairs } else { work::once };
        let overload = Overload::method(name, parameters, result, call).costs(cost).works(work);
        overloads.push(overload.available(EXTENSION));
    };
    add("flatten", vec![a().list().list()], a().list(), flatten, Cost::Resolved(flatten_cost));
    add("flatten", vec![Dyn.list(), Int], Dyn.list(), flatten, Cost::Resolved(flatten_cost));
    add("reverse", vec![a().list()], a().list(), reverse, result);
    add("distinct", vec![a().list()], a().list(), distinct, pairs);
    for of in comparable() {
        add("sort", vec![of.clone().list()], of.clone().list(), sort, pairs);
        let keys = Cost::OfLists(|arguments, _| pairs_cost(arguments.get(1)));
        let parameters = vec![a().list(), of.list()];
        add("@sortByAssociatedKeys", parameters, a().list(), sort_by_keys, keys);
    }
    let slice = Overload::method("slice", vec![a().list(), Int, Int], a().list(), slice);
    let range = Overload::function("lists.range", vec![Int], Int.list(), range);
    overloads.extend([slice, range].map(|overload| overload.costs(result).available(EXTENSION)));
}

/// The elements of an argument, all of which must fit their schema.
pub(super) fn elements<'a>(arguments: &[Value<'a>], index: usize) -> Result<Vec<Value<'a>>> {
    let list = list(arguments, index)?;
    if list.len() > MAX_COPIED {
        return Err(EvaluationError::MemoryLimit);
    }
    list.iter().collect()
}

fn list<'v, 'a>(arguments: &'v [Value<'a>], index: usize) -> Result<&'v List<'a>> {
    match argument(arguments, index)? {
        Value::List(list) => Ok(list),
        _ => Err(EvaluationError::NoSuchOverload),
    }
}

fn is_sorted<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let elements = elements(arguments, 0)?;
    let are_in_order = elements
        .iter()
        .zip(elements.iter().skip(1))
        .all(|(left, right)| !matches!(compare(left, right), Ok(Ordering::Greater)));
    Ok(Value::Bool(are_in_order))
}

/// The first of the least or greatest elements.
fn extreme<'a>(arguments: &[Value<'a>], name: &str, wanted: Ordering) -> Result<Value<'a>> {
    let mut best: Option<Value<'a>> = None;
    for element in elements(arguments, 0)? {
        let is_better = match &best {
            Some(best) => compare(&element, best) == Ok(wanted),
            None => true,
        };
        if is_better {
            best = Some(element);
        }
    }
    best.ok_or_else(|| EvaluationError::new(format!("{name} called on empty list")))
}

fn sum<'a>(arguments: &[Value<'a>], start: Value<'a>) -> Result<Value<'a>> {
    elements(arguments, 0)?.into_iter().try_fold(start, |sum, next| arithmetic::add(&[sum, next]))
}

/// One of the places where an element is, or -1.
fn index_of<'a>(
    arguments: &[Value<'a>],
    choose: fn(&[usize]) -> Option<usize>,
) -> Result<Value<'a>> {
    let wanted = argument(arguments, 1)?;
    let mut found = Vec::new();
    for (index, element) in list(arguments, 0)?.iter().enumerate() {
        if equal(&element?, wanted)? {
            found.push(index);
        }
    }
    Ok(Value::Int(choose(&found).map_or(-1, |index| index as i64)))
}

fn slice<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let (list, start, end) = (list(arguments, 0)?, int(arguments, 1)?, int(arguments, 2)?);
    let fail = |problem: String| {
        Err(EvaluationError::new(format!("cannot slice({start}, {end}), {problem}")))
    };
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return fail("negative indexes not supported".to_owned());
    };
    if from > to {
        return fail("start index must be less than or equal to end index".to_owned());
    }
    if to > list.len() {
        return fail(format!("list is length {}", list.len()));
    }
    if to - from > MAX_COPIED {
        return Err(EvaluationError::CostLimit);
    }
    Ok(Value::list((from..to).filter_map(|index| list.get(index)).collect::<Result<_>>()?))
}

/// The depth that `flatten` goes to.
fn depth(arguments: &[Value<'_>]) -> Result<i64> {
    if arguments.len() > 1 { int(arguments, 1) } else { Ok(1) }
}

fn flatten<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let Ok(depth) = u64::try_from(depth(arguments)?) else {
        return Err(EvaluationError::new("level must be non-negative"));
    };
    // Lists are taken apart from the front; each waits with how much deeper it may go.
    let mut waiting = vec![(list(arguments, 0)?.clone(), 0, depth)];
    let mut flat = Vec::new();
    while let Some((list, index, depth)) = waiting.pop() {
        let Some(element) = list.get(index) else { continue };
        waiting.push((list, index + 1, depth));
        match element? {
            Value::List(inner) if depth > 0 => waiting.push((inner, 0, depth - 1)),
            element => flat.push(element),
        }
        if flat.len() > MAX_COPIED {
            return Err(EvaluationError::MemoryLimit);
        }
    }
    Ok(Value::list(flat))
}

fn flatten_cost(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    let depth = depth(arguments).unwrap_or(1).unsigned_abs();
    cost::size_at(arguments, 0).saturating_mul(depth).saturating_add(NEW_LIST)
}

fn reverse<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let mut elements = elements(arguments, 0)?;
    elements.reverse();
    Ok(Value::list(elements))
}

/// The cost of comparing all elements of a list with each other.
fn pairs_cost(list: Option<&Value<'_>>) -> u64 {
    let Some(Value::List(list)) = list else { return 1 };
    let factor = match list.get(0) {
        Some(Ok(Value::String(_) | Value::Bytes(_))) => 2.1,
        _ => 2.0,
    };
    let length = list.len() as f64;
    NEW_LIST.saturating_add((length * length * factor) as u64)
}

/// Refuses lists with which comparing all elements costs more than one evaluation may (CE-35).
fn few_pairs(arguments: &[Value<'_>]) -> Result<()> {
    let is_cheap = pairs_cost(arguments.first()) <= MAX_ELEMENTS;
    if is_cheap { Ok(()) } else { Err(EvaluationError::CostLimit) }
}

fn distinct<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    few_pairs(arguments)?;
    let mut distinct: Vec<Value<'a>> = Vec::new();
    for element in elements(arguments, 0)? {
        if !distinct.iter().any(|known| equal(known, &element) == Ok(true)) {
            distinct.push(element);
        }
    }
    Ok(Value::list(distinct))
}

fn sort<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let elements = elements(arguments, 0)?;
    sorted(elements.clone(), elements)
}

fn sort_by_keys<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    sorted(elements(arguments, 0)?, elements(arguments, 1)?)
}

/// Elements in the order of their keys.
fn sorted<'a>(elements: Vec<Value<'a>>, keys: Vec<Value<'a>>) -> Result<Value<'a>> {
    if elements.len() != keys.len() {
        return Err(EvaluationError::new(format!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, \
             but got {} and {} elements respectively",
            elements.len(),
            keys.len()
        )));
    }
    let Some(first) = keys.first() else { return Ok(Value::list(elements)) };
    let is_comparable = matches!(
        first,
        Value::Bool(_)
            | Value::Int(_)
            | Value::Uint(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::Duration(_)
            | Value::Timestamp(_)
    );
    if !is_comparable {
        return Err(EvaluationError::new("list elements must be comparable"));
    }
    let kind = std::mem::discriminant(first);
    if keys.iter().any(|key| std::mem::discriminant(key) != kind) {
        return Err(EvaluationError::new("list elements must have the same type"));
    }
    let mut pairs: Vec<_> = keys.into_iter().zip(elements).collect();
    pairs.sort_by(|(left, _), (right, _)| total_order(left, right));
    Ok(Value::list(pairs.into_iter().map(|(_, element)| element).collect()))
}

/// Compares values; a value that is not a number is less than all numbers, so that values have an
/// order.
fn total_order(left: &Value<'_>, right: &Value<'_>) -> Ordering {
    match (left, right) {
        (Value::Double(left), Value::Double(right)) => match (left.is_nan(), right.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => left.partial_cmp(right).unwrap_or(Ordering::Equal),
        },
        _ => compare(left, right).unwrap_or(Ordering::Equal),
    }
}

/// The integers from zero up to another.
fn range<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let end = int(arguments, 0)?;
    if end > MAX_ELEMENTS as i64 {
        return Err(EvaluationError::CostLimit);
    }
    Ok(Value::list((0..end).map(Value::Int).collect()))
}
