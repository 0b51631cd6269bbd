//! Lists of elements of which each is accepted alone.

use billhook::FieldPath;
use billhook_apimachinery::value::{deep_clone, deep_eq};
use billhook_generation::{Hints, Oracle, changes, find, numbered, replaced, sample, schema_at};
use serde_json::Value;

use crate::limits::{MAX_ELEMENTS, MAX_VALUES};

/// How many changed elements are made acceptable.
const MAX_MENDED: usize = 40;

/// Different elements of the list at a place, of which each is accepted alone; first what hints
/// mention.
pub(crate) fn elements(
    oracle: &Oracle<'_>,
    around: &Value,
    path: &FieldPath,
    hints: &Hints,
) -> Vec<Value> {
    let items = schema_at(oracle.schema(), path).and_then(|list| list.get("items"));
    let Some(items) = items else { return Vec::new() };
    let first = FieldPath::index(path.clone(), 0);
    let is_single = |object: &Value| {
        find(object, path).and_then(Value::as_array).is_some_and(|list| list.len() == 1)
    };
    let alone = replaced(around, path, Some(Value::Array(vec![sample(items)])));
    let Some(alone) = oracle.valid_near(&alone, &is_single) else { return Vec::new() };
    let Some(element) = find(&alone, &first) else { return Vec::new() };
    let mut found = vec![deep_clone(element)];
    let mut mended = 0;
    for changed in changes(items, element, hints).into_iter().take(MAX_VALUES) {
        if found.len() >= MAX_ELEMENTS || oracle.is_exhausted() {
            break;
        }
        let object = replaced(&alone, &first, Some(deep_clone(&changed)));
        let object = match oracle.accepts(&object, None) {
            true => Some(object),
            false if mended < MAX_MENDED => {
                mended += 1;
                let is_kept = |object: &Value| {
                    let other = find(object, &first);
                    is_single(object)
                        && other.is_some_and(|other| has_change(other, element, &changed))
                };
                oracle.valid_near(&object, &is_kept)
            }
            false => None,
        };
        let other = object.as_ref().and_then(|object| find(object, &first));
        if let Some(other) = other
            && !found.iter().any(|known| deep_eq(known, other))
        {
            found.push(deep_clone(other));
        }
    }
    found
}

/// Whether an element has what a changed one has and the first one has not.
fn has_change(value: &Value, first: &Value, changed: &Value) -> bool {
    let (Value::Object(first), Value::Object(changed)) = (first, changed) else {
        return deep_eq(value, changed);
    };
    let differs = |name: &&String| match (first.get(*name), changed.get(*name)) {
        (Some(one), Some(other)) => !deep_eq(one, other),
        _ => true,
    };
    let mut names = first.keys().chain(changed.keys()).filter(differs);
    names.all(|name| match (value.get(name), changed.get(name)) {
        (Some(one), Some(other)) => deep_eq(one, other),
        (one, other) => one.is_none() == other.is_none(),
    })
}

/// Objects in which the list at a place has two of some elements, or as many of one as hints mention.
pub(crate) fn lists<'e>(
    oracle: &'e Oracle<'_>,
    around: &'e Value,
    path: &'e FieldPath,
    elements: &'e [Value],
    hints: &Hints,
) -> impl Iterator<Item = Value> {
    let list = schema_at(oracle.schema(), path).unwrap_or(&Value::Null);
    let pairs = elements.iter().enumerate().flat_map(move |(index, one)| {
        elements.iter().skip(index).map(move |other| {
            let other = numbered(list, other, index as u64 + 1);
            replaced(around, path, Some(Value::Array(vec![deep_clone(one), other])))
        })
    });
    let sizes = hints.sizes().into_iter().filter(|size| *size > 2);
    pairs.chain(sizes.flat_map(move |size| repeated(oracle, around, path, elements, size)))
}

/// Objects in which the list at a place has so many of an element: numbered, or all the same.
pub(crate) fn repeated<'e>(
    oracle: &'e Oracle<'_>,
    around: &'e Value,
    path: &'e FieldPath,
    elements: &'e [Value],
    count: usize,
) -> impl Iterator<Item = Value> {
    let list = schema_at(oracle.schema(), path).unwrap_or(&Value::Null);
    elements.iter().flat_map(move |element| {
        [true, false].into_iter().map(move |is_numbered| {
            let number = |number| if is_numbered { number } else { 0 };
            let items = (0..count).map(|at| numbered(list, element, number(at as u64)));
            replaced(around, path, Some(items.collect()))
        })
    })
}
