//! Literals that are checked although no type is wrong (CE-10).

use std::sync::Arc;

use billhook_apimachinery::value::grow;

use super::checked::Checked;
use super::shown::Shown;
use super::solver::{Parameters, Solver, Ty};
use super::template;
use crate::language::ast::{Expr, Kind, Literal};
use crate::language::functions::Functions;
use crate::language::source::Issues;
use crate::language::types::Type;
use crate::language::value::{Text, Value};

/// Reports literals that are invalid for their use, and literal lists and maps whose elements are
/// of different types.
pub(super) fn validate(
    checked: &Checked,
    functions: Functions,
    shown: Shown<'_>,
    issues: &mut Issues,
) {
    Validator { checked, functions, shown, issues, solver: Solver::new() }
        .visit(&checked.expr, false);
}

struct Validator<'v> {
    checked: &'v Checked,
    functions: Functions,
    shown: Shown<'v>,
    issues: &'v mut Issues,
    solver: Solver,
}

impl Validator<'_> {
    /// `mixed`: whether lists and maps may have elements of different types here.
    fn visit(&mut self, expr: &Expr, mut mixed: bool) {
        match &expr.kind {
            Kind::Call { function, target, arguments } => {
                self.constant(function, arguments);
                if let (Some(target), "format", [values]) = (target, &**function, &**arguments) {
                    self.template(expr, target, values);
                }
                mixed |= **function == *"format";
            }
            Kind::List(elements) if !mixed => {
                self.alike(elements.iter().map(|(element, optional)| (element, *optional)), true);
            }
            Kind::Map(entries) if !mixed => {
                self.alike(entries.iter().map(|entry| (&entry.key, false)), false);
                self.alike(entries.iter().map(|entry| (&entry.value, entry.optional)), false);
            }
            _ => {}
        }
        grow(|| expr.each_child(&mut |child| self.visit(child, mixed)));
    }

    /// The argument of a function that reads text has to be readable. Of both forms of `matches`
    /// it is the first one in the parentheses that is looked at.
    fn constant(&mut self, function: &str, arguments: &[Expr]) {
        let Some(Expr { at, kind: Kind::Literal(literal), .. }) = arguments.first() else { return };
        let is_valid = match function {
            "timestamp" | "duration" => self.is_readable(function, literal),
            "matches" => match literal {
                Literal::String(pattern) => billhook_regex::check(pattern).is_ok(),
                _ => true,
            },
            _ => true,
        };
        if !is_valid {
            self.issues.report(*at, format!("invalid {function} argument"));
        }
    }

    /// A literal template has to fit a literal list of values.
    fn template(&mut self, call: &Expr, template: &Expr, values: &Expr) {
        let Kind::Literal(Literal::String(text)) = &template.kind else { return };
        let Kind::List(values) = &values.kind else { return };
        if let Err((part, problem)) = template::validate(text, values, &self.checked.types) {
            self.issues.report(part.unwrap_or(call).at, problem);
        }
    }

    /// Returns whether the conversion of a literal succeeds.
    fn is_readable(&self, function: &str, literal: &Literal) -> bool {
        let (of, value) = match literal {
            Literal::String(text) => (Type::String, Value::String(Text::Shared(Arc::clone(text)))),
            Literal::Int(number) => (Type::Int, Value::Int(*number)),
            _ => return true,
        };
        self.functions
            .named(function)
            .find(|overload| overload.parameters == [of.clone()])
            .is_none_or(|overload| (overload.call)(&[value]).is_ok())
    }

    /// All elements of a literal have to be of the type of the first.
    fn alike<'e>(&mut self, elements: impl Iterator<Item = (&'e Expr, bool)>, only_first: bool) {
        let mut expected: Option<Ty> = None;
        for (element, optional) in elements {
            let found = self.checked.types.get(element.id).unwrap_or(&Type::Dyn);
            let found = match found {
                Type::Optional(of) if optional => of,
                of => of,
            };
            let found = self.solver.instance(found, &mut Parameters::new());
            let Some(expected) = &expected else {
                expected = Some(found);
                continue;
            };
            if !self.solver.is_same(expected, &found) {
                let (expected, found) = (self.shown.print(expected), self.shown.print(&found));
                let text = format!("expected type '{expected}' but found '{found}'");
                self.issues.report(element.at, text);
                if only_first {
                    return;
                }
            }
        }
    }
}
