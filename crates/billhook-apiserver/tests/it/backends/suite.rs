//! The duties of every backend.

use std::sync::Arc;

use billhook_apiserver::BoxFuture;
use billhook_apiserver::storage::{
    Advance, Backend, BackendError, Change, Collection, Commit, CommitError, HistoryLimits, Loaded,
    Range, Storage, Write, WriteError,
};
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::faulty::{Faulty, Mode};
use super::log::Log;
use crate::storage::{Operation, agrees_with_model, list_and_watch_agree, operations};

fn run<T>(work: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

async fn open(backend: impl Backend) -> Storage {
    Storage::open(backend, HistoryLimits::default()).await.unwrap()
}

/// Runs operations, then opens the backend again: everything is there, the history included if it has
/// one. `reopen` returns the backend as a new process finds it.
pub(crate) async fn keeps_everything<B: Backend>(
    operations: &[Operation],
    has_history: bool,
    mut reopen: impl AsyncFnMut() -> B,
) {
    let storage = open(reopen().await).await;
    let begin = storage.revision();
    let model = agrees_with_model(&storage, operations).await;
    list_and_watch_agree(&storage, &model, begin);
    storage.close().await.unwrap();
    drop(storage);
    let storage = open(reopen().await).await;
    assert_eq!(storage.revision(), model.newest());
    list_and_watch_agree(&storage, &model, if has_history { begin } else { model.newest() });
}

/// Writers at the same time, each of which counts up in one object: no count is lost, and none is
/// counted twice.
pub(crate) async fn guards_every_write(backend: impl Backend) {
    const WRITERS: u32 = 8;
    const WRITES: u32 = 20;
    let storage = open(backend).await;
    let counters = Collection::new("example.com", "counters");
    let created = storage.write(&counters, "a", Write::create("0")).await.unwrap();
    let fails = storage.write(&counters, "a", Write::create("0")).await;
    assert!(matches!(fails, Err(WriteError::Mismatch(found)) if found.found.is_some()));
    let writers = (0..WRITERS).map(|_| {
        let (storage, counters) = (storage.clone(), counters.clone());
        tokio::spawn(async move {
            let mut count = 0;
            while count < WRITES {
                let stored = storage.get(&counters, "a").unwrap();
                let value: u32 = std::str::from_utf8(&stored.text).unwrap().parse().unwrap();
                let write = Write::replace(stored.modified, (value + 1).to_string());
                match storage.write(&counters, "a", write).await {
                    Ok(revision) => {
                        // What was acknowledged is visible.
                        assert!(storage.revision() >= revision);
                        count += 1;
                    }
                    Err(WriteError::Mismatch(found)) => {
                        assert_ne!(found.found.unwrap().modified, stored.modified);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let text = (WRITERS * WRITES).to_string();
    assert_eq!(storage.get(&counters, "a").unwrap().text, text.as_bytes());
    let mut watch = storage.watch(&counters, "", created).unwrap();
    let mut last = created;
    for _ in 0..WRITERS * WRITES {
        let event = watch.try_next().unwrap().unwrap();
        assert!(event.revision > last);
        assert_eq!(event.before.map(|before| before.modified), Some(last));
        last = event.revision;
    }
    assert_eq!(watch.try_next(), Ok(None));
}

/// Pages at one revision while others write, how many objects they leave out, and an object that is deleted
/// and created anew (ES-41, ES-50).
pub(crate) async fn lists_pages_of_one_revision(backend: impl Backend) {
    let storage = open(backend).await;
    let foos = Collection::new("example.com", "foos");
    for number in 10..35 {
        let key = format!("default/{number}");
        storage.write(&foos, &key, Write::create(number.to_string())).await.unwrap();
    }
    let (at, mut after, mut found) = (storage.revision(), String::new(), Vec::new());
    let writer = {
        let (storage, foos) = (storage.clone(), foos.clone());
        tokio::spawn(async move {
            for number in 10..35 {
                let key = format!("default/{number}");
                let stored = storage.get(&foos, &key).unwrap().modified;
                storage.write(&foos, &key, Write::delete(stored)).await.unwrap();
                storage.write(&foos, &key, Write::create("again")).await.unwrap();
                storage.write(&foos, &format!("other/{number}"), Write::create("")).await.unwrap();
            }
        })
    };
    for remaining in [18, 11, 4, 0] {
        let range = Range::of_prefix("default/").after(&after).limit(7);
        let page = storage.list_at(&foos, range, at).unwrap();
        assert_eq!((page.revision, page.remaining), (at, remaining));
        after = page.objects.last().unwrap().key.to_string();
        found.extend(page.objects.into_iter().map(|object| object.text));
        tokio::task::yield_now().await;
    }
    let expected: Vec<String> = (10..35).map(|number| number.to_string()).collect();
    assert_eq!(found, expected);
    writer.await.unwrap();
    let mut watch = storage.watch(&foos, "default/", at).unwrap();
    for _ in 10..35 {
        let deleted = watch.try_next().unwrap().unwrap();
        let created = watch.try_next().unwrap().unwrap();
        assert_eq!((deleted.after.is_none(), created.before.is_none()), (true, true));
        assert_eq!(deleted.key(), created.key());
        let stored = storage.get(&foos, created.key()).unwrap();
        assert_eq!((stored.created, stored.modified), (created.revision, created.revision));
    }
    // What a compaction has forgotten is neither listed nor watched; the objects stay.
    let objects = storage.list(&foos, Range::default()).objects;
    storage.compact(storage.revision()).await.unwrap();
    assert!(storage.list_at(&foos, Range::default(), at).is_err());
    assert!(storage.watch(&foos, "", at).is_err());
    assert_eq!(storage.list(&foos, Range::default()).objects, objects);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_log_lists_pages_of_one_revision() {
    lists_pages_of_one_revision(Log::of(Vec::new())).await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_log_keeps_everything(operations in operations()) {
        let log = Arc::new(Log::of(Vec::new()));
        run(keeps_everything(&operations, true, async || Arc::clone(&log)));
    }

    /// A fork is in memory: the backend does not know of it.
    #[test]
    fn a_fork_has_no_backend(before in operations(), after in operations()) {
        run(async {
            let log = Arc::new(Log::of(Vec::new()));
            let storage = open(Arc::clone(&log)).await;
            agrees_with_model(&storage, &before).await;
            let written = log.changes_after(0);
            let fork = storage.fork();
            drop(storage);
            for operation in after {
                if let Operation::Write { key, .. } = operation {
                    let collection = Collection::new("example.com", "others");
                    let _ = fork.write(&collection, &key.to_string(), Write::create("{}")).await;
                }
            }
            assert_eq!(log.changes_after(0), written);
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_log_guards_every_write() {
    guards_every_write(Log::of(Vec::new())).await;
}

/// A write that fails is not visible; one whose answer is lost is, when it has come back.
#[tokio::test]
async fn failures_are_distinguished() {
    let backend = Faulty::new();
    let storage = open(Arc::clone(&backend)).await;
    let foos = Collection::new("example.com", "foos");
    backend.set(Mode::Fails);
    let failed = storage.write(&foos, "a", Write::create("{}")).await;
    assert_eq!(failed, Err(WriteError::Failed("the disk is full".to_owned())));
    assert_eq!(storage.get(&foos, "a"), None);
    let mut watch = storage.watch(&foos, "", 0).unwrap();
    backend.set(Mode::LosesAnswers);
    let unknown = storage.write(&foos, "a", Write::create("{}")).await;
    assert_eq!(unknown, Err(WriteError::Unknown("etcdserver: request timed out".to_owned())));
    assert_eq!(watch.next().await.unwrap().key(), "a");
    assert!(storage.get(&foos, "a").is_some());
    backend.set(Mode::Works);
    assert_eq!(storage.write(&foos, "b", Write::create("{}")).await, Ok(2));
}

/// Nothing is visible before it has come back, however it was acknowledged.
#[tokio::test]
async fn what_is_not_written_is_not_visible() {
    let backend = Faulty::new();
    let storage = open(Arc::clone(&backend)).await;
    let foos = Collection::new("example.com", "foos");
    backend.set(Mode::Blocks);
    let write = storage.write(&foos, "a", Write::create("{}"));
    // The client goes away.
    assert!(tokio::time::timeout(std::time::Duration::from_millis(20), write).await.is_err());
    assert_eq!((storage.get(&foos, "a"), storage.revision()), (None, 0));
    backend.set(Mode::Works);
    backend.tells.send_replace(false);
    let mut watch = storage.watch(&foos, "", 0).unwrap();
    let (writer, of) = (storage.clone(), foos.clone());
    let write = tokio::spawn(async move { writer.write(&of, "b", Write::create("{}")).await });
    while backend.newest() == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(storage.list(&foos, Range::default()).objects, []);
    assert_eq!(watch.try_next(), Ok(None));
    backend.tells.send_replace(true);
    assert_eq!(write.await.unwrap(), Ok(1));
    assert_eq!(watch.try_next().unwrap().unwrap().key(), "b");
}

/// A write that a backend acknowledges and does not make never becomes an answer.
#[tokio::test(start_paused = true)]
async fn a_write_that_does_not_come_back_is_unknown() {
    let backend = Faulty::new();
    let storage = open(Arc::clone(&backend)).await;
    let foos = Collection::new("example.com", "foos");
    backend.tells.send_replace(false);
    let unknown = storage.write(&foos, "a", Write::create("{}")).await;
    assert_eq!(unknown, Err(WriteError::Unknown("etcdserver: request timed out".to_owned())));
}

#[tokio::test]
async fn what_is_out_of_order_is_refused() {
    let change = |revision| Change {
        revision,
        created: revision,
        collection: Collection::new("example.com", "foos"),
        key: "a".to_owned(),
        text: Some("{}".into()),
    };
    for (revisions, newest, compacted, expected) in [
        (&[2, 1][..], 2, 0, "revision 1 is out of order"),
        (&[1, 3], 2, 0, "revision 3 is out of order"),
        (&[0], 2, 0, "revision 0 is out of order"),
        (&[1], 2, 3, "the history begins after its end"),
    ] {
        let changes = revisions.iter().map(|revision| change(*revision)).collect();
        let backend = Fixed(Loaded { revision: newest, compacted, changes });
        let refused = Storage::open(backend, HistoryLimits::default()).await.map(drop);
        assert_eq!(refused, Err(BackendError::Failed(expected.to_owned())));
    }
}

/// The objects that the history begins with have no changes.
#[tokio::test]
async fn a_compacted_history_begins_with_its_objects() {
    let foos = Collection::new("example.com", "foos");
    let change = |revision, created, key: &str, text: Option<&'static str>| Change {
        revision,
        created,
        collection: foos.clone(),
        key: key.to_owned(),
        text: text.map(Into::into),
    };
    let changes = vec![
        change(3, 1, "a", Some("a3")),
        change(7, 7, "b", Some("b7")),
        change(9, 1, "a", Some("a9")),
        change(10, 7, "b", None),
    ];
    let loaded = Loaded { revision: 12, compacted: 8, changes };
    let storage = open(Fixed(loaded)).await;
    let texts = |at| {
        let listed = storage.list_at(&foos, Range::default(), at).unwrap().objects;
        listed.into_iter().map(|object| (object.text, object.created)).collect::<Vec<_>>()
    };
    assert_eq!(storage.revision(), 12);
    assert_eq!(texts(8), [("a3".into(), 1), ("b7".into(), 7)]);
    assert_eq!(texts(9), [("a9".into(), 1), ("b7".into(), 7)]);
    assert_eq!(texts(12), [("a9".into(), 1)]);
    assert!(storage.list_at(&foos, Range::default(), 7).is_err());
    assert!(storage.watch(&foos, "", 7).is_err());
    let mut watch = storage.watch(&foos, "", 8).unwrap();
    assert_eq!(watch.try_next().unwrap().unwrap().before.unwrap().text, "a3");
    assert_eq!(watch.try_next().unwrap().unwrap().before.unwrap().text, "b7");
}

/// A backend in which nothing happens.
#[derive(Debug)]
struct Fixed(Loaded);

impl Backend for Fixed {
    fn load(&self) -> BoxFuture<'_, Result<Loaded, BackendError>> {
        let loaded = self.0.clone();
        Box::pin(async { Ok(loaded) })
    }

    fn commit(&self, _: Commit) -> BoxFuture<'_, Result<u64, CommitError>> {
        Box::pin(std::future::pending())
    }

    fn changes(&self, _: u64) -> BoxFuture<'_, Result<Advance, BackendError>> {
        Box::pin(std::future::pending())
    }
}
