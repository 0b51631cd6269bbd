//! The number of elements for which something is true.

use std::sync::Arc;

use crate::language::ast::{Comprehension, Expr, Kind, Literal};

/// `range.filter(variable, test)`, of which only the size counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count<'e> {
    pub(super) range: &'e Expr,
    pub(super) variable: &'e Arc<str>,
    pub(super) test: &'e Expr,
}

impl<'e> Count<'e> {
    /// Returns what `range.filter(variable, test).size()` counts.
    pub(super) fn of_size(expr: &'e Expr) -> Option<Count<'e>> {
        let Kind::Call { function, target, arguments } = &expr.kind else { return None };
        let of = match (&**function, target.as_deref(), arguments.as_slice()) {
            ("size", Some(of), []) | ("size", None, [of]) => of,
            _ => return None,
        };
        let Kind::Comprehension(folded) = &of.kind else { return None };
        let (count, kept) = Count::of_fold(folded)?;
        let is_empty = matches!(&folded.start.kind, Kind::List(start) if start.is_empty());
        let keeps_itself = match &kept.kind {
            Kind::List(kept) => {
                matches!(kept.as_slice(), [(Expr { kind: Kind::Ident(name), .. }, false)]
                if *name == folded.variable)
            }
            _ => false,
        };
        (is_empty && keeps_itself).then_some(count)
    }

    /// Returns what is one if `range.exists_one(variable, test)` is true, and another number if it is
    /// false.
    pub(super) fn of_one(expr: &'e Expr) -> Option<Count<'e>> {
        let Kind::Comprehension(folded) = &expr.kind else { return None };
        let (count, kept) = Count::of_fold(folded)?;
        let is = |expr: &Expr, number| matches!(expr.kind, Kind::Literal(Literal::Int(it)) if it == number);
        (is(&folded.start, 0) && is(kept, 1)).then_some(count)
    }

    /// The same of any fold, with what is added to its result for an element.
    fn of_fold(folded: &'e Comprehension) -> Option<(Count<'e>, &'e Expr)> {
        let Comprehension { range, variable, second: None, step, .. } = folded else { return None };
        let [test, more, _] = arguments(step, "_?_:_")? else { return None };
        let [_, kept] = arguments(more, "_+_")? else { return None };
        Some((Count { range, variable, test }, kept))
    }
}

fn arguments<'e>(expr: &'e Expr, wanted: &str) -> Option<&'e [Expr]> {
    match &expr.kind {
        Kind::Call { function, target: None, arguments } if **function == *wanted => {
            Some(arguments)
        }
        _ => None,
    }
}
