//! Outcomes for people: objects on standard output; changes, warnings and errors on standard
//! error, in color where that is a terminal.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};
use billhook::{Change, ChangeKind};
use billhook_apimachinery::excerpt;
use billhook_apimachinery::print::is_printable;

use crate::args::{Common, Format};
use crate::problem::{Place, Problem};
use crate::run::{Identity, Outcome};

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const HELP: Style = AnsiColor::Cyan.on_default().bold();
pub(crate) const HEADER: Style = Style::new().bold();
const REASON: Style = Style::new().dimmed();

/// Prints outcomes as they come.
#[derive(Debug)]
pub(crate) struct TextReport {
    format: Format,
    objects: bool,
    changes: bool,
    /// Whether an object was printed already.
    started: bool,
}

impl TextReport {
    pub(crate) fn new(common: &Common) -> Self {
        let format = common.output;
        TextReport { format, objects: !common.check, changes: !common.quiet, started: false }
    }

    pub(crate) fn add(&mut self, outcome: &Outcome) -> io::Result<()> {
        notes(outcome);
        let done = match &outcome.result {
            Ok(done) => done,
            Err(error) => {
                problem(error);
                return Ok(());
            }
        };
        if self.changes {
            let mut text = String::new();
            header(&mut text, outcome, done.changes.len());
            change_lines(&mut text, &done.changes);
            to_stderr(&text);
        }
        if !self.objects {
            return Ok(());
        }
        let mut text = match self.format {
            Format::Yaml => billhook::to_yaml(&done.object),
            Format::Json => billhook::to_json_pretty(&done.object),
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let mut out = io::stdout().lock();
        if self.started && self.format == Format::Yaml {
            out.write_all(b"---\n")?;
        }
        self.started = true;
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// Prints a problem.
pub(crate) fn problem(problem: &Problem) {
    let mut text = labelled(ERROR, "error", &format!("{}: {}", problem.place, problem.message));
    if let Some(help) = &problem.help {
        text.push_str(&labelled(HELP, " help", help));
    }
    to_stderr(&text);
}

/// Prints the warnings that no change line covers.
pub(crate) fn notes(outcome: &Outcome) {
    outcome.notes.iter().for_each(|note| warning(note));
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

/// Prints a warning.
pub(crate) fn warning(message: &str) {
    to_stderr(&labelled(WARNING, "warning", message));
}

/// Overwrites the line of a terminal that standard error is at.
pub(crate) fn progress(text: &str) {
    to_stderr(&format!("\r\x1b[K{text}"));
}

fn labelled(style: Style, label: &str, message: &str) -> String {
    format!("{style}{label}:{style:#} {}\n", visible(message))
}

/// `file (document 2) Kind namespace/name: 3 changes`.
fn header(out: &mut String, outcome: &Outcome, count: usize) {
    let count = match count {
        0 => "no changes".to_owned(),
        1 => "1 change".to_owned(),
        more => format!("{more} changes"),
    };
    title(out, &outcome.place, &outcome.identity, &count);
}

/// `file (document 2) Kind namespace/name: ` and what is to be said.
pub(crate) fn title(out: &mut String, place: &Place, identity: &Identity, text: &str) {
    let mut title = place.to_string();
    if let Some(kind) = &identity.kind {
        title.push_str(&format!(" {kind}"));
    }
    match (&identity.namespace, &identity.name) {
        (Some(namespace), Some(name)) => title.push_str(&format!(" {namespace}/{name}")),
        (None, Some(name)) => title.push_str(&format!(" {name}")),
        (_, None) => {}
    }
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "{HEADER}{}:{HEADER:#} {text}", visible(&title));
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
        let (place, reason) = (visible(&place).replace('\n', "\\n"), visible(&reason));
        let _ = writeln!(
            out,
            "  {style}{label:width$}{style:#}  {place}  {REASON}({reason}){REASON:#}"
        );
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

/// Text of the user's files that cannot move the cursor or change colors; line breaks stay.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || is_printable(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

/// Nobody can be told if standard error is gone.
pub(crate) fn to_stderr(text: &str) {
    if text.is_empty() {
        return;
    }
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
