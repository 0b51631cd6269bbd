//! Writing into the text of a suite what its cases are to expect, as it is now. All else in the text
//! stays as it is, comments and layout too.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use billhook::{DeepValue, FieldPath, Segment, Span, Status};
use billhook_apimachinery::print::yaml_string;
use billhook_apimachinery::value::{deep_clone, deep_eq, grow, sorted};
use billhook_findings::Place;
use billhook_generation::parent;
use serde_json::{Map, Value, json};

use crate::compare;
use crate::failure::{CaseStage, Failure};
use crate::object_case::ObjectCase;
use crate::plan::Run;
use crate::suite::{Case, Suite, UpdateCase};

/// The longest line with a value in flow style.
const WIDTH: usize = 100;

/// A field of a suite that is to be written.
struct Change {
    path: FieldPath,
    content: Content,
}

enum Content {
    Value(DeepValue),
    /// Text that is to be written as a block.
    Text(String),
    /// The field goes.
    Nothing,
}

/// Returns the text of a suite in which cases that fail expect what happens now; `None` if nothing
/// can be written. The runs are all of one suite. Cases with tables stay, and so do cases that do not
/// come out the same in all their runs, and expectations that several cases share.
///
/// The new text may show that more is different: who wants all of it runs the new suite again.
pub fn update_expectations(outcomes: &[(&Run, &Result<(), Failure>)]) -> Option<String> {
    let place = outcomes.first()?.0.place();
    let mut changes: BTreeMap<String, Option<Change>> = BTreeMap::new();
    for (run, outcome) in outcomes {
        let change = outcome.as_ref().err().and_then(|failure| change(run, failure));
        match changes.entry(run.path().to_string()) {
            Entry::Vacant(entry) => {
                entry.insert(change);
            }
            Entry::Occupied(mut entry) => {
                let both = entry.get().as_ref().zip(change.as_ref());
                if !both.is_some_and(|(one, other)| one.is_same(other)) {
                    entry.insert(None);
                }
            }
        }
    }
    let mut edits: Vec<(Span, String)> =
        changes.into_values().flatten().filter_map(|change| change.edit(place)).collect();
    edits.sort_by_key(|(span, _)| *span);
    let (mut text, mut done) = (String::new(), 0);
    let source = place.source.text();
    for (span, replacement) in edits {
        // Edits of different cases do not overlap.
        text.push_str(source.get(done..span.start)?);
        text.push_str(&replacement);
        done = span.end;
    }
    text.push_str(source.get(done..)?);
    (text != source && Suite::read(text.as_bytes()).is_ok()).then_some(text)
}

/// The change after which a case does not fail like this any more.
fn change(run: &Run, failure: &Failure) -> Option<Change> {
    let (fields, content) = match run.case()? {
        Case::Object { case, row: None } => own(run, case, failure)?,
        Case::Object { .. } => return None,
        Case::Create(_) => listed(None, failure)?,
        Case::Update(case) => listed(Some(case), failure)?,
    };
    let path = fields.iter().fold(run.path(), |path, field| path.name(field));
    Some(Change { path, content })
}

/// The field of a case in our own format, and what it is to hold.
fn own(run: &Run, case: &ObjectCase, failure: &Failure) -> Option<(Vec<&'static str>, Content)> {
    let expected = case.expect.clone().unwrap_or_default();
    let value = |value: &DeepValue| Content::Value(value.clone());
    Some(match failure {
        Failure::Part { part, actual, .. } => (vec!["expect", part], value(actual)),
        Failure::Object { expected: compared, actual } => {
            let is_whole = expected
                .object
                .as_ref()
                .is_some_and(|object| deep_eq(&compare::compared(object), compared));
            (vec!["expect", if is_whole { "object" } else { "matches" }], value(actual))
        }
        Failure::Refused { actual, .. } | Failure::OtherError { actual, .. } => {
            (vec!["expect", "error"], Content::Value(error(actual)))
        }
        Failure::NoError { .. } => {
            let object = run.observe()?.result.ok()?;
            let mut left = written(run.place(), &run.path().name("expect"))?;
            left.remove("error");
            if left.is_empty() {
                left.insert("object".to_owned(), compare::compared(&object).into_inner());
            }
            (vec!["expect"], Content::Value(DeepValue::from(Value::Object(left))))
        }
        _ => return None,
    })
}

/// The object at a path, as it is written.
fn written(place: &Place, path: &FieldPath) -> Option<Map<String, Value>> {
    let documents = billhook::read_manifests(place.source.bytes()).ok()?;
    let document = documents.iter().find(|it| Some(it.index()) == place.document)?;
    let members = document.value().pointer(&path.to_json_pointer())?.as_object()?;
    Some(members.iter().map(|(name, value)| (name.clone(), deep_clone(value))).collect())
}

/// The shortest description of an error.
fn error(status: &Status) -> DeepValue {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let mut fields = causes.filter(|cause| cause.reason.starts_with("FieldValue"));
    DeepValue::from(match fields.find(|cause| !cause.field.is_empty()) {
        Some(cause) => json!({"rule": cause.reason, "field": cause.field}),
        None => json!({"rule": status.reason, "text": status.message}),
    })
}

/// The field of a case in OpenShift's format, and what it is to hold.
fn listed(update: Option<&UpdateCase>, failure: &Failure) -> Option<(Vec<&'static str>, Content)> {
    let field = |stage: CaseStage| {
        // The first object of an update has to be accepted.
        match (stage, update) {
            (CaseStage::Create, None) | (CaseStage::Update, Some(_)) => Some(vec!["expectedError"]),
            (CaseStage::UpdateStatus, Some(_)) => Some(vec!["expectedStatusError"]),
            _ => None,
        }
    };
    // The name of the object is made by the runner.
    let text = |text: &str| {
        let text = text.split_once(" is invalid: ").map_or(text, |(_, errors)| errors);
        Content::Value(DeepValue::from(Value::from(text)))
    };
    Some(match failure {
        // It may be the status of the first object as well.
        Failure::Refused { stage: CaseStage::UpdateStatus, .. } => return None,
        Failure::Refused { stage, actual } => (field(*stage)?, text(&actual.to_string())),
        Failure::Text { stage, actual, .. } => (field(*stage)?, text(actual)),
        Failure::Accepted { stage, .. } => (field(*stage)?, Content::Nothing),
        Failure::Object { actual, .. } => {
            (vec!["expected"], Content::Text(billhook::to_yaml(actual)))
        }
        _ => return None,
    })
}

impl Change {
    fn is_same(&self, other: &Change) -> bool {
        self.path == other.path
            && match (&self.content, &other.content) {
                (Content::Value(a), Content::Value(b)) => deep_eq(a, b),
                (Content::Text(a), Content::Text(b)) => a == b,
                (Content::Nothing, Content::Nothing) => true,
                _ => false,
            }
    }

    /// The edit of the text that makes the change.
    fn edit(self, place: &Place) -> Option<(Span, String)> {
        let text = place.source.text();
        let found = place.find(&self.path)?;
        if !found.is_exact {
            return self.insertion(place);
        }
        let (key, value) = (found.span.key?, found.span.value);
        if !is_own(place, &self.path)? {
            return None;
        }
        let written = text.get(value.start..value.end)?.trim_end();
        let end = value.start + written.len();
        let Some(indentation) = indentation(text, key.start) else {
            let value = self.content.flow(is_json(text))?;
            return Some((Span::new(value_start(text, key.end), end), value));
        };
        if matches!(self.content, Content::Nothing) {
            return Some((whole_lines(text, key.start, end), String::new()));
        }
        let was_flow = written.starts_with(['[', '{']) && !written.contains('\n');
        let block = self.content.block(indentation, was_flow)?;
        Some((Span::new(key.end + 1, end), block))
    }

    /// The edit that adds a field that is not there.
    fn insertion(self, place: &Place) -> Option<(Span, String)> {
        let Some(Segment::Name(name)) = self.path.segments().last() else { return None };
        let name = name.to_owned();
        let parent = parent(&self.path)?;
        let text = place.source.text();
        let found = place.find(&parent)?;
        if found.is_exact && !is_own(place, &parent)? {
            return None;
        }
        let span = found.span.value;
        let written = text.get(span.start..span.end).unwrap_or_default().trim_end();
        if !found.is_exact || written.is_empty() {
            // The parent is written with it.
            let Content::Value(value) = self.content else { return None };
            let value = Map::from_iter([(name, value.into_inner())]);
            let content = Content::Value(DeepValue::from(Value::Object(value)));
            return Change { path: parent, content }.edit(place);
        }
        let end = span.start + written.len();
        if let Some(inside) = written.strip_suffix('}').filter(|_| written.starts_with('{')) {
            let is_json = is_json(text);
            let name = if is_json { yaml_string(&name) } else { name };
            let comma = if inside.trim() == "{" { "" } else { ", " };
            let at = span.start + inside.trim_end().len();
            let value = self.content.flow(is_json)?;
            return Some((Span::new(at, at), format!("{comma}{name}: {value}")));
        }
        let column = span.start - text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
        let line_end = text.get(end..)?.find('\n').map_or(text.len(), |at| end + at);
        let block = self.content.block(column, false)?;
        let indentation = " ".repeat(column);
        Some((Span::new(line_end, line_end), format!("\n{indentation}{name}:{block}")))
    }
}

impl Content {
    /// The text after the colon of a key with an indentation.
    fn block(&self, indentation: usize, prefer_flow: bool) -> Option<String> {
        let value = match self {
            Content::Nothing => return None,
            Content::Text(text) => return Some(format!(" |\n{}", indented(text, indentation + 2))),
            Content::Value(value) => value,
        };
        let flow = flow(value);
        let (is_list, is_empty) = match &**value {
            Value::Array(items) => (true, items.is_empty()),
            Value::Object(members) => (false, members.is_empty()),
            _ => (false, true),
        };
        if is_empty || (prefer_flow && indentation + flow.len() <= WIDTH) {
            return Some(format!(" {flow}"));
        }
        let indentation = if is_list { indentation } else { indentation + 2 };
        Some(format!("\n{}", indented(&billhook::to_yaml(value), indentation)))
    }

    /// The text in an object that is written on a line.
    fn flow(&self, is_json: bool) -> Option<String> {
        match self {
            Content::Nothing => Some("\"\"".to_owned()),
            Content::Text(text) => Some(yaml_string(text)),
            Content::Value(value) if is_json => Some(billhook::to_json(value)),
            Content::Value(value) => Some(flow(value)),
        }
    }
}

/// Whether a field is written in its own case, and not in what others share by an anchor or a merge.
fn is_own(place: &Place, path: &FieldPath) -> Option<bool> {
    let (mut around, mut is_plain) = (path.clone(), true);
    let mut first = None;
    // Up to `cases[0]` or `tests.onCreate[0]`.
    while let Some(Segment::Name(_)) = around.segments().last() {
        let span = place.find(&around)?.span;
        let key = span.key?;
        let text = place.source.text();
        let between = text.get(key.end..span.value.start);
        is_plain &=
            between.is_some_and(is_colon) && !text.get(span.value.start..)?.starts_with('&');
        first.get_or_insert(key);
        around = parent(&around)?;
    }
    let case = place.find(&around)?.span.value;
    let is_inside = first.is_none_or(|key| case.start <= key.start && key.end <= case.end);
    Some(is_plain && is_inside)
}

/// Whether a text is a colon, with nothing but comments after it.
fn is_colon(text: &str) -> bool {
    let mut lines = text.trim_start().strip_prefix(':').unwrap_or("?").lines();
    lines.all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
}

/// The indentation of a key in block style.
fn indentation(text: &str, key: usize) -> Option<usize> {
    let start = text.get(..key)?.rfind('\n').map_or(0, |at| at + 1);
    let before = text.get(start..key)?;
    before.chars().all(|c| c == ' ' || c == '-').then_some(before.len())
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// The start of a value after its key and a colon.
fn value_start(text: &str, key_end: usize) -> usize {
    let rest = text.get(key_end + 1..).unwrap_or_default();
    key_end + 1 + (rest.len() - rest.trim_start().len())
}

/// The lines from one offset to another, with the break after them.
fn whole_lines(text: &str, start: usize, end: usize) -> Span {
    let before = text.get(..start).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
    let rest = text.get(end..).unwrap_or_default();
    Span::new(before, rest.find('\n').map_or(text.len(), |at| end + at + 1))
}

fn indented(text: &str, indentation: usize) -> String {
    let indentation = " ".repeat(indentation);
    let line =
        |line: &str| if line.is_empty() { String::new() } else { indentation.clone() + line };
    text.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A value on a line.
fn flow(value: &Value) -> String {
    grow(|| match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{}: {}", flow(&Value::from(name.as_str())), flow(value))
            };
            let members: Vec<String> = sorted(members).into_iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::String(text) => {
            let plain = billhook::to_yaml(value);
            let plain = plain.trim_end();
            let is_quoted = plain.starts_with(['"', '\'']);
            let is_simple = !plain.contains([',', '[', ']', '{', '}', '\n']);
            if is_simple || (is_quoted && !plain.contains('\n')) {
                plain.to_owned()
            } else {
                yaml_string(text)
            }
        }
        other => other.to_string(),
    })
}
