//! `--watch`: a command runs again when a file that it has read changes, or when a file appears in
//! a directory that it has searched. What it has read is noted while it runs; events of the file
//! system only say when to look again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::options::{is_manifest, is_stdin};
use crate::problem::{Place, Problem, Status};
use crate::report;
use crate::summary::count;

/// How long nothing must happen after a change: editors write in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// The use of `--watch`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Watch {
    /// Run again whenever an input, a CRD or billhook.toml changes, until interrupted
    #[arg(long)]
    pub(crate) watch: bool,
}

impl Watch {
    /// Refuses to watch standard input.
    pub(crate) fn check<'p>(
        self,
        mut paths: impl Iterator<Item = &'p PathBuf>,
    ) -> Result<(), &'static str> {
        match self.watch && paths.any(|path| is_stdin(path)) {
            true => Err("`--watch` cannot watch standard input"),
            false => Ok(()),
        }
    }
}

/// The files and directories that the command has read; `None` without `--watch`.
static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

/// Files and directories, as they were.
#[derive(Debug, Default)]
struct Seen {
    files: BTreeMap<PathBuf, Option<FileState>>,
    directories: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

/// The marks that distinguish one content of a file from the next.
#[derive(Debug, PartialEq, Eq)]
struct FileState {
    modified: Option<SystemTime>,
    len: u64,
}

fn seen() -> MutexGuard<'static, Option<Seen>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a file is about to be read, or was looked for.
pub(crate) fn note_file(path: &Path) {
    if let Some(seen) = seen().as_mut() {
        seen.files.entry(path.to_owned()).or_insert_with(|| state(path));
    }
}

/// Notes that a directory is about to be searched.
pub(crate) fn note_directory(path: &Path) {
    if let Some(seen) = seen().as_mut() {
        seen.directories.entry(path.to_owned()).or_insert_with(|| entries(path));
    }
}

/// Notes all directories from one on. Links to directories are not followed.
pub(crate) fn note_tree(path: &Path) {
    if seen().is_none() {
        return;
    }
    note_directory(path);
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            note_tree(&entry.path());
        }
    }
}

fn state(path: &Path) -> Option<FileState> {
    let found = fs::metadata(path).ok()?;
    Some(FileState { modified: found.modified().ok(), len: found.len() })
}

/// The manifests and directories in a directory.
fn entries(path: &Path) -> BTreeSet<PathBuf> {
    let paths = fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| is_manifest(path) || path.is_dir()).collect()
}

impl Seen {
    fn has_changed(&self) -> bool {
        self.files.iter().any(|(path, was)| state(path) != *was)
            || self.directories.iter().any(|(path, was)| entries(path) != *was)
    }

    /// The directories in which something may happen to what was seen.
    fn places(&self) -> BTreeSet<PathBuf> {
        let parent = |path: &Path| match path.parent() {
            Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
            Some(parent) => parent.to_owned(),
            None => path.to_owned(),
        };
        let mut places: BTreeSet<PathBuf> = self.directories.keys().cloned().collect();
        for path in self.files.keys() {
            places.insert(parent(path));
            // The file that a link leads to may lie elsewhere.
            places.extend(path.canonicalize().ok().map(|path| parent(&path)));
        }
        places.retain(|place| place.is_dir());
        places
    }
}

enum Wake {
    /// Something has happened in a directory.
    Change,
    /// The user wants no more.
    Interrupt,
}

/// Runs a command again and again, until the user interrupts it.
pub(crate) fn repeat(run: impl Fn() -> io::Result<Status>) -> io::Result<Status> {
    let (sender, wakes) = channel();
    on_interrupt(sender.clone());
    let mut watched = Watched::new(sender);
    loop {
        *seen() = Some(Seen::default());
        run()?;
        let seen = seen().take().unwrap_or_default();
        if let Err(problem) = watched.add(seen.places()) {
            return Ok(report::problem(&problem));
        }
        let files = count(seen.files.len(), "file");
        report::note("watching", &format!("{files}; Ctrl-C ends"));
        if !wait(&seen, &wakes) {
            return Ok(Status::Fine);
        }
        if io::stdout().is_terminal() {
            report::write("\x1b[2J\x1b[H")?;
        }
    }
}

/// Waits until something that was seen has changed; `false` if the user interrupts.
fn wait(seen: &Seen, wakes: &Receiver<Wake>) -> bool {
    while !seen.has_changed() {
        if !matches!(wakes.recv(), Ok(Wake::Change)) || !settle(wakes) {
            return false;
        }
    }
    settle(wakes)
}

/// Waits until nothing happens any more; `false` if the user interrupts.
fn settle(wakes: &Receiver<Wake>) -> bool {
    loop {
        match wakes.recv_timeout(QUIET) {
            Ok(Wake::Change) => {}
            Ok(Wake::Interrupt) => return false,
            Err(_) => return true,
        }
    }
}

/// The first interrupt ends the wait for changes, the second one the process.
fn on_interrupt(sender: Sender<Wake>) {
    let listen = async move {
        let mut is_first = true;
        while tokio::signal::ctrl_c().await.is_ok() {
            if !std::mem::replace(&mut is_first, false) || sender.send(Wake::Interrupt).is_err() {
                report::clear_progress();
                std::process::exit(130);
            }
        }
    };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        // Without it an interrupt ends the process, as always.
        runtime.map(|runtime| runtime.block_on(listen))
    });
}

/// The directories that the system reports on.
struct Watched {
    watcher: notify::Result<RecommendedWatcher>,
    places: BTreeSet<PathBuf>,
}

impl Watched {
    fn new(sender: Sender<Wake>) -> Self {
        let wake = move |event: notify::Result<notify::Event>| {
            if event.map_or(true, |event| !event.kind.is_access()) {
                // Nobody listens when the command has ended.
                let _ = sender.send(Wake::Change);
            }
        };
        Watched { watcher: notify::recommended_watcher(wake), places: BTreeSet::new() }
    }

    fn add(&mut self, places: BTreeSet<PathBuf>) -> Result<(), Box<Problem>> {
        let problem = |place: &Path, error: &notify::Error| {
            let place = Place::path(place);
            Problem::unusable(place, format!("cannot be watched: {error}"))
        };
        let watcher = self.watcher.as_mut().map_err(|error| problem(Path::new("."), error))?;
        for gone in self.places.difference(&places) {
            // Those that were removed are not watched any more.
            let _ = watcher.unwatch(gone);
        }
        // One that was replaced is another directory by the same name.
        for place in &places {
            let watched = watcher.watch(place, RecursiveMode::NonRecursive);
            watched.map_err(|error| problem(place, &error))?;
        }
        self.places = places;
        Ok(())
    }
}
