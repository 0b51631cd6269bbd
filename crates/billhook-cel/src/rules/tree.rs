//! The rules of a schema, each compiled once, for the check of the definition as well as for
//! evaluation (CE-04, CE-20).

use std::collections::BTreeMap;
use std::sync::Arc;

use billhook_apimachinery::value::grow;
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::ValidationRule;

use super::rule::Rule;
use crate::language::schema::SchemaType;

/// The nodes of a schema that have rules or stand above some.
pub(crate) struct RuleTree {
    nodes: Vec<Node>,
    root: NodeId,
}

/// Names a node of one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(usize);

/// A node with the nodes below it.
#[derive(Default)]
pub(crate) struct Node {
    /// The written type.
    pub(crate) type_: Box<str>,
    /// None if CEL has no type for it, or no rule has needed one so far.
    pub(crate) schema: Option<Arc<SchemaType>>,
    /// Whether this node or one above it has no type where a rule needs one.
    pub(crate) is_untyped: bool,
    pub(crate) rules: Vec<Rule>,
    pub(crate) properties: BTreeMap<Box<str>, NodeId>,
    pub(crate) additional: Option<NodeId>,
    pub(crate) items: Option<NodeId>,
}

/// Where the types of a schema begin: they are named after that node, and what a resource shows of
/// itself is known below it only (CE-05).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Types {
    /// At the top, for objects.
    FromTop,
    /// At the highest nodes with rules, for the check of a definition.
    FromRules,
}

impl RuleTree {
    /// Compiles the rules of a structural schema; none if there are none.
    pub(crate) fn new(schema: &JsonSchemaProps, types: Types) -> Option<RuleTree> {
        let mut builder = Builder { nodes: Vec::new(), schemas: Vec::new() };
        let root = builder.add(schema)?;
        let above = Above { is_typed: types == Types::FromTop, is_untyped: false };
        builder.compile(root, None, true, above);
        Some(RuleTree { nodes: builder.nodes, root })
    }

    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    #[expect(clippy::indexing_slicing, reason = "ids are only made together with their node")]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    pub(crate) fn rule_count(&self) -> usize {
        self.nodes.iter().map(|node| node.rules.len()).sum()
    }
}

/// Facts about the nodes above a node.
#[derive(Clone, Copy)]
struct Above {
    /// Whether there are types.
    is_typed: bool,
    is_untyped: bool,
}

struct Builder<'s> {
    nodes: Vec<Node>,
    /// The schema of each node.
    schemas: Vec<&'s JsonSchemaProps>,
}

fn written(schema: &JsonSchemaProps) -> &[ValidationRule] {
    schema.extensions.validations.as_deref().unwrap_or_default()
}

impl<'s> Builder<'s> {
    /// Adds a node if there is a rule at it or below.
    fn add(&mut self, schema: &'s JsonSchemaProps) -> Option<NodeId> {
        let mut node = Node { type_: schema.type_.as_str().into(), ..Node::default() };
        grow(|| {
            for (name, property) in schema.properties.iter().flatten() {
                node.properties.extend(self.add(property).map(|id| (name.as_str().into(), id)));
            }
            node.additional = schema.additional_schema().and_then(|schema| self.add(schema));
            node.items = schema.items_schema().and_then(|schema| self.add(schema));
        });
        let has_rules = !written(schema).is_empty()
            || !node.properties.is_empty()
            || node.additional.is_some()
            || node.items.is_some();
        has_rules.then(|| {
            self.nodes.push(node);
            self.schemas.push(schema);
            NodeId(self.nodes.len() - 1)
        })
    }

    /// Compiles the rules at a node and below; `known` is the type it has in that of the node
    /// above.
    #[expect(clippy::indexing_slicing, reason = "ids are only made together with their node")]
    fn compile(
        &mut self,
        id: NodeId,
        known: Option<&Arc<SchemaType>>,
        is_resource: bool,
        above: Above,
    ) {
        let schema = self.schemas[id.0];
        let is_typed = above.is_typed || !written(schema).is_empty();
        // What expressions can't see from outside has a type for its own rules.
        let own = || SchemaType::of(schema, is_resource).filter(|_| is_typed).map(Arc::new);
        let type_ = known.cloned().or_else(own);
        let is_untyped = above.is_untyped || is_typed && type_.is_none();
        let self_type = type_.as_ref().map(|type_| type_.to_type());
        let rules = written(schema).iter();
        let rules = rules.map(|rule| Rule::new(rule, schema, self_type.as_ref())).collect();

        let node = &mut self.nodes[id.0];
        (node.rules, node.is_untyped) = (rules, is_untyped);
        node.schema.clone_from(&type_);
        let type_ = type_.as_deref();
        let elements = type_.and_then(SchemaType::elements);
        let below = node.properties.iter();
        let below = below.map(|(name, id)| (*id, type_.and_then(|type_| type_.property(name))));
        let below = below.chain(node.additional.map(|id| (id, elements)));
        let below: Vec<_> = below.chain(node.items.map(|id| (id, elements))).collect();
        grow(|| {
            for (id, known) in below {
                let is_resource = self.schemas[id.0].extensions.embedded_resource;
                self.compile(id, known, is_resource, Above { is_typed, is_untyped });
            }
        });
    }
}
