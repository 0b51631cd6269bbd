//! The objects of a collection by key, counted.

use std::sync::Arc;

use super::Object;

/// Objects in the order of their keys: a tree that is balanced by the number of objects on each
/// side, so that it also knows how many there are before a key. A clone costs nothing: versions of a
/// tree share what is equal.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects(Option<Arc<Node>>);

#[derive(Clone, Debug)]
struct Node {
    object: Object,
    /// How many objects there are from here down.
    count: usize,
    before: Objects,
    after: Objects,
}

/// How much heavier than the other one a side may be.
const MAX_RATIO: usize = 3;
/// How much heavier than its outer part the inner part of a heavy side may be to be moved as it is.
const MAX_INNER_RATIO: usize = 2;

impl Objects {
    /// Objects in any order; of those with the same key, the last one.
    pub(super) fn of(mut objects: Vec<Object>) -> Self {
        objects.reverse();
        objects.sort_by(|one, other| one.key.cmp(&other.key));
        objects.dedup_by(|later, first| later.key == first.key);
        let count = objects.len();
        Objects::of_sorted(&mut objects.into_iter(), count)
    }

    /// The next objects, so many of them.
    fn of_sorted(objects: &mut impl Iterator<Item = Object>, count: usize) -> Self {
        if count == 0 {
            return Objects::default();
        }
        let before = Objects::of_sorted(objects, count / 2);
        let Some(object) = objects.next() else { return before };
        let after = Objects::of_sorted(objects, count - count / 2 - 1);
        Objects(Some(Arc::new(Node { object, count, before, after })))
    }

    pub(super) fn get(&self, key: &str) -> Option<&Object> {
        let mut node = self.0.as_deref()?;
        loop {
            node = match key.cmp(&*node.object.key) {
                std::cmp::Ordering::Less => node.before.0.as_deref()?,
                std::cmp::Ordering::Greater => node.after.0.as_deref()?,
                std::cmp::Ordering::Equal => return Some(&node.object),
            };
        }
    }

    /// Adds an object, in the place of the one with its key.
    pub(super) fn insert(&mut self, object: Object) {
        let Some(node) = self.0.as_mut().map(Arc::make_mut) else {
            let (before, after) = Default::default();
            self.0 = Some(Arc::new(Node { object, count: 1, before, after }));
            return;
        };
        match object.key.cmp(&node.object.key) {
            std::cmp::Ordering::Less => node.before.insert(object),
            std::cmp::Ordering::Greater => node.after.insert(object),
            std::cmp::Ordering::Equal => node.object = object,
        }
        self.balance();
    }

    pub(super) fn remove(&mut self, key: &str) {
        let Some(node) = self.0.as_mut().map(Arc::make_mut) else { return };
        match key.cmp(&*node.object.key) {
            std::cmp::Ordering::Less => node.before.remove(key),
            std::cmp::Ordering::Greater => node.after.remove(key),
            std::cmp::Ordering::Equal => match node.after.pop_first() {
                Some(next) => node.object = next,
                None => *self = std::mem::take(&mut node.before),
            },
        }
        self.balance();
    }

    fn pop_first(&mut self) -> Option<Object> {
        let node = self.0.as_mut().map(Arc::make_mut)?;
        let first = node.before.pop_first();
        if first.is_some() {
            self.balance();
            return first;
        }
        let first = node.object.clone();
        *self = std::mem::take(&mut node.after);
        Some(first)
    }

    /// How many objects come first for whose keys the same holds, as it does for none after them.
    pub(super) fn count_while(&self, holds: impl Fn(&str) -> bool) -> usize {
        let (mut count, mut rest) = (0, self.0.as_deref());
        while let Some(node) = rest {
            rest = if holds(&node.object.key) {
                count += node.before.count() + 1;
                node.after.0.as_deref()
            } else {
                node.before.0.as_deref()
            };
        }
        count
    }

    /// The objects after the first ones, for whose keys the same holds.
    pub(super) fn skip_while(&self, holds: impl Fn(&str) -> bool) -> Iter<'_> {
        let (mut pending, mut rest) = (Vec::new(), self.0.as_deref());
        while let Some(node) = rest {
            rest = if holds(&node.object.key) {
                node.after.0.as_deref()
            } else {
                pending.push(node);
                node.before.0.as_deref()
            };
        }
        Iter { pending }
    }

    fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |node| node.count)
    }

    fn weight(&self) -> usize {
        self.count() + 1
    }

    /// Counts the objects of a node whose sides have changed by one, and moves some of them to its
    /// other side if there are too many on one.
    fn balance(&mut self) {
        let Some(node) = self.0.as_mut().map(Arc::make_mut) else { return };
        let (before, after) = (node.before.weight(), node.after.weight());
        node.recount();
        if after > MAX_RATIO * before {
            if node.after.has_heavier(|right| (&right.before, &right.after)) {
                node.after.rotate_back();
            }
            self.rotate();
        } else if before > MAX_RATIO * after {
            if node.before.has_heavier(|left| (&left.after, &left.before)) {
                node.before.rotate();
            }
            self.rotate_back();
        }
    }

    /// Whether the inner part is too heavy to be moved as it is.
    fn has_heavier(&self, parts: impl Fn(&Node) -> (&Objects, &Objects)) -> bool {
        self.0
            .as_deref()
            .map(parts)
            .is_some_and(|(inner, outer)| inner.weight() >= MAX_INNER_RATIO * outer.weight())
    }

    /// Lets the node after take the place of this one.
    fn rotate(&mut self) {
        let Some(mut node) = self.0.take() else { return };
        let top = Arc::make_mut(&mut node);
        let Some(mut after) = top.after.0.take() else {
            self.0 = Some(node);
            return;
        };
        let new_top = Arc::make_mut(&mut after);
        top.after = std::mem::take(&mut new_top.before);
        top.recount();
        new_top.before = Objects(Some(node));
        new_top.recount();
        self.0 = Some(after);
    }

    /// Lets the node before take the place of this one.
    fn rotate_back(&mut self) {
        let Some(mut node) = self.0.take() else { return };
        let top = Arc::make_mut(&mut node);
        let Some(mut before) = top.before.0.take() else {
            self.0 = Some(node);
            return;
        };
        let new_top = Arc::make_mut(&mut before);
        top.before = std::mem::take(&mut new_top.after);
        top.recount();
        new_top.after = Objects(Some(node));
        new_top.recount();
        self.0 = Some(before);
    }
}

impl Node {
    fn recount(&mut self) {
        self.count = self.before.count() + self.after.count() + 1;
    }
}

/// Objects in the order of their keys.
pub(super) struct Iter<'o> {
    /// The next node, and those after it that are above it.
    pending: Vec<&'o Node>,
}

impl<'o> Iterator for Iter<'o> {
    type Item = &'o Object;

    fn next(&mut self) -> Option<&'o Object> {
        let node = self.pending.pop()?;
        let mut rest = node.after.0.as_deref();
        while let Some(next) = rest {
            self.pending.push(next);
            rest = next.before.0.as_deref();
        }
        Some(&node.object)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use bytes::Bytes;

    use super::*;
    use crate::storage::Remembered;

    fn object(number: u32) -> Object {
        let (text, remembered) = (Bytes::new(), Remembered::default());
        let key = format!("{number:05}").into();
        Object { key, text, created: 1, modified: 1, remembered }
    }

    fn depth(objects: &Objects) -> usize {
        objects.0.as_ref().map_or(0, |node| depth(&node.before).max(depth(&node.after)) + 1)
    }

    #[test]
    fn trees_of_many_objects_are_those_of_one_after_the_other() {
        for count in [0, 1, 2, 3, 1000] {
            // Each key twice, and in no order.
            let items = (0..2 * count).map(|number| Object {
                modified: number.into(),
                ..object(number * 7919 % count.max(1))
            });
            let mut expected = Objects::default();
            items.clone().for_each(|item| expected.insert(item));
            let built = Objects::of(items.collect());
            let listed = |objects: &Objects| -> Vec<Object> {
                objects.skip_while(|_| false).cloned().collect()
            };
            assert_eq!(listed(&built), listed(&expected));
            assert_eq!(built.count(), count as usize);
            assert!(depth(&built) <= count.max(1).ilog2() as usize + 1);
        }
    }

    #[test]
    fn trees_have_the_objects_of_a_set() {
        let (mut objects, mut expected) = (Objects::default(), BTreeSet::new());
        let mut random = 1_u32;
        for step in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Growing in order, then changing anywhere, then shrinking.
            let number = if step < 5_000 { step } else { (random >> 8) % 6_000 };
            let item = object(number);
            if step >= 5_000 && (random >> 4).is_multiple_of(if step < 15_000 { 2 } else { 1 }) {
                objects.remove(&item.key);
                expected.remove(&item.key);
            } else {
                expected.insert(Arc::clone(&item.key));
                objects.insert(item);
            }
        }
        let keys: Vec<_> = objects.skip_while(|_| false).map(|object| &object.key).collect();
        assert!(keys.iter().copied().eq(&expected));
        assert!(depth(&objects) <= 2 * expected.len().ilog2() as usize + 2);
        for number in (0..6_000).step_by(7) {
            let key = object(number).key;
            assert_eq!(objects.get(&key).is_some(), expected.contains(&key));
            let rank = expected.range(..Arc::clone(&key)).count();
            assert_eq!(objects.count_while(|known| known < &*key), rank);
            let after = objects.skip_while(|known| known < &*key).take(1).last();
            assert_eq!(after.map(|object| &object.key), expected.range(key..).next());
        }
    }
}
