//! Macros and their expansions.
//!
//! The expansions are part of the cost of an expression, so their shape is fixed.

use std::sync::Arc;

use billhook_apimachinery::KubernetesVersion;

use super::nodes::{Nodes, nothing};
use crate::language::ast::{Comprehension, Expr, Kind, Literal};
use crate::language::availability::{Availability, Language};

/// The outcome of expanding a call.
pub(super) enum Expansion {
    /// The call is not one of a macro.
    None(Option<Expr>, Vec<Expr>),
    Expr(Expr),
    /// The macro may not be used so, with the position.
    Error(usize, String),
}

/// A variable that nothing refers to.
const UNUSED: &str = "#unused";
/// The variable that `sortBy` sorts.
const SORTED: &str = "@__sortBy_input__";

const NOT_A_NAME: &str = "argument must be a simple name";
const NOT_AN_IDENTIFIER: &str = "argument is not an identifier";

type Expanded<T = Expr> = Result<T, (usize, String)>;

/// Where there is a macro, if it is one (KV-30).
fn availability(function: &str, arguments: usize) -> Availability {
    match (function, arguments) {
        ("all" | "exists" | "exists_one" | "existsOne", 3)
        | ("transformList" | "transformMap" | "transformMapEntry", _) => {
            Availability::Library { since: KubernetesVersion::V1_32 }
        }
        ("sortBy", _) => Availability::Library { since: KubernetesVersion::V1_34 },
        _ => Availability::Always,
    }
}

/// Expands a call if it is one of a macro.
pub(super) fn expand(
    nodes: &mut Nodes,
    language: Language,
    at: usize,
    function: &str,
    target: Option<Expr>,
    arguments: Vec<Expr>,
) -> Expansion {
    if !language.has(availability(function, arguments.len())) {
        return Expansion::None(target, arguments);
    }
    let mut maker = Maker { nodes, at, accumulator: language.edition().accumulator };
    let expanded = match (target, function, arguments.len()) {
        (None, "has", 1) => maker.has(arguments),
        (Some(range), "all" | "exists" | "exists_one" | "existsOne", 2 | 3) => {
            maker.quantifier(function, range, arguments)
        }
        (Some(range), "map", 2 | 3) => maker.map(range, arguments),
        (Some(range), "filter", 2) => maker.filter(range, arguments),
        (Some(range), "transformList" | "transformMap" | "transformMapEntry", 3 | 4) => {
            maker.transform(function, range, arguments)
        }
        (Some(target), "optMap" | "optFlatMap", 2) => maker.optional(function, target, arguments),
        (Some(target), "sortBy", 2) => maker.sort_by(target, arguments),
        (target, ..) => return Expansion::None(target, arguments),
    };
    match expanded {
        Ok(expr) => Expansion::Expr(expr),
        Err((at, text)) => Expansion::Error(at, text),
    }
}

/// Makes the nodes of an expansion, which are all where the macro is.
struct Maker<'n> {
    nodes: &'n mut Nodes,
    at: usize,
    accumulator: &'static str,
}

impl Maker<'_> {
    fn node(&mut self, kind: Kind) -> Expr {
        self.nodes.node(self.at, kind)
    }

    fn literal(&mut self, value: Literal) -> Expr {
        self.node(Kind::Literal(value))
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.node(Kind::Ident(name.into()))
    }

    fn accumulated(&mut self) -> Expr {
        self.ident(self.accumulator)
    }

    fn list(&mut self, elements: Vec<Expr>) -> Expr {
        self.node(Kind::List(elements.into_iter().map(|element| (element, false)).collect()))
    }

    fn call(&mut self, function: &str, arguments: Vec<Expr>) -> Expr {
        self.nodes.call(self.at, function, arguments)
    }

    fn method(&mut self, target: Expr, function: &str, arguments: Vec<Expr>) -> Expr {
        let target = Some(Box::new(target));
        self.node(Kind::Call { function: function.into(), target, arguments })
    }

    fn comprehension(&mut self, comprehension: Comprehension) -> Expr {
        self.node(Kind::Comprehension(Box::new(comprehension)))
    }

    /// The step, or if there is a filter that is false, the accumulator as it is.
    fn filtered(&mut self, filter: Option<Expr>, step: Expr) -> Expr {
        let Some(filter) = filter else { return step };
        let kept = self.accumulated();
        self.call("_?_:_", vec![filter, step, kept])
    }

    /// The accumulator with one more element.
    fn appended(&mut self, element: Expr) -> Expr {
        let result = self.accumulated();
        let element = self.list(vec![element]);
        self.call("_+_", vec![result, element])
    }

    /// Folds the whole range.
    fn fold(&mut self, range: Expr, variables: Variables, start: Expr, step: Expr) -> Expr {
        let condition = self.literal(Literal::Bool(true));
        let result = self.accumulated();
        self.comprehension(variables.over(range, start, condition, step, result))
    }

    /// `has(a.b)`
    fn has(&mut self, arguments: Vec<Expr>) -> Expanded {
        let argument = only(arguments);
        match argument.kind {
            Kind::Select { operand, field, test: false } => {
                Ok(self.node(Kind::Select { operand, field, test: true }))
            }
            _ => Err((argument.at, "invalid argument to has() macro".to_owned())),
        }
    }

    /// `range.all(x, test)` and the like, with one or two variables.
    fn quantifier(&mut self, function: &str, range: Expr, mut arguments: Vec<Expr>) -> Expanded {
        let test = last(&mut arguments);
        let variables = self.variables(&arguments, NOT_A_NAME)?;
        let result = self.accumulated();
        if function == "all" || function == "exists" {
            let is_all = function == "all";
            let start = self.literal(Literal::Bool(is_all));
            let mut goes_on = self.accumulated();
            if !is_all {
                goes_on = self.call("!_", vec![goes_on]);
            }
            let condition = self.call("@not_strictly_false", vec![goes_on]);
            let accumulated = self.accumulated();
            let operator = if is_all { "_&&_" } else { "_||_" };
            let step = self.call(operator, vec![accumulated, test]);
            return Ok(self.comprehension(variables.over(range, start, condition, step, result)));
        }
        let start = self.literal(Literal::Int(0));
        let condition = self.literal(Literal::Bool(true));
        let accumulated = self.accumulated();
        let one = self.literal(Literal::Int(1));
        let more = self.call("_+_", vec![accumulated, one]);
        let step = self.filtered(Some(test), more);
        let one = self.literal(Literal::Int(1));
        let is_one = self.call("_==_", vec![result, one]);
        Ok(self.comprehension(variables.over(range, start, condition, step, is_one)))
    }

    /// `range.map(x, transformed)` or `range.map(x, filter, transformed)`
    fn map(&mut self, range: Expr, mut arguments: Vec<Expr>) -> Expanded {
        let transformed = last(&mut arguments);
        let filter = (arguments.len() == 2).then(|| last(&mut arguments));
        let variables = self.variables(&arguments, NOT_AN_IDENTIFIER)?;
        let step = self.appended(transformed);
        let step = self.filtered(filter, step);
        let start = self.list(Vec::new());
        Ok(self.fold(range, variables, start, step))
    }

    /// `range.filter(x, test)`
    fn filter(&mut self, range: Expr, mut arguments: Vec<Expr>) -> Expanded {
        let test = last(&mut arguments);
        let variables = self.variables(&arguments, NOT_AN_IDENTIFIER)?;
        let element = self.ident(&variables.first);
        let step = self.appended(element);
        let step = self.filtered(Some(test), step);
        let start = self.list(Vec::new());
        Ok(self.fold(range, variables, start, step))
    }

    /// Expands `range.transformList(k, v, transformed)` and the like, perhaps with a filter before
    /// the last argument.
    fn transform(&mut self, function: &str, range: Expr, mut arguments: Vec<Expr>) -> Expanded {
        let transformed = last(&mut arguments);
        let filter = (arguments.len() == 3).then(|| last(&mut arguments));
        let variables = self.variables(&arguments, NOT_A_NAME)?;
        let (start, step) = if function == "transformList" {
            (self.list(Vec::new()), self.appended(transformed))
        } else {
            let mut inserted = vec![self.accumulated()];
            if function == "transformMap" {
                inserted.push(self.ident(&variables.first));
            }
            inserted.push(transformed);
            (self.node(Kind::Map(Vec::new())), self.call("cel.@mapInsert", inserted))
        };
        let step = self.filtered(filter, step);
        Ok(self.fold(range, variables, start, step))
    }

    /// `target.optMap(x, value)` or `target.optFlatMap(x, optional)`
    fn optional(&mut self, function: &str, target: Expr, mut arguments: Vec<Expr>) -> Expanded {
        let mapped = last(&mut arguments);
        let variable = only(arguments);
        let name = name(&variable).ok_or_else(|| {
            (variable.at, format!("{function}() variable name must be a simple identifier"))
        })?;
        let copy = self.copy(&target)?;
        let has_value = self.method(target, "hasValue", Vec::new());
        let start = self.method(copy, "value", Vec::new());
        let mut present = self.bind(name, start, mapped);
        if function == "optMap" {
            present = self.call("optional.of", vec![present]);
        }
        let absent = self.call("optional.none", Vec::new());
        Ok(self.call("_?_:_", vec![has_value, present, absent]))
    }

    /// `target.sortBy(x, key)`
    fn sort_by(&mut self, target: Expr, arguments: Vec<Expr>) -> Expanded {
        if matches!(target.kind, Kind::Literal(_) | Kind::Map(_) | Kind::Struct { .. }) {
            let text = "sortBy can only be applied to a list, identifier, comprehension, call or \
                        select expression";
            return Err((target.at, text.to_owned()));
        }
        let range = self.ident(SORTED);
        let keys = self.map(range, arguments)?;
        let sorted = self.ident(SORTED);
        let sorted = self.method(sorted, "@sortByAssociatedKeys", vec![keys]);
        Ok(self.bind(SORTED.into(), target, sorted))
    }

    /// An expression with a variable that has a value.
    fn bind(&mut self, name: Arc<str>, value: Expr, result: Expr) -> Expr {
        let range = self.list(Vec::new());
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(&name);
        self.comprehension(Comprehension {
            range,
            variable: UNUSED.into(),
            second: None,
            accumulator: name,
            start: value,
            condition,
            step,
            result,
        })
    }

    /// Reads the variables of a comprehension from one or two arguments.
    fn variables(&self, arguments: &[Expr], problem: &str) -> Expanded<Variables> {
        let mut names = Vec::new();
        for argument in arguments {
            let name = name(argument).ok_or_else(|| (argument.at, problem.to_owned()))?;
            if *name == *self.accumulator {
                let text = "iteration variable overwrites accumulator variable";
                return Err((argument.at, text.to_owned()));
            }
            if names.contains(&name) {
                return Err((argument.at, format!("duplicate variable name: {name}")));
            }
            names.push(name);
        }
        let mut names = names.into_iter();
        Ok(Variables {
            first: names.next().unwrap_or_default(),
            second: names.next(),
            accumulator: self.accumulator,
        })
    }

    fn copy(&mut self, expr: &Expr) -> Expanded {
        self.nodes.copy(expr).map_err(|text| (self.at, text))
    }
}

/// The variables of a comprehension.
struct Variables {
    first: Arc<str>,
    second: Option<Arc<str>>,
    accumulator: &'static str,
}

impl Variables {
    fn over(
        self,
        range: Expr,
        start: Expr,
        condition: Expr,
        step: Expr,
        result: Expr,
    ) -> Comprehension {
        Comprehension {
            range,
            variable: self.first,
            second: self.second,
            accumulator: self.accumulator.into(),
            start,
            condition,
            step,
            result,
        }
    }
}

/// The name, if the expression is one.
fn name(expr: &Expr) -> Option<Arc<str>> {
    match &expr.kind {
        Kind::Ident(name) if !name.starts_with('.') => Some(Arc::clone(name)),
        _ => None,
    }
}

/// The last argument, which is there.
fn last(arguments: &mut Vec<Expr>) -> Expr {
    arguments.pop().unwrap_or_else(|| nothing(0))
}

/// The one argument that is there.
fn only(mut arguments: Vec<Expr>) -> Expr {
    last(&mut arguments)
}
