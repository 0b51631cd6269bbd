//! Which objects a list or a watch selects (RE-53 to RE-56).

use billhook_apimachinery::Status;
use billhook_apimachinery::label_selector::Selector;
use billhook_apimachinery::print::quote;
use serde_json::Value;

use super::context::Context;

/// Selects objects by their labels and fields.
#[derive(Clone, Debug)]
pub(super) struct Selectors {
    labels: Selector,
    fields: Vec<FieldTerm>,
}

/// A term of a field selector.
#[derive(Clone, Debug)]
struct FieldTerm {
    text: String,
    field: String,
    value: String,
    is_equal: bool,
}

impl Selectors {
    /// Parses the selectors of a request.
    pub(super) fn parse(context: &Context<'_>) -> Result<Self, Status> {
        let query = &context.request.query;
        let labels: Selector = query.text("labelSelector").parse().map_err(
            |error: billhook_apimachinery::label_selector::SelectorError| {
                Status::bad_request(error.to_string())
            },
        )?;
        let mut fields = parse_fields(query.text("fieldSelector")).map_err(Status::bad_request)?;
        // The old form of a watch may be about one object (RE-02).
        if let Some(name) = context.path.name.as_ref().filter(|_| context.path.is_watch) {
            let (text, field) = (format!("metadata.name={name}"), "metadata.name".to_owned());
            fields.push(FieldTerm { text, field, value: name.clone(), is_equal: true });
        }
        Ok(Selectors { labels, fields })
    }

    /// Fails if there is a field that objects cannot be selected by (RE-55).
    pub(super) fn check_fields(&self, context: &Context<'_>) -> Result<(), Status> {
        let selectable = context.version.selectable_fields();
        let is_known = |field: &str| {
            field == "metadata.name"
                || (field == "metadata.namespace"
                    && (context.is_namespaced() || context.resource.is_native))
                || selectable.iter().any(|path| path.trim_start_matches('.') == field)
        };
        let mut terms: Vec<&FieldTerm> = self.fields.iter().collect();
        terms.sort_by(|left, right| left.text.cmp(&right.text));
        match terms.iter().find(|term| !is_known(&term.field)) {
            Some(term) if context.resource.is_native => Err(Status::bad_request(format!(
                "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                quote(&term.field)
            ))),
            Some(term) => {
                Err(Status::bad_request(format!("field label not supported: {}", term.field)))
            }
            None => Ok(()),
        }
    }

    /// Whether everything is selected.
    pub(super) fn is_everything(&self) -> bool {
        self.labels.is_everything() && self.fields.is_empty()
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

/// The text of a field; empty if it is missing (RE-56).
fn field(object: &Value, path: &str) -> String {
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
    for term in split_terms(text).into_iter().filter(|term| !term.is_empty()) {
        let Some((field, is_equal, value)) = split_term(term) else {
            return Err(format!("invalid selector: '{text}'; can't understand '{term}'"));
        };
        let value = unescape(value)?;
        terms.push(FieldTerm { text: term.to_owned(), field: field.to_owned(), value, is_equal });
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
