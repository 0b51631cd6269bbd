//! The merge of an applied configuration into a live object (SA-70, SA-71). Nothing is removed.

use billhook_apimachinery::value::{deep_clone, deep_eq, grow, in_order};
use serde_json::{Map as Object, Value};

use crate::identity::Item;
use crate::join::{Pair, join};
use crate::shape::{List, Map, Shape, Type};

/// Merges two values, which were checked; none if the live one stays as it is.
pub(crate) fn merge(type_: Type<'_>, live: &Value, config: &Value) -> Option<Value> {
    match (type_.shape(config), live, config) {
        (Some(Shape::Map(map)), Value::Object(live), config) if !map.is_atomic => {
            grow(|| merge_maps(map, live, config))
        }
        (Some(Shape::List(list)), Value::Array(live), config) if !list.is_atomic() => {
            grow(|| merge_lists(list, live, config))
        }
        _ => (!deep_eq(live, config)).then(|| deep_clone(config)),
    }
}

fn merge_maps(map: Map<'_>, live: &Object<String, Value>, config: &Value) -> Option<Value> {
    let Value::Object(members) = config else {
        // Null and nothing clear nothing.
        return live.is_empty().then(|| config.clone());
    };
    let mut types = map.members();
    let merged = in_order(members).filter_map(|(name, config)| {
        let merged = match (live.get(name), types.find(name)) {
            (Some(live), Some(member)) => merge(member.type_, live, config)?,
            _ => deep_clone(config),
        };
        Some((name, merged))
    });
    let merged: Vec<_> = merged.collect();
    if merged.is_empty() {
        return None;
    }
    let pairs = join(in_order(live), merged.into_iter(), |live, merged| live.0.cmp(merged.0));
    let members = pairs.map(|pair| match pair {
        Pair::Left((name, live)) => (name.clone(), deep_clone(live)),
        Pair::Right((name, merged)) | Pair::Both(_, (name, merged)) => (name.clone(), merged),
    });
    Some(Value::Object(members.collect()))
}

fn merge_lists(list: List<'_>, live: &[Value], config: &Value) -> Option<Value> {
    let Value::Array(items) = config else {
        return live.is_empty().then(|| config.clone());
    };
    let (live, items) = (list.identified(live), list.identified(items));
    let merged = ListMerge::new(list, &live, &items).run();
    let stays = |(position, element): (usize, &Merged<'_>)| match element {
        Merged::Live(at, _) => *at == position,
        Merged::Made(_) => false,
    };
    if merged.len() == live.len() && merged.iter().enumerate().all(stays) {
        return None;
    }
    let items = merged.into_iter().map(|element| match element {
        Merged::Live(_, value) => deep_clone(value),
        Merged::Made(value) => value,
    });
    Some(Value::Array(items.collect()))
}

/// An element of the merged list.
enum Merged<'v> {
    /// The element at this position of the live list, as it is.
    Live(usize, &'v Value),
    Made(Value),
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

/// Finds each element of a list in another one, which is in the order of identities.
fn elements<'v>(own: &[Item<'v>], other: &[Item<'_>]) -> Vec<Element<'v>> {
    let find = |item: &Item<'v>| {
        let first = other.partition_point(|other| other.cmp(item).is_lt());
        let (value, first) = (item.value, other.get(first..).unwrap_or_default());
        let mut found = first.iter().take_while(|other| other.is_like(item));
        let counterpart = found.next().map(|first| first.position);
        Element { value, counterpart, is_ambiguous: found.next().is_some() }
    };
    own.iter().map(find).collect()
}

fn sorted<'v>(items: &[Item<'v>]) -> Vec<Item<'v>> {
    let mut items = items.to_vec();
    items.sort_by(Item::cmp);
    items
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
    merged: Vec<Merged<'v>>,
}

impl<'s, 'v> ListMerge<'s, 'v> {
    fn new(list: List<'s>, live: &[Item<'v>], config: &[Item<'v>]) -> Self {
        let merged = Vec::with_capacity(live.len() + config.len());
        let (live, config) = (elements(live, &sorted(config)), elements(config, &sorted(live)));
        let shared = config.iter().enumerate().filter(|(_, element)| element.counterpart.is_some());
        let shared = shared.map(|(position, _)| position).collect();
        ListMerge { list, live, config, shared, merged }
    }

    fn run(mut self) -> Vec<Merged<'v>> {
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
                    self.merged.push(Merged::Live(live_at, value));
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
        let live = live.and_then(|place| Some((place, self.live.get(place)?.value)));
        self.merged.push(match live {
            Some((place, live)) => match merge(self.list.items, live, element.value) {
                Some(merged) => Merged::Made(merged),
                None => Merged::Live(place, live),
            },
            None => Merged::Made(deep_clone(element.value)),
        });
    }
}
