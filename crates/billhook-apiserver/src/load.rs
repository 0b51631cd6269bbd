//! Objects from files and texts, and all objects as a text.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use billhook::{CustomResourceDefinition, Manifest, Scope};
use billhook_apimachinery::namespace::is_namespace;
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::{DeepValue, deep_clone};
use billhook_apimachinery::{Status, split_api_version};
use billhook_kinds::InitialObject;
use serde_json::Value;

use crate::controllers::BEGUN_WITH;
use crate::namespaces::{INITIAL, NAMESPACES};
use crate::resources::Resource;
use crate::shared::Shared;
use crate::storage::{Object, Range};

/// A file or a text that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {error}")]
pub struct LoadError {
    place: String,
    error: String,
}

impl LoadError {
    pub(crate) fn new(place: &str, error: &dyn Display) -> Self {
        LoadError { place: place.to_owned(), error: error.to_string() }
    }

    /// Returns the file, or the object in a text.
    pub fn place(&self) -> &str {
        &self.place
    }
}

/// Why an object could not be created.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct CreateError {
    index: usize,
    why: Why,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Why {
    #[error("`{0}` is missing")]
    Untyped(&'static str),
    #[error("nothing is served for kind `{kind}` of `{api_version}`")]
    NotServed { api_version: String, kind: String },
    #[error("{0}")]
    Refused(Status),
}

impl CreateError {
    pub(crate) fn new(index: usize, why: Why) -> Self {
        CreateError { index, why }
    }

    /// Returns the place of the object among those that were to be created, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the answer of the server; `None` if the object has no kind, or one that is not served.
    pub fn status(&self) -> Option<&Status> {
        match &self.why {
            Why::Untyped(_) | Why::NotServed { .. } => None,
            Why::Refused(status) => Some(status),
        }
    }
}

/// An object, and where it comes from.
pub(crate) struct Loaded {
    place: String,
    pub(crate) value: DeepValue,
}

/// Reads a file, or all files of a directory and those in it: `.yaml`, `.yml` and `.json`.
pub(crate) fn read_path(path: &Path) -> Result<Vec<Loaded>, LoadError> {
    let mut files = Vec::new();
    find(path, &mut files)?;
    let mut objects = Vec::new();
    for file in files {
        let place = file.to_string_lossy();
        let bytes = std::fs::read(&file).map_err(|error| LoadError::new(&place, &error))?;
        objects.extend(read_text(&bytes, &place)?);
    }
    Ok(objects)
}

/// Finds the files of a directory. Links to directories are not followed: they may lead back.
fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), LoadError> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let refused = |error: std::io::Error| LoadError::new(&path.to_string_lossy(), &error);
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        entries.push((entry.path(), entry.file_type().map_err(refused)?.is_dir()));
    }
    entries.sort();
    let has_objects = |entry: &Path| {
        let extension = entry.extension().unwrap_or_default();
        ["yaml", "yml", "json"].iter().any(|known| extension == *known)
    };
    for (entry, is_directory) in entries {
        if is_directory {
            find(&entry, files)?;
        } else if has_objects(&entry) && entry.is_file() {
            files.push(entry);
        }
    }
    Ok(())
}

/// Reads the documents of a text; lists are taken apart.
pub(crate) fn read_text(bytes: &[u8], place: &str) -> Result<Vec<Loaded>, LoadError> {
    let manifests =
        billhook::read_manifests(bytes).map_err(|error| LoadError::new(place, &error))?;
    let objects = manifests.into_iter().flat_map(Manifest::into_objects);
    let objects =
        objects.map(|object| Loaded { place: place.to_owned(), value: object.into_value() });
    Ok(objects.collect())
}

/// The place of an object in the order in which objects are created: what others need comes first.
pub(crate) fn rank(object: &Value) -> u8 {
    match CustomResourceDefinition::is_definition(object) {
        true => 0,
        false if is_namespace(object) => 1,
        false if text(object, "kind") == "ServiceAccount" => 2,
        false => 3,
    }
}

/// The path that an object is created at.
pub(crate) fn path(server: &Shared, object: &Value) -> Result<String, Why> {
    let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
    for (field, value) in [("apiVersion", api_version), ("kind", kind)] {
        if value.is_empty() {
            return Err(Why::Untyped(field));
        }
    }
    let (group, version) = split_api_version(api_version);
    let catalog = server.catalog();
    let Some(Resource { definition, .. }) = catalog.serving(group, version, kind) else {
        let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
        return Err(Why::NotServed { api_version, kind });
    };
    let root = if group.is_empty() { "api" } else { "apis" };
    let plural = &definition.names().plural;
    if definition.scope() == Scope::Cluster {
        return Ok(format!("/{root}/{api_version}/{plural}"));
    }
    let namespace = match metadata(object, "namespace") {
        "" => "default",
        namespace => namespace,
    };
    Ok(format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"))
}

/// Returns a copy of an object without the resource version that it had on another server, if it
/// has one.
pub(crate) fn without_revision(object: &Value) -> Option<DeepValue> {
    object.get("metadata")?.get("resourceVersion")?;
    let mut object = DeepValue::from(deep_clone(object));
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    metadata.remove("resourceVersion").map(DeepValue::from);
    Some(object)
}

/// A text in the metadata of an object; empty if absent.
pub(crate) fn metadata<'o>(object: &'o Value, name: &str) -> &'o str {
    object.get("metadata").map_or("", |all| text(all, name))
}

impl Loaded {
    /// Says that the object could not be created.
    pub(crate) fn failed(&self, error: &CreateError) -> LoadError {
        let (kind, name) = (text(&self.value, "kind"), metadata(&self.value, "name"));
        let named = format!("{kind} {name}");
        LoadError::new(&format!("{}: {}", self.place, named.trim()), error)
    }
}

/// Prints all objects as YAML, but those that every server has.
pub(crate) async fn dump(server: &Arc<Shared>) -> Result<String, Status> {
    let mut documents = Vec::new();
    let mut dumped = BTreeSet::new();
    let initial: BTreeSet<_> = match server.settings.bootstraps {
        true => {
            InitialObject::all(server.settings.kubernetes).map(place_of).chain(BEGUN_WITH).collect()
        }
        false => BTreeSet::new(),
    };
    let address = server.settings.service_ranges.first_address();
    let own_address = ("networking.k8s.io", "ipaddresses", &*address);
    for listed in server.catalog().resources() {
        let collection = listed.collection();
        if !dumped.insert(collection.clone()) {
            continue;
        }
        let listing = server.storage.list(&collection, Range::default());
        for object in listing.objects {
            let resource = listed.resource().ok_or_else(|| not_compiled(listed.kind()))?;
            let is_namespace = resource.definition.name() == NAMESPACES;
            let (group, plural) = collection.parts();
            let place = (group, plural, &*object.key);
            if is_namespace && INITIAL.contains(&&*object.key)
                || initial.contains(&place)
                || server.settings.bootstraps && place == own_address
            {
                continue;
            }
            documents.push(document(resource, &object).await?);
        }
    }
    Ok(documents.join("---\n"))
}

/// The group, the resource and the key of an object that a cluster begins with.
fn place_of(object: &InitialObject) -> (&str, &str, &str) {
    (object.group, object.plural, object.key)
}

fn not_compiled(kind: &str) -> Status {
    Status::internal_error(&format!("the kind {kind} cannot be served"))
}

/// An object as YAML, without what only says how it came about.
async fn document(resource: &Resource, object: &Object) -> Result<String, Status> {
    let version = resource.definition.storage();
    let version = version.map_err(|error| Status::internal_error(&error.to_string()))?;
    let mut value = resource.admission.read(version.name(), &resource.stored(object)).await?;
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        for name in ["managedFields", "resourceVersion"] {
            metadata.remove(name).map(DeepValue::from);
        }
    }
    Ok(billhook_yaml::write_document(&value))
}
