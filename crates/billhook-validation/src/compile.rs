//! From a schema as written to the flat table of nodes that validation walks (VV-02, SS-91).

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use billhook_apimachinery::value::{DeepValue, grow};
use billhook_regex::Pattern;
use billhook_schema::JsonSchemaProps;
use billhook_schema::props::{SchemaOrBool, ValueValidations};
use serde_json::Value;

use crate::formats::{Checker, Format};
use crate::lists::ListType;
use crate::members::{Member, Members, Seen};
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

/// Names a node of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(u32);

/// All nodes of a schema.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    nodes: Vec<Node>,
    /// Listed members, grouped by node and sorted by name.
    properties: Vec<Member>,
    /// The branches of junctors, grouped.
    branches: Vec<NodeId>,
}

/// The demands of one node of a schema.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) types: TypeList,
    /// The kinds of which all values have the right type.
    pub(crate) accepted: Kinds,
    /// The kinds of which all values are valid.
    pub(crate) plain: Kinds,
    /// As written; empty if it has no effect (VV-02).
    pub(crate) format: Box<str>,
    pub(crate) checker: Option<Checker>,
    pub(crate) nullable: bool,
    /// The keywords of the kinds that values have; most nodes have few of them.
    pub(crate) junctors: Option<Box<Junctors>>,
    pub(crate) strings: Option<Box<Strings>>,
    pub(crate) numbers: Option<Box<Numbers>>,
    pub(crate) counts: Option<Box<Counts>>,
    pub(crate) enum_: Box<[DeepValue]>,
    pub(crate) required: Box<[Box<str>]>,
    /// The places of the required members among the listed ones, if all have one.
    pub(crate) required_places: Option<Seen>,
    pub(crate) items: Option<NodeId>,
    pub(crate) additional: Additional,
    properties: Range<u32>,
    /// Whether the written type is `array`.
    pub(crate) is_array: bool,
    pub(crate) list: ListType,
    /// Whether this node or one below it is a list set or a list map.
    pub(crate) has_list_type: bool,
    /// Whether this node or one below it has rules in CEL.
    pub(crate) has_rules: bool,
}

impl Node {
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

    /// The kinds of which all values are valid.
    fn find_plain(&self) -> Kinds {
        if !self.enum_.is_empty() {
            return Kinds::default();
        }
        let mut plain = self.accepted;
        if let Some(junctors) = &self.junctors {
            plain = plain.and(junctors.admitted);
        }
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
        let has_members = !self.properties.is_empty() || self.additional != Additional::Anything;
        if has_members || !self.required.is_empty() || self.counts.is_some() {
            plain = plain.without(Kinds::OBJECT);
        }
        plain
    }
}

/// `allOf`, `anyOf`, `oneOf` and `not`.
#[derive(Debug, Default)]
pub(crate) struct Junctors {
    any_of: Range<u32>,
    one_of: Range<u32>,
    all_of: Range<u32>,
    pub(crate) not: Option<NodeId>,
    /// The kinds of which all values are valid here.
    pub(crate) admitted: Kinds,
}

/// The keywords of strings.
#[derive(Debug, Default)]
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
}

impl Strings {
    /// The first thing that is wrong with a text (VV-20 to VV-22).
    pub(crate) fn fault(&self, text: &str) -> Option<TextFault<'_>> {
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
        (!pattern.is_match(text)).then_some(TextFault::Mismatch(pattern))
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
#[derive(Debug)]
pub(crate) enum TextPattern {
    Valid(Pattern),
    /// The pattern as written, and why it does not compile; no text matches it (VV-22).
    Invalid(String, String),
}

impl TextPattern {
    #[inline]
    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self {
            TextPattern::Valid(pattern) => pattern.is_match(text),
            TextPattern::Invalid(..) => false,
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
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) max_items: Option<i64>,
    pub(crate) min_items: Option<i64>,
    pub(crate) unique_items: bool,
    pub(crate) max_properties: Option<i64>,
    pub(crate) min_properties: Option<i64>,
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
    pub(crate) fn new(schema: &JsonSchemaProps, form: SchemaForm) -> Self {
        let mut builder = Builder {
            arena: Arena::default(),
            form,
            patterns: HashMap::new(),
            checkers: HashMap::new(),
        };
        builder.node(schema, false);
        builder.arena
    }

    /// The node of the top value.
    pub(crate) const ROOT: NodeId = NodeId(0);

    #[expect(clippy::indexing_slicing, reason = "ids are only made together with their node")]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The node of a listed member.
    #[inline]
    pub(crate) fn property(&self, node: &Node, name: &str) -> Option<NodeId> {
        self.properties(node).find(name, 0).map(Member::id)
    }

    /// The listed members of a node.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "the range is only made together with the members")]
    pub(crate) fn properties(&self, node: &Node) -> Members<'_> {
        let Range { start, end } = node.properties;
        Members(&self.properties[start as usize..end as usize])
    }

    #[expect(clippy::indexing_slicing, reason = "ranges are only made together with the branches")]
    fn branches(&self, range: &Range<u32>) -> &[NodeId] {
        &self.branches[range.start as usize..range.end as usize]
    }

    pub(crate) fn any_of(&self, junctors: &Junctors) -> &[NodeId] {
        self.branches(&junctors.any_of)
    }

    pub(crate) fn one_of(&self, junctors: &Junctors) -> &[NodeId] {
        self.branches(&junctors.one_of)
    }

    pub(crate) fn all_of(&self, junctors: &Junctors) -> &[NodeId] {
        self.branches(&junctors.all_of)
    }
}

struct Builder {
    arena: Arena,
    form: SchemaForm,
    /// Patterns and formats repeat; each is compiled once.
    patterns: HashMap<String, Result<Pattern, String>>,
    checkers: HashMap<Format, Checker>,
}

impl Builder {
    /// Adds a node and all below it; `nested` tells that it is under a junctor.
    fn node(&mut self, schema: &JsonSchemaProps, nested: bool) -> NodeId {
        let id = NodeId(self.arena.nodes.len() as u32);
        self.arena.nodes.push(Node::default());
        let node = grow(|| self.build(schema, nested));
        if let Some(slot) = self.arena.nodes.get_mut(id.0 as usize) {
            *slot = node;
        }
        id
    }

    fn build(&mut self, schema: &JsonSchemaProps, nested: bool) -> Node {
        let validations = schema.value_validations();
        let is_structural = self.form == SchemaForm::Structural;
        let types = match schema.type_.as_str() {
            _ if schema.extensions.int_or_string && !is_structural => TypeList::IntegerOrString,
            "" => TypeList::Empty,
            name => TypeList::One(name.into()),
        };
        let format = Format::named(&validations.format);
        let keeps_format = is_structural
            || Format::has_effect(types.single().unwrap_or_default(), &validations.format);
        let written_format = if keeps_format { validations.format.as_str() } else { "" };
        let checker = format.filter(|_| keeps_format).map(|format| {
            self.checkers.entry(format).or_insert_with(|| Checker::new(format)).clone()
        });

        let items = schema.items_schema().map(|items| self.node(items, nested));
        let additional = match &schema.additional_properties {
            // The structural form of a schema under a junctor has none (SS-91).
            Some(_) if nested && is_structural => Additional::Anything,
            Some(SchemaOrBool::Schema(schema)) => Additional::Schema(self.node(schema, nested)),
            Some(SchemaOrBool::Bool(false)) => Additional::Forbidden,
            Some(SchemaOrBool::Bool(true)) | None => Additional::Anything,
        };
        let mut properties = Vec::new();
        for (name, property) in schema.properties.iter().flatten() {
            properties.push(Member::new(name, properties.len(), self.node(property, nested)));
        }
        let list = ListType::of(&schema.extensions);
        // Under junctors there are no rules (SS-50).
        let has_own_rules =
            !nested && schema.extensions.validations.iter().any(|own| !own.is_empty());
        let additional_node = match additional {
            Additional::Schema(id) => Some(id),
            _ => None,
        };
        let below = items.into_iter().chain(additional_node);
        let below = below.chain(properties.iter().map(Member::id));
        let (mut has_list_type, mut has_rules) = (list != ListType::None, has_own_rules);
        for node in below.map(|id| self.arena.node(id)) {
            has_list_type |= node.has_list_type;
            has_rules |= node.has_rules;
        }

        let numbers = Numbers::new(validations, Context::new(&types, written_format));
        let required: Box<[Box<str>]> =
            schema.required.iter().flatten().map(|name| name.as_str().into()).collect();
        let mut node = Node {
            accepted: Kinds::accepted(&types, written_format),
            plain: Kinds::default(),
            format: written_format.into(),
            checker,
            nullable: schema.nullable,
            junctors: self.junctors(schema),
            strings: self.strings(validations),
            numbers: numbers.can_fail().then(|| Box::new(numbers)),
            counts: Counts::new(validations),
            enum_: validations.enum_.as_slice().into(),
            required_places: Members(&properties).places(&required),
            required,
            items,
            additional,
            properties: append(&mut self.arena.properties, properties),
            is_array: schema.type_ == "array",
            list,
            has_list_type,
            has_rules,
            types,
        };
        node.plain = node.find_plain();
        node
    }

    fn junctors(&mut self, schema: &JsonSchemaProps) -> Option<Box<Junctors>> {
        schema.junctors().next()?;
        let mut list = |schemas: &[JsonSchemaProps]| {
            let ids = schemas.iter().map(|schema| self.node(schema, true)).collect();
            append(&mut self.arena.branches, ids)
        };
        let any_of = list(&schema.any_of);
        let one_of = list(&schema.one_of);
        let all_of = list(&schema.all_of);
        let not = schema.not.as_ref().map(|schema| self.node(schema, true));
        let mut junctors = Junctors { any_of, one_of, all_of, not, admitted: Kinds::default() };
        junctors.admitted = self.admitted(&junctors);
        Some(Box::new(junctors))
    }

    /// The kinds of which all values are surely valid for junctors.
    fn admitted(&self, junctors: &Junctors) -> Kinds {
        if junctors.not.is_some() || !junctors.one_of.is_empty() {
            return Kinds::default();
        }
        let plain = |id: &NodeId| self.arena.node(*id).plain;
        let all_of = self.arena.all_of(junctors).iter().map(plain).fold(Kinds::ALL, Kinds::and);
        match self.arena.any_of(junctors) {
            [] => all_of,
            any_of => all_of.and(any_of.iter().map(plain).fold(Kinds::default(), Kinds::or)),
        }
    }

    fn strings(&mut self, validations: &ValueValidations) -> Option<Box<Strings>> {
        let (max_length, min_length) = (validations.max_length, validations.min_length);
        let pattern = validations.pattern.as_str();
        if max_length.is_none() && min_length.is_none() && pattern.is_empty() {
            return None;
        }
        let pattern = (!pattern.is_empty()).then(|| self.pattern(pattern));
        Some(Box::new(Strings { max_length, min_length, pattern }))
    }

    fn pattern(&mut self, written: &str) -> TextPattern {
        if !self.patterns.contains_key(written) {
            let compiled = Pattern::new(written).map_err(|error| error.to_string());
            self.patterns.insert(written.to_owned(), compiled);
        }
        match self.patterns.get(written) {
            Some(Ok(pattern)) => TextPattern::Valid(pattern.clone()),
            Some(Err(error)) => TextPattern::Invalid(written.to_owned(), error.clone()),
            None => TextPattern::Invalid(written.to_owned(), String::new()),
        }
    }
}

/// Appends entries to a table.
fn append<T>(table: &mut Vec<T>, entries: Vec<T>) -> Range<u32> {
    let start = table.len() as u32;
    table.extend(entries);
    start..table.len() as u32
}

impl Numbers {
    fn new(validations: &ValueValidations, context: Context) -> Self {
        let bound = |value: Option<f64>, exclusive| value.map(|value| Bound { value, exclusive });
        let mut numbers = Numbers {
            context,
            multiple_of: validations.multiple_of,
            minimum: bound(validations.minimum, validations.exclusive_minimum),
            maximum: bound(validations.maximum, validations.exclusive_maximum),
            ints: None,
        };
        numbers.ints = numbers.valid_ints();
        numbers
    }
}

impl Counts {
    fn new(validations: &ValueValidations) -> Option<Box<Self>> {
        let counts = Counts {
            max_items: validations.max_items,
            min_items: validations.min_items,
            unique_items: validations.unique_items,
            max_properties: validations.max_properties,
            min_properties: validations.min_properties,
        };
        let any = counts.unique_items
            || [counts.max_items, counts.min_items].iter().any(Option::is_some)
            || [counts.max_properties, counts.min_properties].iter().any(Option::is_some);
        any.then(|| Box::new(counts))
    }
}
