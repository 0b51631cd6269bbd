//! Objects of versions that their definition has no more (LC-43).

use billhook_decode::ObjectView;

use crate::resources::Resource;
use crate::storage::{Object, Range, Storage};

/// Returns why an object of a resource cannot be read whose version is gone, if there is one.
pub(crate) fn find_lost(resource: &Resource, storage: &Storage, version: &str) -> Option<String> {
    let definition = &resource.definition;
    if !resource.is_changed || definition.is_converted_by_webhook() {
        return None;
    }
    let versions: Vec<String> =
        definition.versions().map(|version| version.api_version()).collect();
    let is_lost = |object: &&Object| {
        let version = ObjectView::of_checked(&object.text).get("apiVersion");
        let version = version.and_then(|version| version.as_str());
        version.is_some_and(|version| !versions.iter().any(|known| *known == version))
    };
    let listing = storage.list(&resource.collection, Range::default());
    let lost = listing.objects.iter().find(is_lost)?;
    let failure = resource.admission.read_blocking(version, &resource.stored(lost)).err()?;
    Some(failure.message)
}
