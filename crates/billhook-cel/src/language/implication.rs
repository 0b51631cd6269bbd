//! Whether a rule follows from others, as far as their logic and comparisons with constants tell.
//!
//! `&&`, `||` and `!` of the language are those of a logic of three values, in which an error lies
//! between false and true: there the laws of distribution and of De Morgan hold. Rules become
//! conjunctions of alternatives; one of the conclusion follows if an alternative of the premises
//! leads to it in each case.

use std::sync::Arc;

use billhook_apimachinery::value::grow;

use super::ast::{Comprehension, Entry, Expr, Field, Kind, Literal};
use super::availability::Language;
use super::parse::parse;
use super::source::Source;

/// How many clauses a rule may become.
const MAX_CLAUSES: usize = 64;

/// Returns whether it is proved that a rule is true whenever all of some others are. Rules that are
/// written otherwise and mean the same follow from each other as far as the order of operands,
/// negations and the names of variables go.
///
/// ```
/// use billhook_cel::implies;
/// assert!(implies(&["self.a <= 3 && has(self.b)"], "self.a < 5 || self.c"));
/// assert!(implies(&["!(has(self.a) || has(self.b))"], "!has(self.b)"));
/// assert!(implies(&["self.all(x, x != '')"], "self.all(item, '' != item)"));
/// assert!(!implies(&["self.a < 5"], "self.a <= 3"));
/// ```
pub fn implies(premises: &[&str], conclusion: &str) -> bool {
    let clauses = |text: &str| {
        let expr = parse(&Source::new(text), Language::default()).ok()?;
        clauses(&expr, true)
    };
    let Some(wanted) = clauses(conclusion) else { return false };
    let held: Vec<Clause> = premises.iter().filter_map(|text| clauses(text)).flatten().collect();
    wanted.iter().all(|wanted| {
        wanted.iter().any(|atom| atom.is_true())
            || held
                .iter()
                .any(|held| held.iter().all(|one| wanted.iter().any(|it| one.implies(it))))
    })
}

/// Atoms of which one is true.
pub(super) type Clause = Vec<Atom>;

/// A condition that is not taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Atom {
    /// An expression that is true, or false.
    Plain(String, bool),
    /// The comparison of an expression with a number.
    Number(String, Order, i64),
    /// An expression that is one of some constants, or none of them.
    OneOf(String, Vec<String>, bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Atom {
    pub(super) fn is_true(&self) -> bool {
        *self == Atom::Plain("true".to_owned(), true)
    }

    /// Whether another condition is true whenever this one is.
    fn implies(&self, other: &Atom) -> bool {
        use Order::{Greater, GreaterOrEqual, Less, LessOrEqual};
        match (self, other) {
            _ if self == other => true,
            (Atom::Number(one, order, bound), Atom::Number(two, wanted, limit)) if one == two => {
                match (order, wanted) {
                    (Less, Less | LessOrEqual) | (LessOrEqual, LessOrEqual) => bound <= limit,
                    (LessOrEqual, Less) => bound < limit,
                    (Greater, Greater | GreaterOrEqual) | (GreaterOrEqual, GreaterOrEqual) => {
                        bound >= limit
                    }
                    (GreaterOrEqual, Greater) => bound > limit,
                    _ => false,
                }
            }
            (Atom::OneOf(one, entries, true), Atom::OneOf(two, wanted, true)) => {
                one == two && entries.iter().all(|entry| wanted.contains(entry))
            }
            (Atom::OneOf(one, entries, false), Atom::OneOf(two, wanted, false)) => {
                one == two && wanted.iter().all(|entry| entries.contains(entry))
            }
            _ => false,
        }
    }
}

/// The conjunction of alternatives that an expression is, or its negation; none if it is too large.
pub(super) fn clauses(expr: &Expr, positive: bool) -> Option<Vec<Clause>> {
    if let Kind::Call { function, target: None, arguments } = &expr.kind {
        match (&**function, arguments.as_slice()) {
            ("!_", [inner]) => return grow(|| clauses(inner, !positive)),
            ("_&&_" | "_||_", [one, other]) => {
                let (one, other) =
                    grow(|| Some((clauses(one, positive)?, clauses(other, positive)?)))?;
                let is_conjunction = (**function == *"_&&_") == positive;
                let all: Vec<Clause> = match is_conjunction {
                    true => one.into_iter().chain(other).collect(),
                    false if one.len() * other.len() > MAX_CLAUSES => return None,
                    false => one
                        .iter()
                        .flat_map(|one| {
                            other.iter().map(|other| [one.as_slice(), other.as_slice()].concat())
                        })
                        .collect(),
                };
                return (all.len() <= MAX_CLAUSES).then_some(all);
            }
            _ => {}
        }
    }
    Some(vec![vec![atom(expr, positive)]])
}

fn atom(expr: &Expr, positive: bool) -> Atom {
    let plain = || Atom::Plain(text(expr), positive);
    let Kind::Call { function, target: None, arguments } = &expr.kind else { return plain() };
    let [one, other] = arguments.as_slice() else { return plain() };
    let flipped = |order| match order {
        Order::Less => Order::Greater,
        Order::LessOrEqual => Order::GreaterOrEqual,
        Order::Greater => Order::Less,
        Order::GreaterOrEqual => Order::LessOrEqual,
    };
    let order = match &**function {
        "_<_" => Order::Less,
        "_<=_" => Order::LessOrEqual,
        "_>_" => Order::Greater,
        "_>=_" => Order::GreaterOrEqual,
        // That something differs from a constant is that it does not equal it.
        "_==_" | "_!=_" => {
            let positive = positive == (**function == *"_==_");
            return match (constant(one), constant(other)) {
                (None, Some(value)) => Atom::OneOf(text(one), vec![value], positive),
                (Some(value), None) => Atom::OneOf(text(other), vec![value], positive),
                _ => Atom::Plain(equation(one, other), positive),
            };
        }
        "@in" => {
            let Kind::List(entries) = &other.kind else { return plain() };
            let entries =
                entries.iter().map(|(entry, optional)| constant(entry).filter(|_| !optional));
            return match entries.collect::<Option<Vec<_>>>() {
                Some(entries) => Atom::OneOf(text(one), entries, positive),
                None => plain(),
            };
        }
        _ => return plain(),
    };
    // The negation of an order is another order only where there is nothing but numbers.
    match (integer(one), integer(other)) {
        (None, Some(bound)) if positive => Atom::Number(text(one), order, bound),
        (Some(bound), None) if positive => Atom::Number(text(other), flipped(order), bound),
        _ => plain(),
    }
}

fn integer(expr: &Expr) -> Option<i64> {
    match expr.kind {
        Kind::Literal(Literal::Int(integer)) => Some(integer),
        _ => None,
    }
}

/// A constant whose equality is that of its text.
fn constant(expr: &Expr) -> Option<String> {
    match &expr.kind {
        Kind::Literal(literal @ (Literal::Int(_) | Literal::String(_) | Literal::Bool(_))) => {
            Some(format!("{literal:?}"))
        }
        _ => None,
    }
}

fn equation(one: &Expr, other: &Expr) -> String {
    let (one, other) = (text(one), text(other));
    let (one, other) = if one <= other { (one, other) } else { (other, one) };
    format!("({one} == {other})")
}

/// An expression in a form that does not depend on the names of variables.
fn text(expr: &Expr) -> String {
    let mut printer = Printer { out: String::new(), scope: Vec::new() };
    printer.expr(expr);
    match &expr.kind {
        Kind::Literal(Literal::Bool(value)) => value.to_string(),
        _ => printer.out,
    }
}

struct Printer {
    out: String,
    /// The variables around, the innermost last.
    scope: Vec<Arc<str>>,
}

impl Printer {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn expr(&mut self, expr: &Expr) {
        grow(|| self.kind(&expr.kind));
    }

    fn list<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) {
        self.push("(");
        for part in parts {
            self.expr(part);
            self.push(",");
        }
        self.push(")");
    }

    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::Literal(literal) => self.push(&format!("{literal:?}")),
            Kind::Ident(name) => match self.scope.iter().rposition(|known| known == name) {
                Some(depth) => self.push(&format!("#{depth}")),
                None => self.push(name),
            },
            Kind::Select { operand, field, test } => {
                self.push(if *test { "has" } else { "get" });
                self.push(&format!(" {field:?} "));
                self.list([&**operand]);
            }
            Kind::Call { function, target, arguments } => {
                self.call(function, target.as_deref(), arguments);
            }
            Kind::List(elements) => {
                self.push("list");
                for (element, optional) in elements {
                    self.push(if *optional { "?" } else { "" });
                    self.list([element]);
                }
                self.push(";");
            }
            Kind::Map(entries) => {
                self.push("map");
                for Entry { key, value, optional } in entries {
                    self.push(if *optional { "?" } else { "" });
                    self.list([key, value]);
                }
                self.push(";");
            }
            Kind::Struct { name, fields } => {
                self.push(&format!("struct {name}"));
                for Field { name, value, optional, .. } in fields {
                    self.push(&format!(" {name:?} {optional} "));
                    self.list([value]);
                }
                self.push(";");
            }
            Kind::Comprehension(folded) => self.comprehension(folded),
        }
    }

    fn call(&mut self, function: &str, target: Option<&Expr>, arguments: &[Expr]) {
        let is_commutative = ["_==_", "_!=_", "_&&_", "_||_"].contains(&function);
        self.push(function);
        if let (true, [one, other]) = (is_commutative, arguments) {
            let (one, other) = (self.apart(one), self.apart(other));
            let (one, other) = if one <= other { (one, other) } else { (other, one) };
            return self.push(&format!("({one},{other},)"));
        }
        // Both spellings of a size are one.
        match target {
            Some(target) if function == "size" => self.list([target].into_iter().chain(arguments)),
            Some(target) => {
                self.push(".");
                self.list([target].into_iter().chain(arguments));
            }
            None => self.list(arguments),
        }
    }

    /// The text of a part on its own.
    fn apart(&self, expr: &Expr) -> String {
        let mut printer = Printer { out: String::new(), scope: self.scope.clone() };
        printer.expr(expr);
        printer.out
    }

    fn comprehension(&mut self, folded: &Comprehension) {
        let Comprehension { range, variable, second, accumulator, start, condition, step, result } =
            folded;
        self.push("fold");
        self.list([range, start]);
        let outside = self.scope.len();
        self.scope.push(Arc::clone(accumulator));
        let inside = self.scope.len();
        self.scope.push(Arc::clone(variable));
        self.scope.extend(second.clone());
        self.push(if second.is_some() { "two" } else { "one" });
        self.list([condition, step]);
        self.scope.truncate(inside);
        self.list([result]);
        self.scope.truncate(outside);
    }
}
