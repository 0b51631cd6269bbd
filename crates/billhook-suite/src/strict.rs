//! Reading our own format strictly: unknown fields and wrong types, with their places.

use std::sync::Arc;

use billhook::{ErrorType, FieldPath};
use billhook_apimachinery::record::{Record, Type};
use billhook_apimachinery::value::{grow, json_type, sorted};
use billhook_findings::{Finding, Place, Severity, Source, closest};
use serde_json::Value;

use crate::object_case::{Answer, ConversionAnswer, ExpectedError, ObjectCase};
use crate::object_path::ObjectPath;
use crate::suite_error::SuiteError;

/// A field that cannot be used.
#[derive(Debug)]
pub(crate) struct Mistake {
    path: FieldPath,
    message: String,
}

impl Mistake {
    pub(crate) fn new(path: FieldPath, message: impl Into<String>) -> Self {
        Mistake { path, message: message.into() }
    }

    pub(crate) fn missing(path: FieldPath) -> Self {
        Mistake::new(path, "is missing")
    }

    /// A field that is there twice, by its path in dots.
    pub(crate) fn repeated(path: &str) -> Self {
        let field = ObjectPath::parse(path).map(|path| path.below(FieldPath::default()));
        Mistake::new(
            field.unwrap_or_default(),
            "the field is repeated: is a `-` missing before it?",
        )
    }

    pub(crate) fn is_at(&self, path: &FieldPath) -> bool {
        self.path == *path
    }

    /// A warning of a field that is ignored.
    pub(crate) fn warning(self, rule: &str, place: &Place) -> Finding {
        let text = format!("{}: {}", self.path, self.message);
        let finding = Finding::new(Severity::Warning, rule, text).at_key(place, self.path);
        finding.help("OpenShift's runner ignores it too")
    }

    /// The error with its place in the text of the suite.
    pub(crate) fn in_text(self, text: &[u8]) -> SuiteError {
        let source = Arc::new(Source::new("", text));
        // Empty documents before it count too.
        let document = billhook::read_manifests(text).ok();
        let document = document.and_then(|read| Some(read.first()?.index())).unwrap_or_default();
        let found = Place::document(source.clone(), document).find(&self.path);
        let span = found.map(|found| found.span.key.unwrap_or(found.span.value));
        let position = source.position(span.map_or(0, |span| span.start));
        let place = (position.line, position.column);
        SuiteError::Field { path: self.path, message: self.message, place }
    }
}

/// Checks the types of a record; also returns the fields that it does not have.
pub(crate) fn check(value: &Value, record: &'static Record) -> (Result<(), Mistake>, Vec<Mistake>) {
    let mut checker = Checker::default();
    (checker.record(value, record, &FieldPath::default()), checker.unknown)
}

/// A walk over a document.
#[derive(Debug, Default)]
struct Checker {
    unknown: Vec<Mistake>,
}

impl Checker {
    fn record(
        &mut self,
        value: &Value,
        record: &'static Record,
        path: &FieldPath,
    ) -> Result<(), Mistake> {
        let Value::Object(members) = value else {
            let mut mistake = wrong(value, "an object", path);
            mistake.message.push_str(&format!("; {}", known(record)));
            return Err(mistake);
        };
        for (name, member) in sorted(members) {
            let path = path.clone().name(name);
            let Some(field) = record.field(name) else {
                let names = record.fields.iter().map(|field| field.name);
                let message = format!("unknown field; {}{}", meant(name, names), known(record));
                self.unknown.push(Mistake::new(path, message));
                continue;
            };
            self.value(member, field.type_, &path)?;
        }
        let is_missing = |name: &str| members.get(name).is_none_or(Value::is_null);
        let required = record.fields.iter().filter(|field| field.is_required);
        match required.map(|field| field.name).find(|name| is_missing(name)) {
            Some(name) => Err(Mistake::missing(path.clone().name(name))),
            None => Ok(()),
        }
    }

    fn value(&mut self, value: &Value, type_: Type, path: &FieldPath) -> Result<(), Mistake> {
        let wrong = |expected| Err(wrong(value, expected, path));
        match (type_, value) {
            (Type::Any, _) | (_, Value::Null) => Ok(()),
            (Type::Optional(inner) | Type::Named(_, inner), _) => self.value(value, *inner, path),
            (Type::Record(record), _) => grow(|| self.record(value, record(), path)),
            (Type::List(item), Value::Array(items)) => {
                let mut items = items.iter().enumerate();
                items.try_for_each(|(index, value)| {
                    self.value(value, *item, &path.clone().index(index))
                })
            }
            (Type::List(_), _) => wrong("a list"),
            (Type::Map(item), Value::Object(members)) => {
                let mut members = sorted(members).into_iter();
                members.try_for_each(|(name, value)| {
                    self.value(value, *item, &path.clone().name(name))
                })
            }
            (Type::Map(_), _) => wrong("an object"),
            (Type::Flag, Value::Bool(_)) | (Type::Text, Value::String(_)) => Ok(()),
            (Type::Flag, _) => wrong("true or false"),
            (Type::Text, _) => wrong("a string"),
            (other, _) => {
                let message = format!("cannot be read as {other:?}");
                Err(Mistake::new(path.clone(), message))
            }
        }
    }
}

/// Names what may have been meant, before more is said.
fn meant<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> String {
    closest(wrong, names).map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default()
}

/// Names the fields of a record.
fn known(record: &Record) -> String {
    let names: Vec<&str> = record.fields.iter().map(|field| field.name).collect();
    format!("known are {}", names.join(", "))
}

fn wrong(value: &Value, expected: &str, path: &FieldPath) -> Mistake {
    let mut message = format!("expected {expected}, found {}", json_type(value));
    if expected == "a string" && (value.is_number() || value.is_boolean()) {
        message.push_str("; write it in quotes");
    }
    if expected == "a list" && !value.is_object() {
        message.push_str("; write a list, even for one value");
    }
    Mistake::new(path.clone(), message)
}

impl Answer {
    /// Checks what types cannot say; the answer is at a path.
    pub(crate) fn check(&self, path: FieldPath) -> Result<(), Mistake> {
        let called = Answer { call: true, ..Answer::default() };
        let message = "a webhook that is called has no other answer";
        only_call(self.call && *self != called, path, message)
    }
}

impl ConversionAnswer {
    /// Checks what types cannot say; the conversion is at a path.
    pub(crate) fn check(&self, path: FieldPath) -> Result<(), Mistake> {
        let called = ConversionAnswer { call: true, ..ConversionAnswer::default() };
        let message = "a webhook that is called does not convert otherwise";
        only_call(self.call && *self != called, path, message)
    }
}

fn only_call(has_more: bool, path: FieldPath, message: &str) -> Result<(), Mistake> {
    if has_more { Err(Mistake::new(path.name("call"), message)) } else { Ok(()) }
}

/// The reasons of statuses that refuse a write.
const STATUS_REASONS: [&str; 18] = [
    "AlreadyExists",
    "BadRequest",
    "Conflict",
    "Expired",
    "Forbidden",
    "Gone",
    "InternalError",
    "Invalid",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ServerTimeout",
    "ServiceUnavailable",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "UnsupportedMediaType",
];

impl ExpectedError {
    /// The rule on unknown and repeated fields.
    pub(crate) const UNKNOWN_FIELD: &str = "RP-20";

    /// Checks the rule: only webhooks that are called may give any reason that they like.
    pub(crate) fn check(&self, path: FieldPath) -> Result<(), Mistake> {
        let known = || {
            let fields = ErrorType::ALL.iter().map(|known| known.reason());
            fields.chain(STATUS_REASONS).chain([Self::UNKNOWN_FIELD])
        };
        if self.rule.is_empty() || known().any(|known| known == self.rule) {
            return Ok(());
        }
        let message = format!(
            "unknown rule `{}`; {}known are the reasons of errors, such as `FieldValueRequired`, those of \
             statuses, such as `Forbidden`, and `RP-20`",
            self.rule,
            meant(&self.rule, known()),
        );
        Err(Mistake::new(path.name("rule"), message))
    }
}

impl ObjectCase {
    /// Checks what types cannot say; the case is at a path.
    pub(crate) fn check(&self, path: &FieldPath) -> Result<(), Mistake> {
        let one_of = |field: &str, value: &str, known: &[&str]| {
            let meant = meant(value, known.iter().copied());
            let message = format!("{meant}expected one of {}, found `{value}`", known.join(", "));
            match value.is_empty() || known.contains(&value) {
                true => Ok(()),
                false => Err(Mistake::new(path.clone().name(field), message)),
            }
        };
        one_of("subresource", &self.subresource, &["status", "scale"])?;
        one_of("fieldValidation", &self.field_validation, &["Strict", "Warn", "Ignore"])?;
        let object = |field: &str, value: &Value| match value.is_object() {
            true => Ok(()),
            false => Err(wrong(value, "an object", &path.clone().name(field))),
        };
        object("object", &self.object)?;
        self.old.as_ref().map_or(Ok(()), |old| object("old", old))?;
        if !self.subresource.is_empty() && self.old.is_none() {
            let message = "only an update, which has `old`, can be one of a subresource";
            return Err(Mistake::new(path.clone().name("subresource"), message));
        }
        if self.delete && (self.old.is_some() || self.table.is_some()) {
            let message = "the object of a deletion is what is stored: neither `old` nor `table`";
            return Err(Mistake::new(path.clone().name("delete"), message));
        }
        let Some(table) = &self.table else { return Ok(()) };
        let path = path.clone().name("table");
        if let Err(message) = ObjectPath::parse(&table.field) {
            return Err(Mistake::new(path.name("field"), message));
        }
        match table.valid.is_empty() && table.invalid.is_empty() {
            true => Err(Mistake::new(path, "has no values: `valid` or `invalid` must hold some")),
            false => Ok(()),
        }
    }
}
