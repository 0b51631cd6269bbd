//! Paths into objects, in the part of the language of jq that selectors of stages use.

use serde_json::Value;

/// A path: members, elements, and the elements that a condition holds for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Element(usize),
    Elements,
    Select { path: Path, is_equal: bool, text: String },
}

impl Path {
    /// Parses steps such as `.a.b`, `.["a"]`, `.[0]` and `.[]`, and `select(.a == "text")`, with bars
    /// between them.
    ///
    /// # Errors
    ///
    /// If a part is not understood.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        for part in text.split('|').map(str::trim) {
            let selected = part.strip_prefix("select(").and_then(|it| it.strip_suffix(')'));
            match selected {
                Some(condition) => steps.push(select(condition.trim())?),
                None => members(part, &mut steps)?,
            }
        }
        Ok(Path(steps))
    }

    /// Returns what is at the path; nothing where a member is absent or null.
    pub(super) fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let Path(steps) = self;
        let found = steps.iter().fold(vec![value], |values, step| {
            values.into_iter().flat_map(|value| step.find(value)).collect()
        });
        found.into_iter().filter(|value| !value.is_null()).collect()
    }
}

impl Step {
    fn find<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match self {
            Step::Member(name) => value.get(name).into_iter().collect(),
            Step::Element(index) => value.get(index).into_iter().collect(),
            Step::Elements => match value {
                Value::Array(list) => list.iter().collect(),
                Value::Object(members) => members.values().collect(),
                _ => Vec::new(),
            },
            Step::Select { path, is_equal, text } => {
                let holds = path.find(value).iter().any(|found| text_of(found) == *text);
                if holds == *is_equal { vec![value] } else { Vec::new() }
            }
        }
    }
}

/// Returns a text as it is, and another value as JSON.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn select(condition: &str) -> Result<Step, String> {
    let wrong = || format!("{condition:?} is not a comparison such as .type == \"Ready\"");
    let (path, is_equal, text) = match (condition.split_once("=="), condition.split_once("!=")) {
        (Some((path, text)), None) => (path, true, text),
        (None, Some((path, text))) => (path, false, text),
        _ => return Err(wrong()),
    };
    let text = text.trim().strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let mut steps = Vec::new();
    members(path.trim(), &mut steps)?;
    let text = text.ok_or_else(wrong)?.to_owned();
    Ok(Step::Select { path: Path(steps), is_equal, text })
}

/// Reads the steps of a path without bars.
fn members(path: &str, steps: &mut Vec<Step>) -> Result<(), String> {
    let mut rest = path;
    while !rest.is_empty() {
        let wrong = || format!("{path:?} is not a path such as .status.phase");
        let after_dot = rest.strip_prefix('.');
        if let Some(bracket) = after_dot.unwrap_or(rest).strip_prefix('[') {
            let (inside, after) = bracket.split_once(']').ok_or_else(wrong)?;
            let quoted = inside.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            steps.push(match (inside, quoted) {
                ("", _) => Step::Elements,
                (_, Some(name)) => Step::Member(name.to_owned()),
                (index, None) => Step::Element(index.parse().map_err(|_| wrong())?),
            });
            rest = after;
            continue;
        }
        let name = after_dot.ok_or_else(wrong)?;
        if let Some(quoted) = name.strip_prefix('"') {
            let (name, after) = quoted.split_once('"').ok_or_else(wrong)?;
            steps.push(Step::Member(name.to_owned()));
            rest = after;
            continue;
        }
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let (name, after) = name.split_at(name.find(is_end).unwrap_or(name.len()));
        match (name, steps.is_empty() && after.is_empty()) {
            // The whole object.
            ("", true) => {}
            ("", false) => return Err(wrong()),
            (name, _) => steps.push(Step::Member(name.to_owned())),
        }
        rest = after;
    }
    Ok(())
}
