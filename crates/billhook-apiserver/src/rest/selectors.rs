//! Which objects a list or a watch selects (RE-53 to RE-56).

use billhook_apimachinery::label_selector::Selector;
use billhook_apimachinery::record::text;
use billhook_apimachinery::{KubernetesVersion, Status};
use billhook_kinds::Kind;
use serde_json::Value;

use super::context::Context;
use super::labels::labels;
use crate::request::{Query, ResourcePath};
use crate::storage::Object;

/// The field that every object can be selected by.
const NAME: &str = "metadata.name";

/// The field that objects of namespaces can be selected by.
const NAMESPACE: &str = "metadata.namespace";

/// Selects objects by their labels and fields.
#[derive(Clone, Debug)]
pub(super) struct Selectors {
    labels: Selector,
    /// Sorted by their texts.
    fields: Vec<FieldTerm>,
}

/// The keys of the objects that can be selected.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    /// Their beginning.
    pub(super) prefix: String,
    /// Whether it is the whole key of the only object that can be selected.
    pub(super) is_one: bool,
}

impl Keys {
    /// Whether an object can be selected.
    pub(super) fn contain(&self, key: &str) -> bool {
        if self.is_one { key == self.prefix } else { key.starts_with(&self.prefix) }
    }
}

/// A term of a field selector.
#[derive(Clone, Debug)]
struct FieldTerm {
    field: String,
    value: String,
    is_equal: bool,
}

impl Selectors {
    /// Parses the selectors of a request.
    pub(super) fn parse(query: &Query, kubernetes: KubernetesVersion) -> Result<Self, Status> {
        let labels = Selector::parse_for(query.text("labelSelector"), kubernetes)
            .map_err(|error| Status::bad_request(error.to_string()))?;
        let fields = parse_fields(query.text("fieldSelector")).map_err(Status::bad_request)?;
        Ok(Selectors { labels, fields })
    }

    /// Selects the object of a path: the old form of a watch may be about one (WA-02).
    pub(super) fn of_path(mut self, path: &ResourcePath) -> Result<Self, Status> {
        let Some(name) = &path.name else { return Ok(self) };
        let is_name = |term: &&FieldTerm| term.is_equal && term.field == NAME;
        match self.fields.iter().find(is_name) {
            Some(term) if term.value == *name => {}
            None if self.fields.is_empty() => {
                let (field, value) = (NAME.to_owned(), name.clone());
                self.fields.push(FieldTerm { field, value, is_equal: true });
            }
            _ => {
                let message = "fieldSelector metadata.name doesn't match requested name";
                return Err(Status::bad_request(message));
            }
        }
        Ok(self)
    }

    /// Fails if there is a field that objects cannot be selected by (RE-55).
    pub(super) fn check_fields(&self, context: &Context<'_>) -> Result<(), Status> {
        let selectable = context.version.selectable_fields();
        // Kinds with fields of their own know these and no others (BK-700).
        let unknown_default =
            context.resource.style.unknown_default_field.filter(|_| selectable.is_empty());
        let has_namespace = context.is_namespaced() || unknown_default.is_some();
        let old = context.resource.kind.map_or(&[][..], |kind| kind.behavior().old_fields());
        let is_known = |field: &str| {
            field == NAME
                || (field == NAMESPACE && has_namespace)
                || old.contains(&field)
                || selectable.iter().any(|path| path.trim_start_matches('.') == field)
        };
        let unknown = self.fields.iter().find(|term| !is_known(&term.field));
        let Some(FieldTerm { field, .. }) = unknown else { return Ok(()) };
        Err(match unknown_default {
            Some(unknown) => unknown(field),
            None => {
                let of_kind =
                    context.resource.kind.map(|kind| kind.behavior().unknown_field(field));
                let text = of_kind.unwrap_or_else(|| format!("field label not supported: {field}"));
                Status::bad_request(text)
            }
        })
    }

    /// The keys that the path and the terms about name and namespace leave. The objects of others
    /// are not read (RE-56).
    pub(super) fn keys(&self, context: &Context<'_>) -> Keys {
        let prefix = self.prefix(context);
        match self.only_value(NAME) {
            Some(name) if context.is_namespaced() != prefix.is_empty() => {
                Keys { prefix: prefix + name, is_one: true }
            }
            _ => Keys { prefix, is_one: false },
        }
    }

    /// The beginning of the keys that the path and the terms about the namespace leave.
    pub(super) fn prefix(&self, context: &Context<'_>) -> String {
        let prefix = context.prefix();
        match self.only_value(NAMESPACE) {
            Some(namespace) if context.is_namespaced() && prefix.is_empty() => {
                format!("{namespace}/")
            }
            _ => prefix,
        }
    }

    /// The value that a field of selected objects has, if it can be a part of a key.
    fn only_value(&self, field: &str) -> Option<&str> {
        let term = self.fields.iter().find(|term| term.is_equal && term.field == field)?;
        Some(term.value.as_str()).filter(|value| !value.is_empty() && !value.contains('/'))
    }

    /// Whether everything is selected.
    pub(super) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_empty()
    }

    /// Whether an object can be selected, by its key and the labels in its text, which is not read as
    /// a whole.
    pub(super) fn may_match(&self, object: &Object) -> bool {
        let fits = |term: &FieldTerm| {
            let (namespace, name) = object.key.split_once('/').unwrap_or(("", &object.key));
            match term.field.as_str() {
                NAME => (term.value == name) == term.is_equal,
                NAMESPACE => (term.value == namespace) == term.is_equal,
                _ => true,
            }
        };
        self.fields.iter().all(fits)
            && (self.labels.is_everything()
                || labels(&object.text).is_none_or(|labels| self.labels.matches(&labels)))
    }

    pub(super) fn matches(&self, object: &Value) -> bool {
        let labels = object.get("metadata").and_then(|metadata| metadata.get("labels"));
        let has_labels = match labels {
            Some(Value::Object(labels)) => self.labels.matches(labels),
            _ => self.labels.matches(&()),
        };
        let has_field =
            |term: &FieldTerm| (field(object, &term.field) == term.value) == term.is_equal;
        has_labels && self.fields.iter().all(has_field)
    }
}

/// The text of a field; empty if it is missing (RE-56). Some kinds have values of their own for it
/// (BK-701).
fn field(object: &Value, path: &str) -> String {
    if path != NAME && path != NAMESPACE {
        let kind = Kind::named(text(object, "apiVersion"), text(object, "kind"));
        if let Some(value) = kind.and_then(|kind| kind.behavior().selected_field(object, path)) {
            return value;
        }
    }
    let value = path.split('.').try_fold(object, |value, name| value.get(name));
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
        _ => String::new(),
    }
}

/// Parses `f=v`, `f==v` and `f!=v`, with commas between (RE-54).
fn parse_fields(text: &str) -> Result<Vec<FieldTerm>, String> {
    let mut terms = Vec::new();
    let mut texts = split_terms(text);
    texts.sort_unstable();
    for term in texts.into_iter().filter(|term| !term.is_empty()) {
        let Some((field, is_equal, value)) = split_term(term) else {
            return Err(format!("invalid selector: '{text}'; can't understand '{term}'"));
        };
        let value = unescape(value)?;
        terms.push(FieldTerm { field: field.to_owned(), value, is_equal });
    }
    Ok(terms)
}

/// Splits at commas that are not escaped.
fn split_terms(text: &str) -> Vec<&str> {
    let mut is_escaped = false;
    let is_separator = |c: char| {
        let separates = c == ',' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        separates
    };
    text.split(is_separator).collect()
}

/// Splits at the first operator.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let place = term.find('=')?;
    let (before, after) = (term.get(..place)?, term.get(place + 1..)?);
    if let Some(field) = before.strip_suffix('!') {
        return Some((field, false, after));
    }
    Some((before, true, after.strip_prefix('=').unwrap_or(after)))
}

fn unescape(value: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = value.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                Some(other) => {
                    let text =
                        format!("invalid field selector: invalid escape sequence: \\{other}");
                    return Err(text);
                }
                None => {
                    return Err("invalid field selector: invalid escape sequence: \\".to_owned());
                }
            },
            ',' | '=' => {
                let code = u32::from(c);
                return Err(format!(
                    "invalid field selector: unescaped character in value: {code}"
                ));
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use billhook_apimachinery::print::quote;

    use super::*;

    #[test]
    fn field_selectors_are_parsed() {
        let parse = |text: &str| {
            parse_fields(text).map(|terms| {
                let shown = terms.iter().map(|FieldTerm { field, value, is_equal, .. }| {
                    format!("{field} {is_equal} {}", quote(value))
                });
                shown.collect::<Vec<_>>().join(", ")
            })
        };
        assert_eq!(parse("a=b,,c!=d").unwrap(), "a true \"b\", c false \"d\"");
        assert_eq!(parse(r"a==b\,c\=\\").unwrap(), r#"a true "b,c=\\""#);
        assert_eq!(parse("a").unwrap_err(), "invalid selector: 'a'; can't understand 'a'");
        assert_eq!(
            parse(r"a=\x").unwrap_err(),
            r"invalid field selector: invalid escape sequence: \x",
        );
        assert_eq!(
            parse("a=b=c").unwrap_err(),
            "invalid field selector: unescaped character in value: 61",
        );
    }
}
