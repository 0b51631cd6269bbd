//! The sums of the pages of a file. They are kept beside it while it is closed, and say whether it is as it
//! was then: reading the whole file once takes a fraction of the time in which a
//! database walks through all its trees.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crc32fast::hash as sum;
use redb::backends::FileBackend;
use redb::{DatabaseError, StorageBackend};

use super::lock;

/// The bytes of a page, the least that a database writes anywhere but in its header.
const PAGE: usize = 4096;

/// How many bytes are read at once when all of them are.
const PART: usize = 64 * PAGE;

/// How the sums of a file begin.
const MAGIC: &[u8; 8] = b"bhsums1\n";

/// A file of a database, and the sums of its pages.
pub(super) struct SummedFile {
    file: FileBackend,
    sums: Arc<Sums>,
}

/// The sums of an open file, and whether they are right.
pub(super) struct Sums {
    path: PathBuf,
    known: Mutex<Known>,
}

struct Known {
    /// Whether the pages are those that the database has written. Otherwise the sums are not kept.
    are_right: bool,
    /// How many pages there are.
    count: usize,
    /// The sums of pages that were read or written as a whole, up to the last one of which something is known.
    pages: Vec<Option<u32>>,
}

impl fmt::Debug for SummedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SummedFile").finish_non_exhaustive()
    }
}

fn pages(length: u64) -> usize {
    usize::try_from(length.div_ceil(PAGE as u64)).unwrap_or(usize::MAX)
}

/// Returns the name of the sums of a file.
pub(super) fn path_of_sums(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".sums");
    name.into()
}

/// Reads the sums of a file of a length; `None` if there are none.
fn read(path: &Path, length: u64) -> Option<Vec<u32>> {
    let bytes = MAGIC.len() as u64 + 8 + 4 * length.div_ceil(PAGE as u64) + 4;
    if std::fs::metadata(path).ok()?.len() != bytes {
        return None;
    }
    let text = std::fs::read(path).ok()?;
    let (content, own_sum) = text.split_last_chunk::<4>()?;
    let (of_length, sums) = content.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    if sum(content) != u32::from_le_bytes(*own_sum) || u64::from_le_bytes(*of_length) != length {
        return None;
    }
    let (sums, _) = sums.as_chunks::<4>();
    Some(sums.iter().map(|sum| u32::from_le_bytes(*sum)).collect())
}

/// Whether all pages of a file have these sums.
fn has(file: &FileBackend, length: u64, sums: &[u32]) -> io::Result<bool> {
    let mut sums = sums.iter();
    let mut part = vec![0; PART];
    for at in (0..length).step_by(PART) {
        part.truncate(usize::try_from(length - at).unwrap_or(PART));
        file.read(at, &mut part)?;
        if !part.chunks(PAGE).all(|page| sums.next() == Some(&sum(page))) {
            return Ok(false);
        }
    }
    Ok(sums.next().is_none())
}

impl SummedFile {
    /// Takes a file, and compares it with the sums beside it. Those of a file that is not as it was closed are
    /// not kept until [`Sums::trust`].
    pub(super) fn new(file: File, path: &Path) -> Result<Self, DatabaseError> {
        let (file, path) = (FileBackend::new(file)?, path_of_sums(path));
        let length = file.len()?;
        let sums = read(&path, length)
            .filter(|sums| has(&file, length, sums).is_ok_and(|is_as_closed| is_as_closed));
        let known = Known {
            are_right: sums.is_some(),
            count: pages(length),
            pages: sums.into_iter().flatten().map(Some).collect(),
        };
        let sums = Arc::new(Sums { path, known: Mutex::new(known) });
        Ok(SummedFile { file, sums })
    }

    /// Returns the sums, which the file shares.
    pub(super) fn sums(&self) -> Arc<Sums> {
        Arc::clone(&self.sums)
    }
}

impl Sums {
    /// Whether the pages are those that the database has written.
    pub(super) fn are_right(&self) -> bool {
        lock(&self.known).are_right
    }

    /// Says whether the pages are those that the database has written.
    pub(super) fn trust(&self, are_right: bool) {
        lock(&self.known).are_right = are_right;
    }

    /// Takes note of what stands in a file.
    fn note(&self, offset: u64, bytes: &[u8], is_new: bool) {
        let mut known = lock(&self.known);
        let Ok(begin) = usize::try_from(offset) else { return };
        let end = begin.saturating_add(bytes.len()).div_ceil(PAGE).min(known.count);
        let length = known.pages.len().max(end);
        known.pages.resize(length, None);
        for (number, known) in known.pages.iter_mut().enumerate().take(end).skip(begin / PAGE) {
            let whole = (number * PAGE).checked_sub(begin).and_then(|at| bytes.get(at..at + PAGE));
            if is_new || known.is_none() {
                *known = whole.map(sum);
            }
        }
    }

    /// Writes the sums of a file that is about to be closed.
    fn write(&self, file: &FileBackend) -> io::Result<()> {
        let mut known = lock(&self.known);
        if !known.are_right {
            return Ok(());
        }
        let length = file.len()?;
        known.pages.resize(pages(length), None);
        let mut text = MAGIC.to_vec();
        text.extend(length.to_le_bytes());
        let mut page = vec![0; PAGE];
        for (at, known) in (0..length).step_by(PAGE).zip(&known.pages) {
            let sum = match known {
                Some(sum) => *sum,
                // The header, or a page that the database does not use.
                None => {
                    page.truncate(usize::try_from(length - at).unwrap_or(PAGE));
                    file.read(at, &mut page)?;
                    sum(&page)
                }
            };
            text.extend(sum.to_le_bytes());
        }
        text.extend(sum(&text).to_le_bytes());
        // What stands there may be a link, whose target is not to be written.
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => File::create_new(&self.path)?.write_all(&text),
        }
    }
}

impl StorageBackend for SummedFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)?;
        self.sums.note(offset, out, false);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let done = self.file.set_len(len);
        let mut known = lock(&self.sums.known);
        let count = pages(len);
        known.count = count;
        known.pages.truncate(count);
        known.are_right &= done.is_ok();
        done
    }

    fn sync_data(&self) -> io::Result<()> {
        self.file.sync_data().inspect_err(|_| self.sums.trust(false))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.sums.note(offset, data, true);
        self.file.write(offset, data).inspect_err(|_| self.sums.trust(false))
    }

    fn close(&self) -> io::Result<()> {
        // Without them the next start takes longer.
        let _ = self.sums.write(&self.file);
        self.file.close()
    }
}
