//! Secrets and ConfigMaps without which containers do not start (CP-113).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::document::list;
use crate::object::Object;
use crate::resource::{CONFIG_MAPS, Resource, SECRETS};
use crate::view::View;

/// The missing objects that a pod waits for.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Why a volume cannot be mounted: no container starts.
    pub(super) volume: Option<String>,
    /// Why the environment of a container cannot be made up, by its name.
    pub(super) containers: BTreeMap<String, String>,
}

/// A kind of object that holds values, and its words in messages.
struct Source {
    resource: &'static Resource,
    /// In lower case.
    name: &'static str,
    /// In messages about a key of one that is mounted.
    key: &'static str,
}

static SECRET: Source = Source { resource: &SECRETS, name: "secret", key: "secret" };
static CONFIG_MAP: Source = Source { resource: &CONFIG_MAPS, name: "configmap", key: "config" };

impl Needs {
    /// Finds what is missing of that which a pod names.
    pub(super) fn of(pod: &Object, view: &View) -> Self {
        let finder = Finder { pod, view };
        let volumes = pod.list("/spec/volumes").iter();
        let mut volumes = volumes.filter_map(|volume| {
            let why = finder.missing_in_volume(volume)?;
            let name = volume.get("name").and_then(Value::as_str).unwrap_or_default();
            Some(format!("MountVolume.SetUp failed for volume \"{name}\" : {why}"))
        });
        let lists = ["/spec/initContainers", "/spec/containers"];
        let containers =
            lists.into_iter().flat_map(|list| pod.list(list)).filter_map(|container| {
                let name = container.get("name")?.as_str()?.to_owned();
                Some((name, finder.missing_in_environment(container)?))
            });
        Needs { volume: volumes.next(), containers: containers.collect() }
    }
}

/// Looks for the objects that a pod names.
struct Finder<'v> {
    pod: &'v Object,
    view: &'v View,
}

impl Finder<'_> {
    fn missing_in_volume(&self, volume: &Value) -> Option<String> {
        if let Some(secret) = volume.get("secret") {
            return self.missing(&SECRET, secret, "secretName");
        }
        if let Some(map) = volume.get("configMap") {
            return self.missing(&CONFIG_MAP, map, "name");
        }
        let sources = list(volume.get("projected")?, "/sources");
        // The volume of the account's token is the cluster's own.
        if sources.iter().any(|source| source.get("serviceAccountToken").is_some()) {
            return None;
        }
        sources.iter().find_map(|source| {
            let of = |name, kind| self.missing(kind, source.get(name)?, "name");
            of("secret", &SECRET).or_else(|| of("configMap", &CONFIG_MAP))
        })
    }

    /// Returns what is missing of an object that is mounted, or of the keys that are.
    fn missing(&self, source: &Source, mounted: &Value, name: &str) -> Option<String> {
        if is_optional(mounted) {
            return None;
        }
        let name = mounted.get(name).and_then(Value::as_str).unwrap_or_default();
        let Some(object) = self.find(source, name) else { return Some(not_found(source, name)) };
        let keys = list(mounted, "/items").iter().filter_map(|item| item.get("key")?.as_str());
        let missing = keys.into_iter().find(|key| !has_key(object, key))?;
        Some(format!("references non-existent {} key: {missing}", source.key))
    }

    fn missing_in_environment(&self, container: &Value) -> Option<String> {
        let of_all = list(container, "/envFrom").iter().find_map(|from| {
            let of = |name, source: &Source| {
                let reference = from.get(name).filter(|it| !is_optional(it))?;
                let name = reference.get("name").and_then(Value::as_str).unwrap_or_default();
                self.find(source, name).is_none().then(|| not_found(source, name))
            };
            of("configMapRef", &CONFIG_MAP).or_else(|| of("secretRef", &SECRET))
        });
        of_all.or_else(|| {
            list(container, "/env").iter().find_map(|variable| {
                let from = variable.get("valueFrom")?;
                let of = |name, source| self.missing_key(source, from.get(name)?);
                of("configMapKeyRef", &CONFIG_MAP).or_else(|| of("secretKeyRef", &SECRET))
            })
        })
    }

    fn missing_key(&self, source: &Source, reference: &Value) -> Option<String> {
        if is_optional(reference) {
            return None;
        }
        let text = |name: &str| reference.get(name).and_then(Value::as_str).unwrap_or_default();
        let (name, key) = (text("name"), text("key"));
        match self.find(source, name) {
            None => Some(not_found(source, name)),
            Some(object) if has_key(object, key) => None,
            Some(_) => {
                let (kind, namespace) = (source.resource.kind, self.pod.namespace());
                Some(format!("couldn't find key {key} in {kind} {namespace}/{name}"))
            }
        }
    }

    fn find(&self, source: &Source, name: &str) -> Option<&Object> {
        let key = [self.pod.namespace(), "/", name].concat();
        self.view.get(source.resource, &key).map(|object| &**object)
    }
}

fn not_found(source: &Source, name: &str) -> String {
    format!("{} \"{name}\" not found", source.name)
}

fn has_key(object: &Object, key: &str) -> bool {
    ["/data", "/binaryData"].iter().any(|data| object.get(data).get(key).is_some())
}

fn is_optional(reference: &Value) -> bool {
    reference.get("optional") == Some(&Value::Bool(true))
}
