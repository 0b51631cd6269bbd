//! Rules that have the same result for all values.

use super::availability::Language;
use super::implication::{Atom, Clause, Order, clauses};
use super::parse::parse;
use super::reads::reads;
use super::source::Source;

/// Returns whether it is proved that a rule is true for every value of its type.
///
/// ```
/// use billhook_cel::is_tautology;
/// assert!(is_tautology("!has(self.a) || has(self.a)"));
/// assert!(!is_tautology("!has(self.a) || has(self.b)"));
/// ```
pub fn is_tautology(rule: &str) -> bool {
    reads(rule).is_ok_and(|reads| reads.is_total)
        && clauses_of(rule).is_some_and(|clauses| clauses.iter().all(is_always_true))
}

/// Returns whether it is proved that no value keeps all of some rules.
///
/// ```
/// use billhook_cel::is_contradiction;
/// assert!(is_contradiction(&["self.a < 3", "self.b || 5 <= self.a", "!self.b"]));
/// assert!(!is_contradiction(&["self.a < 3", "self.a > 1"]));
/// ```
pub fn is_contradiction(rules: &[&str]) -> bool {
    let mut clauses: Vec<Clause> =
        rules.iter().filter_map(|rule| clauses_of(rule)).flatten().collect();
    // Each turn leaves out what contradicts the conditions that stand alone.
    loop {
        let known: Vec<Atom> = clauses.iter().filter_map(|clause| only(clause)).cloned().collect();
        let before: usize = clauses.iter().map(Vec::len).sum();
        let excluded = |atom: &Atom| {
            atom.is_false() || known.iter().any(|known| known != atom && known.excludes(atom))
        };
        clauses.iter_mut().for_each(|clause| clause.retain(|atom| !excluded(atom)));
        if clauses.iter().any(Vec::is_empty) {
            return true;
        }
        if clauses.iter().map(Vec::len).sum::<usize>() == before {
            return false;
        }
    }
}

fn clauses_of(rule: &str) -> Option<Vec<Clause>> {
    clauses(&parse(&Source::new(rule), Language::default()).ok()?, true)
}

fn only(clause: &Clause) -> Option<&Atom> {
    match clause.as_slice() {
        [atom] => Some(atom),
        _ => None,
    }
}

/// Whether one of its conditions is true whatever the value.
fn is_always_true(clause: &Clause) -> bool {
    clause.iter().any(|one| one.is_true() || clause.iter().any(|other| one.completes(other)))
}

impl Atom {
    fn is_false(&self) -> bool {
        [("true", false), ("false", true)]
            .iter()
            .any(|(text, is_so)| *self == Atom::Plain((*text).to_owned(), *is_so))
    }

    /// Whether one of the two is true, whatever the value.
    fn completes(&self, other: &Atom) -> bool {
        match (self, other) {
            (Atom::Plain(one, is_so), Atom::Plain(two, is_other)) => {
                one == two && is_so != is_other
            }
            (Atom::OneOf(one, entries, true), Atom::OneOf(two, others, false)) => {
                one == two && others.iter().all(|entry| entries.contains(entry))
            }
            _ => false,
        }
    }

    /// Whether no value meets both conditions.
    fn excludes(&self, other: &Atom) -> bool {
        match (self, other) {
            (Atom::Plain(one, is_so), Atom::Plain(two, is_other)) => {
                one == two && is_so != is_other
            }
            (Atom::OneOf(one, entries, true), Atom::OneOf(two, others, true)) => {
                one == two && !entries.iter().any(|entry| others.contains(entry))
            }
            (Atom::OneOf(one, entries, true), Atom::OneOf(two, others, false))
            | (Atom::OneOf(two, others, false), Atom::OneOf(one, entries, true)) => {
                one == two && entries.iter().all(|entry| others.contains(entry))
            }
            (Atom::Number(one, order, bound), Atom::Number(two, other, limit)) => {
                one == two
                    && (is_apart((order, bound), (other, limit))
                        || is_apart((other, limit), (order, bound)))
            }
            _ => false,
        }
    }
}

/// Whether all numbers of a range from above are less than those of a range from below.
fn is_apart((order, upper): (&Order, &i64), (other, lower): (&Order, &i64)) -> bool {
    use Order::{Greater, GreaterOrEqual, Less, LessOrEqual};
    match (order, other) {
        (LessOrEqual, GreaterOrEqual) => upper < lower,
        (Less | LessOrEqual, Greater | GreaterOrEqual) => upper <= lower,
        _ => false,
    }
}
