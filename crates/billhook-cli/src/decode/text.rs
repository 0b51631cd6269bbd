//! Outcomes as text: objects on standard output; changes, warnings and errors on standard error.

use std::fmt::Write as _;
use std::io;

use anstyle::{AnsiColor, Style};
use billhook::{Change, ChangeKind};
use billhook_apimachinery::excerpt;
use billhook_findings::Finding;

use super::outcome::Outcome;
use crate::args::Common;
use crate::crds::Used;
use crate::findings;
use crate::report::{Objects, WARNING, labelled, problem, title, to_stderr, visible, warning};

const REASON: Style = Style::new().dimmed();

/// The length of the text that is held before it is printed.
const MAX_HELD: usize = 64 << 10;

/// Prints an outcome.
pub(super) fn print(
    objects: &mut Objects,
    outcome: &Outcome<'_>,
    findings: &[Finding],
    common: &Common,
) -> io::Result<()> {
    let done = match &outcome.result {
        Ok(done) => done,
        Err(error) if error.fields.is_empty() => {
            problem(error);
            return Ok(());
        }
        Err(_) => {
            to_stderr(&findings::text(findings));
            return Ok(());
        }
    };
    if !common.quiet {
        let mut text = String::new();
        header(&mut text, outcome, done.changes.len());
        change_lines(&mut text, &done.changes);
        to_stderr(&text);
    }
    if common.check { Ok(()) } else { objects.print(&done.object) }
}

/// Prints the warnings that no change line covers.
pub(super) fn notes(outcome: &Outcome<'_>, used: &mut Used, is_request: bool) {
    outcome.notes(used, is_request).iter().for_each(|note| warning(note));
    let warn = |message: &str| labelled(WARNING, "warning", message);
    let mut text = String::new();
    if outcome.result.is_ok() {
        for path in &outcome.duplicates {
            text.push_str(&warn(&format!(
                "{}: duplicate field `{path}`, the last one counts",
                outcome.place
            )));
        }
    }
    to_stderr(&text);
}

/// `file (document 2) Kind namespace/name: 3 changes`.
fn header(out: &mut String, outcome: &Outcome<'_>, count: usize) {
    let count = match count {
        0 => "no changes".to_owned(),
        1 => "1 change".to_owned(),
        more => format!("{more} changes"),
    };
    title(out, &outcome.place, &outcome.identity, &count);
}

fn change_lines(out: &mut String, changes: &[Change]) {
    let width = changes.iter().map(|change| change.kind().label().len()).max().unwrap_or_default();
    for change in changes {
        let style = style(change.kind());
        let label = change.kind().label();
        let mut place = change.path().to_string();
        match (change.before(), change.after()) {
            (Some(before), Some(after)) => {
                place.push_str(&format!(": {} -> {}", excerpt(before), excerpt(after)));
            }
            (Some(value), None) | (None, Some(value)) => {
                place.push_str(&format!(": {}", excerpt(value)));
            }
            (None, None) => {}
        }
        let mut reason = format!("{}, {}", change.reason().text(), change.reason().rule());
        if !change.schema_path().is_empty() {
            reason.push_str(&format!(", {}", in_schema(&change.schema_path().to_string())));
        }
        let (place, reason) = (visible(&place), visible(&reason));
        let _ = writeln!(
            out,
            "  {style}{label:width$}{style:#}  {place}  {REASON}({reason}){REASON:#}"
        );
        if out.len() > MAX_HELD {
            to_stderr(&std::mem::take(out));
        }
    }
}

/// A path inside a schema without the way to the schema, which is the same on every line.
fn in_schema(path: &str) -> &str {
    match path.split_once(".schema.openAPIV3Schema") {
        Some((_, "")) => "the root of the schema",
        Some((_, inside)) => inside.trim_start_matches('.'),
        None => path,
    }
}

fn style(kind: ChangeKind) -> Style {
    let color = match kind {
        ChangeKind::Pruned | ChangeKind::NullRemoved => AnsiColor::Red,
        ChangeKind::Defaulted => AnsiColor::Green,
        _ => AnsiColor::Yellow,
    };
    color.on_default()
}
