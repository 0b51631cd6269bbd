//! Whether a rule follows from others.
//!
//! Rules become conjunctions of alternatives, whose conditions say where the value of an expression
//! is. A rule follows if it is absurd that none of its alternatives holds: what each of the others
//! leaves open is narrowed down, and if need be taken case by case.

mod atoms;
mod counting;
mod domain;
mod proof;
mod rewrite;
mod sums;
mod text;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use billhook_apimachinery::value::grow;

use self::atoms::{Clause, Reader};
use self::proof::{Facts, Prover};
use self::text::Scope;
use super::ast::{Expr, Kind};
use super::availability::Language;
use super::parse::parse;
use super::source::Source;

/// How many alternatives of all premises are taken into account.
const MAX_PREMISES: usize = 400;

/// Returns whether it is proved that a rule is true whenever all of some others are. That nothing
/// was proved says nothing: the work is bounded, and not all functions are known.
///
/// A rule that follows from no premises is true for every value, and `false` follows from rules that
/// no value keeps together.
///
/// ```
/// use billhook_cel::implies;
/// assert!(implies(&["self.a <= 3 && has(self.b)"], "self.a < 5 || self.c"));
/// assert!(implies(&["!(has(self.a) || has(self.b))"], "!has(self.b)"));
/// assert!(implies(&["self.all(x, x.size() > 2)"], "self.all(item, item.size() > 1)"));
/// assert!(implies(&["self.matches('^[a-z]+$')", "self.size() < 9"], "self.matches('^[a-z]{1,8}$')"));
/// assert!(!implies(&["self.a < 5"], "self.a <= 3"));
///
/// assert!(implies(&[], "!has(self.a) || has(self.a)"));
/// assert!(implies(&["self.a < 3", "self.b || 5 <= self.a", "!self.b"], "false"));
/// ```
pub fn implies(premises: &[&str], conclusion: &str) -> bool {
    implies_with_types(premises, &[], conclusion)
}

/// [`implies`] for values of types that a server enforces: each of the conditions is about one
/// expression, and true wherever that has a value. An integer may be sent as `7.0`, which is an
/// error to rules that read it.
///
/// ```
/// use billhook_cel::implies_with_types;
/// let types = ["type(self.a) == int", "self.a <= 9"];
/// assert!(implies_with_types(&["self.a > 3"], &types, "self.a >= 4 && self.a < 10"));
/// assert!(!implies_with_types(&["has(self.a)"], &types, "self.a < 10"));
/// ```
pub fn implies_with_types(premises: &[&str], types: &[&str], conclusion: &str) -> bool {
    let parsed = |text: &str| {
        let expr = parse(&Source::new(text), Language::default()).ok()?;
        Some(rewrite::rewritten(expr))
    };
    let Some(conclusion) = parsed(conclusion) else { return false };
    let premises: Vec<_> = premises.iter().filter_map(|text| parsed(text)).collect();
    let (reader, scope) = (Reader::default(), Rc::new(Scope::default()));
    let known: BTreeSet<_> = premises.iter().flat_map(|it| conjuncts(it, &scope)).collect();
    if conjuncts(&conclusion, &scope).iter().all(|wanted| known.contains(wanted)) {
        return true;
    }
    let wanted = reader.clauses(&conclusion, true, &scope);
    let held = premises.iter().flat_map(|premise| reader.clauses(premise, true, &scope));
    let held: Vec<Clause<'_>> = held.take(MAX_PREMISES).collect();
    let types: Vec<_> = types.iter().filter_map(|text| parsed(text)).collect();
    let types = reader.types(&types, &scope);
    let prover = Prover::new(&reader);
    wanted.iter().all(|goal| prover.proves(Facts::of(types.clone()), held.clone(), goal))
}

/// The texts of what is joined by `&&`.
fn conjuncts(expr: &Expr, scope: &Scope) -> Vec<Arc<str>> {
    match &expr.kind {
        Kind::Call { function, target: None, arguments } if **function == *"_&&_" => {
            arguments.iter().flat_map(|part| grow(|| conjuncts(part, scope))).collect()
        }
        _ => vec![text::text(expr, scope)],
    }
}
