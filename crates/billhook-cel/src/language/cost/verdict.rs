//! The results that a schema decides, whatever the values are that it allows.

use std::collections::BTreeSet;

use billhook_apimachinery::value::grow;

use super::estimator::{Estimator, Place};
use crate::language::ast::{Comprehension, Expr, Kind, Literal};
use crate::language::schema::{Bounds, SchemaKind};

/// The largest integer up to which floats have all of them.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The values that an expression may have.
#[derive(Debug)]
pub(super) enum Values<'e> {
    /// Numbers from one to another.
    Numbers(f64, f64),
    Texts(BTreeSet<&'e str>),
}

impl Values<'_> {
    pub(super) fn bounds(self) -> Bounds {
        match self {
            Values::Numbers(min, max) => Bounds { min, max, texts: Box::default() },
            Values::Texts(texts) => {
                let texts = texts.into_iter().map(Box::from).collect();
                Bounds { min: 0.0, max: f64::INFINITY, texts }
            }
        }
    }

    fn union(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Values::Numbers(min, max), Values::Numbers(other_min, other_max)) => {
                Some(Values::Numbers(min.min(other_min), max.max(other_max)))
            }
            (Values::Texts(mut texts), Values::Texts(others)) => {
                texts.extend(others);
                Some(Values::Texts(texts))
            }
            _ => None,
        }
    }

    /// Whether each is less than each of others.
    fn less(&self, others: &Self) -> Option<bool> {
        match (self, others) {
            (Values::Numbers(_, max), Values::Numbers(min, _)) if max < min => Some(true),
            (Values::Numbers(min, _), Values::Numbers(_, max)) if min >= max => Some(false),
            _ => None,
        }
    }

    /// Whether each equals each of others.
    fn equal(&self, others: &Self) -> Option<bool> {
        match (self, others) {
            (Values::Numbers(min, max), Values::Numbers(other_min, other_max)) => {
                let is_one = min == max && other_min == other_max;
                decided(max < other_min || other_max < min, is_one)
            }
            (Values::Texts(texts), Values::Texts(others)) => {
                decided(texts.is_disjoint(others), texts.len() == 1 && others.len() == 1)
            }
            _ => None,
        }
    }
}

/// The result of what is never true, or else always.
fn decided(is_never: bool, is_always: bool) -> Option<bool> {
    (is_never || is_always).then_some(!is_never)
}

impl<'e> Estimator<'e> {
    /// The result of a condition whose places are known, unless it is an error.
    pub(super) fn verdict(&self, expr: &'e Expr) -> Option<bool> {
        match &expr.kind {
            Kind::Literal(Literal::Bool(value)) => Some(*value),
            Kind::Call { function, target: None, arguments } => {
                grow(|| self.verdict_of_call(function, arguments))
            }
            Kind::Comprehension(comprehension) => grow(|| self.verdict_on_all(comprehension)),
            _ => self.verdict_at_place(expr),
        }
    }

    /// The only value that a condition has at its place.
    fn verdict_at_place(&self, expr: &'e Expr) -> Option<bool> {
        let Place::At(schema) = self.facts(expr).place else { return None };
        let bounds =
            schema.bounds.as_deref().filter(|_| matches!(schema.kind, SchemaKind::Bool))?;
        (bounds.min == bounds.max).then_some(bounds.min == 1.0)
    }

    fn verdict_of_call(&self, function: &str, arguments: &'e [Expr]) -> Option<bool> {
        match (function, arguments) {
            ("!_", [condition]) => self.verdict(condition).map(|result| !result),
            ("_&&_" | "_||_", [left, right]) => {
                let decisive = function == "_||_";
                match (self.verdict(left), self.verdict(right)) {
                    (Some(left), Some(right)) if left == right => Some(left),
                    (left, right) => [left, right].contains(&Some(decisive)).then_some(decisive),
                }
            }
            ("_?_:_", [condition, yes, no]) => match self.verdict(condition) {
                Some(true) => self.verdict(yes),
                Some(false) => self.verdict(no),
                None => self.verdict(yes).filter(|yes| self.verdict(no) == Some(*yes)),
            },
            ("@in", [value, list]) => self.verdict_on_element(value, list),
            (_, [left, right]) => {
                let (left, right) = (self.values(left)?, self.values(right)?);
                match function {
                    "_<_" => left.less(&right),
                    "_>_" => right.less(&left),
                    "_<=_" => right.less(&left).map(|result| !result),
                    "_>=_" => left.less(&right).map(|result| !result),
                    "_==_" => left.equal(&right),
                    "_!=_" => left.equal(&right).map(|result| !result),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a value is an element of a list.
    fn verdict_on_element(&self, value: &'e Expr, list: &'e Expr) -> Option<bool> {
        let (Values::Texts(texts), Kind::List(elements)) = (self.values(value)?, &list.kind) else {
            return None;
        };
        let listed = elements.iter().map(|(element, _)| match &element.kind {
            Kind::Literal(Literal::String(text)) => Some(&**text),
            _ => None,
        });
        let listed = listed.collect::<Option<BTreeSet<&str>>>()?;
        match (texts.is_subset(&listed), texts.is_disjoint(&listed)) {
            (true, _) => Some(true),
            (false, is_disjoint) => is_disjoint.then_some(false),
        }
    }

    /// `all` is true if its condition always is, `exists` false if its condition never is true.
    fn verdict_on_all(&self, comprehension: &'e Comprehension) -> Option<bool> {
        let (Kind::Literal(Literal::Bool(start)), Kind::Call { function, arguments, .. }) =
            (&comprehension.start.kind, &comprehension.step.kind)
        else {
            return None;
        };
        let is_quantifier = **function == *if *start { "_&&_" } else { "_||_" };
        let condition = arguments.get(1).filter(|_| is_quantifier)?;
        self.verdict(condition).filter(|result| result == start)
    }

    pub(super) fn values(&self, expr: &'e Expr) -> Option<Values<'e>> {
        let exactly =
            |number: f64| (number.abs() <= EXACT).then_some(Values::Numbers(number, number));
        match &expr.kind {
            Kind::Literal(Literal::Int(int)) => exactly(*int as f64),
            Kind::Literal(Literal::Uint(uint)) => exactly(*uint as f64),
            Kind::Literal(Literal::Double(double)) => exactly(*double),
            Kind::Literal(Literal::String(text)) => Some(Values::Texts([&**text].into())),
            Kind::Call { function, target, arguments } => {
                match (&**function, target.as_deref(), arguments.as_slice()) {
                    ("size", Some(of), []) | ("size", None, [of]) => Some(self.sizes(of)),
                    ("_?_:_", None, [_, yes, no]) => {
                        grow(|| self.values(yes)?.union(self.values(no)?))
                    }
                    _ => self.values_at_place(expr),
                }
            }
            _ => self.values_at_place(expr),
        }
    }

    fn values_at_place(&self, expr: &'e Expr) -> Option<Values<'e>> {
        let Place::At(schema) = self.facts(expr).place else { return None };
        let bounds = schema.bounds.as_deref()?;
        match (&*bounds.texts, schema.max) {
            ([], None) => Some(Values::Numbers(bounds.min, bounds.max)),
            ([], Some(_)) => None,
            (texts, _) => Some(Values::Texts(texts.iter().map(|text| &**text).collect())),
        }
    }

    /// The sizes that a value may have.
    fn sizes(&self, expr: &'e Expr) -> Values<'e> {
        let bounds = match self.facts(expr).place {
            Place::At(schema) if schema.max.is_some() => schema.bounds.as_deref(),
            _ => None,
        };
        bounds.map_or(Values::Numbers(0.0, f64::INFINITY), |it| Values::Numbers(it.min, it.max))
    }
}
