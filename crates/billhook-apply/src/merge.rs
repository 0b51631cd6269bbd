//! The merge of an applied configuration into a live object (SA-70, SA-71). Nothing is removed.
//!
//! One walk over both finds what changes, whether they fit their types, and which fields the manager
//! owns more or less than before. Of the last it says nothing when in doubt.

use std::collections::BTreeSet;

use billhook_apimachinery::value::{deep_eq, grow, in_order};
use serde_json::{Map as Object, Value};

use crate::edit::{Edit, Element, Part};
use crate::field_set::{FieldSet, Node};
use crate::fields_v1::{MEMBER, is_empty_object, read_element_key, write_element_key};
use crate::identity::Identity;
use crate::list_order::{Source, merged_order};
use crate::order::equal;
use crate::ownership::{OwnedMembers, Ownership, OwnershipChange, owned_by_apply};
use crate::path_element::PathElement;
use crate::shape::{List, Map, Member, Shape, Type};
use crate::type_check::{Duplicates, fits, is_admitted_scalar};
use crate::value_set::{ValueFields, fields as value_fields};

/// The outcome of a merge.
pub(crate) struct Merge<'c> {
    /// The changes; none if the live object stays as it is.
    pub(crate) edit: Option<Edit<'c>>,
    /// Whether the object is another one then: a number in another notation is the same.
    pub(crate) is_changed: bool,
    /// Whether both objects fit their type, the configuration without repeated elements.
    pub(crate) fits: bool,
    /// The change of the manager's set; none if it is not known.
    pub(crate) ownership: Option<OwnershipChange>,
}

/// The set of the manager of a configuration.
#[derive(Clone, Copy)]
pub(crate) struct Owned<'o> {
    /// In FieldsV1.
    pub(crate) fields: &'o Value,
    /// The fields that no manager owns, even one that sets them.
    pub(crate) never: &'o FieldSet,
}

impl<'c> Merge<'c> {
    /// Finds what the merge of a configuration does; `owned` is part of the live object.
    pub(crate) fn new(
        type_: Type<'_>,
        live: &Value,
        config: &'c Value,
        owned: Option<Owned<'_>>,
    ) -> Self {
        let mut walk = Walk {
            key: String::new(),
            is_changed: false,
            fits: true,
            is_known: owned.is_some(),
            lost: Vec::new(),
            gained: Vec::new(),
        };
        let ownership =
            owned.map_or(Ownership::Unknown, |owned| Ownership::Fields(Some(owned.fields)));
        let never = owned.map(|owned| owned.never);
        let top = Place { owned: ownership, never, is_member: false, above: None };
        let edit = walk.place(type_, live, config, &top);
        let Walk { is_changed, fits, is_known, lost, gained, .. } = walk;
        let ownership = is_known.then(|| OwnershipChange {
            lost: FieldSet::union_all(&lost),
            gained: FieldSet::union_all(&gained),
        });
        Merge { edit, is_changed, fits, ownership }
    }

    /// Whether neither the object nor what the manager owns changes.
    pub(crate) fn changes_nothing(&self) -> bool {
        !self.is_changed && self.ownership.as_ref().is_some_and(OwnershipChange::is_empty)
    }
}

/// A step to a place.
#[derive(Clone, Copy)]
enum Step<'o> {
    Member(&'o str),
    Element(Identity<'o>),
}

impl Step<'_> {
    fn element(self) -> PathElement {
        match self {
            Step::Member(name) => PathElement::field(name),
            Step::Element(identity) => identity.element(),
        }
    }
}

/// How deep changes of ownership are noted one by one.
const MAX_STEPS: usize = 64;

/// A place in both objects.
struct Place<'o> {
    /// The place above and the step from there.
    above: Option<(&'o Place<'o>, Step<'o>)>,
    owned: Ownership<'o>,
    /// The fields below that cannot be owned. What has such fields is not owned itself.
    never: Option<&'o FieldSet>,
    /// Whether the place is owned itself if anything is.
    is_member: bool,
}

impl<'o> Place<'o> {
    /// The place of a member.
    fn member<'p>(&'p self, field: Option<&'p Value>, name: &'p str, is_member: bool) -> Place<'p> {
        let never = self.never_owned(name);
        let owned = match (self.owned, never) {
            (Ownership::Unknown, _) => Ownership::Unknown,
            (_, Some(node)) if node.children.is_empty() => Ownership::Unknown,
            _ => Ownership::Fields(field),
        };
        let never = never.map(|node| &node.children).filter(|fields| !fields.is_empty());
        Place { above: Some((self, Step::Member(name))), owned, never, is_member }
    }

    #[inline]
    fn never_owned(&self, name: &str) -> Option<&'o Node> {
        self.never?.find(|own| own.cmp_field(name))
    }

    /// A set of one step below this place; none if that is too deep.
    fn set_of(&self, node: Node) -> Option<FieldSet> {
        let (mut set, mut place) = (FieldSet::from_sorted(vec![node]), self);
        for _ in 0..MAX_STEPS {
            let Some((above, step)) = place.above else { return Some(set) };
            set = FieldSet::from_sorted(vec![Node::new(step.element(), false, set)]);
            place = above;
        }
        None
    }

    /// Whether a member is the one that is not part of the object as managers see it.
    fn is_managed_fields(&self, name: &str) -> bool {
        name == "managedFields" && self.never_owned(name).is_some()
    }
}

struct Walk {
    /// Room for the text of a key.
    key: String,
    is_changed: bool,
    fits: bool,
    /// Whether `lost` and `gained` are all that changes in the set of the manager.
    is_known: bool,
    lost: Vec<FieldSet>,
    gained: Vec<FieldSet>,
}

impl Walk {
    /// Returns the change of the place.
    fn place<'c>(
        &mut self,
        type_: Type<'_>,
        live: &Value,
        config: &'c Value,
        place: &Place<'_>,
    ) -> Option<Edit<'c>> {
        let shape = type_.shape(config);
        let (edit, is_member, is_leaf) = match (shape, live, config) {
            (Some(Shape::Map(map)), Value::Object(live), Value::Object(config))
                if !map.is_atomic =>
            {
                let edit = grow(|| self.members(map, live, config, place));
                (edit, (place.is_member || config.is_empty()) && place.never.is_none(), false)
            }
            (Some(Shape::List(list)), Value::Array(live), Value::Array(config))
                if !list.is_atomic() =>
            {
                (grow(|| self.items(list, live, config, place)), place.is_member, false)
            }
            _ => (self.whole(type_, shape, live, config), true, true),
        };
        self.is_known &= place.owned.agrees(is_member, is_leaf);
        edit
    }

    /// A value that is replaced if it changes.
    fn whole<'c>(
        &mut self,
        type_: Type<'_>,
        shape: Option<Shape<'_>>,
        live: &Value,
        config: &'c Value,
    ) -> Option<Edit<'c>> {
        let is_same = deep_eq(live, config);
        self.fits &= fits(type_, config, Duplicates::Refused)
            && (is_same || fits(type_, live, Duplicates::Allowed));
        let is_kept = match (shape, live) {
            // Null clears nothing.
            (Some(Shape::Map(map)), Value::Object(live)) => !map.is_atomic && !live.is_empty(),
            (Some(Shape::List(list)), Value::Array(live)) => !list.is_atomic() && !live.is_empty(),
            _ => false,
        };
        if is_same || is_kept {
            return None;
        }
        // The fields of what is new here are not compared with what was owned.
        self.is_known &= !config.is_array() && !config.is_object() || is_atomic(shape);
        self.is_changed |= !equal(live, config);
        Some(Edit::Set(config))
    }

    /// A part that only the live object has.
    fn only_live(&mut self, type_: Type<'_>, live: &Value) {
        self.fits = self.fits && fits(type_, live, Duplicates::Allowed);
    }

    /// A part that only the configuration has.
    fn only_config(&mut self, type_: Type<'_>, config: &Value) {
        self.fits = self.fits && fits(type_, config, Duplicates::Refused);
        self.is_changed = true;
    }

    /// The manager owns a part of the configuration that it did not own before.
    fn gain(&mut self, place: &Place<'_>, step: Step<'_>, is_member: bool, fields: ValueFields) {
        let is_member = is_member || fields.is_member;
        if is_member || !fields.below.is_empty() {
            let gained = place.set_of(Node::new(step.element(), is_member, fields.below));
            self.is_known &= gained.is_some();
            self.gained.extend(gained);
        }
    }

    /// The manager owned a part that the configuration does not have.
    fn lose(
        &mut self,
        place: &Place<'_>,
        element: PathElement,
        below: &Value,
        member: Option<Member<'_>>,
    ) {
        let node = member.and_then(|member| owned_by_apply(element, below, member));
        let lost = node.and_then(|node| place.set_of(node));
        self.is_known &= lost.is_some();
        self.lost.extend(lost);
    }

    fn members<'c>(
        &mut self,
        map: Map<'_>,
        live: &Object<String, Value>,
        config: &'c Object<String, Value>,
        place: &Place<'_>,
    ) -> Option<Edit<'c>> {
        let (mut live, mut config) = (in_order(live), in_order(config));
        let (mut next_live, mut next_config) = (live.next(), config.next());
        let mut fields = OwnedMembers::of(place.owned);
        let (mut types, mut edits) = (map.members(), Vec::new());
        loop {
            match (next_live, next_config) {
                (Some((name, old)), Some((applied, new))) if name == applied => {
                    (next_live, next_config) = (live.next(), config.next());
                    let Some(member) = types.find(name) else {
                        self.fits = false;
                        continue;
                    };
                    let own =
                        fields.find(name, |lost, below| self.lose_member(map, place, lost, below));
                    let is_known_leaf = match own {
                        Some(below) => place.never.is_none() && is_empty_object(below),
                        None => matches!(place.owned, Ownership::Unknown),
                    };
                    if (!is_known_leaf || !is_same_scalar(member.type_, old, new))
                        && let Some(edit) = self.member(member, (old, new), place, (name, own))
                    {
                        edits.push((Part::Member(applied), edit));
                    }
                }
                (Some((name, old)), new) if new.is_none_or(|(applied, _)| name < applied) => {
                    next_live = live.next();
                    if !place.is_managed_fields(name) {
                        match types.find(name) {
                            Some(member) => self.only_live(member.type_, old),
                            None => self.fits = false,
                        }
                    }
                }
                (_, Some((name, new))) => {
                    next_config = config.next();
                    edits.push((Part::Member(name), Edit::Set(new)));
                    let Some(member) = types.find(name) else {
                        self.fits = false;
                        continue;
                    };
                    self.only_config(member.type_, new);
                    let own =
                        fields.find(name, |lost, below| self.lose_member(map, place, lost, below));
                    if matches!(place.owned, Ownership::Unknown) {
                        continue;
                    }
                    self.is_known &= own.is_none() && place.never.is_none();
                    if self.is_known {
                        let fields = value_fields(member.type_, new);
                        self.gain(place, Step::Member(name), !member.is_declared, fields);
                    }
                }
                (_, None) => break,
            }
        }
        fields.rest(|lost, below| self.lose_member(map, place, lost, below));
        Edit::of_parts(edits)
    }

    /// Returns the change of a member of both objects.
    fn member<'c>(
        &mut self,
        member: Member<'_>,
        (live, config): (&Value, &'c Value),
        place: &Place<'_>,
        (name, owned): (&str, Option<&Value>),
    ) -> Option<Edit<'c>> {
        let mut below = place.member(owned, name, !member.is_declared);
        self.is_known &= owned.is_none() || below.owned.members().is_some();
        if matches!(below.owned, Ownership::Fields(None)) && below.never.is_none() {
            let fields = value_fields(member.type_, config);
            self.gain(place, Step::Member(name), below.is_member, fields);
            below.owned = Ownership::Unknown;
        }
        self.place(member.type_, live, config, &below)
    }

    /// The manager owned a member that the configuration does not have; `key` is that of FieldsV1.
    fn lose_member(&mut self, map: Map<'_>, place: &Place<'_>, key: &str, below: &Value) {
        match key.strip_prefix("f:") {
            Some(name) if place.never_owned(name).is_none() => {
                self.lose(place, PathElement::field(name), below, map.member(name));
            }
            _ => self.is_known = false,
        }
    }

    fn items<'c>(
        &mut self,
        list: List<'_>,
        live: &[Value],
        config: &'c [Value],
        place: &Place<'_>,
    ) -> Option<Edit<'c>> {
        let (live_items, items) = (list.identified(live), list.identified(config));
        let are_identified = live_items.len() == live.len() && items.len() == config.len();
        let order = are_identified.then(|| merged_order(&live_items, &items)).flatten();
        let Some(order) = order else {
            self.fits = false;
            return None;
        };
        let stays = |(position, source): (usize, &Source)| source.live == Some(position);
        let is_in_place = order.len() == live.len() && order.iter().enumerate().all(stays);
        if !is_in_place {
            self.is_changed = true;
            let collapsed = collapsed(&order, live);
            collapsed.for_each(|element| self.only_live(list.items, element));
        }
        let mut owned = 0;
        let elements = order.into_iter().map(|source| {
            let old = source.live.and_then(|position| live.get(position));
            let identity = source.config.and_then(|position| Some(items.get(position)?.identity));
            let new = source.config.and_then(|position| config.get(position)).zip(identity);
            let (edit, is_owned) = self.element(list, old, new, place);
            owned += usize::from(is_owned);
            Element { from: source.live, edit }
        });
        let edit = Edit::of_list(is_in_place, elements);
        if owned != place.owned.count() {
            self.lose_items(list, config, place);
        }
        edit
    }

    /// Returns the change of an element, and whether the manager owned it before.
    fn element<'c>(
        &mut self,
        list: List<'_>,
        live: Option<&Value>,
        config: Option<(&'c Value, Identity<'_>)>,
        place: &Place<'_>,
    ) -> (Option<Edit<'c>>, bool) {
        match (live, config) {
            (Some(live), Some(config)) => self.item(list, live, config, place),
            (Some(live), None) => {
                self.only_live(list.items, live);
                (None, false)
            }
            (None, Some((config, identity))) => {
                self.new_item(list, config, identity, place);
                (Some(Edit::Set(config)), false)
            }
            (None, None) => (None, false),
        }
    }

    /// An element that only the configuration has.
    fn new_item(
        &mut self,
        list: List<'_>,
        config: &Value,
        identity: Identity<'_>,
        place: &Place<'_>,
    ) {
        self.only_config(list.items, config);
        match place.owned.of_element(identity, &mut self.key) {
            Ownership::Unknown => {}
            Ownership::Fields(Some(_)) => self.is_known = false,
            Ownership::Fields(None) => {
                let fields = value_fields(list.items, config);
                self.gain(place, Step::Element(identity), true, fields);
            }
        }
    }

    /// The manager owned elements that the configuration does not have.
    fn lose_items(&mut self, list: List<'_>, config: &[Value], place: &Place<'_>) {
        let key = |item| {
            let mut key = String::new();
            write_element_key(list.identify(item).ok()?, &mut key);
            Some(key)
        };
        let applied: BTreeSet<String> = config.iter().filter_map(key).collect();
        let fields = place.owned.members().into_iter().flat_map(in_order);
        for (key, below) in fields.filter(|(key, _)| *key != MEMBER && !applied.contains(*key)) {
            match read_element_key(key) {
                Some(element) => {
                    let member = Member { type_: list.items, is_declared: false };
                    self.lose(place, element, below, Some(member));
                }
                None => self.is_known = false,
            }
        }
    }

    /// Returns the change of an element, and whether the manager owned it before.
    fn item<'c>(
        &mut self,
        list: List<'_>,
        live: &Value,
        (config, identity): (&'c Value, Identity<'_>),
        place: &Place<'_>,
    ) -> (Option<Edit<'c>>, bool) {
        let above = Some((place, Step::Element(identity)));
        let mut owned = place.owned.of_element(identity, &mut self.key);
        let is_new = matches!(owned, Ownership::Fields(None));
        if is_new {
            let fields = value_fields(list.items, config);
            self.gain(place, Step::Element(identity), true, fields);
            owned = Ownership::Unknown;
        }
        let is_owned = matches!(owned, Ownership::Fields(_));
        // Nothing in such an element may be owned; then the element goes with what is in it (SA-73).
        self.is_known &= !is_owned || !identity.omits_keys();
        let below = Place { above, owned, never: None, is_member: true };
        (self.place(list.items, live, config, &below), is_owned)
    }
}

/// The repeated elements in whose place one of the configuration comes.
fn collapsed<'v>(order: &[Source], live: &'v [Value]) -> impl Iterator<Item = &'v Value> {
    let mut is_kept = vec![false; live.len()];
    for position in order.iter().filter_map(|source| source.live) {
        if let Some(is_kept) = is_kept.get_mut(position) {
            *is_kept = true;
        }
    }
    live.iter().zip(is_kept).filter(|(_, is_kept)| !is_kept).map(|(element, _)| element)
}

/// Whether a value stays as it is and is a scalar that fits its type, as most are.
#[inline]
fn is_same_scalar(type_: Type<'_>, live: &Value, config: &Value) -> bool {
    let is_same = match (live, config) {
        (Value::String(live), Value::String(config)) => live == config,
        (Value::Array(_) | Value::Object(_), _) => false,
        _ => deep_eq(live, config),
    };
    is_same && is_admitted_scalar(type_, config)
}

fn is_atomic(shape: Option<Shape<'_>>) -> bool {
    match shape {
        Some(Shape::Map(map)) => map.is_atomic,
        Some(Shape::List(list)) => list.is_atomic(),
        _ => true,
    }
}
