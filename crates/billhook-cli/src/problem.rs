//! Problems: their places, messages and exit statuses. A problem belongs to a
//! file, or to a document of it, and never stops the work on other documents.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use billhook::Status as Answer;
use billhook_findings::{Finding, Severity, Source};

/// How a run ended; the worst wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Fine,
    /// With `--check`: an object would change.
    Changed,
    /// Something is not known.
    Undecided,
    /// A server would refuse an object.
    Refused,
    /// Something that was given cannot be used at all.
    Unusable,
}

impl Status {
    /// The end of a run that found this.
    pub(crate) fn of(findings: &[Finding]) -> Self {
        match findings.iter().any(|finding| finding.severity == Severity::Error) {
            true => Status::Refused,
            false => Status::Fine,
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Status::Fine => 0,
            Status::Changed | Status::Refused => 1,
            Status::Unusable => 2,
            Status::Undecided => 3,
        }
    }
}

/// A file, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) file: String,
    /// The number of the document, from 1.
    pub(crate) document: Option<usize>,
    /// Whether the file holds other documents as well.
    pub(crate) several: bool,
    /// The number of the item, from 1, if the document is a list.
    pub(crate) item: Option<usize>,
    /// Line and column, from 1.
    pub(crate) text: Option<(usize, usize)>,
    /// The text of the file.
    pub(crate) source: Option<Arc<Source>>,
}

impl Place {
    pub(crate) fn file(file: &str) -> Self {
        let file = file.to_owned();
        Place { file, document: None, several: false, item: None, text: None, source: None }
    }

    pub(crate) fn path(path: &Path) -> Self {
        Self::file(&path.to_string_lossy())
    }

    /// The place of a field by its dotted path, or of the innermost one around it that is there.
    pub(crate) fn of_field(mut self, dotted: &str) -> Self {
        self.text = self.text.or_else(|| {
            let object = self.of_finding()?;
            let ends = dotted.match_indices(['.', '[']).map(|(end, _)| end).rev();
            let mut paths = std::iter::once(dotted.len()).chain(ends).map(|end| dotted.get(..end));
            let path = paths.find_map(|path| object.resolve(path?))?;
            let span = object.find(&path)?.span;
            let start = span.key.map_or(span.value.start, |key| key.start);
            let position = object.source.position(start);
            Some((position.line, position.column))
        });
        self
    }

    /// The place as findings have it, if the file was read.
    pub(crate) fn of_finding(&self) -> Option<billhook_findings::Place> {
        let source = self.source.clone()?;
        let Some(document) = self.document.and_then(|number| number.checked_sub(1)) else {
            return Some(billhook_findings::Place::file(source));
        };
        let place = billhook_findings::Place::document(source, document);
        Some(match self.item.and_then(|number| number.checked_sub(1)) {
            Some(item) => place.item(item),
            None => place,
        })
    }
}

/// `file:line:column (document 2, item 3)`, without the parts that are not known or not needed.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.text {
            write!(f, ":{line}:{column}")?;
        }
        match (self.document.filter(|_| self.several), self.item) {
            (Some(document), Some(item)) => write!(f, " (document {document}, item {item})"),
            (Some(document), None) => write!(f, " (document {document})"),
            (None, Some(item)) => write!(f, " (item {item})"),
            (None, None) => Ok(()),
        }
    }
}

/// Something that went wrong.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) place: Place,
    pub(crate) status: Status,
    pub(crate) message: String,
    /// The field of the object that it is about.
    pub(crate) field: Option<&'static str>,
    /// Advice for the user.
    pub(crate) help: Option<String>,
    /// The thing that is reported only once, however many objects have the problem.
    pub(crate) once: Option<String>,
    /// The answer of a server that refuses.
    pub(crate) answer: Option<Box<Answer>>,
    /// The unknown and duplicate fields for which a server refuses.
    pub(crate) fields: Vec<String>,
}

impl Problem {
    pub(crate) fn unusable(place: Place, message: impl Into<String>) -> Box<Self> {
        Self::new(place, Status::Unusable, message.into())
    }

    pub(crate) fn refused(place: Place, message: impl Into<String>) -> Box<Self> {
        Self::new(place, Status::Refused, message.into())
    }

    /// A server answers with this.
    pub(crate) fn answered(place: Place, answer: Answer) -> Box<Self> {
        let problem = Self::refused(place, answer.message.as_str());
        Box::new(Problem { answer: Some(Box::new(answer)), ..*problem })
    }

    fn new(place: Place, status: Status, message: String) -> Box<Self> {
        let (field, help, once, answer, fields) = (None, None, None, None, Vec::new());
        Box::new(Problem { place, status, message, field, help, once, answer, fields })
    }

    /// The problem with a field of the object.
    pub(crate) fn field(mut self: Box<Self>, name: &'static str) -> Box<Self> {
        self.field = Some(name);
        self
    }

    /// The end of a run in which this, and of it these findings count: what cannot be used cannot
    /// be ignored.
    pub(crate) fn counted(&self, findings: &[Finding]) -> Status {
        match self.status {
            Status::Unusable => Status::Unusable,
            _ => Status::of(findings),
        }
    }

    /// A file that cannot be read or written.
    pub(crate) fn io(place: Place, error: &io::Error) -> Box<Self> {
        Self::system(place, &error.to_string())
    }

    /// An error that may be one of the system, whose texts begin with a capital and end with a number.
    pub(crate) fn system(place: Place, text: &str) -> Box<Self> {
        let Some((text, _)) = text.split_once(" (os error") else {
            return Self::unusable(place, text);
        };
        let mut chars = text.chars();
        let first = chars.next().map(|c| c.to_ascii_lowercase());
        Self::unusable(place, first.into_iter().chain(chars).collect::<String>())
    }

    /// The unknown and duplicate fields for which strict field validation refuses.
    pub(crate) fn fields(mut self: Box<Self>, fields: &[String]) -> Box<Self> {
        self.fields = fields.to_vec();
        self
    }

    pub(crate) fn once(mut self: Box<Self>, thing: String) -> Box<Self> {
        self.once = Some(thing);
        self
    }

    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }
}

/// Why a run ends before its work is done.
#[derive(Debug)]
pub(crate) enum RunError {
    /// Something that all of it needs cannot be used.
    Problems(Vec<Problem>),
    /// The output cannot be written.
    Output(io::Error),
}

impl From<Box<Problem>> for RunError {
    fn from(problem: Box<Problem>) -> Self {
        RunError::Problems(vec![*problem])
    }
}

impl From<io::Error> for RunError {
    fn from(error: io::Error) -> Self {
        RunError::Output(error)
    }
}

/// A problem with files that hold nothing of what was looked for.
pub(crate) fn nothing(paths: &[PathBuf], message: &str) -> Box<Problem> {
    let name = |path: &PathBuf| match path.to_string_lossy() {
        name if name == "-" => "<stdin>".to_owned(),
        name => name.into_owned(),
    };
    let names: Vec<String> = paths.iter().map(name).collect();
    Problem::unusable(Place::file(&names.join(", ")), message)
}

/// There are no objects in the files.
pub(crate) fn no_objects(paths: &[PathBuf]) -> Box<Problem> {
    nothing(paths, "no objects here").help("CRDs themselves and empty documents do not count")
}
