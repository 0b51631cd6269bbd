//! The configuration that an expression makes, and its merge into an object (PO-70 to PO-72).

use std::fmt::Write as _;

use billhook_apimachinery::GroupVersionKind;
use billhook_apimachinery::print::{plain_float, quote};
use billhook_apimachinery::value::{DeepValue, deep_clone, grow};
use billhook_apply::{Duplicates, Foreign, ForeignValues, MergeSchema, PathStep};
use billhook_cel::{List, Map, Value};
use serde_json::{Map as JsonMap, Number, Value as Json};

/// Returns an object with a configuration merged into it.
///
/// # Errors
///
/// Returns the text of the server's error.
pub(super) fn apply(
    made: &Value<'_>,
    object: &Json,
    schema: Option<&MergeSchema>,
    kind: &GroupVersionKind,
) -> Result<DeepValue, String> {
    check_type_names(made, "Object")?;
    let failed = |text: String| format!("error applying patch: {text}");
    let unfit = |which: &str, error: &dyn std::fmt::Display| {
        failed(format!("failed to convert {which} object to typed object: {error}"))
    };
    let Some(schema) = schema else {
        return Err(unfit("patch", &format!("no corresponding type for {}", kind.in_errors())));
    };
    let mut conversion = Conversion::default();
    let mut configuration = DeepValue::from(conversion.member(made));
    if let Json::Object(members) = &mut *configuration {
        for name in ["apiVersion", "kind"] {
            let text = object.get(name).map_or(Json::Null, deep_clone);
            members.insert(name.to_owned(), text);
        }
    }
    let typed = schema
        .check_made(&configuration, &conversion.foreign)
        .map_err(|errors| unfit("patch", &errors))?;
    let atomics = typed.atomics();
    if !atomics.is_empty() {
        let paths = atomics.join(", ");
        return Err(failed(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {paths}"
        )));
    }
    let live =
        schema.check(object, Duplicates::Allowed).map_err(|errors| unfit("original", &errors))?;
    Ok(live.merge(typed))
}

/// Checks that the name of each nested type is the path of the fields that lead to it (PO-71).
///
/// # Errors
///
/// Returns the text of the server's error.
pub(super) fn check_type_names(made: &Value<'_>, root: &str) -> Result<(), String> {
    let mut problems = Vec::new();
    check_names(made, &mut root.to_owned(), &mut problems);
    match problems.is_empty() {
        true => Ok(()),
        false => Err(format!("type mismatch: {}", problems.join("\n"))),
    }
}

fn check_names(value: &Value<'_>, path: &mut String, problems: &mut Vec<String>) {
    match value {
        Value::Map(map @ Map::Values(_)) => {
            let name = map.type_name();
            if let Some(name) = name.filter(|name| *name != path) {
                problems.push(format!(
                    "unexpected type name {}, expected {}, which matches field name path from \
                     root Object type",
                    quote(name),
                    quote(path)
                ));
            }
            for (key, value) in map.entries() {
                let Ok(value) = value else { continue };
                let before = path.len();
                if let (Some(_), Value::String(key)) = (name, &key) {
                    path.push('.');
                    path.push_str(key.as_str());
                }
                grow(|| check_names(&value, path, problems));
                path.truncate(before);
            }
        }
        Value::List(list) if !matches!(list, List::Json(..)) => {
            for item in list.iter().flatten() {
                grow(|| check_names(&item, path, problems));
            }
        }
        _ => {}
    }
}

/// Makes JSON of what an expression made. Lists and maps in lists and maps stay values of the
/// expression, which no type fits.
#[derive(Default)]
struct Conversion {
    path: Vec<PathStep>,
    foreign: ForeignValues,
}

impl Conversion {
    /// A field of an object, or the object itself.
    fn member(&mut self, value: &Value<'_>) -> Json {
        match value {
            Value::List(list) if !matches!(list, List::Json(..)) => {
                let items = list.iter().enumerate().map(|(index, item)| match item {
                    Ok(item) => self.at(PathStep::Index(index), |own| own.element(&item)),
                    Err(_) => Json::Null,
                });
                Json::Array(items.collect())
            }
            Value::Map(map @ Map::Values(_)) if map.type_name().is_none() => match members(map) {
                Ok(members) => {
                    let member = |(name, value): (String, Value<'_>)| {
                        let json = self.at(PathStep::Name(name.clone()), |own| own.element(&value));
                        (name, json)
                    };
                    Json::Object(members.into_iter().map(member).collect())
                }
                Err(text) => self.foreign(text),
            },
            value => self.element(value),
        }
    }

    /// An element of a list, a value of a map, or anything else.
    fn element(&mut self, value: &Value<'_>) -> Json {
        match value {
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(int) => Json::from(*int),
            Value::Double(double) => number(*double),
            Value::String(text) => Json::String(text.as_str().to_owned()),
            Value::Type(name) => Json::String(name.to_string()),
            Value::List(List::Json(items, _)) => {
                Json::Array(items.iter().map(deep_clone).collect())
            }
            Value::Map(Map::Json(members, _)) => {
                let copy = members.iter().map(|(name, value)| (name.clone(), deep_clone(value)));
                Json::Object(copy.collect())
            }
            Value::Map(map) if map.type_name().is_some() => grow(|| self.object(map)),
            other => {
                let foreign = foreign(other);
                self.foreign.insert(self.path.clone(), foreign);
                Json::Null
            }
        }
    }

    fn object(&mut self, map: &Map<'_>) -> Json {
        let entries = match members(map) {
            Ok(entries) => entries,
            Err(text) => return self.foreign(text),
        };
        // A map with other keys than text spoils the object that it is a field of.
        let spoiled = entries.iter().find_map(|(name, value)| match value {
            Value::Map(map @ Map::Values(_)) if map.type_name().is_none() => {
                let text = members(map).err()?;
                Some(format!("fail to convert field {}: {text}", quote(name)))
            }
            _ => None,
        });
        if let Some(text) = spoiled {
            return self.foreign(text);
        }
        let member = |(name, value): (String, Value<'_>)| {
            let json = self.at(PathStep::Name(name.clone()), |own| own.member(&value));
            (name, json)
        };
        Json::Object(entries.into_iter().map(member).collect::<JsonMap<_, _>>())
    }

    fn at(&mut self, step: PathStep, convert: impl FnOnce(&mut Self) -> Json) -> Json {
        self.path.push(step);
        let json = convert(self);
        self.path.pop();
        json
    }

    fn foreign(&mut self, text: String) -> Json {
        let foreign = Foreign { syntax: text.clone(), plain: text, type_name: "error".to_owned() };
        self.foreign.insert(self.path.clone(), foreign);
        Json::Null
    }
}

/// The entries of a map, whose keys have to be text.
fn members<'a>(map: &Map<'a>) -> Result<Vec<(String, Value<'a>)>, String> {
    let mut members = Vec::with_capacity(map.len());
    for (key, value) in map.entries() {
        let Value::String(key) = &key else {
            let (shown, type_) = shown_key(&key);
            return Err(format!("map key {shown} is of type {type_}, not string"));
        };
        if let Ok(value) = value {
            members.push((key.as_str().to_owned(), value));
        }
    }
    Ok(members)
}

/// A key in Go's quoted form, and its type in Go.
fn shown_key(key: &Value<'_>) -> (String, &'static str) {
    let character = |code: Option<u32>| {
        let c = code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        let quoted = quote(&c.to_string());
        let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        match c {
            '"' => "'\"'".to_owned(),
            '\'' => r"'\''".to_owned(),
            _ => format!("'{inner}'"),
        }
    };
    match key {
        Value::Int(int) => (character(u32::try_from(*int).ok()), "types.Int"),
        Value::Uint(uint) => (character(u32::try_from(*uint).ok()), "types.Uint"),
        Value::Bool(value) => (format!("%!q(types.Bool={value})"), "types.Bool"),
        Value::Double(value) => {
            (format!("%!q(types.Double={})", plain_float(*value)), "types.Double")
        }
        _ => ("%!q(<nil>)".to_owned(), "ref.Val"),
    }
}

/// A float; one without a fraction is an integer.
fn number(double: f64) -> Json {
    let is_whole = double.fract() == 0.0 && double.abs() < 9_007_199_254_740_992.0;
    match is_whole {
        true => Json::from(double as i64),
        false => Number::from_f64(double).map_or(Json::Null, Json::Number),
    }
}

/// A value that JSON does not have, as Go prints it.
fn foreign(value: &Value<'_>) -> Foreign {
    let made = |plain: String, syntax: String, type_name: &str| Foreign {
        plain,
        syntax,
        type_name: type_name.to_owned(),
    };
    match value {
        Value::Null => made("NULL_VALUE".to_owned(), "0".to_owned(), "structpb.NullValue"),
        Value::Uint(uint) => made(uint.to_string(), format!("{uint:#x}"), "uint64"),
        Value::Bytes(bytes) => {
            let syntax: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
            made(plain(value), format!("[]byte{{{}}}", syntax.join(", ")), "[]uint8")
        }
        Value::Duration(nanos) => made(plain(value), nanos.to_string(), "time.Duration"),
        Value::Timestamp(_) => made(plain(value), plain(value), "time.Time"),
        Value::List(_) => made(plain(value), plain(value), "[]ref.Val"),
        Value::Map(_) => made(plain(value), plain(value), "map[ref.Val]ref.Val"),
        other => made(plain(other), plain(other), "ref.Val"),
    }
}

/// A value in Go's plain form.
fn plain(value: &Value<'_>) -> String {
    let joined = |texts: Vec<String>| texts.join(" ");
    match value {
        Value::Null => "NULL_VALUE".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Uint(uint) => uint.to_string(),
        Value::Double(double) => plain_float(*double),
        Value::String(text) => text.as_str().to_owned(),
        Value::Bytes(bytes) => {
            format!("[{}]", joined(bytes.iter().map(ToString::to_string).collect()))
        }
        Value::Duration(nanos) => go_duration(*nanos),
        Value::Timestamp(_) => go_time(value),
        Value::List(list) => {
            let texts = list.iter().flatten().map(|item| grow(|| plain(&item)));
            format!("[{}]", joined(texts.collect()))
        }
        Value::Map(map) => {
            let text = |(key, value): (Value<'_>, _)| -> Option<String> {
                let value: Result<Value<'_>, billhook_cel::EvaluationError> = value;
                Some(format!("{}:{}", plain(&key), grow(|| value.ok().map(|it| plain(&it)))?))
            };
            let mut texts: Vec<String> = map.entries().into_iter().filter_map(text).collect();
            texts.sort();
            format!("map[{}]", joined(texts))
        }
        Value::Type(name) => name.to_string(),
        Value::Optional(Some(value)) => grow(|| plain(value)),
        Value::Optional(None) => "<nil>".to_owned(),
        Value::Opaque(opaque) => opaque.type_name().to_owned(),
        _ => "<nil>".to_owned(),
    }
}

/// `2020-01-01 00:00:00 +0000 UTC`
fn go_time(value: &Value<'_>) -> String {
    let text = value.to_json().ok().and_then(|json| json.as_str().map(str::to_owned));
    let text = text.unwrap_or_default().replacen('T', " ", 1);
    match text.strip_suffix('Z') {
        Some(utc) => format!("{utc} +0000 UTC"),
        None => text,
    }
}

/// `1h0m0s`
fn go_duration(nanos: i64) -> String {
    let total = nanos.unsigned_abs();
    let fraction = |value: u64, unit: u64, name: &str| {
        let mut text = (value / unit).to_string();
        let rest = value % unit;
        if rest > 0 {
            let width = unit.ilog10() as usize;
            // Writing to a string cannot fail.
            let _ = write!(text, ".{}", format!("{rest:0width$}").trim_end_matches('0'));
        }
        text + name
    };
    let text = match total {
        0 => "0s".to_owned(),
        1..1_000 => format!("{total}ns"),
        1_000..1_000_000 => fraction(total, 1_000, "µs"),
        1_000_000..1_000_000_000 => fraction(total, 1_000_000, "ms"),
        _ => {
            let (seconds, minutes) = (total % 60_000_000_000, total / 60_000_000_000);
            let seconds = fraction(seconds, 1_000_000_000, "s");
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    };
    if nanos < 0 { format!("-{text}") } else { text }
}
