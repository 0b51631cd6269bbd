//! The search for a proof.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use billhook_apimachinery::value::grow;

use super::atoms::{Atom, Clause, Condition, Quantified, Reader, Value, all, is_path};
use super::counting::Count;
use super::domain::{Constant, Domain, Searches, Sort};
use super::sums::Sum;
use super::text::{self, text};
use crate::language::ast::{Expr, Kind};

/// How many cases and quantifiers are looked into.
const MAX_STEPS: usize = 200;

/// The steps of all searches for texts.
const MAX_TEXT_STEPS: u64 = 1 << 20;

/// Conditions that hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts<'e> {
    /// Where the values of expressions are, all of which have one.
    known: BTreeMap<Arc<str>, Domain>,
    quantified: Vec<Quantified<'e>>,
    is_absurd: bool,
    /// Where values are wherever there are some.
    types: Rc<Types>,
}

/// Where the values of expressions, by their texts, are wherever they have one.
pub(super) type Types = BTreeMap<Arc<str>, Domain>;

impl<'e> Facts<'e> {
    pub(super) fn of(types: Types) -> Self {
        Facts { types: Rc::new(types), ..Facts::default() }
    }

    fn domain(&self, of: &Value<'e>) -> Domain {
        let known = self.at(&of.text).and(&of.all);
        [self.total(of), self.size(of)].into_iter().flatten().fold(known, |all, it| all.and(&it))
    }

    /// Where the size of a text is.
    fn size(&self, of: &Value<'e>) -> Option<Domain> {
        let Kind::Call { function, target, arguments } = &of.expr.kind else { return None };
        let part = match (&**function, target.as_deref(), arguments.as_slice()) {
            ("size", Some(part), []) | ("size", None, [part]) => part,
            _ => return None,
        };
        self.at(&text(part, &of.scope)).sizes()
    }

    /// Where a sum is, if it surely has a value.
    fn total(&self, of: &Value<'e>) -> Option<Domain> {
        let domain = |term: &&Expr| {
            let text = text::number(term, &of.scope);
            let known = self.known.contains_key(&text).then(|| self.at(&text).and(&all(term)))?;
            // A sum that is known has a value.
            let is_integer = Sum::of(term).is_some();
            Some(if is_integer { known.and(&Domain::of_sort(Sort::Int)) } else { known })
        };
        let total =
            |sum: Sum<'_>| sum.total(&sum.terms.iter().map(domain).collect::<Option<Vec<_>>>()?);
        let (whole, outer) = (Sum::of(of.expr), Sum::of_constant(of.expr));
        match (whole.and_then(total), outer.and_then(total)) {
            (Some(one), Some(other)) => Some(one.and(&other)),
            (one, other) => one.or(other),
        }
    }

    fn at(&self, text: &str) -> Domain {
        let mut known = self.known.get(text).cloned().unwrap_or_default();
        if let Some(type_) = self.types.get(text) {
            known = known.and(type_);
        }
        match self.known.get(text::size(text).as_str()) {
            Some(sizes) => known.sized(sizes),
            None => known,
        }
    }

    fn narrow(&mut self, text: &Arc<str>, domain: Domain, searches: &mut Searches) {
        self.is_absurd |= domain.is_empty(searches);
        self.known.insert(Arc::clone(text), domain);
    }

    fn learn(&mut self, atom: &Atom<'e>, searches: &mut Searches) {
        match &atom.condition {
            Condition::Value(value) => {
                let domain = self.domain(value).and(&value.domain);
                self.narrow(&value.text, domain, searches);
            }
            Condition::Quantified(quantified) => self.quantified.push(quantified.clone()),
        }
        for (text, domain) in self.consequences(atom) {
            let domain = self.at(text).and(domain);
            self.narrow(text, domain, searches);
        }
    }

    /// Where the values of other expressions are if an atom holds.
    fn consequences<'a>(
        &self,
        atom: &'a Atom<'e>,
    ) -> impl Iterator<Item = &'a (Arc<str>, Domain)> + use<'a, 'e> {
        let is_test = atom
            .value()
            .is_some_and(|value| matches!(value.expr.kind, Kind::Select { test: true, .. }));
        let types = Rc::clone(&self.types);
        // What is present may be of another type than it is to have.
        atom.consequences.iter().filter(move |(text, _)| !(is_test && types.contains_key(text)))
    }

    /// Whether it is known that an expression has a value.
    fn is_defined(&self, of: &Value<'e>) -> bool {
        if self.known.contains_key(&of.text) {
            return true;
        }
        // What has a type here may be of another one, which is an error.
        let is_variable = |text: &str, expr: &Expr| match &expr.kind {
            Kind::Literal(_) => true,
            Kind::Ident(_) => !self.types.contains_key(text),
            _ => false,
        };
        let is_known = |expr: &Expr| {
            let text = text(expr, &of.scope);
            self.known.contains_key(&text) || is_variable(&text, expr)
        };
        match &of.expr.kind {
            _ if self.total(of).is_some() || is_variable(&of.text, of.expr) => true,
            Kind::Select { test: false, .. } if self.types.contains_key(&of.text) => false,
            Kind::Select { operand, field, test: false } if is_path(operand) => {
                self.at(&text::select(operand, field, true, &of.scope)).is_bool(true)
            }
            Kind::Select { operand, test: true, .. } => match &operand.kind {
                // Elements need not be objects.
                Kind::Ident(name) => {
                    !of.scope.declares(name) && ["self", "oldSelf"].contains(&&**name)
                }
                _ => false,
            },
            Kind::Call { function, target, arguments } => {
                let mut parts = target.as_deref().into_iter().chain(arguments);
                match &**function {
                    "_==_" | "_!=_" => parts.all(is_known),
                    "size" => parts.all(|part| self.at(&text(part, &of.scope)).is_of(Sort::Text)),
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

/// Looks for proofs, a bounded number of steps long.
pub(super) struct Prover<'r> {
    reader: &'r Reader,
    left: Cell<usize>,
    searches: RefCell<Searches>,
}

impl<'r> Prover<'r> {
    pub(super) fn new(reader: &'r Reader) -> Self {
        let searches = RefCell::new(Searches::of(MAX_TEXT_STEPS));
        Prover { reader, left: Cell::new(MAX_STEPS), searches }
    }

    /// Whether a condition of the goal holds if one of each clause does.
    pub(super) fn proves<'e>(
        &self,
        mut facts: Facts<'e>,
        mut clauses: Vec<Clause<'e>>,
        goal: &Clause<'e>,
    ) -> bool {
        let Some(left) = self.left.get().checked_sub(1) else { return false };
        self.left.set(left);
        loop {
            if facts.is_absurd || goal.iter().any(|wanted| self.holds(&facts, wanted)) {
                return true;
            }
            self.deny(&mut facts, goal);
            let mut has_changed = false;
            let mut open = Vec::new();
            for mut clause in std::mem::take(&mut clauses) {
                if clause.iter().any(|atom| self.holds(&facts, atom)) {
                    continue;
                }
                let before = clause.len();
                clause.retain(|atom| self.can_hold(&facts, atom, goal));
                has_changed |= clause.len() < before;
                match clause.as_slice() {
                    [] => return true,
                    [only] => {
                        facts.learn(only, &mut self.searches.borrow_mut());
                        has_changed = true;
                    }
                    _ => open.push(clause),
                }
            }
            clauses = open;
            if facts.is_absurd {
                return true;
            }
            if !has_changed {
                break;
            }
        }
        let shortest = (0..clauses.len()).min_by_key(|index| clauses.get(*index).map(Vec::len));
        let Some(shortest) = shortest else { return false };
        let cases = clauses.remove(shortest);
        cases.iter().all(|case| {
            let mut facts = facts.clone();
            facts.learn(case, &mut self.searches.borrow_mut());
            grow(|| self.proves(facts, clauses.clone(), goal))
        })
    }

    /// Learns what follows from that no condition of a goal holds.
    fn deny<'e>(&self, facts: &mut Facts<'e>, goal: &Clause<'e>) {
        for wanted in goal {
            if let Some(value) = wanted.value()
                && facts.is_defined(value)
                && let Some(rest) = value.domain.without(&facts.domain(value))
            {
                facts.narrow(&value.text, rest, &mut self.searches.borrow_mut());
            }
        }
    }

    /// Whether a condition is known to hold.
    fn holds<'e>(&self, facts: &Facts<'e>, atom: &Atom<'e>) -> bool {
        match &atom.condition {
            Condition::Value(value) => {
                let is_within = || {
                    let domain = facts.domain(value);
                    value.domain.includes(&domain, &mut self.searches.borrow_mut())
                };
                (facts.is_defined(value) && is_within()) || self.counts_none(facts, value)
            }
            Condition::Quantified(quantified) => self.follows(facts, None, quantified),
        }
    }

    /// Whether a number of elements is zero, and may be, because something is false for all of them.
    fn counts_none<'e>(&self, facts: &Facts<'e>, value: &Value<'e>) -> bool {
        let count = Count::of_size(value.expr).or_else(|| Count::of_one(value.expr));
        let Some(Count { range, variable, test }) = count else { return false };
        let none = Domain::of_sort(Sort::Int).and(&Domain::only([Constant::Int(0)].into()));
        let fails = Quantified {
            is_for_all: true,
            range,
            range_text: text(range, &value.scope),
            variables: vec![Arc::clone(variable)],
            body: test,
            is_true: false,
            scope: Rc::clone(&value.scope),
        };
        value.domain.includes(&none, &mut self.searches.borrow_mut())
            && grow(|| self.follows(facts, None, &fails))
    }

    /// Whether a condition may hold while none of a goal does.
    fn can_hold<'e>(&self, facts: &Facts<'e>, atom: &Atom<'e>, goal: &Clause<'e>) -> bool {
        let mut searches = self.searches.borrow_mut();
        let mut all: Vec<(&Arc<str>, Domain)> = facts
            .consequences(atom)
            .map(|(text, domain)| (text, facts.at(text).and(domain)))
            .collect();
        if let Some(value) = atom.value() {
            all.push((&value.text, facts.domain(value).and(&value.domain)));
        }
        for (text, domain) in all {
            let mut wanted = goal.iter().filter_map(Atom::value).filter(|it| it.text == *text);
            if domain.is_empty(&mut searches)
                || wanted.any(|it| it.domain.includes(&domain.and(&it.all), &mut searches))
            {
                return false;
            }
        }
        drop(searches);
        let Condition::Quantified(quantified) = &atom.condition else { return true };
        !goal.iter().any(|wanted| match &wanted.condition {
            Condition::Quantified(wanted) => self.follows(facts, Some(quantified), wanted),
            Condition::Value(_) => false,
        })
    }

    /// Whether a condition for elements follows from others for elements of the same range, of which
    /// one is not known to hold.
    fn follows<'e>(
        &self,
        facts: &Facts<'e>,
        from: Option<&Quantified<'e>>,
        wanted: &Quantified<'e>,
    ) -> bool {
        let is_like = |other: &&Quantified<'e>| {
            other.range_text == wanted.range_text && other.variables.len() == wanted.variables.len()
        };
        let sources: Vec<&Quantified<'e>> =
            facts.quantified.iter().chain(from).filter(is_like).collect();
        let (for_all, for_one): (Vec<_>, Vec<_>) =
            sources.into_iter().partition(|source| source.is_for_all);
        let leads = |from: &[&Quantified<'e>]| {
            let clauses: Vec<_> = from.iter().flat_map(|source| self.body(source)).collect();
            // Elsewhere, elements of other ranges have the names of those of this one.
            let known = || Facts { quantified: Vec::new(), ..facts.clone() };
            self.body(wanted)
                .iter()
                .all(|goal| grow(|| self.proves(known(), clauses.clone(), goal)))
        };
        match wanted.is_for_all {
            // Without others, the range may be absent.
            true => !for_all.is_empty() && leads(&for_all),
            false => for_one.iter().any(|one| {
                let all: Vec<_> = for_all.iter().chain([one]).copied().collect();
                leads(&all)
            }),
        }
    }

    /// The clauses of the body of a quantifier.
    fn body<'e>(&self, of: &Quantified<'e>) -> Vec<Clause<'e>> {
        let scope = Rc::new(of.scope.within(&of.variables));
        self.reader.clauses(of.body, of.is_true, &scope)
    }
}
