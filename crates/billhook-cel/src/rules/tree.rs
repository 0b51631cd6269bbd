//! The rules of a schema, each compiled once, for the check of the definition as well as for
//! evaluation (CE-04, CE-20).

use std::sync::Arc;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::value::grow;
use billhook_regex::Patterns;
use billhook_schema::props::ValidationRule;
use billhook_schema::{CompiledSchema, JsonSchemaProps, NodeId, SchemaStep};

use super::rule::Rule;
use super::stored::{RuleOptions, StoredExpressions};
use crate::edition::EDITIONS;
use crate::language::schema::SchemaType;

/// The rules at the nodes of a compiled schema.
pub(crate) struct RuleTree {
    schema: CompiledSchema,
    /// None for nodes at and below which there are no rules.
    nodes: Vec<Option<Box<Node>>>,
}

/// A node that has rules or stands above some.
#[derive(Default)]
pub(crate) struct Node {
    /// The written type.
    pub(crate) type_: Box<str>,
    pub(crate) shown: Shown,
    /// None if CEL has no type for it, or no rule has needed one so far.
    pub(crate) schema: Option<Arc<SchemaType>>,
    /// Whether this node or one above it has no type where a rule needs one.
    pub(crate) is_untyped: bool,
    pub(crate) rules: Vec<Rule>,
    /// Whether one of the rules mentions the old value (CE-40).
    pub(crate) uses_old: bool,
    /// Whether there are rules below this node.
    pub(crate) has_rules_below: bool,
}

impl Node {
    /// Whether the node has rules, but CEL has no type for its values.
    pub(crate) fn lacks_type(&self) -> bool {
        self.schema.is_none() && !self.rules.is_empty()
    }
}

/// The part that stands for the value in the error of a violated rule (KV-20).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shown {
    #[default]
    Value,
    /// The written type.
    Type,
    Nothing,
}

impl Shown {
    fn of(type_: &str, kubernetes: KubernetesVersion) -> Self {
        match type_ {
            _ if EDITIONS.of(kubernetes).shows_types => Shown::Type,
            "array" | "object" => Shown::Nothing,
            _ => Shown::Value,
        }
    }
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
    /// Compiles the rules of a structural schema, of which `compiled` was made; none if there are
    /// none. All are taken for stored ones if it is not said which are.
    pub(crate) fn new(
        compiled: &CompiledSchema,
        schema: &JsonSchemaProps,
        types: Types,
        stored: Option<&StoredExpressions>,
    ) -> Option<RuleTree> {
        let mut nodes = Vec::new();
        nodes.resize_with(compiled.node_count(), || None);
        let mut tree = RuleTree { schema: compiled.clone(), nodes };
        if !tree.add(schema, tree.root()) {
            return None;
        }
        let above = Above { is_typed: types == Types::FromTop, is_untyped: false };
        let (kubernetes, patterns) = (compiled.root().kubernetes(), &Patterns::default());
        let options = RuleOptions { kubernetes, stored, patterns };
        tree.compile(schema, tree.root(), None, true, above, options);
        Some(tree)
    }

    /// The schema on whose nodes the rules hang.
    pub(crate) fn schema(&self) -> &CompiledSchema {
        &self.schema
    }

    pub(crate) fn root(&self) -> NodeId {
        self.schema.root_edge().node_id()
    }

    #[expect(clippy::indexing_slicing, reason = "there is an entry for each node of the schema")]
    pub(crate) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes[id.index()].as_deref()
    }

    pub(crate) fn rule_count(&self) -> usize {
        self.nodes.iter().flatten().map(|node| node.rules.len()).sum()
    }

    /// Adds a node if there is a rule at it or below; tells whether there is.
    #[expect(clippy::indexing_slicing, reason = "there is an entry for each node of the schema")]
    fn add(&mut self, schema: &JsonSchemaProps, id: NodeId) -> bool {
        let compiled = self.schema.clone();
        let mut has_rules_below = false;
        grow(|| {
            for (_, part, id) in compiled.node(id).children(schema) {
                has_rules_below |= self.add(part, id);
            }
        });
        let has_rules = has_rules_below || !written(schema).is_empty();
        let type_ = schema.type_.as_str();
        let shown = Shown::of(type_, compiled.root().kubernetes());
        self.nodes[id.index()] = has_rules.then(|| {
            Box::new(Node { type_: type_.into(), shown, has_rules_below, ..Node::default() })
        });
        has_rules
    }

    /// Compiles the rules at a node and below, if there are any; `known` is the type it has in
    /// that of the node above.
    #[expect(clippy::indexing_slicing, reason = "there is an entry for each node of the schema")]
    fn compile(
        &mut self,
        schema: &JsonSchemaProps,
        id: NodeId,
        known: Option<&Arc<SchemaType>>,
        is_resource: bool,
        above: Above,
        options: RuleOptions<'_>,
    ) {
        let Some(node) = &mut self.nodes[id.index()] else { return };
        let is_typed = above.is_typed || !written(schema).is_empty();
        // What expressions can't see from outside has a type for its own rules.
        let own = || SchemaType::of(schema, is_resource, options.kubernetes);
        let own = || own().filter(|_| is_typed).map(Arc::new);
        let type_ = known.cloned().or_else(own);
        let is_untyped = above.is_untyped || is_typed && type_.is_none();
        let self_type = type_.as_ref().map(|type_| type_.to_type());
        let rule = |written| Rule::new(written, schema, self_type.as_ref(), options);
        node.rules = written(schema).iter().map(rule).collect();
        node.uses_old = node.rules.iter().any(|rule| rule.uses_old);
        node.is_untyped = is_untyped;
        node.schema.clone_from(&type_);

        let compiled = self.schema.clone();
        grow(|| {
            for (step, part, id) in compiled.node(id).children(schema) {
                let known = type_.as_deref().and_then(|type_| match step {
                    SchemaStep::Property(name) => type_.property(name),
                    SchemaStep::AdditionalProperties | SchemaStep::Items => type_.elements(),
                });
                let is_resource = part.embedded_resource;
                let above = Above { is_typed, is_untyped };
                self.compile(part, id, known, is_resource, above, options);
            }
        });
    }
}

/// Facts about the nodes above a node.
#[derive(Clone, Copy)]
struct Above {
    /// Whether there are types.
    is_typed: bool,
    is_untyped: bool,
}

fn written(schema: &JsonSchemaProps) -> &[ValidationRule] {
    schema.validations.as_deref().unwrap_or_default()
}
