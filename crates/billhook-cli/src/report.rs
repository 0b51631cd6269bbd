//! Text on the terminal: objects on standard output; warnings and errors on standard error, in
//! color where that is a terminal.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use billhook::{FieldError, Status as Answer};
use billhook_apimachinery::print::quote;
pub(crate) use billhook_findings::visible;
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
        clear_progress();
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
    problems.iter().map(problem).max().unwrap_or(Status::Fine)
}

/// Prints a problem; returns its status.
pub(crate) fn problem(problem: &Problem) -> Status {
    let mut lines = problem.message.lines();
    let first = lines.next().unwrap_or_default();
    let mut text = labelled(ERROR, "error", &format!("{}: {first}", problem.place));
    lines.for_each(|line| text.push_str(&format!("  {}\n", visible(line))));
    if let Some(help) = &problem.help {
        text.push_str(&labelled(HELP, " help", help));
    }
    to_stderr(&text);
    problem.status
}

/// Prints a note under a label.
pub(crate) fn note(label: &str, message: &str) {
    to_stderr(&labelled(HELP, label, message));
}

/// Prints a warning.
pub(crate) fn warning(message: &str) {
    to_stderr(&labelled(WARNING, "warning", message));
}

/// Whether the line of the terminal that standard error is at shows progress.
static SHOWS_PROGRESS: AtomicBool = AtomicBool::new(false);

/// Shows progress on the line of a terminal that standard error is at, until anything is printed.
pub(crate) fn progress(text: &str) {
    let _ = io::stderr().lock().write_all(format!("\r\x1b[K{}", visible(text)).as_bytes());
    SHOWS_PROGRESS.store(true, Ordering::Relaxed);
}

/// Clears the line that shows progress. Called before anything is printed on a terminal.
pub(crate) fn clear_progress() {
    if SHOWS_PROGRESS.swap(false, Ordering::Relaxed) {
        let _ = io::stderr().lock().write_all(b"\r\x1b[K");
    }
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

/// `Kind namespace/name`, and which document of its file it is.
pub(crate) fn subject(place: &Place, identity: &Identity) -> String {
    let kind = identity.kind.as_deref().unwrap_or("document");
    let mut text = match (&identity.namespace, &identity.name) {
        (Some(namespace), Some(name)) => format!("{kind} {namespace}/{name}"),
        (None, Some(name)) => format!("{kind} {name}"),
        (_, None) => kind.to_owned(),
    };
    let suffix = Place { text: None, file: String::new(), ..place.clone() }.to_string();
    text.push_str(&suffix);
    text
}

/// Returns an error as people see it. The server shows the user information of a URL.
pub(crate) fn error_text(error: &FieldError) -> String {
    let text = error.to_string();
    match error.bad_value() {
        Some(Value::String(value)) if error.detail().starts_with("user information") => {
            text.replacen(&quote(value), "\"…\"", 1)
        }
        _ => text,
    }
}

/// Prints the answer of a server that refuses an object, as it sends it.
pub(crate) fn answer(answer: Option<&Answer>) -> io::Result<()> {
    let text = answer.map(|answer| billhook::to_json_pretty(&answer.to_value()) + "\n");
    text.map_or(Ok(()), |text| write(&text))
}

/// Prints the answer to an object, or what keeps it from being sent.
pub(crate) fn answer_of(unanswered: Option<&Problem>) -> io::Result<()> {
    if let Some(unusable) = unanswered.filter(|problem| problem.answer.is_none()) {
        problem(unusable);
    }
    answer(unanswered.and_then(|problem| problem.answer.as_deref()))
}

/// Prints the warnings of a server as kubectl shows them.
pub(crate) fn client_warnings(warnings: &[String]) {
    warnings.iter().for_each(|text| to_stderr(&labelled(WARNING, "Warning", text)));
}

/// Prints text on standard output.
pub(crate) fn write(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    clear_progress();
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes to standard error; if that is closed, the text is lost.
pub(crate) fn to_stderr(text: &str) {
    if text.is_empty() {
        return;
    }
    clear_progress();
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
