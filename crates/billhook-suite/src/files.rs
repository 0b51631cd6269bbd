//! Files with documents.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use billhook::{CustomResourceDefinition, DeepValue, ManifestError};
use billhook_findings::{Place, Source};
use billhook_schema::{SchemaView, WrittenVersion};
use serde_json::Value;

/// A definition that suites are run against.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundDefinition {
    /// Where it is written.
    pub place: Place,
    /// The document.
    pub value: DeepValue,
}

impl FoundDefinition {
    /// Creates one from a document and its place.
    pub fn new(place: Place, value: DeepValue) -> Self {
        FoundDefinition { place, value }
    }

    /// Returns the name of the file.
    pub fn file(&self) -> &str {
        self.place.source.name()
    }

    /// The schema of a version.
    pub(crate) fn schema(&self, version: &str) -> Option<SchemaView<'_>> {
        WrittenVersion::named(&self.value, version)?.schema
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.value.pointer("/metadata/name").and_then(Value::as_str)
    }
}

/// A file or directory that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be read.
    #[error("{}: {error}", path.display())]
    #[non_exhaustive]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        #[source]
        error: io::Error,
    },
    /// It is neither YAML nor JSON.
    #[error("{}: {error}", path.display())]
    #[non_exhaustive]
    Manifest {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        error: ManifestError,
    },
}

/// Reads a file, such as [`std::fs::read`].
pub type ReadFile = fn(&Path) -> io::Result<Vec<u8>>;

pub(crate) fn read(path: &Path, read: ReadFile) -> Result<Arc<Source>, FileError> {
    let text = read(path).map_err(|error| io_error(path, error))?;
    Ok(Arc::new(Source::new(path.to_string_lossy(), text)))
}

fn io_error(path: &Path, error: io::Error) -> FileError {
    FileError::Io { path: path.to_owned(), error }
}

/// The documents of a file, lists taken apart.
pub(crate) fn documents(
    path: &Path,
    read_file: ReadFile,
) -> Result<Vec<FoundDefinition>, FileError> {
    let source = read(path, read_file)?;
    let read = billhook::read_manifests(source.bytes())
        .map_err(|error| FileError::Manifest { path: path.to_owned(), error })?;
    let objects = |manifest: billhook::Manifest| {
        let place = Place::document(source.clone(), manifest.index());
        let is_list = manifest.is_list();
        let objects = manifest.into_objects().into_iter().enumerate();
        objects.map(move |(index, object)| {
            let place = if is_list { place.clone().item(index) } else { place.clone() };
            FoundDefinition { place, value: object.into_value() }
        })
    };
    Ok(read.into_iter().flat_map(objects).collect())
}

/// The documents of a file, or of all YAML and JSON files below a directory, sorted by file.
pub(crate) fn documents_below(
    path: &Path,
    read_file: ReadFile,
) -> Result<Vec<FoundDefinition>, FileError> {
    if !path.is_dir() {
        return documents(path, read_file);
    }
    let files = files_below(path)?;
    let documents: Result<Vec<_>, FileError> =
        files.iter().map(|file| documents(file, read_file)).collect();
    Ok(documents?.into_iter().flatten().collect())
}

/// The definitions of a file or directory.
pub(crate) fn definitions_below(
    path: &Path,
    read_file: ReadFile,
) -> Result<Vec<FoundDefinition>, FileError> {
    let mut found = documents_below(path, read_file)?;
    found.retain(|document| CustomResourceDefinition::is_definition(&document.value));
    Ok(found)
}

/// The YAML and JSON files below a directory, sorted. Links to directories are not followed.
pub(crate) fn files_below(directory: &Path) -> Result<Vec<PathBuf>, FileError> {
    let (mut files, mut open) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = open.pop() {
        for (path, is_directory) in entries(&directory)? {
            if is_directory {
                open.push(path);
            } else if is_manifest(&path) && path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The entries of a directory, and whether they are directories themselves.
pub(crate) fn entries(directory: &Path) -> Result<Vec<(PathBuf, bool)>, FileError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| io_error(directory, error))? {
        let entry = entry.map_err(|error| io_error(directory, error))?;
        let type_ = entry.file_type().map_err(|error| io_error(directory, error))?;
        found.push((entry.path(), type_.is_dir()));
    }
    Ok(found)
}

pub(crate) fn is_manifest(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["yaml", "yml", "json"].iter().any(|known| extension == *known)
}

/// A file that a suite names.
pub(crate) fn beside(suite: &Path, name: &str) -> PathBuf {
    let directory = suite.parent().unwrap_or(Path::new(""));
    let joined = directory.join(name);
    // Without steps back, unless they lead through a link.
    let mut short = PathBuf::new();
    for step in joined.components() {
        match step {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(short.components().next_back(), Some(Component::Normal(_))) =>
            {
                short.pop();
            }
            step => short.push(step),
        }
    }
    let same = short.canonicalize().ok() == joined.canonicalize().ok();
    if same && !short.as_os_str().is_empty() { short } else { joined }
}
