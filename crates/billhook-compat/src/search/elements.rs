//! Lists of elements of which each is accepted alone.

use billhook::FieldPath;
use billhook_apimachinery::value::{deep_clone, deep_eq, sorted};
use billhook_generation::{
    Hints, Oracle, changes, find, numbered, replaced, sample, schema_at, weight,
};
use serde_json::{Value, json};

use crate::limits::{MAX_ELEMENTS, MAX_LIST_VALUES};

/// How many changed elements are made acceptable, and how many objects are tried for each.
const MAX_MENDED: usize = 20;
const MAX_TRIES: usize = 60;

/// How many other values of a member are tried, and how many members together with another one.
const MAX_OTHERS: usize = 6;
const MAX_TOGETHER: usize = 4;

/// How many members are numbered in lists of elements.
const MAX_TEXTS: usize = 3;

/// How many elements differ from the first one in the same member.
const MAX_ALIKE: usize = 3;

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
    let with = |changed: &Value| replaced(&alone, &first, Some(deep_clone(changed)));
    let mut found = vec![deep_clone(element)];
    let mut add = |other: Option<Value>| {
        let is_new = |other: &Value| !found.iter().any(|known| deep_eq(known, other));
        let other = other.filter(is_new).filter(|_| found.len() < MAX_ELEMENTS);
        let is_added = other.is_some();
        found.extend(other);
        is_added
    };
    let mut others = Others::default();
    changes(items, element, hints).into_iter().for_each(|changed| others.add(element, changed));
    let accepted =
        |changed: &Value| oracle.accepts(&with(changed), None).then(|| deep_clone(changed));
    for Other { values, .. } in &others.0 {
        let mut alike = values.iter().filter(|changed| add(accepted(changed)));
        alike.by_ref().take(MAX_ALIKE).count();
    }
    let together: Vec<&Other> = others.0.iter().take(MAX_TOGETHER).collect();
    for (index, one) in together.iter().enumerate() {
        for other in together.iter().skip(index + 1) {
            one.beside(other).for_each(|changed| {
                add(accepted(&changed));
            });
        }
    }
    let mut left = MAX_MENDED;
    for Other { member, values } in &others.0 {
        for changed in values.iter().take(MAX_ALIKE) {
            left = left.saturating_sub(1);
            if left == 0 || oracle.is_exhausted() {
                return found;
            }
            let is_kept = |object: &Value| {
                is_single(object)
                    && find(object, &first).is_some_and(|other| is_alike(other, changed, member))
            };
            let object = oracle.valid_within(MAX_TRIES, &with(changed), &is_kept);
            add(object.as_ref().and_then(|object| find(object, &first)).map(deep_clone));
        }
    }
    found
}

/// Elements that differ from the first one in a member; scalars differ as a whole.
struct Other {
    member: String,
    values: Vec<Value>,
}

impl Other {
    /// Elements that differ in two members.
    fn beside<'o>(&'o self, other: &'o Other) -> impl Iterator<Item = Value> {
        let with = |one: &Value, changed: &Value| {
            let mut members = one.as_object()?.clone();
            match changed.get(&other.member) {
                Some(value) => members.insert(other.member.clone(), deep_clone(value)),
                None => members.remove(&other.member),
            };
            Some(Value::Object(members))
        };
        let all = self.values.iter().take(MAX_ALIKE);
        all.flat_map(move |one| {
            other.values.iter().take(MAX_ALIKE).filter_map(move |other| with(one, other))
        })
    }
}

#[derive(Default)]
struct Others(Vec<Other>);

impl Others {
    fn add(&mut self, first: &Value, changed: Value) {
        let member = changed_member(first, &changed);
        let known = self.0.iter_mut().find(|other| other.member == member);
        match known {
            Some(other) if other.values.len() < MAX_OTHERS => other.values.push(changed),
            Some(_) => {}
            None => self.0.push(Other { member, values: vec![changed] }),
        }
    }
}

/// The member in which two elements differ; none if they differ as a whole.
fn changed_member(first: &Value, changed: &Value) -> String {
    let (Value::Object(first), Value::Object(changed)) = (first, changed) else {
        return String::new();
    };
    let differs = |name: &&String| match (first.get(*name), changed.get(*name)) {
        (Some(one), Some(other)) => !deep_eq(one, other),
        _ => true,
    };
    let mut names = sorted(first).into_iter().chain(sorted(changed)).map(|(name, _)| name);
    names.find(differs).cloned().unwrap_or_default()
}

/// Whether two elements have the same value of a member.
fn is_alike(one: &Value, other: &Value, member: &str) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => match (one.get(member), other.get(member)) {
            (Some(one), Some(other)) => deep_eq(one, other),
            (one, other) => one.is_none() == other.is_none(),
        },
        (one, other) => deep_eq(one, other),
    }
}

/// Objects in which the list at a place has one or two of some elements, or as many of one as hints
/// mention.
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
    let singles = elements
        .iter()
        .map(move |one| replaced(around, path, Some(Value::Array(vec![deep_clone(one)]))));
    let sizes = hints.sizes().into_iter().filter(|size| *size > 2);
    singles
        .chain(pairs)
        .chain(sizes.flat_map(move |size| repeated(oracle, around, path, elements, size)))
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
    let is_small = move |element: &&Value| count.saturating_mul(weight(element)) <= MAX_LIST_VALUES;
    elements.iter().filter(is_small).flat_map(move |element| {
        let items = |of: &dyn Fn(u64) -> Value| (0..count as u64).map(of).collect();
        let plain: Value = items(&|number| numbered(list, element, number));
        let same: Value = items(&|_| deep_clone(element));
        // Rules may ask for elements that differ in a text.
        let others = texts_in(element).map(|name| {
            let keys = json!({"x-kubernetes-list-map-keys": [name]});
            items(&|number| numbered(&keys, element, number))
        });
        let all = [plain, same].into_iter().chain(others).collect::<Vec<Value>>();
        all.into_iter().map(|items| replaced(around, path, Some(items)))
    })
}

/// The names of the first members of an element that are texts.
fn texts_in(element: &Value) -> impl Iterator<Item = &String> {
    let members = element.as_object().map(sorted).into_iter().flatten();
    members.filter(|(_, member)| member.is_string()).map(|(name, _)| name).take(MAX_TEXTS)
}
