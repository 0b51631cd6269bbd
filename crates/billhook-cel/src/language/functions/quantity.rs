//! Quantities: numbers with suffixes as in resource requests (CE-10).

use std::cmp::Ordering;

use billhook_apimachinery::{Quantity, QuantityError};

use super::cost;
use super::declare::{Call, Cost, Overload, Result, int, opaque, text, wrap};
use crate::language::types::Type;
use crate::language::value::{EvaluationError, LibraryValue, Value};

const NAME: &str = "kubernetes.Quantity";
const QUANTITY: Type = Type::Opaque(NAME);

impl LibraryValue for Quantity {
    fn type_name(&self) -> &'static str {
        NAME
    }
}

pub(super) fn library() -> Vec<Overload> {
    use Type::{Bool, Double, Int, String};
    let with = |name: &'static str, other: Type, result: Type, call: Call| {
        Overload::method(name, vec![QUANTITY, other], result, call)
    };
    vec![
        Overload::function("quantity", vec![String], QUANTITY, |arguments| {
            Ok(wrap(parse(text(arguments, 0)?)?))
        })
        .costs(Cost::Of(cost::first)),
        Overload::function("isQuantity", vec![String], Bool, |arguments| {
            Ok(Value::Bool(parse(text(arguments, 0)?).is_ok()))
        })
        .costs(Cost::Of(cost::first)),
        // Unlike the others it is not a method.
        Overload::function("sign", vec![QUANTITY], Int, |arguments| {
            Ok(Value::Int(receiver(arguments)?.signum()))
        }),
        Overload::method("isInteger", vec![QUANTITY], Bool, |arguments| {
            Ok(Value::Bool(receiver(arguments)?.as_int().is_some()))
        }),
        Overload::method("asInteger", vec![QUANTITY], Int, |arguments| {
            let int = receiver(arguments)?.as_int();
            int.map(Value::Int)
                .ok_or_else(|| EvaluationError::new("cannot convert value to integer"))
        }),
        Overload::method("asApproximateFloat", vec![QUANTITY], Double, |arguments| {
            Ok(Value::Double(receiver(arguments)?.as_float()))
        }),
        with("add", QUANTITY, QUANTITY, |arguments| sum(receiver(arguments)?, second(arguments)?)),
        with("add", Int, QUANTITY, |arguments| {
            sum(receiver(arguments)?, &Quantity::from(int(arguments, 1)?))
        }),
        with("sub", QUANTITY, QUANTITY, |arguments| {
            sum(receiver(arguments)?, &second(arguments)?.negated())
        }),
        with("sub", Int, QUANTITY, |arguments| {
            sum(receiver(arguments)?, &Quantity::from(int(arguments, 1)?).negated())
        }),
        with("isLessThan", QUANTITY, Bool, |arguments| {
            Ok(Value::Bool(compare(arguments)? == Ordering::Less))
        }),
        with("isGreaterThan", QUANTITY, Bool, |arguments| {
            Ok(Value::Bool(compare(arguments)? == Ordering::Greater))
        }),
        with("compareTo", QUANTITY, Int, |arguments| Ok(Value::Int(compare(arguments)? as i64))),
    ]
}

fn parse(text: &str) -> Result<Quantity> {
    text.parse().map_err(|error: QuantityError| EvaluationError::new(error.to_string()))
}

fn receiver<'v>(arguments: &'v [Value<'_>]) -> Result<&'v Quantity> {
    opaque(arguments, 0)
}

fn second<'v>(arguments: &'v [Value<'_>]) -> Result<&'v Quantity> {
    opaque(arguments, 1)
}

fn compare(arguments: &[Value<'_>]) -> Result<Ordering> {
    Ok(receiver(arguments)?.cmp(second(arguments)?))
}

fn sum<'a>(left: &Quantity, right: &Quantity) -> Result<Value<'a>> {
    left.plus(right)
        .map(wrap)
        .ok_or_else(|| EvaluationError::new("quantities of too different magnitude"))
}
