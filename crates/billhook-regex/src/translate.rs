//! Syntax tree to the engine's own form. Groups, and everything else that cannot change the match,
//! are dropped on the way.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, Repetition};

use crate::ast::{Node, NodeKind};
use crate::charset::CharSet;
use crate::fold::folded;
use crate::limits::ENGINE_NODES;

/// The tree would be larger than [`ENGINE_NODES`].
pub(crate) struct TooManyNodes;

/// Recurses as deep as the tree is high.
pub(crate) fn translate(tree: Node) -> Result<Hir, TooManyNodes> {
    Translator { nodes_left: ENGINE_NODES }.node(tree)
}

struct Translator {
    nodes_left: usize,
}

impl Translator {
    fn node(&mut self, node: Node) -> Result<Hir, TooManyNodes> {
        self.count_node()?;
        match node.into_kind() {
            NodeKind::Empty => Ok(Hir::empty()),
            NodeKind::Literal { runes, fold: false } => Ok(literal(&runes)),
            NodeKind::Literal { runes, fold: true } => self.folded(&runes),
            NodeKind::Class { set, .. } => Ok(class(set.to_class())),
            NodeKind::AnyChar => Ok(any_but(None)),
            NodeKind::AnyCharNotNewline => Ok(any_but(Some('\n'))),
            NodeKind::Look(look) => Ok(Hir::look(look)),
            NodeKind::Capture(sub) => self.node(*sub),
            NodeKind::Repeat { sub, min, max, greedy, .. } => {
                let sub = Box::new(self.node(*sub)?);
                Ok(Hir::repetition(Repetition { min, max, greedy, sub }))
            }
            NodeKind::Concat(subs) => Ok(Hir::concat(self.nodes(subs)?)),
            NodeKind::Alternate(subs) => Ok(Hir::alternation(self.nodes(subs)?)),
        }
    }

    fn nodes(&mut self, nodes: Vec<Node>) -> Result<Vec<Hir>, TooManyNodes> {
        nodes.into_iter().map(|node| self.node(node)).collect()
    }

    fn folded(&mut self, runes: &[u32]) -> Result<Hir, TooManyNodes> {
        let mut parts = Vec::new();
        for &rune in runes {
            self.count_node()?;
            parts.push(class(folded(&CharSet::new(vec![(rune, rune)])).to_class()));
        }
        Ok(Hir::concat(parts))
    }

    fn count_node(&mut self) -> Result<(), TooManyNodes> {
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or(TooManyNodes)?;
        Ok(())
    }
}

fn class(class: ClassUnicode) -> Hir {
    Hir::class(Class::Unicode(class))
}

fn literal(runes: &[u32]) -> Hir {
    // A surrogate, as in `\x{D800}`, is in no text.
    let text: Option<String> = runes.iter().map(|&rune| char::from_u32(rune)).collect();
    text.map_or_else(Hir::fail, |text| Hir::literal(text.into_bytes()))
}

fn any_but(except: Option<char>) -> Hir {
    let mut set = ClassUnicode::new(except.map(|c| ClassUnicodeRange::new(c, c)));
    set.negate();
    class(set)
}
