//! The comparison of two objects: which fields were removed, modified and added (SA-27).

use std::cmp::Ordering;

use billhook_apimachinery::value::{grow, in_order};
use serde_json::Value;

use crate::edit::{Edit, Element, Part};
use crate::field_set::{Below, FieldSet, Node};
use crate::identity::{Identity, Item};
use crate::join::join;
use crate::order::equal;
use crate::path_element::PathElement;
use crate::shape::{List, Map, Shape, Type};
use crate::value_set::{ValueFields, one_sided_fields};

/// The differences between an old and a new object (SA-27).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparison {
    /// The fields that only the old object has.
    pub removed: FieldSet,
    /// The fields with different values.
    pub modified: FieldSet,
    /// The fields that only the new object has.
    pub added: FieldSet,
}

impl Comparison {
    /// Returns whether nothing differs.
    pub fn is_same(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    /// Returns the differences of both comparisons.
    pub(crate) fn union(&self, other: &Comparison) -> Comparison {
        Comparison {
            removed: self.removed.union(&other.removed),
            modified: self.modified.union(&other.modified),
            added: self.added.union(&other.added),
        }
    }

    /// Returns the comparison without the fields of a set and those below them.
    pub(crate) fn without(mut self, excluded: &FieldSet) -> Comparison {
        for fields in [&mut self.removed, &mut self.modified, &mut self.added] {
            fields.subtract(excluded, Below::Goes);
        }
        self
    }
}

/// Compares two objects, which were checked. Most writes leave `spec` or `status` as it was, which is
/// seen sooner without types.
pub(crate) fn compare(type_: Type<'_>, old: &Value, new: &Value) -> Comparison {
    let mut walk = Walk::default();
    match (type_.map(), has_members(old) && has_members(new)) {
        (Some(map), true) if !map.is_atomic => walk.members(map, old, new, equal),
        _ => walk.values(type_, Some(old), Some(new)),
    }
    walk.into_comparison()
}

/// Compares a value with what an edit makes of it.
pub(crate) fn compare_edited(type_: Type<'_>, old: &Value, edit: &Edit<'_>) -> Comparison {
    let mut walk = Walk::default();
    walk.edited(type_, Some(old), edit);
    walk.into_comparison()
}

#[derive(Clone, Copy)]
enum Difference {
    Removed,
    Modified,
    Added,
}

/// Whether two values are known to be the same.
type AreSame = fn(&Value, &Value) -> bool;

/// The differences at one place: what was removed, modified and added.
#[derive(Default)]
struct Walk([Found; 3]);

/// Whether a place is a member of a set, and the members below it.
#[derive(Default)]
struct Found {
    is_member: bool,
    below: Vec<Node>,
}

impl Walk {
    fn into_comparison(self) -> Comparison {
        let [removed, modified, added] = self.0.map(|found| FieldSet::from_unsorted(found.below));
        Comparison { removed, modified, added }
    }

    fn of(&mut self, difference: Difference) -> &mut Found {
        let [removed, modified, added] = &mut self.0;
        match difference {
            Difference::Removed => removed,
            Difference::Modified => modified,
            Difference::Added => added,
        }
    }

    fn note(&mut self, difference: Difference) {
        self.of(difference).is_member = true;
    }

    /// Adds what was found one step below.
    fn add(&mut self, element: impl Fn() -> PathElement, walk: Walk) {
        for (above, Found { is_member, below }) in self.0.iter_mut().zip(walk.0) {
            if is_member || !below.is_empty() {
                let below = FieldSet::from_unsorted(below);
                above.below.push(Node::new(element(), is_member, below));
            }
        }
    }

    /// Compares only where the edit changes something.
    fn edited(&mut self, type_: Type<'_>, old: Option<&Value>, edit: &Edit<'_>) {
        match edit {
            Edit::Set(new) => self.values(type_, old, Some(new)),
            Edit::Made(new) => self.values(type_, old, Some(new)),
            Edit::Remove => self.values(type_, old, None),
            Edit::Parts(edits) => grow(|| self.edited_parts(type_, old, edits.iter())),
            Edit::List(elements) => {
                let Some(list) = type_.list() else { return };
                let old = old.map(items).unwrap_or_default();
                grow(|| self.edited_list(list, old, elements.iter()));
            }
        }
    }

    fn edited_parts<'e>(
        &mut self,
        type_: Type<'_>,
        old: Option<&Value>,
        edits: impl Iterator<Item = &'e (Part<'e>, Edit<'e>)>,
    ) {
        let (mut types, list) = (type_.map().map(Map::members), type_.list());
        for (part, edit) in edits {
            let (old, element, type_) = match *part {
                Part::Member(name) => {
                    let member = types.as_mut().and_then(|types| types.find(name));
                    let old = old.and_then(|old| old.get(name));
                    (old, Some(PathElement::field(name)), member.map(|member| member.type_))
                }
                Part::Item(position) => {
                    let old = old.and_then(|old| old.get(position));
                    let identity = list.zip(old).and_then(|(list, old)| list.identify(old).ok());
                    (old, identity.map(Identity::element), list.map(|list| list.items))
                }
            };
            let Some((element, type_)) = element.zip(type_) else { continue };
            let mut found = Walk::default();
            found.edited(type_, old, edit);
            self.add(|| element.clone(), found);
        }
    }

    fn edited_list<'e>(
        &mut self,
        list: List<'_>,
        old: &[Value],
        elements: impl Iterator<Item = &'e Element<'e>>,
    ) {
        let new = elements.enumerate().filter_map(|(position, Element { from, edit })| {
            let kept = from.map(|from| old.get(from));
            let value = kept.unwrap_or_else(|| edit.as_ref()?.replacement())?;
            // What is kept has the identity that it had.
            let item = Item { identity: list.identify(value).ok()?, value, position };
            let edit = edit.as_ref().filter(|_| kept.is_some());
            Some(NewItem { item, is_kept: kept.is_some(), edit })
        });
        self.groups(list, old, new.collect());
    }

    fn values(&mut self, type_: Type<'_>, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(old), Some(new)) => self.both(type_, old, new),
            (Some(old), None) => self.one_sided(Difference::Removed, type_, old),
            (None, Some(new)) => self.one_sided(Difference::Added, type_, new),
            (None, None) => {}
        }
    }

    fn one_sided(&mut self, difference: Difference, type_: Type<'_>, value: &Value) {
        let ValueFields { is_member, below } = one_sided_fields(type_, value);
        let found = self.of(difference);
        found.is_member |= is_member;
        found.below.extend(below.into_nodes());
    }

    fn both(&mut self, type_: Type<'_>, old: &Value, new: &Value) {
        match (type_.shape(old), type_.shape(new)) {
            (Some(left), Some(right)) if left.is_like(&right) => self.alternative(left, old, new),
            (left, right) => {
                for shape in left.into_iter().chain(right) {
                    self.alternative(shape, old, new);
                }
            }
        }
    }

    fn alternative(&mut self, shape: Shape<'_>, old: &Value, new: &Value) {
        match shape {
            Shape::Map(map) if !map.is_atomic && (has_members(old) || has_members(new)) => {
                grow(|| self.members(map, old, new, |_, _| false));
            }
            Shape::List(list) if !list.is_atomic() && (has_items(old) || has_items(new)) => {
                grow(|| self.items(list, old, new));
            }
            _ if !equal(old, new) => self.note(Difference::Modified),
            _ => {}
        }
    }

    /// Compares the members of two maps, except those that are the same.
    fn members(&mut self, map: Map<'_>, old: &Value, new: &Value, are_same: AreSame) {
        let mut types = map.members();
        for pair in join(members(old), members(new), |l, r| l.0.cmp(r.0)) {
            let (old, new) = pair.into_sides();
            if old.zip(new).is_some_and(|(old, new)| are_same(old.1, new.1)) {
                continue;
            }
            let Some((name, _)) = old.or(new) else { continue };
            let Some(member) = types.find(name) else { continue };
            let mut found = Walk::default();
            found.values(member.type_, old.map(|old| old.1), new.map(|new| new.1));
            self.add(|| PathElement::field(name.as_str()), found);
        }
    }

    fn items(&mut self, list: List<'_>, old: &Value, new: &Value) {
        let new = list.identified(items(new)).into_iter();
        let new = new.map(|item| NewItem { item, is_kept: false, edit: None });
        self.groups(list, items(old), new.collect());
    }

    fn groups(&mut self, list: List<'_>, old: &[Value], mut new: Vec<NewItem<'_>>) {
        let old = list.in_order(old);
        new.sort_by(|left, right| left.item.cmp(&right.item));
        let by_identity = |old: &&[Item<'_>], new: &&[NewItem<'_>]| match (old.first(), new.first())
        {
            (Some(old), Some(new)) => old.cmp(&new.item),
            _ => Ordering::Equal,
        };
        let old = old.chunk_by(Item::is_like);
        let new = new.chunk_by(|left, right| left.item.is_like(&right.item));
        for pair in join(old, new, by_identity) {
            let (old, new) = pair.into_sides();
            let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
            let first = old.first().or(new.first().map(|new| &new.item));
            let Some(identity) = first.map(|first| first.identity) else { continue };
            let mut found = Walk::default();
            found.occurrences(list.items, old, new);
            self.add(|| identity.element(), found);
        }
    }

    /// Compares the elements of one identity; repeated ones count as a whole.
    fn occurrences(&mut self, type_: Type<'_>, old: &[Item<'_>], new: &[NewItem<'_>]) {
        match (old, new) {
            ([old], [NewItem { is_kept: true, edit, .. }]) => {
                if let Some(edit) = edit {
                    self.edited(type_, Some(old.value), edit);
                }
            }
            ([] | [_], [] | [_]) => {
                let (old, new) = (old.first(), new.first());
                self.values(type_, old.map(|old| old.value), new.map(|new| new.item.value));
            }
            ([], _) => self.note(Difference::Added),
            (_, []) => self.note(Difference::Removed),
            (_, [only]) => {
                self.values(type_, None, Some(only.item.value));
                self.note(Difference::Removed);
            }
            ([only], _) => {
                self.values(type_, Some(only.value), None);
                self.note(Difference::Added);
            }
            _ => {
                let is_same = |(old, new): (&Item<'_>, &NewItem<'_>)| {
                    new.edit.is_none() && equal(old.value, new.item.value)
                };
                if old.len() != new.len() || !old.iter().zip(new).all(is_same) {
                    self.note(Difference::Modified);
                }
            }
        }
    }
}

/// An element of the newer list.
struct NewItem<'v> {
    item: Item<'v>,
    /// Whether it is an element of the older list, which an edit may change.
    is_kept: bool,
    edit: Option<&'v Edit<'v>>,
}

/// The members of an object; nothing else has any.
fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().map(in_order).into_iter().flatten()
}

pub(crate) fn has_members(value: &Value) -> bool {
    value.as_object().is_some_and(|members| !members.is_empty())
}

pub(crate) fn has_items(value: &Value) -> bool {
    !items(value).is_empty()
}

/// The elements of a list; nothing else has any.
fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
