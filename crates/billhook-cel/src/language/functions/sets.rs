//! Lists as sets (CE-10).

use super::declare::{Call, Cost, Overload, Result};
use super::lists::elements;
use super::{cost, work};
use crate::language::types::Type;
use crate::language::value::{EvaluationError, Value, equal};

/// More comparisons than the limit of cost for one evaluation allows (CE-35).
const MAX_COMPARISONS: u64 = 1_000_000;

pub(super) fn library() -> Vec<Overload> {
    let list = || Type::Param("T").list();
    let set = |name: &'static str, call: Call, cost: Cost| {
        Overload::function(name, vec![list(), list()], Type::Bool, call)
            .costs(cost)
            .works(work::pairs)
    };
    let once = Cost::Resolved(|arguments, _| comparisons(arguments).saturating_add(1));
    let twice = Cost::Resolved(|arguments, _| comparisons(arguments).saturating_mul(2) + 1);
    vec![
        set("sets.contains", |arguments| with(arguments, contains), once),
        set(
            "sets.equivalent",
            |arguments| {
                with(arguments, |left, right| Ok(contains(left, right)? && contains(right, left)?))
            },
            twice,
        ),
        set(
            "sets.intersects",
            |arguments| {
                with(arguments, |left, right| Ok(right.iter().any(|value| is_in(value, left))))
            },
            once,
        ),
    ]
}

fn comparisons(arguments: &[Value<'_>]) -> u64 {
    cost::size_at(arguments, 0).saturating_mul(cost::size_at(arguments, 1))
}

/// Compares the elements of two lists.
fn with<'a>(
    arguments: &[Value<'a>],
    is: fn(&[Value<'a>], &[Value<'a>]) -> Result<bool>,
) -> Result<Value<'a>> {
    if comparisons(arguments) > MAX_COMPARISONS {
        return Err(EvaluationError::CostLimit);
    }
    let (left, right) = (elements(arguments, 0)?, elements(arguments, 1)?);
    is(&left, &right).map(Value::Bool)
}

fn is_in(value: &Value<'_>, values: &[Value<'_>]) -> bool {
    values.iter().any(|other| equal(other, value) == Ok(true))
}

fn contains(left: &[Value<'_>], right: &[Value<'_>]) -> Result<bool> {
    Ok(right.iter().all(|value| is_in(value, left)))
}
