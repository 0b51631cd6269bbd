//! The merge type of every node of a schema (SA-01 to SA-09).

use std::sync::Arc;

use billhook_apimachinery::value::{DeepValue, deep_clone, grow};
use billhook_schema::props::SchemaOrBool;
use billhook_schema::{
    CompileOptions, CompiledSchema, JsonSchemaProps, NodeId, RESOURCE_FIELDS, Unlisted,
};

use crate::edition::EDITIONS;
use crate::resource_fields;

/// How the objects of one version are merged: which parts are owned field by field and which as a
/// whole. Cheap to clone.
///
/// It keeps its own data for the nodes of a [`CompiledSchema`], which says how they hang together.
#[derive(Clone, Debug)]
pub struct MergeSchema(Option<Arc<Layer>>);

/// The merge types of all nodes of a compiled schema.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) schema: CompiledSchema,
    nodes: Vec<MergeType>,
    /// `apiVersion`, `kind` and `metadata` of the resources in the schema, as members of an object.
    pub(crate) resource_fields: Option<Box<Layer>>,
}

/// The scalars that a type admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Numeric,
    String,
    Boolean,
    Any,
}

/// The alternatives of a node (SA-01).
#[derive(Clone, Debug, Default)]
pub(crate) struct MergeType {
    pub(crate) scalar: Option<Scalar>,
    pub(crate) list: Option<ListType>,
    pub(crate) map: Option<MapType>,
}

#[derive(Clone, Debug)]
pub(crate) struct ListType {
    pub(crate) kind: ListKind,
    /// The node of the elements; without one they are untyped and atomic.
    pub(crate) items: Option<NodeId>,
}

/// How the elements of a list are distinguished (SA-04, SA-11).
#[derive(Clone, Debug)]
pub(crate) enum ListKind {
    Atomic,
    Set,
    Keyed(Keys),
}

/// The fields that identify list elements.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// Sorted by name.
    pub(crate) sorted: Box<[KeyField]>,
    pub(crate) as_written: Vec<String>,
    /// Whether an element has no identity unless it has every key field, not just one (KV-84).
    pub(crate) needs_all: bool,
}

/// A field that identifies list elements.
#[derive(Clone, Debug)]
pub(crate) struct KeyField {
    pub(crate) name: Box<str>,
    /// Stands in for the field where it is absent; never null.
    pub(crate) default: Option<DeepValue>,
}

#[derive(Clone, Debug)]
pub(crate) struct MapType {
    pub(crate) is_atomic: bool,
    /// Whether the map is a resource with fields of its own (SA-06).
    pub(crate) is_resource: bool,
    pub(crate) others: Others,
}

/// The type of the members that a map does not declare (SA-03).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Others {
    None,
    Deduced,
    Node(NodeId),
}

impl MergeSchema {
    /// Makes the merge schema of a version: of its schema as written and the same schema compiled
    /// as a resource root. `preserves_unknown_fields` is what the definition says for all of its
    /// versions (SA-05).
    pub fn new(
        schema: &CompiledSchema,
        written: &JsonSchemaProps,
        preserves_unknown_fields: bool,
    ) -> Self {
        let layer = Layer::new(schema, written, preserves_unknown_fields);
        MergeSchema(Some(Arc::new(layer)))
    }

    /// Returns the merge schema of a version without structural schema: every type is deduced from
    /// the values (SA-08).
    pub fn deduced() -> Self {
        MergeSchema(None)
    }

    /// The merge types; none if all types are deduced.
    pub(crate) fn layer(&self) -> Option<&Layer> {
        self.0.as_deref()
    }
}

impl Layer {
    fn new(schema: &CompiledSchema, written: &JsonSchemaProps, preserves: bool) -> Self {
        let nodes = vec![MergeType::default(); schema.node_count()];
        let mut layer = Layer { schema: schema.clone(), nodes, resource_fields: None };
        layer.add(written, schema.root().id(), preserves, schema.is_resource_root());
        if layer.nodes.iter().filter_map(|node| node.map.as_ref()).any(|map| map.is_resource) {
            let written = resource_fields::schema();
            let mut options = CompileOptions::default();
            options.resource_root = false;
            let schema = CompiledSchema::of_part(&written, options);
            layer.resource_fields = Some(Box::new(Layer::new(&schema, &written, preserves)));
        }
        layer
    }

    /// Returns the merge type of a node. One that was not reached has no alternative: it accepts
    /// only null.
    pub(crate) fn merge_type(&self, id: NodeId) -> Option<&MergeType> {
        self.nodes.get(id.index())
    }

    /// Adds the types of a part of the schema. `preserves` says whether unknown fields are
    /// preserved at a place above or everywhere (SA-05).
    fn add(&mut self, part: &JsonSchemaProps, id: NodeId, preserves: bool, is_resource: bool) {
        let preserves = preserves || part.preserves_unknown_fields();
        let is_resource = is_resource || part.embedded_resource;
        let merge_type = self.merge_type_of(part, id, preserves, is_resource);
        if let Some(node) = self.nodes.get_mut(id.index()) {
            *node = merge_type;
        }
        let schema = self.schema.clone();
        for (_, below, id) in schema.node(id).children(part) {
            grow(|| self.add(below, id, preserves, false));
        }
    }

    fn merge_type_of(
        &self,
        part: &JsonSchemaProps,
        id: NodeId,
        preserves: bool,
        is_resource: bool,
    ) -> MergeType {
        let none = MergeType::default();
        let scalar = |scalar| MergeType { scalar: Some(scalar), ..none.clone() };
        let list = || Some(self.list_type(part, id));
        let map = || Some(self.map_type(part, id, preserves, is_resource));
        match part.type_.as_str() {
            "integer" | "number" => scalar(Scalar::Numeric),
            "boolean" => scalar(Scalar::Boolean),
            "string" if matches!(part.format.as_str(), "" | "byte") => scalar(Scalar::String),
            "string" => scalar(Scalar::Any),
            "array" => MergeType { list: list(), ..none },
            "object" => MergeType { map: map(), ..none },
            _ => MergeType { scalar: Some(Scalar::Any), list: list(), map: map() },
        }
    }

    fn list_type(&self, part: &JsonSchemaProps, id: NodeId) -> ListType {
        let items = self.schema.node(id).items();
        let Some(written) = part.items_schema() else {
            return ListType { kind: ListKind::Atomic, items: None };
        };
        let key = |name: &String| KeyField {
            name: name.as_str().into(),
            default: written.property(name).and_then(|_| {
                let default = items.node().property(name)?.edge().default()?;
                (!default.is_null()).then(|| deep_clone(default).into())
            }),
        };
        let kind = match part.list_type.as_deref() {
            Some("set") => ListKind::Set,
            Some("map") => {
                let as_written = part.list_map_keys.clone().unwrap_or_default();
                let mut sorted: Box<[KeyField]> = as_written.iter().map(key).collect();
                sorted.sort_by(|left, right| left.name.cmp(&right.name));
                let needs_all = EDITIONS.of(self.schema.root().kubernetes()).needs_all_keys;
                ListKind::Keyed(Keys { sorted, as_written, needs_all })
            }
            _ => ListKind::Atomic,
        };
        ListType { kind, items: Some(items.node_id()) }
    }

    fn map_type(
        &self,
        part: &JsonSchemaProps,
        id: NodeId,
        preserves: bool,
        is_resource: bool,
    ) -> MapType {
        let lists_nothing = part.properties.as_ref().is_none_or(|listed| listed.is_empty());
        let others = match (&part.additional_properties, self.schema.node(id).unlisted()) {
            (Some(SchemaOrBool::Schema(_)), Unlisted::Descend(edge)) => {
                Others::Node(edge.node_id())
            }
            (Some(SchemaOrBool::Bool(true)), _) => Others::Deduced,
            (Some(_), _) => Others::None,
            (None, _) if preserves || (lists_nothing && !is_resource) => Others::Deduced,
            (None, _) => Others::None,
        };
        let is_atomic = part.map_type.as_deref() == Some("atomic");
        MapType { is_atomic, is_resource, others }
    }
}

/// Whether a member of a resource has the type that all resources give it (SA-06).
pub(crate) fn is_resource_field(name: &str) -> bool {
    RESOURCE_FIELDS.contains(&name)
}
