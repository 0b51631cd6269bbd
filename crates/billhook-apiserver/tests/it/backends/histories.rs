//! Clients that work at the same time, over every backend: their histories are checked; and the
//! checker finds what it is to find.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use billhook_apiserver::storage::{
    Collection, HistoryLimits, Range, Revision, Storage, Watch, Write, WriteError,
};

use super::checker::{Change, Operation, Outcome, Step, check};
use super::faulty::{Faulty, Mode};

/// How many operations each history has; more with this variable.
const OPERATIONS: &str = "BILLHOOK_OPERATIONS";

const CLIENTS: u64 = 8;

fn foos() -> Collection {
    Collection::new("example.com", "foos")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Everything that a watch has to report, and the revision up to which that is everything: at least
/// one that was visible already.
fn drain(watch: &mut Watch, visible: Revision) -> (Vec<Change>, Revision) {
    let mut changes = Vec::new();
    while let Some(event) = watch.try_next().unwrap() {
        let after = event.after.as_ref().map(|object| text(&object.text));
        changes.push((event.revision, event.key().to_owned(), after));
    }
    let until = changes.last().map_or(visible, |(revision, ..)| visible.max(*revision));
    (changes, until)
}

/// A client with its own random numbers, which notes what it does.
struct Client {
    storage: Storage,
    clock: Arc<AtomicU64>,
    random: u64,
    number: u64,
    steps: Vec<Step>,
}

impl Client {
    fn next(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % below
    }

    fn moment(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    async fn step(&mut self) {
        let key = format!("k{}", self.next(5));
        let begin = self.moment();
        // Without it a read may be outdated, if others write.
        if self.storage.catch_up().await.is_err() {
            return;
        }
        let operation = match self.next(10) {
            0 => {
                let listing = self.storage.list(&foos(), Range::default());
                let objects = listing
                    .objects
                    .iter()
                    .map(|object| (object.key.to_string(), (object.modified, text(&object.text))));
                Operation::List { revision: listing.revision, objects: objects.collect() }
            }
            1 => {
                let after = self.storage.revision().saturating_sub(self.next(30));
                // The history may begin later.
                let Ok(mut watch) = self.storage.watch(&foos(), "", after) else { return };
                // Whatever was visible before is reported.
                let (changes, until) = drain(&mut watch, self.storage.revision());
                Operation::Watch { after, changes, until }
            }
            2..5 => {
                let found = self.storage.get(&foos(), &key);
                let found = found.map(|object| (object.modified, text(&object.text)));
                Operation::Read { key, found }
            }
            _ => self.write(key).await,
        };
        let end = self.moment();
        self.steps.push(Step { begin, end, operation });
    }

    async fn write(&mut self, key: String) -> Operation {
        let stored = self.storage.get(&foos(), &key).map(|object| object.modified);
        let expected = if self.next(8) == 0 { Some(1 + self.next(40)) } else { stored };
        self.number += 1;
        let is_deletion = expected.is_some() && self.next(4) == 0;
        let new = (!is_deletion).then(|| self.number.to_string());
        let write = match (expected, new.clone()) {
            (None, new) => Write::create(new.unwrap_or_default()),
            (Some(expected), Some(new)) => Write::replace(expected, new),
            (Some(expected), None) => Write::delete(expected),
        };
        // Another client may come before this one.
        if self.next(3) == 0 {
            tokio::task::yield_now().await;
        }
        let outcome = match self.storage.write(&foos(), &key, write).await {
            Ok(revision) => Outcome::Written(revision),
            Err(WriteError::Mismatch(_)) => Outcome::Refused,
            Err(_) => Outcome::Unknown,
        };
        Operation::Write { key, expected, text: new, outcome }
    }
}

/// Lets clients of one storage work.
async fn run(storage: &Storage) -> (Vec<Step>, Vec<Change>) {
    run_over(std::slice::from_ref(storage), 4000, std::future::pending()).await
}

/// Lets clients of several storages work while something happens to them, until all is done. Returns what
/// they have seen, and the log of the first storage.
pub(super) async fn run_over(
    storages: &[Storage],
    operations: u64,
    meanwhile: impl Future<Output = ()>,
) -> (Vec<Step>, Vec<Change>) {
    let operations = std::env::var(OPERATIONS).map_or(operations, |count| count.parse().unwrap());
    let clock = Arc::new(AtomicU64::new(1));
    let begin = storages[0].revision();
    let mut log = storages[0].watch(&foos(), "", begin).unwrap();
    let clients = (0..CLIENTS).map(|number| {
        let storage = storages[number as usize % storages.len()].clone();
        let clock = Arc::clone(&clock);
        let number = number * 1_000_000_000;
        let mut client = Client { storage, clock, random: number + 7, number, steps: Vec::new() };
        tokio::spawn(async move {
            for _ in 0..operations / CLIENTS {
                client.step().await;
            }
            client.steps
        })
    });
    let clients: Vec<_> = clients.collect();
    let mut changes = Vec::new();
    let watched = async {
        while clients.iter().any(|client| !client.is_finished()) {
            changes.extend(drain(&mut log, 0).0);
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = watched => {}
        () = async { meanwhile.await; std::future::pending().await } => {}
    }
    let mut steps = Vec::new();
    for client in clients {
        steps.extend(client.await.unwrap());
    }
    storages[0].catch_up().await.unwrap();
    changes.extend(drain(&mut log, 0).0);
    (steps, changes)
}

async fn open(backend: impl billhook_apiserver::storage::Backend) -> Storage {
    Storage::open(backend, limits()).await.unwrap()
}

fn limits() -> HistoryLimits {
    HistoryLimits::new(100_000, 64 << 20)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn histories_in_memory_are_linearizable() {
    let (steps, log) = run(&Storage::with_history(limits())).await;
    check(&steps, &log).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn histories_over_a_log_are_linearizable() {
    let (steps, log) = run(&open(super::log::Log::of(Vec::new())).await).await;
    check(&steps, &log).unwrap();
}

#[cfg(feature = "redb")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn histories_over_a_file_are_linearizable() {
    let folder = super::file::Folder::new();
    let backend = billhook_apiserver::storage::Redb::open(folder.file()).unwrap();
    let storage = open(backend).await;
    let (steps, log) = run(&storage).await;
    storage.close().await.unwrap();
    check(&steps, &log).unwrap();
}

/// Half of the writes fail, and those of the other half lose their answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn histories_with_failures_are_linearizable() {
    for mode in [Mode::FailsEverySecond, Mode::LosesAnswers] {
        let backend = Faulty::new();
        backend.set(mode);
        let (steps, log) = run(&open(Arc::clone(&backend)).await).await;
        check(&steps, &log).unwrap();
    }
}

/// Each violation is found.
#[test]
fn violations_are_found() {
    let write = |begin, end, expected, text: Option<&str>, outcome| Step {
        begin,
        end,
        operation: Operation::Write {
            key: "a".to_owned(),
            expected,
            text: text.map(str::to_owned),
            outcome,
        },
    };
    let read = |begin, end, found: Option<(Revision, &str)>| Step {
        begin,
        end,
        operation: Operation::Read {
            key: "a".to_owned(),
            found: found.map(|(revision, text)| (revision, text.to_owned())),
        },
    };
    let list = |begin, end, revision, found: &[(&str, Revision, &str)]| {
        let objects =
            found.iter().map(|(key, at, text)| ((*key).to_owned(), (*at, (*text).to_owned())));
        let objects: BTreeMap<_, _> = objects.collect();
        Step { begin, end, operation: Operation::List { revision, objects } }
    };
    let change = |revision, text: Option<&str>| -> Change {
        (revision, "a".to_owned(), text.map(str::to_owned))
    };
    let watch = |after, until, changes: &[Change]| Step {
        begin: 90,
        end: 91,
        operation: Operation::Watch { after, until, changes: changes.to_vec() },
    };
    let written = Outcome::Written;
    let created = write(1, 2, None, Some("x"), written(1));
    let replaced = write(3, 4, Some(1), Some("y"), written(2));
    let log = [change(1, Some("x")), change(2, Some("y"))];
    let both = |step: Step| vec![created.clone(), replaced.clone(), step];
    for (steps, log, violation) in [
        (both(read(5, 6, Some((2, "y")))), &log[..], ""),
        (both(read(3, 6, Some((1, "x")))), &log[..], ""),
        (both(read(1, 6, None)), &log[..], ""),
        (both(read(5, 6, Some((1, "x")))), &log[..], "a was read when it was outdated"),
        (both(read(5, 6, None)), &log[..], "a was read when it was outdated"),
        (both(read(5, 6, Some((2, "x")))), &log[..], "with another text"),
        (both(read(5, 6, Some((3, "y")))), &log[..], "which does not exist"),
        (both(read(1, 2, Some((2, "y")))), &log[..], "before it was written"),
        (both(write(5, 6, Some(2), None, Outcome::Refused)), &log[..], "refused for Some(2)"),
        (both(write(5, 6, Some(1), None, Outcome::Refused)), &log[..], ""),
        (both(write(3, 6, Some(2), None, Outcome::Refused)), &log[..], ""),
        (both(write(5, 6, Some(2), None, written(2))), &log[..], "was given twice"),
        (both(write(5, 6, Some(2), None, written(3))), &log[..], "acknowledged and is lost"),
        // What came before a change that had ended was over, whenever it had ended itself.
        (
            vec![
                write(1, 2, None, Some("x"), Outcome::Unknown),
                replaced.clone(),
                read(5, 6, None),
            ],
            &log[..],
            "a was read when it was outdated",
        ),
        (both(list(5, 6, 2, &[("a", 2, "y")])), &log[..], ""),
        (both(list(5, 6, 2, &[("a", 1, "x")])), &log[..], "a list at revision 2"),
        (both(list(5, 6, 1, &[("a", 1, "x")])), &log[..], "in time"),
        (both(watch(0, 2, &log)), &log[..], ""),
        (both(watch(1, 2, &log)), &log[..], "a watch after 1"),
        (both(watch(0, 2, &log[1..])), &log[..], "a watch after 0"),
        (both(watch(0, 2, &[log[1].clone(), log[0].clone()])), &log[..], "a watch after 0"),
        (vec![created.clone()], &log[..], "written by no client"),
        (
            vec![created.clone(), write(3, 4, Some(9), Some("y"), written(2))],
            &log[..],
            "revision 2 is",
        ),
        (vec![created.clone(), write(3, 4, Some(1), Some("y"), Outcome::Unknown)], &log[..], ""),
        (vec![created.clone(), write(3, 4, Some(1), Some("y"), Outcome::Unknown)], &log[..1], ""),
        (vec![write(5, 6, None, Some("x"), written(1)), replaced.clone()], &log[..], "in time"),
    ] {
        match check(&steps, log) {
            Ok(()) => assert_eq!(violation, "", "{steps:?}"),
            Err(found) => {
                assert!(!violation.is_empty() && found.contains(violation), "{found}: {steps:?}");
            }
        }
    }
}
