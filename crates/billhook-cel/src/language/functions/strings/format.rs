//! Formatting of values by a template: `%s`, `%d`, `%f`, `%e`, `%b`, `%x`, `%X`, `%o`.

use std::fmt::Write as _;

use billhook_apimachinery::print;
use billhook_apimachinery::value::grow;

use crate::language::functions::conversion::{double_text, to_string};
use crate::language::functions::declare::{Result, argument, text};
use crate::language::value::{EvaluationError, List, Map, Value};

/// The number of digits after the point if a template does not set it.
const DEFAULT_PRECISION: usize = 6;

/// The maximum number of digits after the point: the digits of the greatest number and as many
/// again.
const MAX_PRECISION: usize = 1_000;

/// More bytes than a text may have.
const MAX_TEXT: usize = 16 << 20;

fn fail<T>(text: impl Into<String>) -> Result<T> {
    Err(EvaluationError::new(text))
}

/// The error about a value that a clause does not take.
fn misfit<T>(letter: char, value: &Value<'_>) -> Result<T> {
    fail(format!("{}, was given {}", requirement(letter), value.type_name()))
}

/// Fills a template with the values of a list.
pub(super) fn format<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let template = text(arguments, 0)?;
    let Value::List(values) = argument(arguments, 1)? else {
        return Err(EvaluationError::NoSuchOverload);
    };
    let (mut out, mut rest, mut next) = (String::new(), template, 0);
    while let Some(behind) = up_to_clause(rest, &mut out) {
        let Some(value) = values.get(next) else {
            return fail(format!("index {next} out of range"));
        };
        let (clause, behind) = Clause::parse(behind).map_err(EvaluationError::new)?;
        let formatted = clause.format(&value?).map_err(|error| match error {
            EvaluationError::CostLimit => error,
            error => EvaluationError::new(format!("error during formatting: {error}")),
        })?;
        out.push_str(&formatted);
        is_short(out.len())?;
        (rest, next) = (behind, next + 1);
    }
    Ok(Value::text(out))
}

/// Writes the text before the next clause, and returns what comes after its percent sign.
fn up_to_clause<'t>(mut rest: &'t str, out: &mut String) -> Option<&'t str> {
    while let Some((before, behind)) = rest.split_once('%') {
        out.push_str(before);
        let Some(behind) = behind.strip_prefix('%') else { return Some(behind) };
        out.push('%');
        rest = behind;
    }
    out.push_str(rest);
    None
}

/// Returns what the values of a clause must be, as errors begin.
pub(crate) fn requirement(letter: char) -> &'static str {
    match letter {
        'd' => "decimal clause can only be used on integers",
        'f' => "fixed-point clause can only be used on doubles",
        'e' => "scientific clause can only be used on doubles",
        'b' => "only integers and bools can be formatted as binary",
        'o' => "octal clause can only be used on integers",
        'x' | 'X' => "only integers, byte buffers, and strings can be formatted as hex",
        _ => {
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, \
             types, durations, and timestamps"
        }
    }
}

/// The clause after a percent sign.
struct Clause {
    letter: char,
    precision: Option<usize>,
}

impl Clause {
    /// Returns the clause at the start of a text, and the rest.
    fn parse(text: &str) -> std::result::Result<(Clause, &str), String> {
        if text.is_empty() {
            return Err("unexpected end of string".to_owned());
        }
        Self::parse_parts(text)
            .map_err(|problem| format!("could not parse formatting clause: {problem}"))
    }

    fn parse_parts(text: &str) -> std::result::Result<(Clause, &str), String> {
        let (precision, text) = match text.strip_prefix('.') {
            None => (None, text),
            Some(digits) => {
                let behind = digits.trim_start_matches(|c: char| c.is_ascii_digit());
                let digits = digits.strip_suffix(behind).unwrap_or_default();
                let within = |problem: &str| format!("error while parsing precision: {problem}");
                if behind.is_empty() {
                    return Err(within("could not find end of precision specifier"));
                }
                let precision = digits.parse().map_err(|_| {
                    let problem = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
                    within(&format!(
                        "error while converting precision to integer: strconv.Atoi: parsing {}: {problem}",
                        print::quote(digits)
                    ))
                })?;
                (Some(precision), behind)
            }
        };
        let mut rest = text.chars();
        match rest.next() {
            Some(letter @ ('s' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o')) => {
                Ok((Clause { letter, precision }, rest.as_str()))
            }
            letter => {
                Err(format!("unrecognized formatting clause \"{}\"", letter.unwrap_or_default()))
            }
        }
    }

    fn format(&self, value: &Value<'_>) -> Result<String> {
        let precision = self.precision.unwrap_or(DEFAULT_PRECISION);
        match (self.letter, value) {
            ('s', value) => shown(value),
            ('d', Value::Int(int)) => Ok(int.to_string()),
            ('d', Value::Uint(uint)) => Ok(uint.to_string()),
            ('f' | 'e', _) if precision > MAX_PRECISION => Err(EvaluationError::CostLimit),
            ('f' | 'e', value) => match double(value) {
                Some(double) => Ok(number(double, self.letter, precision)),
                None => misfit(self.letter, value),
            },
            ('b', Value::Bool(value)) => Ok(u8::from(*value).to_string()),
            ('b' | 'x' | 'X' | 'o', Value::Int(int)) => {
                let sign = if *int < 0 { "-" } else { "" };
                Ok(format!("{sign}{}", in_base(int.unsigned_abs(), self.letter)))
            }
            ('b' | 'x' | 'X' | 'o', Value::Uint(uint)) => Ok(in_base(*uint, self.letter)),
            ('x' | 'X', Value::String(text)) => Ok(hex(text.as_str().as_bytes(), self.letter)),
            ('x' | 'X', Value::Bytes(bytes)) => Ok(hex(bytes, self.letter)),
            _ => misfit(self.letter, value),
        }
    }
}

/// A double, or a text that names one that has no digits.
fn double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(double) => Some(*double),
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn in_base(number: u64, letter: char) -> String {
    match letter {
        'b' => format!("{number:b}"),
        'o' => format!("{number:o}"),
        'x' => format!("{number:x}"),
        _ => format!("{number:X}"),
    }
}

fn hex(bytes: &[u8], letter: char) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a `String` cannot fail.
        let _ = match letter {
            'x' => write!(out, "{byte:02x}"),
            _ => write!(out, "{byte:02X}"),
        };
    }
    out
}

/// A number as the server's English locale writes it: with groups of three digits, or with a
/// raised exponent.
fn number(double: f64, letter: char, precision: usize) -> String {
    if double.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if double.is_sign_negative() { "-" } else { "" };
    if double.is_infinite() {
        return format!("{sign}∞");
    }
    if letter == 'f' {
        let (whole, fraction) = rounded(double.abs(), precision);
        let point = if fraction.is_empty() { "" } else { "." };
        return format!("{sign}{}{point}{fraction}", grouped(&whole));
    }
    let text = scientific(double.abs(), precision);
    format!("{sign}{text}")
}

/// Returns the shortest decimal digits of a number, and the place of its point after the first of
/// them.
fn shortest(double: f64) -> (Vec<u8>, i32) {
    let text = print::shortest_float(double);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    (digits, exponent.parse().unwrap_or_default())
}

/// The first digits, rounded to the even one when in the middle; and whether there is one more.
fn round(digits: &[u8], kept: usize) -> (Vec<u8>, bool) {
    let mut out: Vec<u8> = digits.iter().copied().take(kept).collect();
    let mut lost = digits.iter().skip(kept);
    let up = match lost.next() {
        Some(6..) => true,
        Some(5) => lost.any(|digit| *digit != 0) || out.last().is_some_and(|digit| digit % 2 == 1),
        _ => false,
    };
    if up {
        for digit in out.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return (out, false);
            }
            *digit = 0;
        }
        out.insert(0, 1);
        return (out, true);
    }
    (out, false)
}

fn text_of(digits: impl Iterator<Item = u8>) -> String {
    digits.map(|digit| char::from(digit + b'0')).collect()
}

/// Returns the digits before and after the point.
fn rounded(double: f64, precision: usize) -> (String, String) {
    let (digits, exponent) = shortest(double);
    let whole = usize::try_from(exponent + 1).unwrap_or(0);
    // Zeros between the point and the first digit.
    let zeros = usize::try_from(-(exponent + 1)).unwrap_or(0);
    let padded: Vec<u8> = std::iter::repeat_n(0, zeros).chain(digits).collect();
    let (mut digits, carried) = round(&padded, whole + precision);
    let whole = whole + usize::from(carried);
    digits.resize(whole + precision, 0);
    let before = text_of(digits.iter().copied().take(whole));
    let before = if before.is_empty() { "0".to_owned() } else { before };
    (before, text_of(digits.into_iter().skip(whole)))
}

fn scientific(double: f64, precision: usize) -> String {
    let (digits, exponent) = shortest(double);
    let (mut digits, carried) = round(&digits, precision + 1);
    let exponent = exponent + i32::from(carried);
    digits.resize(precision + 1, 0);
    let first = text_of(digits.iter().copied().take(1));
    let rest = text_of(digits.into_iter().skip(1));
    let point = if rest.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { "⁻" } else { "" };
    let raised: String = format!("{:02}", exponent.abs())
        .chars()
        .filter_map(|c| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c.to_digit(10)? as usize))
        .collect();
    format!("{first}{point}{rest}×10{sign}{raised}")
}

fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A value as text.
pub(crate) fn shown(value: &Value<'_>) -> Result<String> {
    match value {
        Value::List(list) => grow(|| shown_list(list)),
        Value::Map(map) => grow(|| shown_map(map)),
        Value::Null => Ok("null".to_owned()),
        Value::Double(double) => Ok(double_text(*double)),
        Value::Type(name) => Ok(name.to_string()),
        Value::Optional(_) | Value::Opaque(_) => misfit('s', value),
        value => match to_string(std::slice::from_ref(value)) {
            Ok(Value::String(text)) => Ok(text.as_str().to_owned()),
            Ok(_) => Err(EvaluationError::NoSuchOverload),
            Err(error) => {
                let error = print::quote(&error.to_string());
                fail(format!("could not convert argument {error} to string"))
            }
        },
    }
}

/// An element of a list or map as it could stand in an expression.
fn literal(value: &Value<'_>) -> Result<String> {
    Ok(match value {
        Value::String(text) => print::quote(text.as_str()),
        Value::Bytes(_) => format!("b{}", print::quote(&shown(value)?)),
        Value::Timestamp(_) => format!("timestamp({})", print::quote(&shown(value)?)),
        Value::Duration(_) => format!("duration({})", print::quote(&shown(value)?)),
        Value::Double(double) if double.is_nan() => "\"NaN\"".to_owned(),
        Value::Double(double) if double.is_infinite() => {
            (if *double > 0.0 { "\"+Inf\"" } else { "\"-Inf\"" }).to_owned()
        }
        Value::Double(double) => format!("{double:.6}"),
        Value::Optional(_) | Value::Opaque(_) => {
            return fail(format!("no formatting function for {}", value.type_name()));
        }
        value => shown(value)?,
    })
}

/// Refuses to make a text that is too long.
fn is_short(length: usize) -> Result<()> {
    if length > MAX_TEXT { Err(EvaluationError::CostLimit) } else { Ok(()) }
}

fn shown_list(list: &List<'_>) -> Result<String> {
    let mut out = String::from("[");
    for (index, value) in list.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&literal(&value?)?);
        is_short(out.len())?;
    }
    out.push(']');
    Ok(out)
}

fn shown_map(map: &Map<'_>) -> Result<String> {
    let mut parts = Vec::with_capacity(map.len());
    let mut length = 0;
    for (key, value) in map.entries() {
        let key = match key {
            Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => literal(&key)?,
            key => {
                let name = key.type_name();
                return fail(format!("no formatting function for map key of type {name}"));
            }
        };
        let value = literal(&value?)?;
        length += key.len() + value.len();
        is_short(length)?;
        parts.push((key, value));
    }
    parts.sort();
    let parts: Vec<_> = parts.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    Ok(format!("{{{}}}", parts.join(", ")))
}

/// Returns the letters of the clauses of a template, or its problem.
pub(crate) fn clauses(template: &str) -> std::result::Result<Vec<char>, String> {
    let (mut letters, mut rest, mut before) = (Vec::new(), template, String::new());
    while let Some(behind) = up_to_clause(rest, &mut before) {
        let (clause, behind) = Clause::parse(behind)?;
        letters.push(clause.letter);
        rest = behind;
    }
    Ok(letters)
}
