//! Processes that are killed while they write: everything that was acknowledged is in the file
//! afterwards, and nothing that was not asked for.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use billhook_apiserver::storage::{Collection, HistoryLimits, Redb, Storage, Write};

use super::file::Folder;

/// The variable with the file of the process that is killed.
const FILE: &str = "BILLHOOK_TEST_FILE";

/// How often a process is killed; more often with this variable.
const KILLS: &str = "BILLHOOK_KILLS";

const WRITERS: usize = 8;

fn foos() -> Collection {
    Collection::new("example.com", "foos")
}

/// Every third write of a writer deletes its object; otherwise its text is the number of the write.
fn is_deletion(number: u64) -> bool {
    number % 3 == 2
}

/// Returns the number of the last change of each writer, and checks that none is left out.
async fn last_numbers(storage: &Storage, begin: u64) -> BTreeMap<String, u64> {
    let mut numbers = BTreeMap::new();
    let mut watch = storage.watch(&foos(), "", begin).unwrap();
    while let Some(event) = watch.try_next().unwrap() {
        let text = |text: &[u8]| std::str::from_utf8(text).unwrap().parse::<u64>().unwrap();
        let number = match (&event.before, &event.after) {
            (_, Some(after)) => text(&after.text),
            (before, None) => text(&before.as_ref().unwrap().text) + 1,
        };
        assert_eq!(event.after.is_none(), is_deletion(number));
        let before = numbers.insert(event.key().to_owned(), number);
        assert!(before.is_none_or(|before| before + 1 == number), "{before:?}, then {number}");
    }
    numbers
}

/// The process that is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn child() {
    // By itself it does nothing: `run_and_kill` gives it a file.
    let Ok(file) = std::env::var(FILE) else { return };
    let begin = Redb::check(&file).map_or(0, |report| report.compacted);
    let backend = Redb::with_history(&file, 2000).unwrap();
    let storage = Storage::open(backend, HistoryLimits::default()).await.unwrap();
    let known = last_numbers(&storage, begin).await;
    let writers = (0..WRITERS).map(|writer| {
        let storage = storage.clone();
        let key = format!("w{writer}");
        let mut number = known.get(&key).map_or(0, |number| number + 1);
        tokio::spawn(async move {
            while number < u64::MAX {
                let stored = storage.get(&foos(), &key).map(|stored| stored.modified);
                let write = match stored {
                    None => Write::create(number.to_string()),
                    Some(stored) if is_deletion(number) => Write::delete(stored),
                    Some(stored) => Write::replace(stored, number.to_string()),
                };
                let revision = storage.write(&foos(), &key, write).await.unwrap();
                let line = format!("acknowledged {key} {number} {revision}\n");
                std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
                number += 1;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

/// Runs the child until it has acknowledged so many writes. Returns the last ones of each writer.
fn run_and_kill(file: &std::path::Path, writes: usize) -> BTreeMap<String, (u64, u64)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["backends::kills::child", "--exact", "--nocapture"])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = BTreeMap::new();
    let mut count = 0;
    for line in lines {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        if let ["acknowledged", key, number, revision] = words[..] {
            let numbers = (number.parse().unwrap(), revision.parse().unwrap());
            acknowledged.insert(key.to_owned(), numbers);
            count += 1;
            if count == writes {
                child.kill().unwrap();
            }
        }
    }
    child.wait().unwrap();
    assert!(count >= writes, "it was killed, and did not fail");
    acknowledged
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let kills = std::env::var(KILLS).map_or(4, |kills| kills.parse().unwrap());
    let folder = Folder::new();
    let mut random = u64::from(std::process::id());
    for kill in 0..kills {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let acknowledged = run_and_kill(&folder.file(), 1 + (random >> 33) as usize % 400);
        let backend = Redb::with_history(folder.file(), 2000).unwrap();
        let storage = Storage::open(backend, HistoryLimits::default()).await.unwrap();
        let newest = storage.revision();
        storage.close().await.unwrap();
        drop(storage);
        let report = Redb::check(folder.file()).unwrap();
        let backend = Redb::with_history(folder.file(), 2000).unwrap();
        let storage = Storage::open(backend, HistoryLimits::default()).await.unwrap();
        assert_eq!(report.revision, newest);
        let found = last_numbers(&storage, report.compacted).await;
        for (key, (number, revision)) in acknowledged {
            let last = found[&key];
            // The write after it may have been made; its acknowledgement was lost.
            assert!(
                last == number || last == number + 1,
                "kill {kill}: {key} {number}, found {last}"
            );
            assert!(revision <= newest);
        }
        storage.close().await.unwrap();
    }
}
