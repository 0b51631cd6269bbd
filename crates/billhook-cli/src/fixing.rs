//! `--fix` and `--diff`: safe edits are made in files, or shown.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use billhook_findings::Source;

use crate::files::replace;
use crate::options::is_stdin;
use crate::problem::{Place, Problem, Status};
use crate::report::{self, visible};

/// The lines that are shown before and after those that change.
const CONTEXT: usize = 3;

/// The use of safe edits.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Fixing {
    /// Apply the safe edits of findings to the files; comments and layout stay
    #[arg(long, conflicts_with = "watch")]
    fix: bool,
    /// Print the safe edits of findings as a diff, and nothing else; exit with status 1 if there
    /// are any
    #[arg(long, conflicts_with_all = ["fix", "watch"])]
    pub(crate) diff: bool,
}

/// A text before and after edits.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) before: Arc<Source>,
    pub(crate) after: Arc<Source>,
    /// How many edits there are.
    pub(crate) edits: usize,
}

impl Fixing {
    pub(crate) fn is_wanted(self) -> bool {
        self.fix || self.diff
    }

    /// Refuses to change standard input.
    pub(crate) fn check(self, paths: &[PathBuf]) -> Result<(), &'static str> {
        match self.fix && paths.iter().any(|path| is_stdin(path)) {
            true => Err("`--fix` cannot change standard input; `--diff` shows the edits"),
            false => Ok(()),
        }
    }

    /// Writes or shows a change. The outer error is one of writing the output.
    pub(crate) fn finish(self, change: &Change) -> io::Result<Result<Status, Box<Problem>>> {
        if self.diff {
            print_diff(change)?;
            return Ok(Ok(Status::Changed));
        }
        let (before, name) = (&change.before, change.before.name());
        let path = before.path().unwrap_or(Path::new(name));
        if let Err(error) = replace(path, before.bytes(), change.after.bytes()) {
            return Ok(
                Err(Problem::io(Place::file(name), &error).help("`--diff` shows the edits")),
            );
        }
        let edits = if change.edits == 1 { "edit" } else { "edits" };
        report::note("fixed", &format!("{name}: {} {edits}", change.edits));
        Ok(Ok(Status::Fine))
    }
}

/// Prints a change as a unified diff; for people without characters that a terminal obeys.
fn print_diff(change: &Change) -> io::Result<()> {
    let text = diff(change);
    if !io::stdout().is_terminal() {
        return io::stdout().lock().write_all(text.as_bytes());
    }
    let lines = text.lines().map(|line| visible(&line.replace('\t', "    ")) + "\n");
    report::write(&lines.collect::<String>())
}

/// Edits change lines, but never their number.
fn diff(change: &Change) -> String {
    let lines = |source: &Arc<Source>| {
        source.text().split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>()
    };
    let (before, after) = (lines(&change.before), lines(&change.after));
    let pairs: Vec<(&String, &String)> = before.iter().zip(&after).collect();
    let is_changed = |pair: &(&String, &String)| pair.0 != pair.1;
    let changed = pairs.iter().enumerate().filter(|(_, pair)| is_changed(pair)).map(|(at, _)| at);
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    for at in changed {
        let (start, end) = (at.saturating_sub(CONTEXT), (at + 1 + CONTEXT).min(pairs.len()));
        match hunks.last_mut().filter(|hunk| hunk.end >= start) {
            Some(hunk) => hunk.end = end,
            None => hunks.push(start..end),
        }
    }
    let name = change.before.name();
    let mut out = format!("--- {name}\n+++ {name}\n");
    for hunk in hunks {
        let (first, count) = (hunk.start + 1, hunk.len());
        out.push_str(&format!("@@ -{first},{count} +{first},{count} @@\n"));
        let mut rest = pairs.get(hunk).unwrap_or_default();
        while let Some(first) = rest.first() {
            let same = rest.iter().take_while(|pair| is_changed(pair) == is_changed(first));
            let (run, after) = rest.split_at(same.count());
            rest = after;
            if is_changed(first) {
                run.iter().for_each(|(before, _)| line(&mut out, '-', before));
                run.iter().for_each(|(_, after)| line(&mut out, '+', after));
            } else {
                run.iter().for_each(|(before, _)| line(&mut out, ' ', before));
            }
        }
    }
    out
}

fn line(out: &mut String, mark: char, text: &str) {
    out.push(mark);
    out.push_str(text);
    if !text.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}
