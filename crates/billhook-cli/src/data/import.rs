//! `billhook data import`: a data file or an etcd filled with a list of objects, as `export` prints one.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use billhook::{CustomResourceDefinition, DeepValue};
use billhook_apimachinery::split_api_version;
use billhook_apiserver::etcd::{Etcd, EtcdOptions};
use billhook_apiserver::storage::{Backend, Collection, Commit, Redb};
use billhook_kinds::Kind;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use super::runtime;
use crate::etcd::EtcdArgs;
use crate::identity::{Identity, type_meta};
use crate::input::read_file;
use crate::problem::{Place, Problem, RunError, Status};
use crate::report;
use crate::summary::count;

/// How many writes wait for the same sync.
const BATCH: usize = 1_000;

/// A list whose objects are kept as they are written.
#[derive(Deserialize)]
struct List {
    items: Vec<Box<RawValue>>,
}

/// An object of the list.
struct Item {
    place: Place,
    text: Box<RawValue>,
    value: DeepValue,
}

fn items(file: &Path) -> Result<Vec<Item>, Box<Problem>> {
    let text = read_file(file).map_err(|error| Problem::io(Place::path(file), &error))?;
    let list: Result<List, _> = serde_json::from_slice(&text);
    let unusable = |place: &Place, error: &dyn std::fmt::Display| {
        Problem::unusable(place.clone(), error.to_string())
            .help("a list is expected as `billhook data export` prints it")
    };
    let list = list.map_err(|error| unusable(&Place::path(file), &error))?;
    let item = |(index, text): (usize, Box<RawValue>)| {
        let place = Place { item: Some(index + 1), ..Place::path(file) };
        let mut read = billhook::read_manifests(text.get().as_bytes())
            .map_err(|error| unusable(&place, &error))?;
        let value = read.pop().map_or_else(DeepValue::default, |found| found.into_value());
        // The revision is that of the file.
        if value.pointer("/metadata/resourceVersion").is_some() {
            return Err(unusable(&place, &"the object has a resource version"));
        }
        Ok(Item { place, text, value })
    };
    list.items.into_iter().enumerate().map(item).collect()
}

/// The resources of kinds, by group and kind: the plural, and whether objects have a namespace.
struct Resources(BTreeMap<(String, String), (String, bool)>);

impl Resources {
    /// The built-in kinds, and those that definitions among the objects define.
    fn of(items: &[Item]) -> Self {
        let built_in = Kind::all().iter().map(|kind| {
            let key = (kind.group.to_owned(), kind.kind.to_owned());
            (key, (kind.plural.to_owned(), kind.is_namespaced))
        });
        let definitions = items.iter().map(|item| &*item.value);
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
    fn commit(&self, item: &Item) -> Result<Commit, Box<Problem>> {
        let place = &item.place;
        let unusable = |text: String| Problem::unusable(place.clone(), text);
        let identity = Identity::of(&item.value);
        let (api_version, kind) = type_meta(&item.value, &identity, place)?;
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
        let text = Some(item.text.get().to_owned().into());
        Ok(Commit { collection, key, expected: None, text })
    }
}

/// Writes a list of objects into a new file, of which nothing is left if an object cannot be written,
/// or into an empty etcd.
pub(super) fn run(file: Option<&Path>, etcd: &EtcdArgs, list: &Path) -> Result<Status, RunError> {
    let etcd = etcd.options()?;
    if let Some(file) = file.filter(|file| file.exists()) {
        let message = "the file exists; objects are imported into a new one".to_owned();
        return Err(Problem::unusable(Place::path(file), message).into());
    }
    let items = items(list)?;
    let resources = Resources::of(&items);
    let commits: Result<Vec<Commit>, Box<Problem>> =
        items.iter().map(|item| resources.commit(item)).collect();
    let commits = commits?;
    let number = commits.len();
    let (place, written) = match (file, etcd) {
        (Some(file), _) => (Place::path(file), runtime()?.block_on(into_file(file, commits))),
        (None, Some(options)) => {
            (EtcdArgs::place(), runtime()?.block_on(into_etcd(options, commits)))
        }
        // One of them is required.
        (None, None) => return Ok(Status::Fine),
    };
    let name = place.file.clone();
    written.map_err(|message| Problem::unusable(place, message))?;
    report::write(&format!("{name}: {}\n", count(number, "object")))?;
    Ok(Status::Fine)
}

/// The error is a text.
async fn into_file(file: &Path, commits: Vec<Commit>) -> Result<(), String> {
    let written = async {
        let backend = Arc::new(Redb::open(file).map_err(|error| error.to_string())?);
        write(&backend, commits).await?;
        backend.close().await.map_err(|error| error.to_string())
    };
    let written = written.await;
    if written.is_err() {
        let _ = Redb::remove_file(file);
    }
    written
}

/// The error is a text.
async fn into_etcd(options: EtcdOptions, commits: Vec<Commit>) -> Result<(), String> {
    let backend = Arc::new(Etcd::open(options).await.map_err(|error| error.to_string())?);
    let loaded = backend.load().await.map_err(|error| error.to_string())?;
    match loaded.changes.is_empty() {
        true => write(&backend, commits).await,
        false => Err("etcd has objects; objects are imported into an empty one".to_owned()),
    }
}

/// Writes objects in their order, many at a time. The error is a text.
async fn write(backend: &Arc<impl Backend>, commits: Vec<Commit>) -> Result<(), String> {
    let mut commits = commits.into_iter();
    loop {
        let mut batch = JoinSet::new();
        for commit in commits.by_ref().take(BATCH) {
            let backend = Arc::clone(backend);
            batch.spawn(async move {
                let name = format!("{} {}", commit.collection, commit.key);
                backend.commit(commit).await.map_err(|error| format!("{name}: {error}"))
            });
        }
        if batch.is_empty() {
            return Ok(());
        }
        while let Some(done) = batch.join_next().await {
            done.map_err(|error| error.to_string())??;
        }
    }
}
