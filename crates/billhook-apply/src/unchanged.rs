//! Recognizes, without making a set, that an applied configuration is what its manager applied
//! before and what the object still has. When in doubt it says no.

use billhook_apimachinery::value::{deep_eq, grow, in_order};
use serde_json::{Map as Object, Value};

use crate::field_set::FieldSet;
use crate::fields_v1::{MEMBER, write_element_key};
use crate::identity::Identity;
use crate::shape::{List, Map, Type};
use crate::type_check::{Duplicates, fits, has_repeated};

/// Whether an object and a configuration fit their type, the object has all that the configuration
/// sets, and `owned`, in FieldsV1, is the set of the configuration without the fields in `unowned`.
pub(crate) fn is_unchanged(
    type_: Type<'_>,
    live: &Value,
    config: &Value,
    owned: &Value,
    unowned: &FieldSet,
) -> bool {
    let top =
        Place { owned: Ownership::Fields(Some(owned)), unowned: Some(unowned), is_member: false };
    matches!(type_, Type::Node(..)) && top.check(type_, live, config, &mut String::new()).is_some()
}

/// The ownership at a place.
#[derive(Clone, Copy)]
enum Ownership<'v> {
    /// The part of FieldsV1 for the place; none if nothing is owned.
    Fields(Option<&'v Value>),
    /// Nobody can own fields there.
    Impossible,
}

impl<'v> Ownership<'v> {
    fn members(self) -> Option<&'v Object<String, Value>> {
        match self {
            Ownership::Fields(fields) => fields.and_then(Value::as_object),
            Ownership::Impossible => None,
        }
    }

    /// Whether this is what is written for a place, given whether something below it is owned.
    fn is(self, is_member: bool, has_members_below: bool) -> bool {
        match self {
            Ownership::Impossible => true,
            Ownership::Fields(None) => !is_member && !has_members_below,
            Ownership::Fields(Some(Value::Object(fields))) if has_members_below => {
                let mark = fields.get(MEMBER);
                mark.is_some() == is_member && mark.is_none_or(is_empty_object)
            }
            Ownership::Fields(Some(fields)) => is_member && is_empty_object(fields),
        }
    }
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Object::is_empty)
}

/// A place in both objects.
struct Place<'v> {
    owned: Ownership<'v>,
    /// The fields below that nobody can own. What has such fields is not owned itself.
    unowned: Option<&'v FieldSet>,
    /// Whether the place is owned itself if anything is.
    is_member: bool,
}

impl<'v> Place<'v> {
    /// Checks the place. Says whether it or something below is owned; none if something differs.
    fn check(
        self,
        type_: Type<'_>,
        live: &Value,
        config: &Value,
        key: &mut String,
    ) -> Option<bool> {
        let whole = || {
            let is_same = deep_eq(live, config) && fits(type_, config, Duplicates::Refused);
            is_same.then_some((false, true))
        };
        let (below, is_member) = match (live, config) {
            (Value::Object(live), Value::Object(config)) => match type_.map() {
                Some(map) if !map.is_atomic => (
                    grow(|| self.members(map, live, config, key))?,
                    self.is_member || config.is_empty(),
                ),
                _ => whole()?,
            },
            (Value::Array(live), Value::Array(config)) => match type_.list() {
                Some(list) if !list.is_atomic() => {
                    (grow(|| self.items(list, live, config, key))?, self.is_member)
                }
                _ => whole()?,
            },
            _ => whole()?,
        };
        let is_member = is_member && self.unowned.is_none();
        self.owned.is(is_member, below).then_some(is_member || below)
    }

    fn members(
        &self,
        map: Map<'_>,
        live: &Object<String, Value>,
        config: &Object<String, Value>,
        key: &mut String,
    ) -> Option<bool> {
        let mut config = in_order(config);
        let mut applied = config.next();
        let mut fields = self.owned.members().map(in_order);
        let mut next_field = || fields.as_mut().and_then(Iterator::next);
        let mut field = next_field();
        if field.is_some_and(|(key, _)| key == MEMBER) {
            field = next_field();
        }
        let (mut types, mut below) = (map.members(), false);
        for (name, live) in in_order(live) {
            let Some((_, config_below)) = applied.filter(|(applied, _)| *applied == name) else {
                let is_fit = self.is_managed_fields(name)
                    || fits(types.find(name)?.type_, live, Duplicates::Allowed);
                is_fit.then_some(())?;
                continue;
            };
            applied = config.next();
            let member = types.find(name)?;
            let own = field.filter(|(key, _)| key.strip_prefix("f:") == Some(name));
            if own.is_some() {
                field = next_field();
            }
            let place = self.below(own.map(|(_, below)| below), name, !member.is_declared);
            below |= place.check(member.type_, live, config_below, key)?;
        }
        (applied.is_none() && field.is_none()).then_some(below)
    }

    /// Whether a member is the one that is not part of the object as managers see it.
    fn is_managed_fields(&self, name: &str) -> bool {
        name == "managedFields"
            && self.unowned.is_some_and(|fields| fields.find(|own| own.cmp_field(name)).is_some())
    }

    /// The place of a member.
    fn below(&self, field: Option<&'v Value>, name: &str, is_member: bool) -> Place<'v> {
        let unowned = self.unowned.and_then(|fields| fields.find(|own| own.cmp_field(name)));
        let owned = match (self.owned, unowned) {
            (Ownership::Impossible, _) => Ownership::Impossible,
            (_, Some(node)) if node.children.is_empty() => Ownership::Impossible,
            _ => Ownership::Fields(field),
        };
        let unowned = unowned.map(|node| &node.children).filter(|fields| !fields.is_empty());
        Place { owned, unowned, is_member }
    }

    /// The elements of the configuration are in the order in which the object has them. `key` is room
    /// for the text of a key.
    fn items(
        &self,
        list: List<'_>,
        live: &[Value],
        config: &[Value],
        key: &mut String,
    ) -> Option<bool> {
        let fields = self.owned.members();
        let mut live_items = live.iter();
        let (mut last, mut is_sorted) = (None::<Identity<'_>>, true);
        let mut next = || {
            let live = live_items.next()?;
            let identity = list.identify(live).ok();
            let is_after = last.zip(identity).is_none_or(|(last, own)| last.cmp(own).is_lt());
            (last, is_sorted) = (identity, is_sorted && is_after);
            Some((live, identity))
        };
        for item in config {
            let identity = list.identify(item).ok()?;
            let live = loop {
                let (live, own) = next()?;
                match own?.cmp(identity).is_eq() {
                    true => break live,
                    false => fits(list.items, live, Duplicates::Allowed).then_some(())?,
                }
            };
            key.clear();
            write_element_key(identity, key);
            let owned = match self.owned {
                Ownership::Fields(_) => {
                    Ownership::Fields(fields.and_then(|it| it.get(key.as_str())))
                }
                Ownership::Impossible => Ownership::Impossible,
            };
            let place = Place { owned, unowned: None, is_member: true };
            place.check(list.items, live, item, key)?;
        }
        while let Some((live, own)) = next() {
            (own.is_some() && fits(list.items, live, Duplicates::Allowed)).then_some(())?;
        }
        let is_repeated = !is_sorted && has_repeated(list, live);
        let count =
            fields.map_or(0, |fields| fields.len() - usize::from(fields.contains_key(MEMBER)));
        let is_covered = matches!(self.owned, Ownership::Impossible) || count == config.len();
        (is_covered && !is_repeated).then_some(!config.is_empty())
    }
}
