//! The file: what it keeps, and what it refuses.

use std::path::{Path, PathBuf};

use billhook_apiserver::Server;
use billhook_apiserver::storage::{
    BackendError, Collection, HistoryLimits, Listing, Range, Redb, RevisionError, Storage, Write,
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

/// Returns the name of the sums beside a file.
fn sums_of(file: &Path) -> PathBuf {
    file.with_extension("sums")
}

/// A closed file with what it holds, and its sums.
struct Closed {
    folder: Folder,
    holds: Listing,
    content: Vec<u8>,
    sums: Vec<u8>,
}

impl Closed {
    async fn new() -> Self {
        let folder = Folder::new();
        let storage = fill(&folder.file(), 20).await;
        let holds = storage.list(&foos(), Range::default());
        storage.close().await.unwrap();
        drop(storage);
        let content = std::fs::read(folder.file()).unwrap();
        let sums = std::fs::read(sums_of(&folder.file())).unwrap();
        Closed { folder, holds, content, sums }
    }

    /// Opens a file with this content, beside such sums. Returns whether it was refused, as it must be
    /// every time, if it does not hold what it held.
    async fn is_refused(&self, content: &[u8], sums: Option<&[u8]>) -> bool {
        let file = self.folder.file();
        std::fs::write(&file, content).unwrap();
        match sums {
            Some(sums) => std::fs::write(sums_of(&file), sums).unwrap(),
            // There may be none: the file before was refused.
            None => drop(std::fs::remove_file(sums_of(&file))),
        }
        let first = self.is_refused_as_it_is().await;
        let second = self.is_refused_as_it_is().await;
        assert!(second || !first, "a file that was refused is opened the second time");
        second
    }

    async fn is_refused_as_it_is(&self) -> bool {
        let Ok(backend) = Redb::with_history(self.folder.file(), 20) else { return true };
        let Ok(storage) = Storage::open(backend, HistoryLimits::default()).await else {
            return true;
        };
        assert_eq!(storage.list(&foos(), Range::default()), self.holds);
        // It may be damaged where only the next write would notice.
        let _ = storage.close().await;
        false
    }
}

/// Whatever byte of a file is damaged: it is refused, or it is one that holds nothing.
#[tokio::test]
async fn a_damaged_file_is_refused_or_whole() {
    let closed = Closed::new().await;
    let whole = &closed.content;
    let used: Vec<usize> =
        whole.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(at, _)| at).collect();
    let header = used.iter().filter(|at| **at < 512);
    let others = used.iter().step_by((used.len() / 60).max(1));
    for sums in [Some(&*closed.sums), None] {
        let mut refused = 0;
        for at in header.clone().chain(others.clone()).copied() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            refused += u32::from(closed.is_refused(&damaged, sums).await);
        }
        assert!(refused > 0);
        for length in [0, 100, 4096, whole.len() / 2, whole.len() - 4096] {
            let cut = &whole[..length];
            std::fs::write(closed.folder.file(), cut).unwrap();
            // An empty file is a new one.
            assert_eq!(Redb::open(closed.folder.file()).is_ok(), length == 0, "{length} bytes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    /// Whatever happens to some bytes anywhere in a file, also of whole pages.
    #[test]
    fn files_with_any_damage_are_refused_or_whole(
        damages in prop::collection::vec((any::<prop::sample::Index>(), 1_u8.., 1..6000_usize), 1..24),
        together in any::<bool>(),
    ) {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let closed = Closed::new().await;
            let mut damaged = closed.content.clone();
            for (at, change, length) in damages {
                if !together {
                    damaged.clone_from(&closed.content);
                }
                let at = at.index(damaged.len());
                let length = if length % 2 == 0 { 1 } else { length };
                damaged[at..].iter_mut().take(length).for_each(|byte| *byte ^= change);
                closed.is_refused(&damaged, Some(&closed.sums)).await;
                closed.is_refused(&damaged, None).await;
            }
        });
    }
}

/// A link that stands where the sums will stand is replaced; what it leads to stays as it is.
#[cfg(unix)]
#[tokio::test]
async fn a_link_in_place_of_the_sums_is_not_followed() {
    let closed = Closed::new().await;
    let (file, other) = (closed.folder.file(), closed.folder.file().with_extension("other"));
    std::fs::write(&other, "precious").unwrap();
    std::fs::remove_file(sums_of(&file)).unwrap();
    std::os::unix::fs::symlink(&other, sums_of(&file)).unwrap();
    let storage = open(&file, 20).await;
    storage.close().await.unwrap();
    drop(storage);
    assert_eq!(std::fs::read(&other).unwrap(), b"precious");
    assert!(sums_of(&file).symlink_metadata().unwrap().is_file());
}

/// The sums only save time: without them, or with wrong ones, a file is opened all the same.
#[tokio::test]
async fn a_file_is_opened_whatever_stands_beside_it() {
    let closed = Closed::new().await;
    let mut sums = closed.sums.clone();
    assert!(!closed.is_refused(&closed.content, None).await);
    assert!(!closed.is_refused(&closed.content, Some(b"")).await);
    assert!(!closed.is_refused(&closed.content, Some(&sums[..sums.len() - 1])).await);
    for at in (0..sums.len()).step_by(97) {
        sums[at] ^= 1;
        assert!(!closed.is_refused(&closed.content, Some(&sums)).await, "at {at}");
        sums[at] ^= 1;
    }
    // Those of the file as it was later, and as it was before.
    let file = closed.folder.file();
    let storage = open(&file, 20).await;
    storage.write(&foos(), "default/later", Write::create("later")).await.unwrap();
    storage.close().await.unwrap();
    drop(storage);
    let (later, sums_of_later) =
        (std::fs::read(&file).unwrap(), std::fs::read(sums_of(&file)).unwrap());
    assert!(!closed.is_refused(&closed.content, Some(&sums_of_later)).await);
    std::fs::write(&file, later).unwrap();
    std::fs::write(sums_of(&file), &closed.sums).unwrap();
    let storage = open(&file, 20).await;
    assert!(storage.get(&foos(), "default/later").is_some());
    // A folder where nothing can be written.
    std::fs::remove_file(sums_of(&file)).unwrap();
    std::fs::create_dir(sums_of(&file)).unwrap();
    storage.close().await.unwrap();
    drop(storage);
    assert!(open(&file, 20).await.get(&foos(), "default/later").is_some());
}

/// Fails unless the sums beside a closed file are those of its pages.
fn check_sums(file: &Path) {
    let (content, sums) = (std::fs::read(file).unwrap(), std::fs::read(sums_of(file)).unwrap());
    let sum = |bytes: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum().to_le_bytes()
    };
    let mut expected = b"bhsums1\n".to_vec();
    expected.extend((content.len() as u64).to_le_bytes());
    expected.extend(content.chunks(4096).flat_map(sum));
    expected.extend(sum(&expected));
    assert!(sums == expected, "the sums are wrong");
}

/// Otherwise every start would check all pages in the way that takes long.
#[tokio::test]
async fn a_closed_file_has_the_sums_of_its_pages() {
    let folder = Folder::new();
    let storage = fill(&folder.file(), 1000).await;
    storage.close().await.unwrap();
    drop(storage);
    check_sums(&folder.file());
    // One of an older release has none; and it grows and shrinks.
    std::fs::remove_file(sums_of(&folder.file())).unwrap();
    for round in 0..3 {
        let storage = open(&folder.file(), 10).await;
        for number in 0..20 {
            let text = "x".repeat(100_000 >> (round * 3));
            let key = format!("default/{round}-{number}");
            storage.write(&foos(), &key, Write::create(text)).await.unwrap();
        }
        storage.close().await.unwrap();
        drop(storage);
        check_sums(&folder.file());
    }
    Redb::check(folder.file()).unwrap();
    check_sums(&folder.file());
    Redb::compact_file(folder.file()).unwrap();
    check_sums(&folder.file());
    Redb::remove_file(folder.file()).unwrap();
    assert!(!folder.file().exists() && !sums_of(&folder.file()).exists());
    assert!(Redb::remove_file(folder.file()).is_err());
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
