//! The cells of a column (DT-67).

use billhook::Time;
use billhook_apimachinery::age;
use billhook_apimachinery::print::{compact_json, json_float, plain_float};
use billhook_apimachinery::value::Num;
use serde_json::Value;

/// Prints the cell of a value, as JSON; `None` if a path found nothing.
pub(super) fn cell(type_: &str, found: Option<&Value>, now: Time) -> String {
    let text = |text: &str| compact_json(&Value::from(text));
    let Some(value) = found else { return "null".to_owned() };
    match (type_, value) {
        ("string", Value::String(value)) => text(value),
        ("string", Value::Null) => text("<no value>"),
        ("string", Value::Number(number)) => match Num::of(number) {
            Num::Int(int) => text(&int.to_string()),
            Num::Float(float) => text(&plain_float(float)),
        },
        ("string", value) => text(&compact_json(value)),
        ("integer", Value::Number(number)) => match Num::of(number) {
            Num::Int(int) => int.to_string(),
            Num::Float(float) => truncated(float).to_string(),
        },
        ("number", Value::Number(number)) => json_float(Num::of(number).as_f64()),
        ("boolean", Value::Bool(value)) => value.to_string(),
        ("date", Value::String(date)) => text(&date_age(date, now)),
        _ => "null".to_owned(),
    }
}

/// A float without its fraction; floats beyond all integers become the smallest one.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked before")]
fn truncated(float: f64) -> i64 {
    // Both ends of the range are floats themselves.
    let is_inside = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float);
    if is_inside { float as i64 } else { i64::MIN }
}

fn date_age(date: &str, now: Time) -> String {
    if matches!(date, "" | "null") {
        return "<unknown>".to_owned();
    }
    Time::parse(date).map_or_else(|_| "<invalid>".to_owned(), |time| age(time, now))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// DT-67.
    #[test]
    fn values_become_cells() {
        let now = Time::parse("2026-11-22T12:00:00Z").unwrap_or_default();
        for (type_, value, expected) in [
            ("string", json!("a<b"), r#""a\u003cb""#),
            ("string", json!(5), r#""5""#),
            ("string", json!(1_234_567.5), r#""1.2345675e+06""#),
            ("string", json!(0.5), r#""0.5""#),
            ("string", json!(true), r#""true""#),
            ("string", json!({"b": 1, "a": [2]}), r#""{\"a\":[2],\"b\":1}""#),
            ("string", Value::Null, r#""\u003cno value\u003e""#),
            ("integer", json!(1.9), "1"),
            ("integer", json!(-1.9), "-1"),
            ("integer", json!(1e20), "-9223372036854775808"),
            ("integer", json!("1"), "null"),
            ("number", json!(1e21), "1e+21"),
            ("number", json!(5.97), "5.97"),
            ("number", json!(5), "5"),
            ("number", json!(123_456_789_012_345_678_i64), "123456789012345680"),
            ("boolean", json!(1), "null"),
            ("date", json!(""), r#""\u003cunknown\u003e""#),
            ("date", json!("2001-01-01"), r#""\u003cinvalid\u003e""#),
            ("date", json!("2026-11-22T13:59:00.5+02:00"), r#""60s""#),
            ("date", json!(7), "null"),
            ("other", json!("x"), "null"),
        ] {
            assert_eq!(cell(type_, Some(&value), now), expected, "{type_} {value}");
        }
        assert_eq!(cell("string", None, now), "null");
    }
}
