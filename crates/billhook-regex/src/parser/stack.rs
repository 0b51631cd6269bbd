//! The parser's stack: how parts are pushed, joined to concatenations and
//! alternations, and closed by `)`. Every step keeps Go's account of the size,
//! so a pattern is refused where Go refuses it.

use std::sync::Arc;

use super::Parser;
use crate::ast::{Flags, Item, List, Node, NodeKind};
use crate::charset::CharSet;
use crate::{Error, ErrorKind};

impl Parser<'_> {
    pub(super) fn push_leaf(&mut self, kind: NodeKind) -> Result<(), Error> {
        self.account.allocate();
        self.push(Node::leaf(kind))
    }

    pub(super) fn literal(&mut self, rune: u32) -> Result<(), Error> {
        self.push_leaf(NodeKind::Literal { runes: vec![rune], fold: self.flags.fold })
    }

    pub(super) fn push_class(&mut self, set: Arc<CharSet>) -> Result<(), Error> {
        if let Some(rune) = set.single() {
            return self.push(Node::leaf(NodeKind::Literal { runes: vec![rune], fold: false }));
        }
        let ranges = set.ranges().len();
        // Named classes are kept by the parser too.
        let is_new = Arc::strong_count(&set) == 1;
        self.class_ranges = self.class_ranges.saturating_add(if is_new { ranges } else { 0 });
        let keep = !is_new || self.class_ranges <= self.class_ranges_kept;
        let set = if keep { set } else { Arc::clone(&self.no_set) };
        self.push(Node::leaf(NodeKind::Class { set, ranges }))
    }

    /// Pushes a node. Neighbouring literals become one, but only when something
    /// comes after them: a repetition takes just the last character.
    pub(super) fn push(&mut self, node: Node) -> Result<(), Error> {
        self.account.add_runes(node.runes());
        self.join_literals();
        self.stack.push(Item::Node(node));
        self.check_limits()
    }

    pub(super) fn check_limits(&mut self) -> Result<(), Error> {
        self.account.check(&self.stack).map_err(|kind| self.error_at_all(kind))
    }

    pub(super) fn open_group(&mut self, capture: bool, restore: Flags) -> Result<(), Error> {
        self.account.allocate();
        self.join_literals();
        self.stack.push(Item::Paren { capture, flags: restore });
        self.check_limits()
    }

    fn join_literals(&mut self) {
        let Some(tail) = self.stack.pop_if(|item| matches!(item, Item::Node(_))) else { return };
        let Item::Node(tail) = tail else { return };
        let rest = match self.stack.last_mut() {
            Some(Item::Node(head)) => head.append_literal(tail),
            _ => Some(tail),
        };
        match rest {
            None => self.account.release(),
            Some(tail) => self.stack.push(Item::Node(tail)),
        }
    }

    /// Handles `|`: the items since the last operator are an alternative.
    pub(super) fn parse_bar(&mut self) -> Result<(), Error> {
        self.concat()?;
        if !self.swap_bar() {
            self.account.allocate();
            self.stack.push(Item::Bar);
            self.check_limits()?;
        }
        Ok(())
    }

    pub(super) fn parse_right_paren(&mut self) -> Result<(), Error> {
        self.close_alternation()?;
        let group = self.stack.pop();
        let open = self.stack.pop();
        let (Some(Item::Node(group)), Some(Item::Paren { capture, flags })) = (group, open) else {
            return Err(self.error_at_all(ErrorKind::UnexpectedParen));
        };
        self.flags = flags;
        self.push(if capture { Node::capture(group) } else { group })
    }

    /// Joins everything since the last `(` to one node.
    pub(super) fn close_alternation(&mut self) -> Result<(), Error> {
        self.concat()?;
        if self.swap_bar() {
            self.stack.pop();
        }
        let alternatives = self.pop_nodes();
        let node = self.join(alternatives, List::Alternate);
        self.push(node)
    }

    /// Joins everything since the last `(` or `|` to one node.
    fn concat(&mut self) -> Result<(), Error> {
        self.join_literals();
        let parts = self.pop_nodes();
        let node = self.join(parts, List::Concat);
        self.push(node)
    }

    /// Moves the topmost node below the `|` under it, to the other alternatives.
    fn swap_bar(&mut self) -> bool {
        if let [.., Item::Node(left), Item::Bar, Item::Node(right)] = self.stack.as_slice()
            && left.is_one_char()
            && right.is_one_char()
        {
            self.account.release();
        }
        if let [.., bar @ Item::Bar, node] = self.stack.as_mut_slice() {
            std::mem::swap(bar, node);
            return true;
        }
        false
    }

    fn pop_nodes(&mut self) -> Vec<Node> {
        let first = self
            .stack
            .iter()
            .rposition(|item| !matches!(item, Item::Node(_)))
            .map_or(0, |operator| operator + 1);
        self.stack
            .drain(first..)
            .filter_map(|item| match item {
                Item::Node(node) => Some(node),
                _ => None,
            })
            .collect()
    }

    /// One node for several, without nodes of the same kind directly below it.
    fn join(&mut self, mut nodes: Vec<Node>, list: List) -> Node {
        if nodes.len() <= 1 {
            return nodes.pop().unwrap_or_else(|| {
                self.account.allocate();
                Node::leaf(NodeKind::Empty)
            });
        }
        self.account.allocate();
        let mut flat = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node.into_list(list) {
                Ok(subs) => {
                    flat.extend(subs);
                    self.account.release();
                }
                Err(node) => flat.push(node),
            }
        }
        match list {
            List::Concat => Node::concat(flat),
            List::Alternate => Node::alternate(flat),
        }
    }
}
