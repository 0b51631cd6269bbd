//! Chains of `&&` and `||`.

use super::nodes::Nodes;
use crate::language::ast::Expr;

/// Terms with one operator between them. They become a balanced tree, so that a long chain is not
/// deep.
pub(super) struct Chain {
    first: Expr,
    /// The other terms, each with the position of the operator in front.
    others: Vec<(usize, Expr)>,
}

impl Chain {
    pub(super) fn new(first: Expr) -> Self {
        Chain { first, others: Vec::new() }
    }

    pub(super) fn push(&mut self, at: usize, term: Expr) {
        self.others.push((at, term));
    }

    pub(super) fn balanced(self, function: &str, nodes: &mut Nodes) -> Expr {
        tree(self.first, self.others, function, nodes)
    }
}

/// The operator in the middle, with the smaller chains on both sides.
fn tree(first: Expr, mut others: Vec<(usize, Expr)>, function: &str, nodes: &mut Nodes) -> Expr {
    let mut right = others.split_off(others.len() / 2).into_iter();
    let Some((at, middle)) = right.next() else { return first };
    let left = tree(first, others, function, nodes);
    let right = tree(middle, right.collect(), function, nodes);
    nodes.call(at, function, vec![left, right])
}
