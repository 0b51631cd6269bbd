//! Whether the objects in memory are those of the backend (ES-35).

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::backend::{Backend, BackendError};
use super::durable::Durable;
use super::shared::{Shared, State};
use super::{Object, Range};

/// How often a server that is built for tests compares.
const INTERVAL: Duration = Duration::from_secs(300);

/// Returns a difference between a state and what the backend lists at its revision, if there is one.
pub(super) async fn difference(
    backend: &dyn Backend,
    state: &State,
) -> Result<Option<String>, BackendError> {
    let revision = state.revision;
    for (collection, objects) in state.objects() {
        let listed = backend.list_at(&collection, Range::default(), revision).await?;
        let listed = listed.objects.into_iter().filter_map(Object::of_change);
        let mut listed: BTreeMap<Arc<str>, Object> =
            listed.map(|object| (Arc::clone(&object.key), object)).collect();
        let mut is_listed = |object: &Object| {
            let listed = listed.remove(&object.key);
            listed.is_some_and(|it| it.modified == object.modified && it.text == object.text)
        };
        let differing = objects.iter().find(|object| !is_listed(object));
        if let Some(key) = differing.map(|it| &it.key).or(listed.keys().next()) {
            let text = format!("{collection} {key} is not as the backend has it at {revision}");
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// Compares at every interval, as long as the storage is there. After a difference nothing is served any
/// more.
pub(super) async fn run(shared: Weak<Shared>, durable: Weak<Durable>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        let Some((shared, durable)) = shared.upgrade().zip(durable.upgrade()) else { return };
        // What cannot be listed is compared the next time.
        if let Ok(Some(why)) = difference(durable.backend(), &shared.state()).await {
            durable.give_up(why);
        }
    }
}
