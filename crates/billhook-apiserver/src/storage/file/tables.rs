//! The tables of a file, and what they hold.
//!
//! A change has a row for as long as it is remembered, or the object is at it. Compaction at a revision
//! deletes, of the changes up to it, those that were replaced, and deletions.

use std::fs::OpenOptions;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use redb::{
    Database, DatabaseError, Durability, ReadableDatabase as _, ReadableTable,
    ReadableTableMetadata as _, Table, TableDefinition, TableError, WriteTransaction,
};

use super::FileReport;
use super::sums::{SummedFile, Sums};
use crate::storage::backend::{BackendError, Change, Commit, CommitError, Loaded};
use crate::storage::{Collection, Revision};

/// The version of the format that this release writes.
const FORMAT: u64 = 1;

/// Numbers: `format`, `revision`, `compacted`.
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("billhook");
/// By revision: the revision that created the object, that of the change before it (0 if there is
/// none), the collection, the key and the text; no text if the object was deleted.
const CHANGES: TableDefinition<'_, u64, Row<'_>> = TableDefinition::new("changes");
/// By collection and key: the revisions that created and last changed the object.
const OBJECTS: TableDefinition<'_, (&str, &str), (u64, u64)> = TableDefinition::new("objects");

type Row<'r> = (u64, u64, &'r str, &'r str, Option<&'r [u8]>);

/// An open file.
pub(super) struct File {
    path: PathBuf,
    database: Database,
    sums: Arc<Sums>,
    newest: Revision,
    compacted: Revision,
}

/// Why none of some commits is known to be made.
pub(super) enum BatchError {
    Failed(String),
    Unknown(String),
}

/// Does work on a file; a panic of the database, which a damaged file may bring about, is a failure.
pub(super) fn guard<T>(work: impl FnOnce() -> Result<T, BackendError>) -> Result<T, BackendError> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(damaged("it cannot be read")))
}

fn damaged(why: &str) -> BackendError {
    BackendError::Failed(format!("the data file is damaged: {why}"))
}

fn failed(error: impl Into<redb::Error>) -> BackendError {
    match error.into() {
        redb::Error::Corrupted(why) => damaged(&why),
        error => BackendError::Failed(format!("the data file: {error}")),
    }
}

/// How many bytes of a file are kept in memory: all objects are there in another form.
const CACHE: usize = 64 << 20;

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options
}

/// Opens a database, after every page has been read: those of a file that is as it was closed are compared
/// with their sums, all others are checked by the database.
fn open(options: &OpenOptions, path: &Path) -> Result<(Database, Arc<Sums>), BackendError> {
    let file = options.open(path).map_err(unreadable)?;
    let file = SummedFile::new(file, path).map_err(unreadable)?;
    let sums = file.sums();
    let was_repaired = Arc::new(AtomicBool::new(false));
    let repairs = Arc::clone(&was_repaired);
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE);
    builder.set_repair_callback(move |_| repairs.store(true, Ordering::Relaxed));
    let mut database = builder.create_with_backend(file).map_err(unreadable)?;
    // Commits have two phases, so that what is damaged is never taken for one that was interrupted, and
    // undone. A repair checks all pages, too.
    if !sums.are_right() && !was_repaired.load(Ordering::Relaxed) {
        database.check_integrity().map_err(failed)?;
    }
    sums.trust(true);
    Ok((database, sums))
}

/// Begins a transaction that is on the disk when it is committed.
fn begin(database: &Database) -> Result<WriteTransaction, BackendError> {
    let mut writing = database.begin_write().map_err(failed)?;
    writing.set_durability(Durability::Immediate).map_err(failed)?;
    writing.set_two_phase_commit(true);
    Ok(writing)
}

impl File {
    pub(super) fn open_or_create(path: &Path) -> Result<Self, BackendError> {
        let is_new = std::fs::metadata(path).map_or(true, |found| found.len() == 0);
        if !is_new {
            return File::open(path);
        }
        let (database, sums) = open(options().create(true).truncate(false), path)?;
        let writing = begin(&database)?;
        {
            let mut numbers = writing.open_table(NUMBERS).map_err(failed)?;
            for (name, number) in [("format", FORMAT), ("revision", 0), ("compacted", 0)] {
                numbers.insert(name, number).map_err(failed)?;
            }
            writing.open_table(CHANGES).map_err(failed)?;
            writing.open_table(OBJECTS).map_err(failed)?;
        }
        writing.commit().map_err(failed)?;
        sync_folder(path)?;
        Ok(File { path: path.to_owned(), database, sums, newest: 0, compacted: 0 })
    }

    /// Opens a file that is there. Every page of it is read, so that nothing of a damaged file is used.
    pub(super) fn open(path: &Path) -> Result<Self, BackendError> {
        if std::fs::metadata(path).map_err(unreadable)?.len() == 0 {
            return Err(unreadable(io::Error::from(io::ErrorKind::InvalidData)));
        }
        let (database, sums) = open(&options(), path)?;
        let reading = database.begin_read().map_err(failed)?;
        let numbers = match reading.open_table(NUMBERS) {
            Ok(numbers) => numbers,
            Err(TableError::TableDoesNotExist(_)) => {
                let why = "the file is not a data file of billhook";
                return Err(BackendError::Failed(why.to_owned()));
            }
            Err(error) => return Err(failed(error)),
        };
        let number = |name: &str| {
            let found = numbers.get(name).map_err(failed)?;
            found.map(|found| found.value()).ok_or_else(|| damaged(&format!("it has no {name}")))
        };
        let format = number("format")?;
        if format != FORMAT {
            let why = format!(
                "the data file has format {format}, and this release reads format {FORMAT}: use a \
                 newer release",
            );
            return Err(BackendError::Failed(why));
        }
        let (newest, compacted) = (number("revision")?, number("compacted")?);
        drop((numbers, reading));
        Ok(File { path: path.to_owned(), database, sums, newest, compacted })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn newest(&self) -> Revision {
        self.newest
    }

    /// Lets every page be checked when the file is opened again.
    pub(super) fn distrust(&self) {
        self.sums.trust(false);
    }

    /// Makes commits in one transaction.
    pub(super) fn commit(
        &mut self,
        commits: Vec<Commit>,
        history: u64,
    ) -> Result<Batch, BatchError> {
        let failed = |error: BackendError| BatchError::Failed(error.to_string());
        let writing = begin(&self.database).map_err(failed)?;
        let batch = self.write(&writing, commits, history).map_err(failed)?;
        if batch.changes.is_empty() {
            writing.abort().map_err(|error| failed(self::failed(error)))?;
            return Ok(batch);
        }
        let unknown = |error| BatchError::Unknown(self::failed(error).to_string());
        writing.commit().map_err(unknown)?;
        (self.newest, self.compacted) = (batch.newest, batch.compacted);
        Ok(batch)
    }

    fn write(
        &self,
        writing: &WriteTransaction,
        commits: Vec<Commit>,
        history: u64,
    ) -> Result<Batch, BackendError> {
        let mut tables = Tables::open(writing)?;
        let (mut results, mut changes) = (Vec::new(), Vec::new());
        let mut newest = self.newest;
        for commit in commits {
            match tables.write(commit, newest)? {
                Ok(change) => {
                    newest = change.revision;
                    results.push(Ok(newest));
                    changes.push(change);
                }
                Err(mismatch) => results.push(Err(mismatch)),
            }
        }
        // As many are forgotten as are new, and some more, so that a long history becomes shorter.
        let steps = 2 * changes.len() as u64;
        let compacted = newest.saturating_sub(history).min(self.compacted + steps);
        let compacted = compacted.max(self.compacted);
        tables.compact(self.compacted, compacted)?;
        tables.set_number("revision", newest)?;
        Ok(Batch { results, changes, newest, compacted })
    }

    /// Forgets the changes up to a revision.
    pub(super) fn compact(&mut self, revision: Revision) -> Result<(), BackendError> {
        let revision = revision.min(self.newest);
        if revision <= self.compacted {
            return Ok(());
        }
        let writing = begin(&self.database)?;
        Tables::open(&writing)?.compact(self.compacted, revision)?;
        writing.commit().map_err(failed)?;
        self.compacted = revision;
        Ok(())
    }

    pub(super) fn load(&mut self) -> Result<Loaded, BackendError> {
        let changes = self.changes_after(0)?;
        Ok(Loaded { revision: self.newest, compacted: self.compacted, changes })
    }

    pub(super) fn changes_after(&self, revision: Revision) -> Result<Vec<Change>, BackendError> {
        let reading = self.database.begin_read().map_err(failed)?;
        let table = reading.open_table(CHANGES).map_err(failed)?;
        let mut collection = Collection::new("", "");
        let mut changes = Vec::new();
        for row in table.range(revision.saturating_add(1)..).map_err(failed)? {
            let (revision, row) = row.map_err(failed)?;
            let (created, _, name, key, text) = row.value();
            if *collection.0 != *name {
                collection = Collection(name.into());
            }
            changes.push(Change {
                revision: revision.value(),
                created,
                collection: collection.clone(),
                key: key.to_owned(),
                text: text.map(Bytes::copy_from_slice),
            });
        }
        Ok(changes)
    }

    /// Checks every page, and that objects and changes fit each other.
    pub(super) fn check(&mut self) -> Result<FileReport, BackendError> {
        self.distrust();
        self.database.check_integrity().map_err(failed)?;
        self.sums.trust(true);
        let reading = self.database.begin_read().map_err(failed)?;
        let changes = reading.open_table(CHANGES).map_err(failed)?;
        let objects = reading.open_table(OBJECTS).map_err(failed)?;
        let mut newest = self.compacted;
        let (mut of_objects, mut replaced, mut replacing) = (0, 0, 0);
        for row in changes.iter().map_err(failed)? {
            let (revision, row) = row.map_err(failed)?;
            let revision = revision.value();
            let (created, previous, collection, key, text) = row.value();
            let object = objects.get((collection, key)).map_err(failed)?;
            let is_newest = object.map(|object| object.value()) == Some((created, revision));
            of_objects += u64::from(is_newest && text.is_some());
            if revision > self.compacted {
                newest += 1;
                if revision != newest {
                    return Err(damaged(&format!("revision {newest} is missing")));
                }
            } else if text.is_none() {
                return Err(damaged(&format!("revision {revision} should be forgotten")));
            } else {
                replaced += u64::from(!is_newest);
            }
            if previous != 0 && revision > self.compacted {
                let before = changes.get(previous).map_err(failed)?;
                if before
                    .is_none_or(|before| (before.value().2, before.value().3) != (collection, key))
                {
                    return Err(damaged(&format!("revision {previous} is missing")));
                }
                replacing += u64::from(previous <= self.compacted);
            }
        }
        if newest != self.newest {
            return Err(damaged(&format!("revision {} is missing", self.newest)));
        }
        if replaced != replacing {
            return Err(damaged("changes were not forgotten"));
        }
        if of_objects != objects.len().map_err(failed)? {
            return Err(damaged("there are objects without changes"));
        }
        Ok(FileReport {
            format: FORMAT,
            revision: self.newest,
            compacted: self.compacted,
            objects: of_objects,
            changes: changes.len().map_err(failed)?,
        })
    }

    /// Makes the file as small as its content.
    pub(super) fn give_back(&mut self) -> Result<bool, BackendError> {
        self.database.compact().map_err(failed)
    }
}

/// The outcome of some commits.
pub(super) struct Batch {
    pub(super) results: Vec<Result<Revision, CommitError>>,
    pub(super) changes: Vec<Change>,
    newest: Revision,
    compacted: Revision,
}

/// The tables, while they are changed.
struct Tables<'t> {
    numbers: Table<'t, &'static str, u64>,
    changes: Table<'t, u64, Row<'static>>,
    objects: Table<'t, (&'static str, &'static str), (u64, u64)>,
}

impl<'t> Tables<'t> {
    fn open(writing: &'t WriteTransaction) -> Result<Self, BackendError> {
        Ok(Tables {
            numbers: writing.open_table(NUMBERS).map_err(failed)?,
            changes: writing.open_table(CHANGES).map_err(failed)?,
            objects: writing.open_table(OBJECTS).map_err(failed)?,
        })
    }

    fn set_number(&mut self, name: &str, number: u64) -> Result<(), BackendError> {
        self.numbers.insert(name, number).map_err(failed).map(drop)
    }

    /// Makes a commit, if what it expects is stored (ES-20).
    fn write(
        &mut self,
        commit: Commit,
        newest: Revision,
    ) -> Result<Result<Change, CommitError>, BackendError> {
        let Commit { collection, key, expected, text } = commit;
        let place = (&*collection.0, &*key);
        let stored = self.objects.get(place).map_err(failed)?.map(|stored| stored.value());
        if stored.map(|(_, modified)| modified) != expected || (stored, &text) == (None, &None) {
            return Ok(Err(CommitError::Mismatch { revision: newest }));
        }
        let revision = newest + 1;
        let (created, previous) = stored.unwrap_or((revision, 0));
        let row = (created, previous, place.0, place.1, text.as_deref());
        self.changes.insert(revision, row).map_err(failed)?;
        match text.is_some() {
            true => drop(self.objects.insert(place, (created, revision)).map_err(failed)?),
            false => drop(self.objects.remove(place).map_err(failed)?),
        }
        Ok(Ok(Change { revision, created, collection, key, text }))
    }

    /// Forgets the changes after a revision, up to another one (ES-50).
    fn compact(&mut self, from: Revision, to: Revision) -> Result<(), BackendError> {
        if to <= from {
            return Ok(());
        }
        for revision in from + 1..=to {
            let Some(row) = self.changes.get(revision).map_err(failed)? else { continue };
            let (_, previous, _, _, text) = row.value();
            let (previous, is_deletion) = (previous, text.is_none());
            drop(row);
            if previous != 0 {
                self.changes.remove(previous).map_err(failed)?;
            }
            if is_deletion {
                self.changes.remove(revision).map_err(failed)?;
            }
        }
        self.set_number("compacted", to)
    }
}

/// Why a file cannot be opened.
fn unreadable(error: impl Into<DatabaseError>) -> BackendError {
    let why = match error.into() {
        DatabaseError::DatabaseAlreadyOpen => "the data file is open in another process".to_owned(),
        DatabaseError::Storage(redb::StorageError::Corrupted(why)) => return damaged(&why),
        DatabaseError::Storage(redb::StorageError::Io(error)) => match error.kind() {
            io::ErrorKind::InvalidData => {
                "the file is not a data file of billhook, or damaged".to_owned()
            }
            _ => error.to_string(),
        },
        error => error.to_string(),
    };
    BackendError::Failed(why)
}

/// Makes the name of a new file last.
fn sync_folder(path: &Path) -> Result<(), BackendError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    if cfg!(unix) {
        let synced = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| BackendError::Failed(format!("{}: {error}", folder.display())))?;
    }
    Ok(())
}
