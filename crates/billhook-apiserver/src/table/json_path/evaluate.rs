//! From a value along the steps of a path.

use std::cmp::Ordering;

use billhook_apimachinery::value::{Num, sorted};
use serde_json::Value;

use super::{Filter, Operand, Operator, Slice, Step};

/// How many values a path looks at; one that looks at more leads nowhere.
const MAX_VALUES: usize = 100_000;

/// Returns all values that a path leads to; `None` if it cannot be followed.
pub(super) fn all<'v>(steps: &[Step], value: &'v Value) -> Option<Vec<&'v Value>> {
    Walk { budget: MAX_VALUES }.steps(steps, vec![value])
}

struct Walk {
    budget: usize,
}

impl Walk {
    fn spend(&mut self, values: usize) -> Option<()> {
        self.budget = self.budget.checked_sub(values)?;
        Some(())
    }

    fn steps<'v>(&mut self, steps: &[Step], mut values: Vec<&'v Value>) -> Option<Vec<&'v Value>> {
        for step in steps {
            self.spend(values.len())?;
            values = self.step(step, &values)?;
        }
        Some(values)
    }

    fn step<'v>(&mut self, step: &Step, values: &[&'v Value]) -> Option<Vec<&'v Value>> {
        let mut found = Vec::new();
        match step {
            Step::Field(name) => found.extend(values.iter().filter_map(|value| value.get(name))),
            Step::Wildcard => {
                for value in values {
                    let children = children(value);
                    self.spend(children.len())?;
                    found.extend(children);
                }
            }
            Step::Descend => self.descend(values, &mut found)?,
            Step::Items(slice) => {
                for value in values.iter().filter(|value| !value.is_null()) {
                    let items = slice.of(value.as_array()?)?;
                    self.spend(items.len())?;
                    found.extend(items);
                }
            }
            Step::Union(paths) => {
                for path in paths {
                    found.extend(self.steps(path, values.to_vec())?);
                }
            }
            Step::Filter(filter) => {
                for value in values.iter().filter(|value| !value.is_null()) {
                    for item in value.as_array()? {
                        if self.is_fulfilled(filter, item)? {
                            found.push(item);
                        }
                    }
                }
            }
        }
        Some(found)
    }

    /// Finds the values that have something inside, each before what is in it.
    fn descend<'v>(&mut self, values: &[&'v Value], found: &mut Vec<&'v Value>) -> Option<()> {
        let mut waiting: Vec<&Value> = values.iter().rev().copied().collect();
        while let Some(value) = waiting.pop() {
            let children = children(value);
            if !children.is_empty() {
                self.spend(children.len())?;
                found.push(value);
                waiting.extend(children.into_iter().rev());
            }
        }
        Some(())
    }

    fn is_fulfilled(&mut self, filter: &Filter, item: &Value) -> Option<bool> {
        self.spend(1)?;
        let (left, operator, right) = match filter {
            // What cannot be followed is not there.
            Filter::Exists(operand) => {
                return Some(self.operand(operand, item).is_some_and(|found| !found.is_empty()));
            }
            Filter::Comparison(left, operator, right) => (left, *operator, right),
        };
        let (left, right) = (self.operand(left, item)?, self.operand(right, item)?);
        match (left.as_slice(), right.as_slice()) {
            ([], _) | (_, []) => Some(false),
            ([left], [right]) => operator.holds(left, right),
            _ => None,
        }
    }

    fn operand<'v>(&mut self, operand: &'v Operand, item: &'v Value) -> Option<Vec<&'v Value>> {
        match operand {
            Operand::Literal(value) => Some(vec![value]),
            Operand::Path(steps) => self.steps(steps, vec![item]),
        }
    }
}

impl Slice {
    /// The items of a list; `None` if there are no such items.
    fn of(self, list: &[Value]) -> Option<Vec<&Value>> {
        let length = i64::try_from(list.len()).ok()?;
        let from_end = |number: i64| if number < 0 { number + length } else { number };
        let from = from_end(self.from.unwrap_or(0));
        let to = match self.to {
            None => length,
            Some(0) if self.is_single => length,
            Some(to) => from_end(to),
        };
        if from == to {
            return Some(Vec::new());
        }
        let range = usize::try_from(from).ok()?..usize::try_from(to).ok()?;
        let step = usize::try_from(self.step.unwrap_or(1)).ok().filter(|step| *step > 0)?;
        Some(list.get(range)?.iter().step_by(step).collect())
    }
}

impl Operator {
    /// Compares two values; `None` if their types differ or have no order.
    fn holds(self, left: &Value, right: &Value) -> Option<bool> {
        if let (Value::Bool(left), Value::Bool(right)) = (left, right) {
            return match self {
                Operator::Equal => Some(left == right),
                Operator::NotEqual => Some(left != right),
                _ => None,
            };
        }
        let order = match (left, right) {
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Number(left), Value::Number(right)) => match (Num::of(left), Num::of(right)) {
                (Num::Int(left), Num::Int(right)) => Some(left.cmp(&right)),
                (Num::Float(left), Num::Float(right)) => left.partial_cmp(&right),
                _ => None,
            },
            _ => None,
        }?;
        Some(match self {
            Operator::Equal => order == Ordering::Equal,
            Operator::NotEqual => order != Ordering::Equal,
            Operator::Less => order == Ordering::Less,
            Operator::LessOrEqual => order != Ordering::Greater,
            Operator::Greater => order == Ordering::Greater,
            Operator::GreaterOrEqual => order != Ordering::Less,
        })
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => sorted(members).into_iter().map(|(_, member)| member).collect(),
        _ => Vec::new(),
    }
}
