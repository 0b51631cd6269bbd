//! The compiled schema of the members of objects and the elements of lists.

use serde_json::Value;

use super::hints::Hint;
use super::spelling::{self, Spelling};
use super::words::NameWords;
use super::{Edge, NodeId, NodeRef, PropertyRef, ResourceField};

#[derive(Clone, Debug)]
pub(super) struct Property {
    pub(super) spelling: Spelling,
    /// The length of the name with its quotation marks and the colon.
    pub(super) spelled_length: u32,
    /// The property that followed.
    pub(super) next: Hint,
    pub(super) target: Target,
    /// The place among the properties of its node.
    pub(super) index: u32,
    /// The start of the name in the text of all names.
    pub(super) name_start: u32,
    pub(super) field: Option<ResourceField>,
    pub(super) listed: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) node: NodeId,
    /// The default; [`NO_DEFAULT`] if absent.
    pub(super) default: u32,
    pub(super) nullable: bool,
}

impl Property {
    #[inline(always)]
    pub(super) fn name_length(&self) -> usize {
        (self.spelled_length as usize).saturating_sub(spelling::AROUND)
    }

    /// Returns the name, given the text of all names.
    #[inline]
    pub(super) fn name_in<'n>(&self, names: &'n str) -> &'n str {
        let start = self.name_start as usize;
        names.get(start..start + self.name_length()).unwrap_or_default()
    }

    /// Whether this is the name, given the text of all names.
    #[inline]
    pub(super) fn is_named(&self, name: &[u8], names: &str) -> bool {
        let start = self.name_start as usize;
        name.len() + spelling::AROUND == self.spelled_length as usize
            && names.as_bytes().get(start..start + name.len()) == Some(name)
    }
}

pub(super) const NO_DEFAULT: u32 = u32::MAX;

impl Target {
    pub(super) const fn to(node: NodeId) -> Self {
        Target { node, default: NO_DEFAULT, nullable: true }
    }

    pub(super) const fn has_default(self) -> bool {
        self.default != NO_DEFAULT
    }
}

/// The members that a node knows by name, for finding those of one object after the other.
#[derive(Clone, Copy)]
pub struct Members<'s> {
    node: NodeRef<'s>,
    words: &'s [NameWords],
}

/// The members after the expected one that are compared before the name is looked up: of most objects,
/// some members that the schema lists are missing.
const AHEAD: usize = 8;

impl<'s> NodeRef<'s> {
    /// Returns the members known by name.
    #[inline]
    pub fn members(self) -> Members<'s> {
        Members { node: self, words: self.arena.name_words(self.node.properties) }
    }

    /// Returns a table of the members known by name, with something about each.
    pub fn member_table<T>(self, about: impl FnMut(PropertyRef<'s>) -> T) -> MemberTable<T> {
        let words = self.arena.name_words(self.node.properties);
        let rows = words.iter().zip(self.properties().map(about));
        let rows = rows.map(|(words, about)| Row { words: *words, about }).collect();
        let is_long = |name: &str| NameWords::leave_doubt(name.as_bytes());
        let long = |property: PropertyRef<'_>| match property.name() {
            name if is_long(name) => name.into(),
            _ => Box::default(),
        };
        let has_long = self.properties().any(|property| is_long(property.name()));
        let long_names =
            if has_long { self.properties().map(long).collect() } else { Box::default() };
        MemberTable { rows, long_names }
    }
}

impl<'s> Members<'s> {
    /// Finds a member by its name. Objects mostly have their members in the order of their names, so
    /// the search begins at `next`, one past the member that was found last.
    #[inline(always)]
    pub fn find(self, name: &str, next: usize) -> Option<PropertyRef<'s>> {
        let is_next = is_at(self.words, || self.node, name, next);
        let found = if is_next { Some(next) } else { search(self.words, self.node, name, next) };
        self.node.property_at(found?)
    }
}

/// The members that a node knows by name, with something about each.
#[derive(Clone, Debug)]
pub struct MemberTable<T> {
    /// In the order of names.
    rows: Box<[Row<T>]>,
    /// The names that their words leave in doubt, and nothing for the others; empty if there are
    /// none.
    long_names: Box<[Box<str>]>,
}

#[derive(Clone, Debug)]
struct Row<T> {
    words: NameWords,
    about: T,
}

impl<T> Default for MemberTable<T> {
    fn default() -> Self {
        MemberTable { rows: Box::default(), long_names: Box::default() }
    }
}

impl<T> MemberTable<T> {
    /// Returns what is there about each member, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.rows.iter().map(|row| &row.about)
    }

    /// Returns what is there about the member at a position if it has this name.
    #[inline(always)]
    pub fn at(&self, position: usize, name: &str) -> Option<&T> {
        let row = self.rows.get(position)?;
        let is_named = row.words == NameWords::new(name.as_bytes())
            && (!NameWords::leave_doubt(name.as_bytes()) || self.is_long_name(name, position));
        is_named.then_some(&row.about)
    }

    /// Returns whether a name that its words leave in doubt is that of the member at a position.
    #[inline(never)]
    fn is_long_name(&self, name: &str, position: usize) -> bool {
        self.long_names.get(position).is_some_and(|own| **own == *name)
    }

    /// Finds a member of the node of which the table was made, if it is not the one at `next`, and
    /// the position after it. Objects mostly have their members in the order of their names, so the
    /// search begins there.
    #[inline]
    pub fn search<'s>(
        &self,
        node: impl FnOnce() -> NodeRef<'s>,
        name: &str,
        next: usize,
    ) -> (Option<&T>, usize) {
        let words = NameWords::new(name.as_bytes());
        let ahead = self.rows.iter().enumerate().skip(next + 1).take(AHEAD);
        for (position, row) in ahead {
            if row.words == words
                && (!NameWords::leave_doubt(name.as_bytes()) || self.is_long_name(name, position))
            {
                return (Some(&row.about), position + 1);
            }
        }
        if self.rows.is_empty() { (None, next) } else { self.look_up(node(), name, next) }
    }

    #[inline(never)]
    fn look_up(&self, node: NodeRef<'_>, name: &str, next: usize) -> (Option<&T>, usize) {
        let found = node.property(name).map(PropertyRef::position);
        match found.and_then(|position| Some((self.rows.get(position)?, position))) {
            Some((row, position)) => (Some(&row.about), position + 1),
            None => (None, next),
        }
    }
}

#[inline(always)]
fn is_at<'s>(
    names: &[NameWords],
    node: impl Fn() -> NodeRef<'s>,
    name: &str,
    position: usize,
) -> bool {
    let words = NameWords::new(name.as_bytes());
    names.get(position).is_some_and(|own| *own == words) && is_named(node, name, position)
}

/// Returns whether a name that has the words of the member at a position is that member's.
#[inline(always)]
fn is_named<'s>(node: impl Fn() -> NodeRef<'s>, name: &str, position: usize) -> bool {
    !NameWords::leave_doubt(name.as_bytes())
        || node().property_at(position).is_some_and(|own| own.is_named(name))
}

#[inline(never)]
fn search(names: &[NameWords], node: NodeRef<'_>, name: &str, next: usize) -> Option<usize> {
    let words = NameWords::new(name.as_bytes());
    let mut ahead = names.get(next..).unwrap_or_default().iter().take(AHEAD);
    let skipped = ahead.position(|own| *own == words).map(|skipped| next + skipped);
    let found = skipped.filter(|position| is_named(|| node, name, *position));
    found.or_else(|| node.property(name).map(PropertyRef::position))
}

impl<'s> PropertyRef<'s> {
    /// Returns the member's name.
    #[inline]
    pub fn name(self) -> &'s str {
        self.arena.name(self.property)
    }

    /// Returns whether this is the member's name.
    #[inline]
    pub fn is_named(self, name: &str) -> bool {
        self.property.is_named(name.as_bytes(), &self.arena.names)
    }

    /// Returns the position of the member among those its node knows, in the order of names.
    #[inline]
    pub fn position(self) -> usize {
        self.property.index as usize
    }

    /// Which resource field the member is, if its node is a resource.
    #[inline]
    pub fn resource_field(self) -> Option<ResourceField> {
        self.property.field
    }

    /// Returns whether the schema lists the member; otherwise it is a resource field known without
    /// that.
    pub fn is_listed(self) -> bool {
        self.property.listed
    }

    /// Returns the edge to the schema of the member's value.
    #[inline]
    pub fn edge(self) -> Edge<'s> {
        Edge { arena: self.arena, target: &self.property.target }
    }
}

impl<'s> Edge<'s> {
    /// Returns the node of the value.
    #[inline]
    pub fn node(self) -> NodeRef<'s> {
        self.arena.node(self.target.node)
    }

    /// Returns the id of the node of the value.
    #[inline]
    pub fn node_id(self) -> NodeId {
        self.target.node
    }

    /// Returns whether null is allowed here: the schema has `nullable`, or there is no schema.
    #[inline]
    pub fn is_nullable(self) -> bool {
        self.target.nullable
    }

    /// Returns the default, if there is one.
    #[inline]
    pub fn default(self) -> Option<&'s Value> {
        Some(&self.arena.defaults.get(self.target.default as usize)?.value)
    }

    /// Returns a number for the default that no other default of the schema has.
    #[inline]
    pub fn default_id(self) -> Option<usize> {
        self.target.has_default().then_some(self.target.default as usize)
    }

    /// Returns an estimate, in bytes, of the memory that the default takes; nothing if there is none.
    pub fn default_size(self) -> usize {
        self.arena.defaults.get(self.target.default as usize).map_or(0, |default| default.size)
    }
}
