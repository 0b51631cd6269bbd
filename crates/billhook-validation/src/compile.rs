//! From a schema as written to the demands of its nodes (VV-02, SS-91), one for each node of the
//! compiled schema, which says how the nodes hang together.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

use billhook_apimachinery::Wording;
use billhook_apimachinery::value::grow;
use billhook_regex::{OutOfSteps, Pattern, Patterns, Steps};
use billhook_schema::props::SchemaOrBool;
use billhook_schema::{CompiledSchema, JsonSchemaProps, NodeId, NodeRef, SchemaStep};
use serde_json::Value;

use crate::enums::Enum;
use crate::formats::{Checker, Format};
use crate::list_type::ListType;
use crate::members::{self, Member, Members};
use crate::numbers::{Bound, Context, Numbers};
use crate::types::{self, Kinds, TypeList};

/// Which form of a schema is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaForm {
    /// As written, for objects (VV-02).
    Written,
    /// The structural form, for defaults (SS-91).
    Structural,
}

/// The demands of all nodes of a compiled schema.
#[derive(Debug)]
pub(crate) struct Arena {
    schema: CompiledSchema,
    nodes: Vec<Node>,
    wording: &'static Wording,
}

/// The demands of one node of a schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) types: TypeList,
    /// The kinds of which all values have the right type.
    pub(crate) accepted: Kinds,
    /// The kinds of which all values are valid.
    pub(crate) plain: Kinds,
    /// The kinds of which all values have the right type and meet junctors and enum.
    pub(crate) direct: Kinds,
    /// As written; empty if it has no effect (VV-02).
    pub(crate) format: Box<str>,
    pub(crate) checker: Option<Checker>,
    pub(crate) nullable: bool,
    /// The keywords of the kinds that values have; most nodes have few of them.
    pub(crate) junctors: Option<Box<Junctors>>,
    pub(crate) strings: Option<Box<Strings>>,
    pub(crate) numbers: Option<Box<Numbers>>,
    pub(crate) counts: Option<Box<Counts>>,
    pub(crate) enum_: Enum,
    pub(crate) required: Box<[Box<str>]>,
    pub(crate) members: Members,
    pub(crate) items: Option<NodeId>,
    pub(crate) additional: Additional,
    /// Whether the written type is `array`.
    pub(crate) is_array: bool,
    pub(crate) list: ListType,
    /// Whether this node or one below it is a list set or a list map.
    pub(crate) has_list_type: bool,
    /// Whether this node or one below it has rules in CEL.
    pub(crate) has_rules: bool,
    /// Whether the path to it has no name: that of the top, and of a property without a name there
    /// (VV-84).
    pub(crate) is_unnamed: bool,
}

impl Node {
    /// For nodes that no walk over values reaches: no value is valid.
    fn unreachable() -> Node {
        Node { types: TypeList::One("".into()), ..Node::default() }
    }

    /// Whether null has the right type (VV-04).
    pub(crate) fn admits_null(&self) -> bool {
        self.types.is_empty() || self.nullable || self.types.names() == "null"
    }

    /// Whether a value has the right type (VV-04, VV-10).
    #[inline(never)]
    pub(crate) fn admits_type(&self, value: &Value) -> bool {
        match value {
            Value::Null => self.admits_null(),
            value => types::check(&self.types, &self.format, value).is_ok(),
        }
    }

    /// The kinds of which all values have the right type and meet junctors and enum.
    fn find_direct(&self) -> Kinds {
        match &self.junctors {
            _ if !self.enum_.is_empty() => Kinds::default(),
            Some(junctors) => self.accepted.and(junctors.admitted),
            None => self.accepted,
        }
    }

    /// The kinds of which all values are valid.
    fn find_plain(&self, has_properties: bool) -> Kinds {
        let mut plain = self.direct;
        if self.strings.is_some() || self.checker.is_some() {
            plain = plain.without(Kinds::STRING);
        }
        if self.numbers.as_ref().is_some_and(|numbers| !numbers.admits_all_ints()) {
            plain = plain.without(Kinds::INT);
        }
        if self.numbers.is_some() {
            plain = plain.without(Kinds::FLOAT);
        }
        if self.items.is_some() || self.counts.is_some() {
            plain = plain.without(Kinds::ARRAY);
        }
        let has_members = has_properties || self.additional != Additional::Anything;
        if has_members || !self.required.is_empty() || self.counts.is_some() {
            plain = plain.without(Kinds::OBJECT);
        }
        plain
    }
}

/// `allOf`, `anyOf`, `oneOf` and `not`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Junctors {
    pub(crate) any_of: Vec<NodeId>,
    pub(crate) one_of: Vec<NodeId>,
    pub(crate) all_of: Vec<NodeId>,
    pub(crate) not: Vec<NodeId>,
    /// The kinds of which all values are valid here.
    pub(crate) admitted: Kinds,
}

/// The keywords of strings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    pub(crate) max_length: Option<i64>,
    pub(crate) min_length: Option<i64>,
    pub(crate) pattern: Option<TextPattern>,
}

/// An error in a text.
pub(crate) enum TextFault<'s> {
    TooLong(i64),
    TooShort(i64),
    Mismatch(&'s TextPattern),
    /// Matching takes too many steps (VV-22).
    TooHard(&'s TextPattern),
}

impl Strings {
    /// The first thing that is wrong with a text (VV-20 to VV-22).
    pub(crate) fn fault(&self, text: &str, steps: &Cell<Steps>) -> Option<TextFault<'_>> {
        if let Some(max) = self.max_length
            && is_longer(text, max)
        {
            return Some(TextFault::TooLong(max));
        }
        if let Some(min) = self.min_length
            && is_shorter(text, min)
        {
            return Some(TextFault::TooShort(min));
        }
        let pattern = self.pattern.as_ref()?;
        let mut left = steps.get();
        let is_match = pattern.is_match(text, &mut left);
        steps.set(left);
        match is_match {
            Ok(true) => None,
            Ok(false) => Some(TextFault::Mismatch(pattern)),
            Err(_) => Some(TextFault::TooHard(pattern)),
        }
    }
}

/// Whether a text has more than `count` characters.
fn is_longer(text: &str, count: i64) -> bool {
    text.len() as i64 > count && text.chars().count() as i64 > count
}

/// Returns whether a text has fewer than `count` characters, each of which takes four bytes at
/// most.
fn is_shorter(text: &str, count: i64) -> bool {
    ((text.len() / 4) as i64) < count && (text.chars().count() as i64) < count
}

/// A pattern, or why it cannot be used.
#[derive(Clone, Debug)]
pub(crate) enum TextPattern {
    Valid(Pattern),
    /// The pattern as written, and why it does not compile; no text matches it (VV-22).
    Invalid(String, String),
}

impl TextPattern {
    #[inline]
    fn is_match(&self, text: &str, steps: &mut Steps) -> Result<bool, OutOfSteps> {
        match self {
            TextPattern::Valid(pattern) => pattern.is_match_within(text, steps),
            TextPattern::Invalid(..) => Ok(false),
        }
    }
}

/// Prints the pattern as written and, if it is invalid, the reason (VV-22).
impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextPattern::Valid(pattern) => f.write_str(pattern.as_str()),
            TextPattern::Invalid(pattern, error) => {
                write!(f, "{pattern}, but pattern is invalid: {error}")
            }
        }
    }
}

/// The keywords that count elements and members.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) items: Bounds,
    pub(crate) unique_items: bool,
    pub(crate) properties: Bounds,
}

/// How few and how many there may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) min: Option<i64>,
    pub(crate) max: Option<i64>,
}

impl Bounds {
    pub(crate) fn admit(self, count: usize) -> bool {
        let count = count as i64;
        self.min.is_none_or(|min| count >= min) && self.max.is_none_or(|max| count <= max)
    }
}

/// The demands on members that are not listed (VV-35).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Additional {
    #[default]
    Anything,
    Forbidden,
    Schema(NodeId),
}

impl Arena {
    /// The demands of a schema that was compiled from one as it is written.
    pub(crate) fn new(
        compiled: &CompiledSchema,
        schema: &JsonSchemaProps,
        form: SchemaForm,
    ) -> Self {
        let mut builder = Builder {
            compiled,
            nodes: vec![Node::unreachable(); compiled.node_count()],
            form,
            patterns: Patterns::default(),
            checkers: HashMap::new(),
        };
        builder.node(schema, compiled.root_edge().node_id(), false);
        builder.mark_unnamed();
        let wording = compiled.root().wording();
        Arena { schema: compiled.clone(), nodes: builder.nodes, wording }
    }

    /// The schema that says how the nodes hang together.
    pub(crate) fn schema(&self) -> &CompiledSchema {
        &self.schema
    }

    /// The wording of errors.
    pub(crate) fn wording(&self) -> &'static Wording {
        self.wording
    }

    /// The node of the top value.
    pub(crate) fn root(&self) -> NodeId {
        self.schema.root_edge().node_id()
    }

    #[inline]
    #[expect(clippy::indexing_slicing, reason = "there are demands for each node of the schema")]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The node of a listed member.
    #[inline]
    pub(crate) fn property(&self, node: &Node, name: &str) -> Option<NodeId> {
        members::listed(self.at(node).property(name))
    }

    /// The node in the compiled schema.
    #[inline]
    pub(crate) fn at(&self, node: &Node) -> NodeRef<'_> {
        self.schema.node(node.id)
    }
}

/// The part of a node's demands that comes from below it.
#[derive(Default)]
struct Below {
    items: Option<NodeId>,
    additional: Additional,
    has_list_type: bool,
    has_rules: bool,
}

struct Builder<'s> {
    compiled: &'s CompiledSchema,
    nodes: Vec<Node>,
    form: SchemaForm,
    patterns: Patterns,
    /// Formats repeat; each is compiled once.
    checkers: HashMap<Format, Checker>,
}

impl Builder<'_> {
    /// Finds the demands of a node and all below it; `nested` tells that it is under a junctor.
    #[expect(clippy::indexing_slicing, reason = "there are demands for each node of the schema")]
    fn node(&mut self, schema: &JsonSchemaProps, id: NodeId, nested: bool) {
        self.nodes[id.index()] = grow(|| self.build(schema, id, nested));
    }

    /// Marks the top, the property without a name in it, the one in that, and so on.
    #[expect(clippy::indexing_slicing, reason = "there are demands for each node of the schema")]
    fn mark_unnamed(&mut self) {
        let mut next = Some(self.compiled.root_edge().node_id());
        while let Some(id) = next {
            self.nodes[id.index()].is_unnamed = true;
            next = members::listed(self.compiled.node(id).property(""));
        }
    }

    #[expect(clippy::indexing_slicing, reason = "there are demands for each node of the schema")]
    fn known(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    fn build(&mut self, schema: &JsonSchemaProps, id: NodeId, nested: bool) -> Node {
        let at = self.compiled.node(id);
        let types = self.types(schema);
        let (format, checker) = self.format(schema, &types);
        let Below { items, additional, mut has_list_type, mut has_rules } =
            self.below(at, schema, nested);
        let list = ListType::of(schema);
        has_list_type |= list != ListType::None;
        // Under junctors there are no rules (SS-50).
        has_rules |= !nested && schema.validations.iter().any(|own| !own.is_empty());

        let context = Context::new(&types, format, self.compiled.root().kubernetes());
        let numbers = Numbers::new(schema, context);
        let required: Box<[Box<str>]> =
            schema.required.iter().flatten().map(|name| name.as_str().into()).collect();
        let mut node = Node {
            id,
            accepted: Kinds::accepted(&types, format),
            plain: Kinds::default(),
            direct: Kinds::default(),
            format: format.into(),
            checker,
            nullable: schema.nullable,
            junctors: self.junctors(schema, at.branches()),
            strings: self.strings(schema),
            numbers: numbers.can_fail().then(|| Box::new(numbers)),
            counts: Counts::new(schema),
            enum_: Enum::new(&schema.enum_),
            members: self.members(at, additional, &required),
            required,
            items,
            additional,
            is_array: schema.type_ == "array",
            list,
            has_list_type,
            has_rules,
            is_unnamed: false,
            types,
        };
        node.direct = node.find_direct();
        node.plain = node.find_plain(at.property_count() > 0);
        node
    }

    fn types(&self, schema: &JsonSchemaProps) -> TypeList {
        match schema.type_.as_str() {
            _ if schema.int_or_string && self.form == SchemaForm::Written => {
                TypeList::IntegerOrString
            }
            "" => TypeList::Empty,
            name => TypeList::One(name.into()),
        }
    }

    /// The format as written, empty if it has no effect, and its check.
    fn format<'p>(
        &mut self,
        schema: &'p JsonSchemaProps,
        types: &TypeList,
    ) -> (&'p str, Option<Checker>) {
        let kubernetes = self.compiled.root().kubernetes();
        let type_ = types.single().unwrap_or_default();
        let has_effect = self.form == SchemaForm::Structural
            || Format::has_effect(type_, &schema.format, kubernetes);
        let written = if has_effect { schema.format.as_str() } else { "" };
        let format = Format::named(written).filter(|format| format.is_known_to(kubernetes));
        let checker =
            |format| self.checkers.entry(format).or_insert_with(|| Checker::new(format)).clone();
        (written, format.map(checker))
    }

    /// Finds the demands of the nodes below one.
    fn below(&mut self, at: NodeRef<'_>, schema: &JsonSchemaProps, nested: bool) -> Below {
        // The structural form of a schema under a junctor has none (SS-91).
        let has_additional = !(nested && self.form == SchemaForm::Structural);
        let mut below = Below::default();
        if has_additional
            && let Some(SchemaOrBool::Bool(false) | SchemaOrBool::Schema(_)) =
                schema.additional_properties
        {
            below.additional = Additional::Forbidden;
        }
        for (step, part, id) in at.children(schema) {
            match step {
                SchemaStep::AdditionalProperties if has_additional => {
                    below.additional = Additional::Schema(id);
                }
                SchemaStep::AdditionalProperties => continue,
                SchemaStep::Items => below.items = Some(id),
                SchemaStep::Property(_) => {}
            }
            self.node(part, id, nested);
            let node = self.known(id);
            below.has_list_type |= node.has_list_type;
            below.has_rules |= node.has_rules;
        }
        below
    }

    /// The demands on members, given those on the ones that are not listed.
    fn members(&self, at: NodeRef<'_>, additional: Additional, required: &[Box<str>]) -> Members {
        let plain = |id| self.known(id).plain;
        let other = |id, plain| Some(Member { id, plain, is_required: false });
        let others = match additional {
            Additional::Anything => other(NodeId::default(), Kinds::ALL),
            Additional::Forbidden => None,
            Additional::Schema(id) => other(id, plain(id)),
        };
        Members::new(at, others, required, plain)
    }

    fn junctors(&mut self, schema: &JsonSchemaProps, ids: &[NodeId]) -> Option<Box<Junctors>> {
        let mut junctors = Junctors::default();
        for ((keyword, _, branch), id) in schema.junctors().zip(ids) {
            let list = match keyword {
                "not" => &mut junctors.not,
                "allOf" => &mut junctors.all_of,
                "anyOf" => &mut junctors.any_of,
                _ => &mut junctors.one_of,
            };
            list.push(*id);
            self.node(branch, *id, true);
        }
        junctors.admitted = self.admitted(&junctors);
        (!ids.is_empty()).then(|| Box::new(junctors))
    }

    /// The kinds of which all values are surely valid for junctors.
    fn admitted(&self, junctors: &Junctors) -> Kinds {
        if !junctors.not.is_empty() || !junctors.one_of.is_empty() {
            return Kinds::default();
        }
        let plain = |id: &NodeId| self.known(*id).plain;
        let all_of = junctors.all_of.iter().map(plain).fold(Kinds::ALL, Kinds::and);
        match junctors.any_of.as_slice() {
            [] => all_of,
            any_of => all_of.and(any_of.iter().map(plain).fold(Kinds::default(), Kinds::or)),
        }
    }

    fn strings(&mut self, schema: &JsonSchemaProps) -> Option<Box<Strings>> {
        let (max_length, min_length) = (schema.max_length, schema.min_length);
        let pattern = schema.pattern.as_str();
        if max_length.is_none() && min_length.is_none() && pattern.is_empty() {
            return None;
        }
        let pattern = (!pattern.is_empty()).then(|| self.pattern(pattern));
        Some(Box::new(Strings { max_length, min_length, pattern }))
    }

    fn pattern(&self, written: &str) -> TextPattern {
        match self.patterns.get(written) {
            Ok(pattern) => TextPattern::Valid(pattern),
            Err(error) => TextPattern::Invalid(written.to_owned(), error.to_string()),
        }
    }
}

impl Numbers {
    fn new(schema: &JsonSchemaProps, context: Context) -> Self {
        let bound = |value: Option<f64>, exclusive| value.map(|value| Bound { value, exclusive });
        let mut numbers = Numbers {
            context,
            multiple_of: schema.multiple_of,
            minimum: bound(schema.minimum, schema.exclusive_minimum),
            maximum: bound(schema.maximum, schema.exclusive_maximum),
            ints: None,
        };
        numbers.ints = numbers.valid_ints();
        numbers
    }
}

impl Counts {
    fn new(schema: &JsonSchemaProps) -> Option<Box<Self>> {
        let items = Bounds { min: schema.min_items, max: schema.max_items };
        let properties = Bounds { min: schema.min_properties, max: schema.max_properties };
        let any = schema.unique_items || [items, properties] != [Bounds::default(); 2];
        any.then(|| Box::new(Counts { items, unique_items: schema.unique_items, properties }))
    }
}
