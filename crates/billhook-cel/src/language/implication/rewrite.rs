//! Expressions in which choices are around comparisons, and not inside of them.

use std::cell::Cell;
use std::sync::Arc;

use billhook_apimachinery::value::grow;

use super::atoms::is_path;
use super::domain::Constant;
use crate::language::ast::{Expr, Kind, Literal};

/// How many choices are moved: each copies what is around it.
const MAX_MOVED: usize = 32;

/// The functions that choices are moved out of: all their operands are evaluated.
const STRICT: [&str; 7] = ["_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_", "@in"];

/// Returns an expression that has the same value, where `(a ? b : c) < d` is `a ? b < d : c < d` and
/// `self.?a.orValue(b)` is `has(self.a) ? self.a : b`.
pub(super) fn rewritten(mut expr: Expr) -> Expr {
    rewrite(&mut expr, &Cell::new(MAX_MOVED));
    expr
}

fn rewrite(expr: &mut Expr, left: &Cell<usize>) {
    expr.each_child_mut(&mut |child| grow(|| rewrite(child, left)));
    let Some(rest) = left.get().checked_sub(1) else { return };
    let changed = folded(&expr.kind).or_else(|| or_value(&expr.kind)).or_else(|| moved(expr));
    let Some(changed) = changed else { return };
    left.set(rest);
    expr.kind = changed;
    // There may be a choice in the other operand, too, or two constants.
    if let Kind::Call { arguments, .. } = &mut expr.kind {
        arguments.iter_mut().skip(1).for_each(|part| grow(|| rewrite(part, left)));
    }
}

/// The equality of two constants of a type.
fn folded(kind: &Kind) -> Option<Kind> {
    let Kind::Call { function, target: None, arguments } = kind else { return None };
    let [one, other] = arguments.as_slice() else { return None };
    let is_equal = match (Constant::of(one)?, Constant::of(other)?) {
        (Constant::Text(one), Constant::Text(other)) => one == other,
        (Constant::Int(one), Constant::Int(other)) => one == other,
        (Constant::Bool(one), Constant::Bool(other)) => one == other,
        _ => return None,
    };
    match &**function {
        "_==_" => Some(Kind::Literal(Literal::Bool(is_equal))),
        "_!=_" => Some(Kind::Literal(Literal::Bool(!is_equal))),
        _ => None,
    }
}

/// The value of an optional field, or a default.
fn or_value(kind: &Kind) -> Option<Kind> {
    let Kind::Call { function, target: Some(target), arguments } = kind else { return None };
    let (Kind::Call { function: select, target: None, arguments: selected }, [default]) =
        (&target.kind, arguments.as_slice())
    else {
        return None;
    };
    let [operand, Expr { kind: Kind::Literal(Literal::String(field)), .. }] = selected.as_slice()
    else {
        return None;
    };
    if **function != *"orValue" || **select != *"_?._" || !is_path(operand) {
        return None;
    }
    let select = |test: bool| {
        let field = Arc::clone(field);
        Expr { kind: Kind::Select { operand: Box::new(operand.clone()), field, test }, ..**target }
    };
    Some(choice(select(true), select(false), default.clone()))
}

/// A comparison with a choice in it, as a choice of comparisons.
fn moved(expr: &Expr) -> Option<Kind> {
    let Kind::Call { function, target: None, arguments } = &expr.kind else { return None };
    if !STRICT.contains(&&**function) {
        return None;
    }
    let (at, condition, one, other) = arguments.iter().enumerate().find_map(|(at, part)| {
        let Kind::Call { function, target: None, arguments } = &part.kind else { return None };
        match arguments.as_slice() {
            [condition, one, other] if **function == *"_?_:_" => Some((at, condition, one, other)),
            _ => None,
        }
    })?;
    let with = |part: &Expr| {
        let mut arguments = arguments.clone();
        if let Some(place) = arguments.get_mut(at) {
            *place = part.clone();
        }
        let kind = Kind::Call { function: Arc::clone(function), target: None, arguments };
        Expr { kind, ..*expr }
    };
    Some(choice(condition.clone(), with(one), with(other)))
}

fn choice(condition: Expr, one: Expr, other: Expr) -> Kind {
    Kind::Call { function: "_?_:_".into(), target: None, arguments: vec![condition, one, other] }
}
