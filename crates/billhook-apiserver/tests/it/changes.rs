//! Following all objects of a storage.

use billhook_apiserver::storage::{
    Batch, Collection, HistoryLimits, RevisionError, Storage, Write,
};

fn collections() -> [Collection; 2] {
    [Collection::new("", "pods"), Collection::new("apps", "deployments")]
}

fn keys(batch: &Batch) -> Vec<String> {
    match batch {
        Batch::Objects(all) => {
            let keys = all.iter().flat_map(|(_, objects)| objects);
            keys.map(|object| format!("={}", object.key)).collect()
        }
        Batch::Events(events) => events
            .iter()
            .map(|(name, event)| format!("{name} {} {}", event.revision, event.key()))
            .collect(),
    }
}

/// All objects come first, then the changes of all collections in the order of revisions.
#[tokio::test]
async fn changes_of_all_collections_come_in_order() {
    let ([pods, deployments], storage) = (collections(), Storage::default());
    let first = storage.write(&pods, "default/a", Write::create("{}")).await.unwrap();
    let mut changes = storage.changes();
    assert_eq!(keys(&changes.read().unwrap()), ["=default/a"]);
    assert_eq!(keys(&changes.read().unwrap()), [""; 0]);
    storage.write(&deployments, "default/d", Write::create("{}")).await.unwrap();
    storage.write(&pods, "default/a", Write::delete(first)).await.unwrap();
    changes.changed().await.unwrap();
    let expected = ["apps/deployments 2 default/d", "/pods 3 default/a"];
    assert_eq!(keys(&changes.read().unwrap()), expected);
}

/// Where changes are forgotten, all objects come again.
#[tokio::test]
async fn forgotten_changes_begin_again() {
    let ([pods, _], storage) = (collections(), Storage::with_history(HistoryLimits::new(2, 1000)));
    let mut changes = storage.changes();
    changes.read().unwrap();
    for name in ["a", "b", "c"] {
        storage.write(&pods, name, Write::create("{}")).await.unwrap();
    }
    assert_eq!(keys(&changes.read().unwrap()), ["=a", "=b", "=c"]);
    storage.write(&pods, "d", Write::create("{}")).await.unwrap();
    assert_eq!(keys(&changes.read().unwrap()), ["/pods 4 d"]);
    storage.compact(4).await.unwrap();
    storage.write(&pods, "e", Write::create("{}")).await.unwrap();
    assert_eq!(keys(&changes.read().unwrap()), ["/pods 5 e"]);
}

/// They do not keep the storage alive.
#[tokio::test]
async fn a_storage_that_is_gone_ends_changes() {
    let storage = Storage::default();
    let mut changes = storage.changes();
    drop(storage);
    assert_eq!(changes.changed().await, Err(RevisionError::Closed));
    assert_eq!(changes.read(), Err(RevisionError::Closed));
}
