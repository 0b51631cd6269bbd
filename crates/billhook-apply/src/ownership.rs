//! The set of a manager beside the configuration that it applies: which fields it owns at a place, and
//! which it gives up or owns newly.

use billhook_apimachinery::value::{InOrder, in_order};
use serde_json::{Map as Object, Value};

use crate::field_set::{FieldSet, Node};
use crate::fields::{Fields, is_member};
use crate::fields_v1::{MEMBER, is_current_part, is_empty_object, write_element_key};
use crate::identity::Identity;
use crate::path_element::PathElement;
use crate::shape::Member;
use crate::value_set::is_node_of_apply;

/// The fields that a manager gives up, and those that it owns newly.
pub(crate) struct OwnershipChange {
    /// As an apply makes sets; see [`MergeSchema::is_of_apply`](crate::schema::MergeSchema).
    pub(crate) lost: FieldSet,
    pub(crate) gained: FieldSet,
}

impl OwnershipChange {
    pub(crate) fn is_empty(&self) -> bool {
        self.lost.is_empty() && self.gained.is_empty()
    }

    /// Makes the change of a set.
    pub(crate) fn make(&self, fields: &mut Fields) {
        fields.subtract(&self.lost);
        fields.add(&self.gained);
    }

    /// Takes the change back.
    pub(crate) fn undo(&self, fields: &mut Fields) {
        fields.subtract(&self.gained);
        fields.add(&self.lost);
    }
}

/// The ownership at a place.
#[derive(Clone, Copy)]
pub(crate) enum Ownership<'o> {
    /// The part of FieldsV1 for the place; none if nothing is owned.
    Fields(Option<&'o Value>),
    /// Nobody can own fields there, or it is not known who does.
    Unknown,
}

impl<'o> Ownership<'o> {
    pub(crate) fn members(self) -> Option<&'o Object<String, Value>> {
        match self {
            Ownership::Fields(fields) => fields.and_then(Value::as_object),
            Ownership::Unknown => None,
        }
    }

    /// The ownership of a list element; `key` is room for the text of its key.
    pub(crate) fn of_element(self, identity: Identity<'_>, key: &mut String) -> Ownership<'o> {
        let Ownership::Fields(fields) = self else { return self };
        let fields = fields.and_then(Value::as_object);
        Ownership::Fields(fields.and_then(|fields| {
            key.clear();
            write_element_key(identity, key);
            fields.get(key.as_str())
        }))
    }

    /// How many steps below are owned, or have something owned below.
    pub(crate) fn count(self) -> usize {
        let count = |fields: &Object<String, Value>| {
            fields.len() - usize::from(fields.contains_key(MEMBER))
        };
        self.members().map_or(0, count)
    }

    /// Whether what is written for a place says the same of the place itself. What is below a leaf
    /// is not looked at by anything else.
    pub(crate) fn agrees(self, is_member: bool, is_leaf: bool) -> bool {
        match self {
            Ownership::Unknown | Ownership::Fields(None) => true,
            Ownership::Fields(Some(Value::Object(fields))) if fields.is_empty() => is_member,
            Ownership::Fields(Some(Value::Object(fields))) => {
                let mark = fields.get(MEMBER);
                !is_leaf
                    && mark.is_some() == is_member
                    && mark.is_none_or(|mark| is_empty_object(mark) && fields.len() > 1)
            }
            Ownership::Fields(Some(_)) => false,
        }
    }
}

/// The members in the ownership at a place, to be asked for in the order of their names.
pub(crate) struct OwnedMembers<'o> {
    fields: Option<InOrder<'o>>,
    next: Option<(&'o String, &'o Value)>,
}

impl<'o> OwnedMembers<'o> {
    pub(crate) fn of(owned: Ownership<'o>) -> Self {
        let mut members = OwnedMembers { fields: owned.members().map(in_order), next: None };
        members.advance();
        if members.next.is_some_and(|(key, _)| key == MEMBER) {
            members.advance();
        }
        members
    }

    fn advance(&mut self) {
        self.next = self.fields.as_mut().and_then(Iterator::next);
    }

    /// Finds a member; those before it that were not asked for go to `others`.
    pub(crate) fn find(
        &mut self,
        name: &str,
        mut others: impl FnMut(&str, &Value),
    ) -> Option<&'o Value> {
        loop {
            let (key, below) = self.next?;
            match key.strip_prefix("f:") {
                Some(own) if own == name => {
                    self.advance();
                    return Some(below);
                }
                Some(own) if own > name => return None,
                _ => others(key, below),
            }
            self.advance();
        }
    }

    /// Passes on the members that were not asked for.
    pub(crate) fn rest(mut self, mut others: impl FnMut(&str, &Value)) {
        while let Some((key, below)) = self.next {
            others(key, below);
            self.advance();
        }
    }
}

/// Returns a step that an apply owned, with what is written below it; none if no apply writes that.
pub(crate) fn owned_by_apply(
    element: PathElement,
    below: &Value,
    member: Member<'_>,
) -> Option<Node> {
    let fields = below.as_object().filter(|_| is_current_part(Some(member.type_), below))?;
    let children = FieldSet::from_fields_v1(below).ok()?;
    let node = Node::new(element, is_member(fields), children);
    is_node_of_apply(member, &node).then_some(node)
}
