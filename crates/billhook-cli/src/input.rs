//! From the paths on the command line to documents: finding files in directories, reading them,
//! and taking lists apart into their items.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use billhook::{CustomResourceDefinition, MAX_LINE, ManifestError};
use billhook_apimachinery::value::DeepValue;
use billhook_findings::{Source, syntax_help};
use serde_json::Value;

use crate::json;
use crate::options::{is_manifest, is_stdin};
use crate::problem::{Place, Problem, no_objects};
use crate::size::Size;
use crate::watch;

/// The limit that the command line sets.
static LIMIT: OnceLock<Size> = OnceLock::new();

/// Sets the limit of what is read of each file, and of standard input.
pub(crate) fn limit(size: Size) {
    LIMIT.get_or_init(|| size);
}

/// Returns the limit of what is read.
pub(crate) fn max_input() -> Size {
    LIMIT.get().copied().unwrap_or(Size(MAX_LINE))
}

/// Reads a file, up to the limit.
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    watch::note_file(path);
    let file = File::open(path)?;
    // What is known to be too large is not read at all.
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() > max_input().0 as u64 {
        return Err(too_large());
    }
    read_limited(file)
}

/// A source, or what keeps it from being read.
type Text = Result<Arc<Source>, Box<Problem>>;

/// Something to read documents from.
#[derive(Debug)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

/// One object, or any other content of a document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) place: Place,
    pub(crate) value: DeepValue,
    /// Paths of the keys that are written more than once.
    pub(crate) duplicates: Vec<String>,
    /// The text, if it holds nothing but this document.
    pub(crate) body: Option<Arc<Source>>,
}

/// Reads the documents below the paths, in order; a source that cannot be read is a problem in its
/// place.
pub(crate) fn documents(
    paths: &[PathBuf],
) -> impl Iterator<Item = Result<Document, Box<Problem>>> + use<> {
    sources(paths).flat_map(|source| match source.and_then(|source| documents_of(&source)) {
        Ok(documents) => documents.into_iter().map(Ok).collect(),
        Err(problem) => vec![Err(problem)],
    })
}

/// [`documents`] without problems, which are added to others.
pub(crate) fn readable_documents(paths: &[PathBuf], problems: &mut Vec<Problem>) -> Vec<Document> {
    let readable = |found: Result<_, Box<Problem>>| found.map_err(|it| problems.push(*it)).ok();
    documents(paths).filter_map(readable).collect()
}

/// [`documents`] without definitions, beside which manifests are often kept.
pub(crate) fn manifests(
    paths: &[PathBuf],
) -> impl Iterator<Item = Result<Document, Box<Problem>>> + use<> {
    documents(paths).filter(|found| match found {
        Ok(document) => !CustomResourceDefinition::is_definition(&document.value),
        Err(_) => true,
    })
}

/// [`manifests`], of which there must be one.
pub(crate) fn objects(
    paths: &[PathBuf],
) -> impl Iterator<Item = Result<Document, Box<Problem>>> + use<> {
    let mut objects = manifests(paths).peekable();
    let nothing = objects.peek().is_none().then(|| Err(no_objects(paths)));
    objects.chain(nothing)
}

/// Reads the files that the paths stand for, in order.
pub(crate) fn sources(
    paths: &[PathBuf],
) -> impl Iterator<Item = Result<Arc<Source>, Box<Problem>>> + use<> {
    inputs(paths).into_iter().map(|input| input.and_then(|input| input.source()))
}

/// The files that the paths stand for; directories are searched.
pub(crate) fn inputs(paths: &[PathBuf]) -> Vec<Result<Input, Box<Problem>>> {
    inputs_without(paths, |_| false)
}

/// [`inputs`] without files of directories that are excluded.
pub(crate) fn inputs_without(
    paths: &[PathBuf],
    is_excluded: impl Fn(&Path) -> bool,
) -> Vec<Result<Input, Box<Problem>>> {
    let mut sources = Vec::new();
    for path in paths {
        if is_stdin(path) {
            sources.push(Ok(Input::Stdin));
        } else if path.is_dir() {
            let mut found = Vec::new();
            search(path, &mut found);
            if found.is_empty() {
                let place = Place::path(path);
                let message = "no file in this directory ends in .yaml, .yml or .json";
                found.push(Err(Problem::unusable(place, message)));
            }
            found.retain(|found| !matches!(found, Ok(Input::File(file)) if is_excluded(file)));
            sources.extend(found);
        } else {
            sources.push(Ok(Input::file(path)));
        }
    }
    sources
}

/// The files in a directory, of any name.
pub(crate) fn files_in(directory: &Path) -> Result<Vec<PathBuf>, Box<Problem>> {
    let problem = |error: io::Error| Problem::io(Place::path(directory), &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(problem)? {
        files.push(entry.map_err(problem)?.path());
    }
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}

/// The entries of a directory, sorted, and whether they are directories themselves. Links to
/// directories are not: they may lead back.
pub(crate) fn entries(directory: &Path) -> Result<Vec<(PathBuf, bool)>, Box<Problem>> {
    watch::note_directory(directory);
    let entries = fs::read_dir(directory).and_then(|entries| {
        let entry = |entry: io::Result<DirEntry>| {
            let entry = entry?;
            Ok((entry.path(), entry.file_type()?.is_dir()))
        };
        entries.map(entry).collect::<io::Result<Vec<_>>>()
    });
    let mut entries = entries.map_err(|error| Problem::io(Place::path(directory), &error))?;
    entries.sort();
    Ok(entries)
}

fn search(directory: &Path, found: &mut Vec<Result<Input, Box<Problem>>>) {
    let entries = match entries(directory) {
        Ok(entries) => entries,
        Err(problem) => return found.push(Err(problem)),
    };
    for (path, is_directory) in entries {
        if is_directory {
            search(&path, found);
        } else if is_manifest(&path) && path.is_file() {
            found.push(Ok(Input::file(&path)));
        }
    }
}

impl Input {
    /// A file, without the `./` that would make another name of it in reports and baselines.
    fn file(path: &Path) -> Self {
        Input::File(path.strip_prefix(".").unwrap_or(path).to_owned())
    }

    /// Returns the name of the source.
    pub(crate) fn label(&self) -> String {
        match self {
            Input::Stdin => "<stdin>".to_owned(),
            Input::File(path) => path.to_string_lossy().into_owned(),
        }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Input::Stdin => None,
            Input::File(path) => Some(path),
        }
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        match self {
            Input::Stdin => read_limited(io::stdin().lock()),
            Input::File(path) => read_file(path),
        }
    }

    /// Reads the source. Standard input and pipes, which can be read only once, are kept for
    /// later questions.
    pub(crate) fn source(&self) -> Text {
        static KEPT: Mutex<BTreeMap<Option<PathBuf>, Text>> = Mutex::new(BTreeMap::new());
        let is_file = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        if matches!(self, Input::File(path) if is_file(path)) {
            return self.read_source();
        }
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(self.path().map(Path::to_owned)).or_insert_with(|| self.read_source()).clone()
    }

    fn read_source(&self) -> Text {
        let text = self.read().map_err(|error| Problem::io(Place::file(&self.label()), &error))?;
        Ok(Arc::new(match self {
            Input::Stdin => Source::new(self.label(), text),
            Input::File(path) => Source::of_file(path, text),
        }))
    }
}

/// All documents of a source, lists taken apart.
pub(crate) fn documents_of(source: &Arc<Source>) -> Result<Vec<Document>, Box<Problem>> {
    let place = Place { source: Some(source.clone()), ..Place::file(source.name()) };
    let manifests = billhook::read_manifests(source.bytes())
        .map_err(|error| malformed(place.clone(), &error))?;
    let several = manifests.len() > 1 || manifests.iter().any(|found| found.index() > 0);
    let mut documents = Vec::new();
    for manifest in manifests {
        let place = Place { document: Some(manifest.index() + 1), several, ..place.clone() };
        let is_list = manifest.is_list();
        for (index, object) in manifest.into_objects().into_iter().enumerate() {
            let place = Place { item: is_list.then_some(index + 1), ..place.clone() };
            let duplicates = object.duplicates().to_vec();
            let value = object.into_value();
            if !is_own(&value) {
                documents.push(Document { place, value, duplicates, body: None });
            }
        }
    }
    if let [document] = documents.as_mut_slice()
        && !several
        && document.place.item.is_none()
    {
        document.body = Some(source.clone());
    }
    Ok(documents)
}

/// Whether a document is one that this program has written, such as a baseline among manifests.
fn is_own(value: &Value) -> bool {
    value.get("apiVersion").and_then(Value::as_str) == Some(json::API_VERSION)
}

fn read_limited(reader: impl Read) -> io::Result<Vec<u8>> {
    let limit = max_input();
    let mut text = Vec::new();
    reader.take((limit.0 as u64).saturating_add(1)).read_to_end(&mut text)?;
    if text.len() > limit.0 {
        return Err(too_large());
    }
    Ok(text)
}

fn too_large() -> io::Error {
    let message = format!("more than {}; `--max-input` raises the limit", max_input());
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

fn malformed(mut place: Place, error: &ManifestError) -> Box<Problem> {
    place.text = error.place();
    place.document = Some(error.index() + 1);
    place.several = error.index() > 0;
    let mut message = error.to_string();
    if let Some((line, column)) = error.place() {
        message = message.replacen(&format!(" at line {line} column {column}"), "", 1);
    }
    let help = place
        .source
        .as_ref()
        .zip(error.place())
        .and_then(|(source, (line, column))| syntax_help(source, &message, line, column));
    let problem = Problem::unusable(place, message);
    match help {
        Some(help) => problem.help(help),
        None => problem,
    }
}
