//! Measures objects that last, each row beside what the machine itself can do.
//!
//! `billhook-backends DIRECTORY` makes its files in a directory of the disk that is measured and prints
//! a line for each figure. Those of etcd need an `etcd` in the search path.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use billhook_apiserver::etcd::{Etcd, EtcdOptions};
use billhook_apiserver::storage::{
    Backend, Collection, Commit, HistoryLimits, Redb, Storage, Watch, Write,
};
use billhook_benches::server::object;
use billhook_testing::etcd::Etcd as Process;
use tokio::task::JoinSet;

const WRITERS: usize = 64;
const TURN: Duration = Duration::from_secs(3);
const OBJECTS: usize = 1_000_000;
const WATCHERS: usize = 10_000;

#[tokio::main]
async fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("usage: billhook-backends DIRECTORY");
        return ExitCode::from(2);
    };
    file_of_writers(&folder).await;
    etcd_by_hand().await;
    watchers_of_two_servers().await;
    // The last one, for it reads the memory of the process.
    file_of_a_million(&folder).await;
    ExitCode::SUCCESS
}

fn foos() -> Collection {
    Collection::new("example.com", "foos")
}

/// Returns a file that does not exist.
fn fresh(folder: &Path, name: &str) -> PathBuf {
    let file = folder.join(name);
    let _ = std::fs::remove_file(&file);
    file
}

async fn open(backend: impl Backend) -> Storage {
    Storage::open(backend, HistoryLimits::default()).await.unwrap()
}

/// Lets writers write until the time is over. Returns how many writes were acknowledged in a second.
async fn writes_a_second(storage: &Storage, writers: usize, text: &str) -> f64 {
    let begin = Instant::now();
    let mut tasks = JoinSet::new();
    for writer in 0..writers {
        let (storage, text) = (storage.clone(), text.to_owned());
        tasks.spawn(async move {
            let (key, foos) = (format!("default/w{writer}"), foos());
            let mut write = Write::create(text.clone());
            let mut writes = 0_u64;
            while begin.elapsed() < TURN {
                let revision = storage.write(&foos, &key, write).await.unwrap();
                write = Write::replace(revision, text.clone());
                writes += 1;
            }
            writes
        });
    }
    let writes: u64 = tasks.join_all().await.into_iter().sum();
    writes as f64 / begin.elapsed().as_secs_f64()
}

/// Returns how often in a second the disk makes the objects of all writers last, written together.
fn syncs_a_second(folder: &Path, text: &str) -> f64 {
    let file = fresh(folder, "by-hand");
    let mut out = File::create(&file).unwrap();
    let together = text.repeat(WRITERS);
    let (begin, mut syncs) = (Instant::now(), 0_u64);
    while begin.elapsed() < TURN {
        out.write_all(together.as_bytes()).unwrap();
        out.sync_data().unwrap();
        syncs += 1;
    }
    let rate = syncs as f64 / begin.elapsed().as_secs_f64();
    std::fs::remove_file(file).unwrap();
    rate
}

async fn file_of_writers(folder: &Path) {
    let text = object("NAME").to_string();
    let file = fresh(folder, "writers.data");
    let storage = open(Redb::open(&file).unwrap()).await;
    let one = writes_a_second(&storage, 1, &text).await;
    storage.close().await.unwrap();
    drop(storage);
    let file = fresh(folder, "writers.data");
    let storage = open(Redb::open(&file).unwrap()).await;
    let all = writes_a_second(&storage, WRITERS, &text).await;
    storage.close().await.unwrap();
    let syncs = syncs_a_second(folder, &text);
    std::fs::remove_file(file).unwrap();
    println!("file, 1 writer: {one:.0} writes/s");
    println!("file, {WRITERS} writers: {all:.0} writes/s");
    let limit = syncs * WRITERS as f64;
    println!("disk, {WRITERS} objects a sync: {syncs:.0} syncs/s, {limit:.0} objects/s");
    println!("file to disk: {:.2}", all / limit);
}

async fn connect(etcd: &Process) -> Etcd {
    Etcd::open(EtcdOptions::new([etcd.url()])).await.unwrap()
}

/// Writes in turns through a storage and by the bare transaction.
async fn etcd_by_hand() {
    let Some(etcd) = Process::start() else { return };
    let (bare, storage) = (connect(&etcd).await, open(connect(&etcd).await).await);
    let text = object("NAME").to_string();
    let commit = |key: &str, expected| Commit {
        collection: foos(),
        key: key.to_owned(),
        expected,
        text: Some(text.clone().into()),
    };
    let (mut by_hand, mut by_storage) = (Vec::new(), Vec::new());
    let (mut bare_at, mut stored_at) = (None, None);
    for _ in 0..3000 {
        let begin = Instant::now();
        bare_at = Some(bare.commit(commit("default/bare", bare_at)).await.unwrap());
        by_hand.push(begin.elapsed());
        let begin = Instant::now();
        let write = match stored_at {
            Some(revision) => Write::replace(revision, text.clone()),
            None => Write::create(text.clone()),
        };
        stored_at = Some(storage.write(&foos(), "default/stored", write).await.unwrap());
        by_storage.push(begin.elapsed());
    }
    let (by_hand, by_storage) = (median(by_hand), median(by_storage));
    println!("etcd, the bare transaction: {by_hand:.0?}");
    println!("etcd, a write that is visible: {by_storage:.0?}");
    println!("visible to bare: {:.2}", by_storage.as_secs_f64() / by_hand.as_secs_f64());
    let text = object("NAME").to_string();
    println!(
        "etcd, {WRITERS} writers: {:.0} writes/s",
        writes_a_second(&storage, WRITERS, &text).await
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Half of the watchers are at each of two storages over one etcd.
async fn watchers_of_two_servers() {
    let Some(etcd) = Process::start() else { return };
    let storages = [open(connect(&etcd).await).await, open(connect(&etcd).await).await];
    let watches = (0..WATCHERS).map(|number| {
        let storage = &storages[number % storages.len()];
        storage.watch(&foos(), "", storage.revision()).unwrap()
    });
    let watches: Vec<Watch> = watches.collect();
    let text = object("NAME").to_string();
    let writes = 100;
    let mut tasks = JoinSet::new();
    for mut watch in watches {
        tasks.spawn(async move {
            for _ in 0..writes {
                watch.next().await.unwrap();
            }
        });
    }
    let begin = Instant::now();
    for number in 0..writes {
        let key = format!("default/a{number}");
        storages[number % 2].write(&foos(), &key, Write::create(text.clone())).await.unwrap();
    }
    let written = begin.elapsed();
    tasks.join_all().await;
    let seen = begin.elapsed();
    let events = (writes * WATCHERS) as f64 / seen.as_secs_f64();
    println!(
        "{WATCHERS} watchers over two storages: {writes} writes in {written:.1?}, all seen after {seen:.1?}, {events:.0} events/s"
    );
}

async fn file_of_a_million(folder: &Path) {
    let file = fresh(folder, "million.data");
    let backend = Arc::new(Redb::open(&file).unwrap());
    let text = object("NAME").to_string();
    let begin = Instant::now();
    let mut number = 0;
    while number < OBJECTS {
        let mut batch = JoinSet::new();
        for _ in 0..4000 {
            let key = format!("default/a{number:07}");
            let text = Some(text.replacen("NAME", &format!("a{number:07}"), 1).into());
            let commit = Commit { collection: foos(), key, expected: None, text };
            let backend = Arc::clone(&backend);
            batch.spawn(async move { backend.commit(commit).await.unwrap() });
            number += 1;
        }
        batch.join_all().await;
    }
    backend.compact(number as u64).await.unwrap();
    backend.close().await.unwrap();
    drop(backend);
    println!("file, {OBJECTS} objects of {} bytes: written in {:.1?}", text.len(), begin.elapsed());
    let before = resident();
    let begin = Instant::now();
    let storage = open(Redb::open(&file).unwrap()).await;
    let opened = begin.elapsed();
    assert!(storage.get(&foos(), "default/a0999999").is_some());
    let bytes = std::fs::metadata(&file).unwrap().len();
    let memory = resident().saturating_sub(before);
    println!("file of {} MB: open after {opened:.2?}, {memory} MB of memory", bytes >> 20);
    storage.close().await.unwrap();
    std::fs::remove_file(file).unwrap();
}

/// The resident memory of the process in MB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() >> 10
}
