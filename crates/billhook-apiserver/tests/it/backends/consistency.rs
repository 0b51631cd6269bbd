//! Whether the objects in memory are those of the backend (ES-35).

use std::collections::BTreeMap;
use std::time::Duration;

use billhook_apiserver::BoxFuture;
use billhook_apiserver::storage::{
    Advance, Backend, BackendError, Change, Collection, Commit, CommitError, HistoryLimits, Loaded,
    PastObjects, Range, Revision, Storage, Write, WriteError,
};

use super::Log;

/// A backend that lists all objects as they are, and leaves out some changes.
#[derive(Debug)]
struct Leaky {
    log: Log,
    /// The key whose changes do not come back, though their revisions do.
    lost: &'static str,
}

impl Backend for Leaky {
    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>> {
        self.log.load()
    }

    fn commit(&self, commit: Commit) -> BoxFuture<'_, Result<Revision, CommitError>> {
        self.log.commit(commit)
    }

    fn changes(&self, after: Revision) -> BoxFuture<'_, Result<Advance, BackendError>> {
        Box::pin(async move {
            let mut advance = self.log.changes(after).await?;
            advance.changes.retain(|change| change.key != self.lost);
            Ok(advance)
        })
    }

    fn list_at<'b>(
        &'b self,
        collection: &'b Collection,
        _: Range<'b>,
        at: Revision,
    ) -> BoxFuture<'b, Result<PastObjects, BackendError>> {
        let changes = self.log.changes_after(0).into_iter();
        let until = changes.filter(|it| it.revision <= at && it.collection == *collection);
        let last: BTreeMap<String, Change> = until.map(|it| (it.key.clone(), it)).collect();
        let objects = last.into_values().filter(|it| it.text.is_some()).collect();
        Box::pin(async { Ok(PastObjects { objects, remaining: 0 }) })
    }
}

fn foos() -> Collection {
    Collection::new("example.com", "foos")
}

/// Opens a storage that has written three objects, of which one may be lost.
async fn written(lost: &'static str) -> Storage {
    let backend = Leaky { log: Log::of(Vec::new()), lost };
    let storage = Storage::open(backend, HistoryLimits::default()).await.unwrap();
    for key in ["default/a", "default/b", "default/c"] {
        storage.write(&foos(), key, Write::create("{}")).await.unwrap();
    }
    storage
}

/// ES-35: a difference is found, whichever object is concerned.
#[tokio::test]
async fn differences_are_found() {
    assert_eq!(written("").await.difference_from_backend().await, Ok(None));
    for lost in ["default/a", "default/b", "default/c"] {
        let found = written(lost).await.difference_from_backend().await.unwrap();
        let expected = format!("example.com/foos {lost} is not as the backend has it at 3");
        assert_eq!(found, Some(expected));
    }
    let storage = Storage::open(Log::of(Vec::new()), HistoryLimits::default()).await.unwrap();
    storage.write(&foos(), "a", Write::create("{}")).await.unwrap();
    // A backend that lists no past cannot be compared with.
    let failed = storage.difference_from_backend().await;
    assert_eq!(failed, Err(BackendError::Compacted(1)));
    assert_eq!(Storage::default().difference_from_backend().await, Ok(None));
}

/// ES-35: a server that is built for tests compares by itself, and serves nothing after a difference.
#[tokio::test(start_paused = true)]
async fn servers_under_test_compare() {
    for (lost, is_sound) in [("", true), ("default/b", false)] {
        let storage = written(lost).await;
        tokio::time::sleep(Duration::from_secs(299)).await;
        let written = storage.write(&foos(), "default/d", Write::create("{}")).await;
        assert!(written.is_ok());
        tokio::time::sleep(Duration::from_secs(2)).await;
        let written = storage.write(&foos(), "default/e", Write::create("{}")).await;
        let why = "example.com/foos default/b is not as the backend has it at 4".to_owned();
        let expected = if is_sound { Ok(5) } else { Err(WriteError::Failed(why)) };
        assert_eq!(written, expected);
    }
}
