//! The syntax tree of a pattern. Every node knows its height, its number of instructions and how
//! deep its repetitions multiply, so that the limits are checked without ever walking the tree.

use std::sync::Arc;

use regex_syntax::hir::Look;

use crate::charset::CharSet;

/// A node, with its measures as Go takes them.
#[derive(Debug)]
pub(crate) struct Node {
    kind: NodeKind,
    height: u32,
    size: u64,
    repeats: u32,
}

/// The kind of a node: the texts that it matches.
#[derive(Debug)]
pub(crate) enum NodeKind {
    /// The empty text.
    Empty,
    /// These code points in a row.
    Literal { runes: Vec<u32>, fold: bool },
    /// One code point of a set; `ranges` counts also when the set was dropped.
    Class { set: Arc<CharSet>, ranges: usize },
    /// One code point.
    AnyChar,
    /// One code point that is not a newline.
    AnyCharNotNewline,
    /// A place in the text.
    Look(Look),
    /// Something several times; `counted` tells `x{0,1}` from `x?`.
    Repeat { sub: Box<Node>, min: u32, max: Option<u32>, counted: bool, greedy: bool },
    /// A capturing group. What it captured is never asked for.
    Capture(Box<Node>),
    /// One after the other.
    Concat(Vec<Node>),
    /// One of several.
    Alternate(Vec<Node>),
}

impl Node {
    pub(crate) fn leaf(kind: NodeKind) -> Self {
        let size = match &kind {
            NodeKind::Literal { runes, .. } => runes.len() as u64,
            _ => 1,
        };
        Self { kind, height: 1, size: size.max(1), repeats: 1 }
    }

    pub(crate) fn repeat(
        sub: Self,
        min: u32,
        max: Option<u32>,
        counted: bool,
        greedy: bool,
    ) -> Self {
        let (low, high) = (u64::from(min), max.map(u64::from));
        let size = match (counted, high) {
            (false, Some(_)) => sub.size + 1,
            (false, None) => sub.size + if min == 0 { 2 } else { 1 },
            (true, None) if min == 0 => sub.size + 2,
            (true, None) => sub.size.saturating_mul(low).saturating_add(1),
            (true, Some(high)) => {
                sub.size.saturating_mul(high).saturating_add(high.saturating_sub(low))
            }
        };
        let repeats = match (counted, max) {
            (true, Some(0)) => 1,
            (true, _) => sub.repeats.saturating_mul(max.unwrap_or(min).max(1)),
            (false, _) => sub.repeats,
        };
        Self {
            height: sub.height + 1,
            size: size.max(1),
            repeats,
            kind: NodeKind::Repeat { sub: Box::new(sub), min, max, counted, greedy },
        }
    }

    pub(crate) fn capture(sub: Self) -> Self {
        Self {
            height: sub.height + 1,
            size: sub.size.saturating_add(2),
            repeats: sub.repeats,
            kind: NodeKind::Capture(Box::new(sub)),
        }
    }

    pub(crate) fn concat(subs: Vec<Self>) -> Self {
        let size = sum_of_sizes(subs.iter());
        Self::list(&subs, size).with(NodeKind::Concat(subs))
    }

    /// Go makes one class of neighbouring alternatives that match one character
    /// each; they are measured as if they were one here too.
    pub(crate) fn alternate(subs: Vec<Self>) -> Self {
        let mut measured: Vec<&Self> = Vec::with_capacity(subs.len());
        for sub in &subs {
            let merges = measured.last().is_some_and(|last| last.is_one_char());
            if !(merges && sub.is_one_char()) {
                measured.push(sub);
            }
        }
        if let [only] = measured.as_slice() {
            let class = Self { kind: NodeKind::Empty, height: only.height, size: 1, repeats: 1 };
            return class.with(NodeKind::Alternate(subs));
        }
        let bars = measured.len().saturating_sub(1) as u64;
        let size = sum_of_sizes(measured.iter().copied()).saturating_add(bars);
        Self::list(&subs, size).with(NodeKind::Alternate(subs))
    }

    fn list(subs: &[Self], size: u64) -> Self {
        Self {
            kind: NodeKind::Empty,
            height: subs.iter().map(|sub| sub.height + 1).max().unwrap_or(1),
            size: size.max(1),
            repeats: subs.iter().map(|sub| sub.repeats).max().unwrap_or(1),
        }
    }

    fn with(self, kind: NodeKind) -> Self {
        Self { kind, ..self }
    }

    /// Whether this matches one character, whatever it is.
    pub(crate) fn is_one_char(&self) -> bool {
        match &self.kind {
            NodeKind::Literal { runes, .. } => runes.len() == 1,
            NodeKind::Class { .. } | NodeKind::AnyChar | NodeKind::AnyCharNotNewline => true,
            _ => false,
        }
    }

    pub(crate) fn kind(&self) -> &NodeKind {
        &self.kind
    }

    /// The number of nodes from here to the farthest leaf, both included.
    pub(crate) fn height(&self) -> u32 {
        self.height
    }

    /// The number of instructions that Go reckons with.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The largest product of counts of repetitions that are nested here.
    pub(crate) fn repeats(&self) -> u32 {
        self.repeats
    }

    /// The number of code points that Go would store with this node itself.
    pub(crate) fn runes(&self) -> usize {
        match &self.kind {
            NodeKind::Literal { runes, .. } => runes.len(),
            NodeKind::Class { ranges, .. } => 2 * ranges,
            _ => 0,
        }
    }

    /// Appends the literal `tail` to this literal; returns it if either is not a literal, or if
    /// they differ in whether letter case counts.
    pub(crate) fn append_literal(&mut self, tail: Self) -> Option<Self> {
        match (&mut self.kind, tail) {
            (
                NodeKind::Literal { runes, fold },
                Self { kind: NodeKind::Literal { runes: more, fold: same }, size, .. },
            ) if *fold == same => {
                runes.extend(more);
                self.size += size;
                None
            }
            (_, tail) => Some(tail),
        }
    }

    /// The parts, if this is a node of that kind.
    pub(crate) fn into_list(self, list: List) -> Result<Vec<Self>, Self> {
        match (list, self.kind) {
            (List::Concat, NodeKind::Concat(subs))
            | (List::Alternate, NodeKind::Alternate(subs)) => Ok(subs),
            (_, kind) => Err(Self { kind, ..self }),
        }
    }
}

/// The two kinds of node that have any number of parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Concat,
    Alternate,
}

fn sum_of_sizes<'a>(subs: impl Iterator<Item = &'a Node>) -> u64 {
    subs.fold(0, |sum, sub| sum.saturating_add(sub.size))
}

/// An entry of the parser's stack: a node, or an operator that waits for its right-hand side.
#[derive(Debug)]
pub(crate) enum Item {
    /// A finished part.
    Node(Node),
    /// An open group, with the flags to go back to when it closes.
    Paren { capture: bool, flags: Flags },
    /// A `|`; the finished alternatives lie below it.
    Bar,
}

/// The flags that can be changed by `(?…)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// `i`: letter case does not count.
    pub(crate) fold: bool,
    /// `m`: `^` and `$` also match at line ends.
    pub(crate) multi_line: bool,
    /// `s`: `.` matches a newline.
    pub(crate) dot_newline: bool,
    /// `U`: greedy and lazy repetition are swapped.
    pub(crate) lazy: bool,
}
