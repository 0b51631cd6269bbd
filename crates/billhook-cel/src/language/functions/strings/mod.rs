//! Text by characters (CE-10).

pub(super) mod format;

use billhook_apimachinery::KubernetesVersion;

use super::declare::{Call, Cost, Overload, Result, argument, int, text};
use super::{cost, work};
use crate::language::availability::Availability;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, List, Value};

pub(crate) use format::{clauses, requirement};

/// The cost of reading the text once.
const ONCE: Cost = Cost::Of(cost::first);
/// The cost of reading the text and writing it again.
const TWICE: Cost = Cost::Of(cost::first_twice);

pub(super) fn library() -> Vec<Overload> {
    use Type::{Dyn, Int, String};
    let method = |name: &'static str, more: &[Type], result: Type, call: Call| {
        let parameters = std::iter::once(String).chain(more.iter().cloned()).collect();
        Overload::method(name, parameters, result, call)
    };
    let texts = String.list();
    let mut overloads = vec![
        method("charAt", &[Int], String, char_at),
        method("lowerAscii", &[], String, |arguments| {
            Ok(Value::text(text(arguments, 0)?.to_ascii_lowercase()))
        })
        .costs(ONCE),
        method("upperAscii", &[], String, |arguments| {
            Ok(Value::text(text(arguments, 0)?.to_ascii_uppercase()))
        })
        .costs(ONCE),
        method("trim", &[], String, |arguments| Ok(Value::text(text(arguments, 0)?.trim())))
            .costs(ONCE),
        method("replace", &[String, String], String, replace).costs(TWICE),
        method("replace", &[String, String, Int], String, replace).costs(TWICE),
        method("split", &[String], texts.clone(), split).costs(TWICE),
        method("split", &[String, Int], texts.clone(), split).costs(TWICE),
        method("substring", &[Int], String, substring).costs(ONCE),
        method("substring", &[Int, Int], String, substring).costs(ONCE),
        method("format", &[Dyn.list()], String, format::format)
            .costs(Cost::Resolved(cost::first))
            .works(work::once),
        Overload::function("strings.quote", vec![String], String, |arguments| {
            Ok(Value::text(quote(text(arguments, 0)?)))
        })
        .costs(Cost::Resolved(cost::first)),
    ];
    let joined = Cost::Of(cost::result_twice);
    for parameters in [vec![texts.clone()], vec![texts, String]] {
        let join = Overload::method("join", parameters, String, join);
        overloads.push(join.costs(joined).works(work::once));
    }
    let last = |call: Call| method("lastIndexOf", &[String], Int, call);
    let since = KubernetesVersion::V1_34;
    let found = [
        method("indexOf", &[String], Int, index_of),
        method("indexOf", &[String, Int], Int, index_of),
        last(last_index_of).available(Availability::Since(since)),
        last(last_index_of_some).available(Availability::ReplacedSince(since)),
        method("lastIndexOf", &[String, Int], Int, last_index_of),
    ];
    overloads.extend(found.map(|overload| overload.costs(Cost::Of(cost::parts))));
    overloads
}

/// An argument that may be left out.
fn optional_int(arguments: &[Value<'_>], index: usize) -> Result<Option<i64>> {
    if arguments.len() > index { int(arguments, index).map(Some) } else { Ok(None) }
}

fn out_of_range(index: i64) -> EvaluationError {
    EvaluationError::new(format!("index out of range: {index}"))
}

/// Returns the offset of a character in a text; the end of the text for the one after the last.
fn offset(text: &str, index: i64) -> Result<usize> {
    let starts = text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len()));
    let at = usize::try_from(index).ok().and_then(|index| starts.into_iter().nth(index));
    at.ok_or_else(|| out_of_range(index))
}

fn char_at<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let text = text(arguments, 0)?;
    let at = offset(text, int(arguments, 1)?)?;
    let found = text.get(at..).and_then(|rest| rest.chars().next());
    Ok(Value::text(found.map(String::from).unwrap_or_default()))
}

/// Returns the position of one text in another, after a number of characters.
fn index_of<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let (text, part) = (text(arguments, 0)?, text(arguments, 1)?);
    let from = optional_int(arguments, 2)?.unwrap_or(0);
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(out_of_range(from));
    }
    let rest = offset(text, from).ok().and_then(|at| text.get(at..)).unwrap_or_default();
    let found = rest.find(part).and_then(|at| rest.get(..at));
    Ok(Value::Int(found.map_or(-1, |before| from + length(before))))
}

/// Returns the last position that is not after a number of characters.
fn last_index_of<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let (text, part) = (text(arguments, 0)?, text(arguments, 1)?);
    let length_of_text = length(text);
    let last = optional_int(arguments, 2)?;
    if part.is_empty() {
        return Ok(Value::Int(last.unwrap_or(length_of_text)));
    }
    let last = match last {
        Some(last) if last < 0 => return Err(out_of_range(last)),
        Some(last) if last >= length_of_text => return Ok(Value::Int(-1)),
        Some(last) => last.saturating_add(length(part)),
        None => length_of_text,
    };
    let end = offset(text, last).unwrap_or(text.len());
    let found = text.get(..end).and_then(|head| head.get(..head.rfind(part)?));
    Ok(Value::Int(found.map_or(-1, length)))
}

/// The same, but nothing may be looked for in an empty text (KV-41).
fn last_index_of_some<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    if text(arguments, 0)?.is_empty() && !text(arguments, 1)?.is_empty() {
        return Err(out_of_range(-1));
    }
    last_index_of(arguments)
}

fn length(text: &str) -> i64 {
    text.chars().count() as i64
}

fn substring<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let text = text(arguments, 0)?;
    let start = int(arguments, 1)?;
    let end = match optional_int(arguments, 2)? {
        Some(end) if start > end => {
            let error = format!("invalid substring range. start: {start}, end: {end}");
            return Err(EvaluationError::new(error));
        }
        end => end,
    };
    let from = offset(text, start)?;
    let to = end.map_or(Ok(text.len()), |end| offset(text, end))?;
    Ok(Value::text(text.get(from..to).unwrap_or_default()))
}

/// Returns the maximum number of replacements or parts; negative numbers set no limit.
fn limit(arguments: &[Value<'_>], index: usize) -> Result<usize> {
    let limit = optional_int(arguments, index)?.unwrap_or(-1);
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

fn replace<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let (text, old, new) = (text(arguments, 0)?, text(arguments, 1)?, text(arguments, 2)?);
    let limit = limit(arguments, 3)?;
    let places = text.matches(old).take(limit).count();
    let growth = places.saturating_mul(new.len().saturating_sub(old.len()));
    if text.len().saturating_add(growth) > MAX_TEXT {
        return Err(EvaluationError::CostLimit);
    }
    Ok(Value::text(text.replacen(old, new, limit)))
}

/// More bytes than any text may have that a limit of cost lets be read.
const MAX_TEXT: usize = 64 << 20;

fn split<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let (text, separator) = (text(arguments, 0)?, text(arguments, 1)?);
    let limit = limit(arguments, 2)?;
    if limit == 0 {
        return Ok(Value::list(Vec::new()));
    }
    if !separator.is_empty() {
        return Ok(Value::list(text.splitn(limit, separator).map(Value::text).collect()));
    }
    // Without a separator the text is split into characters, and the rest stays together.
    let mut parts = Vec::new();
    let mut rest = text.chars();
    while parts.len() + 1 < limit
        && let Some(character) = rest.next()
    {
        parts.push(Value::text(character));
    }
    if !rest.as_str().is_empty() {
        parts.push(Value::text(rest.as_str()));
    }
    Ok(Value::list(parts))
}

fn join<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let Value::List(list) = argument(arguments, 0)? else {
        return Err(EvaluationError::NoSuchOverload);
    };
    let separator = if arguments.len() > 1 { text(arguments, 1)? } else { "" };
    let mut joined = String::new();
    for (index, value) in List::iter(list).enumerate() {
        let Value::String(part) = value? else { return Err(EvaluationError::NoSuchOverload) };
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(part.as_str());
        if joined.len() > MAX_TEXT {
            return Err(EvaluationError::CostLimit);
        }
    }
    Ok(Value::text(joined))
}

/// Returns a text in double quotes, with escapes for characters that have a short one.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0c' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\x0b' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
