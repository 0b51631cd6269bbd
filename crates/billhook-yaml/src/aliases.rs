//! Nodes with their aliases resolved.
//!
//! Every node that has an anchor is written to a tape while it passes; an alias plays that part of
//! the tape again. How much may come from aliases is limited as in the server.

use std::collections::HashMap;

use billhook_apimachinery::Span;

use crate::error::YamlError;
use crate::place::Place;
use crate::source::{Kind, Node, Source};

/// The maximum number of bytes of scalars that aliases may add, beyond the length of the text.
const MAX_COPIED: usize = 64 << 20;

/// A node as the document means it; never an alias.
pub(crate) struct Fed<'t> {
    pub(crate) kind: Kind<'t>,
    /// The place where it starts; after an alias, the place of the alias.
    pub(crate) place: Place,
    /// Where it is written; after an alias, where the anchor is.
    pub(crate) span: Span,
    /// Whether it comes from an alias.
    pub(crate) aliased: bool,
}

/// A part of the tape.
#[derive(Clone, Copy)]
struct Part {
    from: usize,
    to: usize,
}

struct Play {
    part: Part,
    alias: bool,
}

/// Nodes of one document.
pub(crate) struct Feed<'s, 't> {
    source: &'s mut Source<'t>,
    tape: Vec<Node<'t>>,
    /// The part of each finished anchor.
    anchors: HashMap<usize, Part>,
    /// The anchors whose node is being read: number, level of the node, start on the tape.
    unfinished: Vec<(usize, usize, usize)>,
    /// The nesting depth of the current node.
    level: usize,
    /// Whether everything goes to the tape.
    taping: bool,
    plays: Vec<Play>,
    /// The number of aliases being played.
    alias_depth: usize,
    nodes: usize,
    alias_nodes: usize,
    may_copy: usize,
}

impl<'s, 't> Feed<'s, 't> {
    pub(crate) fn new(source: &'s mut Source<'t>, text_length: usize) -> Self {
        Feed {
            source,
            tape: Vec::new(),
            anchors: HashMap::new(),
            unfinished: Vec::new(),
            level: 0,
            taping: false,
            plays: Vec::new(),
            alias_depth: 0,
            nodes: 1,
            alias_nodes: 0,
            may_copy: text_length.saturating_add(MAX_COPIED),
        }
    }

    /// The next node or end of a collection.
    pub(crate) fn next(&mut self) -> Result<Fed<'t>, YamlError> {
        let mut alias_at = None;
        loop {
            let node = self.step()?;
            let place = alias_at.unwrap_or(node.place);
            if matches!(node.kind, Kind::End) {
                return Ok(Fed { kind: node.kind, place, span: node.span, aliased: false });
            }
            self.count(place)?;
            match node.kind {
                Kind::Alias(id, name) => {
                    alias_at = Some(place);
                    let part = self.part(id, name, place)?;
                    self.plays.push(Play { part, alias: true });
                    self.alias_depth += 1;
                }
                kind => {
                    let aliased = alias_at.is_some();
                    return Ok(Fed { kind, place, span: node.span, aliased });
                }
            }
        }
    }

    /// After the start of a list: skips the list and feeds its elements once more, the last one
    /// first. Returns the number of elements.
    pub(crate) fn reverse_list(&mut self) -> Result<usize, YamlError> {
        let mut at = match self.plays.last() {
            Some(play) => play.part.from,
            None => {
                let from = self.tape.len();
                self.taping = true;
                let end = self.level - 1;
                while self.level > end {
                    self.read()?;
                }
                self.taping = false;
                from
            }
        };
        let mut elements = Vec::new();
        loop {
            let from = at;
            let mut depth = 0usize;
            loop {
                let kind = self.tape.get(at).map(|node| &node.kind);
                at += 1;
                match kind {
                    Some(Kind::Sequence | Kind::Mapping) => depth += 1,
                    Some(Kind::End) if depth > 0 => depth -= 1,
                    Some(Kind::End) | None => {
                        if let Some(play) = self.plays.last_mut() {
                            play.part.from = at;
                        }
                        let count = elements.len();
                        self.plays.extend(elements);
                        return Ok(count);
                    }
                    Some(Kind::Scalar(_) | Kind::Alias(..)) => {}
                }
                if depth == 0 {
                    break;
                }
            }
            elements.push(Play { part: Part { from, to: at }, alias: false });
        }
    }

    /// Returns the place up to which the text has been read.
    pub(crate) fn place(&self) -> Place {
        self.source.place()
    }

    fn step(&mut self) -> Result<Node<'t>, YamlError> {
        while let Some(play) = self.plays.last_mut() {
            if play.part.from == play.part.to {
                self.alias_depth -= usize::from(play.alias);
                self.plays.pop();
                continue;
            }
            let at = play.part.from;
            play.part.from += 1;
            if let Some(node) = self.tape.get(at) {
                if let Kind::Scalar(scalar) = &node.kind {
                    let left = self.may_copy.checked_sub(scalar.text.len());
                    self.may_copy = left.ok_or_else(|| excessive(node.place))?;
                }
                return Ok(node.clone());
            }
        }
        self.read()
    }

    /// The next node of the text, after it went to the tape if it has to.
    fn read(&mut self) -> Result<Node<'t>, YamlError> {
        let node = self.source.next()?;
        let starts = matches!(node.kind, Kind::Sequence | Kind::Mapping);
        if let Kind::Alias(id, name) = node.kind {
            self.part(id, name, node.place)?;
        }
        if node.anchor != 0 {
            self.unfinished.push((node.anchor, self.level, self.tape.len()));
        }
        if starts {
            self.level += 1;
        } else if matches!(node.kind, Kind::End) {
            self.level = self.level.saturating_sub(1);
        }
        if self.taping || !self.unfinished.is_empty() {
            self.tape.push(node.clone());
        }
        if let Some((id, level, from)) = self.unfinished.last().copied()
            && level == self.level
        {
            self.anchors.insert(id, Part { from, to: self.tape.len() });
            self.unfinished.pop();
        }
        Ok(node)
    }

    /// Returns the node that an alias refers to.
    fn part(&self, id: usize, name: &str, place: Place) -> Result<Part, YamlError> {
        let unfinished = || {
            let message = format!("yaml: anchor '{name}' value contains itself");
            YamlError::plain(place, message)
        };
        self.anchors.get(&id).copied().ok_or_else(unfinished)
    }

    /// Counts a node that is decoded.
    fn count(&mut self, place: Place) -> Result<(), YamlError> {
        self.nodes += 1;
        if self.alias_depth > 0 {
            self.alias_nodes += 1;
        }
        let is_much = self.alias_nodes > 100 && self.nodes > 1000;
        if is_much && self.alias_nodes as f64 / self.nodes as f64 > allowed_share(self.nodes) {
            return Err(excessive(place));
        }
        Ok(())
    }
}

fn excessive(place: Place) -> YamlError {
    YamlError::plain(place, "yaml: document contains excessive aliasing")
}

/// Which share of so many nodes may come from aliases: nearly all of a small document, a tenth of
/// a huge one.
fn allowed_share(nodes: usize) -> f64 {
    const SMALL: f64 = 400_000.0;
    const HUGE: f64 = 4_000_000.0;
    let way = ((nodes as f64 - SMALL) / (HUGE - SMALL)).clamp(0.0, 1.0);
    0.99 - 0.89 * way
}
