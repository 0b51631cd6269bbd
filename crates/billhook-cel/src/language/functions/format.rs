//! Named formats of strings (CE-10).

use std::sync::Arc;

use billhook_apimachinery::net::{Url, UrlError};
use billhook_apimachinery::{KubernetesVersion, Wording, names};
use billhook_validation::Format;

use super::cost;
use super::declare::{Call, Cost, Overload, Result, opaque, text, wrap};
use crate::edition::{NEWER_LABEL_TEXTS, OLDER_LABEL_TEXTS};
use crate::language::availability::Availability;
use crate::language::types::Type;
use crate::language::value::{EvaluationError, LibraryValue, Value};

const NAME: &str = "kubernetes.NamedFormat";
const FORMAT: Type = Type::Opaque(NAME);

/// A format.
#[derive(Debug)]
struct NamedFormat {
    /// Its name in expressions.
    name: &'static str,
    /// The function that returns it.
    function: &'static str,
    constant: Call,
    problems: fn(&str, &Wording) -> Vec<String>,
    /// The length of a pattern that would take as long to match.
    pattern: u64,
}

/// A format as the value of an expression.
#[derive(Debug)]
struct Named(&'static NamedFormat);

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl LibraryValue for Named {
    fn type_name(&self) -> &'static str {
        NAME
    }
}

macro_rules! format {
    ($name:literal, $pattern:literal, $problems:expr) => {
        NamedFormat {
            name: $name,
            function: concat!("format.", $name),
            constant: |_| find($name).ok_or(EvaluationError::NoSuchOverload),
            problems: $problems,
            pattern: $pattern,
        }
    };
}

static FORMATS: [NamedFormat; 13] = [
    format!("dns1123Label", 30, |text, _| names::dns1123_label(text)),
    format!("dns1123Subdomain", 60, |text, _| names::dns1123_subdomain(text)),
    format!("dns1035Label", 30, |text, _| names::dns1035_label(text)),
    format!("qualifiedName", 60, names::qualified_name),
    format!("dns1123LabelPrefix", 30, |text, _| names::dns1123_label(
        &names::mask_trailing_hyphen(text)
    )),
    format!("dns1123SubdomainPrefix", 60, |text, _| names::dns1123_subdomain(
        &names::mask_trailing_hyphen(text)
    )),
    format!("dns1035LabelPrefix", 30, |text, _| names::dns1035_label(
        &names::mask_trailing_hyphen(text)
    )),
    format!("labelValue", 40, names::label_value),
    format!("uri", 1103, |text, _| {
        Url::parse_request_uri(text).err().iter().map(UrlError::to_string).collect()
    }),
    format!("uuid", 70, |text, _| unless(Format::Uuid, text, "does not match the UUID format")),
    format!("byte", 84, |text, _| unless(Format::Byte, text, "invalid base64")),
    format!("date", 71, |text, _| unless(Format::Date, text, "invalid date")),
    format!("datetime", 71, |text, _| unless(Format::DateTime, text, "invalid datetime")),
];

fn unless(format: Format, text: &str, problem: &str) -> Vec<String> {
    if format.matches(text) { Vec::new() } else { vec![problem.to_owned()] }
}

fn find<'a>(name: &str) -> Option<Value<'a>> {
    FORMATS.iter().find(|format| format.name == name).map(|format| wrap(Named(format)))
}

/// The problems of a text; nothing if there are none.
fn problems<'a>(arguments: &[Value<'a>], version: KubernetesVersion) -> Result<Value<'a>> {
    let Named(format) = opaque(arguments, 0)?;
    let problems = (format.problems)(text(arguments, 1)?, version.wording());
    let problems: Vec<Value<'a>> = problems.into_iter().map(Value::text).collect();
    let is_valid = problems.is_empty();
    let problems = Arc::new(Value::list(problems));
    Ok(Value::Optional((!is_valid).then_some(problems)))
}

pub(super) fn library() -> Vec<Overload> {
    use Type::String;
    let constants = FORMATS
        .iter()
        .map(|format| Overload::function(format.function, Vec::new(), FORMAT, format.constant));
    let mut overloads: Vec<Overload> = constants.collect();
    overloads.push(Overload::function(
        "format.named",
        vec![String],
        FORMAT.optional(),
        |arguments| Ok(Value::Optional(find(text(arguments, 0)?).map(Arc::new))),
    ));
    let problems = String.list().optional();
    let validate = |call: Call, availability| {
        let validate = Overload::method("validate", vec![FORMAT, String], problems.clone(), call);
        validate.costs(Cost::Of(validation_cost)).available(availability)
    };
    overloads.extend([
        validate(
            |arguments| self::problems(arguments, NEWER_LABEL_TEXTS),
            Availability::Since(NEWER_LABEL_TEXTS),
        ),
        validate(
            |arguments| self::problems(arguments, OLDER_LABEL_TEXTS),
            Availability::ReplacedSince(NEWER_LABEL_TEXTS),
        ),
    ]);
    overloads
}

fn validation_cost(arguments: &[Value<'_>], _: &Value<'_>) -> u64 {
    match opaque(arguments, 0) {
        Ok(Named(format)) => cost::matching(cost::size_at(arguments, 1), format.pattern),
        Err(_) => 1,
    }
}
