//! From a structural schema to the arena.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use billhook_apimachinery::value::{footprint, grow};
use billhook_apimachinery::{Dialect, FieldPath, KubernetesVersion};

use super::{
    ANYTHING, Arena, CompiledSchema, Default, Flags, Hint, NO_DEFAULT, NOTHING, Node, NodeId,
    Property, RESOURCE_FIELDS, ResourceField, Step, Target, Types, Unlisted,
    lookup::Lookup,
    spelling::{AROUND, Spelling},
    words::NameWords,
};
use crate::props::{JsonSchemaProps, SchemaOrBool};
use crate::structural::StructuralSchema;

/// How a schema is compiled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompileOptions {
    /// The rules to follow.
    pub dialect: Dialect,
    /// The version of the server to follow.
    pub kubernetes: KubernetesVersion,
    /// Whether the top value is a resource, whose `apiVersion`, `kind` and `metadata` are
    /// implicitly specified (PR-02).
    pub resource_root: bool,
    /// Whether unknown fields are removed at all; false for old definitions with
    /// `preserveUnknownFields: true` (PR-40).
    pub prune: bool,
    /// The path of the schema; schema paths in reports start with it.
    pub base: FieldPath,
}

impl std::default::Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            dialect: Dialect::Kubernetes,
            kubernetes: KubernetesVersion::default(),
            resource_root: true,
            prune: true,
            base: FieldPath::default(),
        }
    }
}

/// The treatment of members that a node does not list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// They are removed (PR-12).
    Prune,
    /// They are kept, as is the content of lists directly below (PR-20, PR-21).
    Keep,
    /// Nothing is removed at any depth: below the fields that every resource has (PR-12), and in
    /// definitions that preserve unknown fields altogether.
    Whole,
}

static NOTHING_NODE: Node = unspecified(NOTHING, Flags(Flags::CAN_PRUNE), Unlisted::Remove);
static ANYTHING_NODE: Node = unspecified(ANYTHING, Flags(0), Unlisted::Keep);

/// A node that lists nothing, and treats everything below as it treats its members.
const fn unspecified(id: NodeId, flags: Flags, unlisted: Unlisted<Target>) -> Node {
    Node {
        id,
        parent: id,
        step: Step::Top,
        flags,
        types: Types::ANY,
        properties: (0, 0),
        branches: (0, 0),
        defaulted: (0, 0),
        defaulted_mask: 0,
        lookup: Lookup::Linear,
        unlisted,
        items: Target::to(id),
        first: Hint::none(),
        path: OnceLock::new(),
    }
}

impl CompiledSchema {
    /// Compiles a schema. Without one, a resource root is treated as if its schema were empty
    /// (PR-02) and any other value as if nothing were specified (PR-11).
    pub fn new(schema: Option<&StructuralSchema>, options: CompileOptions) -> CompiledSchema {
        Self::compile(schema.map(StructuralSchema::root), options)
    }

    /// Compiles a part of a structural schema on its own, without the effects that the rest of the
    /// schema has on it.
    pub fn of_part(part: &JsonSchemaProps, options: CompileOptions) -> CompiledSchema {
        Self::compile(Some(part), options)
    }

    fn compile(schema: Option<&JsonSchemaProps>, options: CompileOptions) -> CompiledSchema {
        let mut lowering = Lowering {
            arena: Arena {
                nodes: vec![NOTHING_NODE.clone(), ANYTHING_NODE.clone()],
                properties: Vec::new(),
                branches: Vec::new(),
                name_words: Vec::new(),
                names: String::new(),
                slots: Vec::new(),
                defaults: Vec::new(),
                defaulted: Vec::new(),
                root: Target::to(NOTHING),
                dialect: options.dialect,
                kubernetes: options.kubernetes,
                wording: options.kubernetes.wording(),
                writes_unset_time: options.dialect == Dialect::Kubernetes
                    && options.kubernetes.writes_unset_time(),
                resource_root: options.resource_root,
                base: options.base,
            },
            whole: HashMap::new(),
            is_branch: false,
        };
        let mode = if options.prune { Mode::Prune } else { Mode::Whole };
        let empty = JsonSchemaProps::default();
        lowering.arena.root = match schema.or(options.resource_root.then_some(&empty)) {
            Some(root) => {
                let node = lowering.node(root, mode, NOTHING, Step::Top, options.resource_root);
                lowering.target(root, node)
            }
            None if options.prune => Target::to(NOTHING),
            None => Target::to(ANYTHING),
        };
        CompiledSchema(Arc::new(lowering.arena))
    }
}

struct Lowering {
    arena: Arena,
    /// Nodes in [`Mode::Whole`] by the address of their schema: an embedded resource that wrongly
    /// has `additionalProperties` (SS-48) needs that schema in two modes, and a chain of them must
    /// not be lowered over and over.
    whole: HashMap<*const JsonSchemaProps, NodeId>,
    /// Whether what is lowered stands under a junctor, where defaults mean nothing.
    is_branch: bool,
}

impl Lowering {
    /// Lowers one node and the nodes below it. Ids are `u32`: a node takes at least a few bytes of
    /// schema and dozens in memory, so they cannot run out.
    fn node(
        &mut self,
        schema: &JsonSchemaProps,
        inherited: Mode,
        parent: NodeId,
        step: Step,
        resource_root: bool,
    ) -> NodeId {
        let address = std::ptr::from_ref(schema);
        let is_shared = inherited == Mode::Whole && !self.is_branch;
        if is_shared && let Some(&node) = self.whole.get(&address) {
            return node;
        }
        let id = NodeId(self.arena.nodes.len() as u32);
        if is_shared {
            self.whole.insert(address, id);
        }
        self.arena.nodes.push(Node { id, parent, step, ..NOTHING_NODE.clone() });
        grow(|| {
            let mode = self.mode(schema, inherited);
            let mut flags = own_flags(schema, inherited);
            let unlisted = self.unlisted(schema, mode, id);
            match unlisted {
                Unlisted::Remove => flags.0 |= Flags::CAN_PRUNE,
                Unlisted::Keep => {}
                Unlisted::Descend(target) => self.inherit(&mut flags, target, true),
            }
            let items = self.items(schema, mode, id);
            self.inherit(&mut flags, items, false);
            let is_resource = resource_root || schema.embedded_resource;
            let implied =
                if is_resource && mode != Mode::Whole { &RESOURCE_FIELDS[..] } else { &[] };
            let properties = self.properties(schema, mode, id, implied, &mut flags);
            let branches = self.branches(schema, id);
            let (defaulted, defaulted_mask) = self.defaulted(properties);
            let lookup = self.lookup(properties);

            let node = self.node_mut(id);
            node.flags = flags;
            // KEP-2332, example 9: anything within reach of preservation may have any type.
            let preserved = inherited == Mode::Keep && mode == Mode::Keep;
            node.types = if preserved { Types::ANY } else { types(schema) };
            node.properties = properties;
            node.branches = branches;
            node.defaulted = defaulted;
            node.defaulted_mask = defaulted_mask;
            node.lookup = lookup;
            node.unlisted = unlisted;
            node.items = items;
        });
        id
    }

    #[expect(clippy::indexing_slicing, reason = "ids are only made together with their node")]
    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.arena.nodes[id.index()]
    }

    fn mode(&self, schema: &JsonSchemaProps, inherited: Mode) -> Mode {
        let resets = || schema.properties.as_ref().is_some_and(|listed| !listed.is_empty());
        match inherited {
            Mode::Whole => Mode::Whole,
            _ if schema.preserves_unknown_fields() => Mode::Keep,
            // KEP-2332: preservation ends at a node that lists properties of its own.
            Mode::Keep if self.arena.dialect == Dialect::Kep && resets() => Mode::Prune,
            mode => mode,
        }
    }

    /// The mode of a listed member or of a map member: on a server pruning resumes there (PR-23),
    /// in the KEP preservation goes on.
    fn member_mode(&self, mode: Mode) -> Mode {
        match (mode, self.arena.dialect) {
            (Mode::Keep, Dialect::Kubernetes) => Mode::Prune,
            (mode, _) => mode,
        }
    }

    fn unlisted(&mut self, schema: &JsonSchemaProps, mode: Mode, id: NodeId) -> Unlisted<Target> {
        match &schema.additional_properties {
            Some(SchemaOrBool::Schema(additional)) => {
                let mode = self.member_mode(mode);
                let node = self.node(additional, mode, id, Step::AdditionalProperties, false);
                Unlisted::Descend(self.target(additional, node))
            }
            Some(SchemaOrBool::Bool(_)) if self.member_mode(mode) == Mode::Prune => {
                Unlisted::Descend(Target::to(NOTHING))
            }
            None if mode == Mode::Prune => Unlisted::Remove,
            _ => Unlisted::Keep,
        }
    }

    fn items(&mut self, schema: &JsonSchemaProps, mode: Mode, id: NodeId) -> Target {
        match schema.items_schema() {
            Some(items) => {
                let node = self.node(items, mode, id, Step::Items, false);
                self.target(items, node)
            }
            None if mode == Mode::Prune => Target::to(NOTHING),
            None => Target::to(ANYTHING),
        }
    }

    /// The members known by name: the listed ones, and the `implied` fields of a resource, which
    /// pruning keeps whole (PR-12).
    fn properties(
        &mut self,
        schema: &JsonSchemaProps,
        mode: Mode,
        id: NodeId,
        implied: &[&str],
        flags: &mut Flags,
    ) -> (u32, u32) {
        let mut properties = Vec::new();
        let member_mode = self.member_mode(mode);
        for (name, listed) in schema.properties.iter().flatten() {
            let mode = if implied.contains(&name.as_str()) { Mode::Whole } else { member_mode };
            let node = self.node(listed, mode, id, Step::Top, false);
            let target = self.target(listed, node);
            properties.push((name.as_str(), true, target));
        }
        let mut shared = None;
        for &name in implied {
            if schema.property(name).is_none() {
                let target = *shared.get_or_insert_with(|| match schema.additional_schema() {
                    Some(additional) => {
                        let step = Step::AdditionalProperties;
                        let node = self.node(additional, Mode::Whole, id, step, false);
                        self.target(additional, node)
                    }
                    None => Target::to(ANYTHING),
                });
                properties.push((name, false, target));
            }
        }
        properties.sort_by_key(|(name, _, _)| *name);

        let start = self.arena.properties.len() as u32;
        let count = properties.len() as u32;
        for (index, (name, listed, target)) in (0..).zip(properties) {
            let position = start + index;
            self.inherit(flags, target, true);
            if listed {
                self.node_mut(target.node).step = Step::Property(position);
            }
            let field = if implied.contains(&name) { ResourceField::named(name) } else { None };
            // Members are expected in the order of their names until another one is seen.
            let next = if index + 1 < count { Hint::new(position + 1) } else { Hint::none() };
            let name_start = self.spell(name);
            self.arena.name_words.push(NameWords::new(name.as_bytes()));
            self.arena.properties.push(Property {
                spelling: Spelling::new(name),
                spelled_length: (name.len() + AROUND) as u32,
                next,
                target,
                index,
                name_start,
                field,
                listed,
            });
        }
        if count > 0 {
            self.node_mut(id).first = Hint::new(start);
        }
        (start, start + count)
    }

    /// Adds a name as it stands in JSON before its value; returns where it starts.
    fn spell(&mut self, name: &str) -> u32 {
        let names = &mut self.arena.names;
        names.push('"');
        let start = names.len() as u32;
        names.push_str(name);
        names.push_str("\":");
        start
    }

    /// Lowers the branches of junctors; nothing is removed there.
    fn branches(&mut self, schema: &JsonSchemaProps, id: NodeId) -> (u32, u32) {
        let outer = std::mem::replace(&mut self.is_branch, true);
        let lower = |(_, _, branch)| self.node(branch, Mode::Whole, id, Step::Top, false);
        let branches: Vec<NodeId> = schema.junctors().map(lower).collect();
        self.is_branch = outer;
        let start = self.arena.branches.len();
        self.arena.branches.extend(branches);
        (start as u32, self.arena.branches.len() as u32)
    }

    fn defaulted(&mut self, properties: (u32, u32)) -> ((u32, u32), u64) {
        let has = |property: &Property| property.listed && property.target.has_default();
        let words = self.arena.properties(properties).chunks(64).map(|properties| {
            let bits = properties.iter().zip(0..);
            bits.fold(0, |word, (property, bit)| word | u64::from(has(property)) << bit)
        });
        let words: Vec<u64> = words.collect();
        let (start, mask) = (self.arena.defaulted.len(), words.first().copied());
        self.arena.defaulted.extend(words);
        ((start as u32, self.arena.defaulted.len() as u32), mask.unwrap_or_default())
    }

    fn lookup(&mut self, properties: (u32, u32)) -> Lookup {
        let mut slots = std::mem::take(&mut self.arena.slots);
        let properties = self.arena.properties(properties).iter();
        let names = properties.map(|property| self.arena.name(property));
        let lookup = Lookup::build(names, &mut slots);
        self.arena.slots = slots;
        lookup
    }

    fn target(&mut self, schema: &JsonSchemaProps, node: NodeId) -> Target {
        let default = schema.default.as_ref().filter(|_| !self.is_branch);
        let default = default.map_or(NO_DEFAULT, |default| {
            let size = footprint(default);
            self.arena.defaults.push(Default { value: default.clone(), size });
            self.arena.defaults.len() as u32 - 1
        });
        Target { node, nullable: schema.nullable, default }
    }

    /// Notes in `flags` the possible changes at `target` and below it; a null there can be removed
    /// only when it is the value of a member (DF-10).
    fn inherit(&self, flags: &mut Flags, target: Target, is_member: bool) {
        flags.0 |= self.arena.node(target.node).node.flags.0 & Flags::INHERITED;
        if target.has_default() {
            flags.0 |= Flags::CAN_DEFAULT;
        }
        if is_member && !target.nullable && !target.has_default() {
            flags.0 |= Flags::CAN_REMOVE_NULL;
        }
    }
}

/// The flags of a node that do not depend on the nodes below it.
fn own_flags(schema: &JsonSchemaProps, inherited: Mode) -> Flags {
    let mut flags = Flags(0);
    if schema.embedded_resource {
        flags.0 |= Flags::EMBEDDED | Flags::HAS_EMBEDDED;
    }
    if schema.preserves_unknown_fields() {
        flags.0 |= Flags::PRESERVES;
    }
    if inherited == Mode::Whole {
        flags.0 |= Flags::WHOLE;
    }
    flags
}

fn types(schema: &JsonSchemaProps) -> Types {
    if schema.int_or_string {
        return Types(Types::INTEGER | Types::STRING);
    }
    match schema.type_.as_str() {
        "boolean" => Types(Types::BOOLEAN),
        "integer" => Types(Types::INTEGER),
        "number" => Types(Types::NUMBER),
        "string" => Types(Types::STRING),
        "array" => Types(Types::ARRAY),
        "object" => Types(Types::OBJECT),
        _ => Types::ANY,
    }
}
