//! The file: what it keeps, and what it refuses.

use std::path::{Path, PathBuf};

use billhook_apiserver::Server;
use billhook_apiserver::storage::{
    BackendError, Collection, HistoryLimits, Range, Redb, RevisionError, Storage, Write,
};
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::suite::{guards_every_write, keeps_everything, lists_pages_of_one_revision};
use crate::storage::operations;

/// A folder for a test, which goes with it.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("billhook-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&folder).unwrap();
        Folder(folder)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.0.join("data")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn open(path: &Path, history: u64) -> Storage {
    let backend = Redb::with_history(path, history).unwrap();
    Storage::open(backend, HistoryLimits::default()).await.unwrap()
}

fn foos() -> Collection {
    Collection::new("example.com", "foos")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_file_lists_pages_of_one_revision() {
    let folder = Folder::new();
    lists_pages_of_one_revision(Redb::open(folder.file()).unwrap()).await;
}

/// Writes objects, each of them several times.
async fn fill(path: &Path, history: u64) -> Storage {
    let storage = open(path, history).await;
    for number in 0..60_u64 {
        let key = format!("default/{}", number % 7);
        let stored = storage.get(&foos(), &key).map(|stored| stored.modified);
        let text = format!("{number} {}", "x".repeat(number as usize * 20));
        let write = match stored {
            None => Write::create(text),
            Some(stored) if number % 5 == 0 => Write::delete(stored),
            Some(stored) => Write::replace(stored, text),
        };
        assert_eq!(storage.write(&foos(), &key, write).await, Ok(number + 1));
    }
    storage
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn a_file_keeps_everything(operations in operations()) {
        let folder = Folder::new();
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let file = folder.file();
        runtime.block_on(keeps_everything(&operations, true, async || Redb::open(&file).unwrap()));
        Redb::check(&file).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_file_guards_every_write() {
    let folder = Folder::new();
    guards_every_write(Redb::open(folder.file()).unwrap()).await;
}

/// ES-50: the history is bounded, the objects stay, and watches go on from what is kept.
#[tokio::test]
async fn a_file_forgets_the_past_only() {
    for history in [0, 1, 10, 1000] {
        let folder = Folder::new();
        let storage = fill(&folder.file(), history).await;
        let before = storage.list(&foos(), Range::default());
        storage.close().await.unwrap();
        drop(storage);
        let report = Redb::check(folder.file()).unwrap();
        assert_eq!((report.revision, report.compacted), (60, 60 - history.min(60)));
        assert_eq!(report.objects, before.objects.len() as u64);
        let storage = open(&folder.file(), history).await;
        assert_eq!(storage.list(&foos(), Range::default()), before);
        let kept = storage.list_at(&foos(), Range::default(), report.compacted).unwrap();
        let mut keys: Vec<_> = kept.objects.iter().map(|object| object.key.clone()).collect();
        let mut watch = storage.watch(&foos(), "", report.compacted).unwrap();
        let mut events = 0;
        while let Some(event) = watch.try_next().unwrap() {
            events += 1;
            keys.retain(|key| **key != *event.key());
            keys.extend(event.after.map(|object| object.key));
        }
        keys.sort();
        let newest: Vec<_> = before.objects.iter().map(|object| object.key.clone()).collect();
        assert_eq!((events, keys), (history.min(60), newest));
        if report.compacted > 0 {
            let oldest = RevisionError::Compacted { oldest: report.compacted };
            assert_eq!(storage.watch(&foos(), "", report.compacted - 1).map(drop), Err(oldest));
        }
    }
}

/// ES-50: a compaction lasts, and gives space back.
#[tokio::test]
async fn a_compaction_lasts() {
    let folder = Folder::new();
    let storage = fill(&folder.file(), 1000).await;
    storage.compact(50).await.unwrap();
    storage.compact(40).await.unwrap();
    assert_eq!(storage.write(&foos(), "default/x", Write::create("{}")).await, Ok(61));
    storage.close().await.unwrap();
    let refused = storage.write(&foos(), "default/y", Write::create("{}")).await;
    assert!(refused.is_err(), "the file is closed");
    drop(storage);
    let report = Redb::check(folder.file()).unwrap();
    assert_eq!((report.format, report.revision, report.compacted), (1, 61, 50));
    Redb::compact_file(folder.file()).unwrap();
    assert_eq!(Redb::check(folder.file()).unwrap(), report);
}

#[tokio::test]
async fn a_file_is_open_once() {
    let folder = Folder::new();
    let first = Redb::open(folder.file()).unwrap();
    let message = "the data file is open in another process".to_owned();
    assert_eq!(Redb::open(folder.file()).map(drop), Err(BackendError::Failed(message)));
    drop(first);
    Redb::open(folder.file()).unwrap();
}

#[tokio::test]
async fn a_file_that_is_something_else_is_refused() {
    let folder = Folder::new();
    for content in ["kind: List\n".repeat(1000), "x".to_owned()] {
        std::fs::write(folder.file(), &content).unwrap();
        let message = "the file is not a data file of billhook, or damaged".to_owned();
        assert_eq!(Redb::open(folder.file()).map(drop), Err(BackendError::Failed(message)));
        assert_eq!(std::fs::read_to_string(folder.file()).unwrap(), content, "it stays as it is");
    }
    let other = folder.file().with_extension("redb");
    drop(redb::Database::create(&other).unwrap());
    let message = "the file is not a data file of billhook".to_owned();
    assert_eq!(Redb::open(&other).map(drop), Err(BackendError::Failed(message)));
    assert!(Redb::check(folder.file().with_extension("none")).is_err());
    assert!(!folder.file().with_extension("none").exists());
}

#[tokio::test]
async fn a_file_of_a_newer_release_is_refused() {
    let folder = Folder::new();
    drop(Redb::open(folder.file()).unwrap());
    let database = redb::Database::open(folder.file()).unwrap();
    let writing = database.begin_write().unwrap();
    let numbers = redb::TableDefinition::<&str, u64>::new("billhook");
    writing.open_table(numbers).unwrap().insert("format", 2).unwrap();
    writing.commit().unwrap();
    drop(database);
    let message =
        "the data file has format 2, and this release reads format 1: use a newer release";
    assert_eq!(Redb::open(folder.file()).map(drop), Err(BackendError::Failed(message.to_owned())));
}

/// Whatever byte of a file is damaged: it is refused, or it is one that holds nothing.
#[tokio::test]
async fn a_damaged_file_is_refused_or_whole() {
    let folder = Folder::new();
    let storage = fill(&folder.file(), 20).await;
    let before = storage.list(&foos(), Range::default());
    storage.close().await.unwrap();
    drop(storage);
    let whole = std::fs::read(folder.file()).unwrap();
    let used: Vec<usize> =
        whole.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(at, _)| at).collect();
    let header = used.iter().filter(|at| **at < 512);
    let others = used.iter().step_by((used.len() / 60).max(1));
    let mut refused = 0;
    for at in header.chain(others).copied() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        std::fs::write(folder.file(), &damaged).unwrap();
        match Redb::with_history(folder.file(), 20) {
            Err(_) => refused += 1,
            Ok(backend) => match Storage::open(backend, HistoryLimits::default()).await {
                Err(_) => refused += 1,
                Ok(storage) => {
                    assert_eq!(storage.list(&foos(), Range::default()), before, "at {at}");
                    // It may be damaged where only the next write would notice.
                    let _ = storage.close().await;
                }
            },
        }
    }
    assert!(refused > 0);
    for length in [0, 100, 4096, whole.len() / 2, whole.len() - 4096] {
        std::fs::write(folder.file(), &whole[..length]).unwrap();
        // An empty file is a new one.
        assert_eq!(Redb::open(folder.file()).is_ok(), length == 0, "{length} bytes");
    }
}

#[tokio::test]
async fn what_a_server_has_answered_is_exported() {
    let folder = Folder::new();
    let backend = Redb::open(folder.file()).unwrap();
    let server = Server::builder().backend(backend).build().await.unwrap();
    server.load_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}").await.unwrap();
    server.close().await.unwrap();
    drop(server);
    let exported = Redb::export(folder.file()).unwrap();
    let maps = exported.iter().find(|(collection, _)| collection.to_string() == "/configmaps");
    let (_, objects) = maps.unwrap();
    assert_eq!(objects.iter().map(|object| &*object.key).collect::<Vec<_>>(), ["default/a"]);
}
