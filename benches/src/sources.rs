//! All sources: those of the fixtures, and the manifests of the corpus.

use std::collections::BTreeMap;

use billhook::{DecodeOptions, FieldPath, to_json};
use billhook_yaml::{Document, read_documents_with_spans};

use crate::corpus::{corpus_definitions, corpus_objects, stem};
use crate::input::Kind;
use crate::node::Node;
use crate::source::{Source, fixture_sources};

/// All sources; the last one only if the corpus of real manifests lies beside the project.
pub fn sources() -> Vec<Source> {
    let mut sources = fixture_sources();
    sources.extend(corpus_source());
    sources
}

/// The manifests of the corpus, decoded, so that they are clean.
fn corpus_source() -> Option<Source> {
    let files = corpus_objects()?;
    let mut kinds = BTreeMap::new();
    for definition in corpus_definitions() {
        kinds.insert(definition.name, Kind::versions_of(&definition.json));
    }
    let mut objects = Vec::new();
    for file in files {
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
