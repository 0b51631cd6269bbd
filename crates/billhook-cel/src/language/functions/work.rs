//! Counts of the values that functions look at beyond what they cost (CE-36).

use super::arithmetic::merging;
use super::declare::Result;
use crate::language::meter::Meter;
use crate::language::value::Value;

/// All of the arguments once.
pub(super) fn once(arguments: &[Value<'_>], meter: &mut Meter) -> Result<()> {
    arguments.iter().try_for_each(|argument| meter.look_into(argument))
}

/// All of the arguments for each element of the longest list.
pub(super) fn pairs(arguments: &[Value<'_>], meter: &mut Meter) -> Result<()> {
    let before = *meter;
    once(arguments, meter)?;
    let lengths = arguments.iter().map(|argument| argument.size().unwrap_or(1));
    let longest = lengths.max().unwrap_or(1) as u64;
    meter.look(meter.since(&before).saturating_mul(longest))
}

/// The elements of both lists if one is merged into the other.
pub(super) fn merge(arguments: &[Value<'_>], meter: &mut Meter) -> Result<()> {
    match arguments {
        [Value::List(list), _] if merging(list).is_some() => once(arguments, meter),
        _ => Ok(()),
    }
}
