//! Expressions as texts: most of what means the same for all values has the same text.

use std::sync::Arc;

use billhook_apimachinery::value::grow;

use super::counting::Count;
use crate::language::ast::{Comprehension, Entry, Expr, Field, Kind, Literal};

/// The variables of quantifiers around an expression, the innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope(Vec<Arc<str>>);

impl Scope {
    /// The scope in a quantifier. Variables are known by how many quantifiers are around, because
    /// two of these have names of their own for the same element.
    pub(super) fn within(&self, variables: &[Arc<str>]) -> Scope {
        Scope(self.0.iter().chain(variables).cloned().collect())
    }

    /// Whether a name is that of an element.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().rposition(|known| **known == *name)
    }
}

/// Returns an expression in a form that does not depend on the names of variables.
pub(super) fn text(expr: &Expr, scope: &Scope) -> Arc<str> {
    let mut printer = Printer::new(scope);
    printer.expr(expr);
    printer.out.into()
}

/// Returns the same of a number: two terms of a sum may be in any order, and so may all that are sizes.
/// Of others, the order decides which sums are too large.
pub(super) fn number(expr: &Expr, scope: &Scope) -> Arc<str> {
    let mut terms = Vec::new();
    terms_of(expr, &mut terms);
    let is_size =
        |term: &&Expr| matches!(&term.kind, Kind::Call { function, .. } if **function == *"size");
    if terms.len() < 2 || (terms.len() > 2 && !terms.iter().all(is_size)) {
        return text(expr, scope);
    }
    let mut terms: Vec<Arc<str>> = terms.into_iter().map(|term| text(term, scope)).collect();
    terms.sort_unstable();
    format!("sum({})", terms.join(",")).into()
}

fn terms_of<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match &expr.kind {
        Kind::Call { function, target: None, arguments } if **function == *"_+_" => {
            arguments.iter().for_each(|part| grow(|| terms_of(part, found)));
        }
        _ => found.push(expr),
    }
}

/// Returns the text of `has(operand.field)` or, without the test, of `operand.field`.
pub(super) fn select(operand: &Expr, field: &str, test: bool, scope: &Scope) -> Arc<str> {
    let mut printer = Printer::new(scope);
    printer.select(operand, field, test);
    printer.out.into()
}

/// Returns the text of the comparison of two expressions that are in order.
pub(super) fn relation(one: &str, operator: &str, other: &str) -> Arc<str> {
    format!("({one} {operator} {other})").into()
}

/// Returns the text of the equality of two expressions, in either order.
pub(super) fn equation(one: &str, other: &str) -> Arc<str> {
    relation(one.min(other), "==", one.max(other))
}

/// Returns the text of a number of elements.
pub(super) fn count(of: Count<'_>, scope: &Scope) -> Arc<str> {
    let mut printer = Printer::new(scope);
    printer.count(of);
    printer.out.into()
}

/// Returns the text of a size.
pub(super) fn size(of: &str) -> String {
    format!("size({of},)")
}

/// Returns a pattern that matches a text and nothing else.
pub(super) fn quoted(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        if character.is_ascii_punctuation() {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

struct Printer<'s> {
    out: String,
    outside: &'s Scope,
    /// The variables of the expression itself, the innermost last.
    inside: Vec<Arc<str>>,
}

impl<'s> Printer<'s> {
    fn new(outside: &'s Scope) -> Self {
        Printer { out: String::new(), outside, inside: Vec::new() }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn expr(&mut self, expr: &Expr) {
        grow(|| self.kind(expr));
    }

    fn list<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) {
        self.push("(");
        for part in parts {
            self.expr(part);
            self.push(",");
        }
        self.push(")");
    }

    fn select(&mut self, operand: &Expr, field: &str, test: bool) {
        self.push(if test { "has" } else { "get" });
        self.push(&format!(" {field:?} "));
        self.list([operand]);
    }

    fn kind(&mut self, expr: &Expr) {
        // Two spellings are one.
        if let Some(count) = Count::of_one(expr) {
            let one = format!("{:?}", Literal::Int(1));
            let count = self.apart(|printer| printer.count(count));
            self.push("_==_");
            return self.unordered(one, count);
        }
        match &expr.kind {
            Kind::Literal(literal) => self.push(&format!("{literal:?}")),
            Kind::Ident(name) => {
                let inside = self.inside.iter().rposition(|known| known == name);
                match (inside, self.outside.position(name)) {
                    (Some(depth), _) => self.push(&format!("#{depth}")),
                    (None, Some(depth)) => self.push(&format!("${depth}")),
                    (None, None) => self.push(name),
                }
            }
            Kind::Select { operand, field, test } => self.select(operand, field, *test),
            Kind::Call { function, target, arguments } => match Count::of_size(expr) {
                Some(count) => self.count(count),
                None => self.call(function, target.as_deref(), arguments),
            },
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
        let is_commutative = ["_==_", "_!=_", "_&&_", "_||_", "_*_"].contains(&function);
        self.push(function);
        if let (true, [one, other]) = (is_commutative, arguments) {
            let apart = |expr| self.apart(|printer| printer.expr(expr));
            let (one, other) = (apart(one), apart(other));
            return self.unordered(one, other);
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

    /// Two operands of which either may be the first.
    fn unordered(&mut self, one: String, other: String) {
        let (one, other) = if one <= other { (one, other) } else { (other, one) };
        self.push(&format!("({one},{other},)"));
    }

    /// The text of a part on its own.
    fn apart(&self, print: impl FnOnce(&mut Printer<'s>)) -> String {
        let mut printer =
            Printer { out: String::new(), outside: self.outside, inside: self.inside.clone() };
        print(&mut printer);
        printer.out
    }

    fn count(&mut self, Count { range, variable, test }: Count<'_>) {
        self.push("count");
        self.list([range]);
        self.inside.push(Arc::clone(variable));
        self.list([test]);
        self.inside.pop();
    }

    fn comprehension(&mut self, folded: &Comprehension) {
        let Comprehension { range, variable, second, accumulator, start, condition, step, result } =
            folded;
        self.push("fold");
        self.list([range, start]);
        let outside = self.inside.len();
        self.inside.push(Arc::clone(accumulator));
        let inside = self.inside.len();
        self.inside.push(Arc::clone(variable));
        self.inside.extend(second.clone());
        self.push(if second.is_some() { "two" } else { "one" });
        self.list([condition, step]);
        self.inside.truncate(inside);
        self.list([result]);
        self.inside.truncate(outside);
    }
}
