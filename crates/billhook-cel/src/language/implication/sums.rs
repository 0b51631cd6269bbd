//! Sums of whole numbers.
//!
//! An integer is added to integers alone, and a sum that is too large has no value. So where
//! a sum with a literal or a size has a value, all its terms are integers, and it is exact.

use super::domain::{Domain, Sort};
use crate::language::ast::{Expr, Kind, Literal};

/// How many terms are looked at.
const MAX_TERMS: usize = 8;

/// A sum of terms and a constant, all of which are integers if it has a value.
pub(super) struct Sum<'e> {
    pub(super) terms: Vec<&'e Expr>,
    constant: i64,
}

impl<'e> Sum<'e> {
    /// Returns the sum that an expression is; none if nothing in it is surely an integer.
    pub(super) fn of(expr: &'e Expr) -> Option<Sum<'e>> {
        let mut sum = Sum { terms: Vec::new(), constant: 0 };
        let (mut pending, mut has_integer, mut count) = (vec![(expr, false)], false, 0);
        while let Some((part, is_minus)) = pending.pop() {
            count += 1;
            if count > 2 * MAX_TERMS {
                return None;
            }
            match &part.kind {
                Kind::Literal(Literal::Int(value)) => {
                    has_integer = true;
                    sum.constant = match is_minus {
                        true => sum.constant.checked_sub(*value)?,
                        false => sum.constant.checked_add(*value)?,
                    };
                }
                Kind::Call { function, target: None, arguments } if !is_minus => {
                    match (&**function, arguments.as_slice()) {
                        ("_+_", [one, other]) => pending.extend([(one, false), (other, false)]),
                        // Only a constant is subtracted.
                        ("_-_", [one, other]) if is_literal(other) => {
                            pending.extend([(one, false), (other, true)]);
                        }
                        _ => {
                            has_integer |= is_size(part);
                            sum.terms.push(part);
                        }
                    }
                }
                _ if is_minus => return None,
                _ => {
                    has_integer |= is_size(part);
                    sum.terms.push(part);
                }
            }
        }
        (has_integer && count > 1 && !sum.terms.is_empty()).then_some(sum)
    }

    /// Returns the same for an expression to which only a constant is added, with one term.
    pub(super) fn of_constant(expr: &'e Expr) -> Option<Sum<'e>> {
        let Kind::Call { function, target: None, arguments } = &expr.kind else { return None };
        let [one, other] = arguments.as_slice() else { return None };
        let (term, constant) = match (&**function, integer(one), integer(other)) {
            ("_+_", None, Some(constant)) => (one, constant),
            ("_+_", Some(constant), None) => (other, constant),
            ("_-_", None, Some(constant)) => (one, constant.checked_neg()?),
            _ => return None,
        };
        Some(Sum { terms: vec![term], constant })
    }

    /// Where a term is if the sum is in a domain: the others are at least what sizes are.
    pub(super) fn of_term(&self, term: &Expr, domain: &Domain) -> Domain {
        let is_other = |other: &&&'e Expr| !std::ptr::eq(**other, term);
        let others: Vec<&&Expr> = self.terms.iter().filter(is_other).collect();
        let integers = Domain::of_sort(Sort::Int);
        match others.as_slice() {
            [] => integers.and(&domain.shifted(self.constant, true)),
            others if others.iter().all(|other| is_size(other)) => {
                integers.and(&domain.shifted(self.constant, false))
            }
            _ => integers,
        }
    }

    /// Where the sum is if its terms are in some domains, and whether it surely has a value.
    pub(super) fn total(&self, domains: &[Domain]) -> Option<Domain> {
        let (mut low, mut high, mut largest) = (0_i128, 0_i128, 0_i128);
        for domain in domains {
            let (least, most) = domain.integers()?;
            let (least, most) = (i128::from(least), i128::from(most));
            (low, high) = (low + least, high + most);
            largest += least.abs().max(most.abs());
        }
        let constant = i128::from(self.constant);
        let is_small = match domains {
            // Each step adds to the only term, or takes away from it.
            [_] if self.constant >= 0 => high + constant <= i128::from(i64::MAX),
            _ => largest + constant.abs() <= i128::from(i64::MAX),
        };
        if !is_small {
            return None;
        }
        let (low, high) =
            (i64::try_from(low + constant).ok()?, i64::try_from(high + constant).ok()?);
        let interval = Domain::from(low, false).and(&Domain::up_to(high, false));
        Some(Domain::of_sort(Sort::Int).and(&interval))
    }
}

fn is_literal(expr: &Expr) -> bool {
    integer(expr).is_some()
}

fn integer(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        Kind::Literal(Literal::Int(value)) => Some(*value),
        _ => None,
    }
}

fn is_size(expr: &Expr) -> bool {
    matches!(&expr.kind, Kind::Call { function, .. } if **function == *"size")
}
