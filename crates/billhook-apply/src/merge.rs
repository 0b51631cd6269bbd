//! The merge of an applied configuration into a live object (SA-70, SA-71). Nothing is removed.

use std::collections::BTreeMap;

use billhook_apimachinery::value::{deep_clone, grow, sorted};
use serde_json::{Map as Object, Value};

use crate::join::{Pair, join};
use crate::path_element::PathElement;
use crate::shape::{List, Map, Shape, Type};

/// Merges two values, which were checked.
pub(crate) fn merge(type_: Type<'_>, live: &Value, config: &Value) -> Value {
    match (type_.shape(config), live, config) {
        (Some(Shape::Map(map)), Value::Object(live), config) if !map.is_atomic => {
            merge_maps(map, live, config)
        }
        (Some(Shape::List(list)), Value::Array(live), config) if !list.is_atomic() => {
            merge_lists(list, live, config)
        }
        _ => deep_clone(config),
    }
}

fn merge_maps(map: Map<'_>, live: &Object<String, Value>, config: &Value) -> Value {
    let empty = Object::new();
    let members = match config {
        Value::Object(members) => members,
        // Null and nothing clear nothing.
        _ if live.is_empty() => return config.clone(),
        _ => &empty,
    };
    let pairs = join(sorted(live).into_iter(), sorted(members).into_iter(), |l, r| l.0.cmp(r.0));
    let merged = pairs.map(|pair| match pair {
        Pair::Left((name, only)) | Pair::Right((name, only)) => (name.clone(), deep_clone(only)),
        Pair::Both((name, live), (_, config)) => {
            let merged = match map.member(name) {
                Some(member) => merge(member.type_, live, config),
                None => deep_clone(config),
            };
            (name.clone(), merged)
        }
    });
    grow(|| Value::Object(merged.collect()))
}

fn merge_lists(list: List<'_>, live: &[Value], config: &Value) -> Value {
    let items = match config {
        Value::Array(items) => items.as_slice(),
        _ if live.is_empty() => return config.clone(),
        _ => &[],
    };
    let (live, items) = (list.identified(live), list.identified(items));
    grow(|| Value::Array(ListMerge::new(list, &live, &items).run()))
}

/// An element of one of the lists.
struct Element<'v> {
    value: &'v Value,
    /// The position in the other list of the element with the same identity, the first if there
    /// are several.
    counterpart: Option<usize>,
    /// Whether there are several.
    is_ambiguous: bool,
}

type Identified<'v> = [(PathElement, &'v Value)];

/// Finds each element of a list in another one.
fn elements<'v>(own: &Identified<'v>, other: &Identified<'v>) -> Vec<Element<'v>> {
    let mut places: BTreeMap<&PathElement, (usize, usize)> = BTreeMap::new();
    for (position, (element, _)) in other.iter().enumerate() {
        places.entry(element).or_insert((position, 0)).1 += 1;
    }
    let find = |(element, value): &(PathElement, &'v Value)| {
        let place = places.get(element);
        Element {
            value,
            counterpart: place.map(|(first, _)| *first),
            is_ambiguous: place.is_some_and(|(_, count)| *count > 1),
        }
    };
    own.iter().map(find).collect()
}

/// The merge of two lists whose elements have identities (SA-71). What the configuration shares
/// with the live list comes in the order of the configuration, what only one of them has stays
/// where it is among the others.
struct ListMerge<'s, 'v> {
    list: List<'s>,
    live: Vec<Element<'v>>,
    config: Vec<Element<'v>>,
    /// The positions in `config` of what both lists have.
    shared: Vec<usize>,
    merged: Vec<Value>,
}

impl<'s, 'v> ListMerge<'s, 'v> {
    fn new(list: List<'s>, live: &Identified<'v>, config: &Identified<'v>) -> Self {
        let merged = Vec::with_capacity(live.len() + config.len());
        let (live, config) = (elements(live, config), elements(config, live));
        let shared = config.iter().enumerate().filter(|(_, element)| element.counterpart.is_some());
        let shared = shared.map(|(position, _)| position).collect();
        ListMerge { list, live, config, shared, merged }
    }

    fn run(mut self) -> Vec<Value> {
        // How many elements of each list are done, and of those that are shared.
        let (mut live_at, mut config_at, mut shared_at) = (0, 0, 0);
        loop {
            while self.shared.get(shared_at).is_some_and(|position| *position < config_at) {
                shared_at += 1;
            }
            let next_shared = self.shared.get(shared_at).copied();
            let live = self.live.get(live_at).map(|element| (element.value, element.counterpart));
            let has_config = config_at < self.config.len();
            match live {
                None if !has_config => return self.merged,
                Some((_, Some(place))) if has_config && place == config_at => {
                    self.emit(config_at);
                    live_at += 1;
                    config_at += 1;
                    continue;
                }
                // It comes where the configuration has it.
                Some((_, Some(place)))
                    if has_config && next_shared.is_some_and(|next| next != place) =>
                {
                    live_at += 1;
                    continue;
                }
                Some((value, None)) => {
                    self.merged.push(deep_clone(value));
                    live_at += 1;
                    continue;
                }
                Some((_, Some(place))) if place < config_at => live_at += 1,
                _ => {}
            }
            if has_config {
                self.emit(config_at);
                config_at += 1;
            }
        }
    }

    /// Adds an element of the configuration, merged with the live one if there is exactly one.
    fn emit(&mut self, position: usize) {
        let Some(element) = self.config.get(position) else { return };
        let live = element.counterpart.filter(|_| !element.is_ambiguous);
        let live = live.and_then(|place| self.live.get(place));
        self.merged.push(match live {
            Some(live) => merge(self.list.items, live.value, element.value),
            None => deep_clone(element.value),
        });
    }
}
