//! The compiled schema: a flat arena of nodes that every walk over objects uses.
//!
//! Differences by place are decided once, when the schema is compiled: the fields every resource
//! has (PR-02, PR-12), preserved parts (PR-20), the dialect. A walk only follows edges.

mod hints;
mod lookup;
mod lower;
mod members;
mod places;
mod spelling;
mod words;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use billhook_apimachinery::value::{DeepValue, Num};
use billhook_apimachinery::{Dialect, KubernetesVersion, Wording};
use billhook_apimachinery::{FieldPath, Segment};
use hints::Hint;
pub use hints::{ExpectedProperty, PreviousProperty};
pub use lower::CompileOptions;
pub use members::{MemberTable, Members};
use members::{NO_DEFAULT, Property, Target};
pub use places::SchemaStep;
use words::NameWords;

/// The fields that every resource has besides those of its schema.
pub const RESOURCE_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// A field that every resource has, at a place where a resource is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceField {
    /// `apiVersion`.
    ApiVersion,
    /// `kind`.
    Kind,
    /// `metadata`.
    Metadata,
}

impl ResourceField {
    fn named(name: &str) -> Option<Self> {
        match name {
            "apiVersion" => Some(ResourceField::ApiVersion),
            "kind" => Some(ResourceField::Kind),
            "metadata" => Some(ResourceField::Metadata),
            _ => None,
        }
    }
}

/// A structural schema in the form that objects are walked with. Cheap to clone, and free to share
/// between threads.
///
/// It never changes what it says. But it learns in which order objects list their members, to find
/// them sooner: those notes are atomic numbers, written in no particular order between threads.
#[derive(Clone)]
pub struct CompiledSchema(Arc<Arena>);

#[derive(Clone)]
struct Arena {
    nodes: Vec<Node>,
    properties: Vec<Property>,
    /// The names of the properties as words, one for each.
    name_words: Vec<NameWords>,
    /// Returns the nodes of the branches of junctors, grouped by node.
    branches: Vec<NodeId>,
    /// The names of the properties, each between quotation marks and with a colon.
    names: String,
    slots: Vec<u32>,
    defaults: Vec<Default>,
    /// Which properties are listed and have a default, a bit for each position, grouped by node.
    defaulted: Vec<u64>,
    root: Target,
    dialect: Dialect,
    kubernetes: KubernetesVersion,
    wording: &'static Wording,
    writes_unset_time: bool,
    resource_root: bool,
    base: FieldPath,
}

#[derive(Clone)]
struct Default {
    /// Shared with the schema as written: defaults within defaults can be most of its text.
    value: DeepValue,
    /// An estimate, in bytes, of the memory that it takes.
    size: usize,
}

/// Names a node of one compiled schema. The ids of a schema are the numbers from zero up, so that
/// others can keep data of their own for each node in a list.
///
/// Each part of a schema as it is written has one node that is reached by listed properties, other
/// members, elements and branches; further ones are reached only by the fields that resources have
/// without listing them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// Returns the id as a number below [`CompiledSchema::node_count`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Nothing is specified: members are removed, elements visited (PR-11, PR-13).
const NOTHING: NodeId = NodeId(0);
/// Everything is kept as it is.
const ANYTHING: NodeId = NodeId(1);
/// The index of the first node that is a part of the schema.
const FIRST_REAL_NODE: usize = 2;

#[derive(Clone, Debug)]
struct Node {
    id: NodeId,
    parent: NodeId,
    step: Step,
    flags: Flags,
    types: Types,
    properties: (u32, u32),
    defaulted: (u32, u32),
    /// The first of those words.
    defaulted_mask: u64,
    branches: (u32, u32),
    lookup: lookup::Lookup,
    unlisted: Unlisted<Target>,
    items: Target,
    /// The property that came first.
    first: Hint,
    /// See [`NodeRef::kept_schema_path`].
    path: OnceLock<Option<Arc<FieldPath>>>,
}

/// The step from a node's parent to it; property names are positions in the property table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Top,
    Property(u32),
    AdditionalProperties,
    Items,
}

/// The treatment of a member that `properties` does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted<T> {
    /// It is removed (PR-12).
    Remove,
    /// It is kept as it is (PR-20).
    Keep,
    /// It is kept and its value is walked (PR-12, PR-20).
    Descend(T),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flags(u8);

impl Flags {
    const EMBEDDED: u8 = 1;
    const PRESERVES: u8 = 2;
    const CAN_PRUNE: u8 = 4;
    const CAN_REMOVE_NULL: u8 = 8;
    const CAN_DEFAULT: u8 = 16;
    const HAS_EMBEDDED: u8 = 32;
    const WHOLE: u8 = 64;
    /// The flags that a node's parent inherits from it.
    const INHERITED: u8 =
        Self::CAN_PRUNE | Self::CAN_REMOVE_NULL | Self::CAN_DEFAULT | Self::HAS_EMBEDDED;

    fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// A set of effects that a walk can have on a value at a node or below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects(u8);

impl Effects {
    /// Nothing.
    pub const NONE: Effects = Effects(0);
    /// Pruning removes a field.
    pub const PRUNE: Effects = Effects(Flags::CAN_PRUNE);
    /// A null is removed.
    pub const REMOVE_NULL: Effects = Effects(Flags::CAN_REMOVE_NULL);
    /// A default is set.
    pub const DEFAULT: Effects = Effects(Flags::CAN_DEFAULT);
    /// The resource fields of an embedded resource are coerced.
    pub const COERCE: Effects = Effects(Flags::HAS_EMBEDDED);

    /// Returns the effects of both sets.
    #[must_use]
    pub const fn and(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }

    /// Returns whether one of the others is among these.
    #[inline(always)]
    pub const fn include(self, other: Effects) -> bool {
        self.0 & other.0 != 0
    }
}

/// The JSON types that a schema's `type` admits; only the KEP dialect looks at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    const BOOLEAN: u8 = 1;
    const INTEGER: u8 = 2;
    const NUMBER: u8 = 4;
    const STRING: u8 = 8;
    const ARRAY: u8 = 16;
    const OBJECT: u8 = 32;
    const ANY: Types = Types(63);

    /// Returns whether a value has one of the types; null has none and is left to validation.
    pub fn admit(self, value: &Value) -> bool {
        let bits = match value {
            Value::Null => return true,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) => match Num::of(number).as_f64().fract() == 0.0 {
                true => Self::INTEGER | Self::NUMBER,
                false => Self::NUMBER,
            },
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        };
        self.0 & bits != 0
    }
}

/// Prints the admitted types, e.g. `integer or string`.
impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["boolean", "integer", "number", "string", "array", "object"];
        let admitted = names.iter().enumerate().filter(|(bit, _)| self.0 & (1 << bit) != 0);
        for (position, (_, name)) in admitted.enumerate() {
            if position > 0 {
                f.write_str(" or ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// A node of a compiled schema.
#[derive(Clone, Copy)]
pub struct NodeRef<'s> {
    arena: &'s Arena,
    node: &'s Node,
}

/// The schema at one place below a node: that of a member or of the elements.
#[derive(Clone, Copy)]
pub struct Edge<'s> {
    arena: &'s Arena,
    target: &'s Target,
}

/// A member that a node knows by name.
#[derive(Clone, Copy)]
pub struct PropertyRef<'s> {
    arena: &'s Arena,
    property: &'s Property,
}

impl CompiledSchema {
    /// Returns the node of the top value.
    pub fn root(&self) -> NodeRef<'_> {
        self.root_edge().node()
    }

    /// Returns the edge to the top value. Its default is never applied (DF-24).
    pub fn root_edge(&self) -> Edge<'_> {
        Edge { arena: &self.0, target: &self.0.root }
    }

    /// Returns the node with an id that a node of this schema has or refers to.
    #[inline]
    pub fn node(&self, id: NodeId) -> NodeRef<'_> {
        self.0.node(id)
    }

    /// Returns whether the top value is a resource, whose `apiVersion`, `kind` and `metadata` are
    /// implicitly specified (PR-02).
    pub fn is_resource_root(&self) -> bool {
        self.0.resource_root
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.0.nodes.len()
    }
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledSchema")
            .field("base", &self.0.base.to_string())
            .field("nodes", &self.0.nodes.len())
            .field("dialect", &self.0.dialect)
            .finish_non_exhaustive()
    }
}

impl Arena {
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "ids are only made together with their node")]
    fn node(&self, id: NodeId) -> NodeRef<'_> {
        NodeRef { arena: self, node: &self.nodes[id.index()] }
    }

    /// The properties of a node.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "ranges are only made together with properties")]
    fn properties(&self, (start, end): (u32, u32)) -> &[Property] {
        &self.properties[start as usize..end as usize]
    }

    /// The names of the properties of a node, as words.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "ranges are only made together with properties")]
    fn name_words(&self, (start, end): (u32, u32)) -> &[NameWords] {
        &self.name_words[start as usize..end as usize]
    }

    #[expect(clippy::indexing_slicing, reason = "positions are only made with their property")]
    fn property(&self, position: u32) -> &Property {
        &self.properties[position as usize]
    }

    fn name(&self, property: &Property) -> &str {
        property.name_in(&self.names)
    }
}

impl<'s> NodeRef<'s> {
    /// Returns the node's id.
    pub fn id(self) -> NodeId {
        self.node.id
    }

    /// Returns the version of the server that the schema was compiled for.
    pub fn kubernetes(self) -> KubernetesVersion {
        self.arena.kubernetes
    }

    /// Returns the wording of errors about objects.
    pub fn wording(self) -> &'static Wording {
        self.arena.wording
    }

    /// Returns whether the metadata of an object is written with `creationTimestamp: null` as long
    /// as the time is not set (KV-01).
    pub fn writes_unset_time(self) -> bool {
        self.arena.writes_unset_time
    }

    /// Returns the dialect that the schema was compiled for.
    pub fn dialect(self) -> Dialect {
        self.arena.dialect
    }

    /// Returns the schema of the member `name`, listed or implied.
    #[inline]
    pub fn property(self, name: &str) -> Option<PropertyRef<'s>> {
        self.property_named(name.as_bytes())
    }

    /// [`NodeRef::property`] for a name that is a part of some text.
    #[inline]
    pub fn property_named(self, name: &[u8]) -> Option<PropertyRef<'s>> {
        let properties = self.arena.properties(self.node.properties);
        let property = self.node.lookup.find(properties, self.arena, name)?;
        Some(PropertyRef { arena: self.arena, property })
    }

    /// Returns the number of members known by name.
    #[inline]
    pub fn property_count(self) -> usize {
        let (start, end) = self.node.properties;
        (end - start) as usize
    }

    /// Returns the member at a position in the order of names.
    #[inline]
    pub(crate) fn property_at(self, position: usize) -> Option<PropertyRef<'s>> {
        let property = self.arena.properties(self.node.properties).get(position)?;
        Some(PropertyRef { arena: self.arena, property })
    }

    /// Which of the first 64 members are listed and were compiled with a default, a bit for each
    /// position.
    #[inline]
    pub(crate) fn defaulted_mask(self) -> u64 {
        self.node.defaulted_mask
    }

    /// [`NodeRef::defaulted_mask`] for all members, 64 in a word.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "ranges are only made together with the words")]
    pub(crate) fn defaulted_words(self) -> &'s [u64] {
        let (start, end) = self.node.defaulted;
        &self.arena.defaulted[start as usize..end as usize]
    }

    /// Returns whether nothing at or below this node can change, so that a walk can skip it.
    #[inline]
    pub fn is_passive(self) -> bool {
        self.node.flags.0 & Flags::INHERITED == 0
    }

    /// Returns all members known by name, in the order of their names.
    pub fn properties(self) -> impl Iterator<Item = PropertyRef<'s>> {
        let properties = self.arena.properties(self.node.properties);
        properties.iter().map(move |property| PropertyRef { arena: self.arena, property })
    }

    /// Returns the treatment of members that are not known by name.
    #[inline]
    pub fn unlisted(self) -> Unlisted<Edge<'s>> {
        match &self.node.unlisted {
            Unlisted::Remove => Unlisted::Remove,
            Unlisted::Keep => Unlisted::Keep,
            Unlisted::Descend(target) => Unlisted::Descend(Edge { arena: self.arena, target }),
        }
    }

    /// Returns the edge to the member `name`: its own schema, or else that of unlisted members.
    #[inline]
    pub fn member(self, name: &str) -> Option<Edge<'s>> {
        match self.property(name) {
            Some(property) => Some(property.edge()),
            None => match self.unlisted() {
                Unlisted::Descend(edge) => Some(edge),
                _ => None,
            },
        }
    }

    /// Returns the edge to the list elements.
    #[inline]
    pub fn items(self) -> Edge<'s> {
        Edge { arena: self.arena, target: &self.node.items }
    }

    /// Returns the nodes of the branches of `not`, `allOf`, `anyOf` and `oneOf`, in the order of
    /// [`JsonSchemaProps::junctors`](crate::JsonSchemaProps::junctors). Only validation looks at
    /// them.
    #[expect(clippy::indexing_slicing, reason = "ranges are only made together with the branches")]
    pub fn branches(self) -> &'s [NodeId] {
        let (start, end) = self.node.branches;
        &self.arena.branches[start as usize..end as usize]
    }

    /// Returns whether nothing is specified here, so that every member is removed.
    pub fn specifies_nothing(self) -> bool {
        self.node.id == NOTHING
    }

    /// Returns whether this is an embedded resource (`x-kubernetes-embedded-resource`).
    #[inline]
    pub fn is_embedded_resource(self) -> bool {
        self.node.flags.has(Flags::EMBEDDED)
    }

    /// Returns whether the schema here has `x-kubernetes-preserve-unknown-fields`.
    pub fn preserves_unknown_fields(self) -> bool {
        self.node.flags.has(Flags::PRESERVES)
    }

    /// Returns whether one of the effects is possible at or below this node.
    #[inline(always)]
    pub fn can(self, effects: Effects) -> bool {
        self.node.flags.has(effects.0)
    }

    /// Returns the members at the positions whose bits are set in a word.
    #[inline]
    pub(crate) fn properties_in(
        self,
        word: usize,
        mut bits: u64,
    ) -> impl Iterator<Item = PropertyRef<'s>> {
        std::iter::from_fn(move || {
            let bit = (bits != 0).then_some(bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            self.property_at(64 * word + bit)
        })
    }

    /// Returns the node this one is written in; none for the root.
    pub fn parent(self) -> Option<NodeRef<'s>> {
        (self.node.step != Step::Top).then(|| self.arena.node(self.node.parent))
    }

    /// Returns the JSON types that the schema admits here.
    pub fn types(self) -> Types {
        self.node.types
    }

    /// [`NodeRef::schema_path`], made at most once and kept with the schema; none where it is so
    /// long that keeping it would not pay.
    pub fn kept_schema_path(self) -> Option<Arc<FieldPath>> {
        const LONGEST: usize = 32;
        let make = || Some(self.schema_path()).filter(|path| path.segments().count() <= LONGEST);
        self.node.path.get_or_init(|| make().map(Arc::new)).clone()
    }

    /// Returns the schema path of this node, from the base path given when the schema was compiled.
    pub fn schema_path(self) -> FieldPath {
        let mut segments = Vec::new();
        let mut node = self.node;
        loop {
            let (keyword, name) = match node.step {
                Step::Top => break,
                Step::Property(property) => {
                    ("properties", Some(self.arena.name(self.arena.property(property))))
                }
                Step::AdditionalProperties => ("additionalProperties", None),
                Step::Items => ("items", None),
            };
            segments.extend(name.map(Segment::Key));
            segments.push(Segment::Name(keyword));
            node = self.arena.node(node.parent).node;
        }
        let mut path = self.arena.base.clone();
        path.extend(segments.into_iter().rev());
        path
    }
}
