//! The kinds of the server itself beside definitions.

mod policies;

use std::sync::Arc;

use billhook::{CrdOptions, KubernetesVersion};
use billhook_admission::{Chain, KindStrategy, Unreachable};
use billhook_apimachinery::record::Record;
use billhook_apimachinery::split_api_version;
use billhook_decode::{Document, read_json};
use billhook_kinds::Kind;
use bytes::Bytes;

use crate::protobuf;
use crate::resources::Resource;
use crate::storage::StorageForm;

pub(crate) use self::policies::check_types;

/// The kinds whose objects a server of a version stores.
pub(crate) fn served(kubernetes: KubernetesVersion) -> impl Iterator<Item = &'static Kind> {
    let is_served = move |kind: &&Kind| kind.is_stored() && kind.is_served(kubernetes);
    Kind::all().iter().filter(is_served)
}

/// Compiles the resource of a kind for a server of a version.
pub(crate) fn compile(kind: &'static Kind, kubernetes: KubernetesVersion) -> Option<Resource> {
    compiled(kind, kubernetes, false)
}

/// Compiles the resource of a kind for a server that refuses privileged containers.
pub(crate) fn compile_unprivileged(
    kind: &'static Kind,
    kubernetes: KubernetesVersion,
) -> Option<Resource> {
    compiled(kind, kubernetes, true)
}

fn compiled(
    kind: &'static Kind,
    kubernetes: KubernetesVersion,
    refuses_privileged: bool,
) -> Option<Resource> {
    let definition = kind.definition(kubernetes)?;
    let options = CrdOptions::default().kubernetes(kubernetes).built_in(true);
    let resource = Resource::new(&definition, &options, Chain::new(Unreachable)).ok()?;
    let strategy = KindStrategy::new(kind, kubernetes)?.refuse_privileged(refuses_privileged);
    let mut resource = resource.native(Arc::new(strategy), kind);
    resource.form = StorageForm::of(kind);
    if !is_stored_in_json(kind) {
        resource.stored_size = message_size;
    }
    Some(resource)
}

/// Whether the objects of a kind are stored as text: those of the groups of servers (ES-12).
pub(crate) fn is_stored_in_json(kind: &Kind) -> bool {
    ["apiextensions.k8s.io", "apiregistration.k8s.io"].contains(&kind.group)
}

/// Returns how large the message of an object is.
fn message_size(text: &Bytes) -> usize {
    let object = read_json(text).ok().map(Document::into_value);
    let message = object.and_then(|object| protobuf::object(&object, record_of));
    message.map_or(text.len(), |message| message.len())
}

/// Returns the fields of the objects of a kind, or of the bodies of a subresource.
pub(crate) fn record_of(api_version: &str, kind: &str) -> Option<&'static Record> {
    if let Some(kind) = Kind::named(api_version, kind) {
        return kind.record();
    }
    let bodies = Kind::all().iter().flat_map(|kind| kind.subresources).map(|it| &it.body);
    let (group, version) = split_api_version(api_version);
    let mut found =
        bodies.filter(|body| [body.group, body.version, body.kind] == [group, version, kind]);
    found.next()?.record()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kind that cannot be compiled would not be served, and no error would say so.
    #[test]
    fn all_kinds_are_served() {
        for version in KubernetesVersion::ALL {
            for kind in served(version).filter(|kind| kind.kind != "CustomResourceDefinition") {
                assert!(compile(kind, version).is_some(), "{} in {version}", kind.kind);
            }
        }
    }
}
