//! The order of the elements of merged lists (SA-71). What the configuration shares with the live
//! list comes in the order of the configuration, what only one of them has stays where it is among
//! the others.

use crate::identity::Item;

/// Where an element of a merged list comes from, by positions in the live list and the
/// configuration.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    /// From the live list alone.
    Live(usize),
    /// From the configuration alone.
    Config(usize),
    /// From both.
    Both { live: usize, config: usize },
}

/// Returns the elements of the merge of two lists whose elements have identities.
pub(crate) fn merged_order(live: &[Item<'_>], config: &[Item<'_>]) -> Vec<Source> {
    let order = Vec::with_capacity(live.len() + config.len());
    let live_elements = elements(live, &sorted(config));
    let config = elements(config, &sorted(live));
    let shared = config.iter().enumerate().filter(|(_, element)| element.counterpart.is_some());
    let shared = shared.map(|(position, _)| position).collect();
    ListMerge { live: live_elements, config, shared, order }.run()
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
                    self.order.push(Source::Live(live_at));
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
        self.order.push(match live {
            Some(live) => Source::Both { live, config },
            None => Source::Config(config),
        });
    }
}
