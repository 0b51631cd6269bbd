//! Rules as conjunctions of alternatives.
//!
//! `&&`, `||` and `!` of the language are those of a logic of three values, in which an error lies
//! between false and true. "Is true" and "is false" are conditions of a logic of two values, in which
//! the laws of distribution and of De Morgan hold.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use billhook_apimachinery::value::grow;
use billhook_regex::Patterns;

use super::counting::Count;
use super::domain::{Constant, DURATION, Domain, Sort};
use super::sums::Sum;
use super::text::{self, Scope, equation, relation, select, text};
use crate::language::ast::{Comprehension, Expr, Kind, Literal};

/// How many clauses a rule may become.
const MAX_CLAUSES: usize = 64;

/// The comparisons of which two values that are in order keep one.
const ORDERS: [&str; 4] = ["_<_", "_<=_", "_>_", "_>=_"];

/// How many conditions are counted together.
const MAX_COUNTED: usize = 5;

/// Conditions of which one holds.
pub(super) type Clause<'e> = Vec<Atom<'e>>;

/// A condition that is not taken apart.
#[derive(Clone, Debug)]
pub(super) struct Atom<'e> {
    pub(super) condition: Condition<'e>,
    /// Where the values of other expressions, by their texts, are if it holds.
    pub(super) consequences: Vec<(Arc<str>, Domain)>,
}

#[derive(Clone, Debug)]
pub(super) enum Condition<'e> {
    Value(Box<Value<'e>>),
    Quantified(Quantified<'e>),
}

/// An expression that has a value, and which.
#[derive(Clone, Debug)]
pub(super) struct Value<'e> {
    pub(super) text: Arc<str>,
    pub(super) expr: &'e Expr,
    pub(super) scope: Rc<Scope>,
    pub(super) domain: Domain,
    /// The values that the expression can have at all.
    pub(super) all: Domain,
}

/// A condition for all elements of a range, or for one of them.
#[derive(Clone, Debug)]
pub(super) struct Quantified<'e> {
    pub(super) is_for_all: bool,
    pub(super) range: &'e Expr,
    pub(super) range_text: Arc<str>,
    pub(super) variables: Vec<Arc<str>>,
    pub(super) body: &'e Expr,
    /// Whether the body is to be true; otherwise it is to be false.
    pub(super) is_true: bool,
    pub(super) scope: Rc<Scope>,
}

/// Takes expressions apart.
#[derive(Debug, Default)]
pub(super) struct Reader {
    patterns: Patterns,
}

impl Reader {
    /// The conjunction of alternatives under which an expression is true, or false. What would become
    /// too large is not taken apart.
    pub(super) fn clauses<'e>(
        &self,
        expr: &'e Expr,
        is_true: bool,
        scope: &Rc<Scope>,
    ) -> Vec<Clause<'e>> {
        self.parts(expr, is_true, scope).unwrap_or_else(|| {
            let condition = match quantified(expr, is_true, scope) {
                Some(quantified) => Condition::Quantified(quantified),
                None => Condition::Value(Box::new(self.value(expr, is_true, scope))),
            };
            vec![vec![Atom::new(condition)]]
        })
    }

    /// Where the values of expressions are of which there is a condition each.
    pub(super) fn types(
        &self,
        conditions: &[Expr],
        scope: &Rc<Scope>,
    ) -> BTreeMap<Arc<str>, Domain> {
        let mut types: BTreeMap<Arc<str>, Domain> = BTreeMap::new();
        for condition in conditions {
            let Value { text, domain, .. } = self.value(condition, true, scope);
            let known = types.remove(&text).unwrap_or_default();
            types.insert(text, known.and(&domain));
        }
        types
    }

    /// The same for an expression that can be taken apart.
    fn parts<'e>(
        &self,
        expr: &'e Expr,
        is_true: bool,
        scope: &Rc<Scope>,
    ) -> Option<Vec<Clause<'e>>> {
        let of = |expr, is_true| grow(|| self.clauses(expr, is_true, scope));
        match &expr.kind {
            Kind::Literal(Literal::Bool(value)) if *value == is_true => return Some(Vec::new()),
            Kind::Literal(Literal::Bool(_)) => return Some(vec![Vec::new()]),
            Kind::Call { function, target: None, arguments } => {
                match (&**function, arguments.as_slice()) {
                    ("!_", [inner]) => return Some(of(inner, !is_true)),
                    ("_&&_" | "_||_", [one, other]) => {
                        let (one, other) = (of(one, is_true), of(other, is_true));
                        return match (**function == *"_&&_") == is_true {
                            true => Some([one, other].concat()),
                            false => or(&one, &other),
                        };
                    }
                    ("_?_:_", [condition, one, other]) => {
                        let (holds, fails) = (of(condition, true), of(condition, false));
                        let one = or(&fails, &of(one, is_true))?;
                        let other = or(&holds, &of(other, is_true))?;
                        return Some([or(&holds, &fails)?, one, other].concat());
                    }
                    ("_==_" | "_!=_", [one, other]) if is_condition(one) && is_condition(other) => {
                        // Both hold, or both fail.
                        let is_equal = (**function == *"_==_") == is_true;
                        let (holds, fails) = (of(one, true), of(one, false));
                        let (same, others) = (of(other, is_equal), of(other, !is_equal));
                        let pairs = [
                            (&holds, &fails),
                            (&holds, &others),
                            (&same, &fails),
                            (&same, &others),
                        ];
                        let clauses = pairs.map(|(one, other)| or(one, other));
                        return Some(clauses.into_iter().collect::<Option<Vec<_>>>()?.concat());
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        let (conditions, is_wanted) = count(expr)?;
        if conditions.len() > MAX_COUNTED {
            return None;
        }
        self.counted(&conditions, &|number| is_wanted(number) == is_true, scope)
    }

    /// The clauses that say that as many conditions are true as are wanted, and the others false.
    fn counted<'e>(
        &self,
        conditions: &[&'e Expr],
        is_wanted: &dyn Fn(i64) -> bool,
        scope: &Rc<Scope>,
    ) -> Option<Vec<Clause<'e>>> {
        let clauses = |condition: &&'e Expr| {
            let of = |is_true| grow(|| self.clauses(condition, is_true, scope));
            (of(true), of(false))
        };
        let conditions: Vec<_> = conditions.iter().map(clauses).collect();
        let mut all = Vec::new();
        for (holds, fails) in &conditions {
            all.extend(or(holds, fails)?);
        }
        for case in 0_u32..1 << conditions.len() {
            if is_wanted(i64::from(case.count_ones())) {
                continue;
            }
            let mut clauses = vec![Vec::new()];
            for (index, (holds, fails)) in conditions.iter().enumerate() {
                let is_otherwise = if case >> index & 1 == 1 { fails } else { holds };
                clauses = or(&clauses, is_otherwise)?;
            }
            all.extend(clauses);
        }
        Some(all)
    }

    /// The expression that a condition is about, and where its value is.
    fn value<'e>(&self, expr: &'e Expr, is_true: bool, scope: &Rc<Scope>) -> Value<'e> {
        let about = |expr: &'e Expr, domain| Value {
            text: text(expr, scope),
            expr,
            scope: Rc::clone(scope),
            domain,
            all: all(expr),
        };
        let plain = || about(expr, Domain::bool(is_true));
        // What is compared with a number may be written in another order.
        let number = |of: &'e Expr, domain: Domain| {
            let text =
                if domain.has_integers() { text::number(of, scope) } else { text(of, scope) };
            Value { text, ..about(of, domain) }
        };
        if let Some(count) = Count::of_one(expr) {
            let domain = one_of([Constant::Int(1)].into(), is_true);
            return Value { text: text::count(count, scope), all: sizes(), ..about(expr, domain) };
        }
        let Kind::Call { function, target, arguments } = &expr.kind else { return plain() };
        match (&**function, target.as_deref(), arguments.as_slice()) {
            ("_==_" | "_!=_", None, [one, other]) => {
                let is_equal = is_true == (**function == *"_==_");
                if let Some((of, sort)) = sort_of(one, other)
                    && is_equal
                {
                    return about(of, Domain::of_sort(sort));
                }
                match Constant::of_pair(one, other) {
                    (None, Some(constant)) => number(one, one_of([constant].into(), is_equal)),
                    (Some(constant), None) => number(other, one_of([constant].into(), is_equal)),
                    _ => Value {
                        text: equation(&text(one, scope), &text(other, scope)),
                        ..about(expr, Domain::bool(is_equal))
                    },
                }
            }
            ("@in", None, [one, Expr { kind: Kind::List(entries), .. }]) => {
                let constants = entries
                    .iter()
                    .map(|(entry, optional)| Constant::of(entry).filter(|_| !optional));
                match constants.collect::<Option<_>>() {
                    Some(constants) => about(one, one_of(constants, is_true)),
                    None => plain(),
                }
            }
            ("_<_" | "_<=_" | "_>_" | "_>=_", None, [one, other]) => {
                // What is not a number is neither less nor greater than another one.
                let are_ordered = is_ordered(one) && is_ordered(other);
                if !(is_true || are_ordered) {
                    return plain();
                }
                let (is_less, is_open) = match (&**function, is_true) {
                    ("_<_", true) | ("_>=_", false) => (true, true),
                    ("_<=_", true) | ("_>_", false) => (true, false),
                    ("_>_", true) | ("_<=_", false) => (false, true),
                    _ => (false, false),
                };
                let interval = |at, is_less| match is_less {
                    true => Domain::up_to(at, is_open),
                    false => Domain::from(at, is_open),
                };
                match Constant::of_pair(one, other) {
                    (None, Some(Constant::Int(at))) => number(one, interval(at, is_less)),
                    (Some(Constant::Int(at)), None) => number(other, interval(at, !is_less)),
                    _ if !are_ordered => plain(),
                    _ => {
                        let (one, other) = (text(one, scope), text(other, scope));
                        let (least, most) = if is_less { (one, other) } else { (other, one) };
                        let (text, holds) = match is_open {
                            true => (relation(&most, "<=", &least), false),
                            false => (relation(&least, "<=", &most), true),
                        };
                        Value { text, ..about(expr, Domain::bool(holds)) }
                    }
                }
            }
            (
                "matches" | "startsWith" | "endsWith" | "contains",
                Some(of),
                [Expr { kind: Kind::Literal(Literal::String(part)), .. }],
            )
            | ("matches", None, [of, Expr { kind: Kind::Literal(Literal::String(part)), .. }]) => {
                let quoted = text::quoted(part);
                let pattern = match &**function {
                    "startsWith" => format!("\\A{quoted}"),
                    "endsWith" => format!("{quoted}\\z"),
                    "contains" => quoted,
                    _ => part.to_string(),
                };
                match self.patterns.get(&pattern) {
                    Ok(pattern) => about(of, Domain::matching(pattern, is_true)),
                    Err(_) => plain(),
                }
            }
            _ => plain(),
        }
    }
}

impl<'e> Atom<'e> {
    fn new(condition: Condition<'e>) -> Self {
        let mut consequences = Vec::new();
        match &condition {
            Condition::Value(value) => {
                read(value.expr, &value.scope, &mut consequences);
                consequences.extend(value.terms());
                if value.domain.is_bool(true) {
                    consequences.extend(value.follow_from_truth());
                }
                consequences.extend(value.follows_from_order());
            }
            Condition::Quantified(Quantified { range, range_text, scope, is_for_all, .. }) => {
                read(range, scope, &mut consequences);
                if !is_for_all {
                    let sizes = sizes().and(&Domain::from(1, false));
                    consequences.push((text::size(range_text).into(), sizes));
                }
            }
        }
        Atom { condition, consequences }
    }

    /// The value that it is about, unless it is about elements.
    pub(super) fn value(&self) -> Option<&Value<'e>> {
        match &self.condition {
            Condition::Value(value) => Some(value),
            Condition::Quantified(_) => None,
        }
    }
}

impl Value<'_> {
    /// Where the terms of a sum are.
    fn terms(&self) -> Vec<(Arc<str>, Domain)> {
        let Some(sum) = Sum::of(self.expr) else { return Vec::new() };
        let term = |term: &&Expr| (text(term, &self.scope), sum.of_term(term, &self.domain));
        sum.terms.iter().map(term).collect()
    }

    /// The order of two expressions of which one is less than the other one.
    fn follows_from_order(&self) -> Option<(Arc<str>, Domain)> {
        let Kind::Call { function, target: None, arguments } = &self.expr.kind else { return None };
        let [one, other] = arguments.as_slice() else { return None };
        if !ORDERS.contains(&&**function) || !self.domain.is_bool(false) {
            return None;
        }
        let (one, other) = (text(one, &self.scope), text(other, &self.scope));
        let (up, down) = (relation(&one, "<=", &other), relation(&other, "<=", &one));
        let is_up = self.text == up;
        (is_up || self.text == down).then(|| (if is_up { down } else { up }, Domain::bool(true)))
    }

    /// Where the values of other expressions are if this one is true.
    fn follow_from_truth(&self) -> Vec<(Arc<str>, Domain)> {
        let of = |expr| text(expr, &self.scope);
        match &self.expr.kind {
            Kind::Select { operand, field, test: true } if is_path(operand) => {
                vec![(select(operand, field, false, &self.scope), Domain::default())]
            }
            Kind::Call { function, arguments, .. } => match (&**function, arguments.as_slice()) {
                // It may also be a difference that is true.
                ("_==_" | "_!=_", [one, other]) if self.text == equation(&of(one), &of(other)) => {
                    let (one, other) = (of(one), of(other));
                    let orders = [relation(&one, "<=", &other), relation(&other, "<=", &one)];
                    orders.map(|order| (order, Domain::bool(true))).into()
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}

/// One of two conjunctions; none if that is too large.
fn or<'e>(one: &[Clause<'e>], other: &[Clause<'e>]) -> Option<Vec<Clause<'e>>> {
    let alternatives = |one: &Clause<'e>| -> Vec<Clause<'e>> {
        other.iter().map(|other| [one.as_slice(), other].concat()).collect()
    };
    (one.len() * other.len() <= MAX_CLAUSES).then(|| one.iter().flat_map(alternatives).collect())
}

fn one_of(constants: BTreeSet<Constant>, is_in: bool) -> Domain {
    match is_in {
        true => Domain::only(constants),
        false => Domain::other_than(constants),
    }
}

/// The values that an expression can have, whatever the object.
pub(super) fn all(expr: &Expr) -> Domain {
    match &expr.kind {
        Kind::Literal(_) => {
            Constant::of(expr).map_or_else(Domain::default, |it| Domain::only([it].into()))
        }
        Kind::Call { function, .. } if **function == *"size" => sizes(),
        Kind::Call { function, .. } if **function == *DURATION => Domain::of_sort(Sort::Int),
        _ if is_condition(expr) => Domain::of_sort(Sort::Bool).and(&Domain::default()),
        _ => Domain::default(),
    }
}

fn sizes() -> Domain {
    Domain::of_sort(Sort::Int).and(&Domain::from(0, false))
}

/// The expression that is compared with a type, and the sort of its values.
fn sort_of<'e>(one: &'e Expr, other: &'e Expr) -> Option<(&'e Expr, Sort)> {
    let sort = |expr: &Expr| match &expr.kind {
        Kind::Ident(name) => match &**name {
            "bool" => Some(Sort::Bool),
            "int" => Some(Sort::Int),
            "double" => Some(Sort::Double),
            "string" => Some(Sort::Text),
            _ => None,
        },
        _ => None,
    };
    let of = |expr: &'e Expr| match &expr.kind {
        Kind::Call { function, target: None, arguments } if **function == *"type" => {
            arguments.first().filter(|of| is_path(of))
        }
        _ => None,
    };
    of(one).zip(sort(other)).or_else(|| of(other).zip(sort(one)))
}

/// Whether an expression is a variable or a field, in however many steps.
pub(super) fn is_path(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Ident(_) => true,
        Kind::Select { operand, test: false, .. } => grow(|| is_path(operand)),
        _ => false,
    }
}

/// Whether the values of an expression are in order with all others of their type.
fn is_ordered(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Literal(_) => true,
        Kind::Call { function, .. } => ["size", DURATION].contains(&&**function),
        _ => is_path(expr),
    }
}

/// Whether an expression has no values but true and false.
fn is_condition(expr: &Expr) -> bool {
    const CONDITIONS: [&str; 14] = [
        "!_",
        "_&&_",
        "_||_",
        "_==_",
        "_!=_",
        "_<_",
        "_<=_",
        "_>_",
        "_>=_",
        "@in",
        "matches",
        "startsWith",
        "endsWith",
        "contains",
    ];
    match &expr.kind {
        Kind::Literal(Literal::Bool(_)) => true,
        Kind::Select { test, .. } => *test,
        Kind::Call { function, .. } => CONDITIONS.contains(&&**function),
        _ => quantified(expr, true, &Rc::default()).is_some(),
    }
}

/// Collects what is read whenever an expression has a value: fields are present then.
fn read(expr: &Expr, scope: &Scope, found: &mut Vec<(Arc<str>, Domain)>) {
    match &expr.kind {
        Kind::Select { operand, field, test } => {
            grow(|| read(operand, scope, found));
            if !test && is_path(operand) {
                found.push((select(operand, field, true, scope), Domain::bool(true)));
                found.push((select(operand, field, false, scope), Domain::default()));
            }
        }
        Kind::Call { function, target, arguments } => {
            let count = match &**function {
                "_&&_" | "_||_" => 0,
                "_?_:_" | "_?._" | "_[?_]" => 1,
                "or" | "orValue" => 0,
                _ => arguments.len(),
            };
            let parts = target.as_deref().into_iter().chain(arguments.iter().take(count));
            parts.for_each(|part| grow(|| read(part, scope, found)));
        }
        Kind::Comprehension(folded) => grow(|| read(&folded.range, scope, found)),
        _ => {}
    }
}

/// The test of a quantifier: of `range.all(x, test)` or `range.exists(x, test)`.
fn quantified<'e>(expr: &'e Expr, is_true: bool, scope: &Rc<Scope>) -> Option<Quantified<'e>> {
    let Kind::Comprehension(folded) = &expr.kind else { return None };
    let Comprehension { range, variable, second, accumulator, start, step, result, .. } = &**folded;
    let (Kind::Literal(Literal::Bool(is_for_all)), Kind::Call { function, arguments, .. }) =
        (&start.kind, &step.kind)
    else {
        return None;
    };
    let operator = if *is_for_all { "_&&_" } else { "_||_" };
    let [accumulated, body] = arguments.as_slice() else { return None };
    let is_accumulator =
        |expr: &Expr| matches!(&expr.kind, Kind::Ident(name) if name == accumulator);
    if **function != *operator || !is_accumulator(accumulated) || !is_accumulator(result) {
        return None;
    }
    let variables = [Some(variable), second.as_ref()].into_iter().flatten();
    Some(Quantified {
        // One element for which it is false is enough for "all" to be false.
        is_for_all: *is_for_all == is_true,
        range,
        range_text: text(range, scope),
        variables: variables.cloned().collect(),
        body,
        is_true,
        scope: Rc::clone(scope),
    })
}

type Wanted = Box<dyn Fn(i64) -> bool>;

/// The conditions that an expression counts, and which numbers it asks for.
fn count(expr: &Expr) -> Option<(Vec<&Expr>, Wanted)> {
    match &expr.kind {
        Kind::Comprehension(folded) => {
            let is_one = matches!(folded.start.kind, Kind::Literal(Literal::Int(0)));
            let counted = elements(folded).filter(|_| is_one)?;
            Some((counted, Box::new(|number| number == 1)))
        }
        Kind::Call { function, target: None, arguments } => {
            let [one, other] = arguments.as_slice() else { return None };
            let (counted, bound, is_flipped) = match (Constant::of(one), Constant::of(other)) {
                (None, Some(Constant::Int(bound))) => (counted(one)?, bound, false),
                (Some(Constant::Int(bound)), None) => (counted(other)?, bound, true),
                _ => return None,
            };
            let holds: fn(std::cmp::Ordering) -> bool = match &**function {
                "_==_" => std::cmp::Ordering::is_eq,
                "_!=_" => std::cmp::Ordering::is_ne,
                "_<_" => std::cmp::Ordering::is_lt,
                "_<=_" => std::cmp::Ordering::is_le,
                "_>_" => std::cmp::Ordering::is_gt,
                "_>=_" => std::cmp::Ordering::is_ge,
                _ => return None,
            };
            let wanted = move |number: i64| {
                let order = number.cmp(&bound);
                holds(if is_flipped { order.reverse() } else { order })
            };
            Some((counted, Box::new(wanted)))
        }
        _ => None,
    }
}

/// The conditions of which an expression is the number that are true: `[a, b].filter(x, x).size()`
/// or `(a ? 1 : 0) + (b ? 1 : 0)`.
fn counted(expr: &Expr) -> Option<Vec<&Expr>> {
    let Kind::Call { function, target, arguments } = &expr.kind else { return None };
    match (&**function, target.as_deref(), arguments.as_slice()) {
        ("size", Some(of), []) | ("size", None, [of]) => match &of.kind {
            Kind::Comprehension(folded) => {
                elements(folded).filter(|_| matches!(folded.start.kind, Kind::List(_)))
            }
            _ => None,
        },
        ("_+_", None, [one, other]) => {
            let mut all = grow(|| counted(one))?;
            all.extend(grow(|| counted(other))?);
            Some(all)
        }
        ("_?_:_", None, [condition, one, other]) => {
            let is = |expr: &Expr, number| Constant::of(expr) == Some(Constant::Int(number));
            (is_condition(condition) && is(one, 1) && is(other, 0)).then(|| vec![condition])
        }
        _ => None,
    }
}

/// The conditions in a list of which those that are true are kept or counted.
fn elements(folded: &Comprehension) -> Option<Vec<&Expr>> {
    let Kind::List(elements) = &folded.range.kind else { return None };
    let Kind::Call { function, arguments, .. } = &folded.step.kind else { return None };
    let [test, ..] = arguments.as_slice() else { return None };
    let is_itself = matches!(&test.kind, Kind::Ident(name) if *name == folded.variable);
    if **function != *"_?_:_" || !is_itself || folded.second.is_some() {
        return None;
    }
    let conditions = elements
        .iter()
        .map(|(element, optional)| (!optional && is_condition(element)).then_some(element));
    conditions.collect()
}
