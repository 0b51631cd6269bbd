//! Semantic versions (CE-10).

use std::cmp::Ordering;

use billhook_apimachinery::KubernetesVersion;
use billhook_apimachinery::print::quote;

use super::cost;
use super::declare::{Call, Cost, Overload, Result, argument, opaque, text, wrap};
use crate::language::availability::Availability;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, LibraryValue, Value};

const NAME: &str = "kubernetes.Semver";
const SEMVER: Type = Type::Opaque(NAME);

/// A version. What it was built from is checked but not kept: it doesn't matter to comparisons.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: Prerelease,
}

/// The part after a hyphen. A version without it is greater.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Prerelease {
    Of(Vec<Identifier>),
    None,
}

/// A part of a prerelease; numbers are less than names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Name(String),
}

impl LibraryValue for Version {
    fn type_name(&self) -> &'static str {
        NAME
    }
}

pub(super) fn library() -> Vec<Overload> {
    use Type::{Bool, Int, String};
    let number = |name: &'static str, call: Call| Overload::method(name, vec![SEMVER], Int, call);
    let compared = |name: &'static str, result: Type, call: Call| {
        Overload::method(name, vec![SEMVER, SEMVER], result, call)
    };
    let parsed = |name: &'static str, parameters: Vec<Type>, result: Type, call: Call| {
        Overload::function(name, parameters, result, call).costs(Cost::Of(cost::first))
    };
    let overloads = [
        parsed("semver", vec![String], SEMVER, |arguments| Ok(wrap(read(arguments)?))),
        parsed("semver", vec![String, Bool], SEMVER, |arguments| Ok(wrap(read(arguments)?))),
        parsed("isSemver", vec![String], Bool, is_semver),
        parsed("isSemver", vec![String, Bool], Bool, is_semver),
        number("major", |arguments| Ok(Value::Int(version(arguments, 0)?.major as i64))),
        number("minor", |arguments| Ok(Value::Int(version(arguments, 0)?.minor as i64))),
        number("patch", |arguments| Ok(Value::Int(version(arguments, 0)?.patch as i64))),
        compared("isLessThan", Bool, |arguments| {
            Ok(Value::Bool(compare(arguments)? == Ordering::Less))
        }),
        compared("isGreaterThan", Bool, |arguments| {
            Ok(Value::Bool(compare(arguments)? == Ordering::Greater))
        }),
        compared("compareTo", Int, |arguments| Ok(Value::Int(compare(arguments)? as i64))),
    ];
    let since = Availability::Library { since: KubernetesVersion::V1_33 };
    overloads.map(|overload| overload.available(since)).into()
}

fn version<'v>(arguments: &'v [Value<'_>], index: usize) -> Result<&'v Version> {
    opaque(arguments, index)
}

fn compare(arguments: &[Value<'_>]) -> Result<Ordering> {
    Ok(version(arguments, 0)?.cmp(version(arguments, 1)?))
}

fn is_semver<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    match read(arguments) {
        Err(error @ EvaluationError::NoSuchOverload) => Err(error),
        read => Ok(Value::Bool(read.is_ok())),
    }
}

/// Reads a text that is normalized first if the second argument is true.
fn read(arguments: &[Value<'_>]) -> Result<Version> {
    let text = text(arguments, 0)?;
    let version = match argument(arguments, 1) {
        Err(_) | Ok(Value::Bool(false)) => parse(text),
        Ok(Value::Bool(true)) => normalized(text).and_then(|text| parse(&text)),
        Ok(_) => return Err(EvaluationError::NoSuchOverload),
    };
    version.map_err(EvaluationError::new)
}

/// Without a leading `v` and leading zeros, and with all three numbers.
fn normalized(text: &str) -> Parsed<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 {
        if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
            return Err("short version cannot contain PreRelease/Build meta data".to_owned());
        }
        parts.resize(3, "0".to_owned());
    }
    Ok(parts.join("."))
}

fn without_zeros(part: &str) -> String {
    let rest = part.trim_start_matches('0');
    if part.len() <= 1 {
        part.to_owned()
    } else if rest.starts_with(|c: char| c.is_ascii_digit()) {
        rest.to_owned()
    } else {
        format!("0{rest}")
    }
}

fn parse(text: &str) -> Parsed<Version> {
    if text.is_empty() {
        return Err("Version string empty".to_owned());
    }
    let mut parts = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(patch)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("No Major.Minor.Patch elements found".to_owned());
    };
    let (major, minor) = (number(major, "major", "Major")?, number(minor, "minor", "Minor")?);
    let (patch, build) = match patch.split_once('+') {
        Some((patch, build)) => (patch, Some(build)),
        None => (patch, None),
    };
    let (patch, prerelease) = match patch.split_once('-') {
        Some((patch, prerelease)) => (patch, Some(prerelease)),
        None => (patch, None),
    };
    let patch = number(patch, "patch", "Patch")?;
    let prerelease = match prerelease {
        Some(parts) => Prerelease::Of(parts.split('.').map(identifier).collect::<Parsed<_>>()?),
        None => Prerelease::None,
    };
    for part in build.into_iter().flat_map(|build| build.split('.')) {
        if part.is_empty() {
            return Err("Build meta data is empty".to_owned());
        }
        if !is_name(part) {
            return Err(format!("Invalid character(s) found in build meta data {}", quote(part)));
        }
    }
    Ok(Version { major, minor, patch, prerelease })
}

type Parsed<T> = std::result::Result<T, String>;

fn number(text: &str, name: &str, title: &str) -> Parsed<u64> {
    if !is_number(text) {
        return Err(format!("Invalid character(s) found in {name} number {}", quote(text)));
    }
    if has_leading_zeros(text) {
        return Err(format!("{title} number must not contain leading zeroes {}", quote(text)));
    }
    unsigned(text)
}

fn identifier(text: &str) -> Parsed<Identifier> {
    if text.is_empty() {
        return Err("Prerelease is empty".to_owned());
    }
    if !is_number(text) {
        return if is_name(text) {
            Ok(Identifier::Name(text.to_owned()))
        } else {
            Err(format!("Invalid character(s) found in prerelease {}", quote(text)))
        };
    }
    if has_leading_zeros(text) {
        return Err(format!(
            "Numeric PreRelease version must not contain leading zeroes {}",
            quote(text)
        ));
    }
    unsigned(text).map(Identifier::Number)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn has_leading_zeros(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

fn unsigned(digits: &str) -> Parsed<u64> {
    let problem = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
    digits.parse().map_err(|_| format!("strconv.ParseUint: parsing {}: {problem}", quote(digits)))
}
