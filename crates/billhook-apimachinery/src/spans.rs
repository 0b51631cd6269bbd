//! The places of a document's keys and values in its text.

use std::collections::HashMap;

use crate::field_path::{FieldPath, Segment};

/// A range of bytes of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

impl Span {
    /// Creates a span from its first byte to before `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start, end }
    }
}

impl From<Span> for std::ops::Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
    }
}

/// The places of a value and of the key before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueSpan {
    /// The key of a member; `None` for items and for the top.
    pub key: Option<Span>,
    /// The value itself. Empty if nothing is written, as after the colon of `key:` in YAML. After a
    /// YAML alias, the value that the anchor names.
    pub value: Span,
}

/// The places of all values of a document, by path. Made by a [`SpansBuilder`].
///
/// ```
/// use billhook_apimachinery::{FieldPath, Span, SpansBuilder};
/// // {"a": [7]}
/// let mut builder = SpansBuilder::default();
/// let top = builder.value(None, Span::new(0, 10));
/// let list = builder.value(Some(Span::new(1, 4)), Span::new(6, 9));
/// builder.member(top, "a", list);
/// let item = builder.value(None, Span::new(7, 8));
/// builder.item(list, item);
/// let spans = builder.finish();
/// let found = spans.find(&FieldPath::default().name("a").index(0)).unwrap();
/// assert_eq!((found.key, found.value), (None, Span::new(7, 8)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Spans {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    span: ValueSpan,
    children: Children,
}

#[derive(Clone, Debug, Default)]
enum Children {
    #[default]
    None,
    List(Vec<SpanId>),
    Map(Members),
}

#[derive(Clone, Debug, Default)]
struct Members {
    by_name: HashMap<Box<str>, SpanId>,
    /// The lengths that names have, the shortest first: a name that is followed by others in a text
    /// may end only there.
    lengths: Vec<usize>,
}

impl Members {
    fn insert(&mut self, name: &str, member: SpanId) {
        self.by_name.insert(name.into(), member);
        if let Err(at) = self.lengths.binary_search(&name.len()) {
            self.lengths.insert(at, name.len());
        }
    }
}

/// A value of a document, and its place in the text.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'s> {
    spans: &'s Spans,
    node: &'s Node,
}

impl<'s> Placed<'s> {
    /// Returns the member or item that a step of a path leads to.
    pub fn child(self, segment: Segment<'_>) -> Option<Self> {
        let id = self.node.child(segment)?;
        Some(Placed { node: self.spans.nodes.get(id.0)?, ..self })
    }

    /// Returns the place of the value.
    pub fn span(self) -> ValueSpan {
        self.node.span
    }
}

impl Spans {
    /// Returns the top; `None` if the document is empty.
    pub fn top(&self) -> Option<Placed<'_>> {
        Some(Placed { spans: self, node: self.nodes.first()? })
    }

    /// Returns the places of all values, in the order in which they were read. What a YAML alias
    /// repeats is there for each time.
    pub fn iter(&self) -> impl Iterator<Item = ValueSpan> + '_ {
        self.nodes.iter().map(|node| node.span)
    }

    /// Returns the places of the values that have no members or items, in the same order.
    pub fn scalars(&self) -> impl Iterator<Item = Span> + '_ {
        let nodes = self.nodes.iter().filter(|node| matches!(node.children, Children::None));
        nodes.map(|node| node.span.value)
    }

    /// Returns the place of a value; `None` if no such value exists.
    pub fn find(&self, path: &FieldPath) -> Option<ValueSpan> {
        let (depth, span) = self.nearest(path)?;
        (depth == path.segments().count()).then_some(span)
    }

    /// Returns the place of a value or, if it does not exist, of the innermost value around it; and
    /// how many steps of the path lead there. `None` if the document is empty.
    pub fn nearest(&self, path: &FieldPath) -> Option<(usize, ValueSpan)> {
        let (depth, value) = self.walk(path)?;
        Some((depth, value.span()))
    }

    /// Returns the path, from the value at `base`, of the field whose [`FieldPath::to_dotted`] is a
    /// text; `None` if no such field exists. Of names with dots that fit, the shortest counts.
    pub fn resolve(&self, base: &FieldPath, dotted: &str) -> Option<FieldPath> {
        let (depth, mut value) = self.walk(base)?;
        if depth != base.segments().count() {
            return None;
        }
        let (mut path, mut rest) = (FieldPath::default(), dotted);
        while !rest.is_empty() {
            let (segment, after) = value.node.first_step(rest, path.is_empty())?;
            value = value.child(segment)?;
            path.extend([segment]);
            rest = after;
        }
        Some(path)
    }

    /// The value at a path or the innermost one around it, and its depth.
    fn walk(&self, path: &FieldPath) -> Option<(usize, Placed<'_>)> {
        let mut value = self.top()?;
        let mut depth = 0;
        for segment in path.segments() {
            let Some(child) = value.child(segment) else { break };
            value = child;
            depth += 1;
        }
        Some((depth, value))
    }
}

impl Node {
    /// The child that a text names first, and the rest of the text.
    fn first_step<'t>(&self, text: &'t str, is_first: bool) -> Option<(Segment<'t>, &'t str)> {
        match &self.children {
            Children::None => None,
            Children::List(_) => {
                let (index, after) = text.strip_prefix('[')?.split_once(']')?;
                Some((Segment::Index(index.parse().ok()?), after))
            }
            Children::Map(members) => {
                let name = if is_first { text } else { text.strip_prefix('.')? };
                let ends = |after: &str| after.is_empty() || after.starts_with(['.', '[']);
                let steps = members.lengths.iter().filter_map(|end| name.split_at_checked(*end));
                let mut steps = steps.filter(|(_, after)| ends(after));
                let (name, after) = steps.find(|(name, _)| members.by_name.contains_key(*name))?;
                Some((Segment::Name(name), after))
            }
        }
    }

    fn child(&self, segment: Segment<'_>) -> Option<SpanId> {
        match (&self.children, segment) {
            (Children::List(items), Segment::Index(index)) => items.get(index).copied(),
            (Children::Map(members), Segment::Name(name) | Segment::Key(name)) => {
                members.by_name.get(name).copied()
            }
            _ => None,
        }
    }
}

/// A value of a [`SpansBuilder`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanId(usize);

/// Collects [`Spans`]; for readers of documents.
#[derive(Clone, Debug, Default)]
pub struct SpansBuilder {
    nodes: Vec<Node>,
}

impl SpansBuilder {
    /// Adds a value. The first one is the top.
    pub fn value(&mut self, key: Option<Span>, value: Span) -> SpanId {
        let span = ValueSpan { key, value };
        self.nodes.push(Node { span, children: Children::None });
        SpanId(self.nodes.len() - 1)
    }

    /// Sets the end of a value.
    pub fn end(&mut self, value: SpanId, end: usize) {
        if let Some(node) = self.nodes.get_mut(value.0) {
            node.span.value.end = end;
        }
    }

    /// Makes a value the next item of a list.
    pub fn item(&mut self, list: SpanId, item: SpanId) {
        let Some(node) = self.nodes.get_mut(list.0) else { return };
        match &mut node.children {
            Children::List(items) => items.push(item),
            other => *other = Children::List(vec![item]),
        }
    }

    /// Makes a value a member of an object; the last one of a name counts.
    pub fn member(&mut self, object: SpanId, name: &str, member: SpanId) {
        let Some(node) = self.nodes.get_mut(object.0) else { return };
        match &mut node.children {
            Children::Map(members) => members.insert(name, member),
            other => {
                let mut members = Members::default();
                members.insert(name, member);
                *other = Children::Map(members);
            }
        }
    }

    /// Replaces every offset, for a text that was rewritten before it was read.
    pub fn map_offsets(&mut self, map: impl Fn(usize) -> usize) {
        for node in &mut self.nodes {
            for span in node.span.key.iter_mut().chain([&mut node.span.value]) {
                *span = Span::new(map(span.start), map(span.end));
            }
        }
    }

    /// Returns what was collected.
    pub fn finish(self) -> Spans {
        Spans { nodes: self.nodes }
    }
}
