//! The order of the elements of merged lists (SA-71). What the configuration shares with the live
//! list comes in the order of the configuration, what only one of them has stays where it is among
//! the others.

use crate::identity::Item;

/// Where an element of a merged list comes from: its positions in the live list and the configuration,
/// or in one of them.
#[derive(Clone, Copy)]
pub(crate) struct Source {
    pub(crate) live: Option<usize>,
    pub(crate) config: Option<usize>,
}

/// Returns the elements of the merge of two lists whose elements have identities; none if elements of
/// the configuration repeat.
pub(crate) fn merged_order(live: &[Item<'_>], config: &[Item<'_>]) -> Option<Vec<Source>> {
    if let Some(order) = live_order(live, config) {
        return Some(order);
    }
    let (sorted_live, sorted_config) = (sorted(live), sorted(config));
    if has_repeated(&sorted_config) {
        return None;
    }
    let order = Vec::with_capacity(live.len() + config.len());
    let live = elements(live, &sorted_config);
    let config = elements(config, &sorted_live);
    let shared = config.iter().enumerate().filter(|(_, element)| element.counterpart.is_some());
    let shared = shared.map(|(position, _)| position).collect();
    Some(ListMerge { live, config, shared, order }.run())
}

/// The order of the live list, if the configuration has some of its elements in that order and none
/// repeat.
fn live_order(live: &[Item<'_>], config: &[Item<'_>]) -> Option<Vec<Source>> {
    let mut applied = config.iter().peekable();
    let mut order = Vec::with_capacity(live.len());
    order.extend(live.iter().map(|item| {
        let applied = applied.next_if(|applied| item.is_like(applied));
        Source { live: Some(item.position), config: applied.map(|applied| applied.position) }
    }));
    let is_ascending = || live.is_sorted_by(|left, right| left.cmp(right).is_lt());
    let is_like_live = applied.next().is_none() && (is_ascending() || !has_repeated(&sorted(live)));
    is_like_live.then_some(order)
}

fn has_repeated(sorted: &[Item<'_>]) -> bool {
    sorted.windows(2).any(|pair| matches!(pair, [l, r] if l.is_like(r)))
}

/// An element of one of the lists.
struct Element {
    /// The position in the other list of the element with the same identity, the first if there
    /// are several.
    counterpart: Option<usize>,
    /// Whether there are several.
    is_ambiguous: bool,
}

/// Finds each element of a list in another one, which is in the order of identities.
fn elements(own: &[Item<'_>], other: &[Item<'_>]) -> Vec<Element> {
    let find = |item: &Item<'_>| {
        let first = other.partition_point(|other| other.cmp(item).is_lt());
        let first = other.get(first..).unwrap_or_default();
        let mut found = first.iter().take_while(|other| other.is_like(item));
        let counterpart = found.next().map(|first| first.position);
        Element { counterpart, is_ambiguous: found.next().is_some() }
    };
    own.iter().map(find).collect()
}

fn sorted<'v>(items: &[Item<'v>]) -> Vec<Item<'v>> {
    let mut items = items.to_vec();
    items.sort_by(Item::cmp);
    items
}

struct ListMerge {
    live: Vec<Element>,
    config: Vec<Element>,
    /// The positions in `config` of what both lists have.
    shared: Vec<usize>,
    order: Vec<Source>,
}

impl ListMerge {
    fn run(mut self) -> Vec<Source> {
        // How many elements of each list are done, and of those that are shared.
        let (mut live_at, mut config_at, mut shared_at) = (0, 0, 0);
        loop {
            while self.shared.get(shared_at).is_some_and(|position| *position < config_at) {
                shared_at += 1;
            }
            let next_shared = self.shared.get(shared_at).copied();
            let has_config = config_at < self.config.len();
            match self.live.get(live_at).map(|element| element.counterpart) {
                None if !has_config => return self.order,
                Some(Some(place)) if has_config && place == config_at => {
                    self.emit(config_at);
                    live_at += 1;
                    config_at += 1;
                    continue;
                }
                // It comes where the configuration has it.
                Some(Some(place))
                    if has_config && next_shared.is_some_and(|next| next != place) =>
                {
                    live_at += 1;
                    continue;
                }
                Some(None) => {
                    self.order.push(Source { live: Some(live_at), config: None });
                    live_at += 1;
                    continue;
                }
                Some(Some(place)) if place < config_at => live_at += 1,
                _ => {}
            }
            if has_config {
                self.emit(config_at);
                config_at += 1;
            }
        }
    }

    /// Adds an element of the configuration, merged with the live one if there is exactly one.
    fn emit(&mut self, config: usize) {
        let Some(element) = self.config.get(config) else { return };
        let live = element.counterpart.filter(|_| !element.is_ambiguous);
        self.order.push(Source { live, config: Some(config) });
    }
}
