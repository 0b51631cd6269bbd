//! `billhook data import`: a data file made of a list of objects, as `export` prints one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use billhook::CustomResourceDefinition;
use billhook_apimachinery::split_api_version;
use billhook_apiserver::storage::{Backend as _, Collection, Commit, Redb};
use billhook_kinds::Kind;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::identity::{Identity, type_meta};
use crate::input::{Document, documents};
use crate::problem::{Place, Problem, RunError, Status};
use crate::report;
use crate::summary::count;

/// How many writes wait for the same sync.
const BATCH: usize = 1_000;

/// The resources of kinds, by group and kind: the plural, and whether objects have a namespace.
struct Resources(BTreeMap<(String, String), (String, bool)>);

impl Resources {
    /// The built-in kinds, and those that definitions among the objects define.
    fn of(documents: &[Document]) -> Self {
        let built_in = Kind::all().iter().map(|kind| {
            let key = (kind.group.to_owned(), kind.kind.to_owned());
            (key, (kind.plural.to_owned(), kind.is_namespaced))
        });
        let definitions = documents.iter().map(|document| &*document.value);
        let definitions =
            definitions.filter(|value| CustomResourceDefinition::is_definition(value));
        let defined = definitions.filter_map(|value| {
            let text = |pointer: &str| value.pointer(pointer)?.as_str().map(str::to_owned);
            let key = (text("/spec/group")?, text("/spec/names/kind")?);
            Some((key, (text("/spec/names/plural")?, text("/spec/scope")? == "Namespaced")))
        });
        Resources(built_in.chain(defined).collect())
    }

    /// The write that creates an object.
    fn commit(&self, document: &Document) -> Result<Commit, Box<Problem>> {
        let place = &document.place;
        let unusable = |text: String| Problem::unusable(place.clone(), text);
        let identity = Identity::of(&document.value);
        let (api_version, kind) = type_meta(&document.value, &identity, place)?;
        let (group, _) = split_api_version(api_version);
        let (plural, is_namespaced) =
            self.0.get(&(group.to_owned(), kind.to_owned())).ok_or_else(|| {
                unusable(format!("no CRD in the list defines `{kind}` of `{api_version}`"))
            })?;
        let name = identity.name.as_deref().filter(|name| !name.is_empty());
        let name = name.ok_or_else(|| unusable("the object has no name".to_owned()))?;
        let key = match (is_namespaced, &identity.namespace) {
            (false, _) => name.to_owned(),
            (true, Some(namespace)) => format!("{namespace}/{name}"),
            (true, None) => return Err(unusable("the object has no namespace".to_owned())),
        };
        let collection = Collection::new(group, plural);
        let text = Some(stored_text(&document.value).into());
        Ok(Commit { collection, key, expected: None, text })
    }
}

/// The text of an object without the revision, which is that of the file.
fn stored_text(object: &Value) -> String {
    let mut object = billhook_apimachinery::value::deep_clone(object);
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    let text = billhook::to_json(&object);
    drop(billhook::DeepValue::from(object));
    text
}

/// Writes a list of objects into a new file. Nothing is left of it if an object cannot be written.
pub(super) fn run(file: &Path, list: &PathBuf) -> Result<Status, RunError> {
    if file.exists() {
        let message = "the file exists; objects are imported into a new one".to_owned();
        return Err(Problem::unusable(Place::path(file), message).into());
    }
    let found: Result<Vec<Document>, Box<Problem>> =
        documents(std::slice::from_ref(list)).collect();
    let documents = found?;
    let resources = Resources::of(&documents);
    let commits: Result<Vec<Commit>, Box<Problem>> =
        documents.iter().map(|document| resources.commit(document)).collect();
    let commits = commits?;
    let number = commits.len();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let written = runtime.block_on(write(file, commits));
    if let Err(message) = written {
        let _ = std::fs::remove_file(file);
        return Err(Problem::unusable(Place::path(file), message).into());
    }
    report::write(&format!("{}: {}\n", file.display(), count(number, "object")))?;
    Ok(Status::Fine)
}

/// Writes objects in their order, many at a time. The error is a text.
async fn write(file: &Path, commits: Vec<Commit>) -> Result<(), String> {
    let backend = std::sync::Arc::new(Redb::open(file).map_err(|error| error.to_string())?);
    let mut commits = commits.into_iter();
    loop {
        let mut batch = JoinSet::new();
        for commit in commits.by_ref().take(BATCH) {
            let backend = std::sync::Arc::clone(&backend);
            batch.spawn(async move {
                let name = format!("{} {}", commit.collection, commit.key);
                backend.commit(commit).await.map_err(|error| format!("{name}: {error}"))
            });
        }
        if batch.is_empty() {
            return backend.close().await.map_err(|error| error.to_string());
        }
        while let Some(done) = batch.join_next().await {
            done.map_err(|error| error.to_string())??;
        }
    }
}
