//! Examples of a definition: manifests in `valid`, which a server accepts, and in `invalid`, which
//! it refuses. A comment `# error: TEXT` in the latter is a part of the error.

use std::path::{Path, PathBuf};

use billhook::DeepValue;
use billhook_findings::{Place, Source};

use crate::files::{self, FileError, FoundDefinition, ReadFile};
use crate::object_case::{Expectation, ExpectedError, ObjectCase};

const VALID: &str = "valid";
const INVALID: &str = "invalid";
/// The start of a comment with a part of the error.
const ERROR: &str = "# error:";

/// Whether a directory has examples.
pub(crate) fn is_examples(directory: &Path) -> bool {
    [VALID, INVALID].iter().any(|name| directory.join(name).is_dir())
}

/// Whether a path is that of one of the two directories.
pub(crate) fn is_part(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == VALID || name == INVALID)
}

/// The definitions in a directory with examples.
pub(crate) fn definitions(
    directory: &Path,
    read: ReadFile,
) -> Result<Vec<FoundDefinition>, FileError> {
    let mut found = Vec::new();
    for (path, is_directory) in files::entries(directory)? {
        let is_wanted = if is_directory {
            !is_part(&path)
        } else {
            files::is_manifest(&path) && path.is_file()
        };
        if is_wanted {
            found.extend(files::definitions_below(&path, read)?);
        }
    }
    found.sort_by(|one, other| one.file().cmp(other.file()));
    Ok(found)
}

/// The cases of a directory with examples, sorted by file, with the places of their objects.
pub(crate) fn cases(
    directory: &Path,
    read: ReadFile,
) -> Result<Vec<(ObjectCase, Place)>, FileError> {
    let mut cases = Vec::new();
    for list in [VALID, INVALID] {
        let below = directory.join(list);
        let paths = if below.is_dir() { files::files_below(&below)? } else { Vec::new() };
        for path in paths {
            let documents = files::documents(&path, read)?;
            let is_only = documents.len() == 1;
            for document in documents {
                let name = name(directory, &path, (!is_only).then_some(&document.place));
                let error = (list == INVALID).then(|| error(&document.place));
                cases.push((case(name, document.value, error), document.place));
            }
        }
    }
    Ok(cases)
}

fn case(name: String, object: DeepValue, error: Option<ExpectedError>) -> ObjectCase {
    let expect = Expectation { error, ..Expectation::default() };
    ObjectCase { name, object, expect: Some(expect), ..ObjectCase::default() }
}

/// The file, and the number of the document if there are several.
fn name(directory: &Path, path: &Path, place: Option<&Place>) -> String {
    let file = path.strip_prefix(directory).map_or_else(|_| path.to_owned(), PathBuf::from);
    let number = place.and_then(|place| place.document).map(|index| index + 1);
    match number {
        Some(number) => format!("{} (document {number})", file.display()),
        None => file.display().to_string(),
    }
}

/// The error that a comment before or in a document names.
fn error(place: &Place) -> ExpectedError {
    let text = text_of(&place.source, place.document.unwrap_or_default());
    let comment = text.lines().find_map(|line| line.split_once(ERROR));
    let text = comment.map(|(_, text)| text.trim().to_owned()).unwrap_or_default();
    ExpectedError { text, ..ExpectedError::default() }
}

/// The text from the end of the document before to the end of a document.
fn text_of(source: &Source, document: usize) -> &str {
    let end = |document: usize| Some(source.spans(document)?.top()?.span().value.end);
    let before = (0..document).rev().find_map(end);
    let text = source.text();
    let after = text.get(before.unwrap_or(0)..).unwrap_or_default();
    // A comment after the last value still belongs to the document.
    let length = end(document).map_or(after.len(), |end| end - before.unwrap_or(0));
    let rest = after.get(length..).unwrap_or_default();
    let rest = rest.split("\n---").next().unwrap_or_default();
    after.get(..length + rest.len()).unwrap_or(after)
}
