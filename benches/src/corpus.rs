//! Real definitions and manifests, if they lie beside the project, and those of the fixtures.

use std::path::{Path, PathBuf};

use billhook::{read_manifests, to_json};

/// A definition as text.
pub struct Definition {
    /// The file's name without its ending.
    pub name: String,
    /// As YAML.
    pub yaml: String,
    /// As JSON.
    pub json: String,
}

/// The definitions of the fixtures.
pub fn fixture_definitions() -> Vec<Definition> {
    definitions(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/crds"))
}

/// The definitions of the corpus; none if it is not there.
pub fn corpus_definitions() -> Vec<Definition> {
    corpus().map_or(Vec::new(), |corpus| definitions(&corpus.join("crds")))
}

/// The files of the manifests of the corpus, if it is there: the name of each begins with that of its
/// definition.
pub(crate) fn corpus_objects() -> Option<Vec<PathBuf>> {
    corpus().map(|corpus| files(&corpus.join("objects")))
}

/// A definition as JSON text.
pub(crate) fn yaml_to_json(yaml: &str) -> String {
    to_json(read_manifests(yaml.as_bytes()).unwrap()[0].value())
}

fn definitions(directory: &Path) -> Vec<Definition> {
    let read = |file: PathBuf| {
        let yaml = std::fs::read_to_string(&file).unwrap();
        Definition { name: stem(&file), json: yaml_to_json(&yaml), yaml }
    };
    files(directory).into_iter().map(read).collect()
}

fn corpus() -> Option<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    corpus.is_dir().then_some(corpus)
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The name of a file without its ending.
pub(crate) fn stem(file: &Path) -> String {
    file.file_stem().unwrap().to_string_lossy().into_owned()
}
