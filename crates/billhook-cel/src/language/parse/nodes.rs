//! Making the nodes of an expression.

use billhook_apimachinery::value::grow;

use crate::language::ast::{Expr, Kind, Literal};

/// The most nodes an expression may have. Only macros that repeat their operand get there.
const LARGEST: usize = 400_000;

/// Makes and counts nodes.
#[derive(Default)]
pub(super) struct Nodes {
    made: usize,
}

impl Nodes {
    /// A node; it is numbered when all of them are there.
    pub(super) fn node(&mut self, at: usize, kind: Kind) -> Expr {
        self.made += 1;
        Expr { id: 0, at, span: None, kind }
    }

    pub(super) fn call(&mut self, at: usize, function: &str, arguments: Vec<Expr>) -> Expr {
        self.node(at, Kind::Call { function: function.into(), target: None, arguments })
    }

    /// A copy of an operand, unless the expression becomes too large.
    pub(super) fn copy(&mut self, expr: &Expr) -> Result<Expr, String> {
        self.made = self.made.saturating_add(count(expr));
        if self.made > LARGEST {
            return Err(format!("expression node limit exceeded: {LARGEST}"));
        }
        Ok(expr.clone())
    }
}

/// Returns the number of nodes of an expression.
fn count(expr: &Expr) -> usize {
    let mut nodes = 1;
    grow(|| expr.each_child(&mut |child| nodes += count(child)));
    nodes
}

/// Creates a placeholder for a part that is wrong and was reported.
pub(super) fn nothing(at: usize) -> Expr {
    Expr { id: 0, at, span: None, kind: Kind::Literal(Literal::Null) }
}
