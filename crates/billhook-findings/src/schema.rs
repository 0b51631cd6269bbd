//! The part of a definition that causes a finding.

use std::sync::Arc;

use billhook::{DeepValue, ErrorType, FieldError, FieldPath, Segment, Span};
use serde_json::Value;

use crate::edit_distance::closest;
use crate::finding::{Edit, Finding, Label};
use crate::source::{Place, last_name};

/// A version of a definition and where it is written.
#[derive(Clone, Debug)]
pub struct SchemaSource {
    place: Place,
    definition: Arc<DeepValue>,
    /// The path of the schema in the definition.
    base: FieldPath,
}

/// A part of a schema.
struct Node<'s> {
    path: FieldPath,
    value: &'s Value,
}

/// A keyword that causes an error.
struct Cause {
    path: FieldPath,
    label: String,
}

impl SchemaSource {
    /// Creates a source of a version; `None` if the definition does not have it.
    pub fn new(place: Place, definition: Arc<DeepValue>, version: &str) -> Option<Self> {
        let versions = definition.get("spec")?.get("versions")?.as_array()?;
        let is_it = |known: &Value| known.get("name").and_then(Value::as_str) == Some(version);
        let index = versions.iter().position(is_it)?;
        let base = FieldPath::default().name("spec").name("versions").index(index);
        let base = base.name("schema").name("openAPIV3Schema");
        Some(SchemaSource { place, definition, base })
    }

    /// Adds to a finding about an error the keyword that causes it, and what may have been meant.
    #[must_use]
    pub fn explain(&self, mut finding: Finding, error: &FieldError) -> Finding {
        let (nodes, is_whole) = self.nodes(error.field());
        let Some(cause) = cause(error, &nodes, is_whole) else { return finding };
        finding.schema = self.label(cause);
        if let Some(node) = nodes.last().filter(|_| is_whole) {
            match error.error_type() {
                ErrorType::NotSupported => suggest_value(&mut finding, error, node.value),
                ErrorType::TypeInvalid if names_type(error, "type", node.value) => {
                    suggest_type(&mut finding, node.value);
                }
                _ => {}
            }
        }
        finding
    }

    /// Adds to a finding about an unknown field the field that may have been meant.
    #[must_use]
    pub fn explain_unknown(&self, mut finding: Finding) -> Finding {
        let (nodes, _) = self.nodes(&finding.path);
        let depth = finding.path.segments().count();
        let Some(parent) = nodes.last().filter(|_| nodes.len() == depth) else { return finding };
        let Some(name) = last_name(&finding.path).map(str::to_owned) else { return finding };
        if parent.value.get("properties").is_some() {
            let path = parent.path.clone().name("properties");
            let label = "these fields are specified".to_owned();
            finding.schema = self.label(Cause { path, label });
        }
        if let Some(meant) = closest(&name, property_names(parent.value)) {
            finding.label = Some(format!("did you mean `{meant}`?"));
            finding.edits.extend(rename(&finding, &name, meant));
        } else if let Some(place) = elsewhere(&finding.path, &name, &nodes) {
            finding.help = Some(place);
        }
        finding
    }

    fn label(&self, Cause { path, label }: Cause) -> Option<Label> {
        let found = self.place.find(&path).filter(|found| found.is_exact)?;
        let source = self.place.source.clone();
        let span = found.mark(source.text());
        Some(Label { source, span, path, text: label })
    }

    /// The parts of the schema on the way to a field, and whether the way ends there.
    fn nodes(&self, path: &FieldPath) -> (Vec<Node<'_>>, bool) {
        let Some(root) = self.definition.pointer(&self.base.to_json_pointer()) else {
            return (Vec::new(), false);
        };
        let mut nodes = vec![Node { path: self.base.clone(), value: root }];
        for segment in path.segments() {
            let Some(next) = nodes.last().and_then(|node| node.child(segment)) else {
                return (nodes, false);
            };
            nodes.push(next);
        }
        (nodes, true)
    }
}

impl<'s> Node<'s> {
    fn child(&self, segment: Segment<'_>) -> Option<Node<'s>> {
        let child = |path: FieldPath, value: Option<&'s Value>| {
            value.filter(|value| value.is_object()).map(|value| Node { path, value })
        };
        match segment {
            Segment::Name(name) | Segment::Key(name) => {
                let properties = self.value.get("properties");
                let path = self.path.clone().name("properties").name(name);
                child(path, properties.and_then(|known| known.get(name))).or_else(|| {
                    let path = self.path.clone().name("additionalProperties");
                    child(path, self.value.get("additionalProperties"))
                })
            }
            _ => child(self.path.clone().name("items"), self.value.get("items")),
        }
    }

    fn keyword(&self, name: &str, label: impl FnOnce(&Value) -> String) -> Option<Cause> {
        let label = label(self.value.get(name)?);
        Some(Cause { path: self.path.clone().name(name), label })
    }
}

fn property_names(schema: &Value) -> impl Iterator<Item = &str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str())
}

/// Finds the keyword that causes an error.
fn cause(error: &FieldError, nodes: &[Node<'_>], is_whole: bool) -> Option<Cause> {
    let node = nodes.last()?;
    if error.error_type() == ErrorType::Required {
        // The rules of a schema may say so of a field that is there.
        let parent = if is_whole { nodes.get(nodes.len().checked_sub(2)?)? } else { node };
        return required(error.field(), parent).or_else(|| rule(error, nodes));
    }
    if !is_whole {
        return None;
    }
    let limit = |value: &Value, of: &str| format!("at most {value} {of} are allowed");
    match error.error_type() {
        ErrorType::NotSupported => node.keyword("enum", |_| "only these are allowed".to_owned()),
        ErrorType::TooLong => node.keyword("maxLength", |max| limit(max, "characters")),
        ErrorType::TooMany => node
            .keyword("maxItems", |max| limit(max, "items"))
            .or_else(|| node.keyword("maxProperties", |max| limit(max, "members"))),
        ErrorType::TypeInvalid if names_type(error, "format", node.value) => {
            node.keyword("format", |_| "the format is set here".to_owned())
        }
        ErrorType::TypeInvalid => node.keyword("type", |_| "the type is set here".to_owned()),
        ErrorType::Duplicate => {
            node.keyword("x-kubernetes-list-type", |_| "items must differ".to_owned())
        }
        _ => rule(error, nodes).or_else(|| bound(error, node)),
    }
}

fn required(field: &FieldPath, parent: &Node<'_>) -> Option<Cause> {
    let name = last_name(field)?;
    let list = parent.value.get("required")?.as_array()?;
    let index = list.iter().position(|known| known.as_str() == Some(name))?;
    let path = parent.path.clone().name("required").index(index);
    Some(Cause { path, label: format!("`{name}` is required here") })
}

/// The rule in CEL that an error comes from.
fn rule(error: &FieldError, nodes: &[Node<'_>]) -> Option<Cause> {
    let is_its = |rule: &Value| {
        let text = |name: &str| rule.get(name).and_then(Value::as_str);
        text("message").is_some_and(|message| message.trim() == error.detail())
            || text("rule").is_some_and(|rule| {
                error.detail().strip_prefix("failed rule: ") == Some(rule.trim())
            })
    };
    nodes.iter().rev().find_map(|node| {
        let rules = node.value.get("x-kubernetes-validations")?.as_array()?;
        let index = rules.iter().position(is_its)?;
        let path = node.path.clone().name("x-kubernetes-validations").index(index).name("rule");
        Some(Cause { path, label: "this rule is not met".to_owned() })
    })
}

/// Parts of the texts of value validation and the keywords that they come from.
const BOUNDS: [(&str, &str); 11] = [
    ("should be less than", "maximum"),
    ("should be greater than", "minimum"),
    ("should be a multiple of", "multipleOf"),
    ("should match", "pattern"),
    ("should be at least", "minLength"),
    ("should be at most", "maxLength"),
    ("should have at least", "minItems"),
    ("should have at least", "minProperties"),
    ("should have at most", "maxItems"),
    ("must be of type", "format"),
    ("must be of type", "type"),
];

fn bound(error: &FieldError, node: &Node<'_>) -> Option<Cause> {
    let fits = BOUNDS.iter().filter(|(text, _)| error.detail().contains(text));
    let mut causes = fits.filter_map(|(_, keyword)| {
        node.keyword(keyword, |_| format!("the {} is set here", words(keyword)))
    });
    causes.next()
}

/// A keyword in words: `minLength` is a minimum length.
fn words(keyword: &str) -> &str {
    match keyword {
        "multipleOf" => "divisor",
        "minLength" | "minItems" | "minProperties" => "minimum",
        "maxLength" | "maxItems" => "maximum",
        other => other,
    }
}

/// Whether an error of a type is about a keyword's value: a type, or a format.
fn names_type(error: &FieldError, keyword: &str, schema: &Value) -> bool {
    let name = schema.get(keyword).and_then(Value::as_str);
    name.is_some_and(|name| error.detail().contains(&format!("must be of type {name}:")))
}

/// The value of an enumeration that may have been meant.
fn suggest_value(finding: &mut Finding, error: &FieldError, schema: &Value) {
    let Some(wrong) = error.bad_value().and_then(Value::as_str) else { return };
    let allowed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let Some(meant) = closest(wrong, allowed.filter_map(Value::as_str)) else { return };
    finding.label = Some(format!("did you mean `{meant}`?"));
    let is_safe = meant.to_lowercase() == wrong.to_lowercase();
    replace_value(finding, wrong, meant, is_safe);
}

/// A value of another type that is only spelled wrong: a number in quotes, a text without them.
fn suggest_type(finding: &mut Finding, schema: &Value) {
    let Some((span, raw)) = value_text(finding) else { return };
    let raw = raw.to_owned();
    let inner = raw.strip_prefix(['"', '\'']).and_then(|raw| raw.strip_suffix(['"', '\'']));
    match (schema.get("type").and_then(Value::as_str), inner) {
        (Some("integer"), Some(inner)) if inner.parse::<i64>().is_ok() => {
            finding.label = Some("remove the quotes".to_owned());
            finding.edits.push(Edit { span, replacement: inner.to_owned(), is_safe: true });
        }
        (Some("number"), Some(inner)) if inner.parse::<f64>().is_ok_and(f64::is_finite) => {
            finding.label = Some("remove the quotes".to_owned());
            finding.edits.push(Edit { span, replacement: inner.to_owned(), is_safe: true });
        }
        (Some("boolean"), Some(inner @ ("true" | "false"))) => {
            finding.label = Some("remove the quotes".to_owned());
            finding.edits.push(Edit { span, replacement: inner.to_owned(), is_safe: true });
        }
        (Some("string"), None) if is_plain(&raw) => {
            finding.label = Some("write it in quotes".to_owned());
            finding.edits.push(Edit { span, replacement: format!("\"{raw}\""), is_safe: true });
        }
        _ => {}
    }
}

/// Whether a text is a number or a word, which needs no escapes in quotes.
fn is_plain(raw: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
    !raw.is_empty() && raw.chars().all(is_word) && !matches!(raw, "null" | "Null" | "NULL")
}

/// The text of the value of a finding's field, if it is on one line.
fn value_text(finding: &Finding) -> Option<(Span, &str)> {
    let place = finding.place.as_ref()?;
    let found = place.find(&finding.path).filter(|found| found.is_exact)?;
    let span = found.span.value;
    let text = place.source.text().get(span.start..span.end)?;
    (!text.contains('\n')).then_some((span, text))
}

fn replace_value(finding: &mut Finding, wrong: &str, meant: &str, is_safe: bool) {
    let edit = value_text(finding).and_then(|(span, raw)| {
        Some(Edit { span, replacement: respelled(raw, wrong, meant)?, is_safe })
    });
    finding.edits.extend(edit);
}

/// The edit that gives a field another name, unless there is a field of that name.
fn rename(finding: &Finding, wrong: &str, meant: &str) -> Option<Edit> {
    let place = finding.place.as_ref()?;
    let count = finding.path.segments().count();
    let parent: FieldPath = finding.path.segments().take(count.checked_sub(1)?).collect();
    if place.find(&parent.name(meant)).is_some_and(|found| found.is_exact) {
        return None;
    }
    let span = place.find(&finding.path).filter(|found| found.is_exact)?.span.key?;
    let raw = place.source.text().get(span.start..span.end)?;
    Some(Edit { span, replacement: respelled(raw, wrong, meant)?, is_safe: true })
}

/// Returns another text in the quotes of a text; `None` if the text is spelled in another way, or
/// the new one would need quotes.
fn respelled(raw: &str, wrong: &str, meant: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let fits = meant.starts_with(|c: char| c.is_ascii_alphabetic()) && meant.chars().all(is_word);
    let words = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    let is_special = words.contains(&meant.to_ascii_lowercase().as_str());
    if raw == wrong && fits && !is_special {
        return Some(meant.to_owned());
    }
    let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    (fits && raw == format!("{quote}{wrong}{quote}")).then(|| format!("{quote}{meant}{quote}"))
}

/// Where else a field of that name is specified: one level up, or one level down.
fn elsewhere(path: &FieldPath, name: &str, nodes: &[Node<'_>]) -> Option<String> {
    let parent = nodes.last()?;
    let count = path.segments().count();
    let above = |levels: usize| -> FieldPath {
        path.segments().take(count.saturating_sub(levels)).collect()
    };
    let up = count.checked_sub(3).and_then(|level| nodes.get(level + 1));
    if up.is_some_and(|up| property_names(up.value).any(|known| known == name)) {
        let around = above(2);
        let around =
            if around.is_empty() { "the object".to_owned() } else { format!("`{around}`") };
        return Some(format!("`{name}` is a field of {around}, one level up"));
    }
    let properties = parent.value.get("properties").and_then(Value::as_object)?;
    let has_it = |schema: &Value| property_names(schema).any(|known| known == name);
    let (below, _) = properties.iter().find(|(_, schema)| has_it(schema))?;
    let below = above(1).name(below);
    Some(format!("`{name}` is a field of `{below}`, one level down"))
}
