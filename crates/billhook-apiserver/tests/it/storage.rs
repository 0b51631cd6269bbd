//! The duties of every storage, over memory and over backends: against a model that keeps a list of
//! all events and computes everything from it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use billhook_apiserver::storage::{
    Collection, Event, HistoryLimits, Range, Revision, RevisionError, Storage, Watch, Write,
    WriteError,
};
use futures_util::FutureExt as _;
use proptest::prelude::*;

/// Every event, in order. The revision of an event is its place, counted from that of the storage at
/// the beginning.
pub(crate) struct Model {
    begin: Revision,
    events: Vec<(Collection, String, Option<String>)>,
}

type Contents = BTreeMap<String, (Revision, String)>;

impl Model {
    fn at(&self, collection: &Collection, prefix: &str, revision: Revision) -> Contents {
        let mut contents = Contents::new();
        for (index, (owner, key, text)) in self.events.iter().enumerate() {
            let at = self.begin + index as Revision + 1;
            if at > revision || owner != collection || !key.starts_with(prefix) {
                continue;
            }
            match text {
                Some(text) => contents.insert(key.clone(), (at, text.clone())),
                None => contents.remove(key),
            };
        }
        contents
    }

    pub(crate) fn newest(&self) -> Revision {
        self.begin + self.events.len() as Revision
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// Writes, expecting what is stored, or something else.
    Write { collection: usize, key: usize, text: Option<u8>, is_stale: bool },
    /// Lists at a share of the revisions.
    List { collection: usize, prefix: usize, share: f64, after: usize, limit: usize },
}

const KEYS: [&str; 6] = ["a", "a-b/x", "a/x", "a/y", "b/x", "b/xy"];
const PREFIXES: [&str; 4] = ["", "a/", "b/", "c/"];

pub(crate) fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let write = (0..2usize, 0..KEYS.len(), proptest::option::weighted(0.7, any::<u8>()), 0..8u8)
        .prop_map(|(collection, key, text, stale)| Operation::Write {
            collection,
            key,
            text,
            is_stale: stale == 0,
        });
    let list = (0..2usize, 0..PREFIXES.len(), 0.0..=1.0, 0..KEYS.len(), 0..4usize).prop_map(
        |(collection, prefix, share, after, limit)| Operation::List {
            collection,
            prefix,
            share,
            after,
            limit,
        },
    );
    proptest::collection::vec(prop_oneof![3 => write, 1 => list], 0..60)
}

pub(crate) fn collections() -> [Collection; 2] {
    [Collection::new("example.com", "foos"), Collection::new("example.com", "bars")]
}

/// Runs operations on a storage and on the model, and compares all answers.
pub(crate) async fn agrees_with_model(storage: &Storage, operations: &[Operation]) -> Model {
    let mut model = Model { begin: storage.revision(), events: Vec::new() };
    let collections = collections();
    for operation in operations {
        match operation {
            Operation::Write { collection, key, text, is_stale } => {
                let (collection, key) = (&collections[*collection], KEYS[*key]);
                let stored = model.at(collection, "", model.newest()).remove(key);
                let found = storage.get(collection, key);
                assert_eq!(
                    found.as_ref().map(|found| (found.modified, found.text.to_vec())),
                    stored.clone().map(|(revision, text)| (revision, text.into_bytes())),
                );
                let text = text.map(|byte| byte.to_string());
                let expected = stored.as_ref().map(|(revision, _)| *revision);
                let write = match (expected, &text, is_stale) {
                    (Some(_), Some(text), true) => Write::create(text.clone()),
                    (Some(expected), None, true) => Write::delete(expected + 1000),
                    (Some(expected), Some(text), false) => Write::replace(expected, text.clone()),
                    (Some(expected), None, false) => Write::delete(expected),
                    (None, Some(text), true) => Write::replace(1, text.clone()),
                    (None, None, _) => Write::delete(1),
                    (None, Some(text), false) => Write::create(text.clone()),
                };
                let is_refused = *is_stale || (expected.is_none() && text.is_none());
                match storage.write(collection, key, write).await {
                    Ok(revision) => {
                        assert!(!is_refused);
                        model.events.push((collection.clone(), key.to_owned(), text));
                        assert_eq!(revision, model.newest());
                    }
                    Err(WriteError::Mismatch(mismatch)) => {
                        assert!(is_refused);
                        assert_eq!(mismatch.found, found);
                    }
                    Err(error) => panic!("{error}"),
                }
                assert_eq!(storage.revision(), model.newest());
            }
            Operation::List { collection, prefix, share, after, limit } => {
                let (collection, prefix) = (&collections[*collection], PREFIXES[*prefix]);
                let at = model.begin + (model.events.len() as f64 * share) as Revision;
                let range = Range::of_prefix(prefix).after(KEYS[*after]).limit(*limit);
                let listing = storage.list_at(collection, range, at).unwrap();
                let expected: Vec<_> = model
                    .at(collection, prefix, at)
                    .into_iter()
                    .filter(|(key, _)| key.as_str() > KEYS[*after])
                    .collect();
                let found: Vec<_> = listing.objects.iter().map(contents).collect();
                assert_eq!(found, expected[..expected.len().min(*limit)]);
                assert_eq!(listing.remaining, expected.len().saturating_sub(*limit));
                assert_eq!(listing.revision, at);
                let uncounted = storage.list_at(collection, range.without_count(), at).unwrap();
                assert_eq!(uncounted.objects, listing.objects);
                assert_eq!(uncounted.remaining, listing.remaining.min(1));
            }
        }
    }
    model
}

fn contents(object: &billhook_apiserver::storage::Object) -> (String, (Revision, String)) {
    let text = String::from_utf8(object.text.to_vec()).unwrap();
    (object.key.to_string(), (object.modified, text))
}

/// Everything that a watch returns without waiting.
fn drain(watch: &mut Watch) -> Vec<Event> {
    std::iter::from_fn(|| watch.try_next().unwrap()).collect()
}

fn replay(contents: &mut Contents, event: &Event) {
    match &event.after {
        Some(object) => {
            let (key, value) = self::contents(object);
            contents.insert(key, value);
        }
        None => {
            contents.remove(event.key());
        }
    }
}

/// A list at a revision and the changes after it give the newest state; the history is kept from a
/// revision on.
pub(crate) fn list_and_watch_agree(storage: &Storage, model: &Model, oldest: Revision) {
    for collection in &collections() {
        for prefix in PREFIXES {
            let newest = storage.list(collection, Range::of_prefix(prefix));
            let at_newest =
                storage.list_at(collection, Range::of_prefix(prefix), model.newest()).unwrap();
            assert_eq!(newest, at_newest);
            for revision in oldest..=model.newest() {
                let listing = storage.list_at(collection, Range::of_prefix(prefix), revision);
                let mut state: Contents = listing.unwrap().objects.iter().map(contents).collect();
                let mut watch = storage.watch(collection, prefix, revision).unwrap();
                let mut seen = revision;
                for event in drain(&mut watch) {
                    assert!(event.revision > seen && event.key().starts_with(prefix));
                    seen = event.revision;
                    let before = event.before.as_ref().map(contents);
                    let known = state.get_key_value(event.key());
                    assert_eq!(before, known.map(|(key, value)| (key.clone(), value.clone())));
                    replay(&mut state, &event);
                }
                assert_eq!(state, model.at(collection, prefix, model.newest()));
            }
        }
    }
}

proptest! {
    #[test]
    fn memory_storage_agrees_with_the_model(operations in operations()) {
        let storage = Storage::default();
        let model = now(agrees_with_model(&storage, &operations));
        list_and_watch_agree(&storage, &model, 0);
    }

    /// A fork is a storage like any other, and neither sees the other's writes.
    #[test]
    fn forks_never_see_each_other(
        before in operations(),
        here in operations(),
        there in operations(),
    ) {
        let storage = Storage::default();
        now(agrees_with_model(&storage, &before));
        let state = |storage: &Storage| collections().map(|collection| {
            storage.list(&collection, Range::default()).objects
        });
        let forked = storage.fork();
        let at_fork = state(&storage);
        prop_assert_eq!(&state(&forked), &at_fork);
        write_all(&storage, &here);
        let after = state(&storage);
        prop_assert_eq!(&state(&forked), &at_fork);
        write_all(&forked, &there);
        prop_assert_eq!(&state(&storage), &after);
    }

    /// Revisions that are forgotten are refused, those that are kept are as before.
    #[test]
    fn compaction_forgets_the_past_only(operations in operations(), share in 0.0..=1.0) {
        let storage = Storage::default();
        let model = now(agrees_with_model(&storage, &operations));
        let oldest = (model.newest() as f64 * share) as Revision;
        now(storage.compact(oldest)).unwrap();
        for collection in &collections() {
            for revision in 0..=model.newest() {
                let listing = storage.list_at(collection, Range::default(), revision);
                if revision < oldest {
                    prop_assert_eq!(listing.unwrap_err(), RevisionError::Compacted { oldest });
                    prop_assert!(storage.watch(collection, "", revision).is_err());
                } else {
                    let found: Contents = listing.unwrap().objects.iter().map(contents).collect();
                    prop_assert_eq!(found, model.at(collection, "", revision));
                    prop_assert!(storage.watch(collection, "", revision).is_ok());
                }
            }
        }
    }
}

/// The result of work in memory, which never waits.
fn now<T>(work: impl Future<Output = T>) -> T {
    work.now_or_never().expect("nothing waits")
}

fn write_all(storage: &Storage, operations: &[Operation]) {
    let collections = collections();
    for operation in operations {
        if let Operation::Write { collection, key, text, .. } = operation {
            let (collection, key) = (&collections[*collection], KEYS[*key]);
            let expected = storage.get(collection, key).map(|object| object.modified);
            let write = match (expected, text) {
                (None, None) => continue,
                (None, Some(byte)) => Write::create(byte.to_string()),
                (Some(expected), Some(byte)) => Write::replace(expected, byte.to_string()),
                (Some(expected), None) => Write::delete(expected),
            };
            now(storage.write(collection, key, write)).unwrap();
        }
    }
}

/// Writers on several threads: each write has a revision of its own, and a watch that runs
/// meanwhile sees every one, in order.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_are_ordered_by_revision() {
    const WRITERS: usize = 4;
    const WRITES: usize = 500;
    let storage = Arc::new(Storage::default());
    let [foos, _] = collections();
    let mut watch = storage.watch(&foos, "", 0).unwrap();
    let watching = tokio::spawn(async move {
        let mut events = Vec::new();
        while events.len() < WRITERS * WRITES {
            let next = tokio::time::timeout(Duration::from_secs(60), watch.next());
            events.push(next.await.expect("an event").unwrap());
        }
        events
    });
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (storage, foos) = (Arc::clone(&storage), foos.clone());
            tokio::task::spawn_blocking(move || {
                let mut revisions = Vec::new();
                while revisions.len() < WRITES {
                    let key = KEYS[(writer + revisions.len()) % 3];
                    let expected = storage.get(&foos, key).map(|object| object.modified);
                    let text = format!("{writer}-{}", revisions.len());
                    let write = match expected {
                        Some(expected) => Write::replace(expected, text),
                        None => Write::create(text),
                    };
                    // Somebody else may have been faster.
                    if let Ok(revision) = now(storage.write(&foos, key, write)) {
                        revisions.push(revision);
                    }
                }
                revisions
            })
        })
        .collect();
    let mut revisions = Vec::new();
    for writer in writers {
        let written = writer.await.unwrap();
        assert!(written.is_sorted());
        revisions.extend(written);
    }
    revisions.sort_unstable();
    assert_eq!(revisions, (1..=(WRITERS * WRITES) as Revision).collect::<Vec<_>>());

    let events = watching.await.unwrap();
    assert_eq!(events.iter().map(|event| event.revision).collect::<Vec<_>>(), revisions);
    let mut state = Contents::new();
    for event in &events {
        let before = event.before.as_ref().map(contents);
        let known = state.get_key_value(event.key());
        assert_eq!(before, known.map(|(key, value)| (key.clone(), value.clone())));
        replay(&mut state, event);
    }
    let listed = storage.list(&foos, Range::default()).objects;
    assert_eq!(listed.iter().map(contents).collect::<Contents>(), state);
}

/// A watch that is not read costs nothing; it fails once the history is cut before it.
#[test]
fn a_watch_behind_the_history_is_told() {
    let storage = Storage::with_history(HistoryLimits::new(3, 1 << 20));
    let [foos, bars] = collections();
    let mut watch = storage.watch(&foos, "", 0).unwrap();
    let mut revision = now(storage.write(&foos, "a", Write::create("0"))).unwrap();
    assert_eq!(watch.try_next().unwrap().unwrap().revision, revision);
    for text in ["1", "2", "3"] {
        revision = now(storage.write(&foos, "a", Write::replace(revision, text))).unwrap();
    }
    assert_eq!(drain(&mut watch).len(), 3);
    for text in ["4", "5", "6", "7"] {
        revision = now(storage.write(&foos, "a", Write::replace(revision, text))).unwrap();
    }
    assert_eq!(watch.try_next(), Err(RevisionError::Compacted { oldest: 5 }));
    assert_eq!(
        storage.list_at(&foos, Range::default(), 4).unwrap_err(),
        RevisionError::Compacted { oldest: 5 },
    );
    // The limit is that of each collection.
    assert!(storage.watch(&bars, "", 0).is_ok());
}

/// The history of large objects is bounded by their size.
#[test]
fn the_history_is_bounded_in_bytes() {
    let storage = Storage::with_history(HistoryLimits::new(1000, 2500));
    let [foos, _] = collections();
    let mut revision = now(storage.write(&foos, "a", Write::create(vec![b' '; 1000]))).unwrap();
    for _ in 0..9 {
        let write = Write::replace(revision, vec![b' '; 1000]);
        revision = now(storage.write(&foos, "a", write)).unwrap();
    }
    let oldest = RevisionError::Compacted { oldest: revision - 2 };
    assert_eq!(storage.watch(&foos, "", 1).map(|_| ()).unwrap_err(), oldest);
    assert!(storage.watch(&foos, "", revision - 2).is_ok());
}

/// The limit of bytes is one for all collections: the oldest changes go first, wherever they were.
#[test]
fn the_history_of_all_collections_is_bounded_in_bytes() {
    let storage = Storage::with_history(HistoryLimits::new(1000, 2500));
    let collections: Vec<_> =
        (0..5).map(|index| Collection::new("example.com", &format!("r{index}"))).collect();
    let mut revisions = Vec::new();
    for collection in &collections {
        let created = now(storage.write(collection, "a", Write::create(vec![b' '; 1000]))).unwrap();
        revisions.push(now(storage.write(collection, "a", Write::delete(created))).unwrap());
    }
    let kept: Vec<bool> = std::iter::zip(&collections, &revisions)
        .map(|(collection, deleted)| storage.watch(collection, "", deleted - 1).is_ok())
        .collect();
    assert_eq!(kept, [false, false, false, true, true]);
    assert!(storage.watch(&collections[0], "", revisions[0]).is_ok());
}

#[test]
fn a_revision_of_the_future_can_be_watched_but_not_read() {
    let storage = Storage::default();
    let [foos, _] = collections();
    let mut watch = storage.watch(&foos, "", 2).unwrap();
    let future = storage.list_at(&foos, Range::default(), 2).unwrap_err();
    assert_eq!(future, RevisionError::Future { current: 0 });
    for key in ["a", "b"] {
        now(storage.write(&foos, key, Write::create("{}"))).unwrap();
    }
    assert_eq!(watch.try_next().unwrap(), None);
    now(storage.write(&foos, "c", Write::create("{}"))).unwrap();
    assert_eq!(watch.try_next().unwrap().unwrap().key(), "c");
}

#[tokio::test]
async fn a_watch_does_not_keep_its_storage() {
    let storage = Storage::default();
    let [foos, _] = collections();
    let mut watch = storage.watch(&foos, "", 0).unwrap();
    let waiting = tokio::spawn(async move { watch.next().await });
    tokio::task::yield_now().await;
    drop(storage);
    assert_eq!(waiting.await.unwrap(), Err(RevisionError::Closed));
}
