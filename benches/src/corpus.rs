//! Real definitions and manifests, if they lie beside the project, and those of the fixtures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use billhook::{DecodeOptions, FieldPath, read_manifests, to_json};
use billhook_yaml::{Document, read_documents_with_spans};

use crate::input::Kind;
use crate::node::Node;
use crate::source::Source;

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

/// The manifests of the corpus, decoded, so that they are clean.
pub(crate) fn corpus_source() -> Option<Source> {
    let corpus = corpus()?;
    let mut kinds = BTreeMap::new();
    for definition in corpus_definitions() {
        kinds.insert(definition.name, Kind::versions_of(&definition.json));
    }
    let mut objects = Vec::new();
    for file in files(&corpus.join("objects")) {
        let name = stem(&file);
        let kinds = &kinds[name.split("__").next().unwrap()];
        let text = std::fs::read(&file).unwrap();
        // A few are there because a server refuses them, as YAML or as objects.
        let Ok(written) = read_documents_with_spans(&text).remove(0) else { continue };
        let mut value = written.value().clone();
        let api_version = value["apiVersion"].as_str().unwrap_or_default();
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let Some(kind) = kinds.iter().find(|kind| kind.version.name() == version) else { continue };
        if kind.version.decode_value(&mut value, &DecodeOptions::default()).is_err() {
            continue;
        }
        let mut object = Node::parse(to_json(&value).as_bytes());
        order_as_written(&mut object, &FieldPath::default(), &written);
        objects.push((kind.clone(), object));
    }
    assert!(objects.len() > 500, "only {} manifests of the corpus decode", objects.len());
    Some(Source::new("corpus", objects))
}

/// Members that decoding added come last.
fn order_as_written(node: &mut Node, path: &FieldPath, written: &Document) {
    match node {
        Node::Scalar(_) => {}
        Node::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                order_as_written(item, &path.clone().index(index), written);
            }
        }
        Node::Object(members) => {
            members.sort_by_cached_key(|(name, _)| {
                let span = written.spans().and_then(|spans| spans.find(&path.clone().name(name)));
                span.and_then(|span| span.key).map_or(usize::MAX, |key| key.start)
            });
            for (name, member) in members {
                order_as_written(member, &path.clone().name(&**name), written);
            }
        }
    }
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

fn stem(file: &Path) -> String {
    file.file_stem().unwrap().to_string_lossy().into_owned()
}
