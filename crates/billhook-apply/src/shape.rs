//! The type at one place of an object, and the alternatives for a value there: a scalar, a list, a map
//! (SA-01, SA-07).

use billhook_schema::NodeId;
use serde_json::Value;

use crate::path_element::PathElement;
use crate::schema::{
    Keys, Layer, ListKind, ListType, MapType, MergeSchema, Others, Scalar, is_resource_field,
};

/// The type at a place.
#[derive(Clone, Copy)]
pub(crate) enum Type<'s> {
    Node(&'s Layer, NodeId),
    /// Whatever the value is; lists atomic, maps granular (SA-07).
    Deduced,
    /// Whatever the value is, as a whole (SA-07).
    UntypedAtomic,
}

/// One alternative of a type.
#[derive(Clone, Copy)]
pub(crate) enum Shape<'s> {
    Scalar(Scalar),
    List(List<'s>),
    Map(Map<'s>),
}

/// The elements of a list are identified and walked one by one, or the list is one value.
#[derive(Clone, Copy)]
pub(crate) struct List<'s> {
    pub(crate) kind: ListKindRef<'s>,
    pub(crate) items: Type<'s>,
}

#[derive(Clone, Copy)]
pub(crate) enum ListKindRef<'s> {
    Atomic,
    Set,
    Keyed(&'s Keys),
}

#[derive(Clone, Copy)]
pub(crate) struct Map<'s> {
    pub(crate) is_atomic: bool,
    members: MemberTypes<'s>,
}

#[derive(Clone, Copy)]
enum MemberTypes<'s> {
    Node(&'s Layer, NodeId, &'s MapType),
    All(Type<'s>),
}

/// A member of a map.
#[derive(Clone, Copy)]
pub(crate) struct Member<'s> {
    pub(crate) type_: Type<'s>,
    /// Whether the schema lists it by name.
    pub(crate) is_declared: bool,
}

impl MergeSchema {
    /// The type of the whole object.
    pub(crate) fn root(&self) -> Type<'_> {
        match self.layer() {
            Some(layer) => Type::Node(layer, layer.schema.root().id()),
            None => Type::Deduced,
        }
    }
}

impl<'s> Type<'s> {
    pub(crate) fn scalar(self) -> Option<Scalar> {
        match self {
            Type::Node(layer, id) => layer.merge_type(id)?.scalar,
            Type::Deduced | Type::UntypedAtomic => Some(Scalar::Any),
        }
    }

    pub(crate) fn list(self) -> Option<List<'s>> {
        let (layer, id) = match self {
            Type::Node(layer, id) => (layer, id),
            other => return Some(List { kind: ListKindRef::Atomic, items: other }),
        };
        let ListType { kind, items } = layer.merge_type(id)?.list.as_ref()?;
        let kind = match kind {
            ListKind::Atomic => ListKindRef::Atomic,
            ListKind::Set => ListKindRef::Set,
            ListKind::Keyed(keys) => ListKindRef::Keyed(keys),
        };
        let items = items.map_or(Type::UntypedAtomic, |items| Type::Node(layer, items));
        Some(List { kind, items })
    }

    pub(crate) fn map(self) -> Option<Map<'s>> {
        Some(match self {
            Type::Node(layer, id) => {
                let map = layer.merge_type(id)?.map.as_ref()?;
                Map { is_atomic: map.is_atomic, members: MemberTypes::Node(layer, id, map) }
            }
            Type::Deduced => Map { is_atomic: false, members: MemberTypes::All(self) },
            Type::UntypedAtomic => Map { is_atomic: true, members: MemberTypes::All(self) },
        })
    }

    /// Returns the alternative of a value: that of its own shape, or else the first there is.
    pub(crate) fn shape(self, value: &Value) -> Option<Shape<'s>> {
        let own = match value {
            Value::Null => None,
            Value::Array(_) => self.list().map(Shape::List),
            Value::Object(_) => self.map().map(Shape::Map),
            _ => self.scalar().map(Shape::Scalar),
        };
        own.or_else(|| self.first_shape())
    }

    /// Returns the first alternative there is.
    pub(crate) fn first_shape(self) -> Option<Shape<'s>> {
        let scalar = || self.scalar().map(Shape::Scalar);
        let list = || self.list().map(Shape::List);
        self.map().map(Shape::Map).or_else(scalar).or_else(list)
    }

    /// Returns the type one step down, if there is one.
    pub(crate) fn step(self, element: &PathElement) -> Option<Member<'s>> {
        use crate::path_element::PathElementKind::Field;
        match element.kind() {
            Field(name) => self.map()?.member(name),
            _ => Some(Member { type_: self.list()?.items, is_declared: false }),
        }
    }
}

impl Shape<'_> {
    /// Whether two alternatives of the same type are the same one.
    pub(crate) fn is_like(&self, other: &Shape<'_>) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl List<'_> {
    pub(crate) fn is_atomic(self) -> bool {
        matches!(self.kind, ListKindRef::Atomic)
    }
}

impl<'s> Map<'s> {
    /// Whether nothing is known about the members.
    pub(crate) fn is_deduced(self) -> bool {
        match self.members {
            MemberTypes::All(_) => true,
            MemberTypes::Node(layer, id, map) => {
                let mut properties = layer.schema.node(id).properties();
                matches!(map.others, Others::Deduced)
                    && !map.is_resource
                    && !properties.any(|property| property.is_listed())
            }
        }
    }

    /// Returns the type of a member; none if the schema has none for it.
    pub(crate) fn member(self, name: &str) -> Option<Member<'s>> {
        self.members().find(name)
    }

    /// Returns the types of the members, for finding those of one object after the other.
    pub(crate) fn members(self) -> Members<'s> {
        let other = |type_| Some(Member { type_, is_declared: false });
        let (layer, id, map) = match self.members {
            MemberTypes::Node(layer, id, map) => (layer, id, map),
            MemberTypes::All(type_) => {
                return Members { resource: None, listed: None, others: other(type_), next: 0 };
            }
        };
        let others = match map.others {
            Others::None => None,
            Others::Deduced => other(Type::Deduced),
            Others::Node(id) => other(Type::Node(layer, id)),
        };
        let resource = layer.resource_fields.as_deref().filter(|_| map.is_resource);
        let listed = Some((layer, layer.schema.node(id).members()));
        Members { resource, listed, others, next: 0 }
    }
}

/// The types of the members of a map. Mostly they are asked for in the order of their names.
pub(crate) struct Members<'s> {
    /// The fields that all resources have, if the map is one.
    resource: Option<&'s Layer>,
    listed: Option<(&'s Layer, billhook_schema::Members<'s>)>,
    others: Option<Member<'s>>,
    /// The position after the one that was found last.
    next: usize,
}

impl<'s> Members<'s> {
    /// Returns the type of a member; none if the schema has none for it.
    pub(crate) fn find(&mut self, name: &str) -> Option<Member<'s>> {
        if let Some(fields) = self.resource.filter(|_| is_resource_field(name)) {
            let id = fields.schema.root().property(name)?.edge().node_id();
            return Some(Member { type_: Type::Node(fields, id), is_declared: true });
        }
        let Some((layer, listed)) = self.listed else { return self.others };
        match listed.find(name, self.next).filter(|property| property.is_listed()) {
            Some(property) => {
                self.next = property.position() + 1;
                let type_ = Type::Node(layer, property.edge().node_id());
                Some(Member { type_, is_declared: true })
            }
            None => self.others,
        }
    }
}
