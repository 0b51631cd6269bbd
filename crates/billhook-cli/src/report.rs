//! Text on the terminal: objects on standard output; warnings and errors on standard error, in
//! color where that is a terminal.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use anstyle::{AnsiColor, Style};
use billhook_apimachinery::print::is_printable;
use serde_json::Value;

use crate::identity::Identity;
use crate::options::Format;
use crate::problem::{Place, Problem, Status};

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const HELP: Style = AnsiColor::Cyan.on_default().bold();
pub(crate) const HEADER: Style = Style::new().bold();

/// Prints objects on standard output, one after the other.
#[derive(Debug)]
pub(crate) struct Objects {
    format: Format,
    /// Whether an object was printed already.
    started: bool,
}

impl Objects {
    pub(crate) fn new(format: Format) -> Self {
        Objects { format, started: false }
    }

    pub(crate) fn print(&mut self, object: &Value) -> io::Result<()> {
        let mut text = match self.format {
            Format::Yaml => billhook::to_yaml(object),
            Format::Json => billhook::to_json_pretty(object),
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

/// Prints problems; returns the worst of their statuses.
pub(crate) fn problems(problems: &[Problem]) -> Status {
    problems.iter().for_each(problem);
    problems.iter().map(|problem| problem.status).max().unwrap_or(Status::Fine)
}

/// Prints a problem.
pub(crate) fn problem(problem: &Problem) {
    let mut text = labelled(ERROR, "error", &format!("{}: {}", problem.place, problem.message));
    if let Some(help) = &problem.help {
        text.push_str(&labelled(HELP, " help", help));
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

pub(crate) fn labelled(style: Style, label: &str, message: &str) -> String {
    format!("{style}{label}:{style:#} {}\n", visible(message))
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
