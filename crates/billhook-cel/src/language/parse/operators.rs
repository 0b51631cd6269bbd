//! Operators that bind to the left.

/// An operator between two operands.
pub(super) struct Operator {
    pub(super) symbol: &'static str,
    pub(super) function: &'static str,
    pub(super) precedence: usize,
}

const fn operator(symbol: &'static str, function: &'static str, precedence: usize) -> Operator {
    Operator { symbol, function, precedence }
}

pub(super) const RELATIONS: [Operator; 7] = [
    operator("<", "_<_", 0),
    operator("<=", "_<=_", 0),
    operator(">=", "_>=_", 0),
    operator(">", "_>_", 0),
    operator("==", "_==_", 0),
    operator("!=", "_!=_", 0),
    operator("in", "@in", 0),
];

pub(super) const CALCULATIONS: [Operator; 5] = [
    operator("*", "_*_", 1),
    operator("/", "_/_", 1),
    operator("%", "_%_", 1),
    operator("+", "_+_", 0),
    operator("-", "_-_", 0),
];
