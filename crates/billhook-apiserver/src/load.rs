//! Objects from files and texts, and all objects as a text.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use billhook::{CustomResourceDefinition, Scope};
use billhook_apimachinery::record::text;
use billhook_apimachinery::value::DeepValue;
use billhook_apimachinery::{Status, split_api_version};
use serde_json::Value;

use crate::catalog::{NAMESPACES, Resource};
use crate::kinds::INITIAL;
use crate::state::Shared;
use crate::storage::{Object, Range, Storage as _};

/// A file or a text that cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {error}")]
pub struct LoadError {
    place: String,
    error: String,
}

impl LoadError {
    fn new(place: &str, error: &dyn Display) -> Self {
        LoadError { place: place.to_owned(), error: error.to_string() }
    }

    /// Returns the file, or the object in a text.
    pub fn place(&self) -> &str {
        &self.place
    }
}

/// An object, and where it comes from.
pub(crate) struct Loaded {
    place: String,
    value: DeepValue,
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

fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), LoadError> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let refused = |error: std::io::Error| LoadError::new(&path.to_string_lossy(), &error);
    let entries = std::fs::read_dir(path).map_err(refused)?;
    let mut entries: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(refused)?;
    entries.sort();
    let has_objects = |entry: &Path| {
        let extension = entry.extension().unwrap_or_default();
        ["yaml", "yml", "json"].iter().any(|known| extension == *known)
    };
    for entry in entries.iter().filter(|entry| entry.is_dir() || has_objects(entry)) {
        find(entry, files)?;
    }
    Ok(())
}

/// Reads the documents of a text.
pub(crate) fn read_text(bytes: &[u8], place: &str) -> Result<Vec<Loaded>, LoadError> {
    let manifests =
        billhook::read_manifests(bytes).map_err(|error| LoadError::new(place, &error))?;
    let objects = manifests.into_iter().map(|manifest| {
        let value = manifest.into_value();
        Loaded { place: place.to_owned(), value }
    });
    Ok(objects.collect())
}

/// The order in which objects are created: what others need comes first.
pub(crate) fn sort(objects: &mut [Loaded]) {
    objects.sort_by_key(|Loaded { value, .. }| {
        let is_namespace = (text(value, "apiVersion"), text(value, "kind")) == ("v1", "Namespace");
        match CustomResourceDefinition::is_definition(value) {
            true => 0,
            false if is_namespace => 1,
            false => 2,
        }
    });
}

impl Loaded {
    /// The path that the object is created at.
    pub(crate) fn path(&self, server: &Shared) -> Result<String, LoadError> {
        let (api_version, kind) = (text(&self.value, "apiVersion"), text(&self.value, "kind"));
        let (group, version) = split_api_version(api_version);
        let catalog = server.catalog();
        let mut resources = catalog.resources();
        let found = resources.find(|resource| {
            let definition = &resource.definition;
            definition.group() == group
                && definition.kind() == kind
                && definition.version(version).is_some_and(|version| version.is_served())
        });
        let Some(Resource { definition, .. }) = found else {
            let error = format!("nothing is served for kind `{kind}` of `{api_version}`");
            return Err(self.refused(&error));
        };
        let root = if group.is_empty() { "api" } else { "apis" };
        let plural = &definition.names().plural;
        if definition.scope() == Scope::Cluster {
            return Ok(format!("/{root}/{api_version}/{plural}"));
        }
        let namespace = self.value.get("metadata").map_or("", |all| text(all, "namespace"));
        let namespace = if namespace.is_empty() { "default" } else { namespace };
        Ok(format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"))
    }

    /// The name of the definition that the object is, if it is one.
    pub(crate) fn definition(&self) -> Option<&str> {
        let is_definition = CustomResourceDefinition::is_definition(&self.value);
        self.value.get("metadata").filter(|_| is_definition).map(|all| text(all, "name"))
    }

    pub(crate) fn body(&self) -> String {
        billhook::to_json(&self.value)
    }

    /// Says that the server refuses the object.
    pub(crate) fn refused(&self, error: &dyn Display) -> LoadError {
        let name = self.value.get("metadata").map_or("", |all| text(all, "name"));
        let place = format!("{}: {} {name}", self.place, text(&self.value, "kind"));
        LoadError::new(&place, error)
    }
}

/// Prints all objects as YAML, but those that every server has.
pub(crate) async fn dump(server: &Arc<Shared>) -> Result<String, Status> {
    let mut documents = Vec::new();
    let mut dumped = BTreeSet::new();
    for resource in server.catalog().resources() {
        if !dumped.insert(resource.collection.clone()) {
            continue;
        }
        let listed = server.storage.list(&resource.collection, Range::default(), None);
        for object in listed.map(|listing| listing.objects).unwrap_or_default() {
            let is_namespace = resource.definition.name() == NAMESPACES;
            if is_namespace && INITIAL.contains(&&*object.key) {
                continue;
            }
            documents.push(document(resource, &object).await?);
        }
    }
    Ok(documents.join("---\n"))
}

/// An object as YAML, without what only says how it came about.
async fn document(resource: &Resource, object: &Object) -> Result<String, Status> {
    let Ok(version) = resource.definition.storage() else { return Ok(String::new()) };
    let mut value = resource.admission.read(version.name(), &resource.stored(object)).await?;
    if let Some(Value::Object(metadata)) = value.get_mut("metadata") {
        for name in ["managedFields", "resourceVersion"] {
            metadata.remove(name).map(DeepValue::from);
        }
    }
    Ok(billhook_yaml::write_document(&value))
}
