//! Repeated keys (RP-20).

use std::fmt;
use std::sync::Arc;

use billhook_apimachinery::{FieldPath, Segment};

/// A key that occurs once more in its mapping. The last value counts.
#[derive(Clone)]
pub struct Duplicate {
    key: Box<str>,
    line: usize,
    step: Arc<Step>,
}

impl Duplicate {
    pub(crate) fn new(key: String, line: usize, step: Step) -> Self {
        Duplicate { key: key.into(), line, step: Arc::new(step) }
    }

    /// Returns the key as the server prints it: a string in quotes, anything else bare.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the line the server names, from 1: that of the value after the repeated key.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the member that is set more than once.
    pub fn path(&self) -> FieldPath {
        let mut segments = Vec::new();
        let mut step = Some(&self.step);
        while let Some(current) = step {
            segments.push(match &current.part {
                Part::Name(name) => Segment::Name(name),
                Part::Index(index) => Segment::Index(*index),
            });
            step = current.parent.as_ref();
        }
        segments.into_iter().rev().collect()
    }
}

impl fmt::Debug for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Duplicate");
        out.field("key", &self.key).field("line", &self.line).field("path", &self.path()).finish()
    }
}

impl PartialEq for Duplicate {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.line == other.line && self.path() == other.path()
    }
}

const HEADING: &str = "yaml: unmarshal errors:";

/// Returns the text of the entry the server makes of the repeated keys of a document (RP-20);
/// `None` if no key is repeated.
pub fn strict_error_text(duplicates: &[Duplicate]) -> Option<String> {
    if duplicates.is_empty() {
        return None;
    }
    let mut text = HEADING.to_owned();
    for Duplicate { key, line, .. } in duplicates {
        text.push_str(&format!("\n  line {line}: key {key} already set in map"));
    }
    Some(text)
}

/// Returns the warnings that the server makes of an entry of field validation: one for each
/// repeated key of [`strict_error_text`], the entry itself otherwise (RP-22).
pub fn warnings(entry: &str) -> impl Iterator<Item = &str> {
    let lines = entry.strip_prefix(HEADING).map(|lines| lines.lines().map(str::trim));
    let whole = lines.is_none().then_some(entry);
    lines.into_iter().flatten().filter(|line| !line.is_empty()).chain(whole)
}

/// A step of a path that shares the steps above it with other paths.
pub(crate) struct Step {
    parent: Option<Arc<Step>>,
    part: Part,
}

/// A part of a mapping or a list.
pub(crate) enum Part {
    Name(String),
    Index(usize),
}

impl Step {
    pub(crate) fn new(parent: Option<Arc<Step>>, part: Part) -> Self {
        Step { parent, part }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(mut step) = next.and_then(Arc::into_inner) {
            next = step.parent.take();
        }
    }
}
