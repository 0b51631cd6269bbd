//! The smallest manifest of an object.

use billhook_apimachinery::FieldPath;
use billhook_apimachinery::value::{DeepValue, deep_clone, deep_eq, footprint, grow};
use billhook_defaulting::{DefaultBudget, apply_defaults_within};
use billhook_schema::{Edge, Effects, NodeRef};
use serde_json::{Map, Value};

use crate::crd::{CrdVersion, ObjectType};
use crate::decode_options::{DecodeOptions, FieldValidation};
use crate::error::DecodeError;
use crate::validate::remove_server_fields;

/// The annotations in which client-side apply keeps its last configuration, and servers the number of
/// templates that a DaemonSet has had (BK-304).
pub(crate) const BOOKKEEPING: [&str; 2] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.daemonset.template.generation",
];

impl CrdVersion {
    /// Returns the smallest manifest that decodes to the same object: without the fields that a
    /// server removes, and without those that it sets by default.
    ///
    /// # Errors
    ///
    /// If the server refuses the object.
    ///
    /// ```
    /// # use billhook::CustomResourceDefinition;
    /// # use serde_json::json;
    /// # let crd = CustomResourceDefinition::from_value(&json!({
    /// #   "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    /// #   "spec": {"group": "example.com", "scope": "Namespaced",
    /// #     "names": {"plural": "foos", "kind": "Foo"},
    /// #     "versions": [{"name": "v1", "served": true, "storage": true, "schema":
    /// #       {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object",
    /// #         "properties": {"size": {"type": "integer", "default": 1},
    /// #           "color": {"type": "string"}}}}}}}]}}))?;
    /// let v1 = crd.version("v1").unwrap();
    /// let object = json!({"apiVersion": "example.com/v1", "kind": "Foo",
    ///     "spec": {"size": 1, "color": "red", "typo": true}});
    /// assert_eq!(v1.neat(&object)?["spec"], json!({"color": "red"}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn neat(&self, object: &Value) -> Result<DeepValue, DecodeError> {
        let mut neat = DeepValue::from(deep_clone(object));
        let options = DecodeOptions::default().field_validation(FieldValidation::Ignore);
        self.decode_value(&mut neat, &options)?;
        remove_unset_time(&mut neat);
        match self.definition().object_type() {
            Some(object_type) => shrink_type(object_type, self.schema().root(), &mut neat),
            None => shrink(self.schema().root(), &mut neat),
        }
        Ok(neat)
    }

    /// Removes from an object all that servers write and manifests do not have: the status, if it
    /// is a subresource, and the metadata that only a server sets, with `generation`,
    /// `resourceVersion`, `managedFields`, the last configuration of client-side apply and the number
    /// of templates of a DaemonSet.
    pub fn remove_server_state(&self, object: &mut Value) {
        remove_server_fields(object);
        let Value::Object(members) = object else { return };
        if self.has_status_subresource() {
            drop(members.remove("status").map(DeepValue::from));
        }
        if let Some(Value::Object(metadata)) = members.get_mut("metadata") {
            for name in ["generation", "resourceVersion", "managedFields"] {
                drop(metadata.remove(name).map(DeepValue::from));
            }
        }
        for name in BOOKKEEPING {
            drop(take_annotation(object, name).map(DeepValue::from));
        }
    }
}

/// Removes the creation time that old servers write without a value (KV-01): every read sets it
/// again.
fn remove_unset_time(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata")
        && metadata.get("creationTimestamp").is_some_and(Value::is_null)
    {
        metadata.remove("creationTimestamp");
    }
}

/// Removes an annotation.
pub(crate) fn take_annotation(object: &mut Value, name: &str) -> Option<Value> {
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let taken = annotations.remove(name)?;
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    Some(taken)
}

fn shrink_members(node: NodeRef<'_>, members: &mut Map<String, Value>) {
    // These make the object a resource, whatever defaults the schema has for them.
    let is_resource_field =
        |name: &str| node.property(name).is_some_and(|known| known.resource_field().is_some());
    members.retain(|name, member| match node.member(name) {
        _ if is_resource_field(name) => true,
        // Only a property that is absent gets its default (DF-21).
        Some(edge) if node.property(name).is_some() && is_restored(edge, member) => {
            drop(DeepValue::from(member.take()));
            false
        }
        Some(edge) => {
            shrink(edge.node(), member);
            true
        }
        None => true,
    });
}

/// How many fields of an object of a fixed type are tried without: each try reads the object.
const MAX_TRIES: usize = 1_000;

/// Removes the fields that reading the object as its type sets again. Of an object with more than a
/// thousand fields the last ones stay.
fn shrink_type(object_type: &dyn ObjectType, node: NodeRef<'_>, object: &mut DeepValue) {
    let whole = object.clone();
    let is_same = |object: &Value| {
        let mut read = DeepValue::from(deep_clone(object));
        object_type.read(&mut read).is_ok() && deep_eq(&read, &whole)
    };
    let mut without = object.clone();
    let is_default = |name| take_annotation(&mut without, name).is_some() && is_same(&without);
    if BOOKKEEPING.into_iter().any(is_default) {
        *object = without;
    }
    let mut paths = Vec::new();
    fields(node, &whole, &FieldPath::default(), &mut paths);
    let (mut tries, mut removed) = (0, FieldPath::default());
    for path in paths {
        let is_below_removed = !removed.is_empty()
            && path.segments().zip(removed.segments()).all(|(own, removed)| own == removed);
        if is_below_removed || tries >= MAX_TRIES {
            continue;
        }
        tries += 1;
        let pointer = path.to_json_pointer();
        let Some((parent, name)) = pointer.rsplit_once('/') else { continue };
        let name = name.replace("~1", "/").replace("~0", "~");
        let take = |object: &mut DeepValue| {
            let members = object.pointer_mut(parent).and_then(Value::as_object_mut);
            members?.remove_entry(&name)
        };
        let Some((name, value)) = take(object) else { continue };
        if is_same(object) {
            drop(DeepValue::from(value));
            removed = path;
        } else if let Some(Value::Object(members)) = object.pointer_mut(parent) {
            members.insert(name, value);
        }
    }
}

/// Collects the paths of the fields of an object that its schema knows, those of a field after it.
fn fields(node: NodeRef<'_>, value: &Value, path: &FieldPath, paths: &mut Vec<FieldPath>) {
    match value {
        Value::Object(members) => grow(|| {
            for (name, member) in members {
                let Some(edge) = node.member(name).filter(|_| node.property(name).is_some()) else {
                    continue;
                };
                // These make the object a resource.
                if node.property(name).is_some_and(|known| known.resource_field().is_some()) {
                    continue;
                }
                let path = path.clone().name(name);
                paths.push(path.clone());
                fields(edge.node(), member, &path, paths);
            }
        }),
        Value::Array(items) => grow(|| {
            for (index, item) in items.iter().enumerate() {
                fields(node.items().node(), item, &path.clone().index(index), paths);
            }
        }),
        _ => {}
    }
}

fn shrink(node: NodeRef<'_>, value: &mut Value) {
    if !node.can(Effects::DEFAULT) {
        return;
    }
    match value {
        Value::Object(members) => grow(|| shrink_members(node, members)),
        Value::Array(items) => grow(|| {
            items.iter_mut().for_each(|item| shrink(node.items().node(), item));
        }),
        _ => {}
    }
}

/// Whether the default of a place, completed by the defaults below it, is the value there.
fn is_restored(edge: Edge<'_>, value: &Value) -> bool {
    let Some(default) = edge.default() else { return false };
    if !default.is_object() && !default.is_array() {
        return deep_eq(default, value);
    }
    let mut restored = DeepValue::from(deep_clone(default));
    // A default that needs more memory than the value is another one.
    let mut budget = DefaultBudget::of(footprint(value).saturating_mul(4).saturating_add(4096));
    apply_defaults_within(&mut budget, edge.node(), &mut restored, &mut ()).is_ok()
        && deep_eq(&restored, value)
}
