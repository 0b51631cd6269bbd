//! The maximum cost of an expression, judged by the sizes that the schema allows (CE-25).

mod calls;
mod estimator;
mod size;
mod unfollowed;
mod value;
mod verdict;

use std::sync::Arc;

use billhook_apimachinery::value::grow;

use crate::language::ast::{Comprehension, Expr, Kind, Literal};
use crate::language::check::{Checked, Reference};
use crate::language::functions::price::{LIST, MAP, STRUCT};
use crate::language::schema::SchemaType;
use crate::language::types::Type;

use calls::Call;
use estimator::{Estimator, Facts, Place, Step};
use size::{Entries, Size};

/// The highest cost of an expression whose variables have values of a type.
pub(crate) fn estimate(checked: &Checked, root: &SchemaType) -> u64 {
    Estimator::new(checked, &[], Place::At(root), Size::UNKNOWN).cost(&checked.expr)
}

/// The knowledge of an expression before it is evaluated.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Forecast {
    /// The most that it may cost, with the sizes that are known: what has no schema counts as empty.
    pub cost: u64,
    /// The result, if it is the same for all values that the schemas allow; an error may come in its
    /// place.
    pub result: Option<bool>,
    /// A schema of the value, if something is known of it: with it the value may be a variable of
    /// another expression.
    pub value: Option<SchemaType>,
}

/// The forecast for an expression some of whose variables have schemas.
pub(crate) fn forecast(checked: &Checked, named: &[(&str, &SchemaType)]) -> Forecast {
    let mut estimator = Estimator::new(checked, named, Place::Unknown, Size::fixed(0));
    let cost = estimator.cost(&checked.expr);
    let (result, value) = (estimator.verdict(&checked.expr), estimator.value(&checked.expr));
    Forecast { cost, result, value }
}

impl<'e> Estimator<'e> {
    fn new(
        checked: &'e Checked,
        named: &'e [(&'e str, &'e SchemaType)],
        root: Place<'e>,
        unknown: Size,
    ) -> Self {
        let facts = vec![Facts::default(); checked.types.len()];
        Estimator { checked, named, root, unknown, facts, locals: Vec::new() }
    }

    fn cost(&mut self, expr: &'e Expr) -> u64 {
        match &expr.kind {
            Kind::Literal(_) => 0,
            Kind::Ident(name) => {
                let place = self.place_of(name);
                self.note(expr, |facts| facts.place = place);
                1
            }
            // A name with dots is a name like others.
            Kind::Select { .. } if self.is_name(expr) => {
                let place = self.root;
                self.note(expr, |facts| facts.place = place);
                1
            }
            Kind::Select { operand, test: true, .. } => grow(|| self.cost(operand)),
            Kind::Select { operand, field, test: false } => {
                grow(|| self.select(expr, operand, field))
            }
            Kind::Call { function, target, arguments } => {
                grow(|| self.call(expr, function, target.as_deref(), arguments))
            }
            Kind::List(elements) => grow(|| {
                let mut sizes = Size::of_none();
                let cost = self.sum(elements.iter().map(|(element, _)| element), &mut sizes);
                let entries = Entries { is_map: false, key: Size::fixed(1), value: sizes };
                self.note(expr, |facts| facts.entries = Some(entries));
                cost.saturating_add(LIST)
            }),
            Kind::Map(members) => grow(|| {
                let (mut keys, mut values) = (Size::of_none(), Size::of_none());
                let mut cost = MAP;
                for member in members {
                    cost = cost.saturating_add(self.sum([&member.key], &mut keys));
                    cost = cost.saturating_add(self.sum([&member.value], &mut values));
                }
                let entries = Entries { is_map: true, key: keys, value: values };
                self.note(expr, |facts| facts.entries = Some(entries));
                cost
            }),
            Kind::Struct { fields, .. } => grow(|| {
                let values = fields.iter().map(|field| &field.value);
                self.sum(values, &mut Size::of_none()).saturating_add(STRUCT)
            }),
            Kind::Comprehension(comprehension) => grow(|| self.comprehension(expr, comprehension)),
        }
    }

    /// The cost of all, and the range of their sizes.
    fn sum(&mut self, exprs: impl IntoIterator<Item = &'e Expr>, sizes: &mut Size) -> u64 {
        exprs.into_iter().fold(0, |cost, expr| {
            let cost = cost.saturating_add(self.cost(expr));
            *sizes = sizes.union(self.size(expr));
            cost
        })
    }

    fn select(&mut self, expr: &Expr, operand: &'e Expr, field: &str) -> u64 {
        let cost = self.cost(operand);
        let place = self.step(self.facts(operand).place, Step::Field(field));
        self.note(expr, |facts| facts.place = place);
        let reads =
            matches!(self.type_of(operand), Type::Map(..) | Type::Object(_) | Type::Param(_));
        cost.saturating_add(u64::from(reads))
    }

    fn call(
        &mut self,
        expr: &Expr,
        function: &str,
        target: Option<&'e Expr>,
        arguments: &'e [Expr],
    ) -> u64 {
        if let ("dyn", [argument]) = (function, arguments)
            && self.follows_sizes()
        {
            let cost = self.cost(argument);
            let (size, entries) = (self.known_size(argument), self.facts(argument).entries);
            self.note(expr, |facts| (facts.size, facts.entries) = (size, entries));
            return cost.saturating_add(1);
        }
        let costs: Vec<u64> = arguments.iter().map(|argument| self.cost(argument)).collect();
        let overloads = self.checked.overloads(expr);
        if overloads.is_empty() {
            return 0;
        }
        let target_cost = target.map_or(0, |target| self.cost(target));
        let (mut cost, mut size) = (0, None::<Size>);
        for &overload in &*overloads {
            let call = Call { overload, target, arguments, costs: &costs };
            let found = self.call_cost(&call);
            cost = cost.max(found.cost);
            size = match (size, found.size) {
                (Some(size), Some(other)) => Some(size.union(other)),
                (size, other) => size.or(other),
            };
            if let Some(entries) = found.entries {
                self.note(expr, |facts| facts.entries = Some(entries));
            }
            if let ("_[_]", [list, _], [Type::List(_) | Type::Map(..), _]) =
                (function, arguments, overload.parameters.as_slice())
            {
                let place = self.step(self.facts(list).place, Step::Elements);
                self.note(expr, |facts| facts.place = place);
            }
        }
        if size.is_some() {
            self.note(expr, |facts| facts.size = size);
        }
        target_cost.saturating_add(cost)
    }

    fn is_name(&self, expr: &Expr) -> bool {
        let reference = self.checked.references.get(expr.id);
        !matches!(reference, None | Some(Reference::None | Reference::Overloads(_)))
    }

    fn comprehension(&mut self, expr: &Expr, comprehension: &'e Comprehension) -> u64 {
        if !self.follows_sizes() {
            return self.unfollowed_comprehension(expr, comprehension);
        }
        let Comprehension { range, start, accumulator, .. } = comprehension;
        let mut cost = self.cost(range).saturating_add(self.cost(start));
        let depth = self.locals.len();
        let (size, entries) = (self.known_size(start), self.entries(start));
        let accumulated = Facts { size, entries, ..self.facts(start) };
        self.locals.push((Arc::clone(accumulator), accumulated));
        if is_binding(comprehension) {
            cost = cost.saturating_add(self.cost(&comprehension.result));
            self.locals.truncate(depth);
            let result = &comprehension.result;
            let (size, entries) = (self.known_size(result), self.entries(result));
            self.note(expr, |facts| (facts.size, facts.entries) = (size, entries));
            return cost;
        }
        self.variables(comprehension);
        let condition = self.cost(&comprehension.condition);
        let step = self.cost(&comprehension.step);
        let entries = self.entries(&comprehension.step);
        self.locals.truncate(depth + 1);
        cost = cost.saturating_add(self.cost(&comprehension.result));
        self.locals.truncate(depth);
        let rounds = self.size(range);
        match &start.kind {
            Kind::Literal(_) => {
                let size = self.known_size(start);
                self.note(expr, |facts| facts.size = size);
            }
            Kind::List(_) | Kind::Map(_) => {
                self.note(expr, |facts| (facts.size, facts.entries) = (Some(rounds), entries));
            }
            _ => {}
        }
        cost.saturating_add(rounds.max.saturating_mul(condition.saturating_add(step)))
    }

    /// Declares the variables of a comprehension.
    fn variables(&mut self, comprehension: &Comprehension) {
        let Comprehension { range, variable, second, .. } = comprehension;
        let entries = self.entries(range);
        let is_list = match entries {
            Some(entries) => !entries.is_map,
            None => matches!(self.type_of(range), Type::List(_)),
        };
        let place = self.facts(range).place;
        let key = if is_list { Step::Indices } else { Step::Keys };
        let key = (key, entries.map(|entries| entries.key));
        let value = (Step::Elements, entries.map(|entries| entries.value));
        let mut declare = |name: &Arc<str>, (step, size)| {
            let local = Facts { place: self.step(place, step), size, entries: None };
            self.locals.push((Arc::clone(name), local));
        };
        match second {
            Some(second) => {
                declare(variable, key);
                declare(second, value);
            }
            None if is_list => declare(variable, value),
            None => declare(variable, key),
        }
    }
}

/// Returns whether it only binds a value to a name: it has no rounds.
fn is_binding(comprehension: &Comprehension) -> bool {
    matches!(&comprehension.range.kind, Kind::List(elements) if elements.is_empty())
        && matches!(comprehension.condition.kind, Kind::Literal(Literal::Bool(false)))
}
