//! Named formats of strings (CE-10).

use std::any::Any;
use std::sync::Arc;

use billhook_apimachinery::{Wording, names};
use billhook_validation::Format;

use super::declare::{Call, Cost, Overload, Result, opaque, text, wrap};
use super::{cost, url};
use crate::language::types::Type;
use crate::language::value::{EvaluationError, Opaque, Value};

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
    problems: fn(&str) -> Vec<String>,
    /// The length of a pattern that would take as long to match.
    pattern: u64,
}

/// A format as the value of an expression.
#[derive(Debug)]
struct Named(&'static NamedFormat);

impl Opaque for Named {
    fn type_name(&self) -> &'static str {
        NAME
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.as_any().downcast_ref::<Named>().is_some_and(|other| self.0.name == other.0.name)
    }

    fn as_any(&self) -> &dyn Any {
        self
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
    format!("dns1123Label", 30, names::dns1123_label),
    format!("dns1123Subdomain", 60, names::dns1123_subdomain),
    format!("dns1035Label", 30, names::dns1035_label),
    format!("qualifiedName", 60, |text| names::qualified_name(text, <&Wording>::default())),
    format!("dns1123LabelPrefix", 30, |text| names::dns1123_label(&names::mask_trailing_hyphen(
        text
    ))),
    format!("dns1123SubdomainPrefix", 60, |text| names::dns1123_subdomain(
        &names::mask_trailing_hyphen(text)
    )),
    format!("dns1035LabelPrefix", 30, |text| names::dns1035_label(&names::mask_trailing_hyphen(
        text
    ))),
    format!("labelValue", 40, |text| names::label_value(text, <&Wording>::default())),
    format!("uri", 1120, |text| url::check_request_uri(text).err().into_iter().collect()),
    format!("uuid", 70, |text| unless(Format::Uuid, text, "does not match the UUID format")),
    format!("byte", 84, |text| unless(Format::Byte, text, "invalid base64")),
    format!("date", 10, |text| unless(Format::Date, text, "invalid date")),
    format!("datetime", 71, |text| unless(Format::DateTime, text, "invalid datetime")),
];

fn unless(format: Format, text: &str, problem: &str) -> Vec<String> {
    if format.matches(text) { Vec::new() } else { vec![problem.to_owned()] }
}

fn find<'a>(name: &str) -> Option<Value<'a>> {
    FORMATS.iter().find(|format| format.name == name).map(|format| wrap(Named(format)))
}

/// The problems of a text; nothing if there are none.
fn validate<'a>(arguments: &[Value<'a>]) -> Result<Value<'a>> {
    let Named(format) = opaque(arguments, 0)?;
    let problems = (format.problems)(text(arguments, 1)?);
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
    overloads.push(Overload::method("validate", vec![FORMAT, String], problems, validate).costs(
        Cost::Of(|arguments, _| match opaque(arguments, 0) {
            Ok(Named(format)) => cost::matching(cost::size_at(arguments, 1), format.pattern),
            Err(_) => 1,
        }),
    ));
    overloads
}
