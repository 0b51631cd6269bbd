//! The values of scalars: the implicit types of YAML 1.1 as the server resolves them.

use std::borrow::Cow;

use billhook_apimachinery::base64;
use billhook_apimachinery::calendar::Date;
use billhook_apimachinery::print::{lossy, plain_float, quote};
use serde_json::{Number, Value};

/// The explicit tag of a node,if it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// No tag.
    None,
    /// `!`: the type follows from the kind of the node.
    Bang,
    Null,
    Bool,
    Int,
    Float,
    Str,
    Binary,
    Timestamp,
    Merge,
    /// Any other tag; ignored, but the scalar is a string.
    Other,
}

impl Tag {
    /// Returns what a tag means, which is a URI.
    pub(crate) fn of(uri: &str) -> Self {
        match uri.strip_prefix("tag:yaml.org,2002:").unwrap_or_default() {
            _ if uri == "!" => Tag::Bang,
            "null" => Tag::Null,
            "bool" => Tag::Bool,
            "int" => Tag::Int,
            "float" => Tag::Float,
            "str" => Tag::Str,
            "binary" => Tag::Binary,
            "timestamp" => Tag::Timestamp,
            "merge" => Tag::Merge,
            _ => Tag::Other,
        }
    }

    fn short(self) -> &'static str {
        match self {
            Tag::Null => "!!null",
            Tag::Bool => "!!bool",
            Tag::Int => "!!int",
            Tag::Float => "!!float",
            Tag::Timestamp => "!!timestamp",
            _ => "!!str",
        }
    }
}

/// A scalar of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scalar<'t> {
    pub(crate) text: Cow<'t, str>,
    /// Whether it is written without quotes.
    pub(crate) plain: bool,
    pub(crate) tag: Tag,
}

/// The value that a scalar resolves to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolved<'t> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer beyond `i64`.
    Uint(u64),
    Float(f64),
    Text(Cow<'t, str>),
}

impl<'t> Scalar<'t> {
    /// Whether this is the key of a merge.
    pub(crate) fn is_merge(&self) -> bool {
        let implicit = self.tag == Tag::Bang || self.plain && self.tag == Tag::None;
        self.text == "<<" && (implicit || self.tag == Tag::Merge)
    }

    pub(crate) fn resolve(self) -> Result<Resolved<'t>, String> {
        match self.tag {
            Tag::None if self.plain => Ok(infer(&self.text).unwrap_or(Resolved::Text(self.text))),
            Tag::None | Tag::Bang | Tag::Str | Tag::Merge | Tag::Other => {
                Ok(Resolved::Text(self.text))
            }
            Tag::Binary => match base64::decode(&self.text) {
                Ok(data) => Ok(Resolved::Text(Cow::Owned(lossy(&data)))),
                Err(_) => Err("yaml: !!binary value contains invalid base64 data".to_owned()),
            },
            Tag::Timestamp if is_timestamp(&self.text) => Ok(Resolved::Text(self.text)),
            tag => match (tag, infer(&self.text)) {
                (Tag::Float, Some(Resolved::Int(int))) => Ok(Resolved::Float(int as f64)),
                (_, Some(resolved)) if resolved.tag() == tag => Ok(resolved),
                (_, other) => {
                    let found = other.map_or(Tag::Str, |resolved| resolved.tag()).short();
                    let text = self.text;
                    Err(format!("yaml: cannot decode {found} `{text}` as a {}", tag.short()))
                }
            },
        }
    }
}

impl Resolved<'_> {
    fn tag(&self) -> Tag {
        match self {
            Resolved::Null => Tag::Null,
            Resolved::Bool(_) => Tag::Bool,
            Resolved::Int(_) | Resolved::Uint(_) => Tag::Int,
            Resolved::Float(_) => Tag::Float,
            Resolved::Text(_) => Tag::Str,
        }
    }

    /// Returns the JSON value, or the server's message about a value JSON cannot hold.
    pub(crate) fn into_value(self) -> Result<Value, String> {
        Ok(match self {
            Resolved::Null => Value::Null,
            Resolved::Bool(value) => Value::Bool(value),
            Resolved::Int(int) => Value::from(int),
            Resolved::Uint(int) => float_value(int as f64).unwrap_or_default(),
            Resolved::Float(float) => return float_value(float),
            Resolved::Text(text) => Value::String(text.into_owned()),
        })
    }

    /// Returns the key as text, or the server's message about keys of this type.
    pub(crate) fn key_text(&self) -> Result<String, String> {
        match self {
            Resolved::Null => Err("unsupported map key of type: null".to_owned()),
            Resolved::Bool(value) => Ok(value.to_string()),
            Resolved::Int(int) => Ok(int.to_string()),
            Resolved::Uint(int) => Err(format!("unsupported map key of type: uint64, key: {int}")),
            Resolved::Float(float) => Ok(match *float as f32 {
                single if single.is_nan() => ".nan".to_owned(),
                f32::INFINITY => ".inf".to_owned(),
                f32::NEG_INFINITY => "-.inf".to_owned(),
                single => plain_float(single),
            }),
            Resolved::Text(text) => Ok(text.clone().into_owned()),
        }
    }

    /// The key as the report of a repeated key prints it.
    pub(crate) fn printed(&self) -> String {
        match self {
            Resolved::Null => "<nil>".to_owned(),
            Resolved::Bool(value) => value.to_string(),
            Resolved::Int(int) => int.to_string(),
            Resolved::Uint(int) => format!("{int:#x}"),
            Resolved::Float(float) if float.is_nan() => "NaN".to_owned(),
            Resolved::Float(f64::INFINITY) => "+Inf".to_owned(),
            Resolved::Float(f64::NEG_INFINITY) => "-Inf".to_owned(),
            Resolved::Float(float) => plain_float(*float),
            Resolved::Text(text) => quote(text),
        }
    }
}

/// A float on its way through JSON text (SS-01): whole ones that fit become integers.
fn float_value(float: f64) -> Result<Value, String> {
    if float.fract() == 0.0
        && let Ok(int) = float.to_string().parse::<i64>()
    {
        return Ok(Value::from(int));
    }
    let name = match float {
        f64::INFINITY => "+Inf",
        f64::NEG_INFINITY => "-Inf",
        _ => "NaN",
    };
    let number = Number::from_f64(float).map(Value::Number);
    number.ok_or_else(|| format!("json: unsupported value: {name}"))
}

/// Whether a text without quotes is a string to every reader of YAML 1.1; `1:30` is a number to some.
pub(crate) fn is_plain_string(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_base60 = unsigned.starts_with(|c: char| c.is_ascii_digit())
        && unsigned.contains(':')
        && unsigned.bytes().all(|byte| byte.is_ascii_digit() || b":._".contains(&byte));
    infer(text).is_none() && !is_timestamp(text) && !is_base60
}

/// Prints a number; floats that are not whole have an exponent from 1e6 on.
pub(crate) fn float_text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => match float_value(float) {
            Ok(Value::Number(whole)) if !whole.is_f64() => whole.to_string(),
            _ => plain_float(float),
        },
        _ => number.to_string(),
    }
}

/// The type of a scalar without quotes; `None` is a string.
fn infer(text: &str) -> Option<Resolved<'static>> {
    match text.as_bytes().first() {
        None => Some(Resolved::Null),
        Some(b'~' | b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O') => {
            infer_word(text)
        }
        Some(b'.') => infer_special_float(text).or_else(|| infer_fraction(text)),
        Some(b'+' | b'-') => infer_special_float(text).or_else(|| infer_number(text)),
        Some(b'0'..=b'9') => infer_number(text),
        _ => None,
    }
}

fn infer_word(text: &str) -> Option<Resolved<'static>> {
    Some(match text {
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Resolved::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Resolved::Bool(false)
        }
        _ => return None,
    })
}

fn infer_special_float(text: &str) -> Option<Resolved<'static>> {
    Some(Resolved::Float(match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => f64::INFINITY,
        "-.inf" | "-.Inf" | "-.INF" => f64::NEG_INFINITY,
        ".nan" | ".NaN" | ".NAN" => f64::NAN,
        _ => return None,
    }))
}

/// A float that starts with its point. Underscores stand between digits only.
fn infer_fraction(text: &str) -> Option<Resolved<'static>> {
    if text.contains('_') {
        let bytes = text.as_bytes();
        let is_digit = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at)).is_some_and(|byte| byte.is_ascii_digit())
        };
        let misplaced = memchr::memchr_iter(b'_', bytes)
            .any(|at| !is_digit(at.checked_sub(1)) || !is_digit(Some(at + 1)));
        if misplaced {
            return None;
        }
    }
    infer_float(&text.replace('_', ""))
}

/// An integer or a float that starts with a digit or a sign. Underscores do not count.
fn infer_number(text: &str) -> Option<Resolved<'static>> {
    let plain: Cow<'_, str> =
        if text.contains('_') { text.replace('_', "").into() } else { text.into() };
    infer_int(&plain).or_else(|| infer_float(&plain)).or_else(|| infer_signed_binary(&plain))
}

fn infer_int(plain: &str) -> Option<Resolved<'static>> {
    let (sign, digits) = match plain.strip_prefix(['+', '-']) {
        Some(digits) => (plain.as_bytes().first().copied(), digits),
        None => (None, plain),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', _, ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', _, ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    match sign {
        Some(b'-') => 0i64.checked_sub_unsigned(magnitude).map(Resolved::Int),
        Some(_) => i64::try_from(magnitude).ok().map(Resolved::Int),
        None => {
            let int = i64::try_from(magnitude).map(Resolved::Int);
            Some(int.unwrap_or(Resolved::Uint(magnitude)))
        }
    }
}

/// `0b-11`: the server reads a sign after the prefix.
fn infer_signed_binary(plain: &str) -> Option<Resolved<'static>> {
    let digits = plain.strip_prefix("0b")?;
    digits.strip_prefix(['+', '-'])?;
    i64::from_str_radix(digits, 2).ok().map(Resolved::Int)
}

/// A decimal float in the server's notation that float64 can hold.
fn infer_float(plain: &str) -> Option<Resolved<'static>> {
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    if whole.is_empty() && fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let float: f64 = if exponent_fits { plain.parse().ok()? } else { return None };
    float.is_finite().then_some(Resolved::Float(float))
}

/// Returns whether a text is a date, or a date and a time, in one of the forms `!!timestamp` takes.
fn is_timestamp(text: &str) -> bool {
    let number = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        let fits = lengths.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        if fits { text.parse::<u32>().ok() } else { None }
    };
    let clock = |text: &str| {
        let mut parts = text.splitn(3, ':');
        let hour = parts.next().and_then(|part| number(part, 1..=2));
        let minute = parts.next().and_then(|part| number(part, 1..=2));
        let seconds = parts.next().unwrap_or_default();
        let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
        let fraction = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
        hour.is_some_and(|hour| hour < 24)
            && minute.is_some_and(|minute| minute < 60)
            && number(second, 1..=2).is_some_and(|second| second < 60)
            && fraction
    };
    let zoned = |text: &str| {
        if let Some(time) = text.strip_suffix('Z') {
            return clock(time);
        }
        let Some((time, zone)) = text.rsplit_once(['+', '-']) else { return false };
        let Some((hour, minute)) = zone.split_once(':') else { return false };
        clock(time)
            && number(hour, 2..=2).is_some_and(|hour| hour <= 24)
            && number(minute, 2..=2).is_some_and(|minute| minute < 60)
    };
    let (date, time) = match text.split_once([' ', 't', 'T']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-');
    let year = parts.next().and_then(|part| number(part, 4..=4));
    let month = parts.next().and_then(|part| number(part, 1..=2));
    let day = parts.next().and_then(|part| number(part, 1..=2));
    let (Some(year), Some(month), Some(day)) = (year, month, day) else { return false };
    let date = Date { year: year.into(), month: month.into(), day: day.into() };
    let spaced = text.contains(' ');
    date.exists() && time.is_none_or(|time| if spaced { clock(time) } else { zoned(time) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolve(text: &str, plain: bool, tag: Tag) -> Result<Value, String> {
        Scalar { text: text.into(), plain, tag }.resolve()?.into_value()
    }

    /// Facts `bool`, `octal`, `underscore`, `exp`, `sexagesimal`, `plus`, `float int`, `huge`,
    /// `neg`, `big`; vectors yaml-000 to yaml-185 hold the rest.
    #[test]
    fn plain_scalars_are_resolved_by_yaml_1_1() {
        for (text, value) in [
            ("y", json!(true)),
            ("OFF", json!(false)),
            ("oN", json!("oN")),
            ("", json!(null)),
            ("1:30", json!("1:30")),
            ("0", json!(0)),
            ("0x", json!("0x")),
            ("0b-11", json!(-3)),
            ("-0b11", json!(-3)),
            ("0_x1", json!(1)),
            ("+18446744073709551615", json!(18446744073709551615f64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("0xFFFFFFFFFFFFFFFFFF", json!("0xFFFFFFFFFFFFFFFFFF")),
            ("1e400", json!("1e400")),
            (".5_0", json!(0.5)),
            (".5_", json!(".5_")),
            ("._5", json!("._5")),
            (".e1", json!(".e1")),
            ("1.5e", json!("1.5e")),
            ("-0.0", json!(0)),
            ("9007199254740993.0", json!(9007199254740992i64)),
            ("1e21", json!(1e21)),
            ("2001-12-14T21:59:43Z", json!("2001-12-14T21:59:43Z")),
        ] {
            let resolved = resolve(text, true, Tag::None);
            assert_eq!(resolved, Ok(value), "{text}");
        }
        assert_eq!(resolve("-.INF", true, Tag::None), Err("json: unsupported value: -Inf".into()));
        assert_eq!(resolve("true", false, Tag::None), Ok(json!("true")));
    }

    /// Facts `strtag`, `binary`, `custom tag`; vectors yaml-087 to yaml-095.
    #[test]
    fn tags_decide() {
        for (tag, text, value) in [
            (Tag::Int, "0x10", Ok(json!(16))),
            (Tag::Float, "3", Ok(json!(3))),
            (Tag::Float, "1.5", Ok(json!(1.5))),
            (Tag::Float, "18446744073709551615", Err("!!int")),
            (Tag::Int, "1.5", Err("!!float")),
            (Tag::Int, "", Err("!!null")),
            (Tag::Bool, "1", Err("!!int")),
            (Tag::Bool, "y", Ok(json!(true))),
            (Tag::Null, "", Ok(json!(null))),
            (Tag::Timestamp, "2001-2-29", Err("!!str")),
            (Tag::Timestamp, "2004-2-29", Ok(json!("2004-2-29"))),
            (Tag::Timestamp, "2004-02-29t1:2:3.5+01:00", Ok(json!("2004-02-29t1:2:3.5+01:00"))),
            (Tag::Timestamp, "2004-02-29 23:59:59", Ok(json!("2004-02-29 23:59:59"))),
            (Tag::Other, "1", Ok(json!("1"))),
            (Tag::Bang, "1", Ok(json!("1"))),
            (Tag::Binary, "aG\nk=", Ok(json!("hi"))),
            (Tag::Binary, "aGkh", Ok(json!("hi!"))),
            (Tag::Binary, "4oI=", Ok(json!("\u{fffd}\u{fffd}"))),
        ] {
            let value = value.map_err(|found| {
                format!("yaml: cannot decode {found} `{text}` as a {}", tag.short())
            });
            assert_eq!(resolve(text, false, tag), value, "{tag:?} {text}");
        }
        for text in ["a", "aGk", "aGk==", "=aGk", "a Gk=", "aG=k"] {
            assert!(resolve(text, true, Tag::Binary).is_err(), "{text}");
        }
    }

    /// Fact `nonstr keys`; vectors yaml-100 to yaml-110.
    #[test]
    fn keys_become_text() {
        for (text, key, printed) in [
            ("1", "1", "1"),
            ("0x10", "16", "16"),
            ("1.5", "1.5", "1.5"),
            ("1e3", "1000", "1000"),
            ("123456.0", "123456", "123456"),
            ("1e6", "1e+06", "1e+06"),
            ("1.5e21", "1.5e+21", "1.5e+21"),
            ("0.0001", "0.0001", "0.0001"),
            ("0.00001", "1e-05", "1e-05"),
            ("-12.75", "-12.75", "-12.75"),
            ("1e39", ".inf", "1e+39"),
            ("16777217.5", "1.6777218e+07", "1.67772175e+07"),
            (".nan", ".nan", "NaN"),
            ("-.inf", "-.inf", "-Inf"),
            ("on", "true", "true"),
            ("a b", "a b", "\"a b\""),
        ] {
            let scalar = Scalar { text: text.into(), plain: true, tag: Tag::None };
            let resolved = scalar.resolve().unwrap();
            assert_eq!(resolved.key_text(), Ok(key.to_owned()), "{text}");
            assert_eq!(resolved.printed(), printed, "{text}");
        }
        assert!(Resolved::Null.key_text().is_err());
        assert!(Resolved::Uint(u64::MAX).key_text().is_err());
    }
}
